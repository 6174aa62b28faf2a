"""The cells of a question: its entities and fields, or those that its wording names."""

from __future__ import annotations

import re

from harness.agents.extractive.lexicon import is_known, usual_form
from harness.model import Grid, Question
from harness.patterns import lazy
from harness.periods import periods
from harness.words import HAN, language_of, sentences

MOST_ENTITIES = 40
MOST_FIELDS = 12
_LONGEST_FIELD = 6  # words; a longer item of a list is a clause
_LONGEST_NAME = 7

_COMMA = lazy(r"\s*[,;、]\s*(?:(?:and|or|и|или)\s+)?")
_AND = lazy(r"\s+(?:and|or|и|или|vs\.?|versus|против)\s+|(?<=[^\x00-\x7f])[和与及](?=[^\x00-\x7f])")
# Names that hold an `and` of their own; in a list it looks like the one before the last item.
_ONE_NAME = lazy(
    r"\b(?:Antigua and Barbuda|Bosnia and Herzegovina|Trinidad and Tobago|S[aã]o Tom[eé] and Pr[ií]ncipe"
    r"|(?:Saint|St\.?) (?:Kitts and Nevis|Pierre and Miquelon|Vincent and the Grenadines)"
    r"|Turks and Caicos(?: Islands)?|Wallis and Futuna|Serbia and Montenegro"
    r"|Heard Island and McDonald Islands|South Georgia and (?:the )?South Sandwich Islands"
    r"|Saint Helena, Ascension,? and Tristan da Cunha|Johnson and Johnson|Procter and Gamble|Marks and Spencer"
    r"|Антигуа и Барбуда|Босни\w+ и Герцеговин\w+|Тринидад\w* и Тобаго|Сан-Томе и Принсипи|Сент-\w+ и \w+)"
)
_OPENING = lazy(
    r"^\s*(?:please|пожалуйста)?\s*(?:compare|contrast|find(?: out)?|give|list|show|tell(?: me)?|collect|look up"
    r"|what(?:'s| is| are| was| were)?|which(?: is| are)?|who(?: is| are|'s)"
    r"|how (?:large|big|high|long|many|much)(?: is| are| was| were)?"
    r"|сравните|сравнить|сравни|найдите|найти|найди|укажите|укажи|назовите|назови|соберите|собери|покажи"
    r"|какова|каковы|каков|какая|какие|какой|какое|кто|сколько|比较|查找|列出)\s*",
    re.IGNORECASE,
)
_EACH = lazy(
    r"\b(?:for|about|of)\s+(?:each|every|all)\b(?:\s+of)?|\bпо\s+кажд\w+(?:\s+из)?|\bдля\s+кажд\w+(?:\s+из)?|对?每(?:个|家)?",
    re.IGNORECASE,
)
# `For each of them, what is …`, «Каковы у каждой …»: the names stand in a sentence before
_FOR_EACH = lazy(
    r"^\s*(?:(?:for|about)\s+(?:each|every one|all|both)(?:\s+of\s+(?:them|these|those))?\s*,\s*"
    r"|(?:для|по|у)\s+(?:кажд\w+|всех)(?:\s+из\s+них)?\s*,?\s+(?!(?-i:[А-ЯЁ«])))",
    re.IGNORECASE,
)
_SUPERLATIVE = lazy(
    r"\b(?:largest|biggest|best|top|most|leading|крупнейш\w+|лучш\w+|самы\w+|ведущ\w+)\b", re.IGNORECASE
)
_CLAUSE = lazy(r"\b(?:do|does|did|is|are|was|were|say|says|can|should|will|это|ли|говорят)\b", re.IGNORECASE)
_LONG_REMARK = lazy(r"\s*\((?:[^()\s]+\s+){3,}[^()\s]+\)")  # an explanation, not a qualifier
_ARTICLE = lazy(r"^(?:the|a|an|its|their|both|their|his|her|your|его|их|ее|её)\s+", re.IGNORECASE)
_OWNED_BY = lazy(r"\s+(?:of|for|in|at|у|в|для|по)\s+|的", re.IGNORECASE)
_IN_TERMS_OF = lazy(
    r"\s+(?:by|on|in terms of|with (?:respect|regard) to|regarding|according to|по|с точки зрения)\s+", re.IGNORECASE
)
_TAIL = lazy(
    r"\s+(?:in|for|during|as of|since|at|за|в|на|по состоянию на|по итогам)(?:\s+the)?(?:\s+(?:year|end of))?\s*$",
    re.IGNORECASE,
)
_HOW_MANY = (
    lazy(
        r"^(?:and )?how many (?P<what>[\w-]+(?: [\w-]+){0,3}?) (?:do|does|did|has|have|had) (?P<who>.+?)"
        r"(?: (?:have|own|operate|run|employ)\b.*)?$",
        re.IGNORECASE,
    ),
    lazy(r"^how many (?P<what>people|inhabitants) (?:live|lived|are there) in (?P<who>.+)$", re.IGNORECASE),
    lazy(r"^(?:а )?сколько (?P<what>[\w-]+(?: [\w-]+){0,2}?) (?:есть |было )?у (?P<who>.+)$", re.IGNORECASE),
    lazy(r"^сколько (?P<what>[\w-]+(?: [\w-]+){0,2}?) (?:имеет|имеют|насчитывает) (?P<who>.+)$", re.IGNORECASE),
    lazy(r"^сколько (?P<what>человек|людей|жителей) (?:живет|живёт|проживает)? ?в (?P<who>.+)$", re.IGNORECASE),
)
_HOW = lazy(r"\bhow many\b|\bсколько\b", re.IGNORECASE)
_INHABITANTS = frozenset({"people", "inhabitants", "человек", "людей", "жителей"})
_QUOTES = "«»\"“”„'‘’"
_NAME = lazy(rf"(?:[«\"“„]([^«»\"“”„]{{1,80}})[»\"”])|((?:[^\W\d_a-zа-яё]|\d)[\w.&+'’-]*(?:\s+\S+)*)|([{HAN}]{{2,12}})")


