"""The Synthesizer's turn: a raw, or the part of it that is now due, becomes facts of the summary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from harness.errors import HarnessError, RepliesDefective
from harness.fold import Folded, fold, gaps_left, list_sources
from harness.formats.labels import counted
from harness.formats.raw import parse_raw
from harness.formats.summary import render_summary
from harness.guards.mending import mend
from harness.guards.synthesizer import check_rewrite
from harness.judging import Piece, judge_rewrite, view_of
from harness.model import Packet, Reading, Rewrite, Role, Summary, Unread
from harness.options import TREE
from harness.packet import Turn, language_for
from harness.parts import HUGE_WINDOW, LEAST, NO_LIMIT, Budget, Part, Room, Text, budget_of, fits, parts_of, shown
from harness.plan import Fold
from harness.roles import Credit, RoleTurn, packet_for
from harness.session import Event, Session, Step
from harness.store import Snapshot
from harness.store.sources import Sources
from harness.tokens import estimate
from harness.turn import converse

SMALL = 200_000  # characters; a larger raw is counted before it is taken to fit
UPPER = 3  # times the estimate: no vocabulary and factor gives more (specs.MOST_SAFETY)
SUMMARY_STEP = 1_000  # tokens: a summary over its allowance counts in such steps, so that not every pass cuts anew


LONGEST_PART = Part(99_999, 99_999, 0, 0, 0)  # whose words in the prompt are as long as those of any


# What is due --------------------------------------------------------------------------------------


def synthesizer_turn(
    session: Session, snapshot: Snapshot, action: Fold, place: HandedOut | None = None
) -> RoleTurn[Rewrite]:
    """`place`: the part that was handed out, whatever would be due by the settings of now."""
    if place:
        piece = pieces_in(session, snapshot, action.number, place.start, place.end, budget=NO_LIMIT)[0]
        piece = piece._replace(part=piece.part._replace(number=place.number, of=place.of))
    else:
        piece = piece_due(session, snapshot, action.number)
    return piece_turn(session, snapshot, piece)


def has_sources(session: Session, snapshot: Snapshot, action: Fold) -> bool:
    return bool(piece_due(session, snapshot, action.number).raw.sources)


def piece_due(session: Session, snapshot: Snapshot, number: int) -> Piece:
    """All of the raw where it fits, else the part that begins where the last one ended.

    Raises HarnessError where the window has no room for a raw.
    """
    reading, start = snapshot.case.summary.reading, read_up_to(snapshot.case.summary, number)
    text = session.store.open_raw(number)
    if not start and (small := _small(session, snapshot, number, text)):
        return small
    budget = _budget(session, snapshot, number, text)
    if not start:
        whole = text.slice(0, (budget or NO_LIMIT).longest)
        if fits(whole, budget):
            part = Part(1, 1, 0, len(whole), len(whole), text=whole)
            return piece_of(number, part)
    budget = room_to_cut(session, budget)
    parts = parts_of(text, budget, (start, None))
    if reading and start and (not parts or parts[0].total != reading.total):
        session.tell(Event("notice", f"raw_{number}.md was changed while it was read: it is read from its start again"))
        parts = parts_of(text, budget, (0, None))
    return piece_of(number, shown(parts[0], text, budget))


def read_up_to(summary: Summary, number: int) -> int:
    """How many characters of raw_`number` are read already, where its fold is under way."""
    reading = summary.reading
    return reading.done if reading and reading.number == number else 0


def _small(session: Session, snapshot: Snapshot, number: int, text: Text) -> Piece | None:
    """A raw that fits whatever the vocabulary: most do, and reading one takes a quarter of a second."""
    whole = "" if text.huge else text.slice(0, SMALL)
    if not whole or len(whole) == SMALL:
        return None
    piece = piece_of(number, Part(1, 1, 0, len(whole), len(whole), text=whole))
    rooms = [session.crew.room_of(agent) for agent in session.crew.agents[Role.SYNTHESIZER]]
    needed = UPPER * estimate(_packet(session, snapshot, number, piece.part).prompt) + session.settings.summary_tokens
    least = min((budget_of(room, needed).tokens for room in rooms if room.window), default=0)
    files = any(room.part_tokens and UPPER * estimate(whole) > room.part_tokens for room in rooms)
    lines = any(room.part_lines and whole.count("\n") > room.part_lines for room in rooms)
    return None if least < 0 or files or lines else piece


def pieces_in(
    session: Session, snapshot: Snapshot, number: int, start: int, end: int | None, *, budget: Budget | None = None
) -> list[Piece]:
    """All that make up a stretch of a raw; `budget`: what each may have, by default what the agents can read."""
    text, least = text_and_budget(session, snapshot, number)
    budget = budget or room_to_cut(session, least)
    return [piece_of(number, shown(part, text, budget)) for part in parts_of(text, budget, (start, end))]


def piece_of(number: int, part: Part) -> Piece:
    return Piece(number, part, parse_raw(part.text, f"raw_{number}.md"))


def text_and_budget(session: Session, snapshot: Snapshot, number: int) -> tuple[Text, Budget | None]:
    """The raw's text, and what a part of it may have: the least of all agents that may read it. None: no limit."""
    text = session.store.open_raw(number)
    return text, _budget(session, snapshot, number, text)


