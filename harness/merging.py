"""The checked replies of several parts, each asked with the same summary, become one: their union, every line once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

from harness.contradictions import clashes
from harness.facts import citations, filled_cells, names
from harness.formats.entries import entries_of, laid_out
from harness.formats.labels import without_searched_mark
from harness.formats.summary import lines_of
from harness.guards.lines import PINNED, SUMMED, UNVERIFIED, written_lines
from harness.heirs import survives
from harness.losses import means, reason_holds, repeats
from harness.model import Grid, Removal, Rewrite, Section, SectionKind, Summary
from harness.sameness import Index, united, united_entries
from harness.totals import add

Place = tuple[SectionKind, str]  # the title tells sections of kind OTHER apart; "" for the others
Told = dict[Place, tuple[str, ...]]
CONFIRMED, CONTRADICTIONS = (SectionKind.CONFIRMED, ""), (SectionKind.CONTRADICTIONS, "")
NOT_FOUND = (SectionKind.NOT_FOUND, "")


def merge(summary: Summary, rewrites: Sequence[Rewrite], grid: Grid) -> Rewrite:
    """The union of replies that were all asked with `summary`; in whatever order they come, the same lines.

    A fact stands once, with the citations of all who found it. A line of the summary goes where a reply reworded it
    (its new wording stands) or removed it for a reason that still holds; pinned lines and sums stay. Two values for one
    thing and period get a line in Contradictions. What one part did not find and another did is not listed as not
    found. Totals are added. ValueError without replies.
    """
    if not rewrites:
        raise ValueError("no replies to merge")
    totals = add(one.totals for one in rewrites)
    think = "\n".join(dict.fromkeys(one.think for one in rewrites if one.think))
    spoken = tuple(one for one in rewrites if one.nothing_new is None)  # the others keep every line
    if not spoken:
        why = "; ".join(dict.fromkeys(one.nothing_new for one in rewrites if one.nothing_new))
        return Rewrite(think, nothing_new=why, totals=totals)
    sections, removed = _Union(summary, spoken, grid).merged()
    return Rewrite(think, sections, removed, totals=totals)


class _Union:
    """The replies section by section, beside the summary that they all had."""

    def __init__(self, summary: Summary, spoken: Sequence[Rewrite], grid: Grid) -> None:
        self.summary, self.grid = summary, grid
        self.sections = [{_place(one): one for one in reply.sections} for reply in spoken]
        self.replies: list[Told] = [
            {place: written_lines(Rewrite(sections=(one,)), one.kind) for place, one in sections.items()}
            for sections in self.sections
        ]
        self.removals = tuple(dict.fromkeys(chain.from_iterable(one.removed for one in spoken)))
        self.places = tuple(dict.fromkeys(chain.from_iterable(self.sections)))
        self.old: Told = {place: _old(summary, place) for place in self.places}
        self.order = {place: {line: at for at, line in enumerate(lines)} for place, lines in self.old.items()}

    def merged(self) -> tuple[tuple[Section, ...], tuple[Removal, ...]]:
        facts = [place for place in self.places if place != NOT_FOUND]
        fresh = {place: self.fresh(place) for place in facts}
        dropped, removed = self.dropped(facts, fresh)
        lines: Told = {}
        for place in facts:
            kept = [line for line in self.old[place] if line not in dropped]
            placed = sorted({**fresh[place], **{line: (self.order[place][line], 0) for line in kept}}.items(), key=_at)
            unite = united_entries if place == CONTRADICTIONS else united
            lines[place] = unite([line for line, _ in placed], self.grid, frozenset(kept))
        lines = self.with_clashes(lines)
        if NOT_FOUND in self.places:
            lines[NOT_FOUND] = self.not_found(lines.get(CONFIRMED, lines_of(self.summary, CONFIRMED[0])))
        return tuple(self.section(place, told) for place, told in lines.items()), removed

    def fresh(self, place: Place) -> dict[str, tuple[int, int]]:
        """The lines that replies have and the summary does not, each with its place: behind which of the old ones."""
        found: dict[str, tuple[int, int]] = {}
        for reply in self.replies:
            behind = -1
            for line in reply.get(place, ()):
                behind = self.order[place].get(line, behind)
                if line not in self.order[place]:
                    found.setdefault(line, (behind, 1))
        return found

    def dropped(
        self, facts: Sequence[Place], fresh: dict[Place, dict[str, tuple[int, int]]]
    ) -> tuple[set[str], tuple[Removal, ...]]:
        """The old lines that go, and the removals that hold: some reply left the line out, and what is left says it or
        bears out the reason. Of two lines that two replies each call the other's duplicate, both stay.
        """
        out = {line for place in facts for line in self.left_out(place)}
        if not out:
            return out, self.removals
        new = set(united([line for lines in fresh.values() for line in lines], self.grid))
        left = Index([*(line for place in facts for line in self.old[place] if line not in out), *sorted(new)])
        facts_removed = Index(one.fact for one in self.removals)
        stay: set[str] = set()
        void: set[Removal] = set()
        for line in out:
            like = set(facts_removed.near(line))
            named = [one for one in self.removals if repeats(one.fact, line) or one.fact in like]
            named = [one for one in named if means(one.fact, line)]
            near = left.near(line, (id for one in named for id in citations(one.reason)))
            if not _may_go(line, named, near, [one for one in near if one in new]):
                stay.add(line)
                void.update(named)
        return out - stay, tuple(one for one in self.removals if one not in void)

    def left_out(self, place: Place) -> set[str]:
        told = [set(reply[place]) for reply in self.replies if place in reply]
        return {
            line
            for line in self.old[place]
            if any(line not in lines for lines in told) and not PINNED.search(line) and not SUMMED.search(line)
        }

    def with_clashes(self, lines: Told) -> Told:
        """With the entries that the values of several replies call for under Contradictions."""
        confirmed = lines.get(CONFIRMED, ())
        entries = lines.get(CONTRADICTIONS, lines_of(self.summary, CONTRADICTIONS[0]))
        old = set(self.old.get(CONFIRMED, ()))
        found = clashes(sorted(confirmed), entries, self.grid)
        new = sorted(clash.entry for clash in found if not {clash.first, clash.second} <= old)
        return {**lines, CONTRADICTIONS: united_entries((*entries, *new), self.grid)} if new else lines

    def not_found(self, confirmed: Sequence[str]) -> tuple[str, ...]:
        """Old lines that every reply kept, new ones once; none that the merged facts answer."""
        told = [{gap(line) for line in reply[NOT_FOUND]} for reply in self.replies if NOT_FOUND in reply]
        kept = [line for line in self.old[NOT_FOUND] if all(gap(line) in gaps for gaps in told)]
        before = {gap(line) for line in self.old[NOT_FOUND]}
        new: dict[str, str] = {}
        for line in chain.from_iterable(reply.get(NOT_FOUND, ()) for reply in self.replies):
            if gap(line) not in before:
                new[gap(line)] = min(line, new.get(gap(line), line))
        answered = answers(confirmed, lines_of(self.summary, CONFIRMED[0]), self.grid)
        return tuple(line for line in (*kept, *new.values()) if not answered(line))

    def section(self, place: Place, lines: Sequence[str]) -> Section:
        versions = dict.fromkeys(sections[place] for sections in self.sections if place in sections)
        like = next(iter(versions), Section(place[0], "Contradictions"))
        if place[0] is not SectionKind.OTHER:
            return like._replace(lines=tuple(f"- {line}" for line in lines))
        own = (one.lines for one in self.summary.sections if _place(one) == place)
        changed = [one for one in versions if one.lines not in set(own)]
        if len(changed) < 2:  # its prose and tables as they stand
            return next(iter(changed), like)
        return like._replace(lines=laid_out(like.lines, lines))


def _at(placed: tuple[str, tuple[int, int]]) -> tuple[int, int]:
    return placed[1]


def _place(section: Section) -> Place:
    return section.kind, section.title.casefold() if section.kind is SectionKind.OTHER else ""


def _old(summary: Summary, place: Place) -> tuple[str, ...]:
    if place[0] is not SectionKind.OTHER:
        return tuple(dict.fromkeys(lines_of(summary, place[0])))
    own = (one for one in summary.sections if _place(one) == place)
    return tuple(dict.fromkeys(entry.text for one in own for entry in entries_of(one.lines)[0]))


def _may_go(line: str, named: Sequence[Removal], near: Sequence[str], fresh: Sequence[str]) -> bool:
    """Whether a line is said by one of those left, or was removed for a reason that they bear out.

    Whether its source says it was looked up when the reply was checked.
    """
    return survives(line, near) or any(reason_holds(line, one.reason, near, fresh, lambda line: False) for one in named)


def gap(line: str) -> str:
    """What a line of Not found says, whatever its case and however often it was searched for."""
    return " ".join(without_searched_mark(line).casefold().split())


def answers(confirmed: Sequence[str], before: Sequence[str], grid: Grid) -> Callable[[str], bool]:
    """Whether a line of Not found is answered: its cells have values, or a new fact has all its words."""
    filled = filled_cells(confirmed, grid) if grid else frozenset()
    old = set(before)
    new = Index(line for line in confirmed if line not in old and not UNVERIFIED.search(line))

    def answered(line: str) -> bool:
        entities = [entity for entity in grid.entities if names(line, entity)]
        cells = [(entity, field) for entity in entities for field in grid.fields if names(line, field)]
        if cells:
            return all(cell in filled for cell in cells)
        return bool(new.with_all(without_searched_mark(line)))

    return answered
