"""What the real programs printed (tests/data/agents), read as reply, counts and error; and the cause of the error."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agents.causes import CAUSES, cause_of, error_of
from harness.agents.forms import FORMS, Printed, read_printed
from harness.errors import AgentFailed, AgentUnreachable

ODD = ('{"type": "result"}', "[1]", '{"type":"turn.failed","error":7}', '{"a":' * 5_000, '{"error":"{"}')
SAMPLES = Path(__file__).parent / "data" / "agents"


def sample(name: str, code: int = 0, *, on_stderr: bool = False) -> Printed:
    form = name.partition("_")[0].replace("qwen", "claude")  # Qwen Code prints Claude's form
    text = (SAMPLES / f"{name}.txt").read_text(encoding="utf-8")
    return read_printed(form, "" if on_stderr else text, text if on_stderr else "", code)


def cause(printed: Printed) -> str:
    found = cause_of(printed.error, printed.status)
    return found.what if found else ""


@pytest.mark.parametrize("name", ["claude", "codex", "opencode", "gemini", "qwen"])
def test_a_reply_with_its_tokens(name: str) -> None:
    printed = sample(f"{name}_ok")
    assert (printed.text, printed.tokens_in, printed.tokens_out) == ("the word is quince", 1_234, 56)
    assert printed.error == "" and printed.cost == (0.00757 if name == "claude" else None)


@pytest.mark.parametrize("name", ["claude", "codex", "opencode"])
def test_an_empty_reply_has_its_tokens_too(name: str) -> None:
    printed = sample(f"{name}_empty")
    assert (printed.text, printed.error) == ("", "") and printed.tokens_in and printed.tokens_out


@pytest.mark.parametrize(
    ("name", "code", "what"),
    [
        ("claude_login", 1, "no login or key"),
        ("claude_key", 1, "no login or key"),
        ("claude_busy", 1, "the server failed"),
        ("claude_turns", 1, "its limit of turns was reached"),
        ("claude_budget", 1, "its limit of money was reached"),
        ("claude_long", 1, "the packet is too long for its model"),
        ("claude_refused", 1, "no connection"),
        ("codex_login", 1, "no login or key"),
        ("codex_key", 1, "no login or key"),
        ("codex_rate", 1, "rate limit or quota reached"),
        ("codex_bad", 1, ""),
        ("opencode_key", 1, "no login or key"),
        ("opencode_bad", 1, ""),
        ("opencode_permission", 0, "a permission was refused"),
        ("qwen_key", 0, "no login or key"),
        ("qwen_bad", 0, ""),
        ("gemini_empty", 0, ""),
    ],
)
def test_an_error_and_its_cause(name: str, code: int, what: str) -> None:
    printed = sample(name, code)
    assert printed.error and cause(printed) == what, printed


def test_gemini_tells_its_errors_on_stderr_or_by_the_exit_code_alone() -> None:
    assert cause(sample("gemini_rate", 173, on_stderr=True)) == "rate limit or quota reached"
    assert cause(sample("gemini_login", 41, on_stderr=True)) == "no login or key"
    assert cause(read_printed("gemini", "", "a stack trace", 429 & 255)) == "rate limit or quota reached"
    assert read_printed("gemini", "", "", 53).error == "the limit of turns was reached"


def test_what_was_spent_before_a_limit_is_known() -> None:
    for name in ("claude_turns", "claude_budget"):
        printed = sample(name, 1)
        assert (printed.tokens_in, printed.tokens_out, printed.cost) == (100_000, 2_000, 0.55)


def test_only_the_last_message_of_a_run_with_tools_is_its_reply() -> None:
    for name in ("claude_web", "opencode_tools", "gemini_web"):
        assert sample(name).text == "done" and not sample(name).error


def test_addresses_that_tools_showed() -> None:
    page = '{"type":"user","message":{"content":[{"type":"tool_result","content":"[{\\"url\\":\\"https://a.example/x\\"}]"}]}}'
    said = '{"type":"assistant","message":{"content":[{"type":"text","text":"https://b.example/"}]}}'
    end = '{"type":"result","subtype":"success","is_error":false,"result":"done"}'
    assert read_printed("claude", f"{page}\n{said}\n{end}\n", "", 0).seen == frozenset({"https://a.example/x"})
    assert sample("gemini_web").seen is None and sample("codex_ok").seen is None, "they do not show it"
    assert sample("claude_web").seen == frozenset(), "it shows that there was nothing"


@pytest.mark.parametrize("form", FORMS)
@given(
    text=st.text() | st.sampled_from(['{"type": "result"}', "[1]", '{"type":"turn.failed","error":7}', '{"a":' * 5_000])
)
def test_any_output_is_read(form: str, text: str) -> None:
    assert isinstance(read_printed(form, text, text, 0), Printed)


def test_text_is_the_reply_as_it_stands() -> None:
    assert read_printed("text", "\x1b[1mAction\x1b[0m\n", "", 0) == Printed("Action\n")


def test_a_cause_names_the_agent_its_program_and_what_to_do() -> None:
    for row in CAUSES:
        error = error_of(row, "mine", "my-agent", "told")
        assert isinstance(error, AgentFailed if row.asked else AgentUnreachable)
        assert error.what == f"mine: {row.what}" and error.value == "told" and error.hint and "{" not in error.hint
