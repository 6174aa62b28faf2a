"""Whether what a line says stands in a source: its numbers, its dates and its quotations."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import lru_cache
from itertools import chain, islice
from typing import NamedTuple

from harness.facts import Fact, without_marks
from harness.model import Source
from harness.patterns import lazy
from harness.periods import Period, periods
from harness.quantities import Quantity, converted, quantities
from harness.units import SCALES, power_of, units_in
from harness.words import fold

AROUND = 60  # characters beside a number that are read with it: its scale word, its unit
READ_CLOSELY = 200  # places in a source where a number might stand; a table of more is enough to say no
QUOTED_WORDS = 3  # fewer are a name, not a quotation
TELLING = 3  # digits; a number of fewer stands on every page, so its unit has to stand there too
_DIGITS = lazy(r"\d(?:[\d.,'’ ]*\d)?")
_SEPARATORS = lazy(r"\D")
_QUOTED = lazy(r"«[^«»]+»|“[^“”]+”|„[^„“”]+[“”]|\"[^\"]+\"|「[^「」]+」|‘[^‘’]{12,}’")
_QUOTES = '«»“”„"「」‘’'
_IN_QUOTES = lazy(r'"[^"\n]*"')
_COMMA = lazy(r'"[^"\n]*"|,')  # one within quotes belongs to its cell
_FOOTNOTE = lazy(r"(?<=\d)\[\d{1,3}\]")
_SPACES = str.maketrans("０１２３４５６７８９．，％\u00a0\u202f\u2009\u2007", "0123456789.,%    ")
_ONE = Decimal(1)
_LONGEST = 40  # digits; a longer run is no measurement and is looked for as it stands
# A scale word with no number before it: the head of a column, `(in millions)`.
_SCALE_WORDS = "|".join(sorted(SCALES, key=len, reverse=True))
_HEAD_SCALE = lazy(rf"(?<![\d.,])(?<!\d )(?<![^\W\d_])({_SCALE_WORDS})(?:[а-я]{{1,4}}|s)?(?![^\W\d_])")
_ZERO = lazy(r"(?<![\d.,])0(?:[.,]0+)?(?!\d)")
_FALLING = lazy(
    r"(?:fell|fall|down|declin\w+|decreas\w+|drop\w*|loss\w*|lost|negative|minus|сниз\w+|сниж\w+|упал\w*|паден\w+"
    r"|сократ\w+|убыт\w+|минус|下降|减少|亏损|负)\W[^.\n]{0,25}$|\($",
    re.IGNORECASE,
)


class Page(NamedTuple):
    """A source as it is searched: title, date and text, in plain digits and spaces, without emphasis and footnotes."""

    text: str


def page_of(source: Source) -> Page:
    """Its address is no part of it: what counts there is a file's number or the day of an upload."""
    return page("\n".join((source.title, source.date, source.text)))


@lru_cache(maxsize=64)
def page(text: str) -> Page:
    return Page(_plain(text))


@lru_cache(maxsize=64)
def readings(one: Page) -> tuple[Page, ...]:
    """The page, and where it has rows with commas between their cells, also with those cells apart: in
    `Samokat,154,5` no comma is a decimal mark, in `154,5` alone it may be."""
    lines = one.text.split("\n")
    commas = [_commas(line) for line in lines]
    beside = zip([0, *commas], commas, [*commas[1:], 0], strict=False)
    rows = [count > 0 and count in (before, after) for before, count, after in beside]
    if not any(rows):
        return (one,)
    apart = (_COMMA.sub(_cell_end, line) if row else line for line, row in zip(lines, rows, strict=True))
    return (one, Page("\n".join(apart)))


def _commas(line: str) -> int:
    """Between cells; 0 for a line of prose."""
    bare = _IN_QUOTES.sub("", line) if '"' in line else line
    return 0 if ", " in bare else bare.count(",")


def _cell_end(match: re.Match[str]) -> str:
    return " | " if match[0] == "," else match[0]


def _plain(text: str) -> str:
    if not text.isascii():
        text = text.translate(_SPACES)
    if "&" in text:
        text = html.unescape(text).translate(_SPACES)
    for mark in ("**", "__", "`"):
        text = text.replace(mark, "")
    return _FOOTNOTE.sub("", text) if "[" in text else text


def missing(said: str, pages: Iterable[Page], context: str = "") -> tuple[str, ...]:
    """What a text says in numbers, dates and quotations that none of the pages has, as written, in order.

    A number stands in a page if it is written there so, in another notation, unit or scale (154,0 млрд; 154 000 000
    000; 154.0 under a head `bn`), or less rounded. `context`: where the text's own scale may stand, its field or the
    head of its table. A year stands there if its digits do, in the text or in the date of the source.
    """
    looked_in = tuple(chain.from_iterable(readings(one) for one in pages))
    bare = _plain(without_marks(said))
    amounts = [amount for amount in quantities(bare) if amount.unit != "year"]
    own = _scales(context) if context else frozenset[int]()
    lacking = (
        *(span.text for span in periods(bare) if not any(_has_period(one, span) for one in looked_in)),
        *(amount.text for amount in amounts if not any(has(one, amount, own) for one in looked_in)),
        *(quote for quote in _QUOTED.findall(bare) if not any(_has_quote(one, quote) for one in looked_in)),
    )
    return tuple(dict.fromkeys(lacking))


