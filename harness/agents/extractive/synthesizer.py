"""The built-in Synthesizer: what the sources state for the open cells, merged into the summary line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.agents.extractive import answering, fields, passages
from harness.agents.extractive.lexicon import meanings
from harness.agents.extractive.named import names_of
from harness.agents.extractive.readings import Finding, findings
from harness.agents.extractive.subjects import is_cyrillic, mentions
from harness.facts import Cell, Fact, Side, open_cells, parse_fact, sides, with_citation
from harness.formats.labels import label, without_searched_mark
from harness.formats.summary import lines_of, source_lines
from harness.model import Defect, Grid, SectionKind, Source, SourceLine, Summary
from harness.periods import in_digits, same_period
from harness.quantities import is_physical, is_rounded, same_value
from harness.words import content_stems


class Sections(NamedTuple):
    """The three sections a role writes, one entry a line, without bullets."""

    confirmed: tuple[str, ...]
    contradictions: tuple[str, ...]
    not_found: tuple[str, ...]


class _Cited(NamedTuple):
    id: str
    source: Source


def fold(
    summary: Summary,
    sources: Sequence[tuple[str, Source]],
    grid: Grid,
    question: str,
    defects: Sequence[Defect] = (),
    today: str = "",
) -> Sections:
    """The sections after reading `sources` (pairs of `N.k` and source). With the same input, the same output.

    `defects`: lines that a reply before was refused for are not written again.
    """
    old = Sections(*(lines_of(summary, kind) for kind in _KINDS))
    if not grid:
        lines = answering.best_sentences(question, sources, old.confirmed, _struck_lines(summary))
        return old._replace(confirmed=(*old.confirmed, *_allowed(lines, defects)))
    refused = tuple(defect.value for defect in defects if defect.value)
    page = _Page(grid, old, _Struck(summary, grid), refused, {line.id: line for line in source_lines(summary)})
    # the newest source first: its value is the one that stands where two differ; equal dates keep the raw's order
    for cited in sorted((_Cited(*pair) for pair in sources), key=lambda cited: cited.source.date, reverse=True):
        page.read(cited, today)
    return page.sections()


def unread(confirmed: Sequence[str], sources: Sequence[tuple[str, Source]], grid: Grid) -> tuple[str, ...]:
    """Files (or titles) that name the entity and the field of a cell which is still open, each once."""
    cells = open_cells(confirmed, grid)
    names_both = (source for _, source in sources if _names_both(source, cells))
    found = dict.fromkeys(source.url.rstrip("/").rpartition("/")[2] or source.title for source in names_both)
    return tuple(found)[:MOST_UNREAD]


def _names_both(source: Source, cells: Sequence[Cell]) -> bool:
    text = f"{source.title}\n{source.text}"
    near = frozenset(names_of(tuple(dict.fromkeys(entity for entity, _ in cells))).mentioned_in_source(text))
    if not near:
        return False
    said = frozenset(meanings(content_stems(text)))
    told = (cell for cell in cells if cell[0] in near and fields.field(cell[1]).base <= said)
    return any(mentions(text, entity) for entity, _ in told)


MOST_UNREAD = 5  # files that the line of thought names
_KINDS = (SectionKind.CONFIRMED, SectionKind.CONTRADICTIONS, SectionKind.NOT_FOUND)


def render(sections: Sections, language: str, think: str) -> str:
    """The reply's text."""
    parts = [f"Think: {think}", "Summary:"]
    for kind, lines in zip(_KINDS, sections, strict=True):
        parts.append(f"## {label(kind, language)}")
        parts += [f"- {line}" for line in lines]
    return "\n".join([*parts, "Removed:", "- none", ""])


class _Struck:
    """What a person deleted: it comes back only from a source that was not behind it."""

    def __init__(self, summary: Summary, grid: Grid) -> None:
        self.facts = [parse_fact(line, grid) for line in _struck_lines(summary)]
        self.urls = {line.id: line.url for line in source_lines(summary)}

    def bars(self, finding: Finding, source: Source) -> bool:
        return any(
            fact.cell == finding.cell and same_value(fact.value, finding.value) and not self._is_new(fact, source)
            for fact in self.facts
        )

    def _is_new(self, fact: Fact, source: Source) -> bool:
        behind = [self.urls.get(cited, "") for cited in fact.citations]
        return bool(source.url and behind and all(behind) and source.url not in behind)


