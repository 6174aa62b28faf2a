"""The few words of English, Russian and Chinese that the extractive rules know, as literal tables."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from harness.words import HAN, content_stems, fold, stem, stems, words

# Phrases with one meaning; documents use one, questions another. Kept to what is the same by definition:
# `revenue` and `sales` are, `profit` and `revenue` are not. The order is the order in which queries try them.
SAME: tuple[tuple[str, ...], ...] = (
    ("population", "number of inhabitants", "население", "численность населения", "人口", "人口总数"),
    ("capital", "capital city", "столица", "首都"),
    ("area", "surface area", "территория", "площадь", "площадь территории", "面积", "国土面积"),
    ("gdp", "gross domestic product", "ввп", "валовой внутренний продукт", "国内生产总值"),
    ("ppp", "purchasing power parity", "ппс", "паритет покупательной способности", "购买力平价"),
    ("per capita", "per head", "per person", "на душу населения", "人均"),
    ("gini index", "gini coefficient", "gini index coefficient", "distribution of family income gini index",
     "gini index coefficient distribution of family income", "индекс джини", "коэффициент джини", "基尼系数"),
    ("life expectancy", "life expectancy at birth", "ожидаемая продолжительность жизни",
     "продолжительность жизни", "ожидаемая продолжительность жизни при рождении", "预期寿命"),
    ("chief of state", "head of state", "глава государства", "国家元首"),
    ("head of government", "глава правительства", "政府首脑"),
    ("government type", "form of government", "type of government", "форма правления", "政府类型"),
    ("highest point", "highest elevation", "высшая точка", "наивысшая точка", "самая высокая точка", "最高点"),
    ("lowest point", "lowest elevation", "низшая точка", "самая низкая точка", "最低点"),
    ("official language", "государственный язык", "официальный язык", "官方语言"),
    ("currency", "валюта", "货币"),
    ("unemployment rate", "unemployment", "уровень безработицы", "безработица", "失业率"),
    ("inflation rate", "inflation", "уровень инфляции", "инфляция", "通货膨胀率"),
    ("literacy", "literacy rate", "уровень грамотности", "грамотность", "识字率"),
    ("population growth rate", "population growth", "прирост населения", "темп прироста населения", "人口增长率"),
    ("birth rate", "birthrate", "рождаемость", "коэффициент рождаемости", "出生率"),
    ("death rate", "mortality rate", "смертность", "коэффициент смертности", "死亡率"),
    ("median age", "медианный возраст", "年龄中位数"),
    ("exports", "экспорт", "出口"),
    ("imports", "импорт", "进口"),
    ("coastline", "coastline length", "береговая линия", "длина береговой линии", "海岸线"),
    ("internet country code", "internet tld", "country code top-level domain", "интернет домен"),
    ("labor force", "labour force", "workforce", "рабочая сила", "劳动力"),
    ("labor", "labour"),
    ("defense", "defence"),
    ("revenue", "revenues", "sales", "turnover", "выручка", "оборот", "营业收入", "营收"),
    ("net profit", "net income", "чистая прибыль", "净利润"),
    ("profit", "прибыль", "利润"),
    ("market share", "share of the market", "доля рынка", "рыночная доля", "市场份额"),
    ("poverty rate", "population below poverty line", "уровень бедности", "доля населения за чертой бедности",
     "贫困率"),
    ("employees", "headcount", "number of employees", "staff", "численность сотрудников", "число сотрудников",
     "штат", "员工人数"),
    ("headquarters", "head office", "штаб-квартира", "головной офис", "总部"),
    ("founded", "founding year", "year of foundation", "established", "год основания", "основан", "основана", "成立"),
    ("founder", "founders", "основатель", "основатели", "创始人"),
    ("ceo", "chief executive", "chief executive officer", "генеральный директор", "гендиректор", "首席执行官"),
    ("stores", "shops", "outlets", "магазины", "число магазинов", "количество магазинов", "门店"),
    ("lockers", "parcel lockers", "parcel machines", "постаматы", "почтоматы", "количество постаматов",
     "число постаматов"),
    ("price", "cost", "цена", "стоимость", "价格"),
)  # fmt: skip

LATEST = {"en": "latest", "ru": "последние данные", "zh": "最新"}
# Pages that break a figure down (by sex, by region) call the whole so.
TOTAL = {"en": "total", "ru": "всего", "zh": "合计"}


def stem_set(text: str) -> frozenset[str]:
    """The stems of a list of words."""
    return frozenset(stem(word) for word in words(text))


@cache
def mild() -> frozenset[str]:
    """Stems that do not change what a label means when they are added or left out."""
    return stem_set(
        """total overall real estimated estimate estimates annual current latest number count size amount level
        value figure rate ratio coefficient average общий всего суммарный совокупный итого годовой текущий
        оценка число количество численность размер объем величина уровень показатель коэффициент темп средний"""
    )


@cache
def generic() -> frozenset[str]:
    """Stems of titles, paths and headings that say what kind of document it is, not what it is about."""
    return stem_set(
        """world factbook cia edition country countries profile report annual wikipedia encyclopedia overview
        facts figures data statistics md txt html htm pdf csv json docx index en ru
        note notes brief short dossier table company page article
        introduction review results summary мир факты отчет годовой профиль страна страны страна обзор данные
        статистика справочник книга издание компания википедия статья результаты итоги показатели справка досье
        финансовые"""
    )


@cache
def category() -> frozenset[str]:
    """Stems of headings that only group: what stands under them belongs to the document's subject."""
    return generic() | stem_set(
        """general key main basic
        rows items records entries list
        financials financial finance economy economic geography people society
        government demographics demography environment energy communications transportation military infobox
        information indicators общие общая основные ключевые финансы экономика география население общество
        правительство демография государство показатели сведения информация характеристика"""
    )


