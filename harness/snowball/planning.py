"""Takes a request apart: what is repeated in every call, what is read in parts, what comes back at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.errors import SnowBallError
from harness.render import FORGED
from harness.snowball.memory import Memory
from harness.snowball.messages import SYSTEM, Group, Seen, grouped, see
from harness.snowball.parts import Part, pack
from harness.snowball.prompts import no_notes, prompt
from harness.snowball.sizes import PER_IMAGE, PER_MESSAGE, Count, Room, excerpt, measure, size
from harness.words import language_of

# Of the room beside the fixed parts and the notes: what is asked may take an eighth (it stands twice in a call), the
# last message is kept whole up to a half. Of the room for a request: the last turns of an agent take up to a quarter, a
# part at least a twentieth, and 128 tokens.
QUESTION_SHARE, WHOLE_SHARE, TAIL_SHARE, PART_SHARE, PART_LEAST = 8, 2, 4, 20, 128
QUESTION_TOKENS = 240  # of a message that is too long to be repeated, its head and tail


@dataclass(frozen=True)
class Job:
    """A request that does not fit, taken apart. `extra` are the tokens of what goes along with the messages."""

    system: tuple[Any, ...]
    question: str
    request: Seen | None  # the last message of the user, where it is short enough to come back whole
    tail: tuple[Any, ...]  # the last turns of an agent, whole
    kept: tuple[Any, ...]  # images and files of what is read in parts
    material: tuple[Seen, ...]
    parts: tuple[Part, ...]
    language: str
    room: Room
    fixed: int  # tokens of system and extra
    count: Count
    memory: Memory = field(default_factory=lambda: Memory(0))

    def left(self, *taken: int) -> int:
        """Tokens that a call has left beside the fixed ones, the slack and what is taken."""
        return self.room.total - self.fixed - self.room.slack - sum(taken)

    def call(self, text: str) -> list[Any]:
        """A call that takes notes: the system prompt and one message."""
        return [*self.system, user_message(text, [*self.system, *(seen.native for seen in self.material)])]


def user_message(content: Any, like: Sequence[Any]) -> Any:
    """A user's message of the kind the request is made of: a LangChain message among such, otherwise a dictionary."""
    if any(type(message).__module__.startswith("langchain") for message in like):
        from langchain_core.messages import HumanMessage

        return HumanMessage(content=content)
    return {"role": "user", "content": content}