def grid_of(question: Question) -> Grid:
    """The question's own grid; a missing side of it is read from the text. Empty where the text names no cells."""
    if question.grid:
        return question.grid
    derived = derive(question.text)
    return Grid(
        question.grid.entities or derived.entities,
        question.grid.fields or (derived.fields if question.grid.entities or derived.entities else ()),
    )


def derive(text: str) -> Grid:
    """The cells that the wording names: `Compare X and Y: a, b`, `the a and b of X and Y`, «По каждой …: a, b»."""
    names: list[str] = []
    for sentence in sentences(text):
        whole = sentence.strip().rstrip(" .?!。？")
        if counted := _how_many(whole):
            return counted
        bare = without_request(whole)
        found = _with_colon(bare, names) if ":" in bare or "：" in bare else _by(bare) or _of(bare)
        if found is None and names and bare != whole:
            found = _grid(names, _fields(bare))
        if found:
            return found
        names = names or _names(re.split("[:：]", bare, maxsplit=1)[-1])
    return Grid()


def _how_many(sentence: str) -> Grid | None:
    """`How many lockers does InPost have`, `How many people live in Chad`, «Сколько постаматов у 5Post»."""
    found = next((match for form in _HOW_MANY if (match := form.match(" ".join(sentence.split())))), None)
    if found is None:
        return None
    names, what = _names(found["who"]), found["what"]
    unclear = not _NAME.match(found["who"]) or len(names) != len(_items(found["who"])) or what != what.lower()
    if unclear or len(_HOW.findall(sentence)) > 1:
        return None
    if what in _INHABITANTS and "employ" in sentence:
        what = "employees"
    elif what in _INHABITANTS:
        what = "население" if language_of(what) == "ru" else "population"
    return _grid(names, [usual_form(what)])


def without_request(text: str) -> str:
    """The text without the words that ask: `What is the area of Chad` → the area of Chad."""
    bare = _OPENING.sub("", _FOR_EACH.sub("", text, count=1), count=1)
    return _FOR_EACH.sub("", bare, count=1)


def _with_colon(sentence: str, known: list[str]) -> Grid | None:
    """`Compare X and Y: a, b`, `For each: a, b` (names from a sentence before), `The a and b of these: X, Y`."""
    left, colon, right = sentence.partition(":")
    if not colon:
        left, colon, right = sentence.partition("：")
    if not colon or not right.strip():
        return None
    each = _EACH.search(left)
    fields, names = _fields(right), _names(right)
    if names and len(names) == len(_items(right)) and not each:
        owned = _OWNED_BY.split(left, maxsplit=1)[0] if _OWNED_BY.search(left) else left
        found = _grid(names, _fields(owned))
        return found if found and _is_sure(found) else None
    return _grid(_names(left[each.end() :] if each else left) or known, fields)


