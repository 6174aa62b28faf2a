"""Two summaries of one question become one: the union of what they say, with the raws of the second renumbered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from harness.contradictions import clashes
from harness.facts import citations, with_numbers, without_marks
from harness.fold import changed_facts, list_open_cells
from harness.formats.entries import entries_of, laid_out
from harness.formats.ledger import read_search_line
from harness.formats.summary import lines_of, replace_section, search_lines, source_lines
from harness.guards.lines import FACTUAL, MARK, struck_again
from harness.merging import answers, gap
from harness.model import Grid, Section, SectionKind, SourceLine, Summary, Unread
from harness.patterns import lazy
from harness.sameness import united, united_entries

CONFIRMED, CONTRADICTIONS = SectionKind.CONFIRMED, SectionKind.CONTRADICTIONS
NOT_FOUND, STRUCK, OTHER = SectionKind.NOT_FOUND, SectionKind.STRUCK, SectionKind.OTHER
SEARCHES, SOURCES = SectionKind.SEARCHES, SectionKind.SOURCES
_TWICE = lazy(r"( \[\d+\.\d+\])\1+(?=\s|$)")
OneEach = Callable[[Sequence[str], Grid, frozenset[str]], tuple[str, ...]]


@dataclass(frozen=True)
class Side:
    """One of the two: its summary, the sha256 of each raw that is there, and those raws that are notes."""

    summary: Summary
    raws: Mapping[int, str]
    notes: frozenset[int] = frozenset()


class United(NamedTuple):
    """Fact lines without bullets. `numbers`: what each raw of the second side is called now."""

    summary: Summary
    numbers: Mapping[int, int]
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()  # contradictions

    def new_raws(self, ours: Summary) -> dict[int, int]:
        """Those that are not ours yet, by the number they get."""
        found: dict[int, int] = {}
        for old, new in sorted(self.numbers.items()):
            if new > ours.round:
                found.setdefault(new, old)
        return found


def numbers_for(ours: Side, theirs: Side, base: Summary) -> dict[int, int]:
    """What each raw of theirs becomes: the number of ours that is the same, else the next one behind ours.

    The same is: of one content; where one of the two is not there, one that the base had, whose Searches are equal, or
    of which ours says all that theirs does. One that is not there and that nothing names needs no number.
    """
    folded = [number for number in sorted(ours.raws) if number <= ours.summary.round]
    known = {ours.raws[number]: number for number in reversed(folded)}
    mine, other = _told(ours.summary), _told(theirs.summary)
    asked = [_searched(one.summary) for one in (ours, theirs)]
    shared = {number for number, searches in asked[1].items() if asked[0].get(number) == searches}
    shared |= set(range(1, base.round + 1))
    numbers: dict[int, int] = {}
    following = ours.summary.round
    for number in sorted({*theirs.raws, *range(1, theirs.summary.round + 1)}):
        digest, told = theirs.raws.get(number, ""), other.get(number, frozenset())
        same = number if number in folded and ours.raws[number] == digest else known.get(digest, 0)
        if not same and number <= theirs.summary.round:
            candidates = (at for at in (number, *range(1, ours.summary.round + 1)) if at <= ours.summary.round)
            gone = (at for at in candidates if not digest or at not in ours.raws)
            like = (
                at for at in gone if (at == number and at in shared) or (told and told <= mine.get(at, frozenset()))
            )
            same = next(like, 0)
        if not same and not digest and not told:
            continue
        following += not same
        numbers[number] = same or following
        if digest:
            known.setdefault(digest, numbers[number])  # theirs may have one content twice
    return numbers


def _told(summary: Summary) -> dict[int, frozenset[tuple[str, str]]]:
    """What the summary says of each raw: its searches, and every line that cites it with the place cited."""
    found: dict[int, set[tuple[str, str]]] = {}
    for number, searches in _searched(summary).items():
        found[number] = {*searches}
    for section in summary.sections:
        for text in section.lines if section.kind is not SEARCHES else ():
            for raw, _, place in (id.partition(".") for id in citations(text)):
                found.setdefault(int(raw), set()).add((without_marks(text), place))
    return {number: frozenset(told) for number, told in found.items()}


def _searched(summary: Summary) -> dict[int, frozenset[tuple[str, str]]]:
    """What was searched in each round, and what came of it."""
    found: dict[int, set[tuple[str, str]]] = {}
    for line in search_lines(summary):
        found.setdefault(line.round, set()).add((line.query, line.note))
    return {number: frozenset(searches) for number, searches in found.items()}


def unite(ours: Side, theirs: Side, base: Summary, grid: Grid, language: str) -> United:
    """`base`: what both came from, `Summary()` if that is not known; what it said and one side gave up, goes.

    In whatever order the two are given, the same facts with the same sources; the same summary twice is itself.
    """
    numbers = numbers_for(ours, theirs, base)
    return _Union(ours, theirs, base, grid, language, numbers).made()


class _Union:
    """Ours, theirs with our numbers, and the base, section by section."""

    def __init__(
        self, ours: Side, theirs: Side, base: Summary, grid: Grid, language: str, numbers: Mapping[int, int]
    ) -> None:
        self.ours, self.theirs, self.base = ours.summary, renumbered(theirs.summary, numbers), base
        self.sides, self.grid, self.language, self.numbers = (ours, theirs), grid, language, numbers
        self.new = {new for new in numbers.values() if new > self.ours.round}

    def made(self) -> United:
        mine, other = self.ours, self.theirs
        struck = _joined(lines_of(mine, STRUCK), lines_of(other, STRUCK), str)
        confirmed = self.facts(CONFIRMED, united)
        entries = self.facts(CONTRADICTIONS, united_entries)
        entries = self.with_clashes(confirmed, entries)
        summary = replace(mine, intro=self.intro())
        wanted = {
            CONFIRMED: confirmed,
            CONTRADICTIONS: entries,
            NOT_FOUND: self.gaps(confirmed),
            STRUCK: struck,
            SEARCHES: self.searches(),
            SOURCES: self.sources(),
        }
        for kind, lines in wanted.items():
            if lines != lines_of(mine, kind):
                summary = replace_section(summary, kind, lines, self.language)
        summary = self.with_heads(self.with_others(summary))
        if summary != mine:
            summary = list_open_cells(summary, self.grid, self.language)
        added, removed = changed_facts(mine, summary)
        opened = tuple(line for line in entries if line not in lines_of(mine, CONTRADICTIONS))
        return United(summary, self.numbers, added, removed, opened)

    def facts(self, kind: SectionKind, one_each: OneEach) -> tuple[str, ...]:
        """The lines of both, those that say the same in one; without what either struck out or gave up."""
        mine, other = lines_of(self.ours, kind), lines_of(self.theirs, kind)
        both = {without_marks(line) for line in mine} & {without_marks(line) for line in other}
        kept = [line for line in mine if without_marks(line) in both or self.stays(line, self.theirs)]
        more = [line for line in other if without_marks(line) in both or self.stays(line, self.ours)]
        if tuple(kept) == mine and set(more) <= set(mine):
            return mine
        # Of two wordings the longer is taken, whosever it is; of one and the same, ours keeps its place in the line.
        worded = {without_marks(line) for line in mine}
        doubled = frozenset(line for line in more if line not in mine and without_marks(line) in worded)
        return one_each((*kept, *more), self.grid, doubled)

    def stays(self, line: str, elsewhere: Summary) -> bool:
        """Whether a line that the other side does not have is news to it, and not what it struck out or gave up."""
        bare = without_marks(line)
        if any(struck_again([line], lines_of(elsewhere, STRUCK))):
            return False
        return not any(bare == without_marks(old) for kind in FACTUAL for old in lines_of(self.base, kind))

    def with_clashes(self, confirmed: Sequence[str], entries: tuple[str, ...]) -> tuple[str, ...]:
        """With the entries that the values of the two sides call for; those of one side it has judged itself."""
        judged = [{without_marks(line) for line in lines_of(one, CONFIRMED)} for one in (self.ours, self.theirs)]
        found = clashes(sorted(confirmed, key=without_marks), entries, self.grid)
        new = sorted(
            clash.entry
            for clash in found
            if not any({without_marks(clash.first), without_marks(clash.second)} <= one for one in judged)
        )
        return united_entries((*entries, *new), self.grid) if new else entries

    def gaps(self, confirmed: Sequence[str]) -> tuple[str, ...]:
        """The gaps of both that nothing in the union answers, and that neither side closed."""
        mine, other = lines_of(self.ours, NOT_FOUND), lines_of(self.theirs, NOT_FOUND)
        left = [{gap(line) for line in lines} for lines in (mine, other)]
        before = {gap(line) for line in lines_of(self.base, NOT_FOUND)}
        answered = [answers(confirmed, lines_of(one, CONFIRMED), self.grid) for one in (self.ours, self.theirs)]
        lines = _joined(mine, other, gap)
        return tuple(
            line
            for line in lines
            if left[0] & left[1] & {gap(line)}
            or (gap(line) not in before and not answered[0 if gap(line) in left[0] else 1](line))
        )

    def searches(self) -> tuple[str, ...]:
        mine, other = lines_of(self.ours, SEARCHES), lines_of(self.theirs, SEARCHES)
        recorded = {line.round for line in search_lines(self.ours)}
        more = [line for line in other if not ((read := read_search_line(line)) and read.round in recorded)]
        return (*mine, *(line for line in more if line not in mine))

    def sources(self) -> tuple[str, ...]:
        mine, other = lines_of(self.ours, SOURCES), lines_of(self.theirs, SOURCES)
        listed = {line.id for line in source_lines(self.ours)}
        more = [line for line in other if not any(one.id in listed for one in _sources_in(line))]
        return (*mine, *(line for line in more if line not in mine))

    def intro(self) -> tuple[str, ...]:
        """Prose above the sections; what is cited there are facts, and stands among them."""
        prose = (line for line in self.theirs.intro if line.strip() and not citations(line) and not MARK.search(line))
        return _joined(self.ours.intro, prose, str.strip)

    def with_others(self, summary: Summary) -> Summary:
        """Sections of people and settings: those of one title become one, an entry that both have once."""
        sections = list(summary.sections)
        for section in (one for one in self.theirs.sections if one.kind is OTHER):
            titles = [one.title.casefold() if one.kind is OTHER else "" for one in sections]
            if section.title.casefold() not in titles:
                sections.append(section)
                continue
            at = titles.index(section.title.casefold())
            sections[at] = sections[at]._replace(lines=_with_entries(sections[at], section))
        return replace(summary, sections=tuple(sections))

    def with_heads(self, summary: Summary) -> Summary:
        """Rounds, and what else stands above the sections. What the limits count begins anew with what came."""
        theirs = self.sides[1]
        rounds = {new: old for old, new in self.numbers.items() if new in self.new and old <= theirs.summary.round}
        recorded = {line.round for line in search_lines(theirs.summary)}
        is_search = (old not in theirs.notes and (old in theirs.raws or old in recorded) for old in rounds.values())
        known = {key for key, _ in summary.front.blocks}
        blocks = (*summary.front.blocks, *(block for block in self.theirs.front.blocks if block[0] not in known))
        checked = [one.checked for one in (self.ours, self.theirs) if one.checked is not None]
        return replace(
            summary,
            round=summary.round + len(rounds),
            spent=summary.spent + sum(is_search),
            reopened=summary.round + len(rounds) if rounds else summary.reopened,
            checked=max(checked, default=None),
            unread=self.unread(),
            fingerprint=summary.fingerprint or self.theirs.fingerprint,
            front=summary.front._replace(blocks=blocks),
        )

    def unread(self) -> tuple[Unread, ...]:
        """A part of a raw of both is unread only where neither has read it."""
        shared = set(self.numbers.values()) - self.new
        kept = [one for one in self.ours.unread if one.number not in shared or one in self.theirs.unread]
        return (*kept, *(one for one in self.theirs.unread if one.number in self.new))


def renumbered(summary: Summary, numbers: Mapping[int, int]) -> Summary:
    """The summary with other numbers for its raws wherever it names one."""
    sections = []
    for section in summary.sections:
        other = _search if section.kind is SEARCHES else _cited
        sections.append(section._replace(lines=tuple(other(line, numbers) for line in section.lines)))
    return replace(
        summary,
        checked=None if summary.checked is None else numbers.get(summary.checked, summary.checked),
        unread=tuple(one._replace(number=numbers.get(one.number, one.number)) for one in summary.unread),
        intro=tuple(with_numbers(line, numbers) for line in summary.intro),
        sections=tuple(sections),
    )


def _cited(line: str, numbers: Mapping[int, int]) -> str:
    return _TWICE.sub(r"\1", with_numbers(line, numbers))


def _search(line: str, numbers: Mapping[int, int]) -> str:
    read = read_search_line(line)
    return line.replace(str(read.round), str(numbers.get(read.round, read.round)), 1) if read else line


def _sources_in(line: str) -> tuple[SourceLine, ...]:
    return source_lines(Summary(sections=(Section(SOURCES, "Sources", (line,)),)))


def _with_entries(mine: Section, other: Section) -> tuple[str, ...]:
    """Our lines as they stand, and behind them the entries that only the other has."""
    there = [entry.text for entry in entries_of(mine.lines)[0]]
    known = {without_marks(text) for text in there}
    more = [entry.text for entry in entries_of(other.lines)[0] if without_marks(entry.text) not in known]
    return laid_out(mine.lines, (*there, *more)) if more else mine.lines


def _joined(mine: Sequence[str], other: Iterable[str], key: Callable[[str], str]) -> tuple[str, ...]:
    """Ours as they are, and behind them each of the others once that says something else."""
    known = {key(line) for line in mine}
    more = {key(line): line for line in other if key(line) not in known}
    return (*mine, *more.values())
