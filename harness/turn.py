"""A role's turn: packet out, reply in, checks; repair turns for defects; the next agent when one fails."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import count, takewhile
from typing import Generic, NamedTuple, TypeVar

from harness.errors import AgentFailed, AgentUnreachable, HarnessError, RepliesDefective
from harness.model import Defect, Packet, Reply
from harness.packet import repair
from harness.parts import Room
from harness.ports import Agent
from harness.prompts import load_prompts
from harness.session import Event, Session
from harness.store import Snapshot
from harness.store.reading import digest_of
from harness.tokens import estimate

T = TypeVar("T")
Mend = Callable[[T, tuple[Defect, ...]], T | None]  # None: not to be put right by code
Judge = Callable[[Reply], tuple[T | None, tuple[Defect, ...]]]
LEFT_OUT = "(left out: too long)"
FAILED_PASSES = 2  # of one role in one round: the end of a run, also across restarts


class Turned(NamedTuple, Generic[T]):
    """A reply that passed the checks, and what it took to get it."""

    value: T
    reply: Reply
    agent: str
    seconds: float
    spent: Mapping[str, tuple[int, int]]  # agent -> tokens in and out: of all that were asked
    defects: tuple[str, ...]  # codes of the replies refused on the way
    estimated: bool = True  # whether any of the counts is our own
    cost: float | None = None  # USD of all replies whose agents say it

    def record(self, packet: Packet) -> dict[str, object]:
        """The trace line's part about the role."""
        others = {name: list(tokens) for name, tokens in self.spent.items() if name != self.agent}
        return {
            "role": str(packet.role),
            "round": packet.round,
            "agent": self.agent,
            "seconds": round(self.seconds, 3),
            "tokens": list(self.spent.get(self.agent, (0, 0))),
            **({"others": others} if others else {}),
            **({} if self.cost is None else {"cost": round(self.cost, 6)}),
            "estimated": self.estimated,
            "defects": list(self.defects),
            "notes": list(self.reply.notes),
        }


def converse(session: Session, packet: Packet, judge: Judge[T], mend: Mend[T] | None = None) -> Turned[T]:
    """Ask the role's agents in order until a reply passes; `mend` may put the last one right by code.

    Raises AgentUnreachable when no agent could be asked, AgentFailed when none replied,
    RepliesDefective when every reply had defects; the replies are kept in `.harness/rejected/`.
    """
    problems: list[HarnessError] = []
    refused: list[str] = []
    guessed = False
    # By all agents asked: the budget is for what was paid, not for what was used.
    spent: dict[str, tuple[int, int]] = {}
    cost: float | None = None
    agents = session.crew.agents[packet.role]
    for agent in agents:
        current, started, before = packet, session.clock.monotonic(), None
        room = session.crew.room_of(agent)
        value: T | None = None
        defects: tuple[Defect, ...] = ()
        for _ in range(session.settings.repairs + 1):
            session.tell(Event("asked", f"{packet.role}: {agent.name}"))
            try:
                check_window(agent, room, current)
                reply = agent.take(current)
            except (AgentUnreachable, AgentFailed) as error:
                session.tell(Event("failed", str(error).split("\n")[0]))
                problems.append(error)
                for name, tokens in error.spent.items():
                    _add(spent, name, *tokens)
                break
            if reply.tokens_in is not None:
                session.crew.learn(agent.name, current.prompt, reply.tokens_in)
            into = estimate(current.prompt) if reply.tokens_in is None else reply.tokens_in
            _add(spent, agent.name, into, estimate(reply.text) if reply.tokens_out is None else reply.tokens_out)
            cost = cost if reply.cost is None else (cost or 0.0) + reply.cost
            guessed |= reply.tokens_in is None or reply.tokens_out is None
            value, defects = judge(reply)
            if value is not None and not defects:
                seconds = session.clock.monotonic() - started
                return Turned(value, reply, agent.name, seconds, spent, tuple(refused), guessed, cost)
            refused += [defect.code for defect in defects]
            keep_rejected(session, packet, agent.name, reply, defects)
            if reply == before:  # it was told, and says the same: a further repair turn would only cost
                break
            before = reply
            current = repair(packet, reply.text, defects, load_prompts(packet.language))
            if not _fits(agent, room, current):  # what it said matters less than what is wrong with it
                current = repair(packet, LEFT_OUT, defects, load_prompts(packet.language))
        mended = mend(value, defects) if mend and value is not None and defects else None
        if mended is not None:
            session.tell(Event("notice", put_right(defects)))
            seconds = session.clock.monotonic() - started
            return Turned(mended, reply, agent.name, seconds, spent, (*refused, "mended"), guessed, cost)
        if defects:
            problems.append(_defective(packet, agent.name, defects))
    raise _worst(problems, packet, spent)


