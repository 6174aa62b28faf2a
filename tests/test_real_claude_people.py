"""What happens around a research inside the real Claude Code: repairs, errors, crashes, and people at the keyboard."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.agent_programs import needs
from tests.agent_server import AgentServer, Asked, Said
from tests.claude_events import summary
from tests.program import harness
from tests.real_claude import (
    QUESTION,
    Part,
    Stage,
    call,
    cast,
    last_of,
    main_agent,
    packet_of,
    planner,
    requests_of,
    role_of,
    rounds_in,
    sent,
    synthesizer,
    with_prompt,
)

FIRMS = 2
WHOLE = ["planner", "search", "synthesizer"] * FIRMS + ["planner", "checker"]


def once(part: Part, instead: Said) -> Part:
    """`instead` for the first request, `part` for the others."""
    left = [instead]
    return lambda asked: left.pop() if left else part(asked)


# In one run ------------------------------------------------------------------------------------------


@needs("claude")
def test_two_role_calls_in_one_message_make_one_turn(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FIRMS)
    twice = Said(calls=(call("research:research-planner"), call("research:research-planner")))
    with AgentServer(cast(FIRMS, main=once(main_agent, twice))) as server:
        ran = stage.ask(server, f"/research {QUESTION}")
        assert "this turn is under way in another call of yours" in sent(requests_of(server, "main")[1])
    assert ran.code == 0, ran.out + ran.err
    assert stage.roles() == WHOLE


@needs("claude")
def test_a_defect_is_repaired_in_the_same_sub_agent(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FIRMS)

    def forgetful(asked: Asked) -> Said:
        """Drops the fact of round 1 once."""
        second = "Firm2: revenue 2024 — 22 bn roubles [2.1]"
        return Said(summary(second)) if "Firm2" in packet_of(asked) and not asked.replies else synthesizer(asked)

    with AgentServer(cast(FIRMS, Synthesizer=forgetful)) as server:
        ran = stage.ask(server, f"/research {QUESTION}")
        assert "Firm1: revenue 2024" in last_of(requests_of(server, "Synthesizer")[-1])
    assert ran.code == 0, ran.out + ran.err
    assert stage.roles() == WHOLE
    assert "Firm1: revenue 2024 — 11 bn" in (stage.case / "summary.md").read_text(encoding="utf-8")


@needs("claude")
def test_a_role_that_never_repairs_ends_it_with_one_line(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FIRMS)
    with AgentServer(cast(FIRMS, Planner=lambda asked: Said(f"I could search, or not ({asked.replies})."))) as server:
        ran = stage.ask(server, f"/research {QUESTION}", timeout=60)
        asked = requests_of(server, "Planner")
        end = last_of(requests_of(server, "main")[-1])
    assert ran.code == 0, ran.out + ran.err
    assert len(asked) == 6  # two passes of three replies
    assert "Research: it stops here: claude-code could not do the planner's turn of round 1" in end
    assert len(list((stage.case / ".harness/rejected").iterdir())) == 3


@needs("claude")
@pytest.mark.parametrize("status", [400, 529])
def test_an_api_error_in_a_role_is_tried_again_and_told(tmp_path: Path, status: int) -> None:
    stage = Stage(tmp_path, FIRMS)
    error = Said("the model is not well", status=status)
    with AgentServer(cast(FIRMS, Planner=lambda asked: error)) as server:
        ran = stage.ask(server, f"/research {QUESTION}")
        end = last_of(requests_of(server, "main")[-1])
    assert "Research: it stops here: no reply came (API Error" in end, ran.out
    assert not (stage.case / "trace.jsonl").exists()
    with AgentServer(cast(FIRMS)) as server:
        ran = stage.ask(server, "/research")
    assert stage.roles() == WHOLE


@needs("claude")
def test_words_to_steer_by_reach_both_roles(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FIRMS)

    def steering(asked: Asked) -> Said:
        said = main_agent(asked)
        return with_prompt(said, "steer: leave out prices") if "research-synthesizer" in str(said.calls) else said

    with AgentServer(cast(FIRMS, main=steering)) as server:
        stage.ask(server, f"/research {QUESTION}")
        asked = [*requests_of(server, "Synthesizer"), *requests_of(server, "Planner")[1:]]
    assert all("leave out prices" in packet_of(one) for one in asked)
    assert stage.roles() == WHOLE


# Between runs ----------------------------------------------------------------------------------------


def session_of(out: str) -> str:
    return str(json.loads(out)["session_id"])


@needs("claude")
def test_resumed_in_a_new_process_by_the_command_or_by_plain_words(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FIRMS)
    left = [2]

    def lazy(asked: Asked) -> Said:
        """Makes two calls a run and then ends its turn, whatever it is told."""
        said = main_agent(asked)
        left[0] -= bool(said.calls)
        return said if left[0] >= 0 else Said("I stop here.")

    with AgentServer(cast(FIRMS, main=lazy)) as server:
        first = stage.ask(server, f"/research {QUESTION}")
        assert stage.roles() == WHOLE[:3]
        left[0] = 2
        again = stage.ask(server, "/research", "--resume", session_of(first.out))
        assert stage.roles() == WHOLE[:6]
        left[0] = 99
        plain = stage.ask(
            server, 'go on: call the sub-agent research:research-planner with "go"', "--resume", session_of(again.out)
        )
    assert plain.code == 0, plain.out + plain.err
    assert stage.roles() == WHOLE


@needs("claude")
@pytest.mark.parametrize("role", ["Planner", "Synthesizer", "Checker"])
def test_killed_in_a_turn_another_program_goes_on(tmp_path: Path, role: str) -> None:
    stage = Stage(tmp_path, FIRMS)
    reached = threading.Event()

    def hanging(asked: Asked) -> Said:
        reached.set()
        return Said("too late", wait=20)

    with AgentServer(cast(FIRMS, **{role: hanging})) as server:
        words = stage.command("-p", f"/research {QUESTION}")
        process = subprocess.Popen(
            words, cwd=stage.project, env=stage.env(server), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        assert reached.wait(60)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    done = {"Planner": [], "Synthesizer": WHOLE[:2], "Checker": WHOLE[:-1]}[role]
    assert (stage.roles() if done else []) == done
    ran = harness("-C", str(stage.case), "run")
    assert ran.code in (0, 4), ran.err
    assert "another process is at work" not in ran.err
    assert (stage.case / "answer.md").is_file()
    assert stage.roles()[: len(done)] == done


@needs("claude")
def test_two_terminals_on_one_case_never_do_a_turn_twice(tmp_path: Path) -> None:
    stage = Stage(tmp_path, FIRMS)

    def slow(part: Part) -> Part:
        return lambda asked: part(asked)._replace(wait=0.5)

    playing = cast(FIRMS, Planner=slow(planner(FIRMS)), Synthesizer=slow(synthesizer))
    with AgentServer(playing) as server:
        first = threading.Thread(target=stage.ask, args=(server, f"/research {QUESTION}"))
        first.start()
        while not (stage.case / ".harness/claim.json").exists():
            time.sleep(0.05)
        second = stage.ask(server, "/research")
        first.join()
        told = second.out
    assert "is at work on this case" in told or "blocked by hook" in told
    assert stage.roles() == WHOLE


# At the keyboard --------------------------------------------------------------------------------------


class Keyboard:
    """The interactive program in a terminal of its own."""

    def __init__(self, name: str) -> None:
        self._tmux = ["tmux", "-L", name]

    def types(self, text: str) -> None:
        """Enter is pressed until the line is taken: a program that is busy drawing loses keys."""
        subprocess.run([*self._tmux, "send-keys", "-l", text], check=True)
        self.until(lambda: text in self.line())
        while text in self.line():
            self.presses("Enter")
            time.sleep(1)

    def line(self) -> str:
        """What stands in the input line, the last that begins with the prompt's sign."""
        return next((line for line in reversed(self.screen().splitlines()) if line.startswith("❯")), "")

    def presses(self, key: str) -> None:
        subprocess.run([*self._tmux, "send-keys", key], check=True)

    def screen(self) -> str:
        return subprocess.run([*self._tmux, "capture-pane", "-p"], check=False, capture_output=True, text=True).stdout

    def until(self, seen: Callable[[], bool], seconds: float = 60.0) -> None:
        deadline = time.monotonic() + seconds
        while not seen():
            assert time.monotonic() < deadline, self.screen()
            time.sleep(0.1)


