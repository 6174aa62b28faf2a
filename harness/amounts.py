"""The amounts in a text, with scale words, units and signs applied (154,0 млрд ₽; $3.5 bn; 14亿1178万人)."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

from harness.patterns import lazy
from harness.periods import FULL_WIDTH, periods
from harness.units import LETTER_SCALES, power_of, reader, unit_of


class Quantity(NamedTuple):
    """One amount: `value` with its scale word applied, `unit` canonical ("" if none is known)."""

    value: Decimal
    unit: str
    step: Decimal  # what one more in the last written digit is worth: 1E+8 for `154,0 млрд`
    text: str
    at: int  # offset of `text`


# Above this many digits a number is no measurement: it is equal or not, never rounded.
MEASURABLE = 40
_ONE_FORM = FULL_WIDTH | str.maketrans("\u00a0\u202f\u2009\u2007", "    ")
CITATION = lazy(r"\[\d+\.\d+(?:\s*[,;]\s*\d+\.\d+)*\]")
_TO = lazy(r"\s*[-–—−~～…至到]\s*|\s+(?:to|до)\s+")
_TO_OR_AND = lazy(r"\s*[-–—]\s*|\s+(?:and|и)\s+")
_BETWEEN = lazy(r"(?<!\w)(?:between|между)\s+$", re.IGNORECASE)
_BY = lazy(r"(?<!\w)(?:by|на)\s+$", re.IGNORECASE)
_SIGN_WORD = lazy(r"(?:(?<!\w)(?:minus|минус)\s+|零下)$", re.IGNORECASE)


def quantities(text: str) -> tuple[Quantity, ...]:
    """Every amount in order; a period gives its years with the unit `year`; citations `[N.k]` give nothing."""
    plain = CITATION.sub(lambda match: " " * len(match.group()), text.translate(_ONE_FORM))
    found: list[Quantity] = []
    for period in periods(plain):
        for year in sorted({period.start[0], period.end[0]}):
            found.append(Quantity(Decimal(year), "year", Decimal(1), period.text, period.at))
        plain = plain[: period.at] + "\0" * len(period.text) + plain[period.at + len(period.text) :]
    found += _amounts(plain)
    return tuple(sorted(found, key=lambda quantity: quantity.at))


def whole_amount(text: str, *, decimal_comma: bool = False) -> Quantity | None:
    """The one amount that a text consists of; None where it has more, begins with words, or goes on with digits.

    Unlike `quantities`, 2024 is a number. `decimal_comma`: a single comma before three digits is no thousands mark.
    Words that are no known unit may stand behind it: they are what `Quantity.text` leaves of the text.
    """
    plain = text.translate(_ONE_FORM).strip()
    if decimal_comma and plain.count(",") == 1 and "." not in plain:
        plain = plain.replace(",", ".")
    found = _amounts(plain)
    if len(found) != 1 or found[0].at or re.search(r"[\d.,]", plain[len(found[0].text) :].rstrip(". ")):
        return None
    return found[0]


def _amounts(text: str) -> list[Quantity]:
    lowered = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    read: list[tuple[re.Match[str], int | None, str]] = []
    for match in reader().number.finditer(lowered):
        exponent = _exponent(match, text)
        metres = "m" if match["letter"] == "m" and exponent is None else ""
        read.append((match, exponent, unit_of(match["before"] or match["unit"] or metres)))
    for first in range(len(read) - 1):
        (low, scale, low_unit), (high, high_scale, high_unit) = read[first], read[first + 1]
        if is_range(
            lowered, low.start(), low.end(), high.start() - len(_sign(text, high.start()))
        ):  # 10–12 млрд ₽: both ends in milliards
            read[first] = (low, high_scale if scale is None else scale, low_unit or high_unit)
            read[first + 1] = (high, high_scale, high_unit or low_unit)
    found: list[Quantity] = []
    above = 0  # the scale of the amount before
    for match, scale, unit in read:
        one = _quantity(match, scale or 0, unit, text)
        found.append(_joined(found.pop(), one, text) if _goes_on(found, above, one, scale or 0, text) else one)
        above = scale or 0
    return found


def is_range(text: str, start: int, end: int, following: int) -> bool:
    """Whether an amount at `start` to `end` and the next one are the two ends of a range."""
    before = text[max(0, start - 12) : start]
    if _BETWEEN.search(before):
        return bool(_TO_OR_AND.fullmatch(text, end, following))
    # grew by 20 % to 500: no range
    return bool(_TO.fullmatch(text, end, following)) and not _BY.search(before)


def _goes_on(found: list[Quantity], above: int, one: Quantity, scale: int, text: str) -> bool:
    """Whether an amount is the rest of the one before it: `5 млн 744 тыс.`, 14亿1178万."""
    if not found or not 0 < scale < above or not 0 <= one.value < Decimal(f"1E{above}"):
        return False
    last = found[-1]
    between = text[last.at + len(last.text) : one.at]
    return not last.unit and not between.strip() and last.value.adjusted() < MEASURABLE


def _joined(high: Quantity, low: Quantity, text: str) -> Quantity:
    value = high.value - low.value if high.value < 0 else high.value + low.value
    return Quantity(value, low.unit, low.step, text[high.at : low.at + len(low.text)], high.at)


def _exponent(match: re.Match[str], text: str) -> int | None:
    """The power of ten of the scale word or letter, None if there is none."""
    if match["scale"]:
        return power_of(match["scale"])
    letter = match["letter"]
    if not letter:
        return None
    # `5m` and `5t` are metres and tonnes unless money or a unit stands beside; `5M`, `25k` are counts
    written = text[match.start("letter")]
    counts = match["before"] or match["unit"] or letter == "k" or written in "MB"
    return LETTER_SCALES[letter] if counts else None


def _quantity(match: re.Match[str], exponent: int, unit: str, text: str) -> Quantity:
    digits = _plain_number(match["number"], match["sep"], match["scale"] or "")
    decimals = len(digits.partition(".")[2])
    start = match.start("before") if match["before"] else match.start("number")
    sign = _sign(text, start)
    start -= len(sign)
    value = Decimal(f"{'-' if sign else ''}{digits}E{exponent}")
    return Quantity(value, unit, Decimal(f"1E{exponent - decimals}"), text[start : match.end()], start)


def _plain_number(written: str, separator: str | None, scale: str) -> str:
    """Digits with a decimal point: `1 234,5`, `1,234.5` and `1.234,5` are the same number."""
    groups = written.split(separator) if separator else []
    # one comma and three digits are thousands, but «0,234» and «1,234 млн» are decimals; one point is a decimal point
    russian = "\u0400" < scale[:1] < "\u0500"
    decimal = separator == "." or (separator == "," and (written.startswith("0") or russian))
    if len(groups) == 2 and decimal and groups[1].isdigit():  # `1.234,5` and `0,000.5` have a decimal mark of their own
        return written.replace(",", ".")
    if separator:
        whole = written.replace(separator, "")
        return whole.replace(",", ".")
    if written.count(",") > 1 or (written.count(",") == 1 and "." in written):
        return written.replace(",", "")
    return written.replace(",", ".")


def _sign(text: str, start: int) -> str:
    """The minus that stands directly before, as it is written, else ""; after a digit it is the dash of a range."""
    word = _SIGN_WORD.search(text[max(0, start - 8) : start])
    if word:
        return word.group()
    if start == 0 or text[start - 1] not in "-−–":
        return ""
    before = text[max(0, start - 200) : start - 1].rstrip()[-1:]
    opens = text[start - 2 : start - 1] if start > 1 else ""
    return text[start - 1] if not before.isdigit() and before not in ("%", "\0") and opens in _OPENS else ""


_OPENS = ("", " ", "(", "\u00a0", "|", ":", "…", "~")
