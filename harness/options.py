"""What people choose: who takes the roles, where is searched, the limits."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

REFINE, MAP_REDUCE, TREE = "refine", "map_reduce", "tree"  # how a raw that does not fit is read


class AgentSpec(NamedTuple):
    """One entry under `agents:`. A program (`command`) or a model behind an API (`api`)."""

    name: str
    command: tuple[str, ...] = ()
    prompt: str = "stdin"  # stdin | argument | file
    reply: str = "stdout"  # stdout | the name of a file the program writes at its desk
    form: str = "text"  # what stdout holds: the reply, or the JSON of one of these programs (agents/forms.py)
    files: bool = False  # true: the program works through files at a desk
    sandbox: str = "none"  # none | bwrap
    search_command: tuple[str, ...] = ()  # as a searcher: the same program with its web tools and nothing else
    api: str = ""  # openai | anthropic | llm
    model: str = ""
    base_url: str = ""
    key_env: str = ""  # environment variable that holds the key; "" = the vendor's usual one
    env: Mapping[str, str] = MappingProxyType({})
    timeout: float = 300.0  # seconds a call
    window: int = 131_072  # tokens
    output: int = 8_000  # tokens
    parallel: int = 4  # calls at the same time, where parts of a raw are read side by side
    # How a prompt is counted. The vocabulary of most models is unpublished; against the one that Claude published,
    # o200k_base is 43 % too low for Russian prose and cl100k_base 13 %, so 1.2 times the latter covers every language.
    encoding: str = "cl100k_base"  # cl100k_base | o200k_base | estimate
    safety: float = 1.2  # times the count


class Rung(NamedTuple):
    """One rung of the search ladder: a provider with its settings, e.g. folder {"path": "docs"}."""

    provider: str
    options: Mapping[str, str] = MappingProxyType({})


class Settings(NamedTuple):
    """Every setting, resolved (design.md, section 7)."""

    planner: tuple[str, ...] = ("extractive",)
    synthesizer: tuple[str, ...] = ("extractive",)
    checker: tuple[str, ...] = ("extractive",)
    search: tuple[Rung, ...] = (Rung("folder"),)
    agents: Mapping[str, AgentSpec] = MappingProxyType({})
    mode: str = "itersynth"
    rounds: int = 10
    minutes: float = 60.0
    tokens: int = 2_000_000
    queries_per_round: int = 1
    repairs: int = 2
    pause_every: int = 0  # rounds; 0 = never
    summary_tokens: int = 8_000
    self_check: bool = True
    language: str = ""  # "" = the question's
    sections: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    sites: tuple[str, ...] = ()
    contact: str = ""
    strategy: str = REFINE
    window: int = 0  # tokens; 0 = what each agent's model can read
    commit: bool = False
    commit_raws: bool = False
