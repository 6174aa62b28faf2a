"""What each kind of chat is called with: plain callables, `openai`, `anthropic`, `llm` and LangChain."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from harness.errors import SnowBallError
from harness.snowball.messages import SYSTEM, see


class Endpoint(NamedTuple):
    """A chat as folding calls it: (messages, …) → reply, or something to wait for.

    `take_notes` asks the same model without tools. `carries` goes along with every call that `ask` makes, unseen by
    the caller; its size counts.
    """

    ask: Callable[..., Any]
    take_notes: Callable[..., Any]
    is_async: bool
    carries: Any = None
    twin: Endpoint | None = None  # the async one of a chat that can be called both ways


class Given(NamedTuple):
    """What a chat is wrapped with: the model's name, tokens of a reply, tools."""

    model: str | None
    output: int
    tools: Sequence[Any]


def endpoint_for(chat: Any, given: Given) -> Endpoint:
    """Raises SnowBallError for what none of the adapters knows."""
    for adapter in ADAPTERS.values():
        if adapter.fits(chat):
            return adapter.make(chat, given)
    hint = f"wrap a callable that takes a list of messages, or one of: {', '.join(ADAPTERS)}"
    raise SnowBallError("this is no chat", type(chat).__qualname__, hint)


def is_async(call: Any) -> bool:
    """Whether calling it gives something to wait for, as far as its definition tells."""
    found = (call, inspect.unwrap(call) if callable(call) else call, getattr(call, "__call__", None))  # noqa: B004
    return any(map(inspect.iscoroutinefunction, found))


def _callable(chat: Any, given: Given) -> Endpoint:
    def ask(messages: Any, *args: Any, **kwargs: Any) -> Any:
        return chat(messages, *args, **(_tools(given) | kwargs))

    return Endpoint(ask, chat, is_async(chat), given.tools)


def _openai(client: Any, given: Given) -> Endpoint:
    create = client.chat.completions.create
    fixed = {"model": _model(client, given)}

    def ask(messages: Any, **kwargs: Any) -> Any:
        return create(messages=_as_messages(messages), **(fixed | _tools(given) | kwargs))

    def take_notes(messages: Any, **kwargs: Any) -> Any:
        return create(messages=_as_messages(messages), **(fixed | kwargs))

    return Endpoint(ask, take_notes, is_async(create), given.tools)


def _anthropic(client: Any, given: Given) -> Endpoint:
    """The system prompt goes apart; `max_tokens`, which every request needs, is the room for the reply."""
    create = client.messages.create
    fixed = {"model": _model(client, given), "max_tokens": given.output}

    def take_notes(messages: Any, **kwargs: Any) -> Any:
        body = _as_messages(messages)
        system = [text for text in map(see, body) if text.role in SYSTEM]
        if system:
            kwargs = {"system": "\n\n".join(seen.text for seen in system), **kwargs}
            body = [message for message in body if see(message).role not in SYSTEM]
        return create(messages=body, **(fixed | kwargs))

    def ask(messages: Any, **kwargs: Any) -> Any:
        return take_notes(messages, **(_tools(given) | kwargs))

    return Endpoint(ask, take_notes, is_async(create), given.tools)


def _llm(model: Any, given: Given) -> Endpoint:
    """A prompt is a text; of messages, those of the system go apart and the others are put together."""

    def take_notes(messages: Any, **kwargs: Any) -> Any:
        if isinstance(messages, str):
            return model.prompt(messages, **kwargs)
        seen = [see(message) for message in messages]
        system = "\n\n".join(message.text for message in seen if message.role in SYSTEM)
        rest = "\n\n".join(message.text for message in seen if message.role not in SYSTEM)
        return model.prompt(rest, **({"system": system} if system else {}) | kwargs)

    def ask(messages: Any, **kwargs: Any) -> Any:
        return take_notes(messages, **(_tools(given) | kwargs))

    is_async_model = any(kind.__name__ == "_AsyncModel" for kind in type(model).__mro__)
    return Endpoint(ask, take_notes, is_async_model, given.tools)


def _langchain(chat: Any, given: Given) -> Endpoint:
    """A model that tools were bound to before is unbound for taking notes, and its tools are counted."""
    if given.tools:
        from langchain_core.utils.function_calling import convert_to_openai_tool

        full, plain = chat.bind_tools(given.tools), chat
        carries: Any = [convert_to_openai_tool(tool) for tool in given.tools]
    else:
        full, plain = chat, getattr(chat, "bound", chat)
        carries = getattr(chat, "kwargs", None) if plain is not chat else None
    waiting = Endpoint(full.ainvoke, plain.ainvoke, True, carries)
    return Endpoint(full.invoke, plain.invoke, False, carries, waiting)


def _tools(given: Given) -> dict[str, Any]:
    return {"tools": given.tools} if given.tools else {}


def _as_messages(messages: Any) -> list[Any]:
    return [{"role": "user", "content": messages}] if isinstance(messages, str) else list(messages)


def _model(client: Any, given: Given) -> str:
    if not given.model:
        raise SnowBallError("a client needs the name of a model", type(client).__qualname__, 'name it: model="…"')
    return given.model


def _has(*path: str) -> Callable[[Any], bool]:
    """Whether `chat.a.b` is there and can be called."""

    def fits(chat: Any) -> bool:
        for name in path:
            chat = getattr(chat, name, None)
        return callable(chat)

    return fits


class Adapter(NamedTuple):
    fits: Callable[[Any], bool]
    make: Callable[[Any, Given], Endpoint]


# The first that fits. Recognised by what they can do, so that none of these packages is imported here.
ADAPTERS: dict[str, Adapter] = {
    "openai": Adapter(_has("chat", "completions", "create"), _openai),
    "anthropic": Adapter(_has("messages", "create"), _anthropic),
    "langchain": Adapter(_has("ainvoke"), _langchain),
    "llm": Adapter(_has("prompt"), _llm),
    "callable": Adapter(callable, _callable),
}
