"""Where a source may tell of an entity: the labelled values and sentences that are worth a look for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from harness.agents.extractive import fields, subjects
from harness.agents.extractive.entries import Entry
from harness.agents.extractive.named import names_of
from harness.agents.extractive.passages import Reading
from harness.model import Source


class Line(NamedTuple):
    """A sentence, the headings above it, the sentence before it under the same headings, and whether it opens with
    a pronoun."""

    text: str
    above: tuple[str, ...]
    before: str
    points: bool


class Places:
    """One pass over a source for all entities. What it leaves out says nothing of the entity: no label of it, nor the
    page, may be the entity's name, and no sentence names it."""

    def __init__(self, source: Source, reading: Reading, entities: tuple[str, ...]) -> None:
        names = names_of(entities)
        self._reading = reading
        self._about = frozenset(
            chain.from_iterable(map(names.labelled, (source.title, *subjects.last_of_path(source))))
        )
        labels = _places(entry.labels for entry in reading.entries)
        above = _places(reading.above)
        self._entries: dict[str, set[int]] = {}
        self._below: dict[str, set[int]] = {}  # sentences under a heading that may name the entity
        for label in dict.fromkeys((*labels, *above, *reading.headings)):
            for entity in names.labelled(label):
                self._entries.setdefault(entity, set()).update(labels.get(label, ()))
                self._below.setdefault(entity, set()).update(above.get(label, ()))
        self._said: dict[str, set[int]] = {}
        for at, text in enumerate(reading.sentences):
            for entity in names.mentioned(text):
                self._said.setdefault(entity, set()).add(at)
        self._lines: dict[str, list[Line | None]] = {}

    def tells_of(self, entity: str) -> bool:
        """Whether the entity may be named anywhere in the source."""
        return entity in self._about or entity in self._entries or entity in self._said

    def entries(self, page: subjects.Page) -> Sequence[Entry]:
        """The labelled values that may be the entity's, in the source's order."""
        if page.whole:
            return self._reading.entries
        return [self._reading.entries[at] for at in sorted(self._entries.get(page.entity, ()))]

    def lines(self, page: subjects.Page, wanted: fields.Field) -> Iterator[Line]:
        """The sentences that name the entity or may be about it, without those under a heading for plans."""
        if wanted.name not in self._lines:
            self._lines[wanted.name] = self._read(wanted)
        lines = self._lines[wanted.name]
        near = self._said.get(page.entity, set()) | self._below.get(page.entity, set())
        same = (self._same[self._reading.sentences[at]] for at in near)  # what is said twice is looked at twice
        for at in range(len(lines)) if page.whole else sorted(set(chain.from_iterable(same))):
            if line := lines[at]:
                yield line

    def _read(self, wanted: fields.Field) -> list[Line | None]:
        found: list[Line | None] = []
        foreseen = {above: fields.is_foreseen(above, wanted) for above in dict.fromkeys(self._reading.above)}
        before, last = "", None
        for text, above, points in zip(self._reading.sentences, self._reading.above, self._points, strict=True):
            if foreseen[above]:
                found.append(None)
                continue
            found.append(Line(text, above, before if above == last else "", points))
            if not points or above != last:
                before = text
            last = above
        return found

    @cached_property
    def _points(self) -> list[bool]:
        return [subjects.opens_with_pronoun(text) for text in self._reading.sentences]

    @cached_property
    def _same(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for at, text in enumerate(self._reading.sentences):
            found.setdefault(text, []).append(at)
        return found


def _places(paths: Iterable[tuple[str, ...]]) -> dict[str, list[int]]:
    """The labels of paths, each with the places of those that hold it."""
    found: dict[str, list[int]] = {}
    for at, path in enumerate(paths):
        for label in dict.fromkeys(path):
            found.setdefault(label, []).append(at)
    return found