def claims(fact: Fact, line: str) -> str:
    """The part of a line that a source has to bear out: a name with a digit in it (1C, G7) is the question's."""
    return f"{fact.period}\n {fact.value}" if fact.field else line  # in one line `2026 Mt'a Shkhara` is megatonnes


# Numbers -----------------------------------------------------------------------------------------


def has(page: Page, amount: Quantity, own_scales: frozenset[int] = frozenset()) -> bool:
    """Whether a number of the page is the amount. `own_scales`: powers of ten that the amount has from its context.

    A power of ten between the two has to be written: over a column of the page, or in the amount's own context.
    """
    wanted = "".join(map(str, amount.value.as_tuple().digits)).strip("0")[: _LONGEST + 1]
    places = _places_of(page.text, wanted) if wanted else (match.start() for match in _ZERO.finditer(page.text))
    near = [one for at in islice(places, READ_CLOSELY) for one in _read_at(page.text, at)]
    if any(_bears_out(one, amount, 0, page.text) for one in near):
        return True
    powers = {*_scales(page.text), *(-power for power in own_scales)} if near else set[int]()
    return any(_bears_out(one, amount, power, page.text) for power in powers for one in near)


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


def _read_at(text: str, at: int) -> list[Quantity]:
    """The amounts that begin at a place, with their offsets in the text."""
    start = max(0, at - AROUND)
    read = quantities(text[start : at + AROUND + _LONGEST])
    return [one._replace(at=start + one.at) for one in read if start + one.at <= at + 1 or one.at == 0]


def _bears_out(other: Quantity, amount: Quantity, power: int, text: str) -> bool:
    """Whether a number of the page, times a power of ten, says the amount: of its unit and sign, at least as exact."""
    one, claim = converted(other), converted(amount)
    if one.unit and claim.unit and one.unit != claim.unit:
        return False
    if claim.value < 0 < one.value and _FALLING.search(text[max(0, other.at - 40) : other.at]):
        one = one._replace(value=-one.value)
    if one.value * claim.value < 0 or not _agrees(one, claim, power):
        return False
    digits = len("".join(map(str, claim.value.as_tuple().digits)).strip("0"))
    return not claim.unit or bool(one.unit) or digits >= TELLING or claim.unit in _units(text)


def _agrees(one: Quantity, claim: Quantity, power: int) -> bool:
    if max(one.value.adjusted(), claim.value.adjusted()) > _LONGEST:
        return one.value == claim.value
    value, step = one.value.scaleb(power), one.step.scaleb(power)
    if value == claim.value:
        return True
    written = claim.value.adjusted() - claim.step.adjusted() + 1
    return step < claim.step and written >= 2 and abs(value - claim.value) * 2 <= claim.step


@lru_cache(maxsize=64)
def _scales(text: str) -> frozenset[int]:
    return frozenset(power_of(word) for word in _HEAD_SCALE.findall(text.lower()))


@lru_cache(maxsize=64)
def _units(text: str) -> frozenset[str]:
    """The units that a page writes anywhere, as far as they are compared."""
    return frozenset(converted(Quantity(_ONE, unit, _ONE, "", 0)).unit for unit in units_in(text.lower()))


# Dates and quotations ----------------------------------------------------------------------------


def _has_period(page: Page, span: Period) -> bool:
    """Its years stand in the page, and a month, a quarter or a day as well: in itself, or what it consists of."""
    years = {str(span.start[0]), str(span.end[0])}
    stands = (next(chain(_places(page.text, year), _places_short(page.text, year)), None) for year in years)
    if None in stands:
        return False
    if (span.start[1], span.end[1]) == (1, 12):
        return True
    beside = (page.text[max(0, at - AROUND) : at + AROUND] for at in _places(page.text, str(span.end[0])))
    short = (page.text[max(0, at - AROUND) : at + AROUND] for at in _places_short(page.text, str(span.end[0])))
    named = [other for window in (*beside, *short) for other in periods(window)]
    within = (other for other in named if span.start <= other.start and other.end <= span.end)
    return any(not span.day or (other.day in (0, span.day) and _same_months(other, span)) for other in within)


def _same_months(one: Period, other: Period) -> bool:
    return (one.start, one.end) == (other.start, other.end) and bool(one.day) == bool(other.day)


def _places_short(text: str, year: str) -> Iterator[int]:
    """`FY24`, `H1'24`, `2023/24`: a year in two digits, where it touches what says so."""
    pattern = rf"(?:(?:19|20)\d\d[/–-]|'|’|\bFY\s?|\b[HQП]\d\s?|\d{{1,2}}[HQПMМ]){year[2:]}(?!\d)"
    return (match.start() for match in re.finditer(pattern, text, re.IGNORECASE))


def _places(text: str, year: str) -> Iterator[int]:
    """Where a year stands as a number of its own."""
    at = text.find(year)
    while at >= 0:
        end = at + len(year)
        if not text[max(0, at - 1) : at].isdigit() and not text[end : end + 1].isdigit():
            yield at
        at = text.find(year, end)


def _has_quote(page: Page, quote: str) -> bool:
    said = fold(quote.strip(_QUOTES)).split()
    return len(said) < QUOTED_WORDS or " ".join(said).strip(" .,;:…") in _in_one_line(page.text)


@lru_cache(maxsize=16)
def _in_one_line(text: str) -> str:
    return " ".join(fold(text).split())
