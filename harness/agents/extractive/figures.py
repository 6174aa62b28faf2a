"""Which fields are figures, and the words around an amount: units, currency codes, bounds, verbs that count."""

from __future__ import annotations

from functools import cache, lru_cache

from harness.agents.extractive.lexicon import percent_fields, stem_set
from harness.patterns import lazy
from harness.words import stems

# Codes of ISO 4217 that no English word or common abbreviation is written like (`ALL`, `TOP`, `TRY` are left out).
CURRENCIES = (
    "AED|AMD|ARS|AUD|AZN|BDT|BGN|BRL|BYN|CAD|CHF|CLP|CNY|COP|CZK|DKK|DZD|EGP|EUR|GBP|GEL|GHS|HKD|HUF|IDR|ILS|INR|ISK"
    "|JPY|KES|KGS|KRW|KZT|LKR|MDL|MNT|MXN|MYR|NGN|NOK|NZD|PHP|PKR|PLN|QAR|RMB|RON|RSD|RUB|RUR|SAR|SEK|SGD|THB|TJS|TND"
    "|TWD|UAH|USD|UZS|VND|XAF|XOF|ZAR|ZMW"
)
_CODE_BEFORE = lazy(rf"(?<![^\W_])(?:{CURRENCIES}|[₸₴₹₩₺₼₾₪₫₦฿])[ \u00a0]?$")
_LETTERS = r"(?![^\W_])"
_UNIT_AFTER = lazy(
    rf"[ \u00a0]?(?:(?:{CURRENCIES}){_LETTERS}|[₸₴₹₩₺₼₾₪₫₦฿″\"]|°[CFС]?|[^\W\d_]+/[^\W\d_]{{1,10}}"
    rf"|(?:[a-zµμ]{{1,2}}[A-Z][a-z]?|[A-Z][A-Za-z]?B|[KMGT]B|[kMGT]?Wh|[kMGT]?Hz|[kMGT]?W|MP|V|A|mAh|Wh|dB){_LETTERS}"
    rf"|(?:g|kg|mg|lb|lbs|oz|t|l|ml|cm|mm|in|ft|mi|mph|h|hr|hrs|min|sec|s|ms|d|pcs|px|dpi|rpm|hp|ppm){_LETTERS}"
    rf"|(?:grams?|kilograms?|tonnes?|tons?|pounds?|ounces?|inch(?:es)?|feet|lit(?:re|er)s?|hours?|minutes?|seconds?"
    rf"|days?|weeks?|months?|watts?|volts?|points?|pieces|units|z(?:ł|loty(?:ch|s)?)|tenge|hryvnias?|rupees?|yen|lira"
    rf"|francs?|kron[aeo]r?|births?|deaths?|stores|employees){_LETTERS}"
    rf"|(?:г|кг|мг|т|ц|л|мл|см|мм|ч|мин|сек|дн|дней|час(?:ов|а)?|минут[аы]?|месяц(?:ев|а)?|шт|ед|экз|тонн[аы]?|литр(?:ов|а)?"
    rf"|тенге|сум(?:ов)?|сомов|злот\w+|грив\w+|грн|иен\w?|рупи\w+|лир\w?|франк\w*|крон\w?|бел|вт|квт|мвт|гб|мб|тб|магазин\w*"
    rf"|сотрудник\w*)\.?{_LETTERS})",
    # `in` and `s` stand for inches and seconds only with nothing but a mark behind them
)
_WORDS_LIKE_UNITS = frozenset({"in", "s", "d", "t", "l", "h", "mi", "ft", "a", "v", "ч", "т", "г", "л"})
_AT_AN_END = lazy(r"\s*(?:[.,;:)!?]|$|and\b|и\b)")
_BOUND = lazy(
    r"(?:(?:(?:no|not)\s+)?(?:less|more|fewer|greater|higher|lower)\s+than|at\s+(?:least|most)|up\s+to|as\s+(?:much|many)\s+as"
    r"|about|around|approximately|nearly|almost|roughly|over|under|above|below|some"
    r"|около|примерно|почти|порядка|приблизительно|(?:не\s+)?(?:более|менее|больше|меньше)(?:\s+чем)?|свыше|约|近|[≈~<>≤≥+]"
    r")\s*$",
)  # fmt: skip
# words instead of a figure that say how much it is
_SAID_IN_WORDS = frozenset({"free", "free of charge", "zero", "бесплатно", "免费"})
_MOST_BEFORE = 24  # characters: the longest bound with its spaces


