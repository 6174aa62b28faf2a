"""From settings to who takes the roles and where is searched: one literal table each."""

from __future__ import annotations

import os
import shlex
from collections import Counter as Tally
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import NamedTuple

from harness.agents.chat import ChatAgent
from harness.agents.command import CommandAgent
from harness.agents.extractive.agent import ExtractiveAgent
from harness.agents.person import PersonAgent
from harness.caching import cache_folder
from harness.calibration import learn, learned
from harness.counters import ESTIMATE_ENCODING, Counter, counter_for
from harness.errors import WrongCall
from harness.formats.text import shortened
from harness.model import Role
from harness.options import AgentSpec, Rung, Settings
from harness.parts import Room
from harness.ports import Agent, Search, SearchResult
from harness.search.agent import AgentSearch
from harness.search.command import TIMEOUT, CommandSearch
from harness.search.folder import FolderSearch
from harness.search.person import PersonSearch
from harness.searching import LeftOut, ask_rung
from harness.session import Crew
from harness.store import Store

BUILT_IN = "extractive"
# What the Read tool of a coding agent shows of one file at most (Claude Code: 25,000 tokens, 2,000 lines).
FILE_TOKENS, FILE_LINES = 20_000, 2_000
# Chat windows and rules have no vocabulary; this one counts between the others.
BUILT_IN_ENCODING = "cl100k_base"
FAILURES = 2  # of a rung in a row: then it is left out for the rest of the run
REASON_SHOWN = 80  # characters
NONE_EARLIER: Mapping[str, int] = MappingProxyType({})


class Surroundings(NamedTuple):
    """What agents and providers may need besides their settings."""

    store: Store
    environ: Mapping[str, str]
    say: Callable[[str], None]
    attended: bool = False  # a person watches this terminal
    editor: str = ""
    agents: Mapping[str, AgentSpec] = MappingProxyType({})  # for rungs that name one


def make_crew(settings: Settings, around: Surroundings, requests: Mapping[str, int] = NONE_EARLIER) -> Crew:
    """For one run; `requests`: provider -> searches made in this case so far.

    Raises WrongCall for a name that is not in the tables.
    """
    roles = {
        Role.PLANNER: settings.planner,
        Role.SYNTHESIZER: settings.synthesizer,
        Role.CHECKER: settings.checker,
    }
    agents = {role: tuple(make_agent(name, settings, around) for name in names) for role, names in roles.items()}
    rooms = {name: room_for(name, settings, around.environ) for names in roles.values() for name in names}
    if any(guesses(settings.agents[name], around.environ) for name in rooms if name in settings.agents):
        around.say("note: tokens are estimated, at most as many as are told: no vocabulary is here (harness doctor)")
    learn = partial(learned_from, settings, around.environ)
    return Crew(agents, make_ladder(settings, around, requests), ExtractiveAgent(), rooms, learn)


def room_for(name: str, settings: Settings, environ: Mapping[str, str]) -> Room:
    """What a packet for an agent may hold. Programs that read files stop at FILE_TOKENS and FILE_LINES of each."""
    spec = settings.agents.get(name)
    if spec is None:  # built in: no limit of its own
        return Room(settings.window or None, count=counter_for(BUILT_IN_ENCODING, 1.0, cache_folder(environ)))
    window = min(spec.window, settings.window or spec.window)
    tokens, lines = (FILE_TOKENS, FILE_LINES) if spec.files else (0, 0)
    return Room(window, spec.output, counter_of(spec, environ), tokens, lines, spec.parallel)


def counter_of(spec: AgentSpec, environ: Mapping[str, str]) -> Counter:
    """Its encoding times its safety factor, or times what its replies have shown."""
    cache = cache_folder(environ)
    return counter_for(spec.encoding, learned(cache, key_of(spec), spec.safety), cache)


def guesses(spec: AgentSpec, environ: Mapping[str, str]) -> bool:
    """Whether an agent's tokens are estimated although a vocabulary was asked for."""
    return spec.encoding != ESTIMATE_ENCODING and not counter_of(spec, environ).exact


def key_of(spec: AgentSpec) -> str:
    """By what its counts are remembered: another model of the same name counts otherwise."""
    return " ".join(filter(None, (spec.name, spec.api, spec.model)))


def learned_from(settings: Settings, environ: Mapping[str, str], name: str, prompt: str, reported: int) -> None:
    """An agent's reply told how many tokens its prompt had."""
    spec, cache = settings.agents.get(name), cache_folder(environ)
    if spec and spec.encoding != ESTIMATE_ENCODING:
        learn(cache, key_of(spec), counter_for(spec.encoding, 1.0, cache)(prompt), reported)


# Agents ------------------------------------------------------------------------------------------


def make_agent(name: str, settings: Settings, around: Surroundings) -> Agent:
    if name in BUILT_IN_AGENTS:
        return BUILT_IN_AGENTS[name](around)
    if name not in settings.agents:
        known = ", ".join([*BUILT_IN_AGENTS, *settings.agents])
        raise WrongCall("unknown agent", name, f"known are {known}; harness agents says which are ready")
    return _from_spec(settings.agents[name], _hidden(around))


def _extractive(around: Surroundings) -> Agent:
    return ExtractiveAgent()


