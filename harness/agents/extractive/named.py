"""Which of many entities a text may name: one pass over its words in place of one for each entity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from harness.patterns import lazy
from harness.periods import periods
from harness.words import bag, stem, stems, words

Token = tuple[str, int, int]  # a stem, and where its word begins and ends
_WORD = lazy(r"[\u3400-\u9fff]|(?:(?![\u3400-\u9fff])[^\W_])+(?:['’][^\W_]+)*")
LONGEST_LABEL = 200  # characters of a title or label that are looked at


class Names:
    """The entities of a question, found by their stems.

    It may find too many and never too few: `subjects.mentions` and `subjects.is_name` have the last word. Without it
    each of 200 entities makes a pass of its own over every sentence: 130 million calls for 20,000 tokens of prose.
    """

    def __init__(self, entities: tuple[str, ...]) -> None:
        self.entities = entities
        said = [stems(entity) for entity in entities]
        often = Counter(one for wanted in said for one in set(wanted))
        self._wordless = frozenset(at for at, wanted in enumerate(said) if not wanted)  # always looked at
        self._runs: dict[tuple[str, ...], list[int]] = {}
        self._lengths: dict[str, set[int]] = {}  # of the runs, by their first stem
        self._sets: dict[str, list[tuple[frozenset[str], int]]] = {}  # by the stem that fewest names have
        for at, wanted in enumerate(said):
            if wanted:
                self._runs.setdefault(wanted, []).append(at)
                self._lengths.setdefault(wanted[0], set()).add(len(wanted))
                content = bag(entities[at])
                rarest = min(content, key=lambda one: (often[one], one))
                self._sets.setdefault(rarest, []).append((content, at))

    def mentioned(self, text: str) -> tuple[str, ...]:
        """In the question's order those whose words stand in the text one behind the other (see `mentions`)."""
        return self._in_order(self._runs_in(tokens(text)))

    def mentioned_in_source(self, text: str) -> tuple[str, ...]:
        """The same for a long text, of which nothing is kept."""
        return self._in_order(self._runs_in(tuple(each_token(text))))

    def labelled(self, label: str) -> tuple[str, ...]:
        """Those whose words all stand in a label, in any order (see `is_name`), or are mentioned in it."""
        said = frozenset(one for text in _readings(label) for one in stems(text))
        found = {at for one in said for wanted, at in self._sets.get(one, ()) if wanted <= said}
        short = label[:LONGEST_LABEL]
        return self._in_order(found | self._runs_in(tokens(label)) | self._runs_in(tokens(short)))

    def _runs_in(self, said: Sequence[Token]) -> set[int]:
        found: set[int] = set()
        for at, (first, _, _) in enumerate(said):
            for length in self._lengths.get(first, ()):
                found.update(self._runs.get(tuple(word for word, _, _ in said[at : at + length]), ()))
        return found

    def _in_order(self, found: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.entities[at] for at in sorted(self._wordless.union(found)))


def _readings(label: str) -> Iterator[str]:
    """The label as it is, cut, and without its periods: what a period touched is a word then, as `is_name` reads it."""
    yield from (label, label[:LONGEST_LABEL])
    bare = label
    for period in periods(label):
        yield label.replace(period.text, " ; ", 1)
        bare = bare.replace(period.text, " ; ", 1)
    yield bare


@lru_cache(maxsize=64)
def names_of(entities: tuple[str, ...]) -> Names:
    return Names(entities)


@lru_cache(maxsize=16_384)
def tokens(text: str) -> tuple[Token, ...]:
    """The words of a short text as stems, with their places."""
    return tuple(each_token(text))


def each_token(text: str) -> Iterator[Token]:
    for match in _WORD.finditer(text):
        if said := _stem_of(match.group()):
            yield said, match.start(), match.end()


@lru_cache(maxsize=65_536)
def _stem_of(word: str) -> str:
    """The stem of a word as written, of its first part where it has several; "" for one without letters."""
    said = words(word)
    return stem(said[0]) if said else ""