def unit_after(text: str, at: int) -> int:
    """Where the unit that touches an amount's end ends: `167 g`, `10.9 bn PLN`; `at` itself where there is none."""
    found = _UNIT_AFTER.match(text, at)
    if not found:
        return at
    word = found.group().strip().casefold()
    sure = word not in _WORDS_LIKE_UNITS or _AT_AN_END.match(text, found.end())
    return found.end() if sure else at


def lead_start(text: str, at: int) -> int:
    """Where an amount's own beginning is: a currency code and a bound before it belong to it (`less than EUR 5 bn`)."""
    code = _CODE_BEFORE.search(text, max(0, at - _MOST_BEFORE), at)
    start = code.start() if code else at
    bound = _bound(text, start)
    return bound if bound is not None else start


def _bound(text: str, at: int) -> int | None:
    first = max(0, at - _MOST_BEFORE)
    found = _BOUND.search(text[first:at].lower())
    if not found or (found.start() and text[first + found.start() - 1].isalnum()):
        return None
    return first + found.start()


@cache
def _figure_words() -> frozenset[str]:
    return (
        percent_fields()
        | stem_set(
            """population area gdp revenue revenues sales turnover profit income price cost budget debt salary wage
        employees headcount staff stores shops users customers weight height length width depth volume capacity speed
        battery number count amount total quantity age expectancy coastline distance temperature lockers branches
        население численность территория площадь ввп выручка оборот прибыль доход цена стоимость бюджет долг зарплата
        штат вес масса высота длина ширина глубина объем емкость мощность скорость аккумулятор число количество
        сумма возраст расстояние температура магазины сотрудники пользователи клиенты постаматы"""
        )
        | frozenset("率数量额价")
    )


@lru_cache(maxsize=4096)
def is_figure(name: str) -> bool:
    """Whether a field's values hold digits: its first or last word says an amount (`price`, «доля рынка»)."""
    said = stems(name.partition("(")[0])
    return bool(said) and bool({said[0], said[-1]} & _figure_words())


def says_figure(value: str) -> bool:
    """Whether a value can be one of a figure field: it has a digit, or a word like `free`."""
    return any(char.isnumeric() for char in value) or value.strip(" .").casefold() in _SAID_IN_WORDS


@cache
def counting() -> frozenset[str]:
    """Stems of verbs between an owner and how many it has; `opened`, `plans` are none of them."""
    return stem_set(
        """has have had operates operate operated runs run ran owns own owned counts counted employs employ employed
        manages managed totals насчитывает насчитывала насчитывал насчитывало имеет имела имел имело было
        работает работало работают управляет"""
    )


@cache
def by_the_way() -> frozenset[str]:
    """Stems between an owner, its verb and the amount that change nothing."""
    return stem_set(
        """now currently already today alone end start beginning
        конец конца концу начало начала сейчас уже сегодня теперь всего"""
    )


@cache
def measured() -> frozenset[str]:
    """Stems of remarks for how a figure was measured or counted."""
    return stem_set(
        """official exchange nominal constant current prices price adjusted gross net consolidated audited preliminary
        approx approximately method basis purchasing power parity consumer standard accounting year fiscal market
        ppp ifrs gaap ttm ltm un imf bank source est prelim мсфо рсбу ппс ндс росстат
        номинальный официальный курс постоянный текущий цены консолидированный аудированный предварительный
        скорректированный валовой чистый приблизительно паритет покупательный потребительский стандарт год"""
    )


@cache
def foreseen() -> frozenset[str]:
    """Stems of labels and remarks for what is not so yet, or not at all: a forecast is no figure."""
    return stem_set(
        """forecast forecasts forecasted expected target targets targeted plan planned plans goal guidance outlook
        прогноз прогнозный прогнозируется план планируемый плановый цель целевой ожидается ожидаемый ориентир
        scenario сценарий"""
    )
