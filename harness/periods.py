"""Periods as people write them (2024, H1 2024, 1П2024, July 2015 est., 2024/25), made comparable."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import Enum
from functools import cache, lru_cache
from typing import NamedTuple

from harness.patterns import lazy


class Period(NamedTuple):
    """A span of months as `(year, month)`, both ends included, with its place in the text."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str
    at: int  # offset of `text`
    day: int = 0  # of the month, where the text is a date


class Comparison(Enum):
    """What two values or periods are to each other; those of other kinds neither agree nor contradict."""

    SAME = "same"
    DIFFERENT = "different"
    NOT_COMPARABLE = "not_comparable"


FULL_WIDTH = str.maketrans("０１２３４５６７８９．，％", "0123456789.,%")


_MONTH_STARTS = tuple(
    lazy(start)
    for start in (
        "jan|янв", "feb|фев", "mar|мар", "apr|апр", "may|ма[йяе]", "june?|июн", "july?|июл", "aug|авг", "sep|сен",
        "oct|окт", "nov|ноя", "dec|дек",
    )
)  # fmt: skip
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|январ\w|феврал\w|марта?|марте|апрел\w|ма[йяе]|июн\w|июл\w"
    r"|августа?е?|сентябр\w|октябр\w|ноябр\w|декабр\w)\.?"
)
_LAST_MONTH = _MONTH.replace("?P<month>", "?P<last>")
_YEAR = r"(?P<year>1[5-9]\d\d|20\d\d|21\d\d)(?!\d)"
_OF = r"(?:\s*(?:of|of the year|,|-|–|/|'|’|года?)?\s*)"
# two digits are a year only where they touch what says so: 1H24, Q3'24; `2 h 30` is no half of 2030
_SHORT = rf"(?:{_OF}(?:fy\s?)?(?=(?:19|20)\d\d)|['’]?|\s?fy\s?)(?P<year>(?:19|20)?\d\d)(?!\d)"
_ORDINALS = {
    "i": 1, "ii": 2, "iii": 3, "iv": 4, "first": 1, "second": 2, "third": 3, "fourth": 4,
    "перв": 1, "втор": 2, "трет": 3, "четв": 4, "一": 1, "二": 2, "三": 3, "四": 4, "上": 1, "下": 2,
}  # fmt: skip
_NTH = (
    r"(?P<n>[1-4]|iv|i{1,3}|first|second|third|fourth|перв\w+|втор\w+|трет\w+|четв[её]рт\w+)"
    r"(?:-?(?:st|nd|rd|th|й|е|ое|го|м|ом))?"
)
_HALF = r"(?:half|полугоди\w+|п/г)"
_QUARTER = r"(?:quarter|квартал\w*|кв\.?)"

_Span = tuple[tuple[int, int], tuple[int, int]]


def _year(match: re.Match[str], group: str = "year") -> int:
    digits = match[group]
    return int(digits) if len(digits) == 4 else 2000 + int(digits)


def _whole_year(match: re.Match[str]) -> _Span:
    return (_year(match), 1), (_year(match), 12)


def _years(match: re.Match[str]) -> _Span | None:
    first, last = int(match["year"]), match["last"]
    end = int(last) if len(last) == 4 else first // 100 * 100 + int(last)
    return ((first, 1), (end, 12)) if first < end <= first + 200 else None


def _part(months: int) -> Callable[[re.Match[str]], _Span | None]:
    """The n-th part of a year: of 3 months for quarters, of 6 for halves."""

    def span(match: re.Match[str]) -> _Span | None:
        nth = match["n"]
        number = int(nth) if nth.isdigit() else _ORDINALS.get(nth) or _ORDINALS.get(nth[:4], 0)
        if not 1 <= number <= 12 // months:
            return None
        return (_year(match), (number - 1) * months + 1), (_year(match), number * months)

    return span


