"""Reads the messages of every kind of chat as one plain view, and tells which belong together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from harness.errors import SnowBallError

SYSTEM = ("system", "developer")
LANGCHAIN_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant", "function": "tool"}
ANSWERS = ("tool_call_id", "tool_use_id")  # OpenAI and LangChain; Anthropic
# Anthropic's `thinking` belongs to the turn it was thought in and is worthless to a reader of notes.
PASSED_OVER = ("thinking", "redacted_thinking", "reasoning")


class Seen(NamedTuple):
    """One message as folding sees it. `kept` are its parts that are no text (images, files), whole."""

    native: Any
    role: str
    text: str
    calls: tuple[str, ...] = ()  # ids of the tool calls it makes
    answers: tuple[str, ...] = ()  # ids of the tool calls whose results it holds
    kept: tuple[Any, ...] = ()
    said: tuple[str, ...] = ()  # its tool calls as text, in the order of `calls`


class Group(NamedTuple):
    """Messages that stay together: one alone, or tool calls with all their results; indices, the end exclusive."""

    start: int
    end: int


def plain(value: Any) -> Any:
    """A pydantic object of an SDK as the dictionary it stands for; anything else as it is."""
    dump = getattr(value, "model_dump", None)
    return dump(exclude_none=True) if dump and not isinstance(value, Mapping) else value


def see(message: Any) -> Seen:
    """A dictionary of OpenAI's or Anthropic's form, an SDK's object, a LangChain message or a (role, text) pair."""
    if isinstance(message, str):
        return Seen(message, "user", message)
    if isinstance(message, Sequence):
        return Seen(message, _role(message[0]), str(message[1]))
    dumped = plain(message)
    fields: Mapping[str, Any] = dumped if isinstance(dumped, Mapping) else vars(message)
    role = str(fields.get("role") or fields.get("type") or "user")
    texts: list[str] = []
    kept: list[Any] = []
    calls: dict[str, str] = {}
    answers = dict.fromkeys(str(fields[key]) for key in ANSWERS if fields.get(key))
    content = fields.get("content")
    for block in [content] if isinstance(content, str) else map(plain, content or ()):
        _read_block(block, texts, kept, calls, answers)
    made = [*map(plain, fields.get("tool_calls") or ()), *filter(None, (fields.get("function_call"),))]
    for call in made:
        name, said = _call(call)
        if name not in calls:  # LangChain has Anthropic's calls in the content as well
            calls[name] = said
            texts.append(said)
    if role == "function" and not answers:  # the form before tools: by the function's name
        answers[str(fields.get("name"))] = None
    text = "\n".join(texts)
    return Seen(message, _role(role), text, tuple(calls), tuple(answers), tuple(kept), tuple(calls.values()))


def _role(name: object) -> str:
    return LANGCHAIN_ROLES.get(str(name), str(name))


def _read_block(block: Any, texts: list[str], kept: list[Any], calls: dict[str, str], answers: dict[str, None]) -> None:
    """Sort one part of a message's content into what it is."""
    if isinstance(block, str):
        texts.append(block)
        return
    if not isinstance(block, Mapping):
        what = "a part of a message that is no text and no mapping"
        raise SnowBallError(what, repr(block)[:80], 'give a string, or a list of {"type": "text", "text": …}')
    kind = block.get("type")
    if kind == "tool_use":
        name, said = _call(block)
        calls[name] = said
        texts.append(said)
    elif kind == "tool_result":
        answers[str(block.get("tool_use_id"))] = None
        inner = block.get("content")
        for part in [inner] if isinstance(inner, str) else map(plain, inner or ()):
            _read_block(part, texts, kept, calls, answers)
    elif isinstance(block.get("text"), str):
        texts.append(block["text"])
    elif kind not in PASSED_OVER:
        texts.append(f"[{kind}]")
        kept.append(block)


def _call(call: Mapping[str, Any]) -> tuple[str, str]:
    """A tool call's id, and the call as `name(arguments)`."""
    made = call.get("function") or call
    given = made.get("arguments", made.get("args", made.get("input")))
    arguments = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=str)
    return str(call.get("id") or made.get("name")), f"{made.get('name')}({arguments})"


def grouped(messages: Sequence[Seen]) -> list[Group]:
    """Every message in exactly one group, in order. A result belongs to the last call before it that has its id:
    some servers number their calls anew in every reply."""
    made: dict[str, int] = {}
    first = list(range(len(messages)))  # for each message, the earliest one that it stays with
    for at, message in enumerate(messages):
        first[at] = min([at, *(made[name] for name in message.answers if name in made)])
        made.update(dict.fromkeys(message.calls, at))
    groups: list[Group] = []
    for at, start in enumerate(first):
        while groups and groups[-1].end > start:
            start = min(start, groups.pop().start)
        groups.append(Group(start, at + 1))
    return groups
