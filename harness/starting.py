"""A new case from a question and what a person says about it."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from harness.errors import HarnessError, WrongCall
from harness.formats.question import fingerprint, parse_question, render_question
from harness.formats.text import clean
from harness.model import Grid, Question
from harness.store import Base, Store
from harness.store.reading import ABSENT, read_state


@dataclass(frozen=True)
class Asked:
    """What was asked on the command line; the lists are separated by commas."""

    question: str
    entities: str = ""
    fields: str = ""
    ready_when: str = ""


OFFERS = (
    ("entities", "Rows to fill, separated by commas (Enter skips)"),
    ("fields", "Columns to fill, separated by commas (Enter skips)"),
    ("ready_when", "Ready when, e.g. a dated figure for each (Enter skips)"),
)


def offer_settings(asked: Asked, prompt: Callable[..., str]) -> Asked:
    """Ask on the terminal for what was not given."""
    for name, text in OFFERS:
        if not getattr(asked, name):
            given = {name: prompt(text, default="", show_default=False, err=True).strip()}
            asked = replace(asked, **given)
    return asked


def make_case(folder: Path, asked: Asked) -> None:
    """Write question.md; one without a question in it keeps its settings.

    Raises WrongCall for an empty question, HarnessError where another question stands.
    """
    text = clean(asked.question).strip()
    if not text:
        raise WrongCall("an empty question", "", 'harness ask "Which … ?"')
    store, found = Store(folder), read_state(folder / "question.md")
    kept = parse_question(found.text)
    if kept.text:
        new = shlex.quote(str(folder.parent / "research" / "NAME"))
        hint = f'harness run goes on with it; for a new one: harness -C {new} ask "…"'
        raise HarnessError("a case is here already", str(folder), hint)
    question = render_question(_with(kept, text, asked))
    if found == ABSENT:
        store.make_case(question)
    else:
        record = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "role": "person"}
        store.commit("question.md", question, Base({"question.md": found.digest}), record)


def begin(folder: Path, asked: Asked) -> None:
    """`harness run "…"`: make the case, or go on with the one that asks the same. Raises as make_case does."""
    found = read_state(folder / "question.md").text
    if not asked.question.strip() or fingerprint(found) != fingerprint(asked.question):
        make_case(folder, asked)


def _with(kept: Question, text: str, asked: Asked) -> Question:
    grid = Grid(_parts(asked.entities) or kept.grid.entities, _parts(asked.fields) or kept.grid.fields)
    return replace(kept, text=text, grid=grid, ready_when=asked.ready_when or kept.ready_when)


def _parts(listed: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in listed.split(",") if part.strip())
