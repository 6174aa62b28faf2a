"""`harness log`: what each round brought, a line each, and what people did in between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, takewhile
from typing import NamedTuple
from unicodedata import east_asian_width

from harness.changes import Changes, changes
from harness.fold import gaps_left
from harness.formats.question import parse_question
from harness.formats.summary import folded_searches, lines_of, parse_summary
from harness.formats.text import shortened
from harness.history import History
from harness.model import Grid, Removal, SearchLine, SectionKind, Summary
from harness.store.reading import read_state
from harness.store.trace import TRACE, read_trace
from harness.versions import Version

_HEAD = ("round", "facts", "disputes", "gaps", "tokens", "who", "what")
Spent = tuple[int, list[tuple[str, str]]]
_LEAST = 20  # characters of the last column, however narrow the terminal


class Entry(NamedTuple):
    """A round, or something a person did after it. Facts by number; `tokens` of all roles and refused replies."""

    round: int
    kind: str  # "round", "edit", "reopened", or "rounds": of all up to this one, as what each brought is not known
    at: str
    queries: tuple[str, ...]
    sources: int
    added: int
    lost: int
    changed: int
    disputes: int  # contradictions that stand after it
    gaps: int
    tokens: int
    who: tuple[tuple[str, str], ...]  # role and name
    rev: str = ""  # of git, where only a commit tells of it


def journal(history: History) -> tuple[Entry, ...]:
    """An entry a round that is known, oldest first. Raises HarnessError for a link in the place of a file."""
    question = read_state(history.folder / "question.md").text
    grid = parse_question(question).grid
    spent = _spent(read_trace(history.folder / TRACE))
    found: list[Entry] = []
    for before, version in steps(history.versions):
        old, new = parse_summary(before), parse_summary(version.text)
        kind = _kind(version, old, new)
        found.append(_entry(kind, version, new, changes(old, new, removed_by(version)), grid, spent))
    return tuple(found)


def steps(versions: Sequence[Version]) -> Iterator[tuple[str, Version]]:
    """Each whole round, and each edit, with the text before it; the parts of a raw make one step."""
    before = ""
    for at, version in enumerate(versions):
        summary = parse_summary(version.text)
        following = parse_summary(versions[at + 1].text) if at + 1 < len(versions) else None
        under_way = summary.reading is not None and following is not None
        if not under_way:
            yield before, version
            before = version.text


def _kind(version: Version, old: Summary, new: Summary) -> str:
    if old.round != new.round:
        return "round" if old.round or new.round == 1 else "rounds"
    if new.reopened > old.reopened:
        return "reopened"
    return "edit" if _is_edit(version) else "round"


def _is_edit(version: Version) -> bool:
    return version.record.get("role") == "person" or not (version.record or version.rev)


def removed_by(version: Version) -> tuple[Removal, ...]:
    """The reasons that the pass gave."""
    reasons = version.record.get("reasons")
    pairs = reasons if isinstance(reasons, list) else []
    return tuple(Removal(str(one[0]), str(one[1])) for one in pairs if isinstance(one, list) and len(one) == 2)


def _entry(kind: str, version: Version, new: Summary, told: Changes, grid: Grid, spent: Mapping[int, Spent]) -> Entry:
    mine = kind in ("round", "rounds")
    searches = _searches(new) if mine else ()
    tokens, who = spent.get(new.round, (0, [])) if mine and version.record else (0, [])
    return Entry(
        round=new.round,
        kind=kind,
        at=version.at,
        queries=tuple(line.query for line in searches),
        sources=_sources(searches),
        added=len(told.added),
        lost=len(told.lost),
        changed=len(told.changed),
        disputes=len(lines_of(new, SectionKind.CONTRADICTIONS)),
        gaps=gaps_left(new, grid),
        tokens=tokens,
        who=tuple(who) or (("", version.by),),
        rev="" if version.record else version.rev,
    )


def _searches(summary: Summary) -> tuple[SearchLine, ...]:
    """Those of the summary's round. Rounds stand in order, so that the many before are not looked at."""
    mine = takewhile(lambda line: line.round >= summary.round, folded_searches(summary))
    return tuple(mine)[::-1]


def _sources(searches: Sequence[SearchLine]) -> int:
    """As Searches says it: only those that are cited stand in Sources."""
    notes = [line.note.split()[0] for line in searches if line.note.strip()]
    return sum(int(word) for word in notes if word.isdigit())


def _spent(records: Iterator[Mapping[str, object]]) -> dict[int, Spent]:
    """Tokens, and who took part, by round."""
    found: dict[int, Spent] = {}
    for record in records:
        match record:
            case {"role": "planner" | "synthesizer" | "checker" | "search" as role, "round": int(number)}:
                tokens, who = found.get(number, (0, []))
                named = record.get("agent") or record.get("asked")
                names = named if isinstance(named, list) else [named] if named else []
                told = [(role, name) for name in dict.fromkeys(map(str, names))]
                who += [one for one in told if one not in who]
                found[number] = tokens + _tokens(record), who
    return found


def _tokens(record: Mapping[str, object]) -> int:
    others = record.get("others")
    told = [record.get("tokens"), *(others.values() if isinstance(others, dict) else ())]
    return sum(one[0] + one[1] for one in told if isinstance(one, list) and len(one) == 2 and _are_counts(one))


def _are_counts(pair: list[object]) -> bool:
    return all(type(number) is int for number in pair)


def render_journal(entries: Sequence[Entry], width: int) -> str:
    """A table; `width` 0: as wide as it needs to be."""
    rows = [_HEAD, *(_cells(entry) for entry in entries)]
    widths = [max(_columns(row[at]) for row in rows) for at in range(len(_HEAD) - 1)]
    room = max(width - sum(widths) - 2 * len(widths), _LEAST) if width else 0
    lines = []
    for row in rows:
        cells = [cell + " " * (size - _columns(cell)) for cell, size in zip(row[:-1], widths, strict=True)]
        lines.append("  ".join((*cells, _cut(row[-1], room) if room else row[-1])).rstrip())
    return "\n".join(lines)


def _columns(text: str) -> int:
    """Those that it takes on a terminal: a Chinese character takes two."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def _cut(text: str, room: int) -> str:
    if _columns(text) <= room:
        return text
    ends = accumulate(map(_columns, text))
    return shortened(text, sum(end < room for end in ends))  # its mark takes one column


def _sources_told(number: int) -> str:
    return f" ({number} source{'s' if number > 1 else ''})" if number else ""


def _cells(entry: Entry) -> tuple[str, ...]:
    signs = ((entry.added, "+"), (entry.lost, "−"), (entry.changed, "~"))
    facts = " ".join(f"{sign}{number}" for number, sign in signs if number) or "0"
    if entry.kind == "rounds":
        what = f"rounds up to {entry.round}: what each brought is not known"
    elif entry.kind == "round":
        what = "; ".join(entry.queries) + _sources_told(entry.sources)
    else:
        what = "edited by hand" if entry.kind == "edit" else "reopened"
    who = ", ".join(dict.fromkeys(name for role, name in entry.who if role != "search"))
    tokens = f"{entry.tokens:,}" if entry.tokens else ""
    what = what or (f"commit {entry.rev[:9]}" if entry.rev else "a note")
    return str(entry.round), facts, str(entry.disputes), str(entry.gaps), tokens, who, what
