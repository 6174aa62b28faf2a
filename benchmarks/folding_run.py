"""One fold of the folding benchmark in a process of its own, by the code behind `harness fold`; tells JSON.

python -m benchmarks.folding_run CASE DOCUMENTS QUESTION.md --strategy tree --spoilt 3,5
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

from harness.crew import Surroundings, make_crew
from harness.formats.question import parse_question
from harness.gathering import copy_in, gather
from harness.loop import read_all
from harness.model import Packet, Reply, Role
from harness.options import Settings
from harness.ports import Agent
from harness.rereading import reread
from harness.session import Crew, Session, Step
from harness.starting import Asked, begin
from harness.store import Store

RETRIEVED = "2026-01-01T00:00:00Z"
SPOILED = "I am sorry, but this part cannot be read."  # neither sections nor `Nothing new:`
NO_LIMIT = 10**12  # tokens of a run


class Spoilt:
    """An agent with another's replies, but for some parts, counted in the order of asking, only defective ones."""

    def __init__(self, agent: Agent, parts: frozenset[int]) -> None:
        self.name, self.window = agent.name, agent.window
        self._agent, self._parts = agent, parts
        self._asked: list[tuple[int, int] | None] = []

    def take(self, packet: Packet) -> Reply:
        if packet.part not in self._asked:
            self._asked.append(packet.part)
        return Reply(SPOILED) if self._asked.index(packet.part) + 1 in self._parts else self._agent.take(packet)


def run(case: Path, documents: Path, question: Path, *, strategy: str, window: int, spoilt: frozenset[int]) -> Any:
    """Folds the files into a new case, then reads again what stayed unread. What it took and found, for JSON.

    `before`: the summary while the spoilt parts are unread; `unread`: their stretches, in characters of raw_1.md.
    """
    asked = parse_question(question.read_text(encoding="utf-8"))
    started = time.perf_counter()
    gathered = gather([str(documents)], BytesIO())
    begin(case, Asked(asked.text, ", ".join(asked.grid.entities), ", ".join(asked.grid.fields)))
    store = Store(case)
    copy_in(store, gathered, asked.text, RETRIEVED)
    settings = Settings(strategy=strategy, window=window, tokens=NO_LIMIT)
    crew = make_crew(settings, Surroundings(store, os.environ, _silent))
    steps = list(read_all(Session(store, _spoiled(crew, spoilt), settings)))
    seconds = time.perf_counter() - started
    found = {
        "seconds": seconds,
        "parts": sum(_parts_of(step) for step in steps),
        "before": _summary(case),
        "unread": [[part.start, part.end] for part in store.snapshot().case.summary.unread],
    }
    again = list(reread(Session(store, crew, settings))) if found["unread"] else []
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 * (1024 if sys.platform == "darwin" else 1))
    return {**found, "again": len(again), "summary": _summary(case), "MB": peak}


def _silent(text: str) -> None:
    """What is said of the run is in its result."""


def _spoiled(crew: Crew, parts: frozenset[int]) -> Crew:
    agents = tuple(Spoilt(agent, parts) for agent in crew.agents[Role.SYNTHESIZER]) if parts else ()
    return replace(crew, agents={**crew.agents, Role.SYNTHESIZER: agents}) if agents else crew


def _parts_of(step: Step) -> int:
    """Parts that a step has read: one, or none where replies only became one."""
    return int(step.read is not None or "part" in step.line)


def _summary(case: Path) -> str:
    return (case / "summary.md").read_text(encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.folding_run")
    parser.add_argument("case", type=Path)
    parser.add_argument("documents", type=Path)
    parser.add_argument("question", type=Path)
    parser.add_argument("--strategy", default="refine")
    parser.add_argument("--window", type=int, default=131_072)
    parser.add_argument("--spoilt", default="", help="parts with defective replies: 3,5")
    given = parser.parse_args(arguments)
    spoilt = frozenset(int(part) for part in given.spoilt.split(",") if part)
    found = run(
        given.case, given.documents, given.question, strategy=given.strategy, window=given.window, spoilt=spoilt
    )
    print(json.dumps(found, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
