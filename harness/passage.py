"""Where in a source a fact stands: the line that says most of what the fact says."""

from __future__ import annotations

import re

from harness.facts import parse_fact, without_marks
from harness.grounding import claims, missing, page
from harness.model import Grid
from harness.patterns import lazy
from harness.quantities import Quantity, quantities
from harness.words import content_stems

_FIGURE = lazy(r"\d[\d\s.,]*")  # of an amount, without its scale and unit


def passage(fact: str, text: str, grid: Grid) -> int | None:
    """The number of the line of the text, from 0; None where no line has a number or half of the words of the fact.

    A line with all of the fact's numbers comes before one with more of its words.
    """
    told = parse_fact(fact, grid)
    said = claims(told, fact)
    wanted = frozenset(content_stems(without_marks(fact)))
    numbers = {*missing(said, ())}
    best, found = (0.0, 0.0), None
    for at, line in enumerate(text.split("\n")):
        stems = wanted.intersection(content_stems(line)) if line.strip() else frozenset[str]()
        if not stems:
            continue
        here = len(numbers) - len(missing(said, [page(line)], told.field)) if numbers else 0
        score = float(here), len(stems) / len(wanted)
        if (here or score[1] >= 0.5 or not numbers) and score > best:
            best, found = score, at
    return found


def speaks_of(line: str, text: str) -> bool:
    """Whether a fact line has what somebody typed: word for word, or its numbers in any writing and its words."""
    bare, typed = without_marks(line).casefold(), re.escape(text.casefold().strip())
    if typed and re.search(rf"(?<!\d)(?<!\d[.,]){typed}(?![.,]?\d)", bare):
        return True
    sought, there = quantities(text), quantities(bare)
    if not all(any(_means(one, other) for other in there) for one in sought):
        return False
    stems = {stem for stem in content_stems(text) if not stem[:1].isdigit()}
    units = {stem for one in sought for stem in content_stems(one.text)}  # 154,0 млрд is 154.0 bn
    return bool(sought or stems) and stems - units <= set(content_stems(bare))


def _means(typed: Quantity, there: Quantity) -> bool:
    """The same number; typed without a scale, `154` means 154.0 bn too."""
    if typed.value == there.value:
        return True
    written = quantities(figure[0]) if (figure := _FIGURE.search(there.text)) else ()
    return not any(map(str.isalpha, typed.text)) and any(one.value == typed.value for one in written)