def _budget(session: Session, snapshot: Snapshot, number: int, text: Text) -> Budget | None:
    rooms = [session.crew.room_of(agent) for agent in session.crew.agents[Role.SYNTHESIZER]]
    if text.huge:
        rooms = [room if room.window else room._replace(window=HUGE_WINDOW) for room in rooms]
    rooms = [room for room in rooms if room.window or room.part_tokens]
    if not rooms:
        return None
    bare = snapshot._replace(case=replace(snapshot.case, summary=Summary()))
    prompt = _packet(session, bare, number, LONGEST_PART, totals=session.settings.strategy == TREE).prompt
    view = packet_for(session, snapshot, Turn(Role.SYNTHESIZER, number)).files["summary.md"]
    budgets = [budget_of(room, _fixed(room, prompt, view, session.settings.summary_tokens)) for room in rooms]
    return min(budgets, key=lambda budget: budget.tokens)


class HandedOut(NamedTuple):
    """Part `number` of `of`, with its characters."""

    start: int
    end: int
    number: int
    of: int


class Ahead(NamedTuple):
    """What is left to read of a raw: parts, characters, and tokens at most."""

    parts: int
    characters: int
    tokens: int


def ahead(session: Session, snapshot: Snapshot, number: int) -> Ahead:
    """Raises HarnessError where the window has no room for the raw."""
    text, budget = text_and_budget(session, snapshot, number)
    start = read_up_to(snapshot.case.summary, number)
    limit = room_to_cut(session, budget)
    parts = parts_of(text, limit, (start, None))
    characters = parts[-1].total - start if parts else 0
    return Ahead(len(parts), characters, len(parts) * budget.tokens if budget else estimate(text.slice(0, characters)))


def room_to_cut(session: Session, budget: Budget | None) -> Budget:
    """Raises HarnessError where so little is left for the raw that parts of it would mean nothing."""
    if budget and budget.tokens < LEAST:
        told = f"{max(0, budget.tokens)} tokens are left for the raw, and {LEAST} are needed"
        hint = (
            "a larger window (`window:`, --window, or the agent's own), a shorter question.md or summary.md, "
            f"or a lower summary_tokens (now {session.settings.summary_tokens})"
        )
        raise HarnessError("the window has no room for the results", told, hint)
    return budget or NO_LIMIT


