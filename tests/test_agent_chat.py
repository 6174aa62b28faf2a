"""Models behind an API, asked through the real SDKs; the servers are on loopback."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.agents.chat import APIS, ChatAgent
from harness.errors import AgentFailed, AgentUnreachable, HarnessError, WrongCall
from harness.model import Packet, Reply, Role
from harness.options import AgentSpec
from tests.model_server import Answer, ModelServer, breaks_off, drips, floods, says, sends, status, waits

PACKET = Packet(Role.PLANNER, token="t", round=1, prompt="Вопрос?\nReply.", files={}, writes=("next_query.txt",))
ACTION = 'Think: нужно искать.\nAction: search("Лавка")'
KEY = "secret-0123456789"

both = pytest.mark.parametrize("api", ["openai", "anthropic"])
every = pytest.mark.parametrize("api", ["openai", "anthropic", "llm"])


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path / "llm"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    monkeypatch.setenv("MY_KEY", KEY)
    yield


def spec_for(api: str, url: str, tmp_path: Path, **settings: Any) -> AgentSpec:
    """An agent that asks the server at `url`; llm learns the address from its own file."""
    spec = AgentSpec("mine", api=api, model="m", key_env="MY_KEY", timeout=20.0, output=1000)
    if api == "llm":
        (tmp_path / "llm").mkdir(exist_ok=True)
        models = [{"model_id": "m", "model_name": "m", "api_base": f"{url}/v1", "api_key_name": "mine"}]
        (tmp_path / "llm" / "extra-openai-models.yaml").write_text(json.dumps(models))
    else:
        spec = spec._replace(base_url=f"{url}/v1" if api == "openai" else url)
    return spec._replace(**settings)


def take(api: str, tmp_path: Path, *script: Answer, **settings: Any) -> Reply:
    with ModelServer(*script) as server:
        return ChatAgent(spec_for(api, server.url, tmp_path, **settings)).take(PACKET)


def failure(api: str, tmp_path: Path, *script: Answer, **settings: Any) -> HarnessError:
    with ModelServer(*script) as server:
        agent = ChatAgent(spec_for(api, server.url, tmp_path, **settings))
        with pytest.raises(HarnessError) as caught:
            agent.take(PACKET)
    error = caught.value
    assert error.what.startswith("mine: ") and error.hint
    assert KEY not in f"{error} {error!r} {agent!r} {vars(agent)}"
    return error


@every
def test_one_user_message_in_one_text_out(api: str, tmp_path: Path) -> None:
    with ModelServer(says(ACTION)) as server:
        reply = ChatAgent(spec_for(api, server.url, tmp_path)).take(PACKET)
        request = server.seen[0]
    assert reply == Reply(ACTION, tokens_in=11, tokens_out=7)
    assert request.body["model"] == "m" and request.body["max_tokens"] == 1000
    assert request.body["messages"] == [{"role": "user", "content": PACKET.prompt}]
    assert not request.body.get("stream")
    sent = request.headers.get("x-api-key") or request.headers["authorization"]
    assert sent in (KEY, f"Bearer {KEY}")


@both
def test_control_characters_and_missing_counts(api: str, tmp_path: Path) -> None:
    assert take(api, tmp_path, says("a\x1b[31mb\x00", usage=False)) == Reply("ab")


@both
def test_a_local_server_needs_no_key_and_gets_no_vendors_key(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vendors = {
        "OPENAI_API_KEY": "vendor-key-1",
        "OPENAI_ORG_ID": "vendor-org",
        "OPENAI_PROJECT_ID": "vendor-project",
        "OPENAI_ADMIN_KEY": "vendor-admin",
        "OPENAI_CUSTOM_HEADERS": "Authorization: Bearer vendor-header\nX-Gateway: vendor-gateway",
        "ANTHROPIC_API_KEY": "vendor-key-2",
        "ANTHROPIC_AUTH_TOKEN": "vendor-token",
        "ANTHROPIC_CUSTOM_HEADERS": "authorization: Bearer vendor-header\nX-Api-Key: vendor-header",
    }
    for name, value in vendors.items():
        monkeypatch.setenv(name, value)
    with ModelServer(says(ACTION)) as server:
        ChatAgent(spec_for(api, server.url, tmp_path, key_env="")).take(PACKET)
        headers = server.seen[0].headers
    assert "vendor" not in str(headers)
    assert headers.get("x-api-key", headers.get("authorization")) in ("none", "Bearer none")


@both
def test_a_vendors_key_does_not_follow_a_base_url_of_the_environment(
    api: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer() as server:  # asked by nobody
        monkeypatch.setenv(f"{api.upper()}_BASE_URL", server.url)
        monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # whatever the machine: the vendor is out of reach
        with pytest.raises(AgentUnreachable) as caught:
            ChatAgent(AgentSpec("mine", api=api, model="m", key_env="MY_KEY", timeout=20)).take(PACKET)
    assert "no connection" in caught.value.what


@both
def test_a_key_does_not_follow_a_redirect(api: str, tmp_path: Path) -> None:
    with ModelServer() as other:
        error = failure(api, tmp_path, status(307, "moved", location=f"{other.url}/v1/messages"))
    assert isinstance(error, AgentUnreachable) and "base_url" in error.hint


@both
def test_a_missing_key_names_the_variable(api: str) -> None:
    agent = ChatAgent(AgentSpec("mine", api=api, model="m"))
    with pytest.raises(AgentUnreachable) as caught:
        agent.take(PACKET)
    assert f"export {api.upper()}_API_KEY=" in caught.value.hint
    assert str(agent.obstacle()) == str(caught.value)
    assert ChatAgent(AgentSpec("mine", api=api, model="m", key_env="MY_KEY")).obstacle() is None
    with pytest.raises(AgentUnreachable) as caught:
        ChatAgent(AgentSpec("mine", api=api, model="m", key_env="NOT_SET")).take(PACKET)
    assert "$NOT_SET" in caught.value.value


def test_a_key_that_cannot_be_sent_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "ключ-0123456789")
    with pytest.raises(AgentUnreachable) as caught:
        ChatAgent(AgentSpec("mine", api="openai", model="m")).take(PACKET)
    assert "OPENAI_API_KEY" in str(caught.value) and "0123456789" not in str(caught.value)


@pytest.mark.parametrize(
    ("code", "what", "hint"),
    [
        (401, "the key was refused", "$MY_KEY"),
        (402, "no credit", "another agent"),
        (403, "may not use this model", "$MY_KEY"),
        (404, "no such model", "agents.mine.model"),
    ],
)
@every
def test_statuses_that_no_repetition_helps(api: str, code: int, what: str, hint: str, tmp_path: Path) -> None:
    error = failure(api, tmp_path, status(code, f"wrong: {KEY} and sk-ant-abc***xyz"))
    assert isinstance(error, AgentUnreachable)
    assert what in error.what and hint in error.hint
    assert error.value == f"HTTP {code}: wrong: *** and ***"


@every
def test_a_rate_limit_is_waited_for_as_long_as_the_server_says(api: str, tmp_path: Path) -> None:
    with ModelServer(status(429, "slow down", retry_after="1"), says(ACTION)) as server:
        assert ChatAgent(spec_for(api, server.url, tmp_path)).take(PACKET).text == ACTION
        first, second = server.seen
    assert second.at - first.at >= 1


@every
def test_a_rate_limit_that_stays(api: str, tmp_path: Path) -> None:
    error = failure(api, tmp_path, *[status(429, "quota")] * 3)
    assert isinstance(error, AgentUnreachable) and "HTTP 429: quota" in error.value


@every
def test_server_errors_are_repeated_twice(api: str, tmp_path: Path) -> None:
    assert take(api, tmp_path, status(500, "x"), status(503, "x"), says(ACTION)).text == ACTION
    error = failure(api, tmp_path, *[status(500, "broken")] * 3)
    assert isinstance(error, AgentFailed) and error.value == "HTTP 500: broken"


@every
def test_a_request_the_model_cannot_take(api: str, tmp_path: Path) -> None:
    error = failure(api, tmp_path, status(400, "maximum context length is 4096 tokens"))
    assert isinstance(error, AgentFailed) and "4096" in error.value and "agents.mine.window" in error.hint


@every
def test_no_server_there(api: str, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(AgentUnreachable) as caught:
        ChatAgent(spec_for(api, url, tmp_path)).take(PACKET)
    assert "no connection" in caught.value.what and "refused" in caught.value.value.lower()


@pytest.mark.parametrize("url", ["http://localhost.invalid/v1", "localhost:1234/v1"])
@both
def test_an_address_that_is_none(api: str, url: str, tmp_path: Path) -> None:
    with pytest.raises(AgentUnreachable) as caught:
        ChatAgent(spec_for(api, url, tmp_path)._replace(base_url=url)).take(PACKET)
    assert "agents.mine.base_url" in caught.value.hint


@both
def test_a_reply_that_breaks_off_is_no_reply(api: str, tmp_path: Path) -> None:
    error = failure(api, tmp_path, breaks_off(ACTION))
    assert isinstance(error, AgentFailed) and "broke off" in error.what


@both
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (sends(b"<html>Sign in</html>", "text/html"), "no JSON but text/html"),
        (sends(b"data: {}\n\n", "text/event-stream"), "no JSON but text/event-stream"),
        (sends(b'{"choices": [{"mess'), "broken JSON"),
        (sends(b"[" * 100_000), "broken JSON"),
        (sends(b"[]"), "no JSON object"),
        (sends(b'{"ok": true}'), "not a "),
        (sends(b'{"choices": [], "content": "text"}'), "not a "),
        (sends(b'{"choices": [null], "content": null}'), "not a "),
        (sends(b'{"error": {"message": "upstream down"}}'), "the server said: upstream down"),
        (floods(100_000_000), "longer than 16000000 bytes"),
    ],
)
def test_a_body_that_is_no_reply(api: str, answer: Answer, told: str, tmp_path: Path) -> None:
    error = failure(api, tmp_path, answer)
    assert isinstance(error, AgentFailed) and told in error.what
    assert len(str(error)) < 500


@every
def test_a_reply_longer_than_allowed(api: str, tmp_path: Path) -> None:
    error = failure(api, tmp_path, says("half a rep", stop="max_tokens" if api == "anthropic" else "length"))
    assert isinstance(error, AgentFailed) and "agents.mine.output (1000 tokens)" in error.hint


@every
def test_an_empty_reply(api: str, tmp_path: Path) -> None:
    for text in ("", "  \n", *([None] if api != "llm" else [])):
        assert "empty" in failure(api, tmp_path, says(text)).what


def test_a_refusal(tmp_path: Path) -> None:
    assert "refused" in failure("anthropic", tmp_path, says("I", stop="refusal")).what
    assert "refused" in failure("openai", tmp_path, says("I", stop="content_filter")).what
    error = failure("openai", tmp_path, says(None, message={"refusal": "I cannot help."}))
    assert "refused" in error.what and error.value == "I cannot help."
    assert "window" in failure("anthropic", tmp_path, says("", stop="model_context_window_exceeded")).hint


def test_text_in_parts(tmp_path: Path) -> None:
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert take("openai", tmp_path, says(None, message={"content": parts})).text == "ab"


@every
@pytest.mark.parametrize("answer", [waits(2), drips(2)])
def test_the_time_limit_holds_for_the_whole_call(api: str, answer: Answer, tmp_path: Path) -> None:
    started = time.monotonic()
    error = failure(api, tmp_path, answer, timeout=0.6)
    assert time.monotonic() - started < 1.9
    assert isinstance(error, AgentFailed) and "no reply in 0.6 s" in error.what and "timeout" in error.hint


@both
def test_nothing_is_asked_again_after_the_time_limit(api: str, tmp_path: Path) -> None:
    with ModelServer(status(503, "busy", retry_after="1")) as server:  # a second request would be one too many
        with pytest.raises(AgentFailed):
            ChatAgent(spec_for(api, server.url, tmp_path, timeout=0.5)).take(PACKET)
        time.sleep(1.2)


def test_llm_says_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(AgentUnreachable) as caught:
        ChatAgent(AgentSpec("mine", api="llm", model="no-such-model", timeout=20)).take(PACKET)
    assert caught.value.hint == "llm models"
    with pytest.raises(AgentUnreachable) as caught:
        ChatAgent(spec_for("llm", "http://127.0.0.1:9", tmp_path)._replace(key_env="")).take(PACKET)
    assert "llm keys set" in caught.value.hint


def test_llm_uses_its_key_store_and_never_shows_it(tmp_path: Path) -> None:
    (tmp_path / "llm").mkdir()
    (tmp_path / "llm" / "keys.json").write_text('{"mine": "stored-0123456789"}')
    with ModelServer(says(ACTION), status(401, "bad key stored-0123456789")) as server:
        agent = ChatAgent(spec_for("llm", server.url, tmp_path, key_env=""))
        assert agent.take(PACKET).text == ACTION
        assert server.seen[0].headers["authorization"] == "Bearer stored-0123456789"
        with pytest.raises(AgentUnreachable) as caught:
            agent.take(PACKET)
    assert caught.value.value == "HTTP 401: bad key ***"
    assert sorted(path.name for path in (tmp_path / "llm").iterdir()) == ["extra-openai-models.yaml", "keys.json"]


@every
def test_a_missing_package_is_named(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    code = (
        f"import sys; sys.modules[{api!r}] = None\n"
        "from harness.agents.chat import ChatAgent; from harness.model import *; from harness.options import *\n"
        f"agent = ChatAgent(AgentSpec('mine', api={api!r}, model='m'))\n"
        "try: agent.take(Packet(Role.PLANNER, '', 1, 'x', {}, ()))\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.startswith("AgentUnreachable") and f'pip install "research-harness[{api}]"' in told


def test_importing_and_making_an_agent_loads_no_sdk() -> None:
    code = (
        "import sys; from harness.agents.chat import ChatAgent; from harness.options import AgentSpec\n"
        "ChatAgent(AgentSpec('a', api='openai', model='m'))\n"
        "print([name for name in ('openai', 'anthropic', 'llm', 'httpx', 'httpx2', 'pydantic') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        (AgentSpec("mine", api="gemini", model="m"), ", ".join(APIS)),
        (AgentSpec("mine", api="openai"), "agents.mine.model"),
        (AgentSpec("mine", api="llm", base_url="http://127.0.0.1:1"), "extra-openai-models.yaml"),
    ],
)
def test_a_spec_that_cannot_work_is_refused_at_once(spec: AgentSpec, named: str) -> None:
    with pytest.raises(WrongCall) as caught:
        ChatAgent(spec)
    assert named in caught.value.hint
