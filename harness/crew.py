"""From settings to who takes the roles and where is searched: one literal table each."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import NamedTuple

import platformdirs

from harness.agents.chat import ChatAgent
from harness.agents.command import CommandAgent
from harness.agents.extractive.agent import ExtractiveAgent
from harness.agents.person import PersonAgent
from harness.errors import WrongCall
from harness.formats.text import shortened
from harness.model import Role
from harness.options import AgentSpec, Rung, Settings
from harness.ports import Agent, Search, SearchResult
from harness.search.agent import AgentSearch
from harness.search.command import TIMEOUT, CommandSearch
from harness.search.folder import FolderSearch
from harness.search.person import PersonSearch
from harness.searching import LeftOut, ask_rung
from harness.session import Crew
from harness.store import Store

CACHE_VARIABLE = "HARNESS_CACHE_DIR"
BUILT_IN = "extractive"
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
    return Crew(agents, make_ladder(settings, around, requests), ExtractiveAgent())


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
        self._made = Counter(dict(earlier))
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


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Outside every case: HARNESS_CACHE_DIR, else the user's cache."""
    return Path(environ.get(CACHE_VARIABLE) or platformdirs.user_cache_dir("harness", appauthor=False))
