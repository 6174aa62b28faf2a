"""Which session works on a case, and the turn it has handed out: `.harness/inside.json`, a helper like all there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from harness.model import Packet
from harness.store import Store

SEAT = "inside.json"
KEPT = 40  # arrivals that are remembered; two copies of a hook call within the same second
AGENTS_KEPT = 200  # ids of sub-agents that were roles; a message to one is refused


class Turn(NamedTuple):
    """A turn handed out and not over: the reply to it may come in several attempts."""

    use: str  # the call of the Agent tool
    role: str  # planner | synthesizer | checker | searcher
    prompt: str  # the person's message in answer to which it was called
    token: str = ""  # of the packet (state_token), and a hash of question.md as it stood in it
    question: str = ""
    since: float = 0.0  # seconds since 1970
    agent: str = ""  # the sub-agent's id, known from its first stop on
    replies: tuple[str, ...] = ()


class Seat(NamedTuple):
    """`started` and `touched`: seconds since 1970. `line`: what the main agent was told last."""

    session: str = ""
    prompt: str = ""  # the person's message in answer to which the last role was called
    started: float = 0.0
    touched: float = 0.0
    tokens: int = 0  # of this run
    blocked: int = 0  # rounds in a row in which every search was blocked
    folds: int = 0
    turn: Turn | None = None
    line: str = ""
    over: bool = True  # the line names no further call
    nudged: str = ""  # the person's message in answer to which the Stop hook has nudged
    unheard: int = 0  # calls in a row from which no reply came
    agents: tuple[str, ...] = ()
    arrivals: Mapping[str, Mapping[str, int]] = {}


def read_seat(store: Store) -> Seat:
    """An empty seat where there is none or where it cannot be read."""
    try:
        value = json.loads(store.get_helper(SEAT) or "{}")
        turn = value.pop("turn", None)
        seat = Seat(**{**value, "agents": tuple(value.get("agents", ()))})
        return seat._replace(turn=_turn(turn)) if turn else seat
    except (ValueError, TypeError, AttributeError):
        return Seat()


def _turn(value: Mapping[str, Any]) -> Turn:
    return Turn(**{**value, "replies": tuple(value.get("replies", ()))})


def write_seat(store: Store, seat: Seat) -> None:
    turn = seat.turn._asdict() if seat.turn else None
    store.put_helper(SEAT, json.dumps({**seat._asdict(), "turn": turn}, ensure_ascii=False))


def arrived(seat: Seat, key: str, carrier: str) -> tuple[Seat, bool]:
    """Whether this call is to be acted on: two installations of the hooks call twice for one and the same event.

    A carrier's k-th call for a key belongs to the k-th event, and whichever carrier brings it first is heard.
    """
    counts = dict(seat.arrivals.get(key, {}))
    counts[carrier] = counts.get(carrier, 0) + 1
    new = counts[carrier] > counts.get("", 0)
    if new:
        counts[""] = counts[carrier]
    kept = {name: one for name, one in seat.arrivals.items() if name != key}
    recent = dict(list(kept.items())[-KEPT:])
    return seat._replace(arrivals={**recent, key: counts}), new


def answers(turn: Turn | None, packet: Packet) -> bool:
    """Whether the turn was handed out with this very packet, as far as the state of the files goes."""
    return turn is not None and (turn.role, turn.token) == (str(packet.role), packet.token)
