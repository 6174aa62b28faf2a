"""Bytes of any file a person may save → clean text with `\\n` line ends; nothing here can fail."""

from __future__ import annotations

import codecs
import contextlib
import re
from typing import NamedTuple

from harness.patterns import lazy

# UTF-32's mark begins with UTF-16's, so it is tried first.
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 65_536  # bytes (a multiple of 4) that decide about an encoding without a mark

# The ten commonest Russian letters make 67 % of a text; read in a wrong code page they make 5 to 30 %.
COMMON_RUSSIAN = frozenset("оеаинтсрвл")
COMMON_SHARE = 0.45
_RUSSIAN_CODE_PAGES = ("cp1251", "cp866", "koi8-r")

# Everything str.splitlines() takes for a line end becomes one, so no later split can see other lines than we do.
_LINE_END = lazy("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")

# Terminal sequences go with their parameters; of an unfinished one only the introducer goes, so no text is swallowed.
# Then what is left of C0 and C1, stray byte order marks and the overrides that make text read backwards.
_ESCAPES = lazy(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor moves
    "|(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98-\x9f\n]*(?:\x07|\x1b\\\\|\x9c)"  # OSC, DCS: titles, links
    "|\x1b[ -/]*[0-~]"
    "|[\x00-\x08\x0e-\x1f\x7f-\x9f\ufeff\u202a-\u202e\u2066-\u2069]"
)
_SURROGATE = lazy("[\ud800-\udfff]")  # JSON may carry a lone one; UTF-8 cannot
# Everything but the above, the commonest first. One look tells that a text has nothing odd, as most have; it takes half
# the time of a search for the odd, and a raw may have 32 MB.
_PLAIN = lazy("[ -~\n\t\xa0-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufefe\uff00-\U0010ffff]*")


class Decoded(NamedTuple):
    """`text` has `\\n` line ends only; `encoding` and `newline` are the file's, for whoever appends to it."""

    text: str
    encoding: str
    newline: str  # "\n", "\r\n" or "\r": the commonest


def decode(data: bytes) -> Decoded:
    """Read the bytes of a file as the person who saved it meant them.

    A byte order mark decides; then UTF-16/32 without one, UTF-8, and the Russian code pages if they give
    plausible Russian; else UTF-8 with U+FFFD for what cannot be read. `encoding` is a name Python knows.
    """
    bom, encoding = next(((bom, name) for bom, name in _BOMS if _starts(data, bom)), (b"", ""))
    data = data[len(bom) :]
    encoding = encoding or _wide(data)
    if not encoding:
        with contextlib.suppress(UnicodeDecodeError):
            raw = data.decode("utf-8")
            return Decoded(clean(raw), "utf-8", _newline(raw))
    encoding = encoding or _narrow(data)
    raw = _mixed(data) if encoding == "utf-8" else data.decode(encoding, "replace")
    return Decoded(clean(raw), encoding, _newline(raw))


def clean(text: str) -> str:
    """Text without NUL, terminal escapes and control characters; tab stays, every kind of line end becomes `\\n`."""
    text = text.replace("\r\n", "\n") if "\r" in text else text
    if _PLAIN.fullmatch(text):
        return text
    text = _ESCAPES.sub("", _LINE_END.sub("\n", text))
    if _SURROGATE.search(text):  # pairs become the character they mean, lone ones U+FFFD
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def one_line(text: str) -> str:
    """Clean, with every run of white space as one space: for a name, a title, a line of a message."""
    return " ".join(clean(text).split())


def shortened(text: str, most: int) -> str:
    """The first `most` characters, with a mark where that is not all: for a line that people read."""
    return text if len(text) <= most else f"{text[:most]}…"


def _starts(data: bytes, bom: bytes) -> bool:
    """UTF-32's little-endian mark is also UTF-16's followed by a NUL: only a file of whole units has it."""
    return data.startswith(bom) and (len(bom) != 4 or len(data) % 4 == 0)


def _newline(text: str) -> str:
    if "\r" not in text:
        return "\n"
    crlf = text.count("\r\n")
    counts = {"\n": text.count("\n") - crlf, "\r\n": crlf, "\r": text.count("\r") - crlf}
    return max(counts, key=lambda end: counts[end])


def _wide(data: bytes) -> str:
    """The name of the UTF-16 or UTF-32 that the bytes are in, though no mark says so; "" if in neither."""
    sample = data[:_SAMPLE]
    if b"\x00" not in sample and b"\x04" not in sample:
        return ""
    controls = sum(sample.count(byte) for byte in b"\x00\x01\x02\x03\x04\x05")
    # ASCII in UTF-16 is half NULs, Cyrillic half 0x04; a UTF-8 text with a stray NUL is far below.
    if controls * 10 < len(sample) * 3 and _is_utf8(data):
        return ""
    for codec, unit, high in (
        ("utf-32-le", 4, (2, 3)),
        ("utf-32-be", 4, (0, 1)),
        ("utf-16-le", 2, (1,)),
        ("utf-16-be", 2, (0,)),
    ):
        whole = sample[: len(sample) // unit * unit]
        marks = [sum(whole[at::unit].count(byte) for byte in b"\x00\x04") for at in range(unit)]
        above = min(marks[at] for at in high)
        below = max(mark for at, mark in enumerate(marks) if at not in high) if unit == 2 else 0
        if above * 33 >= len(whole) // unit > 0 and above >= 4 * below and _decodes(whole, codec):
            return codec
    return ""


def _narrow(data: bytes) -> str:
    """For bytes that are no UTF-8: the Russian code page that makes plausible Russian of them, else damaged UTF-8."""
    sample = data[:_SAMPLE]
    return "utf-8" if _mostly_utf8(sample) else _code_page(sample)


def _mostly_utf8(data: bytes) -> bool:
    """A UTF-8 text with a few broken bytes: well-formed characters outnumber them."""
    read = data.decode("utf-8", "replace")
    broken = read.count("\ufffd")
    return not broken or sum(char > "\x7f" and char != "\ufffd" for char in read) > broken


def _code_page(data: bytes) -> str:
    share, codec = max((_russian_share(data.decode(codec, "replace")), codec) for codec in _RUSSIAN_CODE_PAGES)
    return codec if share >= COMMON_SHARE else "utf-8"


def _mixed(data: bytes) -> str:
    """A UTF-8 text into which lines of a code page were pasted: each line is read as what it is."""
    lines = data.split(b"\n")
    return "\n".join(line.decode("utf-8" if _mostly_utf8(line) else _code_page(line), "replace") for line in lines)


def _russian_share(text: str) -> float:
    """How much of the non-ASCII text is common Russian letters; 0 if Latin and Cyrillic meet inside words (`cafй`)."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    foreign = [word for word in words if not word.isascii()]
    mixed = sum(any("a" <= char <= "z" for char in word) for word in foreign)
    if mixed * 10 > len(foreign):
        return 0.0
    beyond = [char for char in text.lower() if char > "\x7f"]
    return sum(char in COMMON_RUSSIAN for char in beyond) / max(len(beyond), 1)


def _is_utf8(data: bytes) -> bool:
    return _decodes(data, "utf-8")


def _decodes(data: bytes, codec: str) -> bool:
    try:
        data.decode(codec)
    except UnicodeDecodeError:
        return False
    return True
