"""Amounts as English, Russian and Chinese texts write them (154,0 млрд ₽; $3.5 bn; 12 %; 5亿元), made comparable."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache
from typing import NamedTuple

from harness.patterns import lazy
from harness.periods import periods
from harness.words import content_stems, fold


class Quantity(NamedTuple):
    """One amount: `value` with its scale word applied, `unit` canonical ("" if none is known)."""

    value: Decimal
    unit: str
    step: Decimal  # what one more in the last written digit is worth: 1E+8 for `154,0 млрд`
    text: str
    at: int  # offset of `text`


# Above this many digits a number is no measurement: it is equal or not, never rounded.
_MEASURABLE = 40
_ONE_FORM = str.maketrans("０１２３４５６７８９．，％\u00a0\u202f\u2009\u2007", "0123456789.,%    ")

_SCALES = {
    "thousand": 3, "thsd": 3, "тыс": 3, "тысяч": 3, "千": 3, "万": 4, "million": 6, "mln": 6, "mn": 6, "млн": 6,
    "миллион": 6, "百万": 6, "千万": 7, "亿": 8, "billion": 9, "bln": 9, "bn": 9, "млрд": 9, "миллиард": 9,
    "trillion": 12, "trn": 12, "tn": 12, "трлн": 12, "триллион": 12, "万亿": 12,
}  # fmt: skip
_LETTER_SCALES = {"k": 3, "m": 6, "b": 9, "t": 12}
_UNITS = {
    "%": ("%", "percent", "per cent", "pct", "процент[а-я]*"),
    "‰": ("‰",),
    "pp": ("percentage points?", r"п\.\s?п\."),
    "$": (r"us\$", r"\$", "usd", "(?:us )?dollars?", r"долл(?:ар[а-я]*)?\.?(?:\sсша)?", "美元"),
    "₽": ("₽", r"руб(?:л[а-я]*)?\.?", "rub", "rubles?", "roubles?", "卢布"),
    "€": ("€", "eur", "euros?", "евро", "欧元"),
    "£": ("£", "gbp"),
    "zł": ("pln", "zł", "zloty(?:ch|s)?", "злот[а-я]*"),
    "₸": ("₸", "kzt", "tenge", "тенге"),
    "₴": ("₴", "uah", "hryvnias?", "грн", "грив[а-я]*"),
    "₹": ("₹", "inr", "rupees?", "рупи[а-я]*"),
    "chf": ("chf",),
    "jpy": ("jpy", "yen", "иен[а-я]?"),
    "czk": ("czk",),
    "sek": ("sek",),
    "nok": ("nok",),
    "dkk": ("dkk",),
    "huf": ("huf",),
    "byn": ("byn",),
    "uzs": ("uzs",),
    "krw": ("krw",),
    "¥": ("¥", "cny", "rmb", "yuan", "юан[а-я]*", "人民币", "元"),
    "km2": ("sq\\.?\\s?km", "km²", "km2", "square kilomet(?:er|re)s?", r"кв\.?\s?км", "км²", "平方公里"),
    "mi2": ("sq\\.?\\s?mi", "square miles?"),
    "m2": ("sq\\.?\\s?m", "m²", r"кв\.?\s?м", "м²", "平方米"),
    "km": ("km", "kilomet(?:er|re)s?", "км", "公里"),
    "m": ("m", "met(?:er|re)s?", "м", "метр[а-я]*", "米"),
    "mm": ("mm", "мм"),
    "ha": ("ha", "hectares?", "га"),
    "people": ("people", "persons?", "inhabitants", r"чел(?:овек[а-я]*)?\.?", "人"),
    "years": ("years?", "лет", "岁"),
}
# What may stand before an amount as well: `EUR 8.9 bn`, `₸5`.
_BEFORE = (
    r"us\$|[$€£¥₽₸₴₹]|(?<![^\W_])"
    r"(?:usd|eur|gbp|rub|cny|rmb|pln|kzt|uah|inr|chf|jpy|czk|sek|nok|dkk|huf|byn|uzs|krw)(?![^\W\d_])"
)
_NO_ORDINAL = r"(?!(?:st|nd|rd|th)\b|-?(?:[йяе]|ый|ой|ая|ое|го|му|ом)\b)"  # `8th tee … 5 m` is 5 m
_NO_LETTER = r"(?![^\W\d_])"  # `m` is not the start of `miles`; Chinese words need no gap
PHYSICAL = frozenset({"m", "km", "mm", "m2", "km2", "mi2", "ha"})
_INFLECTED = ("тысяч", "миллион", "миллиард", "триллион")
_SCALE_WORDS = sorted(_SCALES, key=len, reverse=True)


class _Reader(NamedTuple):
    number: re.Pattern[str]
    units: tuple[tuple[re.Pattern[str], str], ...]


@cache
def _reader() -> _Reader:
    """The patterns, compiled at the first use: it takes 9 ms, which commands that read no amount do without."""
    forms = sorted(((form, unit) for unit, known in _UNITS.items() for form in known), key=lambda pair: -len(pair[0]))
    unit = "|".join(form if _is_han(form) else form + _NO_LETTER for form, _ in forms)
    scale = "|".join(_scale_form(word) for word in _SCALE_WORDS)
    number = re.compile(
        rf"(?:(?P<before>{_BEFORE}) ?|(?<![.,])(?<![^\W\u4e00-\u9fff]))"
        r"(?P<number>[0-9]{1,3}(?P<sep>[ '’.,])[0-9]{3}(?:(?P=sep)[0-9]{3})*(?![0-9])(?:[.,][0-9]+)?"
        r"|[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]+)?(?![0-9])"
        rf"|[0-9]+(?:[.,][0-9]+)?(?![0-9])){_NO_ORDINAL}"
        rf"(?: ?(?P<scale>{scale})|(?P<letter>[kmbt]){_NO_LETTER})?"
        rf"(?: ?(?P<unit>{unit}))?"
    )
    return _Reader(number, tuple((re.compile(form), name) for form, name in forms))


def _is_han(word: str) -> bool:
    return word >= "\u4e00"


def _scale_form(word: str) -> str:
    if word in _INFLECTED:
        return rf"{word}[а-я]*{_NO_LETTER}"
    return word if _is_han(word) else rf"{word}\.?{_NO_LETTER}"


_BETWEEN = lazy(r"\s*[-–—]\s*|\s+(?:to|до)\s+")
_BY = lazy(r"(?<!\w)(?:by|на)\s+$")
_CITATION = lazy(r"\[\d+\.\d+(?:\s*[,;]\s*\d+\.\d+)*\]")


def quantities(text: str) -> tuple[Quantity, ...]:
    """Every amount in order; a period gives its years with the unit `year`; citations `[N.k]` give nothing."""
    plain = _CITATION.sub(lambda match: " " * len(match.group()), text.translate(_ONE_FORM))
    found: list[Quantity] = []
    for period in periods(plain):
        for year in sorted({period.start[0], period.end[0]}):
            found.append(Quantity(Decimal(year), "year", Decimal(1), period.text, period.at))
        plain = plain[: period.at] + "\0" * len(period.text) + plain[period.at + len(period.text) :]
    found += _amounts(plain)
    return tuple(sorted(found, key=lambda quantity: quantity.at))


def _amounts(text: str) -> list[Quantity]:
    lowered = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    read: list[tuple[re.Match[str], int | None, str]] = []
    for match in _reader().number.finditer(lowered):
        read.append((match, _exponent(match, text), _unit(match["before"] or match["unit"] or "")))
    for first in range(len(read) - 1):
        (low, scale, low_unit), (high, high_scale, high_unit) = read[first], read[first + 1]
        by = _BY.search(lowered, max(0, low.start() - 8), low.start())  # grew by 20 % to 500: no range
        if not by and _BETWEEN.fullmatch(lowered, low.end(), high.start()):  # 10–12 млрд ₽: both ends in milliards
            read[first] = (low, high_scale if scale is None else scale, low_unit or high_unit)
            read[first + 1] = (high, high_scale, high_unit or low_unit)
    return [_quantity(match, scale or 0, unit, text) for match, scale, unit in read]


def _exponent(match: re.Match[str], text: str) -> int | None:
    """The power of ten of the scale word or letter, None if there is none."""
    if match["scale"]:
        return next(_SCALES[word] for word in _SCALE_WORDS if match["scale"].startswith(word))
    letter = match["letter"]
    if not letter:
        return None
    # `5m` and `5t` are metres and tonnes unless money stands before; `5M`, `25k` are counts
    written = text[match.start("letter")]
    return _LETTER_SCALES[letter] if match["before"] or letter == "k" or written in "MB" else None


def _unit(written: str) -> str:
    return next((unit for form, unit in _reader().units if form.fullmatch(written)), "")


def _quantity(match: re.Match[str], exponent: int, unit: str, text: str) -> Quantity:
    digits = _plain_number(match["number"], match["sep"], match["scale"] or "")
    decimals = len(digits.partition(".")[2])
    start = match.start("before") if match["before"] else match.start("number")
    sign = "-" if _negative(text, start) else ""
    start -= len(sign)
    value = Decimal(f"{sign}{digits}E{exponent}")
    return Quantity(value, unit, Decimal(f"1E{exponent - decimals}"), text[start : match.end()], start)


def _plain_number(written: str, separator: str | None, scale: str) -> str:
    """Digits with a decimal point: `1 234,5`, `1,234.5` and `1.234,5` are the same number."""
    groups = written.split(separator) if separator else []
    # one comma and three digits are thousands, but «0,234» and «1,234 млн» are decimals; one point is a decimal point
    decimal = separator == "." or (separator == "," and (written.startswith("0") or scale[:1] > "\u0400"))
    if len(groups) == 2 and decimal:
        return written.replace(",", ".")
    if separator:
        whole = written.replace(separator, "")
        return whole.replace(",", ".")
    if written.count(",") > 1 or (written.count(",") == 1 and "." in written):
        return written.replace(",", "")
    return written.replace(",", ".")


def _negative(text: str, start: int) -> bool:
    """Whether a minus stands directly before; after a digit it is the dash of a range."""
    if start == 0 or text[start - 1] not in "-−–":
        return False
    before = text[: start - 1].rstrip()[-1:] if start < 200 else text[start - 200 : start - 1].rstrip()[-1:]
    return (
        not before.isdigit()
        and before not in ("%", "\0")
        and text[start - 2 : start - 1] in ("", " ", "(", "\u00a0", "|", ":")
    )


_PARENTHESES = lazy(r"\([^()]*\)|（[^（）]*）")
_LABEL = lazy(r"^[^\d:：]{1,40}[:：]\s+")
_QUALIFIER = lazy(
    r"^(?:(?:≈|~|>|<|≥|≤|about|around|approximately|approx\.?|some|nearly|almost|over|under|more than|less than"
    r"|at least|at most|up to|above|below|около|примерно|почти|более|менее|свыше|до|порядка|约|大约|超过)\s*)+",
    re.IGNORECASE,
)
_AMOUNT_FIRST = lazy(rf"[-−–+]?\s?(?:{_BEFORE})?\s?\d", re.IGNORECASE)


def amount(text: str) -> Quantity | None:
    """The amount a value begins with (a label, `about`, `≈` aside); None if the value is words."""
    # a table's unit stands behind its figure in brackets: `154,0 (млрд ₽)`
    united = re.sub(r"(?<=\d)\s\(([^()\d]{1,20})\)$", r" \1", text.strip())
    bare = _LABEL.sub("", _PARENTHESES.sub(" ", united).strip()).strip()
    bare = _QUALIFIER.sub("", bare)
    if not _AMOUNT_FIRST.match(bare):
        return None
    return next(iter(quantities(bare)), None)


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


def same_value(a: str, b: str) -> bool:
    """Whether two values agree: amounts as far as the coarser one is written (17.1 m, 17,098,242), words by stems."""
    first, second = amount(a), amount(b)
    if first is not None and second is not None:
        return same_amount(first, second)
    if first is None and second is None and _same_words(a, b):
        return True
    first, second = measure(a), measure(b)
    return first is not None and second is not None and same_amount(first, second)


def is_rounded(a: str, b: str) -> bool:
    """Whether two values begin with amounts that are not equal to the last digit, as the same value may be written."""
    first, second = amount(a), amount(b)
    return first is not None and second is not None and first.value != second.value


def same_amount(a: Quantity, b: Quantity) -> bool:
    """Whether two amounts agree as far as the coarser one is written; different known units never agree."""
    if a.unit and b.unit and a.unit != b.unit:
        return False
    if a.value == b.value:
        return True
    if max(a.value.adjusted(), b.value.adjusted()) > _MEASURABLE:
        return False
    coarse = max(a, b, key=lambda quantity: quantity.step)
    # one digit says too little: 2 bn and 2.4 bn are worth showing side by side
    written = coarse.value.adjusted() - coarse.step.adjusted() + 1
    return a.step != b.step and written >= 2 and abs(a.value - b.value) * 2 <= coarse.step


def _same_words(a: str, b: str) -> bool:
    """Whether one value's words are among the other's, remarks in brackets aside."""
    if fold(a).split() == fold(b).split():
        return True
    first, second = (frozenset(content_stems(_PARENTHESES.sub(" ", value)) or content_stems(value)) for value in (a, b))
    return bool(first and second) and (first <= second or second <= first)
