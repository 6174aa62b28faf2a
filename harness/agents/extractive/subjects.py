"""Which entity a text is about: names as whole names, so that `Guinea` is not `Equatorial Guinea`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from urllib.parse import unquote

from harness.agents.extractive.lexicon import category, field_words, generic, mild, owners, stem_set
from harness.agents.extractive.named import LONGEST_LABEL, Token, names_of, tokens
from harness.model import Source
from harness.patterns import lazy
from harness.periods import periods
from harness.words import STOP_WORDS, content_stems, stem, stems, words

_SEGMENT = lazy(r"\s+[-–—|·:]\s+|\s*[|:：()（）«»\"“”]\s*|\s[-–—]{1,2}\s")
_PATH_PARTS = lazy(r"[/\\?#]")
_REMARK = lazy(r"[^():：]+(?:[(（](?P<inside>[^()（）]*)[)）]|[:：]\s+(?P<behind>[^():：]+))")
_CYRILLIC = lazy("[а-яё]", re.IGNORECASE)
_NOUN = lazy(
    r"[a-z](?:ships?|ments?|ness|mance|nance|ings|[ts]ions?|tics|ity|ities)$"
    r"|[а-я](?:ство|ства|[еа]ние|ения|ость|ости|ация|ации|тели|зиты)$"
)
_NUMBERED = lazy(r"([^\W\d_]+) (\d+\w*)(?![.,\d%])")
_ENDS_IN_IA = lazy(r"(?<=[а-я]{3})и(?:я|и|ю|ей)$")
_ENDINGS_OF_HE = frozenset({"", "а", "у", "е", "ом"})
_PRONOUNS = frozenset({"it", "its", "they", "their", "he", "she", "his", "her"}) | {
    "он", "она", "оно", "они", "его", "ее", "их",
}  # fmt: skip
_GOES_ON = lazy(r" ((?:[^\W\d_a-zа-яё]|\d{1,2}(?!\d))\w*)")
MOST_WORDS_IN_NAME = 4


@lru_cache(maxsize=65_536)
def is_name(label: str, entity: str) -> bool:
    """Whether a label is the entity's name and nothing else but generic words: `Samokat: annual report 2024`."""
    wanted = frozenset(content_stems(entity) or stems(entity))
    pieces = (label, *_SEGMENT.split(label[:LONGEST_LABEL]))
    if _core(label, wanted) != wanted and _narrows(label, entity):
        return False
    return any(_core(piece, wanted) == wanted and not _unlike(words(piece), words(entity)) for piece in pieces)


def _narrows(label: str, entity: str) -> bool:
    """Whether a remark makes the label another name: `Georgia (U.S. state)`, `Guinea: Equatorial`.

    A ticker or the same name in another script does not, nor do words that only describe.
    """
    found = _REMARK.fullmatch(label.strip())
    if not found:
        return False
    remark = found["inside"] or found["behind"]
    said = re.findall(r"[^\W_]+", remark)
    if found["inside"] and said:
        usual = generic() | category() | owners() | field_words() | sections()
        named = [word for word in said if word[0].isupper() and not _same_by_letters(word, entity)]
        return any(stem(words(word)[0]) not in usual for word in named if words(word))
    return _is_proper(remark, frozenset()) and len(said) <= 2 and not _same_by_letters(remark, entity)


def is_cyrillic(text: str) -> bool:
    return bool(_CYRILLIC.search(text))


def _same_by_letters(word: str, name: str) -> bool:
    """Whether a word may be the name once more: its initials or ticker, or in another script."""
    if is_cyrillic(word) != is_cyrillic(name):
        return True
    letters = iter(name.casefold())
    return len(word) > 1 and all(letter in letters for letter in word.casefold())


def _unlike(said: tuple[str, ...], name: tuple[str, ...]) -> bool:
    """Whether two words share a stem but not a name: «Нигерия» and «Нигер»."""
    pairs = [(a, b) for a in said for b in name if a != b and stem(a) == stem(b)]
    return any(_is_other_noun(a, b) or _is_other_noun(b, a) for a, b in pairs)


def _is_other_noun(longer: str, shorter: str) -> bool:
    base = _ENDS_IN_IA.sub("", longer)
    return base != longer and shorter.startswith(base) and shorter[len(base) :] in _ENDINGS_OF_HE