def _quarters(match: re.Match[str]) -> _Span | None:
    first, last = int(match["n"]), int(match["last"])
    return ((_year(match), 3 * first - 2), (_year(match), 3 * last)) if first < last else None


_COUNTS = {"three": 3, "six": 6, "nine": 9, "три": 3, "шесть": 6, "девять": 9}


def _first_months(match: re.Match[str]) -> _Span | None:
    months = _COUNTS.get(match["n"]) or int(match["n"])
    return ((_year(match), 1), (_year(match), months)) if 1 <= months <= 12 else None


def _month(name: str) -> int:
    return next((n for n, start in enumerate(_MONTH_STARTS, 1) if start.match(name)), 0)


def _named_month(match: re.Match[str]) -> _Span | None:
    month = _month(match["month"])
    return ((_year(match), month), (_year(match), month)) if month else None


def _named_months(match: re.Match[str]) -> _Span | None:
    first, last = _month(match["month"]), _month(match["last"])
    return ((_year(match), first), (_year(match), last)) if 0 < first < last else None


def _numbered_month(match: re.Match[str]) -> _Span | None:
    month = int(match["month"])
    return ((_year(match), month), (_year(match), month)) if 1 <= month <= 12 else None


def _numbered_months(match: re.Match[str]) -> _Span | None:
    first, last = int(match["month"]), int(match["last"])
    return ((_year(match), first), (_year(match), last)) if 0 < first < last <= 12 else None


# The first form that fits takes its characters, so the precise ones stand first.
_FORMS: tuple[tuple[str, Callable[[re.Match[str]], _Span | None]], ...] = (
    (rf"{_YEAR}-(?P<month>\d\d)(?:-(?P<day>\d\d))?(?!\d)", _numbered_month),
    (rf"{_YEAR}/(?P<month>\d\d?)/(?P<day>\d\d?)(?!\d)", _numbered_month),
    (rf"(?P<day>\d{{1,2}})\.(?P<month>\d\d)\.{_YEAR}", _numbered_month),
    (rf"(?P<month>0[1-9]|1[012](?=\.\d{{4}}(?!\s?[%$€£₽\w])))\.{_YEAR}", _numbered_month),
    (rf"{_YEAR}\s*年\s*(?P<month>\d{{1,2}})\s*月(?:\s*(?P<day>\d{{1,2}})\s*日)?", _numbered_month),
    (rf"{_YEAR}\s*年\s*(?P<month>\d\d?)月?\s*[-–—至到]\s*(?P<last>\d\d?)\s*月", _numbered_months),
    (rf"{_YEAR}\s*年?\s*第?(?P<n>[1-4一二三四])季度?", _part(3)),
    (rf"{_YEAR}\s*年?\s*(?P<n>[上下])半年", _part(6)),
    (rf"{_MONTH}\s*(?:[-–—]|to|по)\s*{_LAST_MONTH}{_OF}{_YEAR}", _named_months),
    (
        rf"(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+)?{_MONTH}(?:\s+(?P<date>\d{{1,2}})(?:st|nd|rd|th)?,)?{_OF}{_YEAR}",
        _named_month,
    ),
    (rf"(?:h|1?half\s*)(?P<n>[12]){_SHORT}", _part(6)),
    (rf"(?P<n>[12])\s?(?:h|п){_SHORT}", _part(6)),
    (rf"{_YEAR}\s*,?\s*h(?P<n>[12])\b", _part(6)),
    (rf"(?:the\s+)?{_NTH}\s+{_HALF}{_OF}{_YEAR}", _part(6)),
    (rf"q(?P<n>[1-4])\s?[-–—]\s?q?(?P<last>[1-4]){_SHORT}", _quarters),
    (rf"q(?P<n>[1-4]){_SHORT}", _part(3)),
    (rf"(?P<n>[1-4])\s?(?:q|кв\.?){_SHORT}", _part(3)),
    (rf"{_YEAR}\s*,?\s*q(?P<n>[1-4])\b", _part(3)),
    (rf"(?:the\s+)?{_NTH}\s+{_QUARTER}{_OF}{_YEAR}", _part(3)),
    (
        rf"(?:first\s+|перв\w+\s+)?(?P<n>\d{{1,2}}|{'|'.join(_COUNTS)})\s?(?:m|м|месяц\w*|мес\.?|months){_SHORT}",
        _first_months,
    ),
    # not over ` — `, which stands between a period and its value: `share 2024 — 31 %`
    (rf"(?:fy\s?)?{_YEAR}(?:[-–—/]|\s?[-–/]\s?(?=\d{{4}}))(?P<last>\d{{4}}|\d\d)(?!\d)", _years),
    (rf"fy\s?{_SHORT}", _whole_year),
    (_YEAR, _whole_year),
)


