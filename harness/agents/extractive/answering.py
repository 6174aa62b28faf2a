"""Questions without cells: the sentences of the sources that say most of what the question asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from harness.agents.extractive import passages
from harness.agents.extractive.entries import Entry
from harness.agents.extractive.grid import without_request
from harness.agents.extractive.lexicon import meanings
from harness.agents.extractive.passages import Reading
from harness.facts import without_marks
from harness.model import Source
from harness.patterns import lazy
from harness.periods import is_period
from harness.words import content_stems, words

MOST_A_ROUND = 5  # sentences one raw may add
MOST_AT_ALL = 25  # sentences a summary keeps: it must not grow with the rounds
LEAST_SHARE = 0.5  # of the question's words that a sentence must hold
LEAST_WORDS = 2
MOST_WORDS_OF_A_VALUE = 4  # a value of more words is a sentence of its own, and looked for in the prose
EVERYWHERE = 0.5  # a name that more than this share of the sentences has tells nothing
LONGEST = 400  # characters; a longer one is no sentence
_NAME = lazy(r"(?<![\w.])(?:\d+[^\W\d_]|(?=[^\W\d_])[^a-zа-яё\u3400-\u9fff])[\w&’'-]*")


class _Said(NamedTuple):
    """One sentence (or table row) of a source. `stems` in order; `own` and `topic`: meanings of it and of the title."""

    text: str
    id: str
    stems: tuple[str, ...]
    own: frozenset[str]
    topic: frozenset[str]


def best_sentences(
    question: str, sources: Sequence[tuple[str, Source]], known: Sequence[str], struck: Sequence[str]
) -> list[str]:
    """New lines for Confirmed: the best sentences with their citation, in the order of the sources."""
    wanted = frozenset(meanings(content_stems(question)))
    if not wanted:
        return []
    least = min(len(wanted), max(LEAST_WORDS, round(len(wanted) * LEAST_SHARE)))
    said = [one for id, source in sources for one in _of_source(source, id)]
    telling = _telling(question, wanted, said)
    there = {frozenset(content_stems(without_marks(line))) for line in (*known, *struck)}
    scored: list[tuple[int, int, str]] = []
    for one in said:
        own, covered = wanted & one.own, wanted & (one.own | one.topic)
        new = frozenset(one.stems) not in there
        if not own or len(covered) < least or not new or (telling and not telling & covered):
            continue
        there.add(frozenset(one.stems))
        scored.append((2 * len(own) + len(covered), len(scored), f"{one.text} [{one.id}]"))
    room = max(0, min(MOST_A_ROUND, MOST_AT_ALL - len(known)))
    best = sorted(scored, key=lambda item: (-item[0], item[1]))[:room]
    return [line for _, _, line in sorted(best, key=lambda item: item[1])]


def _telling(question: str, wanted: frozenset[str], said: Sequence[_Said]) -> frozenset[str]:
    """The question's words without which a sentence is about something else: its names, else its rarest word.

    Empty where the sources have none of them.
    """
    names = (match.group() for match in _NAME.finditer(without_request(question).strip(' «"“')))
    named = frozenset(meanings(tuple(stem for name in names for stem in content_stems(name))))
    there = Counter(word for one in said for word in wanted & (one.own | one.topic))
    found = frozenset(word for word in named if there[word])
    if found or not there:
        return frozenset(word for word in found if there[word] <= len(said) * EVERYWHERE) or found
    rarest = min(there.values())
    return frozenset(word for word, times in there.items() if times == rarest)


def _of_source(source: Source, id: str) -> Iterator[_Said]:
    topic = frozenset(meanings(content_stems(source.title)))
    for text in _sentences(source):
        stems = content_stems(text)
        if len(text) <= LONGEST and len(stems) >= LEAST_WORDS + 1:
            yield _Said(text, id, stems, frozenset(meanings(stems)), topic)


def _sentences(source: Source) -> list[str]:
    """The sentences, then the labelled values that are in none of them, a table's row as one text."""
    reading = passages.read(source.text)
    return [*reading.sentences, *_rows(reading)]


def _rows(reading: Reading) -> Iterator[str]:
    """`row — header: value; header: value` of a table or list; an item that is a sentence stands alone, as written."""
    prose = frozenset(" ".join(words(sentence)) for sentence in reading.sentences)
    new = [entry for entry in reading.entries if entry.labels and not _is_in(entry, prose)]
    yield from (f"{entry.labels[-1]}: {entry.value}" for entry in new if _is_sentence(entry))
    for labels, group in groupby((entry for entry in new if not _is_sentence(entry)), key=lambda one: one.labels[:-1]):
        row, things = list(group), [label for label in labels if not is_period(label)]
        head = f"{' '.join(labels[labels.index(things[-1]) :])} — " if things else ""
        whole = head + "; ".join(f"{entry.labels[-1]}: {entry.value}" for entry in row)
        if labels and len(whole) <= LONGEST:
            yield whole
        else:
            yield from (f"{head}{entry.labels[-1]}: {entry.value}" for entry in row)


def _is_sentence(entry: Entry) -> bool:
    return entry.value.count(" ") > MOST_WORDS_OF_A_VALUE


def _is_in(entry: Entry, prose: frozenset[str]) -> bool:
    """Whether a value stands in a sentence as well: a paragraph is also the value of the heading above it."""
    value = " ".join(words(entry.value))
    keyed = f"{' '.join(words(entry.labels[-1]))} {value}".strip()
    if value in prose or keyed in prose:
        return True
    shared = (min(one, value, key=len) for one in prose if value in one or one in value)
    return any(text.count(" ") > MOST_WORDS_OF_A_VALUE for text in shared)
