"""Which entity a text is about: names as whole names, so that `Guinea` is not `Equatorial Guinea`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import unquote

from harness.agents.extractive.lexicon import generic
from harness.model import Source
from harness.patterns import lazy
from harness.periods import only_period, periods
from harness.words import STOP_WORDS, content_stems, stem, stems, words

_SEGMENT = lazy(r"\s+[-–—|·:]\s+|\s*[|:：()（）«»\"“”]\s*|\s[-–—]{1,2}\s")
_PATH_PARTS = lazy(r"[/\\?#]")
_NUMBERED = lazy(r"([^\W\d_]+) (\d+)(?![.,\d%])")
LONGEST_LABEL = 200  # characters of a title or label that are looked at


@lru_cache(maxsize=65_536)
def is_name(label: str, entity: str) -> bool:
    """Whether a label is the entity's name and nothing else but generic words: `Samokat: annual report 2024`."""
    wanted = frozenset(content_stems(entity) or stems(entity))
    return any(_core(piece, wanted) == wanted for piece in (label, *_SEGMENT.split(label[:LONGEST_LABEL])))


def _core(text: str, wanted: frozenset[str]) -> frozenset[str]:
    """A label's content stems without periods, counters and generic words, unless the name itself has such a word.

    A number directly behind a name's word belongs to the name: `Pixel 9` is not Pixel, `1. Chad` is Chad.
    """
    for period in periods(text):
        if period.text not in wanted:
            text = text.replace(period.text, " ; ", 1)
    said = frozenset(content_stems(text))
    numbered = frozenset(
        found for word, number in _NUMBERED.findall(text) if stem(words(word)[0]) not in generic() for found in words(number)
    )
    kept = wanted | numbered
    bare = (word for word in said if word in kept or (word not in generic() and not word[0].isdigit()))
    return frozenset(bare) or said


@lru_cache(maxsize=65_536)
def mentions(text: str, entity: str, known: frozenset[str] = frozenset()) -> tuple[tuple[int, int], ...]:
    """Where a text names the entity by its whole name, as character spans; parts of longer names do not count.

    `known`: stems that are no part of a name even with a capital (`Revenue of`, «Выручка Самоката»).
    """
    wanted = tuple(stems(entity))
    tokens = list(_tokens(text))
    found: list[tuple[int, int]] = []
    for at in range(len(tokens) - len(wanted) + 1):
        window = tokens[at : at + len(wanted)]
        if tuple(word for word, _, _ in window) == wanted and not _longer_name(text, tokens, at, len(wanted), known):
            found.append((window[0][1], window[-1][2]))
    return tuple(found)


def _tokens(text: str) -> Iterable[tuple[str, int, int]]:
    for match in re.finditer(r"[\u3400-\u9fff]|(?:(?![\u3400-\u9fff])[^\W_])+(?:['’][^\W_]+)*", text):
        said = words(match.group())
        if said:
            yield stem(said[0]), match.start(), match.end()


def _longer_name(text: str, tokens: list[tuple[str, int, int]], at: int, length: int, known: frozenset[str]) -> bool:
    """Whether the word before or a hyphen after makes it another name: `South Sudan`, `Guinea-Bissau`."""
    start, end = tokens[at][1], tokens[at + length - 1][2]
    if re.match(r"[-‑–][^\W\d_]", text[end : end + 2]):
        return True
    if at == 0 or not text[start].isupper():
        return False
    before = text[tokens[at - 1][1] : tokens[at - 1][2]]
    touching = text[tokens[at - 1][2] : start]
    if touching not in (" ", "-", "\u00a0") or not before[0].isupper() or (before.isupper() and len(before) > 4):
        return False
    folded = words(before)[0]
    return (
        folded not in STOP_WORDS
        and stem(folded) not in generic() | known
        and not _opens_sentence(text, tokens[at - 1][1])
    )


def _opens_sentence(text: str, start: int) -> bool:
    """A capital at the start of a sentence says nothing; in a lone title it may well be part of the name."""
    return start > 0 and text[:start].rstrip()[-1:] in ".!?:"


def about(source: Source, headings: tuple[str, ...], entity: str) -> bool:
    """Whether the document is about the entity: its title, first heading or path is the entity's name."""
    if is_name(source.title, entity):
        return True
    if headings and is_name(headings[0], entity):
        return True
    path = unquote(source.url).rstrip("/")
    last = [part for part in _PATH_PARTS.split(path) if part][-1:]
    return any(is_name(re.sub(r"[-_.+]", " ", part), entity) for part in last)


def names_other(labels: Iterable[str], entity: str, entities: tuple[str, ...]) -> bool:
    """Whether one of the labels is the name of another entity asked about."""
    others = [other for other in entities if other != entity]
    return any(is_name(label, other) and not is_name(label, entity) for label in labels for other in others)


def longer_name(label: str, entity: str, entities: tuple[str, ...]) -> bool:
    """Whether a label is the name of another entity asked about that holds this one's: `Allegro One` for Allegro."""
    own = frozenset(stems(entity))
    return any(own < frozenset(stems(other)) and is_name(label, other) for other in entities)


def is_period_label(label: str) -> bool:
    return only_period(label) is not None
