"""The turns of Planner, Synthesizer and Checker: what each gets, what is checked, what is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from harness.answering import answer_of
from harness.errors import AgentFailed, AgentUnreachable, HarnessError, RepliesDefective, SearchUnavailable
from harness.fold import add_missing
from harness.formats.answer import render_answer
from harness.formats.front import put
from harness.formats.queries import render_next_query
from harness.formats.summary import newest_searches, render_summary, source_lines
from harness.guards.lines import View, known_sources
from harness.guards.planner import ACCEPTED, check_decision, mend_decision
from harness.guards.settled import settled, was_read
from harness.model import Decision, Defect, NextQuery, Packet, Reply, Role, Verdict
from harness.packet import Turn, build, language_for
from harness.plan import Ask, last_rounds, unfolded
from harness.prompts import load_prompts
from harness.reply import parse_checker, parse_planner
from harness.session import Event, Session, Step
from harness.store import Snapshot
from harness.turn import Judge, Mend, Turned, converse

T = TypeVar("T")
# Defects of a Planner that wants to stop too soon: when it insists, the built-in Planner's query is taken.
TOO_SOON = frozenset({"early-answer", "no-source"})


class Credit(NamedTuple):
    """Where a value comes from: the trace record, the tokens it took, the files a person saved as the reply."""

    record: Mapping[str, object]
    tokens: int = 0
    files: Mapping[str, str] | None = None

    @classmethod
    def of(cls, turned: Turned[Any], packet: Packet) -> Credit:
        tokens = sum(map(sum, turned.spent.values()))
        return cls(turned.record(packet), tokens, turned.reply.files)


@dataclass(frozen=True)
class RoleTurn(Generic[T]):
    """What a role gets, how its reply is checked, what becomes of the checked value, and what code can put right."""

    packet: Packet
    judge: Judge[T]
    commit: Callable[[T, Credit], Step]
    mend: Mend[T] | None = None


def packet_for(session: Session, snapshot: Snapshot, turn: Turn) -> Packet:
    texts = {name: snapshot.text(name) for name in ("question.md", "summary.md")}
    prompts = load_prompts(language_for(snapshot.case, session.settings))
    return build(snapshot.case, texts, turn, session.settings, prompts, session.today())


# Planner -----------------------------------------------------------------------------------------


def planner_turn(session: Session, snapshot: Snapshot, action: Ask) -> RoleTurn[Decision]:
    unread = tuple(f"raw_{number}.md" for number in unfolded(snapshot.case)) if action.must_answer else ()
    turn = Turn(Role.PLANNER, action.number, action.must_answer, action.must_decide, unread)
    packet = packet_for(session, snapshot, turn)
    commit = partial(commit_decision, session, snapshot, action)
    return RoleTurn(packet, judge_decision(snapshot, packet), commit, mend_decision)


def ask(session: Session, snapshot: Snapshot, action: Ask) -> Step:
    """A must-answer is always answered: at the worst by code, from the summary."""
    turn = planner_turn(session, snapshot, action)
    try:
        turned = converse(session, turn.packet, turn.judge, turn.mend)
    except (AgentUnreachable, AgentFailed, RepliesDefective) as error:
        insists = isinstance(error, RepliesDefective) and TOO_SOON & set(error.codes) and not _unmendable(error)
        if not action.must_answer and not insists:
            raise
        session.tell(Event("notice", f"{error.what}; the built-in rules take this turn"))
        turned = built_in(session, turn.packet, error)
        if turned.value.answer is not None and not action.must_answer:
            action = _out_of_words(snapshot, action)
    return commit_decision(session, snapshot, action, turned.value, Credit.of(turned, turn.packet))


def _unmendable(error: RepliesDefective) -> bool:
    return bool(set(error.codes) - TOO_SOON - ACCEPTED)


def _out_of_words(snapshot: Snapshot, action: Ask) -> Ask:
    """Even the built-in rules know no further query: the research ends here, if anything was searched at all."""
    summary = snapshot.case.summary
    if not last_rounds(newest_searches(summary), 1) and not was_read(summary):
        hint = "mend what blocks the search, then: harness run"
        if not any(newest_searches(summary)):
            question = snapshot.case.question
            told = question.text if question else ""
            raise HarnessError("the question names nothing to search for", told, "write it out in question.md")
        raise SearchUnavailable("no search has worked yet, so there is nothing to answer from", "", hint)
    return action._replace(must_answer="stalled")


def judge_decision(snapshot: Snapshot, packet: Packet) -> Judge[Decision]:
    view = View(snapshot.case, packet, known_sources(snapshot.case.summary))

    def judge(reply: Reply) -> tuple[Decision | None, tuple[Defect, ...]]:
        decision, defects = parse_planner(reply)
        return decision, defects or (check_decision(decision, view) if decision else ())

    return judge


def built_in(session: Session, packet: Packet, error: HarnessError) -> Turned[Decision]:
    """An answer composed from the summary by code, or the query for the first hole."""
    reply = session.crew.built_in.take(packet)
    decision, _ = parse_planner(reply)
    if decision is None:
        raise error
    reply = reply._replace(notes=(*reply.notes, f"overruled: {error.what}: {error.value}"))
    return Turned(decision, reply, session.crew.built_in.name, 0.0, error.spent, ())


def commit_decision(session: Session, snapshot: Snapshot, action: Ask, decision: Decision, credit: Credit) -> Step:
    question = snapshot.case.question
    assert question is not None
    if decision.answer is not None:
        return commit_answer(session, snapshot, decision.answer, action.must_answer, credit)
    next_query = NextQuery(
        round=action.number,
        reasoning=tuple(line for line in decision.think.splitlines() if line.strip()),
        queries=decision.queries,
        ask=decision.ask,
        directions=None if decision.ask is None else len(question.directions),
    )
    text = render_next_query(next_query)
    session.commit(snapshot, "next_query.txt", text, credit.record, decided_on=("summary.md",), replies=credit.files)
    line = "; ".join(decision.queries) if decision.ask is None else f"a question to you: {decision.ask}"
    return Step("ask", line, credit.tokens)


def commit_answer(session: Session, snapshot: Snapshot, body: str, limit: str, credit: Credit) -> Step:
    """A direction given meanwhile makes the answer stale: question.md is among what it was decided on."""
    settings = session.settings
    language = language_for(snapshot.case, settings)
    answer = answer_of(snapshot.case, body, limit=limit, self_check=settings.self_check, language=language)
    decided_on = ("question.md", "summary.md", "next_query.txt")
    text = render_answer(answer)
    session.commit(snapshot, "answer.md", text, credit.record, decided_on=decided_on, replies=credit.files)
    return Step("answer", f"answer.md: {answer.status}" + (f" ({limit})" if limit else ""), credit.tokens)


# Checker -----------------------------------------------------------------------------------------------


def checker_turn(session: Session, snapshot: Snapshot) -> RoleTurn[Verdict]:
    draft = snapshot.case.answer
    material = {"answer.md": draft.text if draft else ""}
    packet = packet_for(session, snapshot, Turn(Role.CHECKER, snapshot.case.summary.round, material=material))
    return RoleTurn(packet, parse_checker, partial(commit_verdict, session, snapshot))


def check(session: Session, snapshot: Snapshot) -> Step:
    """A Checker that fails is noted and does not block: the answer becomes final."""
    turn = checker_turn(session, snapshot)
    try:
        turned = converse(session, turn.packet, turn.judge)
    except (AgentUnreachable, AgentFailed, RepliesDefective) as error:
        told = f"{error.what}: {error.value}"
        session.tell(Event("notice", f"the self-check failed ({told}); the answer stands unchecked"))
        record = {"role": "checker", "round": turn.packet.round, "failed": told, "others": dict(error.spent)}
        return commit_final(session, snapshot, complete=settled(snapshot.case), credit=Credit(record, error.tokens))
    return turn.commit(turned.value, Credit.of(turned, turn.packet))


def commit_verdict(session: Session, snapshot: Snapshot, verdict: Verdict, credit: Credit) -> Step:
    case = snapshot.case
    if verdict.complete or not verdict.missing:
        # No verdict makes an answer complete that has an untried cell, or no source at all.
        grid = case.question.grid if case.question else None
        complete = settled(case) if grid else bool(source_lines(case.summary))
        return commit_final(session, snapshot, complete=complete, credit=credit)
    language = language_for(snapshot.case, session.settings)
    summary = add_missing(snapshot.case.summary, verdict.missing, language)
    session.commit(snapshot, "summary.md", render_summary(summary), credit.record, decided_on=("answer.md",))
    return Step("check", "self-check: missing " + "; ".join(verdict.missing), credit.tokens)


def commit_final(session: Session, snapshot: Snapshot, *, complete: bool, credit: Credit) -> Step:
    answer = snapshot.case.answer
    assert answer is not None
    status = "complete" if complete else "partial"
    final = render_answer(replace(answer, status=status, front=put(answer.front, "directions", None)))
    session.commit(snapshot, "answer.md", final, credit.record, decided_on=("summary.md",))
    return Step("check", f"self-check: the answer is {status}", credit.tokens)
