"""`harness reread`: parts of raws whose replies stayed defective are read once more, perhaps by another agent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from harness.errors import BrokenFile, HarnessError, RepliesDefective, StateMoved
from harness.fold import fold_part
from harness.folding import judged_turn, pieces_in, told_of
from harness.formats.summary import render_summary
from harness.judging import Piece
from harness.loop import claimed
from harness.model import Case, Rewrite, Summary, Unread
from harness.noticing import seen
from harness.options import TREE
from harness.packet import language_for
from harness.roles import Credit
from harness.session import Session, Step
from harness.store import Snapshot
from harness.totals import Summed, add, lines, summed_of, with_lines
from harness.turn import converse


class Gone(HarnessError):
    """The characters that were unread are there no more."""


def reread(session: Session, number: int | None = None) -> Iterator[Step]:
    """One step for each part that is read now. `number`: only of raw_`number`.

    Raises HarnessError where nothing is unread, RepliesDefective where something stays so.
    """
    left = [part for part in session.store.snapshot().case.summary.unread if number in (None, part.number)]
    if not left:
        where = f"raw_{number}.md" if number else str(session.store.folder)
        raise HarnessError("nothing is unread", where, "harness status says what is due")
    stayed: list[HarnessError] = []
    with claimed(session, "reread"):
        while left:
            try:
                step, rest = _read(session, left[0])
            except (RepliesDefective, BrokenFile, StateMoved, Gone) as error:
                stayed.append(error)
                left = left[1:]
                continue
            yield step
            left = [*([rest] if rest else []), *left[1:]]
    if stayed:
        told = f"{stayed[0].what}: {stayed[0].value}"
        hint = "harness reread --agent NAME asks another agent"
        raise RepliesDefective("some of it stays unread", told, stayed[0].hint if len(stayed) == 1 else hint)


def _read(session: Session, part: Unread) -> tuple[Step, Unread | None]:
    """The first piece of an unread stretch, and what is left of it."""
    snapshot = seen(session)
    pieces = pieces_in(session, snapshot, part.number, part.start, part.end)
    if not pieces:
        hint = "take it out of `unread:` in summary.md if the text is gone for good"
        raise Gone(f"raw_{part.number}.md has no such characters", f"{part.start}-{part.end}", hint)
    rest = part._replace(start=pieces[0].part.end)
    left = rest if rest.start < rest.end else None
    counts = session.settings.strategy == TREE or bool(_sums(session, snapshot, part.number).totals)
    commit = partial(_commit, session, snapshot, pieces[0], part, left)
    turn = judged_turn(session, snapshot, pieces[0], commit, totals=counts)
    turned = converse(session, turn.packet, turn.judge, turn.mend)
    return turn.commit(turned.value, Credit.of(turned, turn.packet)), left


def _commit(
    session: Session,
    snapshot: Snapshot,
    piece: Piece,
    read: Unread,
    left: Unread | None,
    rewrite: Rewrite,
    credit: Credit,
) -> Step:
    """The facts of it, and the list of what is unread without it: one write."""
    case = replace(snapshot.case, summary=_without(snapshot.case.summary, read, left))
    language = language_for(case, session.settings)
    rewrite = _with_sums(rewrite, case, piece, _sums(session, snapshot, piece.number), language)
    folded = fold_part(case, rewrite, piece.raw, piece.number, language)
    record = {
        **credit.record,
        "reread": [piece.part.start, piece.part.end, piece.part.total],
        "added": list(folded.added),
        "removed": list(folded.removed),
        "reasons": [list(removal) for removal in rewrite.removed],
    }
    session.commit(snapshot, "summary.md", render_summary(folded.summary), record, replies=credit.files)
    return Step("reread", told_of(snapshot, folded, rewrite, piece), credit.tokens)


def _sums(session: Session, snapshot: Snapshot, number: int) -> Summed:
    return summed_of(snapshot.case.summary, number, language_for(snapshot.case, session.settings))


def _with_sums(rewrite: Rewrite, case: Case, piece: Piece, before: Summed, language: str) -> Rewrite:
    """What the part adds to the sums over the others, and whether they are complete now."""
    if not before.totals and not rewrite.totals:
        return rewrite
    cited = before.citations or (f"{piece.number}.{piece.raw.first}",)
    incomplete = any(part.number == piece.number for part in case.summary.unread)
    summed = lines(add((before.totals, rewrite.totals)), cited, language, incomplete=incomplete)
    return with_lines(rewrite, case.summary, summed)


def _without(summary: Summary, read: Unread, left: Unread | None) -> Summary:
    unread = (left if part == read else part for part in summary.unread)
    return replace(summary, unread=tuple(part for part in unread if part))
