"""Which case a hook call is about, and the session to work on it."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from harness.agents.extractive.agent import ExtractiveAgent
from harness.config import resolve
from harness.crew import Surroundings
from harness.errors import HarnessError
from harness.formats.question import fingerprint
from harness.formats.text import shortened
from harness.inside.crew import SubAgent, TurnClock, ladder, window_of
from harness.inside.event import HookEvent
from harness.inside.seat import Seat, Turn, read_seat
from harness.locate import CASE_DIR, CASE_VARIABLE, cases_around, find_case
from harness.model import FrontMatter, Role
from harness.ports import SearchResult
from harness.session import Crew, Event, Session
from harness.store import Store
from harness.store.reading import read_state

LOCK = "inside.lock"
LOCK_WAIT = 300.0  # seconds; the other call may be building the index of a large folder
NAME_WORDS, NAME_CHARS = 6, 48  # of a new case's folder


def cases(event: HookEvent) -> list[Path]:
    """The cases that may be meant, the session's own first, then unfinished ones, the newest of each first."""
    found: dict[Path, None] = {}
    for start in (event.cwd, Path(os.environ.get("CLAUDE_PROJECT_DIR") or event.cwd)):
        with contextlib.suppress(HarnessError):
            named = os.environ.get(CASE_VARIABLE)
            here = [find_case(start, given=None, environ=os.environ)] if named else cases_around(start)
            found |= dict.fromkeys(here)
    return sorted(found, key=lambda case: _rank(case, event.session), reverse=True)


def _rank(case: Path, session: str) -> tuple[bool, bool, float]:
    times = [path.stat().st_mtime for name in ("question.md", "summary.md") if (path := case / name).is_file()]
    mine = bool(session) and read_seat(Store(case)).session == session
    return mine, not (case / "answer.md").exists(), max(times, default=0.0)


def new_case(event: HookEvent, question: str) -> Path:
    """A folder for one more case: research/ where it is free, else research/NAME; or the one just made for it.

    Where HARNESS_DIR names the case there is no other: whoever makes one there is told what it asks already.
    """
    with contextlib.suppress(HarnessError):
        first = find_case(event.cwd, given=None, environ=os.environ)
        if os.environ.get(CASE_VARIABLE) or free_for(first, question):
            return first
    around = (folder for case in cases(event) for folder in (case, case.parent) if folder.name == CASE_DIR)
    home = next(around, event.cwd / CASE_DIR)
    words = re.findall(r"\w+", question.lower())[:NAME_WORDS]
    name = shortened("-".join(words), NAME_CHARS).rstrip("…-") or "case"
    names = ("", name, *(f"{name}-{number}" for number in range(2, 1_000)))
    return next(home / one for one in names if free_for(home / one, question))


def free_for(case: Path, question: str) -> bool:
    return not (case / "question.md").exists() or asks(case, question)


def asks(case: Path, question: str) -> bool:
    """Whether the case is about this very question."""
    return fingerprint(read_state(case / "question.md").text) == fingerprint(question)


class Told(NamedTuple):
    """A session, and what was told on the way: notices for the person."""

    session: Session
    notes: list[str]


def open_session(case: Path, turn: Turn | None = None, found: SearchResult | None = None) -> Told:
    """The loop's session with sub-agents in every role. What needs trust is left out: hooks start no program."""
    store = Store(case)
    snapshot = store.snapshot()
    front = snapshot.case.question.front if snapshot.case.question else FrontMatter()
    resolved = resolve(case=case, project=None, question=front, environ=os.environ, flags={}, ignore_untrusted=True)
    settings, notes = resolved.settings, list(resolved.warnings)
    clock = TurnClock(turn)
    agent = SubAgent(window_of(settings), turn, clock)
    rungs = ladder(
        settings,
        Surroundings(store, os.environ, notes.append),
        found,
        chosen=resolved.origins.get("search", "default") != "default",
    )
    crew = Crew(dict.fromkeys(Role, (agent,)), rungs, ExtractiveAgent())
    return Told(Session(store, crew, settings, clock, tell=_noted(notes), unattended=False), notes)


def _noted(notes: list[str]) -> Callable[[Event], None]:
    def tell(event: Event) -> None:
        if event.kind == "notice":
            notes.append(event.text)

    return tell


@contextlib.contextmanager
def seat_of(case: Path) -> Iterator[Seat]:
    """The seat, alone: two calls of a role in one message reach the hooks at the same moment."""
    store = Store(case)
    with store.alone(LOCK, wait=LOCK_WAIT):
        yield read_seat(store)
