"""Whether what a line says stands in a source: its numbers, its dates and its quotations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from harness.facts import Fact, without_marks
from harness.model import Source
from harness.patterns import lazy
from harness.periods import Period, periods
from harness.quantities import Quantity, quantities, same_amount
from harness.words import fold

AROUND = 60  # characters beside a number that are read with it: its scale word, its unit
READ_CLOSELY = 200  # places in a source where a number might stand; a table of more is enough to say no
QUOTED_WORDS = 3  # fewer are a name, not a quotation
_DIGITS = lazy(r"\d(?:[\d.,'’ \u00a0\u202f\u2009]*\d)?")
_SEPARATORS = lazy(r"\D")
_QUOTED = lazy(r"«([^«»]+)»|“([^“”]+)”|„([^„“”]+)[“”]|\"([^\"]+)\"|「([^「」]+)」")
_SPACES = str.maketrans("０１２３４５６７８９．，％\u00a0\u202f\u2009\u2007", "0123456789.,%    ")
_LONGEST = 40  # digits; a longer run is no measurement and is looked for as it stands


class Page(NamedTuple):
    """A source as it is searched: its whole text with title, address and date, in plain digits and spaces."""

    text: str


def page_of(source: Source) -> Page:
    return page("\n".join((source.title, source.url, source.date, *(v for _, v in source.extra), source.text)))


@lru_cache(maxsize=64)
def page(text: str) -> Page:
    return Page(text if text.isascii() else text.translate(_SPACES))


def missing(said: str, pages: Iterable[Page]) -> tuple[str, ...]:
    """What a text says in numbers, dates and quotations that none of the pages has, as written, in order.

    A number stands in a page if it is written there so, in another notation or scale (154,0 млрд; 154 000 000 000), or
    less rounded. A year stands there if its digits do, in the text or in the date of the source.
    """
    looked_in = tuple(pages)
    bare = without_marks(said)
    spans = periods(bare.translate(_SPACES))
    amounts = [amount for amount in quantities(bare) if amount.unit != "year"]
    quotes = [next(filter(None, match.groups())) for match in _QUOTED.finditer(bare)]
    lacking = (
        *(span.text for span in spans if not any(_has_period(one, span) for one in looked_in)),
        *(amount.text for amount in amounts if not any(has(one, amount) for one in looked_in)),
        *(quote for quote in quotes if not any(_has_quote(one, quote) for one in looked_in)),
    )
    return tuple(dict.fromkeys(lacking))


def claims(fact: Fact, line: str) -> str:
    """The part of a line that a source has to bear out: a name with a digit in it (1C, G7) is the question's."""
    return f"{fact.period}\n{fact.value}" if fact.field else line  # in one line `2026 Mt'a Shkhara` is megatonnes


def has(page: Page, amount: Quantity) -> bool:
    """Whether a number of the page is the amount, its scale and unit included where the page writes them."""
    wanted = "".join(map(str, amount.value.as_tuple().digits)).strip("0")[: _LONGEST + 1]
    if not wanted:
        return "0" in page.text
    return any(_is_there(page.text, at, amount) for at in islice(_places_of(page.text, wanted), READ_CLOSELY))


def _places_of(text: str, wanted: str) -> Iterator[int]:
    """Where numbers begin whose significant digits are the wanted ones, or those less rounded: 15396 for 154."""
    for match in _beginning(wanted[:2]).finditer(text):
        run = _DIGITS.match(text, match.start())
        pieces = (run[0], *run[0].split(" ")[:1]) if run else ()
        if any(_may_be(_significant(piece), wanted) for piece in pieces):
            yield match.start()


@lru_cache(maxsize=256)
def _beginning(digits: str) -> re.Pattern[str]:
    """A number's first two significant digits, the second perhaps one less: it may have been rounded up."""
    if len(digits) == 1:
        return re.compile(rf"{digits}(?<![1-9]{digits})(?<![1-9][.,]{digits})")
    first, second = digits[0], int(digits[1])
    return re.compile(rf"{first}(?<![1-9]{first})[.,'’ ]?[{second}{(second - 1) % 10}]")


def _significant(written: str) -> str:
    return _SEPARATORS.sub("", written).strip("0")[: _LONGEST + 1]


def _may_be(digits: str, wanted: str) -> bool:
    """Whether the digits are the wanted ones, or would be when rounded to as many."""
    if digits == wanted:
        return True
    places = len(wanted)
    if not 2 <= places < len(digits) <= _LONGEST:
        return False
    return abs(int(digits[: places + 1]) - 10 * int(wanted)) <= 5


def _is_there(text: str, at: int, amount: Quantity) -> bool:
    """Reads the numbers around a place: the same amount, or the bare number where scale and unit stand elsewhere.

    A source that is coarser than the line does not bear it out: 154 says nothing of 153.96.
    """
    start = max(0, at - AROUND)
    plain = amount.value.normalize().as_tuple().digits
    for other in quantities(text[start : at + AROUND + _LONGEST]):
        if same_amount(other, amount) and (other.value == amount.value or other.step <= amount.step):
            return True
        bare = not other.unit and other.value.normalize().as_tuple().digits == plain
        if bare and not re.search(r"[^\W\d_]", other.text):
            return True
    return False


def _has_period(page: Page, span: Period) -> bool:
    """Its years stand in the page; a month too, where the page names months of that year."""
    years = {str(span.start[0]), str(span.end[0])}
    if not all(year in page.text or _short(page.text, year) for year in years):
        return False
    if span.start[1] == 1 and span.end[1] == 12:
        return True
    beside = (page.text[max(0, at - AROUND) : at + AROUND] for at in _places(page.text, str(span.end[0])))
    named = [other for window in beside for other in periods(window) if other.end[0] == span.end[0]]
    exact = [other for other in named if (other.start, other.end) != ((span.end[0], 1), (span.end[0], 12))]
    return not exact or any(other.start <= span.start and span.end <= other.end for other in named)


def _short(text: str, year: str) -> bool:
    """`FY24`, `H1'24`, `2023/24`: a year in two digits."""
    return bool(re.search(rf"(?:['’/–-]|\b(?:FY|[HQП]\d|\d[HQП])\s?){year[2:]}\b", text, re.IGNORECASE))


def _places(text: str, piece: str) -> Iterator[int]:
    at = text.find(piece)
    while at >= 0:
        yield at
        at = text.find(piece, at + len(piece))


def _has_quote(page: Page, quote: str) -> bool:
    words = fold(quote.translate(_SPACES)).split()
    return len(words) < QUOTED_WORDS or " ".join(words).strip(" .,;:…") in _in_one_line(page.text)


@lru_cache(maxsize=16)
def _in_one_line(text: str) -> str:
    return " ".join(fold(text).split())
