"""How many tokens a text has at most, from counts of its characters: no vocabulary and no network."""

from __future__ import annotations

# Hundredths of a token for a character of each class, fitted so that no text of tests/token_texts.py has more tokens by
# cl100k_base or o200k_base. Letters are weighed by how common they are: prose is made of common ones and random letters
# of all alike, which is all that tells 0.23 tokens a character (English) from 0.54.
COMMON, RARE, UPPER = 15, 100, 80
SPACE = 12  # mostly the first byte of a word's token; where it is a token of its own, `_shape` counts it
OTHER_ASCII = 100  # punctuation, line ends, control characters
DIGIT_BEFORE_LETTER = 30  # as in hexadecimal, where every letter between digits is a token
RU_COMMON, RU_OTHER = 25, 130
HAN = 110
# For common letters that are more than four in five characters, which no prose has (English 0.64, Russian 0.62): a run
# of one of them has 0.5 tokens a letter, in Cyrillic 1.0.
MONOTONY, RU_MONOTONY = 45, 85
OTHER_BYTE = 100  # of every other script: a token has a byte at least, so this can never be too little
SLACK = 20  # tokens for a text: what is short may be anything

_COMMON = b"etaoinsrhldc"
_COMMON_AND_SPACE = _COMMON + b" "
_RARE = bytes(set(range(ord("a"), ord("z") + 1)) - set(_COMMON))
_UPPER = bytes(range(ord("A"), ord("Z") + 1))
_DIGITS = b"0123456789"
_LETTERS = bytes(range(ord("a"), ord("z") + 1)) + _UPPER
# " ", "0", "x" or "," for every byte: what numbers and spaces stand beside.
_SHAPE = bytes(32 if c == 32 else 48 if c in _DIGITS else 120 if c in _LETTERS else 44 for c in range(256))
_ASCII = bytes(range(128))
_ONE_BYTE = "iso8859_5"  # a byte a Russian letter, so that one pass counts twelve of them
_RU_COMMON = "оеаинтсрвлкм".encode(_ONE_BYTE)
_RU_LEADS = (b"\xd0", b"\xd1")
_HAN_LEADS = tuple(bytes((lead,)) for lead in range(0xE4, 0xEA))


def estimate(text: str) -> int:
    """An upper bound in tokens, for cl100k_base and o200k_base alike: more than the greater of both.

    It holds for prose (English, Russian, Chinese), Markdown, HTML, JSON and code, tables and CSV of any digits, base64,
    hexadecimal, random Latin and Cyrillic letters, one ASCII, small Cyrillic or Chinese character again and again, and
    for anything of 20 characters or in other scripts. It does not hold for long texts that are built against it: words
    of one and two common letters, lists of rare Chinese characters.

    Over-counts, against the greater of the two: English prose and code 1.6 times, Russian prose 1.3, Chinese prose
    1.2, CSV 1.0 to 1.3, JSON 1.3, base64 1.1; against o200k_base alone Russian prose 2.2 and Chinese 1.8.
    Rules made of spaces, dashes or line ends count up to 64 times too much. The sum over two pieces is at most 1 below
    the whole.
    """
    data = text.encode("utf-8", "surrogatepass")
    size = len(data)
    if size <= SLACK:
        return size
    spaces = data.count(b" ")
    rest = data.translate(None, _COMMON_AND_SPACE)
    common = size - spaces - len(rest)
    words = rest.translate(None, _RARE)
    upper = words.translate(None, _UPPER)
    others = upper.translate(None, _DIGITS)
    hundredths = (
        SPACE * spaces
        + COMMON * common
        + MONOTONY * _excess(common, len(text))
        + RARE * (len(rest) - len(words))
        + UPPER * (len(words) - len(upper))
        + _shape(data.translate(_SHAPE), len(upper) - len(others))
    )
    if text.isascii():
        hundredths += OTHER_ASCII * len(others)
    else:
        beyond = others.translate(None, _ASCII)
        hundredths += OTHER_ASCII * (len(others) - len(beyond)) + _beyond_ascii(beyond, text)
    return min(size, -(-hundredths // 100) + SLACK)


def _excess(common: int, characters: int) -> int:
    return max(0, common - 4 * (characters - common))


def _shape(shape: bytes, digits: int) -> int:
    """Hundredths for numbers and for spaces that are tokens of their own.

    Both vocabularies cut a number into threes, so `1,2` has a token a digit and `123456` one for three. A space before
    a word is a part of its token; before a number it is none, and of several in a row only the last can be.
    """
    numbers, before = int(shape.startswith(b"0")), 0
    if digits:
        before = shape.count(b" 0")
        numbers += before + shape.count(b"x0") + shape.count(b",0")
    columns = sum(map(shape.count, (b"  x", b"  ,", b"  0"))) if b"  " in shape else 0
    letters = shape.count(b"0x") if digits else 0
    return -(-100 * (digits + 2 * numbers) // 3) + 100 * (before + columns) + DIGIT_BEFORE_LETTER * letters


def _beyond_ascii(data: bytes, text: str) -> int:
    """Hundredths for the characters outside ASCII; `data`: their UTF-8."""
    russian = sum(map(data.count, _RU_LEADS))
    han = sum(map(data.count, _HAN_LEADS))
    common = 0
    if russian:
        letters = text.encode(_ONE_BYTE, "ignore")
        common = len(letters) - len(letters.translate(None, _RU_COMMON))
    rest = len(data) - 2 * russian - 3 * han
    monotony = RU_MONOTONY * _excess(common, len(text))
    return monotony + RU_COMMON * common + RU_OTHER * (russian - common) + HAN * han + OTHER_BYTE * rest
