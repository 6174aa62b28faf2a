"""Strategies map_reduce and tree: the parts of a raw are read side by side, then their replies become one."""

from __future__ import annotations

from collections.abc import Sequence

from harness.errors import RepliesDefective
from harness.folding import fold_raw, piece_due, piece_of, room_to_cut, text_and_budget
from harness.model import Role
from harness.options import REFINE
from harness.parts import parts_of, shown
from harness.plan import Fold
from harness.reducing import joins, read_kept, reduced
from harness.replies import Due, Kept, Replies, ask_side_by_side
from harness.session import Session, Step
from harness.store import Snapshot
from harness.store.snapshot import PART_REPLIES
from harness.turn import forget_failures

ALL_BAD = 2  # parts without one usable reply: then it is not the parts that are at fault


def fold(session: Session, snapshot: Snapshot, action: Fold) -> Step:
    """The raw that is due, by the case's strategy. One that fits is read at once by any.

    One that refine has begun is ended by it: sums over the rest alone would pass for sums over all of it.
    """
    under_way = session.store.helpers_in(f"{PART_REPLIES}/{action.number}")
    if session.settings.strategy == REFINE or snapshot.case.summary.reading:
        for name in under_way:
            session.store.drop_helper(f"{PART_REPLIES}/{action.number}/{name}")
        return fold_raw(session, snapshot, action)
    piece = piece_due(session, snapshot, action.number)
    if not under_way and (piece.part.whole or not piece.raw.sources):
        return fold_raw(session, snapshot, action)
    return map_raw(session, snapshot, action.number)


def map_raw(session: Session, snapshot: Snapshot, number: int) -> Step:
    """One pass: as many parts as are asked at the same time; when none is left, all replies become one commit.

    Between the passes the replies are kept in `.harness/fold/N/`; without them the parts are asked once more.
    """
    text, budget = text_and_budget(session, snapshot, number)
    replies = Replies(session, snapshot, number, text, room_to_cut(session, budget))
    at_once = session.crew.room_of(session.crew.agents[Role.SYNTHESIZER][0]).parallel
    left = parts_of(text, replies.budget, *_gaps(replies.parts()))
    if left:
        pieces = [piece_of(number, shown(part, text, replies.budget)) for part in left[:at_once]]
        return _asked(replies, [Due(piece, replies.turn(piece)) for piece in pieces])
    read = read_kept(replies, replies.top())
    if read is None:
        return Step("part", f"raw_{number}.md: a reply that was kept is unusable; its part is read again")
    if not read:
        raise _unreadable(replies)
    due = joins(replies, read)
    return _asked(replies, due[:at_once]) if due else reduced(replies, read)


def _asked(replies: Replies, batch: Sequence[Due]) -> Step:
    before = _answered(replies)
    asked = ask_side_by_side(replies, batch)
    parts = replies.parts()
    if _answered(replies) > before:  # that is progress, though no file of the state has changed
        forget_failures(replies.session)
    if asked.problem:
        raise asked.problem
    if len(parts) >= ALL_BAD and all(one.reply is None for one in parts):
        raise _unreadable(replies)
    first, last = batch[0].piece.part, batch[-1].piece.part
    what = "notes" if batch[0].notes else "parts"
    names = f"{what} {first.number} to {last.number}" if len(batch) > 1 else f"{what[:-1]} {first.number}"
    verb = "joined" if batch[0].notes else "read"
    done = sum(one.end - one.start for one in parts)
    return Step("part", f"raw_{replies.number}.md {names} of {first.of} {verb}", asked.tokens, read=(done, first.total))


def _answered(replies: Replies) -> int:
    return sum(one.reply is not None for one in replies.all())


def _unreadable(replies: Replies) -> RepliesDefective:
    replies.clear()
    hint = "the replies are in .harness/rejected/. Take the turn yourself: harness next, then harness take"
    return RepliesDefective("no part could be read", f"raw_{replies.number}.md", hint)


def _gaps(read: Sequence[Kept]) -> list[tuple[int, int | None]]:
    """What is not read yet."""
    start = 0
    gaps: list[tuple[int, int | None]] = []
    for one in read:
        if one.start > start:
            gaps.append((start, one.start))
        start = max(start, one.end)
    return [*gaps, (start, None)]
