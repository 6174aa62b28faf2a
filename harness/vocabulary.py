"""The vocabularies cl100k_base and o200k_base without network: from toktok-rs, which holds both, or from a cached file.

Nothing here downloads: tiktoken would do so by itself, so its Encoding is made from bytes that were checked here.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from harness.caching import read_cached, write_cached
from harness.patterns import lazy
from harness.tokens import estimate

if TYPE_CHECKING:
    import tiktoken

FOLDER = "vocabularies"  # in our cache
LIMIT = 8_000_000  # bytes of a file that is read: the greater of the two has 3.6 million


class Pin(NamedTuple):
    """What a vocabulary file must be. `file`: its name in tiktoken's cache, the sha1 of its address."""

    file: str
    sha256: str
    size: int  # ordinary tokens
    pattern: str


_BLANKS = lazy(r"\s{100000,}")  # seven times as many are still safe

# How text is cut into words before the merges. `\s++$` comes before `\s+(?!\S)`: without it a million spaces at the end
# of a text overflow the stack of tiktoken's regular expressions, with a panic that is no Exception. Ids are the same.
# (Before a word such a run still does: `_pieces`.)
_ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_BIG, _SMALL = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_LEAD = r"[^\r\n\p{L}\p{N}]?"
_CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)",
    rf"{_LEAD}+\p{{L}}++",
    r"\p{N}{1,3}+",
    r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
    r"\s++$",
    r"\s*[\r\n]",
    r"\s+(?!\S)",
    r"\s",
)
_O200K = (
    rf"{_LEAD}{_BIG}*{_SMALL}+{_ENDINGS}",
    rf"{_LEAD}{_BIG}+{_SMALL}*{_ENDINGS}",
    r"\p{N}{1,3}",
    r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
    r"\s*[\r\n]+",
    r"\s++$",
    r"\s+(?!\S)",
    r"\s+",
)

PINS: Mapping[str, Pin] = {
    "cl100k_base": Pin(
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        100_256,
        "|".join(_CL100K),
    ),
    "o200k_base": Pin(
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        199_998,
        "|".join(_O200K),
    ),
}

_MAKING = Lock()  # two threads need one Encoding, not two halves of a second

CountMany = Callable[[Sequence[str]], list[int]]


class Vocabulary(NamedTuple):
    """`count_many` gives the exact number of tokens of each text; special tokens in it count as the text they are."""

    encoding: str
    source: str  # for people: "toktok-rs 0.3.0", or the file
    count_many: CountMany


class Found(NamedTuple):
    """A vocabulary file with the right sha256, and where it is from."""

    data: bytes
    source: str


def vocabulary(encoding: str, cache: Path, environ: Mapping[str, str] = os.environ) -> Vocabulary | None:
    """The quickest exact counter that is to be had here, or None. Reads no vocabulary before its first count.

    `cache`: our cache folder. KeyError for an encoding that is not among PINS.
    """
    pin = PINS[encoding]
    return _by_toktok(encoding) or _by_tiktoken(encoding, pin, cache, environ)


def tiktoken_encoding(encoding: str, cache: Path, environ: Mapping[str, str] = os.environ) -> tiktoken.Encoding | None:
    """For ids and offsets: an Encoding of tiktoken without special tokens; None without tiktoken or a vocabulary.

    It is made anew at each call (half a second); KeyError for an encoding that is not among PINS.
    """
    found = vocabulary_file(encoding, cache, environ)
    return _encoding(encoding, found.data) if found else None


def vocabulary_file(encoding: str, cache: Path, environ: Mapping[str, str] = os.environ) -> Found | None:
    """tiktoken's own cached file, else ours, else rebuilt from toktok-rs (and kept in our cache where it takes it)."""
    pin = PINS[encoding]
    ours = cache / FOLDER / pin.file
    for path in (*_tiktoken_caches(pin, environ), ours):
        data = read_cached(path, LIMIT)
        if data is not None and _is(pin, data):
            return Found(data, str(path))
    rebuilt = _rebuilt(encoding, pin)
    if rebuilt is None:
        return None
    kept = write_cached(ours, rebuilt)
    return Found(rebuilt, str(ours) if kept else _toktok_name())


