"""Units and scale words as English, Russian and Chinese texts write them, and the pattern of an amount made of them."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

SCALES = {
    "thousand": 3, "thsd": 3, "тыс": 3, "тысяч": 3, "千": 3, "万": 4, "lakh": 5, "million": 6, "mln": 6, "mn": 6,
    "млн": 6, "миллион": 6, "百万": 6, "千万": 7, "crore": 7, "亿": 8, "billion": 9, "bln": 9, "bn": 9, "млрд": 9,
    "миллиард": 9, "trillion": 12, "trn": 12, "tn": 12, "трлн": 12, "триллион": 12, "万亿": 12,
}  # fmt: skip
LETTER_SCALES = {"k": 3, "m": 6, "b": 9, "t": 12}
UNITS = {
    "%": ("%", "percent", "per cent", "pct", "процент[а-я]*", "百分之"),
    "‰": ("‰",),
    "bp": ("bps?", "basis points?", r"б\.\s?п\.", "базисн[а-я]* пункт[а-я]*", "个?基点", "基点"),
    "pp": (
        "percentage points?",
        "pp",
        r"p\.\s?p\.",
        r"п\.\s?п\.",
        "пп",
        "процентн[а-я]* пункт[а-я]*",
        "个?百分点",
        "百分点",
    ),
    "$": (r"us\$", r"\$", "usd", "(?:us )?dollars?", r"долл(?:ар[а-я]*)?\.?(?:\sсша)?", "美元"),
    "cad": (r"ca?\$", "cad", "canadian dollars?", r"канадск[а-я]* долл(?:ар[а-я]*)?\.?", "加元"),
    "aud": (r"au?\$", "aud", "australian dollars?", r"австралийск[а-я]* долл(?:ар[а-я]*)?\.?", "澳元"),
    "hkd": (r"hk\$", "hkd", "hong kong dollars?", r"гонконгск[а-я]* долл(?:ар[а-я]*)?\.?", "港元"),
    "sgd": (r"s\$", "sgd", "singapore dollars?"),
    "₽": ("₽", r"руб(?:л[а-я]*)?\.?", "rub", "rubles?", "roubles?", "卢布"),
    "€": ("€", "eur", "euros?", "евро", "欧元"),
    "£": ("£", "gbp", "pounds? sterling", "фунт[а-я]* стерлингов", "英镑"),
    "zł": ("pln", "zł", "zloty(?:ch|s)?", "злот[а-я]*"),
    "₸": ("₸", "kzt", "tenge", "тенге", "坚戈"),
    "₴": ("₴", "uah", "hryvnias?", "грн", "грив[а-я]*"),
    "₹": ("₹", "inr", "rupees?", "рупи[а-я]*", "卢比"),
    "chf": ("chf", "swiss francs?", "швейцарск[а-я]* франк[а-я]*", "瑞士法郎"),
    "xaf": ("xaf", "fcfa", "cfa francs?", "франк[а-я]* кфа"),
    "franc": ("francs?", "франк[а-я]*"),
    "jpy": ("jpy", "yen", "иен[а-я]?", "日元"),
    "czk": ("czk", "czech (?:koruna|crown)s?", "чешск[а-я]* крон[а-я]*"),
    "sek": ("sek",),
    "nok": ("nok",),
    "dkk": ("dkk",),
    "huf": ("huf",),
    "byn": ("byn",),
    "uzs": ("uzs", "сум(?:а|ов)?"),
    "kgs": ("kgs", "soms?", "сом(?:а|ов)?"),
    "tjs": ("tjs", "somoni", "сомони"),
    "gel": ("gel", "lari", "лари"),
    "amd": ("amd", "drams?", "драм(?:а|ов)?"),
    "manat": ("azn", "tmt", "manats?", "манат[а-я]*"),
    "krw": ("krw", "korean won", "韩元"),
    "¥": ("¥", "cny", "rmb", "yuan", "юан[а-я]*", "人民币", "元"),
    "km2": ("sq\\.?\\s?km", "km²", "km2", "square kilomet(?:er|re)s?", r"кв\.?\s?км", "км[²2]", "平方公里"),
    "ft2": (r"sq\.?\s?ft", "square f(?:ee|oo)t", r"кв\.?\s?фут[а-я]*", "平方英尺"),
    "mi2": ("sq\\.?\\s?mi", "square miles?"),
    "m2": ("sq\\.?\\s?m", "m²", r"кв\.?\s?м", "м[²2]", "平方米"),
    "km": ("km", "kilomet(?:er|re)s?", "км", "公里"),
    "m": ("m", "met(?:er|re)s?", "м", "метр[а-я]*", "米"),
    "mm": ("mm", "millimet(?:er|re)s?", "мм", "миллиметр[а-я]*", "毫米"),
    "cm": ("cm", "centimet(?:er|re)s?", "см", "сантиметр[а-я]*", "厘米"),
    "ft": ("ft", "feet", "фут[а-я]*", "英尺"),
    "mi": ("mi", "miles?", "мил[ьия]", "миль", "英里"),
    "ha": ("ha", "hectares?", "га", "公顷"),
    "t": ("tonnes?", "(?:metric )?tons?", "тонн[а-я]?", "т", "吨"),
    "mt": ("mt",),
    "kcal": ("kcal", "ккал", "千卡"),
    "kg": ("kg", "кг", "公斤"),
    "kw": ("kw", "квт"),
    "mw": ("mw", "мвт"),
    "gw": ("gw", "гвт"),
    "kwh": ("kwh", r"квт[·⋅*]?\s?ч"),
    "mwh": ("mwh", r"мвт[·⋅*]?\s?ч"),
    "gwh": ("gwh", r"гвт[·⋅*]?\s?ч"),
    "twh": ("twh", r"твт[·⋅*]?\s?ч"),
    "°c": (r"°\s?[cс]", "℃", "(?:degrees? )?celsius", "градус[а-я]* цельсия", "摄氏度"),
    "°f": (r"°\s?f", "℉", "(?:degrees? )?fahrenheit", "градус[а-я]* фаренгейта", "华氏度"),
    "people": ("people", "persons?", "inhabitants", r"чел(?:овек[а-я]*)?\.?", "人"),
    "times": ("times", r"[x×](?!\s?\d)", "раза?", "倍"),
    "minutes": ("min", "minutes?", "минут[а-я]?", "мин", "分钟"),
    "hours": ("hours?", "час(?:а|ов)?", "小时"),
    "days": ("days?", "день", "дн(?:я|ей)", "天"),
    "months": ("months?", "месяц[а-я]*", r"мес\.?", "个月"),
    "years": ("years?", "лет", "года?", "岁"),
}
# Units of one dimension, as a power of ten of another: an amount in km is one in m. Feet and dollars are converted by
# no power of ten, so what they stand for is not comparable.
METRIC = {
    "km": ("m", 3), "cm": ("m", -2), "mm": ("m", -3), "km2": ("m2", 6), "ha": ("m2", 4), "mt": ("t", 6),
    "kg": ("t", -3), "kw": ("mw", -3), "gw": ("mw", 3), "kwh": ("mwh", -3), "gwh": ("mwh", 3), "twh": ("mwh", 6),
    "bp": ("pp", -2),
}  # fmt: skip
PHYSICAL = frozenset({"m", "km", "mm", "m2", "km2", "mi2", "ha"})
# What may stand before an amount as well: `EUR 8.9 bn`, `₸5`, 百分之5.
BEFORE = (
    r"us\$|(?<![^\W_])(?:ca?|au?|hk|s)\$|[$€£¥₽₸₴₹]|百分之|(?<![^\W_])"
    r"(?:usd|eur|gbp|rub|cny|rmb|pln|kzt|uah|inr|chf|jpy|czk|sek|nok|dkk|huf|byn|uzs|krw|cad|aud|hkd|sgd|kgs|tjs|xaf)"
    r"(?![^\W\d_])"
)
_NO_ORDINAL = r"(?!(?:st|nd|rd|th)\b|-?(?:[йяе]|ый|ой|ая|ое|го|му|ом)\b)"  # `8th tee … 5 m` is 5 m
_NO_LETTER = r"(?![^\W\d_])"  # `m` is not the start of `miles`; Chinese words need no gap
# What a scale letter that stands apart is known by, where no money stands before: `17.1 m sq km`, `5 M ₽`, `25 k`.
_APART = (
    rf"k{_NO_LETTER}|[mb] (?:sq\b|km[²2]|people|persons|inhabitants|barrels|tonnes|tons|usd|eur|rub|руб|dollars|euros"
    r"|[%$€£¥₽₸])"
)
_INFLECTED = ("тысяч", "миллион", "миллиард", "триллион")
_SCALE_WORDS = sorted(SCALES, key=len, reverse=True)


class Reader(NamedTuple):
    """The compiled pattern of an amount (groups: before, number, sep, scale, letter, unit), and that of a unit."""

    number: re.Pattern[str]
    unit: re.Pattern[str]
    names: tuple[str, ...]  # the unit that each group of `unit` stands for


@cache
def reader() -> Reader:
    """The patterns, compiled at the first use: it takes some 20 ms, which commands that read no amount do without."""
    forms = sorted(((form, unit) for unit, known in UNITS.items() for form in known), key=lambda pair: -len(pair[0]))
    whole = [form if _is_han(form) else form + _NO_LETTER for form, _ in forms]
    scale = "|".join(_scale_form(word) for word in _SCALE_WORDS)
    number = re.compile(
        rf"(?:(?P<before>{BEFORE}) ?|(?<![.,])(?<![^\W\u4e00-\u9fff]))"
        r"(?P<number>[0-9]{1,3}(?P<sep>[ '’.,])[0-9]{3}(?:(?P=sep)[0-9]{3})*(?![0-9])(?:[.,][0-9]+)?"
        r"|[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]+)?(?![0-9])"
        rf"|[0-9]+(?:[.,][0-9]+)?(?![0-9])|\.[0-9]+){_NO_ORDINAL}"
        rf"(?: ?(?P<scale>{scale})|(?(before) ?|(?: (?={_APART}))?)(?P<letter>[kmbt]){_NO_LETTER})?"
        rf"(?: ?(?P<unit>{'|'.join(whole)}))?"
    )
    return Reader(number, re.compile("|".join(f"({form})" for form in whole)), tuple(unit for _, unit in forms))


@lru_cache(maxsize=1024)
def unit_of(written: str) -> str:
    """The canonical unit of one of its written forms (lower case), "" if it is none."""
    return _named(reader().unit.fullmatch(written))


def first_unit(text: str) -> str:
    """The canonical unit that a text in lower case begins with, "" if it begins with none."""
    return _named(reader().unit.match(text))


def units_in(text: str) -> frozenset[str]:
    """The canonical units that a text in lower case writes anywhere as words or signs of their own."""
    found = (match for match in reader().unit.finditer(text) if not text[match.start() - 1 : match.start()].isalpha())
    return frozenset(filter(None, map(_named, found)))


def _named(match: re.Match[str] | None) -> str:
    return reader().names[match.lastindex - 1] if match and match.lastindex else ""


def power_of(scale: str) -> int:
    """The power of ten that a scale word stands for, its case ending aside."""
    return next(SCALES[word] for word in _SCALE_WORDS if scale.startswith(word))


def _is_han(word: str) -> bool:
    return word >= "\u4e00"


def _scale_form(word: str) -> str:
    if word in _INFLECTED:
        return rf"{word}[а-я]*{_NO_LETTER}"
    return word if _is_han(word) else rf"{word}\.?{_NO_LETTER}"
