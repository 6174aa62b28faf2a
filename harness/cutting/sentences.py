"""Where a sentence, a word and a character end, in English, Russian and Chinese."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from harness.patterns import lazy

# Behind the mark: closing quotes and brackets, then white space; Chinese and Japanese marks need none. Or a list item.
_END = lazy(
    r"[.!?…]++[\"'»”’)\]]*+\s++(?=\S)"
    r"|[。！？；…]++[」』”’）》]*+\s*+(?=\S)"
    r"|\n++(?=[ \t]*(?:[-*+•–—]|\d{1,3}[.)])[ \t])"
)
_BEFORE = lazy(r"([^\W\d_]+(?:\.[ \u00a0]?[^\W\d_]+)*|\d+)\Z")
_WORDS = """
mr mrs ms dr prof st jr sr vs no nos fig figs cf al inc ltd co corp approx dept est e.g i.e a.m p.m u.s ph.d eq sec
vol ch ed eds pp ca op gen sen rep gov capt lt col jan feb mar apr jun jul aug sep sept oct nov dec
г гг в вв т д п пп р с ст стр см ср рис табл гл кв км м мм га им ул пр просп пер корп обл пос руб коп тыс млн
млрд трлн чел экз шт др проч напр акад проф доц инж зам ред изд тов гр гос англ нем лат рус
янв фев февр апр авг сент окт нояб дек
"""
_ABBREVIATIONS = frozenset(_WORDS.split())
# These stand at the end of a sentence as often as within one: there what follows is no small letter.
_AT_THE_END = "etc inc ltd a.m p.m т.д т.п др проч руб коп тыс млн млрд трлн чел экз шт"
_ENDING = frozenset(_AT_THE_END.split())
_NEAR = 2_000  # characters before the limit that are looked at first: a sentence is seldom longer
_LINES = 20_000  # characters whose lines tell what the lines are
_WORD_END = lazy(r"[\s，、；：,;]+")
_WORD = 200  # characters in which a blank is looked for: what is longer is no word
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")  # they bind what stands before them to what comes


def line_end(text: str, low: int, high: int) -> int | None:
    """The last line's end above `low` and up to `high`, where lines are entries of their own: of a log, of a list.

    None where they are prose that was wrapped: then some lines in five begin with a small letter.
    """
    lines = text[max(low, high - _LINES) : high].split("\n")[1:]
    if sum(line[:1].islower() for line in lines) * 5 >= len(lines):
        return None
    return text.rfind("\n", low, high) + 1


def sentence_end(text: str, low: int, high: int) -> int | None:
    """The last position above `low` and up to `high` where a new sentence (or list item) begins."""
    width = _NEAR
    while True:
        start = max(low, high - width)
        last = None
        for at in _ends(text, start, high):
            if at > low:
                last = at
        if last is not None or start == low:
            return last
        width *= 4


def word_end(text: str, low: int, high: int) -> int | None:
    """The last position above `low` and up to `high`, near it, with white space or a comma before it."""
    last = None
    for found in _WORD_END.finditer(text, max(low, high - _WORD), high):
        last = found.end()
    return last if last is not None and last > low else None


def character_end(text: str, low: int, high: int) -> int:
    """`high`, or the position a little before it that tears no letter from its marks; above `low`."""
    for at in range(high, max(low, high - 64), -1):
        if at >= len(text) or not _torn(text[at - 1], text[at]):
            return at
    return high


def _torn(before: str, after: str) -> bool:
    if after.isascii():
        return before == "\r" and after == "\n"
    return (
        after in _JOINERS
        or before == "\u200d"
        or unicodedata.category(after)[0] == "M"
        or ("\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff")
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # the colour of the skin of the sign before it
    )


def _ends(text: str, start: int, high: int) -> Iterator[int]:
    # A little more is looked at: what follows tells whether it is an end.
    for found in _END.finditer(text, start, min(high + 16, len(text))):
        if found.end() <= high and not (found[0][0] == "." and _goes_on(text, start, found)):
            yield found.end()


def _goes_on(text: str, start: int, found: re.Match[str]) -> bool:
    """A full stop that ends no sentence: an abbreviation, an initial, an item's number, a small letter behind it."""
    if text[found.end()].islower():
        return True
    if found[0].startswith(".."):
        return False
    word = _BEFORE.search(text, max(start, found.start() - 20, 0), found.start())
    if not word:
        return False
    last = word[0].replace(" ", "").replace("\u00a0", "").lower()
    if last in _ENDING:
        return False
    if last.isdigit():
        return len(last) <= 3 and (word.start() == 0 or text[word.start() - 1] == "\n")
    return len(last.rpartition(".")[2]) == 1 or last in _ABBREVIATIONS or last.rpartition(".")[2] in _ABBREVIATIONS
