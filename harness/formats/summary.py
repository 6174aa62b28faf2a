"""summary.md: the memory, section by section, with whatever people and other programs put between."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, takewhile

from harness.formats.entries import entries_of, laid_out, text_of
from harness.formats.front import (
    front_count,
    front_problems,
    front_value,
    open_problems,
    put,
    render_front,
    split_front,
    without,
)
from harness.formats.headings import Heading, heading_of
from harness.formats.labels import label, section_kind
from harness.formats.ledger import (
    read_search_line,
    read_source_line,
    render_search_line,
    render_source_line,
    search_record,
)
from harness.formats.reading import read_reading, read_unread, reading_problems, render_reading, render_unread
from harness.formats.text import clean
from harness.model import FrontMatter, SearchLine, Section, SectionKind, SourceLine, Summary
from harness.patterns import lazy

__all__ = [
    "append_lines",
    "folded_searches",
    "lines_of",
    "newest_searches",
    "parse_summary",
    "read_block",
    "recorded_queries",
    "render_search_line",
    "render_source_line",
    "render_summary",
    "replace_section",
    "round_of",
    "search_blocks",
    "search_lines",
    "search_record",
    "source_lines",
    "split_sections",
]

# Those with a place of their own in Summary.
_KEYS = ("round", "spent", "checked", "reopened", "question", "reading", "unread")
_ORDER = tuple(
    SectionKind(kind) for kind in ("confirmed", "contradictions", "not_found", "other", "struck", "searches", "sources")
)
BLOCK = 64
_CITED = lazy(r"\[(\d{1,6}\.\d{1,6}(?:\s*[,;]\s*\d{1,6}\.\d{1,6})*)\]", re.ASCII)


@lru_cache(maxsize=4)  # of three passes of a round only one changes the file
def parse_summary(text: str, file: str = "summary.md") -> Summary:
    """Any text is a summary; `front` holds the keys that have no place of their own in the value.

    Without `round:` it is the highest N that a citation or Searches names, without `spent:` the number of rounds in
    Searches. A value that is no number is a problem and falls back in the same way.
    """
    found, body = split_front(text)
    front = found or FrontMatter()
    intro, sections = split_sections(_lines(body))
    counts = {key: front_count(front, key, file) for key in ("round", "spent", "checked", "reopened")}
    written = Summary(intro=intro, sections=sections)
    round_, spent = counts["round"].value, counts["spent"].value
    if round_ is None or spent is None:
        rounds = {line.round for line in search_lines(written)}
        named = {int(cited.partition(".")[0]) for cited in _cited(body)}
        round_ = max(rounds | named, default=0) if round_ is None else round_
        spent = len(rounds) if spent is None else spent
    return replace(
        written,
        round=round_,
        spent=spent,
        checked=counts["checked"].value,
        reopened=counts["reopened"].value or 0,
        reading=read_reading(front),
        unread=read_unread(front),
        fingerprint=front_value(front, "question") or "",
        front=without(front, _KEYS),
        problems=(
            *open_problems(text, file),
            *front_problems(front, file),
            *(count.problem for count in counts.values() if count.problem),
            *reading_problems(front, file),
        ),
    )


def round_of(text: str) -> int:
    """`parse_summary(text).round`, from the front matter alone where it says so."""
    front = split_front(text)[0]
    number = front_count(front, "round", "summary.md").value if front else None
    return parse_summary(text).round if number is None else number


def render_summary(summary: Summary) -> str:
    """The file's text: the harness's keys, then unknown keys, intro and sections as they stand."""
    values = (
        str(summary.round),
        str(summary.spent),
        None if summary.checked is None else str(summary.checked),
        str(summary.reopened) if summary.reopened else None,
        summary.fingerprint or None,
        render_reading(summary.reading) if summary.reading else None,
        [render_unread(part) for part in summary.unread] or None,
    )
    known = FrontMatter()
    for key, value in zip(_KEYS, values, strict=True):
        known = put(known, key, value)
    front = render_front(FrontMatter((*known.blocks, *summary.front.blocks)))
    lines = [*front.split("\n")[:-1], *summary.intro]
    for section in _apart(summary.sections):
        lines += (section.title if heading_of(section.title) else f"## {section.title}", *section.lines)
    return "\n".join((*lines, ""))


def split_sections(lines: Sequence[str]) -> tuple[tuple[str, ...], tuple[Section, ...]]:
    """Lines before the first section, and the sections.

    A known title in any heading style opens a section, and so does every `## title`; a deeper heading only where it is
    no deeper than the section it ends (else it is a sub-heading, a line like others). A `# title` above all sections is
    the file's. A title is kept with its marks unless the line is just `## title`.
    """
    opened: list[tuple[Section, int]] = []  # with the place of its title
    for at in [at for at, line in enumerate(lines) if not line.startswith("- ")]:
        if heading := heading_of(lines[at]):
            kind = section_kind(heading.title)
            if _opens(heading, kind, opened[-1][0] if opened else None):
                title = heading.title if lines[at] == f"## {heading.title}" else lines[at]
                opened.append((Section(kind, title), at))
    ends = [*(at for _, at in opened), len(lines)]
    sections = (
        section._replace(lines=tuple(lines[at + 1 : end])) for (section, at), end in zip(opened, ends[1:], strict=True)
    )
    return tuple(lines[: ends[0]]), tuple(sections)


def lines_of(summary: Summary, kind: SectionKind) -> tuple[str, ...]:
    """The entries of all sections of a kind, one string each: no bullet, wrapped lines joined, sub-headings left out.

    Confirmed begins with those lines before the first section that carry a citation (`[N.k]` or `[person]`): where a
    person or an agent wrote without headings, these are the facts.
    """
    found = entries_of(summary.intro)[0] if kind is SectionKind.CONFIRMED else []
    texts = [entry.text for entry in found if _is_fact(entry.text)]
    for section in summary.sections:
        if section.kind is kind:
            texts += _texts(section.lines)
    return tuple(texts)


@lru_cache(maxsize=64)  # of a version and the one before it
def _texts(lines: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(entry.text for entry in entries_of(lines)[0])


def replace_section(
    summary: Summary, kind: SectionKind, lines: Iterable[str], language: str, *, title: str = ""
) -> Summary:
    """The summary with exactly these entries under a kind, so that `lines_of` gives them back.

    `lines`: one entry each, with or without `- `; line ends inside become spaces, empty ones are left out. An entry
    that was there keeps its line byte for byte, a sub-heading stays above the first of its entries that is left. A
    missing section is added at its usual place with the language's title; further ones of the kind go into the first.
    A section of kind OTHER is named by its `title` (ValueError without one).
    """
    if kind is SectionKind.OTHER and not title:
        raise ValueError("a section of kind OTHER is replaced by its title")
    wanted = [text for line in lines if (text := _one_line(line))]
    sections = list(summary.sections)
    mine = [at for at, old in enumerate(sections) if old.kind is kind and title in ("", old.title)]
    if not mine:
        later = (at for at, old in enumerate(sections) if _ORDER.index(old.kind) > _ORDER.index(kind))
        mine = [next(later, len(sections))]
        sections.insert(mine[0], Section(kind, title or label(kind, language)))
    there = tuple(chain.from_iterable(sections[at].lines for at in mine))
    sections[mine[0]] = sections[mine[0]]._replace(lines=laid_out(there, wanted))
    return replace(
        summary,
        intro=_without_facts(summary.intro) if kind is SectionKind.CONFIRMED else summary.intro,
        sections=_apart(section for at, section in enumerate(sections) if at not in mine[1:]),
    )


def append_lines(summary: Summary, kind: SectionKind, lines: Iterable[str], language: str) -> Summary:
    """Entries added at the end of a section, the others not looked at: Searches may have thousands."""
    mine = next((section for section in summary.sections if section.kind is kind), None)
    if mine is None:
        return replace_section(summary, kind, lines, language)
    kept = len(mine.lines)
    while kept and not mine.lines[kept - 1].strip():
        kept -= 1
    added = tuple(f"- {text_of(line)}" for line in lines)
    longer = mine._replace(lines=(*mine.lines[:kept], *added, *mine.lines[kept:]))
    return replace(summary, sections=tuple(longer if one is mine else one for one in summary.sections))


def search_lines(summary: Summary) -> tuple[SearchLine, ...]:
    """What Searches records, in the file's order; lines that are no record are passed over (and stay in the file)."""
    return tuple(chain.from_iterable(map(read_block, search_blocks(summary))))


