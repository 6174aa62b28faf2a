"""Which case a hook call is about, and the session to work on it."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from harness.agents.extractive.agent import ExtractiveAgent
from harness.config import resolve
from harness.crew import Surroundings, folder_of, room_for
from harness.errors import HarnessError
from harness.formats.answer import parse_answer
from harness.formats.question import fingerprint
from harness.formats.text import shortened
from harness.inside.crew import PRESET, Found, SubAgent, TurnClock, ladder, the_web
from harness.inside.event import HookEvent
from harness.inside.seat import Seat, read_seat
from harness.locate import CASE_DIR, CASE_VARIABLE, cases_around, find_case
from harness.model import Case, FrontMatter, Role
from harness.options import Rung
from harness.plan import due_queries, next_number
from harness.session import Crew, Event, Session
from harness.store import Store
from harness.store.reading import read_state

LOCK = "inside.lock"
LOCK_WAIT = 300.0  # seconds; the other call may be building the index of a large folder
NAME_WORDS, NAME_CHARS = 6, 48  # of a new case's folder


def case_of(event: HookEvent) -> Path | None:
    """The case that the person began or went on with last in this session; else the one most likely meant."""
    mine = event.sessions.began(event.session)
    return mine if mine and mine.is_dir() else next(iter(cases(event)), None)


def cases(event: HookEvent) -> list[Path]:
    """The cases around here, unfinished ones first, the newest of each first."""
    found: dict[Path, None] = {}
    for start in (event.cwd, Path(os.environ.get("CLAUDE_PROJECT_DIR") or event.cwd)):
        with contextlib.suppress(HarnessError, OSError):
            named = os.environ.get(CASE_VARIABLE)
            here = [find_case(start, given=None, environ=os.environ)] if named else cases_around(start)
            found |= dict.fromkeys(case for case in here if case.is_dir())
    return sorted(found, key=_rank, reverse=True)


def _rank(case: Path) -> tuple[bool, float]:
    with contextlib.suppress(HarnessError, OSError):
        answer = read_state(case / "answer.md").text
        times = [path.stat().st_mtime for name in ("question.md", "summary.md") if (path := case / name).is_file()]
        return not answer.strip() or parse_answer(answer).status == "draft", max(times, default=0.0)
    return False, 0.0


def new_case(event: HookEvent, question: str) -> Path:
    """A folder for one more case: research/ where it is free, else research/NAME; or the one just made for it.

    Where HARNESS_DIR names the case there is no other: whoever makes one there is told what it asks already.
    """
    with contextlib.suppress(HarnessError):
        first = find_case(event.cwd, given=None, environ=os.environ)
        if os.environ.get(CASE_VARIABLE) or free_for(first, question):
            return first
    near = (folder for case in cases(event) for folder in (case, case.parent) if folder.name == CASE_DIR)
    home = next(near, event.cwd / CASE_DIR)
    words = re.findall(r"\w+", question.lower())[:NAME_WORDS]
    name = shortened("-".join(words), NAME_CHARS).rstrip("…-") or "case"
    names = ("", name, *(f"{name}-{number}" for number in range(2, 1_000)))
    return next(home / one for one in names if free_for(home / one, question))


def free_for(case: Path, question: str) -> bool:
    return not (case / "question.md").exists() or asks(case, question)


def asks(case: Path, question: str) -> bool:
    """Whether the case is about this very question."""
    with contextlib.suppress(HarnessError):
        return fingerprint(read_state(case / "question.md").text) == fingerprint(question)
    return False


class Told(NamedTuple):
    """A session, and what was told on the way: notices for the person. `searched`: where the search looks."""

    session: Session
    notes: list[str]
    searched: str = ""


def open_session(case: Path, seat: Seat | None = None, found: Found | None = None) -> Told:
    """The loop's session with sub-agents in every role. What needs trust is left out: hooks start no program."""
    store = Store(case)
    snapshot = store.snapshot()
    front = snapshot.case.question.front if snapshot.case.question else FrontMatter()
    resolved = resolve(case=case, project=None, question=front, environ=os.environ, flags={}, ignore_untrusted=True)
    settings, notes = resolved.settings, list(resolved.warnings)
    if resolved.origins.get("search", "default") == "default":
        settings = settings._replace(search=the_web())
    # One sub-agent reads at a time, and its reply is there before the next part is handed out.
    settings = settings._replace(strategy="refine")
    clock = TurnClock(seat.turn if seat else None)
    room = room_for(PRESET, settings, os.environ)
    agent = SubAgent(room.window and room.window - room.output, seat.turn if seat else None, clock)
    around = Surroundings(store, os.environ, notes.append)
    climbed = found is not None or (seat is not None and seat.climbed == searched_for(snapshot.case))
    rungs = ladder(settings, around, found, climbed=climbed)
    crew = Crew(dict.fromkeys(Role, (agent,)), rungs, ExtractiveAgent(), {agent.name: room})
    session = Session(store, crew, settings, clock, tell=_noted(notes), unattended=False)
    return Told(session, notes, ", then ".join(_searched(rung) for rung in settings.search))


def searched_for(case: Case) -> str:
    """What a search is for: the raw it becomes, and its queries."""
    return sha256(json.dumps([next_number(case), due_queries(case)]).encode()).hexdigest()[:16]


def _searched(rung: Rung) -> str:
    if rung.provider == "folder" and "command" not in rung.options:
        return f"the documents in {folder_of(rung)}"
    return "the web, by a sub-agent" if rung.provider == "agent" else rung.provider


def _noted(notes: list[str]) -> Callable[[Event], None]:
    def tell(event: Event) -> None:
        if event.kind == "notice":
            notes.append(event.text)

    return tell


@contextlib.contextmanager
def seat_of(case: Path, *, wait: float = LOCK_WAIT) -> Iterator[Seat]:
    """The seat, alone: two calls of a role in one message reach the hooks at the same moment."""
    store = Store(case)
    with store.alone(LOCK, wait=wait):
        yield read_seat(store)
