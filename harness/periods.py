"""Periods as people write them (2024, H1 2024, 1П2024, July 2015 est., 2024/25), made comparable."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

from harness.patterns import lazy


class Period(NamedTuple):
    """A span of months as `(year, month)`, both ends included, with its place in the text."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str
    at: int  # offset of `text`


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
_YEAR = r"(?P<year>1[5-9]\d\d|20\d\d|21\d\d)(?!\d)"
_OF = r"(?:\s*(?:of|of the year|,|-|–|/|'|’|года?)?\s*)"
# two digits are a year only where they touch what says so: 1H24, Q3'24; `2 h 30` is no half of 2030
_SHORT = rf"(?:{_OF}(?=(?:19|20)\d\d)|['’]?)(?P<year>(?:19|20)?\d\d)(?!\d)"
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


def _first_months(match: re.Match[str]) -> _Span | None:
    months = int(match["n"])
    return ((_year(match), 1), (_year(match), months)) if 1 <= months <= 12 else None


def _named_month(match: re.Match[str]) -> _Span | None:
    month = next((n for n, start in enumerate(_MONTH_STARTS, 1) if start.match(match["month"])), None)
    return None if month is None else ((_year(match), month), (_year(match), month))


def _numbered_month(match: re.Match[str]) -> _Span | None:
    month = int(match["month"])
    return ((_year(match), month), (_year(match), month)) if 1 <= month <= 12 else None


# The first form that fits takes its characters, so the precise ones stand first.
_FORMS: tuple[tuple[str, Callable[[re.Match[str]], _Span | None]], ...] = (
    (rf"{_YEAR}-(?P<month>\d\d)(?:-\d\d)?(?!\d)", _numbered_month),
    (rf"\d{{1,2}}\.(?P<month>\d\d)\.{_YEAR}", _numbered_month),
    (rf"{_YEAR}\s*年\s*(?P<month>\d{{1,2}})\s*月(?:\s*\d{{1,2}}\s*日)?", _numbered_month),
    (rf"{_YEAR}\s*年?\s*第?(?P<n>[1-4一二三四])季度?", _part(3)),
    (rf"{_YEAR}\s*年?\s*(?P<n>[上下])半年", _part(6)),
    (rf"(?:\d{{1,2}}(?:st|nd|rd|th)?\s+)?{_MONTH}(?:\s+\d{{1,2}}(?:st|nd|rd|th)?,)?{_OF}{_YEAR}", _named_month),
    (rf"(?:h|1?half\s*)(?P<n>[12]){_SHORT}", _part(6)),
    (rf"(?P<n>[12])\s?(?:h|п){_SHORT}", _part(6)),
    (rf"{_YEAR}\s*,?\s*h(?P<n>[12])\b", _part(6)),
    (rf"(?:the\s+)?{_NTH}\s+{_HALF}{_OF}{_YEAR}", _part(6)),
    (rf"q(?P<n>[1-4]){_SHORT}", _part(3)),
    (rf"(?P<n>[1-4])\s?(?:q|кв\.?){_SHORT}", _part(3)),
    (rf"{_YEAR}\s*,?\s*q(?P<n>[1-4])\b", _part(3)),
    (rf"(?:the\s+)?{_NTH}\s+{_QUARTER}{_OF}{_YEAR}", _part(3)),
    (rf"(?P<n>\d{{1,2}})\s?(?:m|м|месяц\w*|мес\.?|months){_SHORT}", _first_months),
    (rf"(?:fy\s?)?{_YEAR}\s?[-–—/]\s?(?P<last>\d{{4}}|\d\d)(?!\d)", _years),
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
    r"[\s(),.;:]|\b(?:in|for|as|of|on|by|end|the|year|est|estimate|estimated|fy|fiscal|proj|projected|preliminary|census"
    r"|в|во|за|на|по|к|итогам|конец|год|года|году|г|гг|годы|годов|оценка|прогноз)\b|[年度]"
)
_AMOUNT_AFTER = lazy(r"\s?(?:%|[.,]\d|[$€£¥₽]|(?:km|км|m|м|bn|mn|млн|млрд|тыс|million|billion|thousand|people|чел)\b)")


def periods(text: str) -> tuple[Period, ...]:
    """The periods a text names, in order of appearance; a bare four-digit number counts unless it is an amount."""
    masked = text.lower()
    if len(masked) != len(text):  # a few capitals grow when lowered; offsets must stay those of `text`
        masked = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    found: list[Period] = []
    for form, span in _compiled():
        for match in form.finditer(masked):
            bounds = span(match)
            if bounds is None or (match["year"] == match.group() and _AMOUNT_AFTER.match(masked, match.end())):
                continue
            found.append(Period(*bounds, text[match.start() : match.end()].strip(), match.start()))
            masked = masked[: match.start()] + "\0" * len(match.group()) + masked[match.end() :]
    return tuple(sorted(found, key=lambda period: period.at))


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
    first, second = only_period(a), only_period(b)
    if first is None or second is None:
        return a.split() == b.split()
    return first[:2] == second[:2]


def newest(found: Iterable[Period]) -> Period | None:
    """The period that ends last (of those the one that starts last), None if there is none."""
    return max(found, key=lambda period: (period.end, period.start), default=None)
