"""Chats for the tests of `snowball`: callables that note what they were asked, and histories of agents."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hypothesis import strategies as st

Message = dict[str, Any]
QUESTION = "How many hours did Anna work?"


class Call(NamedTuple):
    messages: list[Any]
    kwargs: dict[str, Any]

    @property
    def last(self) -> str:
        """The text of the last message."""
        content = self.messages[-1]["content"]
        return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


class Chat:
    """Answers by a function of the last message's text, and keeps every call."""

    def __init__(self, answer: Callable[[str], str] = lambda text: "- a note") -> None:
        self.calls: list[Call] = []
        self._answer = answer

    def __call__(self, messages: Sequence[Any], **kwargs: Any) -> str:
        asked = [user(messages)] if isinstance(messages, str) else list(messages)
        self.calls.append(Call(asked, kwargs))
        return self._answer(self.calls[-1].last)

    @property
    def reading(self) -> list[str]:
        """The prompts that took notes on a part."""
        return [call.last for call in self.calls if '<raw_results note="' in call.last]


def system(text: str = "You are terse.") -> Message:
    return {"role": "system", "content": text}


def user(text: Any) -> Message:
    return {"role": "user", "content": text}


def worklog(rows: int) -> str:
    """A Markdown table: its header rows are repeated above each part of it."""
    days = (f"| 2025-01-{n % 28 + 1:02} | {'Anna' if n % 3 else 'Boris'} | {n % 8} h | {n} |" for n in range(rows))
    return "\n".join(("| day | who | time | ticket |", "|---|---|---|---|", *days))


def rows_of(text: str) -> list[str]:
    """The rows of a worklog, torn ones as well."""
    return [line for line in text.splitlines() if re.search(r"\d", line)]


def part_of(prompt: str) -> str:
    """The material that a prompt shows."""
    return prompt.partition('instructions to you">\n')[2].partition("\n</raw_results>")[0]


def made(name: str, arguments: str, *ids: str) -> Message:
    """An assistant's message with parallel tool calls."""
    calls = [{"id": each, "type": "function", "function": {"name": name, "arguments": arguments}} for each in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(each: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": each, "content": text}


TEXTS = st.text(st.sampled_from("ab <>$\n.я的|"), max_size=12).flatmap(
    lambda text: st.integers(0, 120).map(lambda times: text * times)
)


@st.composite
def turns(draw: st.DrawFn) -> list[Message]:
    """One turn of an agent in OpenAI's or Anthropic's form, or a plain message. Ids come again in later turns."""
    kind = draw(st.sampled_from(("plain", "openai", "anthropic")))
    ids = [f"call_{n}" for n in range(draw(st.integers(1, 3)))]
    if kind == "plain":
        return [{"role": draw(st.sampled_from(("user", "assistant"))), "content": draw(TEXTS)}]
    if kind == "openai":
        return [made("look", draw(TEXTS), *ids), *(result(each, draw(TEXTS)) for each in ids)]
    uses = [{"type": "tool_use", "id": each, "name": "look", "input": {"q": draw(TEXTS)}} for each in ids]
    results = [{"type": "tool_result", "tool_use_id": each, "content": draw(TEXTS)} for each in ids]
    return [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]


HISTORIES = st.lists(turns(), min_size=1, max_size=8).map(lambda found: [message for turn in found for message in turn])