@cache
def field_words() -> frozenset[str]:
    """Stems of every phrase in the table of meanings."""
    return frozenset(found for row in SAME for phrase in row for found in stems(phrase))


@cache
def whole() -> frozenset[tuple[str, ...]]:
    """Labels (as stems) that stand for the whole of what the heading above them names."""
    labels = (
        "total", "overall", "all", "name", "text", "value", "both sexes", "combined", "total population", "sum",
        "в целом", "всего", "итого", "все население", "оба пола", "название", "значение", "общая", "общее",
        "合计", "总计", "名称", "总",
    )  # fmt: skip
    return frozenset(stems(label) for label in labels)


# Nouns that a count of the field stands with, beside the field's own: `Georgia has 4,900,961 inhabitants`.
COUNTED = {
    "population": ("inhabitants", "people", "жителей", "человек", "居民"),
    "employees": ("people", "employees", "staff", "человек", "сотрудников"),
}

NO_VALUE = frozenset(
    {"", "na", "n/a", "n.a.", "none given", "-", "–", "—", "…", "...", "?", "unknown", "no data", "not available"}
    | {"tbd", "нет данных", "н/д", "неизвестно", "нет сведений", "无", "未知", "暂无", "暂无数据"}
)


@cache
def links() -> frozenset[str]:
    """Stems of verbs that lead from a quantity's name to its amount."""
    return stem_set(
        """is was were are be been reached hit totalled totaled amounted stood came equals equalled equaled
        comprised made estimated reported составил составила составило составили составляет составляла составлял
        достиг достигла достигло достигли достигает равен равна равно равняется был была было были является
        насчитывает оценивается"""
    ) | frozenset("为是达")


@cache
def moves() -> frozenset[str]:
    """Stems of verbs after which the amount reached follows `to`, «до»."""
    return stem_set(
        """rose grew climbed increased fell dropped declined decreased shrank jumped surged slid вырос выросла
        выросло выросли увеличился увеличилась увеличилось увеличились снизился снизилась снизилось снизились
        упал упала упало упали сократился сократилась сократилось подскочил подскочила поднялся поднялась"""
    )


@cache
def reports() -> frozenset[str]:
    """Stems of verbs before the name of a quantity that belongs to the sentence's subject."""
    return stem_set(
        """reported had has have posted generated earned recorded saw with a an its their his her 's получил
        получила показал показала заработал заработала отчитался отчиталась имеет имел имела сообщил сообщила"""
    )


@cache
def owners() -> frozenset[str]:
    """Stems of nouns that stand for the document's subject."""
    return stem_set(
        """company country group service firm chain network business retailer state nation republic corporation компания
        компании страна страны группа группы сервис сервиса сеть сети фирма фирмы государство государства
        ритейлер ритейлера республика республики"""
    )


@cache
def approximate() -> frozenset[str]:
    """Stems between a verb and its amount."""
    return stem_set(
        """about around approximately put nearly almost some roughly estimated record at approx около примерно почти
        порядка приблизительно рекордные рекордных рекордный размере уровне сумму"""
    ) | frozenset("约近")


