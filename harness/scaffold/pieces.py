"""What is laid down for which agent: the table of agents and the texts, from `templates/init/`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from harness.assets import template
from harness.errors import WrongCall
from harness.given import near_match


class Kind(StrEnum):
    """How a file is ours: a block in it, a line, the whole of it, or hooks among other settings."""

    BLOCK = "block"
    LINE = "line"
    WHOLE = "whole"
    HOOKS = "hooks"


class Piece(NamedTuple):
    """One file to lay down; `path` is below the project, with `/`."""

    path: str
    kind: Kind
    content: str


class Agent(NamedTuple):
    """A row of the table: the instruction file that it `reads`, further files, and how both are known."""

    name: str
    title: str
    program: str  # on PATH when it is installed; "" if it has none
    reads: str
    files: tuple[str, ...]
    verified: str
    source: str
    note: str = ""


def known_agents() -> Mapping[str, Agent]:
    import yaml  # late: only init needs it

    table = yaml.load(template("init/agents.yaml"), Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))["agents"]
    return {name: Agent(name=name, **{**row, "files": tuple(row["files"])}) for name, row in table.items()}


def named_agents(names: Iterable[str]) -> tuple[Agent, ...]:
    """Raises WrongCall for a name that is not in the table, listing it."""
    known = known_agents()
    for name in names:
        if name not in known:
            raise WrongCall(f"no such agent{near_match(name, known)}", name, f"There are: {', '.join(known)}.")
    return tuple(known[name] for name in names)


def pieces_of(agents: Iterable[Agent]) -> tuple[Piece, ...]:
    """The blocks and files of these agents, each path once."""
    agents = tuple(agents)
    blocks = {agent.reads: Piece(agent.reads, Kind.BLOCK, template("init/block.md")) for agent in agents}
    wholes = {path: Piece(path, Kind.WHOLE, template(_template_of(path))) for one in agents for path in one.files}
    return (*blocks.values(), *wholes.values())


def _template_of(path: str) -> str:
    """`.gemini/commands/x.toml` is kept without its leading dot, where it would be hidden."""
    return f"init/{path.removeprefix('.')}"
