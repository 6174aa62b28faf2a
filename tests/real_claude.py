"""The real Claude Code against the scripted server: a project with our plugin, and models that play their parts."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from itertools import takewhile
from pathlib import Path

from harness.scaffold.plugin import lay_hook, plugin_files
from harness.scaffold.wiring import Wanted, wire
from tests.agent_programs import Ran, clean_env, program, run_program
from tests.agent_server import AgentServer, Asked, Call, Said
from tests.claude_events import COMPLETE, answered, query, summary
from tests.trees import write_tree

SECRET = "SECRET-OF-A-RAW"
QUESTION = "What were the revenues of the firms in 2024?"
ROLES = ("Planner", "Synthesizer", "Checker")
Part = Callable[[Asked], Said]


def make_plugin(folder: Path, data: Path, search_tools: tuple[str, ...] = ()) -> Path:
    """The plugin as `harness init` lays it down, for `--plugin-dir`."""
    lay_hook(data)
    return write_tree(folder, plugin_files(data, search_tools))


def make_project(folder: Path, firms: int, files: Mapping[str, str]) -> Path:
    """A project with one document a firm; each is found by its own query, and holds the secret."""
    documents = {
        f"docs/firm{number}.md": f"# Firm{number} report\n\nThe revenue of Firm{number} in 2024 was {number * 11} bn "
        f"roubles. {SECRET}\n"
        for number in range(1, firms + 1)
    }
    (folder / ".git").mkdir(parents=True)
    settings = f"search:\n- folder: docs\nrounds: {firms + 2}\n"
    return write_tree(folder, {"harness.yaml": settings, **documents, **files})


def role_of(asked: Asked) -> str:
    """Whose request it is: a role's system prompt says so, everything else is the main agent's."""
    if "You search for a research" in asked.system:
        return "searcher"
    return next((role for role in ROLES if f"You are the {role} of a research" in asked.system), "main")


def packet_of(asked: Asked) -> str:
    return next(text for role, text in asked.messages if "<question>" in text)


def rounds_in(packet: str) -> int:
    """Searches that the packet's summary lists, the ones not shown included."""
    earlier = re.search(r"\((\d+) earlier searches", packet)
    return len(re.findall(r"^- \d+ · ", packet, re.MULTILINE)) + (int(earlier[1]) if earlier else 0)


# The parts ---------------------------------------------------------------------------------------------


def planner(firms: int) -> Part:
    def play(asked: Asked) -> Said:
        done = rounds_in(packet_of(asked))
        if done >= firms:
            return Said(answered("Firm1 had a revenue of 11 bn roubles in 2024 [1.1]."))
        return Said(query(f"revenue of Firm{done + 1} 2024"))

    return play


def synthesizer(asked: Asked) -> Said:
    packet = packet_of(asked)
    found = re.search(r'<raw_results note="round (\d+);', packet)
    assert found
    number = int(found[1])
    old = re.findall(r"^- (Firm\d+: .*)$", packet.partition("<decision")[0], re.MULTILINE)
    return Said(summary(*old, f"Firm{number}: revenue 2024 — {number * 11} bn roubles [{number}.1]"))


def checker(asked: Asked) -> Said:
    return Said(COMPLETE)


def main_agent(asked: Asked) -> Said:
    """Does what the last line says, as the skill asks."""
    calls = re.findall(r"[Cc]all the sub-agent (\S+)", last_of(asked))
    return Said(calls=(call(calls[-1]),)) if calls else Said("The research ended here.")


def call(agent_type: str, prompt: str = "go") -> Call:
    return Call("Agent", {"description": "a turn", "prompt": prompt, "subagent_type": agent_type})


def with_prompt(said: Said, prompt: str, **more: object) -> Said:
    """The same calls, with a prompt of the main agent's own."""
    calls = (
        Call(one.tool, {**one.input, "prompt": prompt, **more}) for one in said.calls if isinstance(one.input, dict)
    )
    return said._replace(calls=tuple(calls))


def last_of(asked: Asked) -> str:
    """All that came since the assistant spoke last: results, hook contexts, the program's own reminders."""
    since = takewhile(lambda message: message[0] != "assistant", reversed(asked.messages))
    return "\n".join(reversed([text for _, text in since]))


def cast(firms: int, **parts: Part) -> Part:
    """One function for the server; `parts` replace the usual ones."""
    usual: dict[str, Part] = {
        "Planner": planner(firms),
        "Synthesizer": synthesizer,
        "Checker": checker,
        "main": main_agent,
    }
    playing = {**usual, **parts}
    return lambda asked: playing[role_of(asked)](asked)


# The stage -----------------------------------------------------------------------------------------------


class Stage:
    """A project, a home and a plugin in one folder; `ask` runs `claude -p` there."""

    def __init__(
        self, folder: Path, firms: int, files: Mapping[str, str] | None = None, search_tools: tuple[str, ...] = ()
    ) -> None:
        self.firms = firms
        self.home = folder / "home"
        self.home.mkdir()
        self.project = make_project(folder / "project", firms, files or {})
        self.plugin: Path | None = make_plugin(folder / "plugin", self.home / "data", search_tools)

    @property
    def case(self) -> Path:
        return self.project / "research"

    def env(self, server: AgentServer, **extra: str) -> dict[str, str]:
        own = {f"HARNESS_{kind}_DIR": str(self.home / kind.lower()) for kind in ("CONFIG", "DATA", "CACHE")}
        return clean_env(self.home, server.url, **{**own, "CLAUDE_CODE_MAX_RETRIES": "1", **extra})

    def command(self, *more: str) -> list[str]:
        claude = program("claude")
        assert claude
        plugin = ["--plugin-dir", str(self.plugin)] if self.plugin else []
        return [str(claude), *plugin, "--model", "sonnet", *more]

    def init(self, server: AgentServer, *, in_project: bool = False) -> None:
        """`harness init`, in place of `--plugin-dir` or, in the project, beside it."""
        claude = program("claude")
        assert claude
        env = self.env(server)
        env["PATH"] = f"{claude.parent}{os.pathsep}{env['PATH']}"
        wire(self.project, Wanted(("claude",), (), in_project), environ=env)
        self.plugin = self.plugin if in_project else None

    def ask(
        self, server: AgentServer, prompt: str, *more: str, sub: str = "", timeout: float = 120.0, **env: str
    ) -> Ran:
        words = self.command("-p", prompt, "--output-format", "json", *more)
        return run_program(words, self.project / sub, self.env(server, **env), timeout=timeout)

    def roles(self) -> list[str]:
        """What the trace says was done, in order."""
        lines = (self.case / "trace.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line).get("role", "") for line in lines]


def requests_of(server: AgentServer, role: str) -> list[Asked]:
    return [asked for asked in server.asked if role_of(asked) == role and asked.tools != ("web_search",)]


def sent(asked: Asked) -> str:
    """Everything of a request, as text."""
    return json.dumps(asked.body, ensure_ascii=False)
