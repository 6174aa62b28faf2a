"""Folding with the real clients of `openai`, `anthropic`, `llm` and LangChain, against a server on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import snowball
from harness.errors import SnowBallError
from harness.snowball.messages import grouped, see
from harness.snowball.replies import text_of
from tests.chats import QUESTION, Chat, part_of, rows_of, system, user, worklog
from tests.model_server import Answer, ModelServer, Seen, says

WINDOW = 3000
LONG = worklog(300)
REQUEST = [system(), user(LONG), user(QUESTION)]
LOOK = {"type": "function", "function": {"name": "look", "description": "d", "parameters": {"type": "object"}}}


def calls_of(request: Any, *, tools: list[Any] | None = None, **kwargs: Any) -> int:
    """How many calls the fold of a request takes, counted with a plain callable."""
    chat = Chat()
    snowball.bind_tools(chat, tools or [], window=WINDOW)(request, **kwargs)
    return len(chat.calls)


def script(calls: int) -> list[Answer]:
    return [*(says(f"- note {n}") for n in range(1, calls)), says("412 hours")]


def prompts(seen: list[Seen]) -> list[str]:
    """The text of the last message of each request."""
    contents = [request.body["messages"][-1]["content"] for request in seen]
    return [c if isinstance(c, str) else "".join(block["text"] for block in c) for c in contents]


def held(seen: list[Seen]) -> None:
    """What every fold has to have sent: all rows once, the notes handed on, the question last."""
    *reading, last = prompts(seen)
    assert rows_of("\n".join(map(part_of, reading))) == rows_of(LONG)
    assert all(f"- note {n}\n</summary>" in text for n, text in enumerate(reading[1:], 1))
    assert f"- note {len(reading)}" in last and last.endswith(QUESTION)


def openai_client(url: str, name: str = "OpenAI") -> Any:
    import openai

    return getattr(openai, name)(api_key="k", base_url=f"{url}/v1", max_retries=0)


def anthropic_client(url: str, name: str = "Anthropic") -> Any:
    import anthropic

    return getattr(anthropic, name)(api_key="k", base_url=url, max_retries=0)


CLIENTS: dict[str, Callable[[str, str], Any]] = {"OpenAI": openai_client, "Anthropic": anthropic_client}
AS_WELL: dict[str, dict[str, Any]] = {"OpenAI": {"temperature": 0}, "Anthropic": {"metadata": {"user_id": "u"}}}
both = pytest.mark.parametrize("vendor", CLIENTS)


@both
def test_a_client_is_folded_and_returns_its_own_reply(vendor: str) -> None:
    with ModelServer(says("hi"), *script(calls_of(REQUEST))) as server:
        fold = snowball.wrap(CLIENTS[vendor](server.url, vendor), model="m", window=WINDOW)
        assert text_of(fold([user("hi")])) == "hi"
        reply = fold(REQUEST, **AS_WELL[vendor])
    assert text_of(reply) == "412 hours" and type(reply).__module__.startswith(vendor.lower())
    held(server.seen[1:])
    for request in server.seen[1:]:
        body = request.body
        told = body["system"] if vendor == "Anthropic" else body["messages"][0]["content"]
        assert told == "You are terse." and body["model"] == "m" and body | AS_WELL[vendor] == body
        assert body.get("max_tokens") == (WINDOW // 5 if vendor == "Anthropic" else None)


@both
def test_an_async_client_is_waited_for(vendor: str) -> None:
    async def ask(url: str) -> Any:
        async with CLIENTS[vendor](url, f"Async{vendor}") as client:
            fold = snowball.wrap(client, model="m", window=WINDOW)
            assert text_of(await fold([user("hi")])) == "hi"
            return await fold(REQUEST)

    with ModelServer(says("hi"), *script(calls_of(REQUEST))) as server:
        assert text_of(asyncio.run(ask(server.url))) == "412 hours"
    held(server.seen[1:])


def test_a_client_without_a_model_is_told() -> None:
    with pytest.raises(SnowBallError, match='model="…"'):
        snowball.wrap(openai_client("http://127.0.0.1:9"))


def test_an_agent_of_openai_with_the_library_s_own_messages() -> None:
    """Histories hold what `create` returned: objects, not dictionaries."""
    from openai.types.chat import ChatCompletionMessage

    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": "look", "arguments": f'{{"p": {n}}}'}} for n in (1, 2)
    ]
    made = ChatCompletionMessage.model_validate({"role": "assistant", "content": None, "tool_calls": calls})
    results = [{"role": "tool", "tool_call_id": f"c{n}", "content": LONG[: 3000 * n]} for n in (1, 2)]
    history = [system(), user(QUESTION), made, *results]
    plain = [system(), user(QUESTION), made.model_dump(exclude_none=True), *results]
    assert [see(m)._replace(native=0) for m in history] == [see(m)._replace(native=0) for m in plain]
    with ModelServer(*script(calls_of(plain, tools=[LOOK]))) as server:
        agent = snowball.bind_tools(openai_client(server.url), [LOOK], model="m", window=WINDOW)
        agent(history, tool_choice="auto")
    *reading, last = [request.body for request in server.seen]
    assert last["tools"] == [LOOK] and last["tool_choice"] == "auto"
    assert all("tools" not in body and "tool_choice" not in body for body in reading)
    assert all("look({" in text for text in prompts(server.seen)[:-1])


def test_an_agent_of_anthropic_with_tool_blocks() -> None:
    from anthropic.types import ToolUseBlock

    uses = [ToolUseBlock(type="tool_use", id=f"t{n}", name="look", input={"p": n}) for n in (1, 2)]
    results = [
        {"type": "tool_result", "tool_use_id": f"t{n}", "content": [{"type": "text", "text": f"page {n}"}]}
        for n in (1, 2)
    ]
    pair = [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]
    history = [user(QUESTION), {"role": "assistant", "content": LONG}, *pair]
    tool = {"name": "look", "description": "d", "input_schema": {"type": "object"}}
    plain = json.loads(json.dumps(history, default=lambda block: block.model_dump()))
    assert [group for group in grouped([see(message) for message in plain]) if group.end - group.start > 1] == [(2, 4)]
    with ModelServer(*script(calls_of(plain, tools=[tool]))) as server:
        snowball.bind_tools(anthropic_client(server.url), [tool], model="m", window=WINDOW)(history, system="Be terse.")
    *reading, last = [request.body for request in server.seen]
    assert [message["role"] for message in last["messages"]] == ["user", "assistant", "user"]
    assert [block["id"] for block in last["messages"][1]["content"]] == ["t1", "t2"]
    assert last["tools"] == [tool] and all("tools" not in body for body in reading)
    assert all(request.body["system"] == "Be terse." for request in server.seen)


@pytest.fixture
def llm_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Any]:
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path))

    def model(url: str, name: str) -> Any:
        import llm

        listed = [{"model_id": "mine", "model_name": "m", "api_base": f"{url}/v1", "api_key_name": "x"}]
        (tmp_path / "extra-openai-models.yaml").write_text(json.dumps(listed))
        found = getattr(llm, name)("mine")
        found.key = "k"
        return found

    return model


TEXT = f"{LONG}\n{QUESTION}"


def test_a_model_of_llm(llm_model: Callable[[str, str], Any]) -> None:
    with ModelServer(says("hi"), *script(calls_of(TEXT, system="Be terse.")), *script(calls_of(REQUEST))) as server:
        fold = snowball.wrap(llm_model(server.url, "get_model"), window=WINDOW)
        assert fold("hi", stream=False).text() == "hi"
        reply = fold(TEXT, system="Be terse.", stream=False)
        assert reply.text() == "412 hours" and type(reply).__name__ == "Response"
        first = len(server.seen)
        assert fold(REQUEST, stream=False).text() == "412 hours"  # a list of messages is taken as well
    held(server.seen[1:first])
    held(server.seen[first:])
    assert {request.body["messages"][0]["content"] for request in server.seen[1:first]} == {"Be terse."}


def test_an_async_model_of_llm(llm_model: Callable[[str, str], Any]) -> None:
    async def ask(url: str) -> str:
        fold = snowball.wrap(llm_model(url, "get_async_model"), window=WINDOW)
        reply = await fold(TEXT, stream=False)
        text: str = await reply.text()
        return text

    with ModelServer(*script(calls_of(TEXT))) as server:
        assert asyncio.run(ask(server.url)) == "412 hours"
    held(server.seen)


def chain(url: str) -> Any:
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model="m", api_key="k", base_url=f"{url}/v1", max_retries=0)  # type: ignore[arg-type]


def test_a_chat_model_of_langchain() -> None:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

    request = [SystemMessage("You are terse."), HumanMessage(LONG), HumanMessage(QUESTION, name="boss")]
    calls = calls_of(REQUEST)
    with ModelServer(says("hi"), *script(calls), *script(calls), *script(calls_of(TEXT))) as server:
        fold = snowball.wrap(chain(server.url), window=WINDOW)
        assert fold.invoke("hi").content == "hi"
        reply = fold.invoke(request)
        assert isinstance(reply, AIMessage) and reply.content == "412 hours"
        assert asyncio.run(fold.ainvoke(request)).content == "412 hours"
        assert fold(TEXT).content == "412 hours"
    held(server.seen[1 : calls + 1])
    assert server.seen[calls].body["messages"][-1]["name"] == "boss"
    held(server.seen[calls + 1 : 2 * calls + 1])
    held(server.seen[2 * calls + 1 :])


def test_a_chain_of_langchain_with_a_prompt() -> None:
    from langchain_core.prompts import ChatPromptTemplate

    prompt = ChatPromptTemplate.from_messages([("system", "You are terse."), ("human", "{log}"), ("human", QUESTION)])
    with ModelServer(*script(calls_of(REQUEST))) as server:
        fold = snowball.wrap(chain(server.url), window=WINDOW)
        assert (prompt | fold.invoke).invoke({"log": LONG}).content == "412 hours"
    held(server.seen)


@pytest.mark.parametrize("how", ["bind_tools", "method", "bound before"])
def test_tools_bound_to_a_chat_model_of_langchain(how: str) -> None:
    from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
    from langchain_core.tools import tool

    @tool
    def look(page: int) -> str:
        """Look at a page."""
        return str(page)

    ids = ("a", "b")
    made = AIMessage("", tool_calls=[{"name": "look", "args": {"page": 1}, "id": each} for each in ids])
    pair: list[AnyMessage] = [made, *(ToolMessage(f"page of {each}", tool_call_id=each) for each in ids)]
    history = [HumanMessage(QUESTION), AIMessage(LONG), *pair]
    with ModelServer(*[says("- note")] * 20) as server:
        model = chain(server.url)
        if how == "bind_tools":
            agent = snowball.bind_tools(model, [look], window=WINDOW)
        elif how == "method":
            agent = snowball.wrap(model, window=WINDOW).bind_tools([look])
        else:
            agent = snowball.wrap(model.bind_tools([look]), window=WINDOW)
        done = agent.run(history)
        server._server.script.clear()
    *reading, last = [request.body for request in server.seen]
    assert len(reading) == done.parts > 2 and all("tools" not in body for body in reading)
    assert last["tools"][0]["function"]["name"] == "look"
    assert [message["role"] for message in last["messages"]] == ["user", "assistant", "tool", "tool"]
    with pytest.raises(SnowBallError, match="shorten the tools"):
        agent.__class__(agent.endpoint._replace(carries="x" * 9000), agent.terms, agent.waiting, agent.bind)(history)


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("a", "a"),
        (None, ""),
        ({"choices": [{"message": {"content": "a"}}]}, "a"),
        ({"choices": []}, ""),
        ({"message": {"role": "assistant", "content": "a"}}, "a"),
        ({"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, "b"]}, "ab"),
        ({"output_text": "a"}, "a"),
    ],
)
def test_where_the_text_of_a_reply_stands(reply: Any, text: str) -> None:
    assert text_of(reply) == text


def test_importing_it_loads_no_client() -> None:
    code = "import sys; from harness import snowball; snowball.wrap(print); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"openai", "anthropic", "llm", "langchain_core", "asyncio", "concurrent.futures", "click"} & set(loaded)
    code = "import sys, harness; print(*(name for name in sys.modules if name.startswith('harness')))"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "harness\n"
    )


def test_the_example_runs(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text(LONG, encoding="utf-8")
    example = repository / "docs" / "examples" / "fold_with_openai.py"
    calls = calls_of([{"role": "system", "content": "Answer in one sentence."}, user(LONG), user(QUESTION)])
    with ModelServer(*script(calls)) as server:
        command = [sys.executable, str(example), str(tmp_path / "log.txt"), QUESTION, "--window", str(WINDOW)]
        environ = {
            **os.environ,
            "OPENAI_BASE_URL": f"{server.url}/v1",
            "OPENAI_API_KEY": "k",
            "PYTHONPATH": str(repository),
        }
        done = subprocess.run(command, capture_output=True, text=True, env=environ, cwd=tmp_path, check=False)
    assert done.stdout == "412 hours\n", done.stderr
    assert done.stderr.splitlines()[-1] == "answer 1/1" and f"part {calls - 1}/{calls - 1}" in done.stderr
    held(server.seen)