@cache
def _compiled() -> tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], _Span | None]], ...]:
    """The forms, compiled at the first use: it takes 10 ms, which `harness status` mostly does without."""
    return tuple((re.compile(rf"(?<![.,$€£¥₽])(?<![^\W\u4e00-\u9fff]){form}"), span) for form, span in _FORMS)


_PLAIN = lazy(r"\s*(?:([^\W\d_]{3,9})\.?\s+)?(?:19|20)\d\d(?:\s+(?:est|год|г)\.?)?\s*", re.ASCII)
_MONTH_NAMES = frozenset(["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"])
_AROUND = lazy(
    r"[\s(),.;:]|\b(?:in|at|for|as|of|on|by|end|the|year|est|estimate|estimated|fy|fiscal|proj|projected|prelim|preliminary|census"
    r"|в|во|за|на|по|к|состоянию|итогам|конец|концу|конца|год|года|году|г|гг|годы|годов|финансовый|финансовом|оценка|прогноз)\b"
    r"|[年度财政底末]|截至"
)
_AMOUNT_AFTER = lazy(
    r"\s?(?:%|[.,]\d|[$€£¥₽]|(?:k|b|m|bn|mn|mln|bln|tn|trn|млн|млрд|трлн|тыс|million|billion|trillion|thousand|lakh|crore"
    r"|km|км|м|met(?:er|re)s|метр\w*|ft|feet|miles|ha|га|tonnes|тонн\w*|m[wt]|мвт|people|чел|человек|percent|процент\w*"
    r"|руб\w*|долл\w*|dollars|rubles|euros?|евро)\b|[千百万亿元米吨岁天倍]|公里|平方|美元|人(?!口))"
)


def periods(text: str) -> tuple[Period, ...]:
    """The periods a text names, in order of appearance; a bare four-digit number counts unless it is an amount."""
    masked = text.lower().translate(FULL_WIDTH)
    if len(masked) != len(text):  # a few capitals grow when lowered; offsets must stay those of `text`
        masked = "".join(char.lower() if len(char.lower()) == 1 else char for char in text).translate(FULL_WIDTH)
    found: list[Period] = []
    for form, span in _compiled():
        for match in form.finditer(masked):
            bounds = span(match)
            if bounds is None or (match["year"] == match.group() and _AMOUNT_AFTER.match(masked, match.end())):
                continue
            found.append(Period(*bounds, text[match.start() : match.end()].strip(), match.start(), _day(match)))
            masked = masked[: match.start()] + "\0" * len(match.group()) + masked[match.end() :]
    return tuple(sorted(found, key=lambda period: period.at))


def _day(match: re.Match[str]) -> int:
    named = match.groupdict()
    return int(named.get("day") or named.get("date") or 0)


def only_period(text: str) -> Period | None:
    """The one period that a text consists of, with words like `in`, `est.`, «за … год» around it; else None."""
    found = periods(text)
    if len(found) != 1:
        return None
    period = found[0]
    rest = f"{text[: period.at]} {text[period.at + len(period.text) :]}"
    return None if _AROUND.sub("", rest.lower()).strip() else period


