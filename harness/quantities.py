"""Values of summaries (154,0 млрд ₽; about 12 %; 10–12 km; N’Djamena), made comparable across their writings."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Literal, NamedTuple

from harness.amounts import CITATION, MEASURABLE, Quantity, is_range, quantities
from harness.patterns import lazy
from harness.periods import Comparison, Period, compare_periods, only_period
from harness.units import BEFORE, METRIC, PHYSICAL, first_unit
from harness.words import content_stems, fold, language_of, words

__all__ = [
    "Comparison",
    "Quantity",
    "amount",
    "compare",
    "is_physical",
    "is_rounded",
    "measure",
    "quantities",
    "same_amount",
    "same_value",
]

_PARENTHESES = lazy(r"\([^()]*\)|（[^（）]*）")
_UNIT_IN_BRACKETS = lazy(r"(?<=\d)\s\(([^()\d]{1,20})\)$")
_LABEL = lazy(r"^[^\d:：]{1,40}(?::\s+|：\s*)")
_QUALIFIER = (
    r"(?P<lower>>|≥|over|more than|at least|(?:not|no) less than|above|from|between|более|больше|свыше|не менее"
    r"|не меньше|от|между|超过|逾|至少|不少于)"
    r"|(?P<upper><|≤|under|less than|at most|(?:not|no) more than|up to|below|менее|меньше|не более|не больше|до|不到"
    r"|少于|至多|不超过)"
    r"|(?P<about>≈|~|about|around|approximately|approx\.?|circa|some|nearly|almost|около|примерно|приблизительно|почти"
    r"|порядка|约|大约|近)"
)
_QUALIFIERS = lazy(rf"^(?:(?:{re.sub(r'[?]P<[a-z]+>', '?:', _QUALIFIER)})\s*)+", re.IGNORECASE)
_ONE_QUALIFIER = lazy(_QUALIFIER, re.IGNORECASE)
_AMOUNT_FIRST = lazy(rf"(?:[-−–+]\s?|(?:minus|минус|plus|плюс)\s+|零下)?(?:{BEFORE})?\s?\.?\d", re.IGNORECASE)


def amount(text: str) -> Quantity | None:
    """The amount a value begins with (a label, `about`, `≈` aside); None if the value is words."""
    bare = _bare(text)
    start = _qualified(bare)
    if not _AMOUNT_FIRST.match(bare, start):
        return None
    return next((found for found in quantities(bare) if found.at + len(found.text) > start), None)


def _bare(text: str) -> str:
    """A value without its remarks in brackets and its label."""
    # a table's unit stands behind its figure in brackets: `154,0 (млрд ₽)`
    united = _UNIT_IN_BRACKETS.sub(r" \1", text.strip())
    return _LABEL.sub("", _PARENTHESES.sub(" ", united).strip()).strip()


def _qualified(bare: str) -> int:
    """Where the words like `about`, `more than` end that a value begins with; 0 if there are none."""
    found = _QUALIFIERS.match(bare)
    return found.end() if found else 0


def measure(text: str) -> Quantity | None:
    """The amount of a value: the one it begins with, else its only one that has a unit (`Emi Koussi 3,445 m`)."""
    found = amount(text)
    if found is not None:
        return found
    united = [read for read in quantities(_PARENTHESES.sub(" ", text)) if read.unit not in ("", "year")]
    return united[0] if len(united) == 1 else None


def is_physical(value: str) -> bool:
    """Whether a value is a length or an area: of a mountain or a country there is one, whatever the year."""
    found = measure(value)
    return found is not None and found.unit in PHYSICAL


def is_rounded(a: str, b: str) -> bool:
    """Whether two values begin with amounts that are not equal to the last digit, as the same value may be written."""
    first, second = amount(a), amount(b)
    return first is not None and second is not None and first.value != second.value


def same_value(a: str, b: str) -> bool:
    """Whether two values agree: amounts as far as the coarser one is written (17.1 m, 17,098,242), words by stems."""
    return compare(a, b) is Comparison.SAME


def compare(a: str, b: str) -> Comparison:
    """What two values are to each other: SAME and DIFFERENT are of one kind of amount, or both periods, or both words.

    Units are not converted, but for powers of ten of one measure (km and m); a range is no point, a share no number of
    percentage points. A missing unit stands in a table's head: it agrees with any.
    """
    if a.split() == b.split():
        return Comparison.SAME
    first, second = _reading(a), _reading(b)
    if first.period and second.period:
        return compare_periods(first.text, second.text)
    if first.period or second.period:
        return _compare_year(first, second)
    if first.low is not None and second.low is not None:
        return _compare_amounts(first, second)
    if first.begins or second.begins:
        return Comparison.NOT_COMPARABLE
    return _compare_words(first.text, second.text)


class _Reading(NamedTuple):
    """A value as it is compared: a period, an amount with what stands around it, or words."""

    text: str  # without citations
    period: Period | None = None
    low: Quantity | None = None
    high: Quantity | None = None  # of a range, or the second number of a ratio
    begins: bool = False  # the amount is what the value begins with, not the only measure among words
    form: Literal["point", "range", "ratio"] = "point"
    bound: Literal["lower", "upper", ""] = ""
    about: bool = False
    per: str = ""  # what a rate is counted by: "1000", "people", "km2"
    noun: bool = False  # a word stands behind the amount: `12 births` is counted by nothing, a bare `12` may be


_RATIO = lazy(r"^([0-9]{1,9})(?:\s?[:/∶]\s?|\s(?:in|из)\s(?!(?:1[5-9]|20)\d\d\b))([0-9]{1,9})(?![\d.,:/])")
_NOUN = lazy(r"\s?[^\W\d_]{3,}")
_PER = lazy(r"^[^\d,;/]{0,30}?(?:/\s?|\bper\s+|\bна\s+(?:кажд\w+\s+)?|\bв\s+(?=час|сек|сут|день|мин))")
_BASES = (
    (lazy(r"capita\b|head\b|душу\b|человека\b|жителя\b"), "people"),
    (lazy(r"(?:s|sec|seconds?|с|сек|секунду)\b"), "second"),
    (lazy(r"(?:h|hr|hour|ч|час)\b"), "hour"),
    (lazy(r"(?:d|day|день|сутки|сут)\b"), "day"),
)  # a year is left out: 5.3 % a year is the 5.3 % of a table


@lru_cache(maxsize=4096)  # a value is compared with every other one of its cell
def _reading(value: str) -> _Reading:
    text = CITATION.sub(" ", value).strip()
    period = only_period(text)
    if period is not None:
        return _Reading(text, period)
    bare = _bare(text) or text.strip("()（） ")
    ratio = _RATIO.match(bare)
    if ratio:
        first, second = (Quantity(Decimal(part), "", Decimal(1), part, 0) for part in ratio.groups())
        return _Reading(text, None, first, second, begins=True, form="ratio")
    start = _qualified(bare)
    marks = {match.lastgroup for match in _ONE_QUALIFIER.finditer(bare, 0, start)}
    found = quantities(bare)
    if not _AMOUNT_FIRST.match(bare, start) or not found:
        only = measure(text) or _only_amount(text)
        after = text.partition(only.text)[2] if only else ""
        return _Reading(text, None, only, per=_base(after))
    last = found[1] if _is_wide(found[:2], bare) else found[0]
    after = bare[last.at + len(last.text) :]
    noun = _NOUN.match(after)
    read = _Reading(text, None, found[0], None, begins=True, about="about" in marks, per=_base(after))
    if last is not found[0]:
        low, high = sorted(found[:2], key=lambda end: end.value)
        return read._replace(low=low, high=high, form="range")
    bound: Literal["lower", "upper", ""] = "lower" if "lower" in marks else "upper" if "upper" in marks else ""
    return read._replace(bound=bound, noun=bool(noun and content_stems(noun.group())))


def _only_amount(text: str) -> Quantity | None:
    """The one amount among words that has a unit or a scale word: «население около 20,4 млн», «Казбек (5033 м)»."""
    amounts = [found for found in quantities(text) if found.unit != "year" and (found.unit or found.step >= 1000)]
    return amounts[0] if len(amounts) == 1 else None


def _is_wide(ends: tuple[Quantity, ...], bare: str) -> bool:
    """Whether two amounts are a range: of one unit and rising, or both below zero (−40…−45 °C)."""
    if len(ends) < 2 or ends[0].unit != ends[1].unit:
        return False
    low, high = ends
    rising = low.value < high.value or high.value < low.value < 0
    return rising and is_range(bare, low.at, low.at + len(low.text), high.at)


def _base(after: str) -> str:
    """What the amount before `after` is counted by: `deaths/1,000`, `per sq km`, «на душу населения»; "" if nothing."""
    lowered = after[:80].lower()
    per = _PER.match(lowered)
    if per is None:
        return ""
    rest = lowered[per.end() :]
    if rest[:1].isdigit():
        number = next(iter(quantities(rest)), None)
        return f"{number.value:f}" if number and number.unit != "year" and number.at == 0 else ""
    named = next((base for form, base in _BASES if form.match(rest)), "")
    if named:
        return named
    known = first_unit(rest)
    return known if known in PHYSICAL or known == "people" else ""


def _compare_year(first: _Reading, second: _Reading) -> Comparison:
    """A period and no period: `2024` may also be a count, and then it is the same as `2,024`."""
    period, other = (first, second) if first.period else (second, first)
    count = other.low if other.begins and other.form == "point" and other.low and not other.low.unit else None
    if count is not None and period.text.isdecimal() and count.value == Decimal(period.text):
        return Comparison.SAME
    return Comparison.NOT_COMPARABLE


def _compare_amounts(first: _Reading, second: _Reading) -> Comparison:
    if first.form != second.form or _other_base(first, second):
        return Comparison.NOT_COMPARABLE
    ends = [(first.low, second.low), (first.high, second.high)]
    pairs = [(a, b) for a, b in ends if a is not None and b is not None]
    if first.form == "ratio":
        (a, b), (c, d) = pairs
        return Comparison.SAME if a.value * d.value == b.value * c.value else Comparison.DIFFERENT
    loose = [(_loosened(a) if first.about else a, _loosened(b) if second.about else b) for a, b in pairs]
    if all(same_amount(a, b) or same_amount(_in_millions(a), b) or same_amount(a, _in_millions(b)) for a, b in loose):
        opposite = {first.bound, second.bound} == {"lower", "upper"}
        return Comparison.DIFFERENT if opposite else Comparison.SAME
    return Comparison.DIFFERENT if all(_one_unit(a, b) for a, b in pairs) else Comparison.NOT_COMPARABLE


def _other_base(first: _Reading, second: _Reading) -> bool:
    """Whether one is a rate and the other is none, or is one by something else; a bare number may be any."""
    if first.per == second.per:
        return False
    return all(reading.per or reading.noun or (reading.low and reading.low.unit) for reading in (first, second))


def _loosened(about: Quantity) -> Quantity:
    """An amount behind `about`: its last zeros are not written digits, the first two are (1,200 is to the hundred)."""
    if about.value.adjusted() > MEASURABLE:
        return about
    digits = "".join(map(str, about.value.as_tuple().digits)).lstrip("0").rstrip("0")
    step = Decimal(f"1E{about.value.adjusted() - max(len(digits), 2) + 1}")
    return about._replace(step=step)


_METRES = lazy(r"\d\s?m$", re.IGNORECASE)


def _in_millions(metres: Quantity) -> Quantity:
    """`17.1 m` beside a count is 17.1 million; nobody writes 8,848 m so."""
    if metres.unit != "m" or metres.value >= 1000 or not _METRES.search(metres.text):
        return metres
    return metres._replace(value=metres.value.scaleb(6), step=metres.step.scaleb(6), unit="")


def _one_unit(a: Quantity, b: Quantity) -> bool:
    if "year" in (a.unit, b.unit):
        return a.unit == b.unit
    first, second = METRIC.get(a.unit, (a.unit, 0))[0], METRIC.get(b.unit, (b.unit, 0))[0]
    return not first or not second or first == second


def same_amount(a: Quantity, b: Quantity) -> bool:
    """Whether two amounts agree as far as the coarser one is written; different known units never agree."""
    if a.unit and b.unit and a.unit != b.unit:
        if not _one_unit(a, b) or max(a.value.adjusted(), b.value.adjusted()) > MEASURABLE:
            return False
        a, b = converted(a), converted(b)
    if a.value == b.value:
        return True
    if max(a.value.adjusted(), b.value.adjusted()) > MEASURABLE:
        return False
    coarse = max(a, b, key=lambda quantity: quantity.step)
    # one digit says too little: 2 bn and 2.4 bn are worth showing side by side
    written = coarse.value.adjusted() - coarse.step.adjusted() + 1
    return a.step != b.step and written >= 2 and abs(a.value - b.value) * 2 <= coarse.step


def converted(quantity: Quantity) -> Quantity:
    """In the unit that its kind is compared in: 8.8 km and 8,800 m are both metres."""
    unit, power = METRIC.get(quantity.unit, (quantity.unit, 0))
    return Quantity(quantity.value.scaleb(power), unit, quantity.step.scaleb(power), quantity.text, quantity.at)


def _compare_words(a: str, b: str) -> Comparison:
    if _same_words(a, b):
        return Comparison.SAME
    # names in two scripts may be one: Astana, 阿斯塔纳
    told = words(a) and words(b) and language_of(a) == language_of(b)
    return Comparison.DIFFERENT if told else Comparison.NOT_COMPARABLE


def _same_words(a: str, b: str) -> bool:
    """Whether one value's words are among the other's, remarks in brackets aside."""
    if fold(a).split() == fold(b).split():
        return True
    first, second = (frozenset(content_stems(_PARENTHESES.sub(" ", value)) or content_stems(value)) for value in (a, b))
    return bool(first and second) and (first <= second or second <= first)
