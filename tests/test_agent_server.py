"""The scripted model server, asked by the real programs."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.agent_programs import MODELS, clean_env, each, program, run_program
from tests.agent_server import AgentServer, Asked, Call, Said

OPENCODE = {
    "model": "rig/m",
    "provider": {
        "rig": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": "{url}/v1", "apiKey": "k"},
            "models": {"m": {}},
        }
    },
}
CODEX = 'model_providers.rig={{name="rig",base_url="{url}/v1",wire_api="responses",env_key="OPENAI_API_KEY"}}'
LINES = {
    "claude": ["--print", "--model", MODELS["claude"]],
    "codex": ["exec", "--skip-git-repo-check", "-m", MODELS["codex"], "-c", 'model_provider="rig"', "-c", CODEX],
    "opencode": ["run"],
    "gemini": ["--skip-trust", "-m", MODELS["gemini"]],
}


def post(url: str, body: dict[str, Any]) -> bytes:
    data = json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data), timeout=5) as reply:
        return bytes(reply.read())


@pytest.mark.parametrize("name", each(*LINES))
def test_a_real_program_reads_what_the_server_says(name: str, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    with AgentServer(lambda asked: Said("the word is quince")) as server:
        found = program(name)
        assert found
        config = json.dumps(OPENCODE).replace("{url}", server.url)
        env = clean_env(tmp_path / "home", server.url, OPENCODE_CONFIG_CONTENT=config)
        line = [part.format(url=server.url) if "base_url" in part else part for part in LINES[name]]
        ran = run_program([found, *line], tmp_path / "work", env, "Say the word.")
    assert ran.code == 0 and "quince" in ran.out, ran
    assert any("Say the word." in text for asked in server.asked for _, text in asked.messages)
    assert {asked.api for asked in server.asked} <= {"anthropic", "responses", "chat", "gemini"}


def test_a_request_is_read_alike_in_every_protocol() -> None:
    seen: list[Asked] = []

    def answer(asked: Asked) -> Said:
        seen.append(asked)
        return Said("done", (Call("look", {"at": 1}),), tokens=(7, 3))

    talk = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
    with AgentServer(answer) as server:
        post(f"{server.url}/v1/messages", {"model": "m", "system": "S", "messages": talk, "tools": [{"name": "look"}]})
        function = {"type": "function", "name": "look"}
        post(f"{server.url}/v1/responses", {"model": "m", "instructions": "S", "input": talk, "tools": [function]})
        chat = [{"role": "system", "content": "S"}, *talk]
        tool = {"type": "function", "function": {"name": "look"}}
        post(f"{server.url}/v1/chat/completions", {"model": "m", "messages": chat, "tools": [tool]})
        contents = [{"role": "user", "parts": [{"text": "one"}]}, {"role": "model", "parts": [{"text": "two"}]}]
        gemini = {"contents": contents, "systemInstruction": {"parts": [{"text": "S"}]}}
        gemini["tools"] = [{"functionDeclarations": [{"name": "look"}]}]
        streamed = post(f"{server.url}/v1beta/models/m:streamGenerateContent?alt=sse", gemini)
    assert b"functionCall" in streamed and streamed.startswith(b"data: ")
    assert [asked.api for asked in seen] == ["anthropic", "responses", "chat", "gemini"]
    for asked in seen:
        assert (asked.system, asked.messages) == ("S", (("user", "one"), ("assistant", "two"))), asked.api
        assert (asked.tools, asked.model, asked.replies) == (("look",), "m", 1), asked.api


def test_an_error_of_the_model_is_an_http_error_and_one_of_the_test_fails_it() -> None:
    with AgentServer(lambda asked: Said("too many", status=429)) as server:
        with pytest.raises(urllib.error.HTTPError) as caught:
            post(f"{server.url}/v1/messages", {"messages": []})
        assert caught.value.code == 429 and b"too many" in caught.value.read()
        assert post(f"{server.url}/v1/telemetry", {}) and len(server.asked) == 1
        caught.value.close()

    def broken(asked: Asked) -> Said:
        raise LookupError("the test forgot this request")

    with pytest.raises(LookupError), AgentServer(broken) as server:
        with pytest.raises(urllib.error.HTTPError) as refused:
            post(f"{server.url}/v1/messages", {"messages": []})
        refused.value.close()
