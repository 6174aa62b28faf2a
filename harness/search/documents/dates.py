"""The date a document gives itself: in a labelled line, a file name or a properties field."""

from __future__ import annotations

import datetime
import re

from harness.patterns import lazy

# Months by their first letters in any case form: "July", "Jul", "июля", "июль", "июл.".
MONTHS = {
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11,
    "dec": 12, "янв": 1, "фев": 2, "мар": 3, "апр": 4, "мая": 5, "май": 5, "июн": 6, "июл": 7, "авг": 8, "сен": 9,
    "окт": 10, "ноя": 11, "дек": 12,
}  # fmt: skip
_MONTH = rf"(?P<month>{'|'.join(MONTHS)})[^\W\d_]*\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
# Tried in order. Day and month in figures are read only as day.month.year; 03/01/2025 has two readings and gets none.
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?<!\d){_YEAR}[-/.年](?P<month>\d\d?)[-/.月](?P<day>\d\d?)(?!\d)",
        rf"(?<!\d)(?P<day>\d\d?)\.(?P<month>\d\d?)\.{_YEAR}(?!\d)",
        rf"(?<!\d)(?P<day>\d\d?)(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}(?!\d)",
        rf"\b{_MONTH}\s+(?P<day>\d\d?)(?:st|nd|rd|th)?,?\s+{_YEAR}(?!\d)",
        rf"\b{_MONTH},?\s+{_YEAR}(?!\d)",
        rf"(?<!\d){_YEAR}[-/年](?P<month>\d\d?)(?![\d-])",
        rf"(?<!\d){_YEAR}(?P<month>[01]\d)(?P<day>[0-3]\d)(?=\D|$|\d{{4}}(?:\d\d)?(?!\d))",  # … with hours, minutes
        rf"(?<!\d){_YEAR}(?!\d)",
    )
)
_LABELLED = lazy(
    r"^\W*(?:date|published(?: on)?|publication date|updated|last updated|last modified|released|as of|"
    r"дата(?: публикации)?|опубликовано|обновлено|по состоянию на|日期|发布日期|更新日期)\W{1,6}(?P<rest>.{4,60})$",
    re.IGNORECASE,
)
HEAD_LINES = 25  # a document dates itself at its top; further down a date is one of its facts


def first_date(text: str) -> str:
    """The first date in `text` as ISO: `2025-03-01`, `2025-03`, `2025`, or "" if there is none."""
    for form in _FORMS:
        for match in form.finditer(text):
            if found := _iso(match.groupdict()):
                return found
    return ""


def dated_line(text: str) -> str:
    """The date of a labelled line near the top (`Published: 1 March 2025`, `Дата: …`), or ""."""
    for line in text.split("\n", HEAD_LINES)[:HEAD_LINES]:
        if (match := _LABELLED.match(line.strip())) and (found := first_date(match["rest"])):
            return found
    return ""


def file_date(name: str) -> str:
    """The date in a file name such as `chad_2025-03-01.pdf` or `report 2015.md`; `name` may hold folders."""
    return first_date(name.rsplit("/", 1)[-1].rsplit(".", 1)[0].replace("_", "-"))


def _iso(parts: dict[str, str | None]) -> str:
    year, month, day = parts["year"] or "", parts.get("month") or "", parts.get("day") or ""
    number = MONTHS.get(month[:3].lower(), 0) if not month.isdigit() else int(month)
    if not month:
        return year
    if not 1 <= number <= 12:
        return ""
    if not day:
        return f"{year}-{number:02}"
    try:
        return datetime.date(int(year), number, int(day)).isoformat()
    except ValueError:
        return ""
