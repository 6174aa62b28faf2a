"""The settings: one table of keys with what each takes, who may set it and when it needs trust."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from harness import kinds, specs
from harness.given import Given
from harness.options import MAP_REDUCE, REFINE, TREE, AgentSpec, Rung, Settings

DEFAULTS = Settings()  # the defaults of the table: they are the values' own

# Modes and strategies that are built; a name joins its row when the code does.
MODES = ("itersynth",)
STRATEGIES = (REFINE, MAP_REDUCE, TREE)
LANGUAGES = ("en", "ru", "zh")  # those with labels

# What a rung may say without trust. Anything else (a URL, a command, a path) may lead out of the project.
SAFE_OPTIONS = frozenset({"cap", "name", "timeout"})


class FromQuestion(StrEnum):
    """What question.md, which may come from a stranger, may do with a key."""

    NO = "no"
    YES = "yes"
    LOWER = "only lower"  # it may spend less than the others allow, never more
    NAME = "only names that exist"  # it may choose among what the user has set up


class Setting(NamedTuple):
    """One key. `risks` names what in a project's value needs trust, given the project's folder."""

    parse: Callable[[Given], Any]
    question: FromQuestion = FromQuestion.NO
    risks: Callable[[Any, Path], tuple[str, ...]] = lambda value, folder: ()


def _role(given: Given) -> tuple[str, ...]:
    items = given.items()
    if not items or not all(item.value and isinstance(item.value, str) for item in items):
        raise given.refused("the name of an agent, or a list of them")
    return kinds.texts(given)


def _shorthand_risks(value: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    return tuple(f"the model {name}" for name in value if specs.shorthand(name))


def _agent_risks(value: Mapping[str, AgentSpec], folder: Path) -> tuple[str, ...]:
    """Every entry: each starts a program or sends text to a host."""
    return tuple(f"agents.{name}" for name in value)


def _rung_risks(value: tuple[Rung, ...], folder: Path) -> tuple[str, ...]:
    return tuple(
        f"search.{rung.provider}.{key}"
        for rung in value
        for key, option in rung.options.items()
        if key not in SAFE_OPTIONS and not (key == "path" and inside(Path(option), folder))
    )


def inside(path: Path, folder: Path) -> bool:
    """Links followed: a link in a project may lead out of it."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _switch(key: str) -> Setting:
    return Setting(kinds.yes_no, risks=lambda value, folder: (key,) if value else ())


ROLES = ("planner", "synthesizer", "checker")
_ROLE = Setting(_role, FromQuestion.NAME, _shorthand_risks)

SETTINGS: Mapping[str, Setting] = {
    "planner": _ROLE,
    "synthesizer": _ROLE,
    "checker": _ROLE,
    "search": Setting(specs.ladder, FromQuestion.NAME, _rung_risks),
    "agents": Setting(specs.agents, risks=_agent_risks),
    "mode": Setting(kinds.choice(*MODES), FromQuestion.YES),
    "rounds": Setting(kinds.whole(1, 100_000), FromQuestion.LOWER),
    "minutes": Setting(kinds.number(1_000_000, "minutes"), FromQuestion.LOWER),
    "tokens": Setting(kinds.whole(1, 10**12), FromQuestion.LOWER),
    "queries_per_round": Setting(kinds.whole(1, 5), FromQuestion.YES),
    "repairs": Setting(kinds.whole(0, 10)),
    "pause_every": Setting(kinds.whole(0, 100_000)),
    "summary_tokens": Setting(kinds.whole(100, 1_000_000)),
    "self_check": Setting(kinds.yes_no),
    "language": Setting(kinds.choice(*LANGUAGES), FromQuestion.YES),
    "sections": Setting(kinds.texts, FromQuestion.YES),
    "since": Setting(kinds.iso_date, FromQuestion.YES),
    "until": Setting(kinds.iso_date, FromQuestion.YES),
    "sites": Setting(kinds.texts),
    "contact": Setting(kinds.text),
    "strategy": Setting(kinds.choice(*STRATEGIES)),
    "window": Setting(kinds.whole(0, 100_000_000)),
    "commit": _switch("commit"),
    "commit_raws": _switch("commit_raws"),
}