def _person(around: Surroundings) -> Agent:
    return PersonAgent(around.store, attended=around.attended, say=around.say, editor=around.editor)


BUILT_IN_AGENTS: Mapping[str, Callable[[Surroundings], Agent]] = {BUILT_IN: _extractive, "person": _person}


def _from_spec(spec: AgentSpec, hidden: tuple[Path, ...] = ()) -> CommandAgent | ChatAgent:
    return CommandAgent(spec, hidden) if spec.command else ChatAgent(spec)


def _hidden(around: Surroundings) -> tuple[Path, ...]:
    """What a sandbox keeps from a program: the case, and where the user stands, which is mostly the project."""
    return (around.store.folder.absolute(), Path.cwd())


class Readiness(NamedTuple):
    """One line of `harness agents`. `missing`: why it cannot take a role here, "" when it can."""

    name: str
    kind: str
    missing: str


def readiness(settings: Settings) -> tuple[Readiness, ...]:
    """Every agent that a role may name, and whether it is ready here. Starts nothing."""
    built_in = tuple(Readiness(name, "built in", "") for name in BUILT_IN_AGENTS)
    return built_in + tuple(_readiness(spec) for spec in settings.agents.values())


def _readiness(spec: AgentSpec) -> Readiness:
    kind = "program" if spec.command else f"{spec.api} {spec.model}"
    obstacle = _from_spec(spec).obstacle()
    return Readiness(spec.name, kind, f"{obstacle.what} ({obstacle.hint})" if obstacle else "")


# Search ------------------------------------------------------------------------------------------


def make_ladder(
    settings: Settings, around: Surroundings, requests: Mapping[str, int] = NONE_EARLIER
) -> tuple[Search, ...]:
    """The rungs with their memory of this run: another ladder tries each of them again."""
    made = Requests(requests)
    around = around._replace(agents=settings.agents)
    return tuple(LimitedSearch(make_rung(rung, around), made, cap_of(rung)) for rung in settings.search)


def cap_of(rung: Rung) -> int | None:
    return int(rung.options["cap"]) if "cap" in rung.options else None


class Requests:
    """Searches made with each provider in this case: `earlier` ones and those of this run. Thread-safe."""

    def __init__(self, earlier: Mapping[str, int] = NONE_EARLIER) -> None:
        self._made = Tally(dict(earlier))
        self._turn = Lock()

    def take(self, provider: str, cap: int | None) -> bool:
        """Whether one more may be made; then it counts as made."""
        with self._turn:
            if cap is not None and self._made[provider] >= cap:
                return False
            self._made[provider] += 1
            return True


class LimitedSearch:
    """One rung for the length of a run: left out after two failures in a row, or at its cap. Never on disk.

    Of searches made side by side all failures count as one: they tell of the same moment.
    """

    def __init__(self, search: Search, requests: Requests, cap: int | None = None) -> None:
        self._search = search
        self._requests = requests
        self._cap = cap
        self._turn = Lock()
        self._failed = 0  # in a row
        self._reason = ""

    @property
    def name(self) -> str:
        return self._search.name

    def search(self, query: str) -> SearchResult:
        with self._turn:
            failed, reason = self._failed, self._reason
        if failed >= FAILURES:
            return LeftOut("blocked", error=f"left out: failed twice in a row in this run ({reason})")
        if not self._requests.take(self.name, self._cap):
            return LeftOut("blocked", error=f"cap of {self._cap} reached in this case")
        result = ask_rung(self._search, query)
        with self._turn:
            if result.outcome == "blocked":
                self._failed = max(self._failed, failed + 1)
                self._reason = shortened(result.error, REASON_SHOWN)
            else:
                self._failed = 0
        return result


def make_rung(rung: Rung, around: Surroundings) -> Search:
    """A rung with a `command` is a program, whatever its name."""
    if "command" in rung.options:
        return _command(rung, around)
    if rung.provider not in PROVIDERS:
        known = ", ".join(PROVIDERS)
        hint = f"known are {known}, or a program: - {rung.provider}: {{command: [my-search]}}"
        raise WrongCall("unknown search provider", rung.provider, hint)
    return PROVIDERS[rung.provider](rung, around)


def _command(rung: Rung, around: Surroundings) -> Search:
    command = shlex.split(rung.options["command"])
    return CommandSearch(rung.provider, command, timeout=float(rung.options.get("timeout", TIMEOUT)))


def _folder(rung: Rung, around: Surroundings) -> Search:
    return FolderSearch(folder_of(rung), cache=cache_folder(around.environ))


def _agent_search(rung: Rung, around: Surroundings) -> Search:
    name = rung.options["name"]
    if name not in around.agents:
        raise WrongCall("unknown agent", name, "harness agents says which are ready")
    return AgentSearch(around.agents[name])


def _person_search(rung: Rung, around: Surroundings) -> Search:
    return PersonSearch(around.store.folder)


PROVIDERS: Mapping[str, Callable[[Rung, Surroundings], Search]] = {
    "folder": _folder,
    "agent": _agent_search,
    "person": _person_search,
}


def folder_of(rung: Rung) -> Path:
    """The folder that a `folder` rung searches: its path, else the current one."""
    return Path(rung.options.get("path") or os.curdir).absolute()
