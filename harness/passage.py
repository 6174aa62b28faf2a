"""Where in a source a fact stands: the line that says most of what the fact says."""

from __future__ import annotations

from harness.facts import parse_fact, without_marks
from harness.grounding import claims, missing, page
from harness.model import Grid
from harness.quantities import Quantity, quantities
from harness.words import content_stems


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
    bare = without_marks(line)
    if text.casefold().strip() in bare.casefold():
        return True
    sought, there = quantities(text), quantities(bare)
    if not all(any(one.value == other.value or _digits(one) == _digits(other) for other in there) for one in sought):
        return False
    stems = {stem for stem in content_stems(text) if not stem[:1].isdigit()}
    units = {stem for one in sought for stem in content_stems(one.text)}  # 154,0 млрд is 154.0 bn
    return bool(sought or stems) and stems - units <= set(content_stems(bare))


def _digits(amount: Quantity) -> str:
    """`154` is typed for 154.0 bn: the scale is left out."""
    return "".join(map(str, amount.value.as_tuple().digits)).strip("0")