def _core(text: str, wanted: frozenset[str]) -> frozenset[str]:
    """A label's content stems without periods, counters and generic words, unless the name itself has such a word.

    A number directly behind a name's word belongs to the name: `Pixel 9` is not Pixel, `1. Chad` is Chad.
    """
    for period in periods(text):
        if period.text not in wanted:
            text = text.replace(period.text, " ; ", 1)
    said = frozenset(content_stems(text))
    numbered = frozenset(
        found
        for word, number in _NUMBERED.findall(text)
        if stem(words(word)[0]) not in generic()
        for found in words(number)
    )
    kept = wanted | numbered
    bare = (word for word in said if word in kept or (word not in generic() and not word[0].isdigit()))
    return frozenset(bare) or said


@lru_cache(maxsize=65_536)
def mentions(text: str, entity: str, known: frozenset[str] = frozenset()) -> tuple[tuple[int, int], ...]:
    """Where a text names the entity by its whole name, as character spans; parts of longer names do not count.

    `known`: stems that are no part of a name even with a capital (`Revenue of`, «Выручка Самоката»).
    """
    wanted = tuple(stems(entity))
    said = tokens(text)
    found: list[tuple[int, int]] = []
    for at in range(len(said) - len(wanted) + 1):
        window = said[at : at + len(wanted)]
        if tuple(word for word, _, _ in window) != wanted or _longer_name(text, said, at, len(wanted), known):
            continue
        if not _unlike(words(text[window[0][1] : window[-1][2]]), words(entity)):
            found.append((window[0][1], window[-1][2]))
    return tuple(found)


def _longer_name(text: str, tokens: Sequence[Token], at: int, length: int, known: frozenset[str]) -> bool:
    """Whether the word before or a hyphen after makes it another name: `South Sudan`, `Guinea-Bissau`."""
    start, end = tokens[at][1], tokens[at + length - 1][2]
    if re.match(r"[-‑–][^\W\d_]", text[end : end + 2]):
        return True
    if at == 0 or not text[start].isupper():
        return False
    before = text[tokens[at - 1][1] : tokens[at - 1][2]]
    touching = text[tokens[at - 1][2] : start]
    if touching not in (" ", "-", "\u00a0") or not before[0].isupper() or (before.isupper() and len(before) > 4):
        return False
    folded = words(before)[0]
    return (
        folded not in STOP_WORDS
        and stem(folded) not in generic() | known
        and not _opens_sentence(text, tokens[at - 1][1])
    )


def _opens_sentence(text: str, start: int) -> bool:
    """A capital at the start of a sentence says nothing; in a lone title it may well be part of the name."""
    return start > 0 and text[:start].rstrip()[-1:] in ".!?:"


def last_of_path(source: Source) -> list[str]:
    """The last part of a source's address as words; none without an address."""
    path = [part for part in _PATH_PARTS.split(unquote(source.url).rstrip("/")) if part][-1:]
    return [re.sub(r"[-_.+]", " ", part) for part in path]


class Page:
    """A source as a page about one entity: as a whole (by its title or address), or below its first heading."""

    def __init__(self, source: Source, headings: tuple[str, ...], entity: str, entities: tuple[str, ...]) -> None:
        self.entity, self.entities = entity, entities
        self.first = headings[0] if headings and is_name(headings[0], entity) else ""
        by_path = any(is_name(part, entity) for part in last_of_path(source))
        # a title is often the first heading: a page with more of its rank is about each of them in turn
        self.whole = by_path or (not self.first and is_name(source.title, entity))

    def tells_of(self, headings: tuple[str, ...], known: frozenset[str]) -> bool:
        """Whether a sentence under these headings that names nobody is about the entity.

        `known`: stems of the fields asked for, which name no one.
        """
        return self.is_about(headings) and not self.names_stranger(headings, known)

    def names_stranger(self, headings: tuple[str, ...], known: frozenset[str]) -> bool:
        """Whether a heading inside the entity's part is somebody's name: `# Chad`, `## Niger`."""
        own = [at for at, label in enumerate(headings) if is_name(label, self.entity) or mentions(label, self.entity)]
        inner = headings[own[-1] + 1 :] if own else headings
        return any(_is_proper(piece, known) for label in inner for piece in (label, *_SEGMENT.split(label)))

    def is_about(self, labels: tuple[str, ...]) -> bool:
        """Whether what stands under these headings and labels is the entity's, where nothing else is named."""
        if names_other(labels, self.entity, self.entities):
            return False
        return self.whole or (bool(self.first) and self.first in labels) or any(is_name(x, self.entity) for x in labels)