def is_period(text: str) -> bool:
    """Whether a text consists of one period; `2024`, `July 2015 est.` are told without compiling the other forms."""
    plain = _PLAIN.fullmatch(text)
    if plain and (not plain[1] or plain[1][:3].lower() in _MONTH_NAMES):
        return True
    return only_period(text) is not None


def in_digits(text: str) -> str:
    """A year or month without words, for a line in another language: «оценка 2024 года» is 2024. Else the text."""
    period = only_period(text)
    if period is None:
        return text
    (first, from_month), (last, to_month) = period.start, period.end
    if (from_month, to_month) == (1, 12):
        return str(first) if first == last else f"{first}–{last}"
    return f"{first}-{from_month:02}" if period.start == period.end else text


def same_period(a: str, b: str) -> bool:
    """Whether two period texts mean the same months; without a known form, whether they are the same words."""
    return compare_periods(a, b) is Comparison.SAME


def compare_periods(a: str, b: str) -> Comparison:
    """What two period texts are to each other: DIFFERENT are periods of one kind (two quarters, two spans of years).

    A date is the same as its month, which says it less precisely; a quarter and its year are not comparable, and so are
    a period and what is none.
    """
    if a.split() == b.split():
        return Comparison.SAME
    first, second = _spoken(a), _spoken(b)
    if first is None or second is None or (first.start[0] == _NO_YEAR) != (second.start[0] == _NO_YEAR):
        return Comparison.NOT_COMPARABLE
    if first[:2] == second[:2]:
        two_days = first.day and second.day and first.day != second.day
        return Comparison.DIFFERENT if two_days else Comparison.SAME
    lengths = {min(_months(period), 13) for period in (first, second)}  # all spans of years are of one kind
    return Comparison.DIFFERENT if len(lengths) == 1 else Comparison.NOT_COMPARABLE


def _months(period: Period) -> int:
    (first, from_month), (last, to_month) = period.start, period.end
    return 12 * (last - first) + to_month - from_month + 1


_NO_YEAR = 0
_DECADE = lazy(r"(?:the\s+)?([12]\d\d0)(?:['’]?s|-?[ехм]+\s*(?:год\w*|гг\.?)?|年代)")
_FROM = lazy(r"^(?:from|between|с|между)$")
_TO = lazy(r"(?:年|г\.?|года?)?\s*(?:[-–—至到]|to|and|по|и)")


@lru_cache(maxsize=4096)  # the periods of a cell's lines are compared with one another
def _spoken(text: str) -> Period | None:
    """A period as `only_period` reads it, a span or a decade in words, or one that leaves its year out (`Q3`)."""
    period = only_period(text)
    if period is not None or len(text) > 60:
        return period
    plain = text.strip().lower().translate(FULL_WIDTH)
    decade = _DECADE.fullmatch(plain)
    if decade:
        year = int(decade[1])
        return Period((year, 1), (year + 9, 12), text, 0)
    found = periods(plain)
    if not found and plain:
        part = only_period(f"{plain} 2000")
        short = part is not None and part.start[0] == part.end[0] == 2000 and _months(part) < 12
        return part._replace(start=(_NO_YEAR, part.start[1]), end=(_NO_YEAR, part.end[1])) if part and short else None
    if len(found) != 2:
        return None
    first, last = found
    before, between = plain[: first.at].strip(), plain[first.at + len(first.text) : last.at].strip()
    after = _AROUND.sub("", plain[last.at + len(last.text) :])
    joined = _TO.fullmatch(between) and (not before or _FROM.match(before)) and not after and first.start < last.start
    return Period(first.start, last.end, text, 0) if joined else None


def newest(found: Iterable[Period]) -> Period | None:
    """The period that ends last (of those the one that starts last), None if there is none."""
    return max(found, key=lambda period: (period.end, period.start), default=None)
