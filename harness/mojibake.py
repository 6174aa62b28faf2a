"""Text that was read in a wrong code page (РџСЂРёРІРµС‚, Ïðèâåò), and what it was meant to be."""

from __future__ import annotations

import re

from harness.formats.text import COMMON_RUSSIAN, COMMON_SHARE
from harness.patterns import lazy

# UTF-8 read as one of these: the commonest first. Real text in them is hardly ever UTF-8 too.
_READ_AS = ("cp1251", "cp1252", "latin-1", "cp866")
# Russian in one code page read as another: (read as, written in).
_RUSSIAN = (("cp1251", "cp866"), ("cp1251", "koi8-r"), ("koi8-r", "cp1251"), ("cp1252", "cp1251"), ("cp866", "cp1251"))
_WRONG_SHARE = 0.3
_LETTERS = 6  # fewer beyond ASCII say nothing about a code page
# The letters and marks of English, Russian and Chinese text: one look at 100 kB takes 0.3 ms, the other pattern 5.
_PLAIN = lazy(
    "[ -~\n\t\u0410-\u0451\u0401—·«»№₽×↔\xa0\u202f\u2009\u2010-\u2027\u3001-\u301f\u4e00-\u9fff\uff01-\uff5e]*"
)
# What letters of UTF-8 and of Russian code pages become: Р°, Ð°, ╨░, Ã©, â€; àî in a row.
_SIGNS = lazy(
    "[РС][\u0402\u0403\u0405-\u040f\u0452\u0453\u0455-\u045f\u0490\u0491\u00a0-\u00bf‚„†‡€‰‹‘’“”•™›]"
    "|[ÐÑÃÂ][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|[╨╤][\u2500-\u259fА-я]|â€|[à-ÿ]{5}"
)
_LOST = lazy(r"\?{4,}|\ufffd")  # what a code page without the letter leaves
_WORD = lazy(r"[^ \t\n]+")


def looks_misread(text: str) -> bool:
    """A quick look at a whole file: whether it has letter pairs that hardly any language has."""
    return not _PLAIN.fullmatch(text) and bool(_SIGNS.search(text))


def is_lost(text: str) -> bool:
    """Whether letters were lost for good: runs of question marks, U+FFFD."""
    return bool(_LOST.search(text))


def repaired(text: str) -> str | None:
    """The text as it was meant, None where nothing of it was read wrongly."""
    mended = "\n".join(_russian(_utf8(line)) for line in text.split("\n"))
    return None if mended == text else mended


def _utf8(line: str) -> str:
    """The line with those words read anew that are UTF-8; one that gives a single letter counts only beside others.

    `С…` is a Russian word with its mark; `Ã©` is in no language.
    """
    if line.isascii():
        return line
    meant = {word: _meant(word) for word in _WORD.findall(line) if not word.isascii()}
    sure = (read for word, read in meant.items() if read != word)
    if not any(sum(char > "\x7f" for char in read) > 1 or "Ã" in line for read in sure):
        return line
    return _WORD.sub(lambda match: meant.get(match.group(), match.group()), line)


def _meant(word: str) -> str:
    for codec in _READ_AS:
        try:
            meant = word.encode(codec).decode("utf-8")
        except UnicodeError:
            continue
        if len(meant) < len(word) and meant.isprintable():
            return meant
    return word


def _russian(line: str) -> str:
    if line.isascii() or not _is_foreign(line):
        return line
    for read_as, written_in in _RUSSIAN:
        try:
            meant = line.encode(read_as).decode(written_in)
        except UnicodeError:
            continue
        if _share(meant) >= COMMON_SHARE and not re.search(r"[^\W\d_][А-ЯЁ][а-яё]", meant):
            return meant
    return line


def _is_foreign(line: str) -> bool:
    """Whether there are letters enough to tell, and they are hardly Russian."""
    return len(_beyond(line)) >= _LETTERS and _share(line) < _WRONG_SHARE


def _share(line: str) -> float:
    """How much of the letters beyond ASCII is common Russian ones; 0 where there are too few to tell."""
    beyond = _beyond(line)
    return sum(char in COMMON_RUSSIAN for char in beyond) / len(beyond) if len(beyond) >= _LETTERS else 0.0


def _beyond(line: str) -> list[str]:
    return [char for char in line.lower() if char > "\x7f" and (char.isalpha() or char > "\u2500")]
