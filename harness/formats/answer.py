"""answer.md: the answer, with front matter that says whether it is a draft and what ended the loop."""

from __future__ import annotations

from collections.abc import Sequence

from harness.formats.front import (
    front_count,
    front_problems,
    front_value,
    open_problems,
    put,
    render_front,
    split_front,
    without,
)
from harness.formats.headings import heading_of
from harness.formats.labels import section_kind
from harness.model import Answer, FrontMatter, Problem, SectionKind
from harness.patterns import lazy

STATUSES = ("draft", "complete", "partial")
STOPS = ("answered", "rounds", "tokens", "minutes", "stalled", "person")
_KEYS = ("status", "stopped", "round")
_LISTED = lazy(r"\s*(?:[-*+•\[]|\d{1,3}[.)]|https?:|={3,}|-{3,})")
_UNDERLINE = lazy(r"\s*(?:={3,}|-{3,})\s*")


def parse_answer(text: str, file: str = "answer.md") -> Answer:
    """Reads answer.md; never raises. A text without front matter, or without `status`, is a person's answer."""
    front, body = split_front(text)
    if front is None:
        return Answer(text.strip("\n"), stopped="person", problems=open_problems(text, file))
    status = front_value(front, "status") or "complete"
    stopped = front_value(front, "stopped") or "person"
    count = front_count(front, "round", file)
    problems = [*front_problems(front, file), *((count.problem,) if count.problem else ())]
    if status not in STATUSES:
        problems.append(_unknown(file, "status", status, STATUSES))
        status = "complete"  # never a draft: a draft may be removed
    if stopped not in STOPS:
        problems.append(_unknown(file, "stopped", stopped, STOPS))
        stopped = "person"
    rest = without(front, _KEYS)
    return Answer(body.strip("\n"), status, stopped, count.value or 0, rest, tuple(problems))


def render_answer(answer: Answer) -> str:
    """The file; `parse_answer` gives the same value back (blank lines around the text aside)."""
    front = put(FrontMatter(), "status", answer.status)
    front = put(front, "stopped", answer.stopped)
    front = put(front, "round", str(answer.round))
    front = FrontMatter((*front.blocks, *answer.front.blocks))
    return f"{render_front(front)}\n{answer.text.strip(chr(10))}\n"


def _unknown(file: str, key: str, value: str, known: tuple[str, ...]) -> Problem:
    return Problem(file, 1, f"`{key}: {value[:60]}` is not known", f"Write one of: {', '.join(known)}.")


def without_sources(body: str) -> str:
    """Without lists of sources that a role wrote itself, under a heading of any style: only the harness lists them.

    A `#` heading ends at the next one; a mere label (`Sources:`, bold, underlined) ends with its list.
    """
    kept: list[str] = []
    inside = ""  # "heading" or "label"
    lines = body.strip().split("\n")
    for at, line in enumerate(lines):
        heading = heading_of(line)
        if heading and heading.certain:
            inside = "heading" if section_kind(heading.title) is SectionKind.SOURCES else ""
        elif _is_label(line, lines[at + 1 : at + 2]):
            inside = inside or "label"
        elif inside == "label" and line.strip() and not _LISTED.match(line):
            inside = ""
        if not inside:
            kept.append(line)
    return "\n".join(kept).strip()


def _is_label(line: str, following: Sequence[str]) -> bool:
    title = line.strip(" \t-*_:：")
    underlined = any(_UNDERLINE.fullmatch(one) for one in following)
    marked = underlined or line.rstrip().endswith((":", "：", "**", "__"))
    return marked and section_kind(title) is SectionKind.SOURCES
