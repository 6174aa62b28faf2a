"""The text of a reply, whatever kind of object the chat returns."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

from harness.errors import SnowBallError

# Where the text stands: OpenAI's choices → message → content, Anthropic's and LangChain's content, llm's text(), the
# output_text of OpenAI's responses.
PLACES = ("choices", "message", "content", "output_text", "text")


def text_of(reply: Any) -> str | Awaitable[str]:
    """Empty for a reply that holds no text; an awaitable where the text itself has to be waited for (`llm`, async).

    Raises SnowBallError for an object of a kind that is not known.
    """
    found = _text(reply)
    if found is None:
        told = type(reply).__qualname__
        raise SnowBallError("the chat returned something without a text", told, "say where it is with text=")
    return found


def _text(value: Any) -> str | Awaitable[str] | None:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, Sequence):
        return "".join(text for block in value if isinstance(text := _block(block), str))
    place = next((name for name in PLACES if _has(value, name)), None)
    if place is None:
        return None
    inner: Any = value[place] if isinstance(value, Mapping) else getattr(value, place)
    if place == "choices":
        inner = inner[0] if inner else None
    if callable(inner) and not isinstance(inner, str):  # LangChain's `text` is a str that can be called
        told: str | Awaitable[str] = inner()
        return told
    return _text(inner)


def _has(value: Any, name: str) -> bool:
    return name in value if isinstance(value, Mapping) else hasattr(value, name)


def _block(block: Any) -> Any:
    """One block of a content that has several; thoughts and tool calls have no `text`."""
    if isinstance(block, str):
        return block
    return block.get("text") if isinstance(block, Mapping) else getattr(block, "text", None)
