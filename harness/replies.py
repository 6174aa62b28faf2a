"""The replies to parts of a raw that are read side by side, kept in `.harness/fold/N/` until all of them are there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from typing import NamedTuple

from harness.errors import HarnessError, RepliesDefective
from harness.folding import piece_of, piece_turn
from harness.judging import Piece
from harness.model import Reply, Rewrite, Role
from harness.options import TREE
from harness.parts import Budget, Part, Text, parts_of, shown
from harness.plan import state_token
from harness.roles import Credit, RoleTurn
from harness.session import Event, Session
from harness.store import Snapshot
from harness.store.snapshot import PART_REPLIES
from harness.turn import Turned, converse


class Kept(NamedTuple):
    """A reply that passed, to the characters from `start` up to `end`; None where every reply was defective.

    `notes`: what it was made of instead of the raw itself, at a higher level of the tree.
    """

    start: int
    end: int
    lead: str
    reply: str | None
    notes: str = ""


class Replies:
    """Of one raw as it is, for this very summary and question and this strategy: to another state they are no reply."""

    def __init__(self, session: Session, snapshot: Snapshot, number: int, text: Text, budget: Budget) -> None:
        self.session = session
        self.snapshot = snapshot
        self.number = number
        self.text = text
        self.budget = budget
        state = (snapshot.text("question.md"), snapshot.text("summary.md"), text.mark, session.settings.strategy)
        self.state = state_token("\n".join(state), number)

    @property
    def folder(self) -> str:
        return f"{PART_REPLIES}/{self.number}"

    @property
    def counts(self) -> bool:
        return self.session.settings.strategy == TREE

    @cached_property
    def total(self) -> int:
        return parts_of(self.text, self.budget, (0, None))[-1].end

    def all(self) -> list[Kept]:
        """Whatever is there, by place; what is no record of ours is left out, and read again."""
        found = []
        for name in self.session.store.helpers_in(self.folder):
            match self.session.store.get_record(f"{self.folder}/{name}"):
                case {
                    "state": self.state,
                    "start": int(start),
                    "end": int(end),
                    "lead": str(lead),
                    "reply": str() | None as reply,
                    "notes": str(notes),
                } if 0 <= start < end <= self.total:
                    kept = Kept(start, end, lead, reply, notes)
                    found += [kept] if self._name(kept) == f"{self.folder}/{name}" else []
        return sorted(found, key=lambda one: (one.start, -one.end))

    def parts(self) -> list[Kept]:
        """Those to the raw itself."""
        return _apart([one for one in self.all() if not one.notes])

    def top(self) -> list[Kept]:
        """The highest level: what was joined stands for what it was made of."""
        return _apart(self.all())

    def keep(self, piece: Piece, reply: str | None, notes: str = "") -> None:
        part = piece.part
        kept = Kept(part.start, part.end, part.lead, reply, notes)
        record = json.dumps({"state": self.state, **kept._asdict()}, ensure_ascii=False)
        self.session.store.put_helper(self._name(kept), record)

    def drop(self, kept: Kept) -> None:
        self.session.store.drop_helper(self._name(kept))

    def clear(self) -> None:
        for name in self.session.store.helpers_in(self.folder):
            self.session.store.drop_helper(f"{self.folder}/{name}")

    def _name(self, kept: Kept) -> str:
        return f"{self.folder}/{kept.start}-{kept.end}{'-joined' if kept.notes else ''}.json"

    def piece(self, kept: Kept) -> Piece:
        """The part as it was shown."""
        part = Part(1, 2, kept.start, kept.end, kept.end, kept.lead)
        return piece_of(self.number, shown(part, self.text, self.budget))

    def turn(self, piece: Piece) -> RoleTurn[Rewrite]:
        return piece_turn(self.session, self.snapshot, piece, totals=self.counts)


def _apart(sorted_: Sequence[Kept]) -> list[Kept]:
    """Without those that overlap one before them."""
    apart: list[Kept] = []
    for one in sorted_:
        if not apart or one.start >= apart[-1].end:
            apart.append(one)
    return apart


def usable(turn: RoleTurn[Rewrite], reply: str) -> Rewrite | None:
    """A reply judged anew, since helpers may come from anybody; None where it does not pass."""
    value, defects = turn.judge(Reply(reply))
    if value is not None and defects and turn.mend:
        return turn.mend(value, defects)
    return None if defects else value


class Due(NamedTuple):
    """One question of a batch. `notes`, `instead`: at a higher level, what it is made of, and what is kept where its
    replies are all defective."""

    piece: Piece
    turn: RoleTurn[Rewrite]
    notes: str = ""
    instead: str | None = None


class Asked(NamedTuple):
    """What a batch took; `problem`: what stopped it, an agent that is out of reach."""

    tokens: int
    problem: HarnessError | None


def ask_side_by_side(replies: Replies, batch: Sequence[Due]) -> Asked:
    """Each reply is kept as soon as it is there, and its cost is noted in the trace."""
    tokens, problem, session = 0, None, replies.session
    with ThreadPoolExecutor(max_workers=len(batch)) as pool:
        turns = [due.turn for due in batch]
        futures = [pool.submit(converse, session, turn.packet, turn.judge, turn.mend) for turn in turns]
        for due, future in zip(batch, futures, strict=True):
            try:
                credit = _kept(replies, due, future)
            except HarnessError as error:
                problem = problem or error
                continue
            tokens += credit.tokens
            part = due.piece.part
            record = {**credit.record, "part": [part.start, part.end, part.total]}
            session.store.note(session.stamped({"role": str(Role.SYNTHESIZER), "round": due.piece.number, **record}))
    return Asked(tokens, problem)


def _kept(replies: Replies, due: Due, future: Future[Turned[Rewrite]]) -> Credit:
    try:
        turned = future.result()
    except RepliesDefective as error:
        if not due.notes:
            told = f"{due.piece.name} stays unread ({error.value}); harness reread tries it again"
            replies.session.tell(Event("notice", told))
        replies.keep(due.piece, due.instead, due.notes)
        return Credit({"failed": error.what, "others": dict(error.spent)}, error.tokens)
    replies.keep(due.piece, turned.reply.text, due.notes)
    return Credit.of(turned, due.turn.packet)