@contextmanager
def keyboard(stage: Stage, server: AgentServer) -> Iterator[Keyboard]:
    env = stage.env(server, TERM="xterm-256color")
    known = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "lastOnboardingVersion": "2.1.197",
        "numStartups": 3,
        "customApiKeyResponses": {"approved": [env["ANTHROPIC_API_KEY"][-20:]], "rejected": []},
        "projects": {str(stage.project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }
    (stage.home / ".claude").mkdir(exist_ok=True)
    (stage.home / ".claude/.claude.json").write_text(json.dumps(known), encoding="utf-8")
    variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in env.items())
    command = f"cd {shlex.quote(str(stage.project))} && env -i {variables} {shlex.join(stage.command())}"
    name = f"harness-test-{os.getpid()}"
    subprocess.run(["tmux", "-L", name, "new-session", "-d", "-x", "120", "-y", "50", "sh", "-c", command], check=True)
    keys = Keyboard(name)
    try:
        keys.until(lambda: bool(keys.line()))
        yield keys
    finally:
        subprocess.run(["tmux", "-L", name, "kill-server"], check=False, capture_output=True)


def chatty(asked: Asked) -> Said:
    """The main agent with a person: passes their words on, answers other questions, and does what lines say."""
    last = last_of(asked)
    if "what time is it" in last:
        return Said("It is noon.")
    said = main_agent(asked)
    return with_prompt(said, "steer: leave out prices") if "leave out prices" in last else said


needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


@needs_tmux
@needs("claude")
def test_a_person_steers_interrupts_asks_something_else_and_goes_on(tmp_path: Path) -> None:
    stage = Stage(tmp_path, 4)

    def unhurried(asked: Asked) -> Said:
        said = cast(4, main=chatty)(asked)
        return said._replace(wait=1.5) if role_of(asked) != "main" else said

    with AgentServer(unhurried) as server, keyboard(stage, server) as keys:
        keys.types(f"/research {QUESTION}")
        keys.until(lambda: bool(requests_of(server, "Planner")))
        assert "at most 6 search rounds" in keys.screen()
        keys.types("leave out prices please")  # while a role is at work
        keys.until(lambda: "leave out prices" in (stage.case / "question.md").read_text(encoding="utf-8"))
        keys.presses("Escape")
        time.sleep(1)
        keys.types("what time is it?")
        keys.until(lambda: "It is noon." in keys.screen())
        before = len(server.asked)
        time.sleep(3)
        assert len(server.asked) == before, "the research was restarted unasked"
        keys.types("/research status")
        keys.until(lambda: "search rounds used" in keys.screen())
        keys.types("/compact")
        time.sleep(3)
        keys.types("/research")
        keys.until((stage.case / "answer.md").exists, 120)
        keys.until(lambda: "status: complete" in (stage.case / "answer.md").read_text(encoding="utf-8"))
    planners = requests_of(server, "Planner")
    assert "leave out prices" in packet_of(planners[-1])
    assert [role for role in stage.roles() if role != "search"][-2:] == ["planner", "checker"]
    assert max(rounds_in(packet_of(asked)) for asked in planners) == 4
