"""Calls the chat: passes through what fits, drives a fold where it does not; for sync and for async chats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import isawaitable
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from harness.errors import SnowBallError
from harness.snowball.adapters import Endpoint
from harness.snowball.folding import STRATEGIES, Ask, Notes
from harness.snowball.memory import Memory
from harness.snowball.planning import Job, closing, take_apart
from harness.snowball.prompts import notes_in
from harness.snowball.replies import text_of
from harness.snowball.sizes import Count, Room, measure, size_of_arguments

R = TypeVar("R")

# What a call carries beside its messages and takes room: counted.
COUNTED = ("system", "tools", "functions", "response_format", "schema", "fragments", "system_fragments")
# What belongs to the reply alone: calls that take notes do without. `stream=False` stays: `llm` would stream.
FOR_THE_REPLY = {
    *("tools", "tool_choice", "parallel_tool_calls", "functions", "function_call", "response_format", "schema"),
    *("stream", "stream_options", "n", "stop", "stop_sequences", "logprobs", "attachments"),
}


class Progress(NamedTuple):
    """`done` of `total` calls of a stage have come back: part, merge, shorten or answer."""

    stage: Literal["part", "merge", "shorten", "answer"]
    done: int
    total: int


@dataclass(frozen=True)
class Folded(Generic[R]):
    """A reply and how it came about: in how many parts the request was read (0: it fitted), which gave no reply."""

    reply: R
    parts: int = 0
    unread: tuple[int, ...] = ()
    notes: str = ""
    trimmed: int = 0


@dataclass(frozen=True)
class Terms:
    """How a chat is wrapped; the words are those of `snowball.wrap`."""

    room: Room
    count: Count
    strategy: str
    question: str | None
    parallel: int
    on_error: Literal["raise", "skip"]
    on_progress: Callable[[Progress], None]
    memory: Memory
    text: Callable[[Any], Any] = text_of


class _Work:
    """One request that is being folded."""

    def __init__(self, endpoint: Endpoint, terms: Terms, messages: Any, kwargs: Mapping[str, Any]) -> None:
        self.terms, self._endpoint = terms, endpoint
        self.is_text = isinstance(messages, str)
        self.kwargs = {name: value for name, value in kwargs.items() if name not in FOR_THE_REPLY or value is False}
        self.failures: list[Exception] = []
        self._messages = _as_list(messages)
        carried = [endpoint.carries, *(kwargs.get(name) for name in COUNTED)]
        self._extra = sum(size_of_arguments(value, terms.count) for value in carried)

    @property
    def fits(self) -> bool:
        return measure(self._messages, self.terms.count) + self._extra <= self.terms.room.total

    def job(self) -> Job:
        terms = self.terms
        job = take_apart(self._messages, self._extra, terms.room, terms.count, terms.question)
        return replace(job, memory=terms.memory)

    def native(self, messages: list[Any]) -> Any:
        """As the caller gave them: one text, or a list."""
        return messages[-1]["content"] if self.is_text else messages

    def failed(self, error: Exception) -> str:
        """No reply; raises the error unless failures are to be passed over."""
        if self.terms.on_error == "raise" or isinstance(error, SnowBallError):
            raise error
        self.failures.append(error)
        return ""

    def tell(self, ask: Ask, done: int, among: int) -> None:
        if not ask.again:
            self.terms.on_progress(Progress(ask.stage, ask.number if among == 1 else done, ask.total))

    def folded(self, job: Job, notes: Notes, reply: R) -> Folded[R]:
        self.terms.on_progress(Progress("answer", 1, 1))
        return Folded(reply, len(job.parts), notes.unread, notes.text, notes.trimmed)


def _as_list(messages: Any) -> list[Any]:
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    to_messages = getattr(messages, "to_messages", None)  # a LangChain prompt that was filled in
    return list(to_messages() if to_messages else messages)


@dataclass(frozen=True)
class Fold(Generic[R]):
    """A chat that takes requests of any length. Call it as the chat itself; `run` tells more than the reply."""

    endpoint: Endpoint
    terms: Terms

    def __call__(self, messages: Any, *args: Any, **kwargs: Any) -> R:
        """What the chat returns. Raises what the chat raises, and SnowBallError where a request cannot be folded."""
        return self.run(messages, *args, **kwargs).reply

    def run(self, messages: Any, *args: Any, **kwargs: Any) -> Folded[R]:
        """As a call, with an account of the parts."""
        work = _Work(self.endpoint, self.terms, messages, kwargs)
        if work.fits:
            return Folded(self.endpoint.ask(messages, *args, **kwargs))
        job = work.job()
        fold = STRATEGIES[self.terms.strategy](job)
        try:
            asks = next(fold)
            while True:
                asks = fold.send(self._answers(asks, work, args))
        except StopIteration as end:
            notes: Notes = end.value
        except SnowBallError as error:
            raise error from (work.failures[-1] if work.failures else None)
        last = work.native(closing(job, notes.text, notes.unread))
        return work.folded(job, notes, self.endpoint.ask(last, *args, **kwargs))

    def _answers(self, asks: Sequence[Ask], work: _Work, args: Sequence[Any]) -> list[str]:
        """One text a call, in order; side by side as far as `parallel` allows."""
        if len(asks) == 1:
            replies = [self._answer(asks[0], work, args)]
            work.tell(asks[0], 1, 1)
            return replies
        from concurrent.futures import ThreadPoolExecutor, as_completed

        with ThreadPoolExecutor(self.terms.parallel) as pool:
            running = [pool.submit(self._answer, ask, work, args) for ask in asks]
            try:
                for done, future in enumerate(as_completed(running), 1):
                    future.result()
                    work.tell(asks[0], done, len(asks))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)  # what has not begun is not paid for
                raise
        return [future.result() for future in running]

    def _answer(self, ask: Ask, work: _Work, args: Sequence[Any]) -> str:
        try:
            reply = self.endpoint.take_notes(work.native(ask.messages), *args, **work.kwargs)
            if isawaitable(reply):
                close = getattr(reply, "close", None)
                if close:
                    close()
                raise SnowBallError("the chat is async and does not look so", "", "wrap an `async def` around it")
            return notes_in(self.terms.text(reply))
        except Exception as error:
            return work.failed(error)


@dataclass(frozen=True)
class AsyncFold(Generic[R]):
    """The same for a chat that is waited for."""

    endpoint: Endpoint
    terms: Terms

    async def __call__(self, messages: Any, *args: Any, **kwargs: Any) -> R:
        """What the chat returns. Raises what the chat raises, and SnowBallError where a request cannot be folded."""
        return (await self.run(messages, *args, **kwargs)).reply

    async def run(self, messages: Any, *args: Any, **kwargs: Any) -> Folded[R]:
        """As a call, with an account of the parts."""
        work = _Work(self.endpoint, self.terms, messages, kwargs)
        if work.fits:
            return Folded(await self.endpoint.ask(messages, *args, **kwargs))
        job = work.job()
        fold = STRATEGIES[self.terms.strategy](job)
        try:
            asks = next(fold)
            while True:
                asks = fold.send(await self._answers(asks, work, args))
        except StopIteration as end:
            notes: Notes = end.value
        except SnowBallError as error:
            raise error from (work.failures[-1] if work.failures else None)
        last = work.native(closing(job, notes.text, notes.unread))
        return work.folded(job, notes, await self.endpoint.ask(last, *args, **kwargs))

    async def _answers(self, asks: Sequence[Ask], work: _Work, args: Sequence[Any]) -> list[str]:
        import asyncio  # late: it takes longer to import than all of ours

        gate, done = asyncio.Semaphore(self.terms.parallel), 0

        async def one(ask: Ask) -> str:
            nonlocal done
            async with gate:
                reply = await self._answer(ask, work, args)
            done += 1
            work.tell(ask, done, len(asks))
            return reply

        running = [asyncio.ensure_future(one(ask)) for ask in asks]
        try:
            return list(await asyncio.gather(*running))
        finally:
            for task in running:
                task.cancel()  # those that still run where one failed

    async def _answer(self, ask: Ask, work: _Work, args: Sequence[Any]) -> str:
        try:
            reply = await self.endpoint.take_notes(work.native(ask.messages), *args, **work.kwargs)
            text = self.terms.text(reply)
            return notes_in(await text if isawaitable(text) else text)
        except Exception as error:
            return work.failed(error)


@dataclass(frozen=True)
class BothFold(Fold[Any]):
    """A chat that can be called both ways, with the methods by which chains and agents of LangChain call a model."""

    waiting: AsyncFold[Any]
    bind: Callable[[Sequence[Any]], BothFold]

    def invoke(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        """As the model's own `invoke`."""
        return self(messages, *args, **kwargs)

    async def ainvoke(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        """As the model's own `ainvoke`."""
        return await self.waiting(messages, *args, **kwargs)

    def bind_tools(self, tools: Sequence[Any]) -> BothFold:
        """The same with tools, as the model's own `bind_tools`."""
        return self.bind(tuple(tools))
