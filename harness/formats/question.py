"""question.md: the question, the cells it asks for, and the directions given on the way."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from harness.errors import WrongCall
from harness.formats.front import (
    front_list,
    front_problems,
    front_value,
    open_problems,
    put,
    render_front,
    split_front,
    without,
)
from harness.formats.headings import heading_of
from harness.formats.labels import DIRECTIONS, script_language
from harness.formats.text import clean, one_line
from harness.model import FrontMatter, Grid, Question
from harness.patterns import lazy

_KEYS = ("entities", "fields", "ready_when")  # those with a place of their own in Question
_TITLES = frozenset(title.lower() for title in DIRECTIONS.values())
_BULLET = lazy(r"^\s*[-*+•–—]\s+")


class _Parts(NamedTuple):
    text: tuple[str, ...]  # lines outside Directions
    directions: tuple[str, ...]
    open: bool  # the last line stands in a Directions section


def parse_question(text: str, file: str = "question.md") -> Question:
    """Any text is a question; `front` holds the keys that have no place of their own in the value.

    `text` is all but front matter and Directions sections, without blank lines around it. A direction is one
    bullet with the lines that continue it, or a paragraph, folded into one line.
    """
    found, body = split_front(text)
    front = found or FrontMatter()
    parts = _parts(body.split("\n"))
    cells = (tuple(dict.fromkeys(front_list(front, key) or ())) for key in ("entities", "fields"))
    return Question(
        text="\n".join(parts.text).strip(),
        directions=parts.directions,
        front=without(front, _KEYS),
        grid=Grid(*cells),
        ready_when=" ".join((front_value(front, "ready_when") or "").split()),
        problems=(*open_problems(text, file), *front_problems(front, file)),
    )


def render_question(question: Question) -> str:
    """The file's text: cells, other keys, text, Directions."""
    front = question.front
    known = (
        FrontMatter() if not front.blocks or any(key for key, _ in front.blocks) else put(FrontMatter(), "entities", ())
    )
    for key, value in zip(_KEYS, (question.grid.entities, question.grid.fields, question.ready_when), strict=True):
        known = put(known, key, value) if value else known
    head = render_front(FrontMatter((*known.blocks, *front.blocks)))
    if not head and split_front(question.text)[0] is not None:
        head = "---\n---\n"  # else the text's own first lines would be read as ours
    text = question.text + "\n" if question.text else ""
    if question.directions:
        text += _title(question.text) + "".join(f"- {direction}\n" for direction in question.directions)
    return head + text


def add_direction(text: str, direction: str, date: str) -> str:
    """The file's text with `- DATE: direction` added under Directions; `date` is ISO.

    The text given stands unchanged at the beginning, so that adding a direction is one append, without a lock:
    where another section follows Directions, a second Directions section at the end takes it (both are read).
    Raises WrongCall for an empty direction.
    """
    folded = one_line(direction)
    if not folded:
        raise WrongCall("A direction without words", repr(direction), 'Say it like: harness steer "leave out prices"')
    return add_direction_line(text, f"{date}: {folded}")


def add_direction_line(text: str, line: str) -> str:
    """The same with a direction as it stands in another file, its date and all."""
    body = split_front(text)[1]
    title = "" if _parts(body.split("\n")).open else _title(body)
    ended = text if not text or text.endswith("\n") else text + "\n"
    return f"{ended}{title}- {line}\n"


def fingerprint(question_text: str) -> str:
    """8 hex digits of the question's text: front matter, Directions, white space and Unicode form do not count."""
    text = unicodedata.normalize("NFC", parse_question(clean(question_text)).text)
    return sha256(" ".join(text.split()).encode()).hexdigest()[:8]


def _title(text: str) -> str:
    return f"\n## {DIRECTIONS[script_language(text)]}\n"


def _parts(lines: Sequence[str]) -> _Parts:
    """A Directions section ends at the next heading of its level or above."""
    text: list[str] = []
    directions: list[str] = []
    level = 0  # of the Directions section that is open; 0 = none
    goes_on = False
    for line in lines:
        heading = heading_of(line)
        if heading and heading.title.lower() in _TITLES and (heading.certain or line.lstrip().startswith(("#", "**"))):
            level, goes_on = heading.level, False
        elif not level or (heading and heading.certain and heading.level <= level):
            level = 0
            text.append(line)
        elif not line.strip():
            goes_on = False
        elif goes_on and not heading and not _BULLET.match(line):
            directions[-1] += f" {line.strip()}"
        elif folded := _BULLET.sub("", line, count=1).strip():
            directions.append(folded)
            goes_on = True
    return _Parts(tuple(text), tuple(directions), bool(level))
