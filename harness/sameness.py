"""Lines of several replies that say one thing: which they are, and the one line that they become."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import ceil

from harness.facts import (
    Side,
    at_dash,
    citations,
    parse_fact,
    sides,
    with_citation,
    without_marks,
    without_periods,
)
from harness.guards.lines import MARK, SUMMED, UNVERIFIED
from harness.heirs import PROSE_SHARE
from harness.model import Grid
from harness.periods import only_period, periods
from harness.quantities import converted, quantities
from harness.words import content_stems, stems

_SIGNIFICANT = frozenset("123456789")


def united(lines: Sequence[str], grid: Grid, before: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The lines, those that say the same in one with all citations, in the order in which they come first.

    The same is: of a cell the same period and value, of other lines the same words, with numbers compared as amounts
    (154,0 млрд; 154 000 000 000). `before`: the summary's; where there is a new wording of one, it is taken.
    """
    groups: dict[object, list[str]] = defaultdict(list)
    for line, meaning in _with_keys(lines, grid):
        groups[meaning].append(line)
    return tuple(line for same in groups.values() for line in _one(tuple(dict.fromkeys(same)), before))


def _with_keys(lines: Sequence[str], grid: Grid) -> Iterator[tuple[str, object]]:
    """Each line with what it has in common with those that say the same.

    To take a line apart costs 0.2 ms: only those are whose significant digits another line has, too.
    """
    bare = {line: " ".join(without_marks(line).split()) for line in lines}
    alike: dict[str, set[str]] = defaultdict(set)
    for text in bare.values():
        alike[_digits(text)].add(text)
    keys: dict[str, object] = {}
    for line in lines:
        text = bare[line]
        if text not in keys:
            keys[text] = _key(text, grid) if len(alike[_digits(text)]) > 1 else text
        yield line, keys[text]


def _digits(text: str) -> str:
    return "".join(char for char in text if char in _SIGNIFICANT)


def _key(bare: str, grid: Grid) -> object:
    fact = parse_fact(bare, grid)
    value = fact.value if fact.field else bare
    amounts = [one for one in quantities(value) if one.unit != "year"]
    words = value
    for one in amounts:
        words = words[: one.at] + " " * len(one.text) + words[one.at + len(one.text) :]
    measured = tuple((same.value, same.unit) for same in map(converted, amounts))
    return fact.cell, _period(fact.period), stems(words), measured


def _period(text: str) -> object:
    found = only_period(text)
    return (found.start, found.end, found.day) if found else text.casefold()


def _one(lines: tuple[str, ...], before: frozenset[str]) -> tuple[str, ...]:
    """The line that lines of one meaning become; a person's and a sum stay byte for byte, and alone."""
    fixed = tuple(line for line in lines if is_fixed(line))
    if fixed or len(lines) == 1:
        return fixed or lines
    sure = [line for line in lines if not UNVERIFIED.search(line)] or list(lines)
    fresh = [line for line in sure if line not in before] or sure
    chosen = max(fresh, key=lambda line: (len(without_marks(line)), line))
    more = {id for line in sure for id in citations(line)} - set(citations(chosen))
    return (with_citation(chosen, *sorted(more, key=_number)),) if more else (chosen,)


def is_fixed(line: str) -> bool:
    """Whether no code and no role may change a line: a person's, or one that the harness added up."""
    return bool(MARK.search(line) or SUMMED.search(line))


def _number(id: str) -> tuple[int, ...]:
    return tuple(map(int, id.split(".")))


# Contradictions ----------------------------------------------------------------------------------


def united_entries(lines: Sequence[str], grid: Grid, before: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Like `united`, for lines of Contradictions: entries about one thing and period become one with all sides."""
    groups: dict[object, list[str]] = defaultdict(list)
    for line in united(lines, grid, before):
        groups[_subject(line, grid)].append(line)
    return tuple(_entry(entries, grid) if len(entries) > 1 else entries[0] for entries in groups.values())


def _subject(entry: str, grid: Grid) -> object:
    """What an entry is about; the entry itself where it has no two sides, or is not ours to change."""
    head = at_dash(without_marks(entry))
    if head is None or len(sides(entry)) < 2 or is_fixed(entry) or UNVERIFIED.search(entry):
        return entry
    fact = parse_fact(entry, grid)
    return (fact.cell, _period(fact.period)) if fact.field else stems(head[0])


def _entry(entries: Sequence[str], grid: Grid) -> str:
    """One entry with the sides of all; the side of the earliest source stands first."""
    values: dict[object, list[Side]] = defaultdict(list)
    for entry in entries:
        for side in sides(entry):
            values[_key(side.value, Grid())].append(side)
    told = []
    for same in values.values():
        cited = sorted({id for side in same for id in side.citations}, key=_number)
        value = max((side.value for side in same), key=lambda text: (len(text), text))
        told.append((_number(cited[0]) if cited else (), " ".join((value, *(f"[{id}]" for id in cited)))))
    heads = (found[0] for entry in entries if (found := at_dash(entry)))
    return f"{max(heads, key=lambda text: (len(text), text))} — {' ↔ '.join(text for _, text in sorted(told))}"


# Looking up --------------------------------------------------------------------------------------


class Index:
    """Lines by their words and citations: which may say what a line says, without a look at all of them."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = tuple(dict.fromkeys(lines))
        self.by_stem: dict[str, set[int]] = defaultdict(set)
        self.by_source: dict[str, set[int]] = defaultdict(set)
        for at, line in enumerate(self.lines):
            for stem in content_stems(without_marks(line)):
                self.by_stem[stem].add(at)
            for id in citations(line):
                self.by_source[id].add(at)

    def near(self, line: str, cited: Iterable[str] = ()) -> tuple[str, ...]:
        """Every line that may be an heir of this one or be about the same; also those that cite its sources.

        `cited`: further sources whose lines are wanted.
        """
        bare = without_marks(line)
        parts = at_dash(bare)
        if parts is None:
            found = self._with_half(frozenset(stem for stem in content_stems(bare) if not stem[0].isdigit()))
        else:
            found = self._with(frozenset(content_stems(without_periods(parts[0], periods(parts[0])))))
        sources = (self.by_source.get(id, set()) for id in (*citations(line), *cited))
        return tuple(self.lines[at] for at in sorted(found.union(*sources)))

    def with_all(self, text: str) -> tuple[str, ...]:
        """The lines that have all the content words of a text."""
        wanted = frozenset(content_stems(text))
        return tuple(self.lines[at] for at in sorted(self._with(wanted))) if wanted else ()

    def _with(self, wanted: frozenset[str]) -> set[int]:
        if not wanted:
            return set(range(len(self.lines)))
        return set.intersection(*(self.by_stem.get(stem, set()) for stem in wanted))

    def _with_half(self, wanted: frozenset[str]) -> set[int]:
        """Those that may share half of the words: such a line has one of any larger half of them, so of the rarest."""
        least = ceil(len(wanted) * PROSE_SHARE)
        rarest = sorted((self.by_stem.get(stem, set()) for stem in wanted), key=len)
        return set().union(*rarest[: len(wanted) - least + 1])
