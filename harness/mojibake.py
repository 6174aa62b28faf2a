"""Text that was read in a wrong code page (РџСЂРёРІРµС‚, Ïðèâåò), and what it was meant to be."""

from __future__ import annotations

import re

from harness.patterns import lazy

# UTF-8 read as one of these: the commonest first. Real text in them is hardly ever UTF-8 too.
_READ_AS = ("cp1251", "cp1252", "latin-1", "cp866")
# Russian in one code page read as another: (read as, written in).
_RUSSIAN = (("cp1251", "cp866"), ("cp1251", "koi8-r"), ("koi8-r", "cp1251"), ("cp1252", "cp1251"), ("cp866", "cp1251"))
_COMMON = frozenset("оеаинтсрвл")  # make 67 % of a Russian text, and 5 to 30 % of one read wrongly
_COMMON_SHARE = 0.45
_WRONG_SHARE = 0.3
_LETTERS = 6  # fewer beyond ASCII say nothing about a code page
_LOST = lazy(r"\?{4,}|\ufffd")  # what a code page without the letter leaves
_WORD = lazy(r"[^ \t\n]+")


def is_lost(text: str) -> bool:
    """Whether letters were lost for good: runs of question marks, U+FFFD."""
    return bool(_LOST.search(text))


def repaired(text: str) -> str | None:
    """The text as it was meant, None where nothing of it was read wrongly."""
    words = _WORD.sub(lambda match: _utf8(match.group()), text)
    mended = "\n".join(map(_russian, words.split("\n")))
    return None if mended == text else mended


def _utf8(word: str) -> str:
    if word.isascii():
        return word
    for codec in _READ_AS:
        try:
            meant = word.encode(codec).decode("utf-8")
        except UnicodeError:
            continue
        if len(meant) < len(word) and meant.isprintable():
            return meant
    return word


def _russian(line: str) -> str:
    if line.isascii() or _share(line) >= _WRONG_SHARE:
        return line
    for read_as, written_in in _RUSSIAN:
        try:
            meant = line.encode(read_as).decode(written_in)
        except UnicodeError:
            continue
        if _share(meant) >= _COMMON_SHARE and not re.search(r"[^\W\d_][А-ЯЁ]{1}[а-яё]", meant):
            return meant
    return line


def _share(line: str) -> float:
    """How much of the letters beyond ASCII is common Russian ones; 1 where there are too few to tell."""
    beyond = [char for char in line.lower() if char > "\x7f" and (char.isalpha() or char > "\u2500")]
    return sum(char in _COMMON for char in beyond) / len(beyond) if len(beyond) >= _LETTERS else 1.0
