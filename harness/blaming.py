"""`harness blame`: where a fact came from, what became of it on the way, and where in its sources it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from harness.changes import DISPUTED, Changes, changes
from harness.errors import HarnessError, StateMoved
from harness.facts import citations, without_marks
from harness.formats.question import parse_question
from harness.formats.summary import lines_of, parse_summary, search_lines
from harness.formats.text import shortened
from harness.heirs import survives
from harness.history import History, history_of
from harness.journal import removed_by, steps
from harness.model import Grid, SectionKind, Source, Summary
from harness.passage import passage, speaks_of
from harness.store.reading import read_state
from harness.store.snapshot import raw_path, read_raw
from harness.versions import Version

SHOWN = 10  # facts at the most
_PASSAGE = 200  # characters of a passage


class Event(NamedTuple):
    """`what`: "found", "changed", "cited anew", "disputed", "settled" or "gone"; `reason`: of a change
    or a loss, "" where none was given.
    """

    round: int
    what: str
    line: str
    by: str
    at: str
    query: str = ""
    rev: str = ""
    reason: str = ""


class Origin(NamedTuple):
    """A source that a fact cites; `place` is `raw_2.md:14`, "" where the passage is not found, `lacking` says why."""

    id: str
    title: str = ""
    date: str = ""
    url: str = ""
    place: str = ""
    passage: str = ""
    lacking: str = ""


class Blame(NamedTuple):
    """A fact as it stands, or as it stood last; `events` oldest first."""

    line: str
    stands: bool
    events: tuple[Event, ...]
    origins: tuple[Origin, ...]


class Blames(NamedTuple):
    facts: tuple[Blame, ...]
    more: int  # facts that match too, and are not shown
    notes: tuple[str, ...]  # how far back what is known reaches


def blame(folder: Path, text: str) -> Blames:
    """The facts that speak of a number (in any writing) or of words, those that stand first.

    Raises HarnessError where none does, with the nearest ones.
    """
    history = history_of(folder)
    chains = _chains(history)
    found = [chain for chain in chains if any(speaks_of(event.line, text) for event in chain)]
    if not found:
        raise HarnessError("no fact speaks of this", text, _near(chains, text) or "harness log shows what is known")
    found.sort(key=lambda chain: chain[-1].what == "gone")
    grid = parse_question(read_state(folder / "question.md").text).grid
    told = tuple(_blame(folder, chain, grid) for chain in found[:SHOWN])
    return Blames(told, max(len(found) - SHOWN, 0), history.notes)


def _chains(history: History) -> list[list[Event]]:
    """The life of each fact: one that was changed goes on, one that was lost and found again begins anew."""
    living: dict[str, list[Event]] = {}
    chains: list[list[Event]] = []
    for before, version in steps(history.versions):
        old, new = parse_summary(before), parse_summary(version.text)
        told = changes(old, new, removed_by(version))
        event = Event(new.round, "found", "", version.by, version.at, rev=version.rev)
        ended = [living.pop(key) for line, _ in told.lost if (key := without_marks(line)) in living]
        for chain, (_, reason) in zip(ended, told.lost, strict=False):
            chain.append(event._replace(what="gone", line=chain[-1].line, reason=reason))
        for line, now in told.changed:
            if without_marks(line) in living:
                chain = living.pop(without_marks(line))
                living[without_marks(now)] = chain
                chain.append(event._replace(what="changed", line=now, reason=_reason(line, version)))
        _dispute(living, chains, told, event)
        for line in _restated(living, new):
            living[without_marks(line)].append(event._replace(what="cited anew", line=line))
        for line in told.added:
            chain = [event._replace(line=line, query=_query(new, line))]
            living[without_marks(line)] = chain
            chains.append(chain)
    return chains


def _dispute(living: dict[str, list[Event]], chains: list[list[Event]], told: Changes, event: Event) -> None:
    """A contradiction lives as a fact does; one that it took up goes on where it is settled so, and else is gone."""
    into = [line for line, _, now in told.moved if now == DISPUTED]
    out_of = [line for line, before, _ in told.moved if before == DISPUTED]
    happened = [*((line, "disputed") for line in (*into, *told.opened)), *((line, "settled") for line in out_of)]
    for line, what in happened:
        chain = living.setdefault(without_marks(line), [])
        if not chain:
            chains.append(chain)
        chain.append(event._replace(what=what, line=line))
    for line in told.settled:
        open_till_now = [key for key, chain in living.items() if chain[-1].what == "disputed"]
        for key in [key for key in open_till_now if survives(living[key][-1].line, (line,))]:
            chain = living.pop(key)
            chain.append(event._replace(what="gone", line=chain[-1].line, reason="the contradiction was settled"))


def _restated(living: Mapping[str, list[Event]], new: Summary) -> Iterator[str]:
    """Facts that got another citation or a mark."""
    for line in lines_of(new, SectionKind.CONFIRMED):
        chain = living.get(without_marks(line))
        if chain and chain[-1].line != line:
            yield line


def _reason(line: str, version: Version) -> str:
    bare = without_marks(line).casefold()
    return next((one.reason for one in removed_by(version) if without_marks(one.fact).casefold() == bare), "")


def _query(summary: Summary, line: str) -> str:
    """What was searched for in the round that the line cites first."""
    cited = citations(line)
    number = int(cited[0].partition(".")[0]) if cited else summary.round
    return "; ".join(search.query for search in search_lines(summary) if search.round == number)


def _blame(folder: Path, chain: list[Event], grid: Grid) -> Blame:
    line = chain[-1].line
    origins = tuple(_origin(folder, id, line, grid) for id in citations(line))
    return Blame(line, chain[-1].what != "gone", tuple(chain), origins)


def _origin(folder: Path, id: str, line: str, grid: Grid) -> Origin:
    number, _, k = id.partition(".")
    path = raw_path(folder, int(number))
    try:
        text, raw = read_raw(path)
    except StateMoved:
        return Origin(id, lacking=f"{path.name} is gone")
    except HarnessError as error:
        return Origin(id, lacking=error.what)
    at = int(k) - raw.first
    if not 0 <= at < len(raw.sources):
        return Origin(id, lacking=f"{path.name} has no source {k}")
    source = raw.sources[at]
    told = Origin(id, source.title, source.date, source.url)
    found = passage(line, source.text, grid)
    if found is None:
        return told._replace(lacking="no line of it says this")
    said = source.text.split("\n")[found]
    return told._replace(place=f"{path.name}:{_line_of(text, source, said)}", passage=shortened(said.strip(), _PASSAGE))


def _line_of(text: str, source: Source, said: str) -> int:
    """The line of the file: the passage behind the opening of its source."""
    start = max(text.find(source.text), 0)
    return text.count("\n", 0, max(text.find(said, start), 0)) + 1


def _near(chains: list[list[Event]], text: str) -> str:
    words = text.casefold().split()
    near = [chain[-1].line for chain in chains if any(word in chain[-1].line.casefold() for word in words)]
    return "near it: " + "; ".join(near[:3]) if near else ""


def render(told: Blames) -> str:
    """For people: the fact, its life, its sources."""
    blocks = ["\n".join(_lines(one)) for one in told.facts]
    if told.more:
        blocks.append(f"and {told.more} more: say more of the line")
    return "\n\n".join(blocks)


def _lines(one: Blame) -> Iterator[str]:
    yield one.line if one.stands else f"{one.line}  (gone)"
    for event in one.events:
        asked = f', asked: "{event.query}"' if event.query else ""
        commit = f", commit {event.rev[:9]}" if event.rev else ""
        when = f"{event.by or 'unknown'}, {event.at[:16] or 'no date'}{commit}"
        yield f"  round {event.round}  {event.what} by {when}{asked}"
        if event.what == "changed":
            yield f"           to: {event.line}"
        if event.reason:
            yield f"           because: {event.reason}"
    for origin in one.origins:
        told = " · ".join(filter(None, (origin.date, origin.title, origin.url)))
        yield f"  [{origin.id}] {told}" if told else f"  [{origin.id}] {origin.lacking}"
        if origin.place:
            yield f"           {origin.place}: {origin.passage}"
        elif told and origin.lacking:
            yield f"           {origin.lacking}"
