"""Words as the harness compares them: folded, stemmed, without function words, in English, Russian and Chinese."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from threading import Lock

from harness.patterns import lazy

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
LONGEST_WORD = 64  # a longer run of letters is no word of a language (base64, a row of 'a'): left as it is
PREFIX = 3  # both stemmers change only the end of a word: words with one stem share their first letters

_TOKEN = lazy(
    rf"[{HAN}]"
    r"|[0-9]+(?:[.,][0-9]+)*(?![^\W_])"  # 2024, 154,0 and 1,234,567 are one token each
    rf"|(?:(?![{HAN}])[^\W_])+(?:['’](?:(?![{HAN}])[^\W_])+)*"
)
# Snowball takes the end of some nouns for an ending, but only where no case ending stands behind it: узбекиста of
# «Узбекистан», узбекистан of «Узбекистане»; магн of «Магнит», магнит of «Магнита»; кита of «Китай», кит of «Китая».
CASE_ENDING = lazy(
    r"(?<=[^\W\d_]{2}(?:[аяе]н|ит|[аяе]м|[оеё]в|ат))(?:ами|ам|ах|ов|ом|ой|а|у|е|ы|и)\b"
    r"|(?<=кита|угва|агва|анха|алта|дуба)(?:й|я|ю|е|ем)\b",
    re.IGNORECASE,
)
_HAN = lazy(rf"[{HAN}]")
_CYRILLIC = lazy(r"[\u0400-\u04ff]")
_SMALL_CYRILLIC = lazy(r"\b[а-яё]{3}")
_LATIN = lazy(r"[A-Za-z\u00c0-\u024f]")


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_EN = _word_set(
    """a about above after again all also am an and any are as at be been being below between both but by can could did
    do does doing down during each either every few for from further give had has have having he her here hers him his
    how i if in into is it its itself just many may me might more most much must my no nor not of off on once only or
    other our out over own per please same shall she should so some such tell than that the their them then there these
    they this those through to too under until up upon us very was we were what when where which while who whom whose
    why will with would year years you your"""
)
STOP_RU = _word_set(
    """а без более бы был была были было быть в вам вас весь во вот все всего всех вы г где гг год года годам годах
    годов годом году годы да даже для до его ее если есть еще же за здесь и из или им их к как какая какие каким каких
    какова каков каково каковы какое какой какую ко когда которая которого которое которой которые который которых кто
    куда ли либо между мне много мой мы на над надо не него нее нет ни них но ну о об обо однако он она они оно от по
    под после при про с свой своя себе себя сколько со так также такая такие такое такой там тем то того тоже той
    только том ты у уже чего чем что чтобы эта эти это этого этой этом этот я"""
)
STOP_ZH = frozenset("的了和与及是在有吗呢哪些什么多少之其这那个各每与或并而为以于从对把被将")
STOP_WORDS = STOP_EN | STOP_RU | STOP_ZH

# Words after which a full stop does not end a sentence.
_ABBREVIATIONS = _word_set(
    """mr mrs ms dr prof st jr sr vs etc eg ie approx ca est no fig vol art inc ltd co corp dept gov gen sen rep rev
    jan feb mar apr jun jul aug sep sept oct nov dec u.s u.k e.g i.e a.m p.m
    г гг в вв н э т тт д п пп ст стр рис табл руб коп тыс млн млрд трлн ул пр им проф акад др пр см ср напр гл обл р
    оз кв янв фев мар апр авг сен сент окт ноя нояб дек"""
)
_SENTENCE_END = lazy(r"(?<![.!?…])[.!?…]++[\"'»”’)\]]*+(?=\s)|[。！？]++[”’」』）]*+")
_LAST_WORD = lazy(r"([\w.]+)$")
_OWN_LINE = lazy(r"\s*(?:[-*+•]\s|\d+[.)]\s|#{1,6}\s|\||>|```)")


def fold(text: str) -> str:
    """Case-folded, ё as е, Latin letters without accents (й stays й): `Côte d’Ivoire` is `cote d'ivoire`."""
    folded = text.casefold().replace("ё", "е").replace("’", "'")
    if folded.isascii():
        return folded
    return folded.translate(_PLAIN)


class _Plain(dict[int, str]):
    """What each character becomes, worked out when it is first met: whole texts are folded, character by character."""

    def __missing__(self, code: int) -> str:
        self[code] = found = _plain(chr(code))
        return found


_PLAIN = _Plain()


def _plain(char: str) -> str:
    if char < "\u00c0" or _CYRILLIC.match(char) or _HAN.match(char):
        return char
    parts = unicodedata.normalize("NFKD", char).casefold()  # ℠ is `SM` before
    return "".join(part for part in parts if not unicodedata.combining(part))


def words(text: str) -> tuple[str, ...]:
    """Folded words in order, not stemmed; a Han character is a word of its own."""
    folded = fold(text)
    found = _TOKEN.findall(folded)
    return tuple(found) if "," not in folded else tuple(token.replace(",", ".") for token in found)  # 154,0 is 154.0


def stems(text: str) -> tuple[str, ...]:
    """Stems in order, stop words and numbers included: `Выручку Самоката за 2024` → выручк самокат за 2024."""
    return tuple(stem(word) for word in words(text))


def content_stems(text: str) -> tuple[str, ...]:
    """Stems in order without the function words of the three languages."""
    return tuple(stem(word) for word in words(text) if word not in STOP_WORDS)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of one folded word; numbers, Han characters and overlong words come back unchanged."""
    if word[0].isdigit() or len(word) > LONGEST_WORD or _HAN.match(word):
        return word
    if _CYRILLIC.match(word):
        language = "russian"
    elif _LATIN.match(word):
        language = "english"
    else:
        return word
    with _STEMMING:
        return _stemmer(language)(CASE_ENDING.sub("", word))


