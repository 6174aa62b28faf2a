"""Laws of folding: nothing exceeds the window, nothing is left out or read twice, no tool call loses its result."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness import snowball
from harness.counters import counter_for
from harness.errors import SnowBallError
from harness.snowball.folding import STRATEGIES
from harness.snowball.messages import SYSTEM, Seen, grouped, see
from harness.snowball.parts import pack
from harness.snowball.planning import take_apart
from harness.snowball.sizes import Count, excerpt, fit, measure, room_for
from harness.tokens import estimate
from tests.chats import HISTORIES, TEXTS, Chat, Message, system, user

COUNTERS: dict[str, Count] = {
    "estimate": estimate,
    "characters": len,
    "rounded up": lambda text: math.ceil(len(text) / 4),
    "cl100k_base": counter_for("cl100k_base", 1.2, Path("cache")),
    "bytes": lambda text: len(text.encode()),
}
WINDOW = {"estimate": 3000, "characters": 9000, "cl100k_base": 2000, "rounded up": 2400, "bytes": 12_000}
REPLIES = st.one_of(TEXTS, st.sampled_from(("", "Nothing new.", "- fact\n" * 900, "<think>x", "x" * 9000)))
SLOW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the machine may be busy
counters = pytest.mark.parametrize("counter", COUNTERS)


def seen(messages: list[Message]) -> list[Seen]:
    return [see(message) for message in messages]


@given(HISTORIES)
@SLOW
def test_every_message_is_in_one_group_and_results_are_with_their_calls(history: list[Message]) -> None:
    messages = seen(history)
    groups = grouped(messages)
    assert [at for group in groups for at in range(group.start, group.end)] == list(range(len(messages)))
    for group in groups:
        called: set[str] = set()
        for message in messages[group.start : group.end]:
            assert set(message.answers) <= called
            called |= set(message.calls)


@given(HISTORIES, st.integers(200, 2000))
@SLOW
def test_every_character_is_in_exactly_one_part_and_no_part_is_too_long(history: list[Message], budget: int) -> None:
    material = seen(history)
    parts = pack(material, budget, len)
    spans = [span for part in parts for span in part.spans]
    for at, message in enumerate(material):
        mine = [span for span in spans if span.message == at]
        assert "".join(message.text[span.start : span.end] for span in mine) == message.text
        assert [span.start for span in mine[1:]] == [span.end for span in mine[:-1]]
    assert spans == sorted(spans)
    assert all(len(part.text) <= budget for part in parts)
    for part in parts:
        for span in part.spans:
            assert material[span.message].text[span.start : span.end] in part.text


@given(HISTORIES, st.integers(600, 2000))
@SLOW
def test_a_part_with_a_result_holds_its_call(history: list[Message], budget: int) -> None:
    material = seen(history)
    group_of = {at: group for group in grouped(material) for at in range(group.start, group.end)}
    for part in pack(material, budget, len):
        for at in {span.message for span in part.spans}:
            group = group_of[at]
            before = material[group.start : at]
            calls = dict(pair for caller in before for pair in zip(caller.calls, caller.said, strict=True))
            shown = " ".join(part.text.split())
            assert all(" ".join(calls[each].split())[:12] in shown for each in material[at].answers)


@given(HISTORIES, st.integers(200, 2000))
@SLOW
def test_a_group_that_fits_one_part_is_in_one_part(history: list[Message], budget: int) -> None:
    material = seen(history)
    parts = pack(material, budget, len)
    for group in grouped(material):
        shown = sum(len(f"[{message.role}]\n{message.text}\n\n") for message in material[group.start : group.end])
        if shown <= budget:
            members = set(range(group.start, group.end))
            assert sum(bool(members & {span.message for span in part.spans}) for part in parts) == 1


@counters
@pytest.mark.parametrize("strategy", STRATEGIES)
@given(data=st.data())
@settings(SLOW, max_examples=30)
def test_no_call_exceeds_the_window(counter: str, strategy: Any, data: st.DataObject) -> None:
    count, window = COUNTERS[counter], WINDOW[counter]
    replies = data.draw(st.lists(REPLIES, min_size=1, max_size=5))
    at = iter(range(100_000))
    chat = Chat(lambda text: replies[next(at) % len(replies)])
    bulk = data.draw(st.sampled_from((0, 1, 40))) * data.draw(TEXTS)  # above a window in most cases
    history = [system(), *data.draw(HISTORIES), user(bulk + data.draw(TEXTS))]
    tools = [{"name": "look", "description": "x" * data.draw(st.integers(0, 300))}]
    agent = snowball.bind_tools(chat, tools, window=window, count=count, strategy=strategy)
    try:
        agent(history)
    except SnowBallError as error:
        assert error.what == "no part gave a reply"
    for call in chat.calls:
        extra = count(str(call.kwargs["tools"])) if "tools" in call.kwargs else 0
        assert measure(call.messages, count) + extra <= window - window // 5
        assert [message for message in call.messages if message["role"] == "system"] == [system()]


@given(HISTORIES, st.sampled_from(("", "Look it up.")))
@settings(SLOW, max_examples=60)
def test_everything_that_is_not_read_in_parts_comes_back_whole(history: list[Message], ask: str) -> None:
    messages = [system(), *history, *([user(ask)] if ask else [])]
    job = take_apart(messages, 0, room_for(3000, None), len, None)
    back = [*job.system, *(message.native for message in job.material), *job.tail]
    back += [job.request.native] if job.request else []
    assert sorted(map(id, back)) == sorted(map(id, messages))
    tail = seen(list(job.tail))
    assert {each for message in tail for each in message.answers} <= {
        each for message in tail for each in message.calls
    }
    assert not any(message.role in SYSTEM for message in (*job.material, *tail))


@given(HISTORIES)
@SLOW
def test_what_fits_goes_through_untouched(history: list[Message]) -> None:
    reply, given_ = object(), []

    def chat(messages: Any, *args: Any, **kwargs: Any) -> object:
        given_.append((messages, args, kwargs))
        return reply

    fold = snowball.wrap(chat, window=10**6, count=len)
    assert fold(history, 1, temperature=0) is reply
    ((messages, args, kwargs),) = given_
    assert messages is history and args == (1,) and kwargs == {"temperature": 0}


@counters
@given(data=st.data())
@SLOW
def test_a_text_is_cut_to_fit(counter: str, data: st.DataObject) -> None:
    count, text, budget = COUNTERS[counter], data.draw(TEXTS), data.draw(st.integers(1, 400))
    head, tail = fit(text, budget, count), fit(text, budget, count, from_end=True)
    assert text.startswith(head) and text.endswith(tail)
    assert max(count(head), count(tail)) <= max(budget, count(""))
    assert (head == text) == (count(text) <= budget) or not text
    assert count(excerpt(text, budget + 20, count)) <= budget + 20
