"""Folding by the mistakes that others make: each has its test."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any, assert_type

import pytest

from harness import snowball
from harness.counters import counter_for
from harness.errors import HarnessError, SnowBallError
from harness.prompts import LANGUAGES as PROMPT_LANGUAGES
from harness.snowball.prompts import LANGUAGES, says_nothing
from harness.snowball.sizes import measure
from tests.chats import QUESTION, Chat, Message, made, part_of, result, rows_of, system, user, worklog

WINDOW = 3000
LONG = worklog(600)
STRATEGIES: tuple[snowball.Strategy, ...] = ("refine", "map_reduce", "tree")
every = pytest.mark.parametrize("strategy", STRATEGIES)


def request(material: str = LONG, question: str = QUESTION) -> list[Message]:
    return [system(), user(material), user(question)]


@every
def test_the_question_and_the_system_prompt_are_in_every_call(strategy: snowball.Strategy) -> None:
    chat = Chat()
    snowball.wrap(chat, window=WINDOW, strategy=strategy)(request())
    assert len(chat.reading) > 3
    for call in chat.calls:
        assert call.last.count(QUESTION) == (2 if call is not chat.calls[-1] else 1)
        assert call.messages[0] == system()
    total = len(chat.reading)
    assert [f"part {n} of {total};" in text for n, text in enumerate(sorted(chat.reading, key=number_of), 1)] == [
        True
    ] * total


def number_of(prompt: str) -> int:
    found = re.search(r"(?:part|часть) (\d+)", prompt)
    assert found
    return int(found[1])


@every
def test_every_row_is_read_once_and_whole(strategy: snowball.Strategy) -> None:
    chat = Chat()
    snowball.wrap(chat, window=WINDOW, strategy=strategy)(request())
    read = "\n".join(part_of(text) for text in sorted(chat.reading, key=number_of))
    assert rows_of(read) == rows_of(LONG)


@every
def test_the_original_request_comes_last_with_the_notes_in_place_of_the_material(strategy: snowball.Strategy) -> None:
    chat = Chat(lambda text: "Anna: 412 h" if "instructions to you" in text else "412")
    asked = {"role": "user", "content": QUESTION, "name": "boss"}
    fold = snowball.wrap(chat, window=WINDOW, strategy=strategy)
    assert fold([system(), user(LONG), asked], temperature=0, response_format={"type": "text"}) == "412"
    last = chat.calls[-1]
    assert last.messages[0] == system() and last.messages[1]["name"] == "boss" and len(last.messages) == 2
    assert last.last.endswith(QUESTION) and LONG[:200] not in last.last
    assert ("Anna: 412 h" in last.last) == (strategy != "tree")  # there the merge's reply stands for it
    assert last.kwargs == {"temperature": 0, "response_format": {"type": "text"}}
    assert all(call.kwargs == {"temperature": 0} for call in chat.calls[:-1])


def test_refine_hands_the_notes_on() -> None:
    chat = Chat(lambda text: f"read so far: {number_of(text)}" if "instructions to you" in text else "answer")
    snowball.wrap(chat, window=WINDOW)(request())
    assert "(no notes yet)" in chat.reading[0]
    for number, text in enumerate(chat.reading[1:], 1):
        assert f"read so far: {number}\n</summary>" in text
    assert f"read so far: {len(chat.reading)}" in chat.calls[-1].last


def test_one_huge_message_is_asked_about_by_its_head_and_tail() -> None:
    chat = Chat()
    text = f"Here is a worklog.\n{LONG}\n{QUESTION}"
    assert snowball.wrap(chat, window=WINDOW)(text) == "- a note"  # a text in, texts on
    for call in chat.calls:
        assert "Here is a worklog." in call.last and call.last.endswith(QUESTION)
    assert rows_of("\n".join(map(part_of, chat.reading))) == rows_of(LONG)


def test_a_named_question_is_repeated_instead() -> None:
    chat = Chat()
    snowball.wrap(chat, window=WINDOW, question="Who is ill?")([user(LONG)])
    assert all("Who is ill?" in call.last for call in chat.calls) and "2025-01-01" not in chat.calls[-1].last


def test_russian_is_asked_in_russian() -> None:
    chat = Chat()
    snowball.wrap(chat, window=WINDOW)(request(question="Сколько часов работала Анна?"))
    assert all("часть" in text and "заметки" in text for text in chat.reading)
    assert LANGUAGES == PROMPT_LANGUAGES


@pytest.mark.parametrize(
    "reply",
    ["Nothing new.", "No changes needed.", "no change", "Unchanged", "Ничего нового.", "Без изменений", "(none)", ""],
)
def test_a_reply_without_news_never_replaces_the_notes(reply: str) -> None:
    chat = Chat(lambda text: "Anna: 8 h" if "part 1 of" in text else reply if "instructions" in text else "answer")
    fold = snowball.wrap(chat, window=WINDOW)
    done = fold.run(request())
    assert done.notes == "Anna: 8 h"
    assert "Anna: 8 h" in chat.calls[-1].last
    assert done.unread == (() if reply else tuple(range(2, done.parts + 1)))


@pytest.mark.parametrize(
    "note", ["No new contracts were signed in 2024.", "No changes to the price: 12 €.", "None of the 14 shops closed.",
             "Nothing new.\n- but Anna: 8 h", "Nothing is known of Anna's 8 hours on Monday, 7 on Tuesday."]
)  # fmt: skip
def test_a_note_that_begins_like_no_news_is_a_note(note: str) -> None:
    assert not says_nothing(note)


@every
def test_a_part_without_a_reply_is_asked_twice_and_named_unread(strategy: snowball.Strategy) -> None:
    chat = Chat(
        lambda text: "" if "part 2 of" in text else f"- {number_of(text)}" if "instructions" in text else "merged"
    )
    done = snowball.wrap(chat, window=WINDOW, strategy=strategy).run(request())
    assert done.unread == (2,)
    assert sum("part 2 of" in text for text in chat.reading) == 2
    assert len(chat.reading) == done.parts + 1
    assert "could not be read: 2. Say so" in chat.calls[-1].last


@every
def test_what_the_chat_raises_goes_through(strategy: snowball.Strategy) -> None:
    def answer(text: str) -> str:
        if "part 2 of" in text:
            raise ConnectionError("refused")
        return "note"

    with pytest.raises(ConnectionError):
        snowball.wrap(Chat(answer), window=WINDOW, strategy=strategy)(request())
    chat = Chat(answer)
    done = snowball.wrap(chat, window=WINDOW, strategy=strategy, on_error="skip").run(request())
    assert done.unread == (2,) and "could not be read: 2." in chat.calls[-1].last


@every
def test_where_no_part_can_be_read_there_is_no_answer(strategy: snowball.Strategy) -> None:
    def refuse(text: str) -> str:
        raise ConnectionError("refused")

    with pytest.raises(SnowBallError, match="no part gave a reply") as caught:
        snowball.wrap(Chat(refuse), window=WINDOW, strategy=strategy, on_error="skip")(request())
    assert isinstance(caught.value.__cause__, ConnectionError)
    with pytest.raises(SnowBallError, match="no part gave a reply"):
        snowball.wrap(Chat(lambda text: "<think>hm</think>"), window=WINDOW, strategy=strategy)(request())


def test_room_is_left_for_the_reply() -> None:
    counter = counter_for("cl100k_base", 1.2, Path("cache"))
    for output, allowed in ((None, WINDOW * 4 // 5), (1000, WINDOW - 1000)):
        chat = Chat()
        snowball.wrap(chat, window=WINDOW, output=output)(request())
        sizes = [measure(call.messages, counter) for call in chat.calls]
        assert 0.6 * allowed < max(sizes) <= allowed
    # within the window, but no room for a reply is left
    tight = next(text for rows in range(600) if counter(text := worklog(rows)) > WINDOW * 0.85)
    assert counter(tight) < WINDOW
    chat = Chat()
    snowball.wrap(chat, window=WINDOW)([user(tight)])
    assert len(chat.calls) > 1


def test_notes_that_grow_too_long_are_asked_to_be_shorter_and_then_cut() -> None:
    lines = "".join(f"- fact {n}\n" for n in range(400))
    chat = Chat(lambda text: "short" if "have become too long" in text else lines)
    done = snowball.wrap(chat, window=WINDOW).run(request())
    assert done.notes == "short" and done.trimmed == 0
    done = snowball.wrap(Chat(lambda text: lines), window=WINDOW).run(request())
    assert done.trimmed == done.parts and lines.startswith(done.notes + "\n")


def test_notes_that_do_not_fit_together_are_merged_in_levels() -> None:
    lines = "".join(f"- fact {n}\n" for n in range(60))
    for strategy in ("map_reduce", "tree"):
        chat = Chat(lambda text: "merged" if "notes on some of the parts" in text else lines)
        done = snowball.wrap(chat, window=WINDOW, strategy=strategy).run(request(worklog(2000)))
        merges = [call.last for call in chat.calls if "notes on some of the parts" in call.last]
        assert len(merges) > 1 and "merged" in done.notes
        assert (done.notes == "merged") == (strategy == "tree")
        shown = "".join(merges)
        assert all(f"[{n}/{done.parts}]" in shown + done.notes for n in range(1, done.parts + 1))


def test_a_merge_without_a_reply_keeps_what_it_was_to_merge() -> None:
    chat = Chat(
        lambda text: "" if "notes on some" in text else f"fact {number_of(text)}" if "instructions" in text else "x"
    )
    done = snowball.wrap(chat, window=WINDOW, strategy="tree").run(request())
    assert all(f"fact {n}\n" in done.notes + "\n" for n in range(1, done.parts + 1))


@every
def test_fixed_parts_that_leave_no_room_are_named(strategy: snowball.Strategy) -> None:
    cases: list[tuple[list[Message], dict[str, Any], str]] = [
        ([system("rule " * 3000), user(LONG)], {}, "the system messages"),
        ([user(LONG)], {"tools": [{"description": "x" * 9000}]}, "the tools"),
    ]
    for messages, kwargs, named in cases:
        chat = Chat()
        with pytest.raises(SnowBallError) as caught:
            snowball.wrap(chat, window=WINDOW, strategy=strategy)(messages, **kwargs)
        assert "no room" in caught.value.what and f"window {WINDOW}" in caught.value.value
        assert named in caught.value.hint and "window=" in caught.value.hint and chat.calls == []
    with pytest.raises(SnowBallError) as caught:
        snowball.wrap(Chat(), window=WINDOW, question="why? " * 2000)([user(LONG)])
    assert "shorten the question" in caught.value.hint


def test_wrong_options_are_told() -> None:
    calls: list[dict[str, Any]] = [{"strategy": "none"}, {"parallel": 0}, {"window": 100, "output": 100}]
    for options in calls:
        with pytest.raises(HarnessError):
            snowball.wrap(Chat(), **options)
    with pytest.raises(SnowBallError, match="this is no chat"):
        snowball.wrap(7)  # type: ignore[call-overload]
    with pytest.raises(SnowBallError, match="without a text"):
        snowball.wrap(lambda messages: 7, window=WINDOW)(request())


@every
def test_progress_is_told(strategy: snowball.Strategy) -> None:
    seen: list[snowball.Progress] = []
    fold = snowball.wrap(Chat(), window=WINDOW, strategy=strategy, on_progress=seen.append)
    parts = fold.run(request()).parts
    assert [step.done for step in seen if step.stage == "part"] == list(range(1, parts + 1))
    assert seen[-1] == ("answer", 1, 1) and {step.total for step in seen if step.stage == "part"} == {parts}


@every
def test_an_async_chat_is_folded_the_same(strategy: snowball.Strategy) -> None:
    def answer(text: str) -> str:
        return f"- {len(text)}" if "part 3" not in text else ""

    sync, waited = Chat(answer), Chat(answer)

    async def chat(messages: list[Message]) -> str:
        await asyncio.sleep(0)
        return waited(messages)

    done = snowball.wrap(sync, window=WINDOW, strategy=strategy).run(request())
    assert asyncio.run(snowball.wrap(chat, window=WINDOW, strategy=strategy).run(request())) == done
    assert sorted(call.last for call in waited.calls) == sorted(call.last for call in sync.calls)
    assert asyncio.run(snowball.wrap(chat, window=WINDOW)([user("hi")])) == answer("hi")


def test_side_by_side_is_bounded_and_one_failure_stops_the_rest() -> None:
    running = highest = 0

    async def chat(messages: list[Message]) -> str:
        nonlocal running, highest
        running += 1
        highest = max(highest, running)
        await asyncio.sleep(0.001)
        running -= 1
        if "part 5 of" in messages[-1]["content"]:
            raise ConnectionError
        return "note"

    fold = snowball.wrap(chat, window=WINDOW, strategy="map_reduce", parallel=3)
    with pytest.raises(ConnectionError):
        asyncio.run(fold(request()))
    assert highest == 3


def test_a_function_that_hides_that_it_is_async_is_told() -> None:
    async def inner(messages: list[Message]) -> str:
        raise AssertionError("never waited for")

    hidden: Any = snowball.wrap(lambda messages: inner(messages), window=WINDOW)
    with pytest.raises(SnowBallError, match="async"):
        hidden.run(request())


def test_types_tell_what_comes_back() -> None:
    """mypy reads these lines too."""

    def number(messages: list[Any]) -> int:
        return 7

    async def waited(messages: list[Any]) -> str:
        return "x"

    assert_type(snowball.wrap(number)([]), int)
    assert_type(snowball.bind_tools(number, []).run([]), snowball.Folded[int])
    assert assert_type(asyncio.run(snowball.wrap(waited).run([])), snowball.Folded[str]).reply == "x"


def image(name: str) -> Message:
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{name * 9000}"}}


def test_images_come_back_whole_and_text_beside_them_is_cut() -> None:
    chat = Chat()
    window = 30_000
    content = [{"type": "text", "text": worklog(4000)}, image("A"), {"type": "text", "text": "Caption"}, image("B")]
    snowball.wrap(chat, window=window)([user(content), user(QUESTION)])
    assert "Caption" in "".join(chat.reading) and "[image_url]" in "".join(chat.reading)
    assert all(isinstance(call.messages[-1]["content"], str) for call in chat.calls[:-1])
    last = chat.calls[-1].messages[-1]["content"]
    assert [block for block in last if block["type"] == "image_url"] == [image("A"), image("B")]
    assert last[1] == {"type": "text", "text": QUESTION}


def test_an_agent_goes_on_with_its_last_turns() -> None:
    chat = Chat()
    history = [system(), user("Find Anna's hours.")]
    for turn in range(12):
        history += [
            made("read", f'{{"page": {turn}}}', "a", "b"),
            result("a", worklog(25)),
            result("b", f"page {turn}"),
        ]
    tools = [{"type": "function", "function": {"name": "read", "parameters": {}}}]
    agent = snowball.bind_tools(chat, tools, window=4000)
    agent(history)
    last = chat.calls[-1]
    assert last.kwargs == {"tools": tuple(tools)} and last.messages[1]["content"].endswith("Find Anna's hours.")
    assert last.messages[2:] == history[-3:]
    assert all(call.kwargs == {} for call in chat.calls[:-1])
    for text in chat.reading:  # a part holds whole turns: as many calls as results
        assert text.count("read({") == 2 * len(re.findall(r"^page \d+$", text, re.MULTILINE))


def test_an_agent_reads_what_it_has_read_once() -> None:
    def answer(text: str) -> str:
        return f"read so far: {number_of(text)}" if "instructions to you" in text else "answer"

    history = [system(), user("Find Anna's hours.")]
    for turn in range(20):
        history += [made("read", f'{{"page": {turn}}}', "a"), result("a", worklog(25))]
    chat = Chat(answer)
    agent = snowball.bind_tools(chat, [], window=4000)
    first = agent.run(history)
    read = len(chat.reading)
    assert read == first.parts > 3
    history += [made("read", '{"page": 20}', "a"), result("a", worklog(25))]
    second = agent.run(history)
    assert len(chat.reading) - read in (1, 2) and second.notes == f"read so far: {second.parts}"
    fresh = Chat(answer)
    assert snowball.bind_tools(fresh, [], window=4000).run(history) == second
    assert [call.messages for call in fresh.calls[-1:]] == [call.messages for call in chat.calls[-1:]]


def test_notes_that_lack_a_part_are_not_remembered() -> None:
    failing = [True]
    chat = Chat(lambda text: "" if failing[0] and "part 2 of" in text else "- note")
    agent = snowball.bind_tools(chat, [], window=WINDOW)
    assert agent.run(request()).unread == (2,)
    failing[0] = False
    done = agent.run(request())
    assert done.unread == () and sum("part 1 of" in text for text in chat.reading) == 1
    assert all(sum(f"part {n} of" in text for text in chat.reading) == 2 for n in range(3, done.parts + 1))


def test_a_result_that_alone_exceeds_the_window_is_cut_under_its_call() -> None:
    chat = Chat()
    history = [user("Find Anna's hours."), made("read", '{"page": 1}', "a"), result("a", LONG)]
    snowball.bind_tools(chat, [], window=WINDOW)(history)
    assert len(chat.reading) > 3 and all('read({"page": 1})' in text for text in chat.reading)
    assert len(chat.calls[-1].messages) == 1
