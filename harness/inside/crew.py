"""The ports inside Claude Code: an agent that has only the replies that came so far, a search to be asked for."""

from __future__ import annotations

import time
from collections.abc import Callable
from hashlib import sha256
from itertools import takewhile

from harness.crew import LimitedSearch, Requests, Surroundings, cap_of, make_rung
from harness.errors import HarnessError
from harness.inside.seat import Turn, answers
from harness.model import Packet, Reply, Role
from harness.options import Rung, Settings
from harness.ports import Search, SearchResult
from harness.reply import parse_planner
from harness.session import SystemClock
from harness.spending import spent

NAME = "claude-code"
PRESET = "claude"  # whose window counts


class Unanswered(Exception):
    """A role is due, and its reply has yet to come: the pass is done again when it is there."""

    def __init__(self, packet: Packet, *, outdated: bool = False) -> None:
        super().__init__(f"{packet.role}, round {packet.round}")
        self.packet = packet
        self.outdated = outdated  # a reply is there, for another state


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
            raise Unanswered(packet, outdated=bool(self._left))
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


Found = Callable[[str], SearchResult]  # of one query


class Searcher:
    """ports.Search: what the sub-agent found. Raises Unsearched before that."""

    name = NAME

    def __init__(self, found: Found | None) -> None:
        self._found = found

    def search(self, query: str) -> SearchResult:
        if self._found is None:
            raise Unsearched
        return self._found(query)


class Tried:
    """A rung that was asked for this query before the searcher was called, and had nothing."""

    def __init__(self, name: str) -> None:
        self.name = name

    def search(self, query: str) -> SearchResult:
        return SearchResult("empty")


class OutsideOnly:
    """A rung that starts a program: hooks start none, so the person does."""

    def __init__(self, name: str) -> None:
        self.name = name

    def search(self, query: str) -> SearchResult:
        raise HarnessError(f"the search {self.name} is a program, and hooks start none", query, "harness search")


def ladder(settings: Settings, around: Surroundings, found: Found | None, *, climbed: bool) -> tuple[Search, ...]:
    """The rungs of the settings. `climbed`: those above the searcher were asked for these queries already."""
    made = Requests(spent(around.store).requests if any("cap" in rung.options for rung in settings.search) else {})
    above = list(takewhile(lambda rung: rung.provider != "agent", settings.search))
    done = len(above) if climbed and len(above) < len(settings.search) else 0
    rungs = (_rung(rung, around, found, made) for rung in settings.search[done:])
    return (*(Tried(rung.provider) for rung in above[:done]), *rungs)


def _rung(rung: Rung, around: Surroundings, found: Found | None, made: Requests) -> Search:
    if rung.provider == "agent":
        return Searcher(found)
    if "command" in rung.options:
        return OutsideOnly(rung.provider)
    return LimitedSearch(make_rung(rung, around), made, cap_of(rung))


def the_web() -> tuple[Rung, ...]:
    """Where nobody chose a search: the sub-agent alone, which has the web."""
    return (Rung("agent", {"name": PRESET}),)
