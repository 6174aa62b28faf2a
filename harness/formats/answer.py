"""answer.md: the answer, with front matter that says whether it is a draft and what ended the loop."""

from __future__ import annotations

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
from harness.model import Answer, FrontMatter, Problem

STATUSES = ("draft", "complete", "partial")
STOPS = ("answered", "rounds", "tokens", "minutes", "stalled", "person")
_KEYS = ("status", "stopped", "round")


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