def _is(pin: Pin, data: bytes) -> bool:
    return hashlib.sha256(data).hexdigest() == pin.sha256


def _tiktoken_caches(pin: Pin, environ: Mapping[str, str]) -> Iterator[Path]:
    """Where tiktoken would look; an empty variable is its way to say: no cache."""
    import tempfile  # late: it costs every start 4 ms

    for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if name in environ:
            if environ[name]:
                yield Path(environ[name]) / pin.file
            return
    yield Path(tempfile.gettempdir()) / "data-gym-cache" / pin.file


# toktok-rs ---------------------------------------------------------------------------------------


def _by_toktok(encoding: str) -> Vocabulary | None:
    try:
        import toktok
    except ImportError:  # no wheel for this machine, or one that does not load
        return None

    def count(texts: Sequence[str]) -> list[int]:
        # A pool of threads costs more than it saves for one text.
        return list(toktok.batch_count(list(texts), encoding, threads=1 if len(texts) == 1 else 0))

    return Vocabulary(encoding, _toktok_name(), count)


def _toktok_name() -> str:
    import toktok

    return f"toktok-rs {toktok.__version__}"


def _rebuilt(encoding: str, pin: Pin) -> bytes | None:
    """The file that tiktoken would have downloaded, byte for byte; None where toktok-rs is missing or has changed."""
    try:
        import toktok

        # Its public functions count only; should this one go, the sha256 and the except below say so.
        decode = toktok._encoding(encoding).decode_single_token_bytes
        lines = (base64.b64encode(decode(number)) + b" %d\n" % number for number in range(pin.size))
        data = b"".join(lines)
    except (ImportError, AttributeError, KeyError, ValueError, TypeError):
        return None
    return data if _is(pin, data) else None


# tiktoken ----------------------------------------------------------------------------------------


def _by_tiktoken(encoding: str, pin: Pin, cache: Path, environ: Mapping[str, str]) -> Vocabulary | None:
    found = vocabulary_file(encoding, cache, environ) if importlib.util.find_spec("tiktoken") else None
    if found is None:
        return None
    make = functools.cache(lambda: _encoding(encoding, found.data))

    def count(texts: Sequence[str]) -> list[int]:
        with _MAKING:
            made = make()
        if made is None:  # it is there and does not load
            return [estimate(text) for text in texts]
        # The ids are lists of whole numbers, 8 bytes a token at least: one text after the other.
        return [sum(len(made.encode_ordinary(piece)) for piece in _pieces(text)) for text in texts]

    return Vocabulary(encoding, f"tiktoken with {found.source}", count)


def _pieces(text: str) -> Iterator[str]:
    """The text cut where its words are cut anyway, so that no piece has a long run of blanks before a word.

    `\\s+(?!\\S)` gives such a run back one blank after the other, and a million of them overflow the stack.
    """
    begin = 0
    for run in _BLANKS.finditer(text):
        if run.end() == len(text):  # `\s++$` takes it as one
            break
        after_line = max(text.rfind(end, run.start(), run.end()) for end in "\r\n") + 1
        for cut in (after_line, run.end() - 1):
            if cut > begin:
                yield text[begin:cut]
                begin = cut
    yield text[begin:]


def _encoding(encoding: str, data: bytes) -> tiktoken.Encoding | None:
    """`data` has the right sha256, so its lines need no check."""
    try:
        import tiktoken
    except ImportError:
        return None
    pairs = (line.split() for line in data.splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in pairs}
    return tiktoken.Encoding(encoding, pat_str=PINS[encoding].pattern, mergeable_ranks=ranks, special_tokens={})