def _by(sentence: str) -> Grid | None:
    """`Compare X and Y by a and b`, «Сравни X и Y по выручке и доле рынка»."""
    parts = _IN_TERMS_OF.split(sentence, maxsplit=1)
    if len(parts) == 2 and _SUPERLATIVE.search(parts[0]):
        return None
    return _grid(_names(parts[0]), _fields(parts[1])) if len(parts) == 2 else None


def _of(sentence: str) -> Grid | None:
    """`the a and b of X, Y and Z`; in Russian the names follow the fields: «выручка и доля рынка X и Y»."""
    for owned in reversed(list(_OWNED_BY.finditer(sentence))):
        left, right = sentence[: owned.start()], sentence[owned.end() :]
        left, right = (right, left) if owned.group() == "的" else (left, right)
        names = _names(right)
        if left[1:2].islower():  # `Poverty rate of X`: the capital is the sentence's
            left = left[:1].lower() + left[1:]
        found = _grid(names, _fields(left))
        if found and len(names) == len(_items(right)) and _is_sure(found):
            return found
    name = re.search(r"(?<!\S)[«\"“]?[А-ЯЁ](?=[а-яё])", sentence[1:]) if language_of(sentence) == "ru" else None
    if name is None:
        return None
    found = _grid(_names(sentence[name.start() + 1 :]), _fields(sentence[: name.start() + 1]))
    return found if found and _is_sure(found) else None


def _is_sure(grid: Grid) -> bool:
    """Whether `the a of X` asks for a figure: the field is a known one, or several are asked for.

    «The future of Europe» is no cell; its answer is sentences.
    """
    return len(grid.fields) > 1 or is_known(grid.fields[0])


def _grid(names: list[str], fields: list[str]) -> Grid | None:
    if not names or not fields or len(names) > MOST_ENTITIES or len(fields) > MOST_FIELDS:
        return None
    return Grid(tuple(dict.fromkeys(names)), tuple(dict.fromkeys(fields)))


def _items(text: str) -> list[str]:
    """The items of a list. With commas only the last piece is cut at `and`: `research and development, staff and X`."""
    shielded = _ONE_NAME.sub(lambda match: _shield(match.group()), _without_period(text))
    pieces = _COMMA.split(shielded)
    if len(pieces) > 1 and len(_AND.split(pieces[-1])) > 1:
        last = list(_AND.finditer(pieces[-1]))[-1]
        pieces[-1:] = [pieces[-1][: last.start()], pieces[-1][last.end() :]]
    elif len(pieces) == 1:
        pieces = _AND.split(pieces[0])
    return [item for piece in pieces if (item := _unshield(piece).strip(" .?!。？"))]


def _shield(name: str) -> str:
    return name.replace(" ", "\0").replace(",", "\1")


def _unshield(text: str) -> str:
    return text.replace("\0", " ").replace("\1", ",")


def _without_period(text: str) -> str:
    """The text without its period at the end: `X and Y in 2024`."""
    named = periods(text)
    if not named:
        return text
    last = named[-1]
    rest = text[last.at + len(last.text) :].strip(" .?!").casefold()
    if rest not in ("", "год", "году", "года", "г", "годы"):
        return text
    return _TAIL.sub("", text[: last.at].rstrip(" ,") + "")


def _names(text: str) -> list[str]:
    """The items of a list that are names (quoted, or with a capital), without the words before the name."""
    found: list[str] = []
    for item in _items(text):
        match = _NAME.search(item)
        if not match:
            continue
        name = (match[1] or match[2] or match[3]).strip(_QUOTES + " ")
        name = re.sub(r"(?:['’]s)$", "", name)
        if name and len(name.split()) <= _LONGEST_NAME and not name.isdigit() and not is_known(name):
            found.append(name)
    return found


def _fields(text: str) -> list[str]:
    """The items of a list that are no names. Any one that looks like a clause makes the list no list of fields."""
    found: list[str] = []
    for item in _items(_LONG_REMARK.sub("", text)):
        bare = _OPENING.sub("", item).strip(_QUOTES + " ")
        bare = _ARTICLE.sub("", bare).strip()
        bare = re.sub(r"\s+(?:of|for)\s+(?:the|these|following).*$", "", bare)
        if not bare:
            continue
        unclear = len(bare.split()) > _LONGEST_FIELD or _SUPERLATIVE.search(bare) or _CLAUSE.search(bare)
        if unclear or any(word[:1].isupper() and word[1:].islower() for word in bare.split()):
            return []
        found.append(usual_form(bare))
    return found
