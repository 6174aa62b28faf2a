"""Which session works on a case, and the turn it has handed out: `.harness/inside.json`, a helper like all there."""

from __future__ import annotations

import json
import time
from hashlib import sha256
from typing import Any, NamedTuple

from harness.model import Packet
from harness.store import Store

SEAT = "inside.json"
AGENTS_KEPT = 200  # ids of sub-agents that were roles; a message to one is refused
RUN_GAP = 900.0  # seconds: no turn counts for more, so that a closed laptop does not use up a run


class Turn(NamedTuple):
    """A turn handed out and not over: the reply to it may come in several attempts."""

    use: str  # the call of the Agent tool
    role: str  # planner | synthesizer | checker | searcher
    prompt: str  # the person's message in answer to which it was called
    round: int = 0
    token: str = ""  # of the packet (state_token) and of its files but the question; of the queries for a searcher
    question: str = ""  # a hash of question.md as it stood in the packet
    since: float = 0.0  # seconds since 1970
    agent: str = ""  # the sub-agent's id, known from its first word on
    replies: tuple[str, ...] = ()


class Seat(NamedTuple):
    """`touched`: seconds since 1970; `elapsed`: seconds of this run. `line`: what the main agent was told last."""

    session: str = ""
    prompt: str = ""  # the person's message in answer to which the last role was called
    touched: float = 0.0
    elapsed: float = 0.0
    tokens: int = 0  # of this run
    blocked: int = 0  # rounds in a row in which every search was blocked
    folds: int = 0
    turn: Turn | None = None
    done: str = ""  # the call whose reply was taken last
    line: str = ""
    over: bool = True  # the line names no further call
    nudged: str = ""  # the person's message in answer to which the Stop hook has nudged
    unheard: int = 0  # calls in a row from which no reply came
    climbed: str = ""  # the queries for which the rungs above the searcher were asked already
    agents: tuple[str, ...] = ()

    def now(self) -> Seat:
        """The clock of the run goes on."""
        moment = time.time()
        passed = min(max(0.0, moment - self.touched), RUN_GAP) if self.touched else 0.0
        return self._replace(touched=moment, elapsed=self.elapsed + passed)


def read_seat(store: Store) -> Seat:
    """An empty seat where there is none, or where it is not in the form that we write: a clone may bring its own."""
    value = store.get_record(SEAT)
    turn = value.pop("turn", None)
    try:
        seat = Seat(**_typed(Seat(), value))
        return seat._replace(turn=Turn(**_typed(Turn("", "", ""), turn)) if turn else None)
    except (TypeError, AttributeError):
        return Seat()


def _typed(empty: Seat | Turn, value: Any) -> dict[str, Any]:
    """The values of a named tuple, each of the kind that stands in `empty`. Raises TypeError for another kind."""
    kinds = {name: type(one) for name, one in empty._asdict().items()}
    return {name: _one(kinds[name], one) for name, one in value.items() if name in kinds}


def _one(kind: type, value: Any) -> Any:
    if kind is tuple and isinstance(value, list) and all(isinstance(part, str) for part in value):
        return tuple(value)
    if kind is float and type(value) in (int, float):
        return float(value)
    if type(value) is not kind:
        raise TypeError(kind)
    return value


def write_seat(store: Store, seat: Seat) -> None:
    turn = seat.turn._asdict() if seat.turn else None
    store.put_helper(SEAT, json.dumps({**seat._asdict(), "turn": turn}))


def answers(turn: Turn | None, packet: Packet) -> bool:
    """Whether the turn was handed out with this very packet; a direction that came meanwhile does not count."""
    return turn is not None and (turn.role, turn.token) == (str(packet.role), token_of(packet))


def token_of(packet: Packet) -> str:
    files = sorted((name, text) for name, text in packet.files.items() if name != "question.md")
    return sha256(json.dumps([packet.token, files]).encode()).hexdigest()[:16]