def _add(spent: dict[str, tuple[int, int]], agent: str, into: int, out: int) -> None:
    before = spent.get(agent, (0, 0))
    spent[agent] = before[0] + into, before[1] + out


def put_right(defects: tuple[Defect, ...]) -> str:
    """What code has put right, for the person who reads along."""
    counts = Counter(defect.code for defect in defects)
    named = ", ".join(f"{code} ({number})" if number > 1 else code for code, number in counts.items())
    return f"put right by code: {named}"


def check_window(agent: Agent, room: Room, packet: Packet) -> None:
    """Raises AgentUnreachable when the packet is larger than what the agent can read."""
    if not _fits(agent, room, packet):
        told = f"about {room.count(packet.prompt)} tokens for a window of {agent.window}"
        hint = "name an agent with a larger window first, or shorten question.md and summary.md"
        raise AgentUnreachable(f"the packet does not fit {agent.name}", told, hint)


def _fits(agent: Agent, room: Room, packet: Packet) -> bool:
    """By the estimate, which is an upper bound, and only then by a count."""
    window = agent.window
    return window is None or estimate(packet.prompt) <= window or room.count(packet.prompt) <= window


def keep_rejected(session: Session, packet: Packet, agent: str, reply: Reply, defects: tuple[Defect, ...]) -> str:
    """A refused reply is kept once for a person to look at, with what was wrong with it. Returns its helper's name."""
    for defect in defects:
        session.tell(Event("defect", f"{agent}: {defect.what}" + (f": {defect.value}" if defect.value else "")))
    told = "\n".join(f"# {defect.code}: {defect.what} {defect.value}".rstrip() for defect in defects)
    replied = reply.text or "\n".join(f"# file {name}\n{text}" for name, text in reply.files.items())
    ending = f"\n\n{replied}\n"
    number = next((n for n, kept in enumerate(_kept(session, packet), 1) if kept.endswith(ending)), 0)
    name = _rejected(packet, number or 1 + sum(1 for _ in _kept(session, packet)))
    session.store.put_helper(name, told + ending)
    return name


def was_refused(session: Session, packet: Packet, reply: Reply) -> bool:
    """Whether this very reply was refused before in this turn: who gives it again means it."""
    return any(kept.endswith(f"\n\n{reply.text}\n") for kept in _kept(session, packet))


def _kept(session: Session, packet: Packet) -> Iterator[str]:
    """The replies refused in this turn so far."""
    texts = (session.store.get_helper(_rejected(packet, number)) for number in count(1))
    return takewhile(bool, texts)


def _rejected(packet: Packet, number: int) -> str:
    part = f"_from_{packet.part[0]}" if packet.part else ""
    return f"rejected/{packet.role}_{packet.round}{part}_{number}.md"


def _defective(packet: Packet, agent: str, defects: tuple[Defect, ...]) -> RepliesDefective:
    told = "; ".join(dict.fromkeys(defect.what for defect in defects))
    hint = "the replies are in .harness/rejected/. Take the turn yourself: harness next, then harness take"
    codes = tuple(defect.code for defect in defects)
    return RepliesDefective(f"{agent} could not do the {packet.role}'s turn of round {packet.round}", told, hint, codes)


def _worst(problems: list[HarnessError], packet: Packet, spent: Mapping[str, tuple[int, int]]) -> HarnessError:
    """The problem to report: a reply that was there says more than a program that was not."""
    for kind in (RepliesDefective, AgentFailed, AgentUnreachable):
        for problem in problems:
            if isinstance(problem, kind):
                problem.spent = spent
                return problem
    return AgentUnreachable(f"no agent for the {packet.role}", "", "harness config")


# Failed passes, remembered across restarts --------------------------------------------------------


def failures(session: Session, snapshot: Snapshot, role: str) -> int:
    """Failed passes of this role in this very state of the files, with these agents."""
    failed = _failed(session)
    count = failed.get(_state_key(session, snapshot, role), 0) if failed else 0
    return max(0, count) if type(count) is int else 0


def count_failure(session: Session, snapshot: Snapshot, role: str) -> None:
    key = _state_key(session, snapshot, role)
    session.store.put_helper("failed.json", json.dumps({key: failures(session, snapshot, role) + 1}))


def forget_failures(session: Session) -> None:
    session.store.drop_helper("failed.json")


def _failed(session: Session) -> dict[str, object]:
    return session.store.get_record("failed.json")


def _state_key(session: Session, snapshot: Snapshot, role: str) -> str:
    agents = [agent.name for agents in session.crew.agents.values() for agent in agents]
    raw = session.store.raw_path(snapshot.case.summary.round + 1)  # what a Synthesizer fails on may be mended
    state = [*(file.digest for file in snapshot.files.values()), digest_of(raw)]
    return hashlib.sha256(json.dumps([role, agents, state]).encode()).hexdigest()[:16]
