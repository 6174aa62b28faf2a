"""The ports inside Claude Code: an agent that has only the replies that came so far, a search to be asked for."""

from __future__ import annotations

import time
from hashlib import sha256

from harness.crew import Surroundings, make_rung
from harness.errors import HarnessError
from harness.inside.seat import Turn, answers
from harness.model import Packet, Reply, Role
from harness.options import Rung, Settings
from harness.ports import Search, SearchResult
from harness.reply import parse_planner
from harness.session import SystemClock

NAME = "claude-code"
PRESET = "claude"  # whose window counts


class Unanswered(Exception):
    """A role is due, and its reply has yet to come: the pass is done again when it is there."""

    def __init__(self, packet: Packet) -> None:
        super().__init__(f"{packet.role}, round {packet.round}")
        self.packet = packet


class Unsearched(Exception):
    """A search is due that a sub-agent makes."""


class TurnClock(SystemClock):
    """Stands at the moment of the hand-out until the reply is there: the pass decides what it decided then."""

    def __init__(self, turn: Turn | None) -> None:
        self._behind = max(0.0, time.time() - turn.since) if turn else 0.0

    def monotonic(self) -> float:
        return super().monotonic() - self._behind

    def catch_up(self) -> None:
        self._behind = 0.0


class SubAgent:
    """ports.Agent: gives the replies of one turn in their order. Raises Unanswered where there are no more."""

    name = NAME

    def __init__(self, window: int | None, turn: Turn | None, clock: TurnClock) -> None:
        self.window = window
        self._turn = turn
        self._clock = clock
        self._left = list(turn.replies) if turn else []

    def take(self, packet: Packet) -> Reply:
        if not self._left or not answers(self._turn, packet) or self._outdated(packet):
            raise Unanswered(packet)
        self._clock.catch_up()
        return Reply(self._left.pop(0))

    def _outdated(self, packet: Packet) -> bool:
        """A direction that came meanwhile counts from the next pass on; only an answer has to know it."""
        if self._turn is None or packet.role is not Role.PLANNER or self._turn.question == question_mark(packet):
            return False
        decision, _ = parse_planner(Reply(self._left[0]))
        return decision is not None and decision.answer is not None


def question_mark(packet: Packet) -> str:
    return sha256(packet.files["question.md"].encode()).hexdigest()[:16]


class Searcher:
    """ports.Search: what the sub-agent found, the same for every query of the round. Raises Unsearched before that."""

    name = NAME

    def __init__(self, found: SearchResult | None) -> None:
        self._found = found

    def search(self, query: str) -> SearchResult:
        if self._found is None:
            raise Unsearched
        return self._found


class OutsideOnly:
    """A rung that starts a program: hooks start none, so the person does."""

    def __init__(self, name: str) -> None:
        self.name = name

    def search(self, query: str) -> SearchResult:
        raise HarnessError(f"the search {self.name} is a program, and hooks start none", query, "harness search")


def ladder(settings: Settings, around: Surroundings, found: SearchResult | None, *, chosen: bool) -> tuple[Search, ...]:
    """The rungs of the settings; where nobody chose any, the sub-agent alone: it has the web."""
    if not chosen:
        return (Searcher(found),)
    return tuple(_rung(rung, around, found) for rung in settings.search)


def _rung(rung: Rung, around: Surroundings, found: SearchResult | None) -> Search:
    if rung.provider == "agent":
        return Searcher(found)
    return OutsideOnly(rung.provider) if "command" in rung.options else make_rung(rung, around)


def window_of(settings: Settings) -> int | None:
    spec = settings.agents.get(PRESET)
    return spec.window - spec.output if spec else None
