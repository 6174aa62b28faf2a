"""A sentence as words with their places, and what they are: parts of names, of periods, of amounts, of the field."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness.agents.extractive import subjects
from harness.agents.extractive.figures import lead_start, unit_after
from harness.agents.extractive.lexicon import approximate, generic, meanings, mild, owners, vocabulary
from harness.agents.extractive.named import names_of
from harness.facts import Cell
from harness.model import Grid
from harness.patterns import lazy
from harness.periods import Period, periods
from harness.quantities import Quantity, quantities
from harness.words import STOP_WORDS, stem, words

_TOKEN = lazy(r"[\u3400-\u9fff]|(?:(?![\u3400-\u9fff])[^\W_])+(?:['’-](?:(?![\u3400-\u9fff])[^\W_])+)*")
_GOES_ON = lazy(r"(?<=\d)[^\W\d_\u3400-\u9fff]|-[A-ZА-Я]")  # `5Post`, `7-Eleven`
_WITHIN = lazy(r"[^\W\d_]-$")  # `COVID-19`
_RANGE_DASHES = frozenset("-–—")
_NEXT_PART = lazy(r"(?<![^\W_])(?:and|but|и|а|но)(?![^\W_])")
_LIKE_3M = lazy(r"\dM|\dB")
_UP_TO_MEASURE = r"(?:\s\([^()]*\)|,\s[^,.;()]{3,60})?(?:,(?:\sat)?|\sat|\s[-–—])?\s"


def _whole(amount: Quantity, sentence: str) -> Quantity:
    """The amount with its currency code and bound before it and its unit behind it, as written."""
    start = lead_start(sentence, amount.at)
    end = unit_after(sentence, amount.at + len(amount.text))
    return amount._replace(text=sentence[start:end], at=start)


def _ranges(amounts: list[Quantity], sentence: str) -> list[Quantity]:
    """The amounts with both ends of a range as one: `5–6 bn EUR`."""
    joined: list[Quantity] = []
    for amount in amounts:
        last = joined[-1] if joined else None
        if last and sentence[last.at + len(last.text) : amount.at].strip() in _RANGE_DASHES:
            joined[-1] = last._replace(text=sentence[last.at : amount.at + len(amount.text)], unit=amount.unit)
        else:
            joined.append(amount)
    return joined


@dataclass(frozen=True)
class Token:
    text: str
    word: str  # folded
    stem: str
    start: int
    end: int

    @property
    def capital(self) -> bool:
        return self.text[0].isupper()


class Sentence:
    """One sentence read for one cell."""

    def __init__(self, sentence: str, cell: Cell, grid: Grid, about: bool) -> None:
        self.text = sentence
        self.cell = cell
        self.about = about
        self.tokens = [
            Token(match.group(), said[0], stem(said[0]), match.start(), match.end())
            for match in _TOKEN.finditer(sentence)
            if (said := words(match.group()))
        ]
        self.periods = periods(sentence)
        known = vocabulary(cell[1])
        named = subjects.mentions(sentence, cell[0], known)
        self.named = tuple(span for span in named if not self._goes_on(span[1], known))
        others = (other for other in names_of(grid.entities).mentioned(sentence) if other != cell[0])
        spans = (span for other in others for span in subjects.mentions(sentence, other, known))
        self.others = [span for span in spans if not self._own(span)]
        figures = (amount for amount in quantities(sentence) if amount.unit != "year")
        self.amounts = _ranges([_whole(amount, sentence) for amount in figures if not self._in_name(amount)], sentence)

    def _in_name(self, amount: Quantity) -> bool:
        """Whether a number is a part of a name: of an entity (`5Post`, `Pixel 9`) or of a word it touches."""
        inside = any(start <= amount.at < end for start, end in (*self.named, *self.others))
        end = unit_after(self.text, amount.at + len(amount.text))
        glued = _GOES_ON.match(self.text, end) or _WITHIN.search(self.text, 0, amount.at)
        return inside or bool(glued or _LIKE_3M.fullmatch(amount.text))

    def _goes_on(self, end: int, known: frozenset[str]) -> bool:
        """Whether a capitalised word behind the name makes it another one: `Chad Basin`."""
        dated = any(period.at == end + 1 for period in self.periods)
        return not dated and not self.text[end + 1 : end + 2].isdigit() and subjects.goes_on(self.text, end, known)

    def _own(self, span: tuple[int, int]) -> bool:
        return any(start <= span[0] and span[1] <= end for start, end in self.named)

    def spans_of(self, base: frozenset[str]) -> list[tuple[int, int]]:
        """Token spans that name the field: its words in one run, stop words between them allowed."""
        found: list[tuple[int, int]] = []
        for start in range(len(self.tokens) if base else 0):
            if self.tokens[start].word in STOP_WORDS:
                continue
            for end in range(start + 1, min(len(self.tokens), start + 10) + 1):
                said = tuple(token.stem for token in self.tokens[start:end] if token.word not in STOP_WORDS)
                if self.tokens[end - 1].word not in STOP_WORDS and frozenset(meanings(said)) == base:
                    found.append((start, end))
        return [span for span in found if not any(o != span and o[0] <= span[0] and span[1] <= o[1] for o in found)]

    def passes(self, token: Token) -> bool:
        return token.word in STOP_WORDS or token.stem in owners() | mild() or self.in_period(token)

    def plain(self, at: int) -> bool:
        token = self.tokens[at]
        return token.word in STOP_WORDS or token.stem in generic() | owners() | mild() or self.in_period(token)

    def amount_at(self, index: int) -> Quantity | None:
        """The amount that begins at a token, words like `about` before it aside."""
        for token in self.tokens[index : index + 4]:
            found = next((a for a in self.amounts if a.at <= token.start < a.at + len(a.text)), None)
            if found:
                return found
            if not (token.stem in approximate() or token.word in STOP_WORDS or self.in_period(token)):
                return None
        return None

    def period_of(self, start: int, end: int) -> str:
        if len(self.periods) <= 1:
            return self.periods[0].text if self.periods else ""
        near = [
            period
            for period in self.periods
            if 0 <= period.at - end <= 12 and not _NEXT_PART.search(self.text, end, period.at)
        ]
        if not near:
            near = [period for period in self.periods if period.at < start and not self._amount_between(period, start)]
        return near[0].text if len(near) == 1 else ""

    def _amount_between(self, period: Period, start: int) -> bool:
        return any(period.at < amount.at < start for amount in self.amounts)

    def measure_behind(self, end: int) -> Quantity | None:
        """The amount that belongs to a name: `Pik Khan-Tengri at 7,010 m`, `Gora Ayribaba, 3,139 m`."""
        return next(
            (
                amount
                for amount in self.amounts
                if amount.unit in ("m", "km", "km2", "ha")
                and re.fullmatch(_UP_TO_MEASURE, self.text[end : max(end, amount.at)])
            ),
            None,
        )

    def inside(self, token: Token, spans: Sequence[tuple[int, int]]) -> bool:
        return any(start <= token.start and token.end <= end for start, end in spans) or any(
            start <= token.start < end for start, end in spans
        )

    def in_period(self, token: Token) -> bool:
        return any(period.at <= token.start < period.at + len(period.text) for period in self.periods)
