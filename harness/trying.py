"""One tiny real pass of an agent, to say whether it can take a role here: no case is read or written."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from harness.assets import template
from harness.crew import Surroundings, make_agent
from harness.errors import AgentFailed, WrongCall
from harness.formats.question import parse_question
from harness.formats.text import shortened
from harness.model import Case, NextQuery, Packet, Role, Summary
from harness.options import Settings
from harness.packet import Turn, build
from harness.prompts import load_prompts
from harness.reply import parse_planner
from harness.store import Store

REPLY_SHOWN = 200  # characters
PERSON = "person"


class Tried(NamedTuple):
    """What a pass took. Counts and cost (USD) are None where the agent does not say."""

    name: str
    seconds: float
    tokens_in: int | None
    tokens_out: int | None
    cost: float | None
    reply: str


def try_agent(name: str, settings: Settings, around: Surroundings) -> Tried:
    """Have it plan the first search of a small question.

    Raises WrongCall for an unknown name, AgentUnreachable with what is missing (program, login, key, sandbox), and
    AgentFailed where it was asked and its reply is none.
    """
    if name == PERSON:
        raise WrongCall("a person is not tested", name, "harness next shows what a person gets")
    with tempfile.TemporaryDirectory(prefix="harness-trial-", ignore_cleanup_errors=True) as folder:
        agent = make_agent(name, settings, around._replace(store=Store(Path(folder) / "case")))
        started = monotonic()
        reply = agent.take(trial_packet())
    decision, defects = parse_planner(reply)
    if decision is None:
        told = "; ".join(defect.what for defect in defects)
        hint = f"It works, but did not reply in the form of a Planner ({told}): name a stronger model."
        raise AgentFailed(f"{name}: a reply that is none", shortened(reply.text, REPLY_SHOWN), hint)
    said = " ".join(reply.text.split()) or ", ".join(reply.files)
    return Tried(
        name, monotonic() - started, reply.tokens_in, reply.tokens_out, reply.cost, shortened(said, REPLY_SHOWN)
    )


def trial_packet() -> Packet:
    """The Planner's first packet of a research with one question."""
    texts = {"question.md": template("trial.md"), "summary.md": ""}
    case = Case(parse_question(texts["question.md"]), Summary(), NextQuery(), None)
    today = datetime.now(UTC).date().isoformat()
    return build(case, texts, Turn(Role.PLANNER, 1, must_decide=True), Settings(), load_prompts("en"), today)


def told_trial(tried: Tried) -> str:
    counts = (
        f"{tried.tokens_in or 0:,} tokens in, {tried.tokens_out or 0:,} out"
        if (tried.tokens_in, tried.tokens_out) != (None, None)
        else "it does not say how many tokens"
    )
    cost = "" if tried.cost is None else f", ${tried.cost:.4f}"
    return f"{tried.name}: works, {tried.seconds:.1f} s, {counts}{cost}\n  {tried.reply}"
