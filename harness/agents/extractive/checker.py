"""The built-in Checker: what the summary has found and the answer does not show."""

from __future__ import annotations

import json
from collections.abc import Sequence

from harness.facts import Cell, Fact, filled_cells, parse_fact
from harness.formats.summary import lines_of
from harness.model import Grid, SectionKind, Summary
from harness.quantities import Quantity, amount, quantities, same_amount
from harness.words import content_stems, fold


def verdict(summary: Summary, answer: str, grid: Grid) -> str:
    """The reply as JSON: an item `entity: field` for each cell filled in the summary and not shown in the answer."""
    confirmed = lines_of(summary, SectionKind.CONFIRMED)
    facts = [parse_fact(line, grid) for line in confirmed]
    filled = filled_cells(confirmed, grid)
    page = _Answer(answer)
    cells = [(entity, field) for entity in grid.entities for field in grid.fields if (entity, field) in filled]
    missing = [f"{cell[0]}: {cell[1]}" for cell in cells if not page.shows(cell, facts)]
    return json.dumps({"complete": not missing, "missing": missing}, ensure_ascii=False)


class _Answer:
    """The answer's text, read once: as folded words, stems and amounts."""

    def __init__(self, text: str) -> None:
        self.folded = " ".join(fold(text).split())
        self.stems = frozenset(content_stems(text))
        self.amounts: tuple[Quantity, ...] = quantities(text)

    def shows(self, cell: Cell, facts: Sequence[Fact]) -> bool:
        """Whether the answer names the entity and one of the cell's values."""
        if not frozenset(content_stems(cell[0])) <= self.stems:
            return False
        return any(self._has(fact.value) for fact in facts if fact.cell == cell)

    def _has(self, value: str) -> bool:
        if " ".join(fold(value).split()) in self.folded:
            return True
        figure = amount(value)
        if figure is not None:
            return any(same_amount(figure, shown) for shown in self.amounts)
        said = frozenset(content_stems(value))
        return bool(said) and said <= self.stems
