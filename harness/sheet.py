"""One source of settings laid over another, and the narrow rules for question.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from harness import specs
from harness.errors import HarnessError
from harness.formats.front import front_value
from harness.formats.text import clean
from harness.given import Given, near_match, parse_settings
from harness.model import FrontMatter
from harness.options import AgentSpec, Rung, Settings
from harness.settings import DEFAULTS, ROLES, SETTINGS, FromQuestion

# What question.md says about the question itself; these are no settings.
QUESTION_KEYS = ("entities", "fields", "ready_when")
# The only rung that question.md may add to the user's ladder: it sends nothing anywhere.
HARMLESS_RUNG = "person"


def typed(entries: Mapping[str, Given]) -> dict[str, Any]:
    """The values of the keys that are not empty. Raises for an unknown key (with a near match) and a bad value."""
    values: dict[str, Any] = {}
    for key, given in entries.items():
        if key not in SETTINGS:
            hint = f"The settings are: {', '.join(SETTINGS)}."
            raise given.problem(f"unknown setting `{key}`{near_match(key, SETTINGS)}", hint)
        if not given.empty:
            values[key] = SETTINGS[key].parse(given)
    return values


class Agents(Mapping[str, AgentSpec]):
    """The agents that the sources gave over the presets, which are read only where a name could be one of them."""

    def __init__(self, given: Mapping[str, AgentSpec], presets: Mapping[str, AgentSpec]) -> None:
        self._given, self._presets = given, presets

    def __getitem__(self, name: str) -> AgentSpec:
        return self._given[name] if name in self._given else self._presets[name]

    def __contains__(self, name: object) -> bool:
        return name in self._given or name in self._presets

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._presets, *self._given)))

    def __len__(self) -> int:
        return len(tuple(iter(self)))


class Sheet:
    """The values so far. Sources are applied from the weakest to the strongest."""

    def __init__(self, presets: Mapping[str, AgentSpec]) -> None:
        """`presets`: the agents that need no settings; looked into only where a name could be one of them."""
        self._presets = presets
        self.warnings: list[str] = []
        self._values: dict[str, Any] = {}
        self._given: dict[str, Given] = {}
        self._agent_origins: dict[str, str] = {}
        self._from_question: set[str] = set()

    def apply(self, entries: Mapping[str, Given]) -> None:
        """Lays a source over the others. Raises as `typed` does."""
        for key, value in typed(entries).items():
            if key == "agents":  # by name: a source adds to the agents there are, or replaces one whole
                self._note_agents(entries[key])
                value = {**self._values.get(key, {}), **value}
            self._values[key] = value
            self._given[key] = entries[key]

    def apply_question(self, front: FrontMatter, file: str, base: Path) -> None:
        """Lays question.md over the others: what a stranger may not set is a warning, never an error."""
        # As they were before the question: what it may name does not depend on the order of its keys.
        known = self.known_agents() if any(key in ROLES for key, _ in front.blocks) else ()
        line = 2  # line 1 is the `---` above the first block
        for key, block in front.blocks:
            if key and key not in QUESTION_KEYS:
                try:
                    self._apply_from_question(_from_block(front, key, block, f"{file}:{line}", base), known)
                except HarnessError as error:
                    self.warnings.append(f"{error.value}: {error.what}; ignored. {error.hint}")
            line += len(block.splitlines())

    def settings(self) -> Settings:
        """All values. Raises if a role names an agent that does not exist."""
        agents = self._agents()
        for role in ROLES:
            for name in self._value(role):
                if name not in specs.BUILT_IN_AGENTS and name not in agents:
                    raise _unknown_agent(name, self._given[role], self.known_agents())
        for rung in self._value("search"):
            if rung.provider == "agent" and rung.options["name"] not in agents:
                raise _unknown_agent(rung.options["name"], self._given["search"], agents)
        return DEFAULTS._replace(**{**self._values, "agents": agents})

    def origins(self) -> dict[str, str]:
        """Where each key's value, and each agent that some source gave, came from."""
        keys = {key: self._given[key].where if key in self._given else "default" for key in SETTINGS}
        return keys | {f"agents.{name}": where for name, where in self._agent_origins.items()}

    def known_agents(self) -> tuple[str, ...]:
        """Names a role may use: built in, configured, and the API shorthands already in use."""
        return (*specs.BUILT_IN_AGENTS, *self._agents())

    def _value(self, key: str) -> Any:
        return self._values.get(key, getattr(DEFAULTS, key))

    def _agents(self) -> Agents:
        shorthands = {name: spec for role in ROLES for name in self._value(role) if (spec := specs.shorthand(name))}
        return Agents(shorthands | self._values.get("agents", {}), self._presets)

    def _note_agents(self, given: Given) -> None:
        if isinstance(given.value, Mapping):
            self._agent_origins |= {name: entry.where for name, entry in given.value.items()}

    def _apply_from_question(self, given: Given, known: tuple[str, ...]) -> None:
        key = given.name
        if key not in SETTINGS:
            names = (*QUESTION_KEYS, *(name for name in SETTINGS if SETTINGS[name].question is not FromQuestion.NO))
            self.warnings.append(f"{given.where}: unknown key `{key}`{near_match(key, names)}; it has no effect")
            return
        rule = SETTINGS[key].question
        if rule is FromQuestion.NO:
            self.warnings.append(f"{given.where}: `{key}` counts only from harness.yaml or your own config; ignored")
            return
        if given.empty or key in self._from_question:  # of a repeated key the first counts; front.py reports it
            return
        self._from_question.add(key)
        match rule:
            case FromQuestion.LOWER:
                value = self._lowered(key, given)
            case FromQuestion.NAME if key == "search":
                value = self._known_rungs(given)
            case FromQuestion.NAME:
                value = _known_names(given, known)
            case _:
                value = SETTINGS[key].parse(given)
        if value is not None:
            self._values[key] = value
            self._given[key] = given

    def _lowered(self, key: str, given: Given) -> Any:
        value, limit = SETTINGS[key].parse(given), self._value(key)
        if value > limit:
            # .15g: no `2e+06` for tokens, no `30.0` for minutes.
            what = f"question.md may only lower `{key}` ({limit:.15g} here), not raise it to {value:.15g}"
            raise given.problem(
                what, f"Raise it in harness.yaml, or for one run by HARNESS_{key.upper()}={value:.15g}."
            )
        return value if value < limit else None

    def _known_rungs(self, given: Given) -> tuple[Rung, ...]:
        """Rungs of the user's ladder, with the user's settings, in the question's order."""
        ladder = (*self._value("search"), Rung(HARMLESS_RUNG))
        chosen: list[Rung] = []
        for wanted in SETTINGS["search"].parse(given):
            found = [rung for rung in ladder if rung.provider == wanted.provider and rung not in chosen]
            if wanted.options or not any(rung.provider == wanted.provider for rung in ladder):
                hint = f"It may name these: {', '.join(dict.fromkeys(rung.provider for rung in ladder))}."
                raise given.problem(f"question.md may not set up the search `{wanted.provider}`", hint)
            chosen += found
        return tuple(chosen)


def _known_names(given: Given, known: tuple[str, ...]) -> tuple[str, ...]:
    names: tuple[str, ...] = SETTINGS[given.name].parse(given)
    for name in names:
        if name not in known:
            raise _unknown_agent(name, given, known)
    return names


def _from_block(front: FrontMatter, key: str, block: str, where: str, base: Path) -> Given:
    """A key of front matter. What is no YAML (`rounds:5`) is read as front matter is: as text."""
    try:
        found = parse_settings(block, "", base).get(key)
    except HarnessError:
        found = None
    return Given(key, found.value if found else clean(front_value(front, key) or ""), where, base)


def _unknown_agent(name: str, given: Given, known: Iterable[str]) -> HarnessError:
    names = tuple(known)
    what = f"`{given.name}` names an unknown agent `{name}`{near_match(name, names)}"
    return given.problem(what, f"The agents are: {', '.join(names)}.")