def _struck_lines(summary: Summary) -> tuple[str, ...]:
    return lines_of(summary, SectionKind.STRUCK)


def _allowed(lines: Sequence[str], defects: Sequence[Defect]) -> list[str]:
    return [line for line in lines if not any(defect.value and defect.value in line for defect in defects)]


class _Line(NamedTuple):
    """A line of Confirmed with its fact; a new one also has the finding it comes from."""

    text: str
    fact: Fact
    finding: Finding | None = None


class _Page:
    """The summary's lines while sources are read into them."""

    def __init__(
        self, grid: Grid, old: Sections, struck: _Struck, refused: tuple[str, ...], known: Mapping[str, SourceLine]
    ) -> None:
        self.dates = {id: line.date for id, line in known.items()}
        self.urls = {id: line.url for id, line in known.items()}
        self.grid = grid
        self.struck = struck
        self.refused = refused
        self.lines = [_Line(text, parse_fact(text, grid)) for text in old.confirmed]
        self.contradictions = list(old.contradictions)
        self.not_found = old.not_found
        self.cells: list[Cell] = [(entity, field) for entity in grid.entities for field in grid.fields]

    def read(self, cited: _Cited, today: str) -> None:
        self.urls[cited.id] = cited.source.url
        reading = passages.read(cited.source.text)
        for finding in findings(cited.source, reading, self.grid, self.cells, today):
            if not self.struck.bars(finding, cited.source):
                self.take(finding, cited.id)

    def take(self, finding: Finding, id: str) -> None:
        """One finding: a citation more, a new line, or a side of a contradiction."""
        same_cell = [at for at, line in enumerate(self.lines) if line.fact.cell == finding.cell]
        for at in same_cell:
            if self._agrees(self.lines[at], finding):
                self.cite(at, finding, id)
                return
        text = _fact_line(finding, f"[{id}]")
        fact = parse_fact(text, self.grid)
        if fact.cell != finding.cell or any(refused in text for refused in self.refused):
            return  # a value that would make the line another one's is left out
        rivals = [self.lines[at] for at in same_cell if same_period(self.lines[at].fact.period, finding.period)]
        if rivals:
            self.contradict(rivals[0], finding, id, _head(finding))
            return
        others = [self.lines[at] for at in same_cell if not same_value(self.lines[at].fact.value, finding.value)]
        timeless = [line for line in others if self._timeless(line)]
        if timeless and not finding.dated and is_physical(finding.value):
            self.contradict(timeless[0], finding, id, f"{finding.cell[0]}: {finding.cell[1]}")
        self.lines.append(_Line(text, fact, finding))

    def _timeless(self, line: _Line) -> bool:
        """Whether the line holds a measure that its source states without a period, like a height or an area.

        Two sources that differ on such a measure contradict each other, whenever they were written; a name or a
        rate may simply have changed.
        """
        if not is_physical(line.fact.value):
            return False
        if line.finding is not None:
            return not line.finding.dated
        return line.fact.period in {self.dates.get(cited, "")[:4] for cited in line.fact.citations}

    def _agrees(self, line: _Line, finding: Finding) -> bool:
        """The same value for the same period, or for a period that only the source's own date stands for.

        131 in a later source than 130.8 is no proof of 130.8: a rounded value is the same only for the same period.
        """
        if not same_value(line.fact.value, finding.value):
            return False
        if is_rounded(line.fact.value, finding.value):
            return same_period(line.fact.period, finding.period)
        undated = not finding.dated or (line.finding is not None and not line.finding.dated)
        return undated or not line.fact.period or same_period(line.fact.period, finding.period)

    def cite(self, at: int, finding: Finding, id: str) -> None:
        line = self.lines[at]
        if line.fact.pinned or line.fact.person or line.fact.summed:
            return  # a person's line stays byte for byte, and so does a sum
        if self._is_behind(line.fact.citations, id):
            return
        newer = line.finding is not None and not line.finding.dated and finding.when > line.finding.when
        if newer and line.finding is not None:  # a new line of this pass may still take the newer year
            text = _fact_line(line.finding._replace(period=finding.period), f"{_cited(line.fact)} [{id}]")
            finding = line.finding._replace(period=finding.period, source_date=finding.source_date)
        else:
            text = with_citation(line.text, id)
        self.lines[at] = _Line(text, parse_fact(text, self.grid), finding if newer else line.finding)

    def _is_behind(self, cited: tuple[str, ...], id: str) -> bool:
        """Whether one of the citations is this source, or the same document that another search brought."""
        url = self.urls.get(id, "")
        return id in cited or (bool(url) and url in {self.urls.get(other, "") for other in cited})

    def contradict(self, line: _Line, finding: Finding, id: str, head: str) -> None:
        period = parse_fact(f"{head} — ?", self.grid).period
        for at, known in enumerate(self.contradictions):
            fact = parse_fact(known, self.grid)
            if fact.cell != finding.cell or not same_period(fact.period, period):
                continue
            for side in sides(known):
                if same_value(side.value, finding.value):
                    if not self._is_behind(side.citations, id):
                        self.contradictions[at] = _with_side_cited(known, side, id)
                    return
            self.contradictions[at] = f"{known} ↔ {finding.value} [{id}]"
            return
        first = f"{line.fact.value} {_cited(line.fact)}".strip()
        self.contradictions.append(f"{head} — {first} ↔ {finding.value} [{id}]")

    def sections(self) -> Sections:
        """Old lines in their order, then the new ones, newest period first within a cell."""
        old = [line.text for line in self.lines if line.finding is None]
        new = [line for line in self.lines if line.finding is not None]
        order = {cell: at for at, cell in enumerate(self.cells)}
        new.sort(key=lambda line: line.finding.when if line.finding else (), reverse=True)
        new.sort(key=lambda line: order[line.fact.cell])
        confirmed = (*old, *(line.text for line in new))
        return Sections(confirmed, tuple(self.contradictions), self._gaps(confirmed))

    def _gaps(self, confirmed: tuple[str, ...]) -> tuple[str, ...]:
        """The cells still open, and what others noted that is no cell of the grid."""
        still_open = open_cells(confirmed, self.grid)
        by_cell: dict[Cell, str] = {}
        others: list[str] = []
        for line in map(without_searched_mark, self.not_found):
            near = frozenset(names_of(self.grid.entities).labelled(line))
            cell = next((cell for cell in self.cells if cell[0] in near and _names_cell(line, cell)), None)
            if cell is None:
                others.append(line)
            elif cell in still_open:
                by_cell.setdefault(cell, line)
        return (*(by_cell.get(cell, f"{cell[0]}: {cell[1]}") for cell in still_open), *others)


def _names_cell(line: str, cell: Cell) -> bool:
    fact = parse_fact(f"{line} — ?", Grid((cell[0],), (cell[1],)))
    return bool(fact.field)


def _head(finding: Finding) -> str:
    entity, field = finding.cell
    foreign = is_cyrillic(finding.period) and not is_cyrillic(field)
    period = in_digits(finding.period) if foreign else finding.period
    return f"{entity}: {field} {period}".rstrip()


def _fact_line(finding: Finding, cited: str) -> str:
    return f"{_head(finding)} — {finding.value} {cited}"


def _cited(fact: Fact) -> str:
    return " ".join(f"[{id}]" for id in fact.citations)


def _with_side_cited(text: str, side: Side, id: str) -> str:
    """The contradiction with one more citation behind the last one of a side; as it was if a person put none there."""
    last = f"[{side.citations[-1]}]" if side.citations else ""
    at = text.find(last, max(0, text.find(side.value))) if last else -1
    return f"{text[: at + len(last)]} [{id}]{text[at + len(last) :]}" if at >= 0 else text