@cache
def uncertain() -> frozenset[str]:
    """Stems of negation, plans and forecasts: such a sentence states no figure."""
    return stem_set(
        """not never no expected expects expect forecast forecasts plans planned plan target targets could may
        might would will should if hopes hope hoped hoping seeks wants wishes anticipates intends promised denied denies
        rumoured rumored rumours rumors allegedly alleged likely possibly potential nor neither projected
        projection unlikely predicted goal aims aim не нет ожидается
        ожидает ожидают прогноз прогнозирует прогнозируется планирует планируется план цель мог может могла если
        бы вероятно надеется рассчитывает намерен намерена хочет собирается опроверг опровергла якобы слухам обещает
        ожидаемый целевой возможно будет будут без"""
    )


@cache
def telling() -> frozenset[str]:
    """Stems of verbs whose `that` opens a statement of fact."""
    return stem_set(
        """said says reported reports announced stated disclosed confirmed shows showed found noted
        сообщил сообщила сообщили сообщает объявил объявила подтвердил подтвердила указал указала отметил отметила
        следует показал показала показывает рассказал рассказала"""
    )


@cache
def supposing() -> frozenset[str]:
    """Stems that open a sentence about what need not be so."""
    return stem_set("suppose supposing imagine assume assuming if whether допустим предположим представим если пусть")


@cache
def percent_fields() -> frozenset[str]:
    """Stems of field names whose amounts are percentages."""
    return stem_set(
        """rate share growth margin percent percentage inflation unemployment literacy yield доля рост темп
        рентабельность процент уровень инфляция безработица прирост маржа ставка"""
    ) | frozenset("率")


@cache
def _concepts() -> tuple[tuple[tuple[str, ...], str], ...]:
    """Phrases as content stems with the name of their meaning, longest first."""
    known = {
        (content_stems(phrase) or stems(phrase)): f"={number}" for number, row in enumerate(SAME) for phrase in row
    }
    return tuple(sorted(known.items(), key=lambda pair: len(pair[0]), reverse=True))


@cache
def _by_first() -> dict[str, tuple[tuple[tuple[str, ...], str], ...]]:
    table: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {}
    for phrase, name in _concepts():
        table[phrase[0]] = (*table.get(phrase[0], ()), (phrase, name))
    return table


def meanings(said: tuple[str, ...]) -> tuple[str, ...]:
    """Content stems with every known phrase replaced by the name of its meaning: «ввп», `GDP` → `=3`."""
    found: list[str] = []
    at = 0
    while at < len(said):
        hit = next((pair for pair in _by_first().get(said[at], ()) if said[at : at + len(pair[0])] == pair[0]), None)
        found.append(hit[1] if hit else said[at])
        at += len(hit[0]) if hit else 1
    return tuple(found)


@cache
def vocabulary(name: str) -> frozenset[str]:
    """Stems of every phrase that means the field: no word of these is a part of somebody's name."""
    wanted = meanings(content_stems(name) or stems(name))
    rows = [row for number, row in enumerate(SAME) if f"={number}" in wanted]
    return frozenset(found for phrase in (name, *(p for row in rows for p in row)) for found in stems(phrase))


def is_known(name: str) -> bool:
    """Whether the table has a phrase for the whole of the name (remarks in brackets aside)."""
    said = meanings(content_stems(name.partition("(")[0]))
    return len(said) == 1 and said[0].startswith("=")


def usual_form(name: str) -> str:
    """The table's spelling of a phrase in another case: «выручку» → «выручка»; other names come back unchanged."""
    wanted = content_stems(name)
    found = next((phrase for row in SAME for phrase in row if content_stems(phrase) == wanted), name)
    return name if fold(found) == fold(name) else found


def wordings(name: str, language: str) -> tuple[str, ...]:
    """Other phrases for a field in the language, in the table's order; the name itself is not among them."""
    wanted = content_stems(name) or stems(name)
    rows: Iterable[tuple[str, ...]] = (
        row for row in SAME if any((content_stems(p) or stems(p)) == wanted for p in row)
    )
    return tuple(
        phrase for row in rows for phrase in row if _script(phrase) == language and content_stems(phrase) != wanted
    )


def _script(phrase: str) -> str:
    last = phrase[-1]
    if "а" <= last <= "я":
        return "ru"
    return "zh" if HAN[0] <= last <= HAN[-1] else "en"