def _fixed(room: Room, prompt: str, summary: str, allowance: int) -> int:
    """Tokens of a packet without its raw. The summary counts with its allowance, or as it is, in steps, above that:
    it grows from part to part, and a raw should not be cut anew for each."""
    steps = -(-room.count(summary) // SUMMARY_STEP)
    return room.count(prompt) + max(allowance, steps * SUMMARY_STEP)


def _packet(
    session: Session, snapshot: Snapshot, number: int, part: Part, *, totals: bool = False, phrase: str = "part"
) -> Packet:
    if part.whole and phrase == "part":
        return packet_for(session, snapshot, Turn(Role.SYNTHESIZER, number, material={f"raw_{number}.md": part.text}))
    place = (part.number, part.of)
    material = {f"raw_{number}.md": part.text}
    turn = Turn(Role.SYNTHESIZER, number, material=material, part=place, phrase=phrase, totals=totals)
    packet = packet_for(session, snapshot, turn)
    # A reply to another stretch of the same raw, by another window, is a reply to another state.
    return packet._replace(part=(part.start, part.end), nth=place, token=f"{packet.token}-{part.start}-{part.end}")


def piece_turn(session: Session, snapshot: Snapshot, piece: Piece, *, totals: bool = False) -> RoleTurn[Rewrite]:
    return judged_turn(session, snapshot, piece, partial(commit_piece, session, snapshot, piece), totals=totals)


def judged_turn(
    session: Session,
    snapshot: Snapshot,
    piece: Piece,
    commit: Callable[[Rewrite, Credit], Step],
    *,
    totals: bool = False,
    phrase: str = "part",
) -> RoleTurn[Rewrite]:
    """The Synthesizer's turn over one piece, with the same guards whatever is done with its reply.

    `phrase` tells what the piece is, `totals` asks for its sums apart.
    """
    packet = _packet(session, snapshot, piece.number, piece.part, totals=totals, phrase=phrase)
    view = view_of(session, snapshot, packet, piece)
    mender = partial(mend, summary=snapshot.case.summary, check=partial(check_rewrite, view=view, most=None))
    return RoleTurn(packet, judge_rewrite(view), commit, mender)


# What becomes of it --------------------------------------------------------------------------------


def fold_raw(session: Session, snapshot: Snapshot, action: Fold) -> Step:
    """A raw without sources is folded by code, no model asked; a part that nobody can read is named as unread."""
    piece = piece_due(session, snapshot, action.number)
    if not piece.raw.sources:
        record = {"role": "harness", "round": action.number}
        rewrite = Rewrite(nothing_new="the search brought no source")
        return commit_piece(session, snapshot, piece, rewrite, Credit(record))
    turn = piece_turn(session, snapshot, piece)
    try:
        turned = converse(session, turn.packet, turn.judge, turn.mend)
    except RepliesDefective as error:
        if piece.part.whole or _nothing_read(snapshot.case.summary, piece):
            raise
        return leave_unread(session, snapshot, piece, error)
    return turn.commit(turned.value, Credit.of(turned, turn.packet))


def _nothing_read(summary: Summary, piece: Piece) -> bool:
    """Whether no part before this one was read: then it is not the part that is at fault."""
    missed = sum(part.end - part.start for part in summary.unread if part.number == piece.number)
    return 0 < missed >= piece.part.start


def leave_unread(session: Session, snapshot: Snapshot, piece: Piece, error: HarnessError) -> Step:
    """The summary stays as it was, and says which characters are missing in it."""
    summary = snapshot.case.summary
    unread = with_unread(summary.unread, Unread(piece.number, piece.part.start, piece.part.end))
    seen = snapshot._replace(case=replace(snapshot.case, summary=replace(summary, unread=unread)))
    record = {"role": str(Role.SYNTHESIZER), "round": piece.number, "failed": error.what, "others": dict(error.spent)}
    rewrite = Rewrite(nothing_new="its replies stayed defective")
    session.tell(Event("notice", f"{piece.name} stays unread ({error.value}); harness reread tries it again"))
    step = commit_piece(session, seen, piece, rewrite, Credit(record, error.tokens))
    return replace(step, line=f"{piece.name} left unread: its replies stayed defective")


def with_unread(known: tuple[Unread, ...], more: Unread) -> tuple[Unread, ...]:
    """Neighbours become one."""
    if known and known[-1].number == more.number and known[-1].end == more.start:
        return (*known[:-1], known[-1]._replace(end=more.end))
    return (*known, more)


def commit_piece(session: Session, snapshot: Snapshot, piece: Piece, rewrite: Rewrite, credit: Credit) -> Step:
    """Raises StateMoved where summary.md changed meanwhile."""
    language, part = language_for(snapshot.case, session.settings), piece.part
    reading = None if part.last else Reading(piece.number, part.end, part.total)
    folded = fold(snapshot.case, rewrite, piece.raw, piece.number, language, reading)
    record = {
        **credit.record,
        **({} if part.whole else {"part": [part.start, part.end, part.total]}),
        "added": list(folded.added),
        "removed": list(folded.removed),
        "reasons": [list(removal) for removal in rewrite.removed],
    }
    if piece.raw.head.kind == "note" and not part.start and part.text:  # a search and an adoption have said it
        record["size"] = estimate(part.text) * part.total // max(1, part.end)
    summary = list_sources(folded.summary, Sources(session.store), language)
    session.commit(snapshot, "summary.md", render_summary(summary), record, replies=credit.files)
    action = "fold" if reading is None else "part"
    read = None if part.whole else (part.end, part.total)
    return Step(action, told_of(snapshot, folded, rewrite, piece), credit.tokens, read=read)


def told_of(snapshot: Snapshot, folded: Folded, rewrite: Rewrite, piece: Piece) -> str:
    question = snapshot.case.question
    left = f"{counted(gaps_left(folded.summary, question.grid) if question else 0, 'gaps', 'en')} left"
    what = f"{piece.name} {'folded' if piece.part.whole else 'read'}"
    if rewrite.nothing_new is not None:
        return f"{what}: nothing new ({rewrite.nothing_new.rstrip('.')}), {left}"
    lost = f", -{len(folded.removed)}" if folded.removed else ""
    return f"{what}: +{counted(len(folded.added), 'facts', 'en')}{lost}, {left}"
