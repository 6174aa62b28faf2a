"""Many replies become one: merged by code, and in a tree joined level by level first where they are too long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import NamedTuple

from harness.facts import citations
from harness.folding import commit_piece, judged_turn, with_unread
from harness.formats.raw import render_part_head
from harness.formats.summary import lines_of, replace_section
from harness.guards.lines import FACTUAL, nowhere, old_lines, written_lines
from harness.guards.mending import mend
from harness.guards.synthesizer import check_rewrite
from harness.judging import Piece, judge_rewrite, view_of
from harness.merging import merge
from harness.model import NO_GRID, Grid, Raw, RawHead, Rewrite, Role, SectionKind, Source, Unread
from harness.packet import language_for
from harness.parts import Part
from harness.replies import Due, Kept, Replies, usable
from harness.roles import Credit, RoleTurn
from harness.session import Step
from harness.tokens import estimate
from harness.totals import add, with_lines
from harness.totals import lines as total_lines

MOST_CITED = 10  # sources behind one sum: a line that cites hundreds is no help


class Read(NamedTuple):
    """A reply with what it says."""

    kept: Kept
    rewrite: Rewrite


def read_kept(replies: Replies, kept: Sequence[Kept]) -> list[Read] | None:
    """None where one cannot be used any more; it is dropped, so that its part is read again."""
    found = [(one, _judged(replies, one)) for one in kept if one.reply is not None]
    for one in (one for one, rewrite in found if rewrite is None):
        replies.drop(one)
    read = [Read(one, rewrite) for one, rewrite in found if rewrite is not None]
    return read if len(read) == len(found) else None


def _judged(replies: Replies, kept: Kept) -> Rewrite | None:
    turn = _join_turn(replies, _notes_piece(replies, kept)) if kept.notes else replies.turn(replies.piece(kept))
    return usable(turn, kept.reply or "")


# One commit -----------------------------------------------------------------------------------------


def reduced(replies: Replies, read: Sequence[Read]) -> Step:
    """All replies as one rewrite, checked as any other; sums over the parts are added by code."""
    case, parts = replies.snapshot.case, replies.parts()
    raw = _raw(replies, parts)
    whole = Piece(replies.number, Part(1, 1, 0, parts[-1].end, parts[-1].end), raw)
    united = merge(case.summary, [one.rewrite for one in read], grid_of(replies))
    merged = _checked(replies, whole, united._replace(totals=()))  # sums are no role's to be checked
    if replies.counts:
        joined = any(one.kept.notes for one in read)
        leaves = (read_kept(replies, parts) or []) if joined else read
        cited = [f"{replies.number}.{k}" for k, source in enumerate(raw.sources, 1) if source.title][:MOST_CITED]
        language = language_for(case, replies.session.settings)
        incomplete = any(one.reply is None for one in parts)
        summed = total_lines(add(one.rewrite.totals for one in leaves), cited, language, incomplete=incomplete)
        merged = with_lines(merged, case.summary, summed)
    unread = case.summary.unread
    for one in parts:
        if one.reply is None:
            unread = with_unread(unread, Unread(replies.number, one.start, one.end))
    seen = replies.snapshot._replace(case=replace(case, summary=replace(case.summary, unread=unread)))
    step = commit_piece(replies.session, seen, whole, merged, Credit({"role": "harness", "merged": len(parts)}))
    replies.clear()
    return step


def _checked(replies: Replies, whole: Piece, merged: Rewrite) -> Rewrite:
    """What the replies could not know of each other is put right by code: two values for one thing. That their numbers
    stand in the sources was looked up part by part."""
    packet = judged_turn(replies.session, replies.snapshot, whole, _no_commit).packet
    view = view_of(replies.session, replies.snapshot, packet, whole)._replace(source=nowhere)
    defects = check_rewrite(merged, view)
    check = partial(check_rewrite, view=view, most=None)
    return (mend(merged, defects, replies.snapshot.case.summary, check) if defects else None) or merged


def _no_commit(rewrite: Rewrite, credit: Credit) -> Step:
    raise AssertionError("only code commits what was merged")


def grid_of(replies: Replies) -> Grid:
    question = replies.snapshot.case.question
    return question.grid if question else NO_GRID


def _raw(replies: Replies, parts: Sequence[Kept]) -> Raw:
    """What the parts showed of each source, without its text: title, address and date."""
    found: dict[int, Source] = {}
    for one in parts:
        raw = replies.piece(one).raw
        for k, source in enumerate(raw.sources, raw.first):
            found.setdefault(k, source._replace(text=""))
    sources = (found.get(k, Source("", "")) for k in range(1, max(found, default=0) + 1))
    return Raw(raw.head, tuple(sources))


# The levels of a tree ---------------------------------------------------------------------------------


def joins(replies: Replies, read: Sequence[Read]) -> list[Due]:
    """Neighbours whose new lines are joined by a Synthesizer, as many as fit together; none where all of them may
    stand in the summary as they are, or where rules read, which join nothing that merging does not."""
    session = replies.session
    if not replies.counts or session.crew.agents[Role.SYNTHESIZER][0].name == session.crew.built_in.name:
        return []
    sizes = [estimate("\n".join(_new_lines(replies, one.rewrite))) for one in read]
    if sum(sizes) <= session.settings.summary_tokens:
        return []
    groups: list[list[Read]] = [[]]
    filled = 0
    for one, size in zip(read, sizes, strict=True):
        if groups[-1] and filled + size > replies.budget.tokens:
            groups.append([])
            filled = 0
        groups[-1].append(one)
        filled += size
    return [_join(replies, group, at, len(groups)) for at, group in enumerate(groups, 1) if len(group) > 1]


def _new_lines(replies: Replies, rewrite: Rewrite) -> list[str]:
    old = set(old_lines(replies.snapshot.case))
    return [line for line in written_lines(rewrite, *FACTUAL) if line not in old]


def _join(replies: Replies, group: Sequence[Read], at: int, of: int) -> Due:
    """`instead`: the lines as they are, merged by code."""
    merged = merge(replies.snapshot.case.summary, [one.rewrite for one in group], grid_of(replies))
    notes = "\n".join(f"- {line}" for line in _new_lines(replies, merged))
    kept = Kept(group[0].kept.start, group[-1].kept.end, "", None, notes)
    piece = _notes_piece(replies, kept, at, of)
    return Due(piece, _join_turn(replies, piece), notes, _as_reply(merged))


def _as_reply(rewrite: Rewrite) -> str:
    sections = ((f"## {section.title}", *section.lines) for section in rewrite.sections)
    return "\n".join(("Summary:", *chain.from_iterable(sections), "Removed:", "- none"))


def _notes_piece(replies: Replies, kept: Kept, at: int = 1, of: int = 2) -> Piece:
    """The notes as a raw of their own: each line under the first source that it cites."""
    lines = kept.notes.split("\n")
    by_source: dict[int, list[str]] = {}
    for line in lines:
        for id in citations(line):
            number, _, k = id.partition(".")
            if int(number) == replies.number:
                by_source.setdefault(int(k), []).append(line)
    last = max(by_source, default=0)
    sources = tuple(Source(f"Notes on source {k}", "\n".join(by_source.get(k, ()))) for k in range(1, last + 1))
    text = render_part_head(RawHead("note"), f"{at} of {of}") + kept.notes + "\n"
    part = Part(at, of, kept.start, kept.end, kept.end, "", text)
    return Piece(replies.number, part, Raw(RawHead("note"), sources))


def _join_turn(replies: Replies, piece: Piece) -> RoleTurn[Rewrite]:
    """The notes count as facts of the summary already: they may be joined, and none may be dropped for no reason."""
    session, snapshot = replies.session, replies.snapshot
    turn = judged_turn(session, snapshot, piece, _no_commit, phrase="notes")
    summary, language = snapshot.case.summary, language_for(snapshot.case, session.settings)
    notes = dict.fromkeys(line for source in piece.raw.sources for line in source.text.split("\n") if line)
    for kind in FACTUAL:
        mine = [line for line in notes if ("↔" in line) == (kind is SectionKind.CONTRADICTIONS)]
        summary = replace_section(summary, kind, (*lines_of(summary, kind), *mine), language)
    view = view_of(session, snapshot, turn.packet, piece)._replace(case=replace(snapshot.case, summary=summary))
    mender = partial(mend, summary=summary, check=partial(check_rewrite, view=view, most=None))
    return RoleTurn(turn.packet, judge_rewrite(view), _no_commit, mender)
