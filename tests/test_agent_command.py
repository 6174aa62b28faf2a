"""A program as a role-taker. The programs are small Python scripts, really started."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.agents.command import CommandAgent
from harness.errors import AgentFailed, AgentUnreachable, WrongCall
from harness.model import Packet, Reply, Role
from harness.options import AgentSpec

PACKET = Packet(
    role=Role.PLANNER,
    token="t",
    round=1,
    prompt="Вопрос: {prompt_file}\nReply with one action.",
    files={"question.md": "Q\n", "summary.md": "S\n"},
    writes=("next_query.txt", "answer.md"),
)
PYTHON = (sys.executable, "-I", "-S", "-c")


def agent(code: str, *arguments: str, **settings: Any) -> CommandAgent:
    return CommandAgent(AgentSpec("mine", command=(*PYTHON, code, *arguments), **({"timeout": 20.0} | settings)))


def take(code: str, *arguments: str, packet: Packet = PACKET, **settings: Any) -> Reply:
    return agent(code, *arguments, **settings).take(packet)


def failure(code: str, *arguments: str, packet: Packet = PACKET, **settings: Any) -> AgentFailed:
    with pytest.raises(AgentFailed) as caught:
        take(code, *arguments, packet=packet, **settings)
    assert caught.value.what.startswith("mine: ") and caught.value.hint
    return caught.value


def test_prompt_on_stdin_reply_from_stdout() -> None:
    reply = take("import os, sys; print(os.listdir('.'), sys.stdin.buffer.read().decode())")
    assert reply == Reply(f"[] {PACKET.prompt}")


def test_prompt_as_argument() -> None:
    code = "import sys; print(repr(sys.argv[1:]), repr(sys.stdin.read()))"
    assert take(code, prompt="argument").text == f"{[PACKET.prompt]!r} ''"
    assert take(code, "--ask={prompt}", "-q", prompt="argument").text == f"{['--ask=' + PACKET.prompt, '-q']!r} ''"


@pytest.mark.parametrize("prompt", ["--version", "@/etc/passwd"])
def test_a_prompt_is_never_an_option_or_a_file(prompt: str) -> None:
    packet = PACKET._replace(prompt=prompt)
    assert take("import sys; print(sys.argv[1:])", packet=packet, prompt="argument").text == str(["\n" + prompt])


def test_prompt_as_file() -> None:
    code = "import sys, os; print(os.path.isabs(sys.argv[-1]), open(sys.argv[-1], encoding='utf-8').read())"
    assert take(code, prompt="file").text == f"True {PACKET.prompt}"
    assert take(code, "-f", "{prompt_file}", prompt="file").text == f"True {PACKET.prompt}"


def test_reply_from_a_named_file() -> None:
    code = "open('last.txt', 'wb').write('\\ufeffAction: search(\"Лавка\")\\r\\n'.encode('utf-8')); print('working …')"
    assert take(code, reply="last.txt") == Reply('Action: search("Лавка")')
    assert "no reply in last.txt" in failure("print('done')", reply="last.txt").what
    assert "last.txt is a link" in failure("import os; os.symlink('/etc/hostname', 'last.txt')", reply="last.txt").what


def test_files_at_the_desk() -> None:
    code = (
        "import os; print(sorted(os.listdir('.')))\n"
        "open('next_query.txt', 'w').write('search(\"x\")')\n"
        "open('summary.md', 'w').write('spoilt'); os.unlink('question.md'); open('markdown', 'w').write('m')\n"
    )
    reply = take(code, files=True)
    assert reply.text == "['PROMPT.md', 'question.md', 'summary.md']"
    assert reply.files == {"next_query.txt": 'search("x")'}
    assert sorted(reply.notes) == [
        "markdown was created: discarded",
        "question.md was deleted: ignored",
        "summary.md was changed: discarded",
    ]


def test_unchanged_files_are_a_failure_that_names_what_was_written_instead() -> None:
    code = (
        "import os; os.mkdir('research'); open('research/next_query.txt', 'w').write('x'); print('I have updated it.')"
    )
    error = failure(code, files=True)
    assert "did not write next_query.txt or answer.md" in error.what
    assert "research/next_query.txt was created" in error.what
    assert error.value == "I have updated it."


def test_a_role_without_outputs_replies_on_stdout_even_with_files() -> None:
    packet = PACKET._replace(role=Role.CHECKER, writes=())
    assert take("print('{\"complete\": true}')", packet=packet, files=True).text == '{"complete": true}'


def test_exit_code_shows_the_last_lines_without_escapes_and_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k-1234567890")
    code = (
        "import os, sys\n"
        "for n in range(50): print('line', n, file=sys.stderr)\n"
        "print('\\x1b[31mBroken\\x1b[0m', os.environ['OPENAI_API_KEY'], os.environ['MY_TOKEN'], file=sys.stderr)\n"
        "sys.exit(3)\n"
    )
    error = failure(code, env={"MY_TOKEN": "tok-98765432"})
    assert error.what == "mine: exit code 3"
    assert error.value.endswith("line 49\nBroken *** ***")
    assert "line 30" not in error.value
    assert "1234567890" not in str(error) + repr(error) and "98765432" not in str(error) + repr(error)


def test_an_error_told_on_stdout_is_shown_too() -> None:
    assert failure("print('Cannot go on'); raise SystemExit(1)").value == "Cannot go on"
    assert failure("import os; os.kill(os.getpid(), 9)").what == "mine: ended by signal 9"


def test_exit_code_0_and_nothing_printed_is_a_failure() -> None:
    error = failure("import sys; print('\\x1b[0m \\n'); print('warning: x', file=sys.stderr)")
    assert error.what == "mine: exit code 0, but no reply" and error.value == "warning: x"


def test_a_time_out_names_the_likely_reason_and_the_setting() -> None:
    code = "import sys, time; print('Allow this? [y/n]', file=sys.stderr, flush=True); time.sleep(60)"
    error = failure(code, timeout=0.5)
    assert error.what == "mine: no reply in 0.5 s" and error.value == "Allow this? [y/n]"
    assert "permission" in error.hint and "agents.mine.timeout" in error.hint


def test_far_too_much_output_is_a_failure() -> None:
    error = failure("for _ in range(100): print('x' * 99_999)")
    assert error.what == "mine: printed far more than a reply" and len(str(error)) < 3_000


def test_the_environment_has_no_marks_of_another_session(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "HARNESS_DIR", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "set-outside")
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    env = json.loads(take(code, env={"CLAUDE_CODE_ENTRYPOINT": "sdk"}).text)
    assert "CLAUDECODE" not in env and "HARNESS_DIR" not in env
    assert env["CLAUDE_CODE_DISABLE_ATTACHMENTS"] == "1", "or @path in a page would attach a file"
    assert env["CLAUDE_CODE_ENTRYPOINT"] == "sdk" and env["ANTHROPIC_API_KEY"] == "set-outside"
    assert not any(str(Path.cwd()) == value for value in env.values()), "nothing tells where the case is"


def test_a_missing_or_unfit_program(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("no program")
    (tmp_path / "broken").write_text("#!/no/such/interpreter\n")
    (tmp_path / "broken").chmod(0o755)
    for program in ("no-such-agent", str(tmp_path / "data.txt"), str(tmp_path / "broken")):
        with pytest.raises(AgentUnreachable) as caught:
            CommandAgent(AgentSpec("mine", command=(program,))).take(PACKET)
        assert "agents.mine.command" in caught.value.hint
    assert "no-such-agent" in str(CommandAgent(AgentSpec("mine", command=("no-such-agent",))).obstacle())
    assert agent("").obstacle() is None


def test_a_program_named_from_here_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "agent").write_text(f"#!{sys.executable}\nprint('here')\n")
    (tmp_path / "agent").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert CommandAgent(AgentSpec("mine", command=("./agent",))).take(PACKET).text == "here"


@pytest.mark.skipif(os.name != "posix", reason="limits of other systems differ")
def test_a_prompt_too_long_for_an_argument_is_refused() -> None:
    fits = PACKET._replace(prompt="x" * 100_000)
    too_long = PACKET._replace(prompt="я" * 140_000)
    assert take("import sys; print(len(sys.argv[1]))", packet=fits, prompt="argument").text == "100000"
    with pytest.raises(AgentUnreachable) as caught:
        take("print(1)", packet=too_long, prompt="argument")
    assert "280000 bytes" in str(caught.value) and "agents.mine.prompt to stdin" in caught.value.hint
    assert take("import sys; print(len(sys.stdin.buffer.read()))", packet=too_long).text == "280000"


def test_a_nul_in_an_argument_is_told() -> None:
    with pytest.raises(AgentUnreachable):
        take("print(1)", packet=PACKET._replace(prompt="a\0b"), prompt="argument")


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        (AgentSpec("mine"), "agents.mine.command"),
        (AgentSpec("mine", command=("a",), prompt="pipe"), "agents.mine.prompt"),
        (AgentSpec("mine", command=("a",), reply="../summary.md"), "agents.mine.reply"),
        (AgentSpec("mine", command=("a",), reply="/etc/passwd"), "agents.mine.reply"),
        (AgentSpec("mine", command=("a",), reply=".."), "agents.mine.reply"),
        (AgentSpec("mine", command=("a",), reply=""), "agents.mine.reply"),
    ],
)
def test_a_spec_that_cannot_work_is_refused_at_once(spec: AgentSpec, named: str) -> None:
    with pytest.raises(WrongCall) as caught:
        CommandAgent(spec)
    assert named in caught.value.hint


def test_the_desk_is_gone_afterwards() -> None:
    code = "import os; print(os.getcwd())"
    assert not Path(take(code).text).exists()
    assert not Path(failure(code, files=True).value).exists()