_STEMMING = Lock()  # a stemmer keeps the word it works on in itself, and searches run side by side


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    from snowballstemmer import stemmer  # late: most commands never need it

    stem_word: Callable[[str], str] = stemmer(language).stemWord
    return stem_word


@lru_cache(maxsize=16_384)
def bag(text: str) -> frozenset[str]:
    """The content stems of a text as a set: word order, case endings and function words aside."""
    return frozenset(content_stems(text) or stems(text))


def same_words(a: str, b: str) -> bool:
    """Whether two texts say the same words."""
    return bag(a) == bag(b)


def may_cover(wanted: tuple[str, ...], found: frozenset[str]) -> bool:
    """A cheap test before stemming: each wanted word shares its first letters with one of `found` (see `heads`)."""
    return all(word[:PREFIX] in found for word in wanted)


def heads(text_words: tuple[str, ...]) -> frozenset[str]:
    """The first letters of each word, for `may_cover`."""
    return frozenset(word[:PREFIX] for word in text_words)


def language_of(text: str) -> str:
    """`en`, `ru` or `zh` by script; names in another script do not count where function words tell more."""
    han, cyrillic, latin = (len(script.findall(text)) for script in (_HAN, _CYRILLIC, _LATIN))
    if han and 3 * han >= cyrillic + latin:  # a Han character says as much as some three letters
        return "zh"
    if not cyrillic:
        return "en"
    russian, english = _function_words(text, STOP_RU), _function_words(text, STOP_EN)
    if russian != english:
        return "ru" if russian > english else "en"
    # a Cyrillic word without a capital is no name: «выручка Samokat» is Russian, `Самокат revenue` is not
    return "ru" if not latin or _SMALL_CYRILLIC.search(text) else "en"


def _function_words(text: str, stop: frozenset[str]) -> int:
    return sum(word in stop for word in words(text))


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, stripped. List items, headings and table rows stand alone."""
    return [sentence for block in _blocks(text) for sentence in _split_block(block)]


def _blocks(text: str) -> list[str]:
    """Runs of lines that may hold one sentence: cut at blank lines and at lines that stand alone."""
    blocks: list[list[str]] = []
    joinable = False
    for line in text.splitlines():
        stripped = line.strip()
        if stripped and joinable and not _OWN_LINE.match(line):
            blocks[-1] += ["" if _HAN.match(blocks[-1][-1][-1:]) else " ", stripped]
        elif stripped:
            blocks.append([stripped])
        joinable = bool(stripped) and not stripped.startswith(("#", "|"))
    return ["".join(parts) for parts in blocks]


def _split_block(block: str) -> list[str]:
    found: list[str] = []
    start = 0
    for end in _SENTENCE_END.finditer(block):
        if end.group().startswith(".") and _goes_on(block, end):
            continue
        found.append(block[start : end.end()].strip())
        start = end.end()
    found.append(block[start:].strip())
    return [sentence for sentence in found if sentence]


def _goes_on(block: str, end: re.Match[str]) -> bool:
    """Whether the full stop belongs to an abbreviation, an initial or a list number, not to a sentence's end."""
    following = block[end.end() : end.end() + 20].lstrip()[:1]
    if following.islower():
        return True
    before = _LAST_WORD.search(block, max(0, end.start() - LONGEST_WORD), end.start())
    if before is None or len(end.group()) > 1:
        return False
    word = before.group(1).casefold()
    return word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha() and before.group(1).isupper())
