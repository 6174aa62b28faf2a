"""Kinds of settings: each turns what was given into a typed value, or says what the key takes."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from pathlib import Path

from harness.given import Given, near_match
from harness.patterns import lazy

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
# At most 18 digits: int() refuses 4,300 of them with an error of its own.
_WHOLE = lazy(r"-?[0-9]([0-9_]{0,17})")
_NUMBER = lazy(r"-?[0-9]{1,12}(\.[0-9]{1,6})?")
_PATH_ARGUMENT = lazy(r"(?P<option>(?:--?[\w-]+=)?)(?P<path>\.\.?/.*)")
_DATE = lazy(r"[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?")


def text(given: Given) -> str:
    """One line of text, as it stands."""
    if not isinstance(given.value, str) or "\n" in given.value.strip():
        raise given.refused("one line of text")
    return given.value.strip()


def texts(given: Given) -> tuple[str, ...]:
    """A list of lines of text; a text with commas is a list."""
    return tuple(text(item) for item in given.items())


def whole(least: int, most: int) -> Callable[[Given], int]:
    """A whole number in a range, both ends included."""

    def parse(given: Given) -> int:
        value = given.value
        if not isinstance(value, str) or not _WHOLE.fullmatch(value) or not least <= int(value) <= most:
            raise given.refused(f"a whole number from {least} to {most}")
        return int(value)

    return parse


def number(most: float, unit: str) -> Callable[[Given], float]:
    """A number above 0, at most `most`; `unit` is for the message."""

    def parse(given: Given) -> float:
        value = given.value
        if not isinstance(value, str) or not _NUMBER.fullmatch(value) or not 0 < float(value) <= most:
            raise given.refused(f"a number of {unit} above 0 and up to {most:.0f}")
        return float(value)

    return parse


def choice(*values: str) -> Callable[[Given], str]:
    """One of a few words, in any case."""

    def parse(given: Given) -> str:
        value = text(given).lower()
        if value not in values:
            raise given.refused(f"one of {', '.join(values)}")
        return value

    return parse


def yes_no(given: Given) -> bool:
    """`true`, `yes`, `on`, `1` or the opposite."""
    value = given.value.lower() if isinstance(given.value, str) else ""
    if value not in _TRUE | _FALSE:
        raise given.refused("true or false")
    return value in _TRUE


def iso_date(given: Given) -> str:
    """`2024`, `2024-05` or `2024-05-31`, as it stands."""
    value = given.value if isinstance(given.value, str) else ""
    try:
        if not _DATE.fullmatch(value):
            raise ValueError
        date.fromisoformat(f"{value}-01-01"[:10])
    except ValueError:
        raise given.refused("a date like 2024-05-31, or a year, or a year and month") from None
    return value


def mapping(given: Given, takes: str) -> Mapping[str, Given]:
    """Nested keys; an empty value is an empty mapping."""
    if given.empty:
        return {}
    if not isinstance(given.value, Mapping):
        raise given.refused(takes)
    return given.value


def known_key(given: Given, names: Iterable[str], *, of: str) -> None:
    """Raises unless the last part of the value's name is one of `names`."""
    known = tuple(names)
    key = given.name.rpartition(".")[2]
    if key not in known:
        what = f"unknown key `{key}` in {of}{near_match(key, known)}"
        raise given.problem(what, f"There are: {', '.join(known)}.")


def command(given: Given) -> tuple[str, ...]:
    """A command line: a list of words, or one text that is split as a shell would split it (no shell runs it)."""
    try:
        words = shlex.split(given.value) if isinstance(given.value, str) else [_word(item) for item in given.items()]
    except ValueError:
        words = []
    if not words or not words[0]:
        raise given.refused("a program and its arguments, like [my-agent, --quiet]")
    # A bare name is looked up on PATH; `bin/tool` and `~/tool` are files.
    program = _absolute(given, words[0]) if "/" in words[0] or "\\" in words[0] else words[0]
    return (program, *(argument(given, word) for word in words[1:]))


def path(given: Given) -> str:
    """An absolute path; a relative one is taken from the folder of the file that holds it."""
    value = text(given)
    if not value:
        raise given.refused("a path")
    return _absolute(given, value)


def _word(item: Given) -> str:
    if not isinstance(item.value, str):
        raise item.refused("words only")
    return item.value


def argument(given: Given, word: str) -> str:
    """Only `./x` and `../x`, alone or behind `--option=`, are surely paths: `[python3, ./agent.py]`.

    The program itself runs in a folder of its own, so they would lead nowhere there.
    """
    match = _PATH_ARGUMENT.fullmatch(word)
    return match["option"] + _absolute(given, match["path"]) if match else word


def _absolute(given: Given, value: str) -> str:
    try:
        # normpath, not resolve(): a link in the path stays one until it is used.
        return os.path.normpath((given.base / Path(value).expanduser()).absolute())
    except RuntimeError:  # `~name` of a user who does not exist
        raise given.refused("a path") from None
