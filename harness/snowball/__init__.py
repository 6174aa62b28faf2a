"""Folds what does not fit a model's window: a wrapper around any chat that steps in only then (docs/library.md)."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Sequence
from functools import cache
from typing import Any, Literal, Protocol, TypedDict, TypeVar, Unpack, overload

from harness.caching import cache_folder
from harness.counters import Counter, counter_for
from harness.errors import SnowBallError
from harness.snowball.adapters import Given, endpoint_for
from harness.snowball.folding import STRATEGIES
from harness.snowball.memory import Memory
from harness.snowball.replies import text_of
from harness.snowball.running import AsyncFold, BothFold, Fold, Folded, Progress, Terms
from harness.snowball.sizes import Count, room_for

__all__ = [
    "AsyncFold",
    "BothFold",
    "Count",
    "Fold",
    "Folded",
    "Options",
    "Progress",
    "SnowBallError",
    "Strategy",
    "bind_tools",
    "wrap",
]

R = TypeVar("R")
Strategy = Literal["refine", "map_reduce", "tree"]
WINDOW = 131_072
# Above the tokens of OpenAI's models and of the one published Claude tokenizer, in English, Russian and Chinese; o200k
# is 43 % under the latter in Russian.
COUNTED_BY = ("cl100k_base", 1.2)
PARALLEL = 4
REMEMBERED = 256  # notes of an agent's parts: some 25 MB at most with the usual window


class Options(TypedDict, total=False):
    """How a chat is wrapped. Every key may be left out."""

    window: int  # tokens the model takes, request and reply together: 131,072
    output: int | None  # tokens of them that are reserved for the reply: a fifth
    count: Count | None  # text → tokens: cl100k_base × 1.2, above what GPT and Claude count
    strategy: Strategy  # refine: part after part; map_reduce, tree: side by side
    question: str | None  # what is asked, repeated with every part: the last message of the user
    parallel: int  # calls side by side at most: 4
    on_error: Literal["raise", "skip"]  # a part whose call raises: raise it, or leave the part unread
    on_progress: Callable[[Progress], None]
    text: Callable[[Any], Any]  # reply → its text, for replies of an unknown kind


class Chains(Protocol):
    """A chat model as LangChain has them."""

    def invoke(self, input: Any, /) -> Any: ...
    def ainvoke(self, input: Any, /) -> Any: ...


class OpenAIClient(Protocol):
    """A client of `openai`, sync or async."""

    @property
    def chat(self) -> Any: ...


class AnthropicClient(Protocol):
    """A client of `anthropic`, sync or async."""

    @property
    def messages(self) -> Any: ...


class LlmModel(Protocol):
    """A model of `llm`, sync or async."""

    def prompt(self, prompt: str | None = None, /) -> Any: ...


Client = OpenAIClient | AnthropicClient | LlmModel


@overload
def wrap(  # type: ignore[overload-overlap]  # a coroutine function is a callable too; the first row that fits counts
    chat: Callable[..., Coroutine[Any, Any, R]], *, model: str | None = None, **options: Unpack[Options]
) -> AsyncFold[R]: ...
@overload
def wrap(chat: Callable[..., R], *, model: str | None = None, **options: Unpack[Options]) -> Fold[R]: ...
@overload
def wrap(chat: Chains, *, model: str | None = None, **options: Unpack[Options]) -> BothFold: ...
@overload
def wrap(chat: Client, *, model: str | None = None, **options: Unpack[Options]) -> Any: ...
def wrap(chat: Any, *, model: str | None = None, **options: Unpack[Options]) -> Any:
    """A chat that takes requests of any length and returns what the chat returns.

    `chat`: a callable that takes a list of messages (or one text) first, sync or async; a client of `openai` or
    `anthropic` together with the name of a `model`; a model of `llm`; a chat model of LangChain. A request that fits
    `window` less `output` goes through with the very same arguments. Another is folded: read in parts, of which none
    is longer than that, with the system messages and the question repeated on each; then the original request is made
    with the notes in place of the material. Tool calls stay with their results.

    Returns a Fold, for an async chat an AsyncFold, for LangChain a BothFold. Raises SnowBallError for what is no chat
    and for options without a meaning; method: SnowBall, iterative refinement (docs/library.md).
    """
    return _wrapped(chat, model, None, options)


@overload
def bind_tools(  # type: ignore[overload-overlap]  # as above
    chat: Callable[..., Coroutine[Any, Any, R]],
    tools: Sequence[Any],
    *,
    model: str | None = None,
    **options: Unpack[Options],
) -> AsyncFold[R]: ...
@overload
def bind_tools(
    chat: Callable[..., R], tools: Sequence[Any], *, model: str | None = None, **options: Unpack[Options]
) -> Fold[R]: ...
@overload
def bind_tools(
    chat: Chains, tools: Sequence[Any], *, model: str | None = None, **options: Unpack[Options]
) -> BothFold: ...
@overload
def bind_tools(chat: Client, tools: Sequence[Any], *, model: str | None = None, **options: Unpack[Options]) -> Any: ...
def bind_tools(chat: Any, tools: Sequence[Any], *, model: str | None = None, **options: Unpack[Options]) -> Any:
    """As `wrap`, for an agent: `tools` go along with every request (as `tools=`, or as LangChain binds them).

    Calls that take notes have no tools. What the last turns of the agent hold up to a quarter of the room comes back
    whole, so that it goes on where it was.
    """
    return _wrapped(chat, model, tuple(tools), options)


def _count(text: str) -> int:
    return _counter()(text)


@cache
def _counter() -> Counter:
    return counter_for(*COUNTED_BY, cache_folder(os.environ))


def _silent(progress: Progress) -> None:
    """Where nobody asked for progress."""


def _wrapped(chat: Any, model: str | None, tools: Sequence[Any] | None, options: Options) -> Any:
    terms = _terms(options, tools is not None)
    given = Given(model, terms.room.window - terms.room.total, tools or ())
    endpoint = endpoint_for(chat, given)
    if endpoint.twin:
        twin = AsyncFold[Any](endpoint.twin, terms)
        return BothFold(endpoint, terms, twin, lambda more: _wrapped(chat, model, more, options))
    return AsyncFold(endpoint, terms) if endpoint.is_async else Fold(endpoint, terms)


def _terms(options: Options, for_agent: bool) -> Terms:
    strategy, parallel = options.get("strategy", "refine"), options.get("parallel", PARALLEL)
    if strategy not in STRATEGIES:
        raise SnowBallError("no such strategy", strategy, f"there are: {', '.join(STRATEGIES)}")
    if parallel < 1:
        raise SnowBallError("calls side by side are 1 or more", f"parallel={parallel}", "leave it out for 4")
    return Terms(
        room_for(options.get("window", WINDOW), options.get("output")),
        options.get("count") or _count,
        strategy,
        options.get("question"),
        parallel,
        options.get("on_error", "raise"),
        options.get("on_progress", _silent),
        Memory(REMEMBERED if for_agent else 0),
        options.get("text", text_of),
    )