def take_apart(messages: Sequence[Any], extra: int, room: Room, count: Count, question: str | None) -> Job:
    """A request that is longer than `room.total`. Raises SnowBallError where its fixed parts alone exceed that."""
    seen = [see(message) for message in messages]
    body = [message for message in seen if message.role not in SYSTEM]
    system = tuple(message.native for message in seen if message.role in SYSTEM)
    fixed = measure(system, count) + extra
    at = max((n for n, message in enumerate(body) if message.role == "user" and not message.answers), default=None)
    asked = body[at] if at is not None else None
    free = room.total - fixed - room.notes
    request = asked if asked and size(asked, count) <= free // WHOLE_SHARE else None
    told = FORGED.sub("‹", question) if question else _question(asked or (body[-1] if body else None), free, count)
    language = language_of(told)
    tail = _tail(body, at, free - (size(request, count) if request else 0), room, count)
    material = tuple(
        message._replace(text=FORGED.sub("‹", message.text)) for message in body[: tail.start] if message is not request
    )
    budget = free - room.slack - _instructions(language, told, count)
    if budget < max(room.total // PART_SHARE, PART_LEAST):
        raise _no_room(room, measure(system, count), extra, count(told), budget)
    parts = pack(material, budget, count)
    kept = tuple(part for message in material for part in message.kept)
    rest = tuple(message.native for message in body[tail.start :])
    return Job(system, told, request, rest, kept, material, parts, language, room, fixed, count)


def _question(asked: Seen | None, free: int, count: Count) -> str:
    """What is repeated in every call: all of a short message, the head and tail lines of a long one."""
    if asked is None:
        return ""
    text = FORGED.sub("‹", asked.text)
    allowed = max(0, free // QUESTION_SHARE)
    if (whole := excerpt(text, allowed, count)) == text:
        return whole
    return excerpt(text, min(allowed, QUESTION_TOKENS), count)


def _instructions(language: str, question: str, count: Count) -> int:
    """Tokens of the longer of the two reading prompts without a part and without notes."""
    values: dict[str, str | int] = {"question": question, "part": 9999, "parts": 9999, "text": "", "words": 99999}
    longer = max(
        count(prompt(language, "refine", notes=no_notes(language), **values)),
        count(prompt(language, "part", **values)),
    )
    return longer + PER_MESSAGE


def _tail(body: Sequence[Seen], asked: int | None, free: int, room: Room, count: Count) -> Group:
    """The last whole groups after what was asked, up to a quarter of the room: an agent goes on from there."""
    start, left = len(body), min(room.total // TAIL_SHARE, free // 2)
    if asked is None:
        return Group(start, start)
    for group in reversed(grouped(body)):
        left -= sum(size(message, count) for message in body[group.start : group.end])
        if group.start <= asked or left < 0:
            break
        start = group.start
    return Group(start, len(body))


def _no_room(room: Room, system: int, extra: int, question: int, budget: int) -> SnowBallError:
    told = (
        f"of {room.total} tokens (window {room.window} without the reply) system messages take {system}, tools and "
        f"other arguments {extra}, the question {question}, notes {room.notes}; {max(0, budget)} are left for a part"
    )
    largest = max((system, "the system messages"), (extra, "the tools"), (question, "the question"))[1]
    return SnowBallError(
        "a call's fixed parts leave no room for the material", told, f"shorten {largest}, or name a larger window="
    )


def closing(job: Job, notes: str, unread: Sequence[int]) -> list[Any]:
    """The last call: the original request with the notes in place of what was read in parts."""
    missing = ", ".join(map(str, unread))
    told = prompt(
        job.language,
        "final",
        parts=len(job.parts),
        notes=notes or no_notes(job.language),
        unread=prompt(job.language, "unread", parts=missing) + "\n" if missing else "",
    )
    native = job.request.native if job.request else None
    asked = _content(native) if job.request else job.question
    images = list(job.kept)
    taken = job.count(told) + PER_MESSAGE + measure(job.tail, job.count)
    taken += size(job.request, job.count) if job.request else job.count(job.question)
    while images and job.left(taken, PER_IMAGE * len(images)) < 0:
        images.pop(0)  # the last ones stay
    if isinstance(asked, str) and not images:
        content: Any = f"{told}\n\n{asked}"
    else:
        blocks = [{"type": "text", "text": asked}] if isinstance(asked, str) else list(asked)
        content = [{"type": "text", "text": told}, *blocks, *images]
    return [*job.system, _with_content(native, content, job), *job.tail]


def room_for_notes(job: Job) -> int:
    """Tokens of notes that the last call can hold."""
    told = prompt(job.language, "final", parts=9999, notes="", unread=prompt(job.language, "unread", parts="") + "\n")
    numbers = job.count(", ".join(str(number) for number in range(1, len(job.parts) + 1)))
    asked = size(job.request, job.count) if job.request else job.count(job.question)
    return job.left(job.count(told), numbers, asked, 2 * PER_MESSAGE, measure(job.tail, job.count))


def _content(native: Any) -> Any:
    if isinstance(native, str):
        return native
    if isinstance(native, Mapping):
        return native["content"]
    return str(native[1]) if isinstance(native, Sequence) else native.content


def _with_content(native: Any, content: Any, job: Job) -> Any:
    """The request's own message with other content; what else it carries (a name) stays."""
    if isinstance(native, Mapping):
        return {**native, "content": content}
    copy: Callable[..., Any] | None = getattr(native, "model_copy", None)
    if copy:
        return copy(update={"content": content})
    return user_message(content, [seen.native for seen in job.material])
