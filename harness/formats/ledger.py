"""The lines of Searches and Sources, which only the harness writes: line ↔ value in any label language."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.formats.labels import WORDS, Counted, counted, words
from harness.formats.text import one_line
from harness.model import Attempt, SearchLine, SourceLine
from harness.patterns import lazy

_DASH = " — "
_BULLET = r"\s*(?:[-*+•]\s+)?"
_OUTCOMES = {word: outcome for table in WORDS.values() for outcome, word in table.outcomes.items()}
_OUTCOME = "|".join(map(re.escape, sorted(_OUTCOMES, key=len, reverse=True)))

_SEARCH = lazy(_BULLET + r"([0-9]{1,6})\s*[·•.):]\s+(.*)")
_KNOWN = lazy(rf"({_OUTCOME})(?=$|[,，(（\s])", re.IGNORECASE)
_WRITTEN = lazy("([^,，(（]*)")
_HYPHENED = lazy(rf"(.*) [–-] (?=(?:{_OUTCOME})(?:$|[,，(（\s]))", re.IGNORECASE)

_NOUNS: tuple[Counted, ...] = ("sources", "facts", "gaps")
_COUNTS = {
    noun: lazy(
        r"(?<![\w.,])([0-9]{1,9}) ?(?:"
        + "|".join(form for w in WORDS.values() for form in sorted(w.counted[noun], key=len, reverse=True))
        + r")(?!\w)"
    )
    for noun in _NOUNS
}
# English counts that would be written otherwise: `1 facts`, `0source`, `007 gaps`. A provider's error may hold one, and
# it must be the same after a way through another language.
_ODD = lazy(
    r"(?<![\w.,])(?:0[0-9]{1,8} ?(?:source|fact|gap)s?|[0-9]{1,9}(?:source|fact|gap)s?"
    r"|1 (?:source|fact|gap)s|(?!1 )[0-9]{1,9} (?:source|fact|gap))(?!\w)"
)
_BLOCKED = lazy(r"(\(|; )([\w.-]+) (?:" + "|".join(sorted({w.blocked for w in WORDS.values()})) + "): ")
_TAIL = lazy(r"(?:(?:^|, )\+([0-9]{1,9}) facts?)?(?:(?:^|, )([0-9]{1,9}) gaps?)?$")

_DATED = r"(?:([0-9]{4}(?:-[0-9]{2}){0,2}) )?·(?: |$)"  # a dot without date: the title only looks as if it had one
_SOURCE = lazy(_BULLET + r"\[([0-9]{1,6}\.[0-9]{1,6})\]\s*(?:" + _DATED + ")?(.*)")
_URL = lazy(r"\w[\w+.-]*://\S+")
_PATH = lazy(r"[^<].*[/\\].*|[^<\s].*\.\w{1,5}")


def search_record(
    round_: int,
    query: str,
    outcome: str,
    *,
    sources: int | None = None,
    blocked: Sequence[Attempt] = (),
    new_facts: int | None = None,
    gaps: int | None = None,
) -> SearchLine:
    """One search as Searches records it; the note is in English, whatever language the line is written in."""
    note = counted(sources, "sources", "en") if sources is not None else ""
    if blocked:
        refused = "; ".join(f"{provider} blocked: {error}" for provider, error in blocked)
        note = f"{note} ({refused})".lstrip()
    line = SearchLine(round_, query, outcome, note, new_facts, gaps)
    return read_search_line(render_search_line(line, "en")) or line


def render_search_line(line: SearchLine, language: str) -> str:
    """`1 · query — found, 5 sources, +3 facts, 6 gaps` in a language, without bullet.

    `new_facts` and `gaps` win over the counts in the note. `read_search_line` gives back what it was made from.
    """
    note = _canonical(line.note)
    tail = _TAIL.search(note)
    facts = line.new_facts if line.new_facts is not None else _number(tail and tail[1])
    gaps = line.gaps if line.gaps is not None else _number(tail and tail[2])
    parts = [
        _TAIL.sub("", note, count=1),
        "" if facts is None else f"+{counted(facts, 'facts', 'en')}",
        "" if gaps is None else counted(gaps, "gaps", "en"),
    ]
    note = _in_language(", ".join(part for part in parts if part), language)
    what = words(language).outcomes.get(line.outcome, line.outcome)
    behind = f"{what}{'' if not note else ' ' if note.startswith('(') else ', '}{note}"
    return f"{line.round} · {one_line(line.query)}{_DASH if behind else ''}{behind}"


def read_search_line(line: str) -> SearchLine | None:
    """The search that a line records, in whichever language, with or without bullet; None if it begins with no round.

    The outcome stands behind the last long dash, or behind a short one where it is a known word (`1. query - found`).
    """
    begun = _SEARCH.fullmatch(line.rstrip())
    if not begun:
        return None
    round_, rest = int(begun[1]), begun[2].strip()
    query, dash, behind = f" {rest}".rpartition(_DASH)
    if not dash and (hyphened := _HYPHENED.match(rest)):
        query, dash, behind = hyphened[1], "-", rest[hyphened.end() :]
    if not dash:
        return SearchLine(round_, rest, "")
    said = _KNOWN.match(behind) or _WRITTEN.match(behind)
    outcome = said[1].strip() if said else ""
    note = _canonical(behind[said.end() if said else 0 :].strip().lstrip(",， "))
    tail = _TAIL.search(note)
    facts, gaps = _number(tail and tail[1]), _number(tail and tail[2])
    return SearchLine(round_, query.strip(), _OUTCOMES.get(outcome.lower(), outcome), note, facts, gaps)


def render_source_line(line: SourceLine) -> str:
    """`[1.2] 2025-02-11 · Title — https://…`, without bullet; what is missing is left out.

    A path that does not look like one stands in angle brackets; a dash at the end says that the title has dashes of
    its own and no address follows.
    """
    title, url = one_line(line.title), one_line(line.url)
    shown = url if not url or _is_address(url) else f"<{url}>"
    if not url and _split_address(title) != (title, ""):
        title += " —"
    elif url and not title and not _URL.fullmatch(shown):
        shown = f"<{url}>"
    date = f"{line.date} · " if line.date else "· " if re.match(_DATED, title) else ""
    return f"[{line.id}] {date}{_DASH.join(part for part in (title, shown) if part)}".rstrip()


def read_source_line(line: str) -> SourceLine | None:
    """The source that a line names, with or without bullet; None if it begins with no `[N.k]`.

    A missing date, title or address is "".
    """
    begun = _SOURCE.fullmatch(line.rstrip())
    return SourceLine(begun[1], begun[2] or "", *_split_address(begun[3].strip())) if begun else None


def _split_address(text: str) -> tuple[str, str]:
    """(title, address) of what stands behind the date."""
    if text.endswith(" —"):
        return text[:-2], ""
    if text.endswith(">") and (text.startswith("<") or f"{_DASH}<" in text):
        title, _, address = f" {text}".rpartition(" <")
        return title.strip().removesuffix("—").strip(), address[:-1]
    if _URL.fullmatch(text):
        return "", text
    title, dash, address = text.rpartition(_DASH)
    return (title, address) if dash and _is_address(address) else (text, "")


def _is_address(text: str) -> bool:
    return _DASH not in text and bool(_URL.fullmatch(text) or _PATH.fullmatch(text))


def _canonical(note: str) -> str:
    """A note in English in one line; a dash in it would hide where the query ends."""
    return one_line(_in_language(note.replace("—", "-").replace("，", ", "), "en"))


def _in_language(note: str, language: str) -> str:
    if language == "en" and note.isascii() and not _ODD.search(note):
        return note  # as nearly all are
    for noun, pattern in _COUNTS.items():
        forms = (counted(int(found[1]), noun, language) for found in pattern.finditer(note))
        note = pattern.sub(lambda _: next(forms), note)  # noqa: B023 - used up before the loop goes on
    return _BLOCKED.sub(rf"\1\2 {words(language).blocked}: ", note)


def _number(digits: str | None) -> int | None:
    return int(digits) if digits else None