def search_blocks(summary: Summary) -> list[tuple[str, ...]]:
    """The lines of Searches, BLOCK at a time: a round adds one, so what was made of the blocks before it holds."""
    lines = tuple(_raw(summary, SectionKind.SEARCHES))
    return [lines[at : at + BLOCK] for at in range(0, len(lines), BLOCK)]


@lru_cache(maxsize=1_024)
def read_block(lines: tuple[str, ...]) -> tuple[SearchLine, ...]:
    """The searches that the lines of one block record."""
    return tuple(filter(None, map(read_search_line, lines)))


def newest_searches(summary: Summary) -> Iterator[SearchLine]:
    """What Searches records, from its end: whoever needs the last few does not read thousands."""
    for line in reversed(tuple(_raw(summary, SectionKind.SEARCHES))):
        if read := read_search_line(line):
            yield read


def folded_searches(summary: Summary) -> Iterator[SearchLine]:
    """Those up to `round`, from the end; a line above it is from before a person set it back, and counts no more."""
    return (line for line in newest_searches(summary) if line.round <= summary.round)


def recorded_queries(summary: Summary, start: int) -> frozenset[str]:
    """The queries of the rounds from `start` on. Rounds stand in order, so that the many before are not looked at."""
    return frozenset(line.query for line in takewhile(lambda line: line.round >= start, folded_searches(summary)))