@cache
def sections() -> frozenset[str]:
    """Stems of usual headings of a part of a document, which are nobody's name."""
    return stem_set(
        """
        about agriculture air animals area army art awards background banking biology board borders budget business cars
        challenges cities climate coast community company competition conclusion contacts costs countries country crime
        culture customers data debt defence defense delivery demand design development diet disputes earnings ecology
        economy elevation employees energy ethnicity events examples exports facts family farming fauna features figures
        finance finances fish fishing flag flora food forests founders funding future gas geology goods government
        hazards health highlights history holidays housing imports income industry inflation infrastructure internet
        investors islands issues jobs justice key labor labour lakes land landscape language languages law leaders legal
        life literature loans logistics market markets media members methods military minerals mining mountains music
        names nature network news notes numbers offices oil operations origin outlook overview owners partners parties
        people places plants politics ports power prices problems products profile profit progress projects quality
        questions railways rainfall references reforms regions relief religion religions research resources results
        revenue rights risks rivers roads sales schools science seas sector security services shares shops size soil
        soils space specs sport sports staff states statistics stores strategy structure suppliers supply tables taxes
        team technology telecoms terrain territory tourism towns trade transport travel trends units use users visas
        war warehouses water weather wildlife women work workers world youth
        акции армия банки безработица бизнес бюджет воды выводы выручка география главное города горы границы данные
        деньги деятельность доставка доходы другое дороги животные жители закон законы земля и импорт инвестиции итоги
        климат клиенты команда компания конкуренция контекст культура леса люди магазины медицина море мир налоги народ
        наука недра нефть озера острова отрасли офисы партии партнеры перевозки персонал планы погода политика почвы
        право природа проблемы продажи продукты промышленность рабочие расходы регионы рельеф реки религия религии рынок
        связь сектор склады сеть спорт справка страна стратегия структура таблицы торговля транспорт туризм услуги
        финансы флаг цены цифры школы экономика экспорт энергетика язык языки"""
    )


def _is_proper(title: str, known: frozenset[str]) -> bool:
    """Whether a title reads as a name: every word has a capital, and none is a usual word of headings or a noun by
    its ending (`Leadership`, «Руководство»)."""
    said = [word for word in re.findall(r"[^\W_]+", title) if words(word)[:1] and words(word)[0] not in STOP_WORDS]
    usual = generic() | category() | owners() | mild() | field_words() | sections() | known
    return 0 < len(said) <= MOST_WORDS_IN_NAME and all(
        word[0].isupper() and stem(words(word)[0]) not in usual and not _NOUN.search(word) for word in said
    )


def opens_with_pronoun(sentence: str) -> bool:
    """Whether a sentence only points at whom it is about: `Its revenue`, «Компания получила»."""
    first = words(sentence[:LONGEST_LABEL])[:2]
    return bool(first) and (first[0] in _PRONOUNS or stem(first[first[0] == "the" and len(first) > 1]) in owners())


def opens_with_other(sentence: str, entity: str) -> bool:
    """Whether a sentence's subject may be somebody else: its first word is a name or noun, and not the entity's."""
    first = words(sentence[:LONGEST_LABEL])[:1]
    return bool(first) and first[0] not in STOP_WORDS and stem(first[0]) not in frozenset(stems(entity))


def goes_on(label: str, end: int, known: frozenset[str]) -> bool:
    """Whether a name that ends there in a label is the beginning of a longer one: `Pixel 9` in `Pixel 9 Pro`."""
    following = _GOES_ON.match(label, end)
    if not following:
        return False
    word = words(following[1])[0]
    return word not in STOP_WORDS and stem(word) not in generic() | category() | owners() | mild() | known


def names_other(labels: Iterable[str], entity: str, entities: tuple[str, ...]) -> bool:
    """Whether one of the labels is the name of another entity asked about."""
    return any(
        any(other != entity for other in _named(label, entities)) and not is_name(label, entity) for label in labels
    )


@lru_cache(maxsize=16_384)  # a table has the same labels in many rows, and each row is asked about for every entity
def _named(label: str, entities: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one for one in names_of(entities).labelled(label) if is_name(label, one))


def longer_name(label: str, entity: str, entities: tuple[str, ...]) -> bool:
    """Whether a label is the name of another entity asked about that holds this one's: `Allegro One` for Allegro."""
    return any(is_name(label, other) for other in _longer(entity, entities))


@lru_cache(maxsize=4_096)
def _longer(entity: str, entities: tuple[str, ...]) -> tuple[str, ...]:
    own = frozenset(stems(entity))
    return tuple(other for other in entities if own < frozenset(stems(other)))