def source_lines(summary: Summary) -> tuple[SourceLine, ...]:
    """What Sources names, in the file's order; lines that name none are passed over (and stay in the file)."""
    return tuple(read for line in _raw(summary, SectionKind.SOURCES) if (read := read_source_line(line)))


def _raw(summary: Summary, kind: SectionKind) -> Iterable[str]:
    return chain.from_iterable(section.lines for section in summary.sections if section.kind is kind)


def _lines(body: str) -> list[str]:
    lines = body.split("\n")
    return lines[:-1] if not lines[-1] else lines


def _cited(text: str) -> list[str]:
    """The `N.k` of all citations."""
    return re.findall(r"\d+\.\d+", " ".join(_CITED.findall(text)))


def _is_fact(text: str) -> bool:
    return bool(_cited(text)) or "[person]" in text


def _heading_of(section: Section) -> Heading:
    return heading_of(section.title) or Heading(2, section.title, True)


def _opens(heading: Heading, kind: SectionKind, before: Section | None) -> bool:
    """Whether a heading opens a section of the file, and no part of the section `before` it."""
    deepest = max(_heading_of(before).level, 2) if before else 6
    if kind is SectionKind.OTHER:
        return heading.certain and heading.level <= deepest and (before is not None or heading.level > 1)
    # A pasted report may have `### Sources` inside a chapter of its own: that is not our section.
    return before is None or before.kind is not SectionKind.OTHER or heading.level <= deepest


def _apart(sections: Iterable[Section]) -> tuple[Section, ...]:
    """The sections, with a plain `## title` for one that the section now before it would swallow."""
    apart: list[Section] = []
    for section in sections:
        heading = _heading_of(section)
        opens = _opens(heading, section.kind, apart[-1] if apart else None)
        apart.append(section if opens else section._replace(title=heading.title))
    return tuple(apart)


def _one_line(entry: str) -> str:
    parts = (part.strip() for part in clean(entry).split("\n"))
    return " ".join(part for part in parts if part).removeprefix("- ").strip()


def _without_facts(intro: Iterable[str]) -> tuple[str, ...]:
    entries, below = entries_of(intro)
    kept = ((*entry.above, *(() if _is_fact(entry.text) else entry.lines)) for entry in entries)
    return (*chain.from_iterable(kept), *below)
