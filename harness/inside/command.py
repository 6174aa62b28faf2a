"""What a person types: `/research …` begins, goes on, steers, stops or tells; anything else gives the turn back."""

from __future__ import annotations

import contextlib
import os
import re
from difflib import get_close_matches
from pathlib import Path

from harness.assets import template
from harness.errors import HarnessError
from harness.inside.claim import drop_claim, other_claim
from harness.inside.event import PLUGIN, Answer, HookEvent, block, context
from harness.inside.lines import line
from harness.inside.onward import ForRole, Next, Over, go_on, reason, told
from harness.inside.place import Told, asks, case_of, cases, new_case, open_session, seat_of
from harness.inside.roles import begun
from harness.inside.seat import Seat, write_seat
from harness.loop import STOP
from harness.patterns import lazy
from harness.scaffold.plugin import shadowing
from harness.starting import Asked, begin
from harness.status import look, render
from harness.steering import reopen, request_stop, steer
from harness.store import Store
from harness.tokens import estimate
from harness.turn import forget_failures

COMMAND = lazy(r"/(?P<whole>research:)?research(?:\s+(?P<words>.*))?\s*", re.DOTALL)
STEERING = lazy(r"steer\s*:\s*(?P<words>\S.*)", re.IGNORECASE | re.DOTALL)
GO_ON = ("", "go on", "go on please", "please go on", "continue", "resume")
WORDS = ("status", "stop", "reopen")
HELP = ("help", "steer", "steer:")
SKILL = "claude/skills/research/SKILL.md"
# What moves sub-agents into the background: their whole replies then come into the main conversation.
BACKGROUND = ("CLAUDE_AUTO_BACKGROUND_TASKS", "CLAUDE_CODE_FORK_SUBAGENT")
SHORT_WAIT = 1.0  # seconds: a person's other words are not kept waiting
START_WAIT = 10.0
FOUND = 12_000  # tokens that a search brings, five pages or so
REPLIED = 2_000  # tokens of a round's replies


def on_prompt(event: HookEvent) -> Answer:
    """UserPromptSubmit. A person who types anything has ended what was under way in this session."""
    with contextlib.suppress(HarnessError, OSError):
        leave(event, left=True, wait=SHORT_WAIT)
    match = COMMAND.fullmatch(event.typed)
    if not match or (not match["whole"] and _is_somebody_elses(event)):
        return None
    if not event.sessions.first(event.session, event.prompt):
        return None
    try:
        return _obeyed(event, (match["words"] or "").strip())
    except HarnessError as error:
        return block(reason(error))


def leave(event: HookEvent, *, left: bool = False, wait: float = START_WAIT) -> Answer:
    """The turn of this session is given back. `left`: the person went on to something else."""
    case = event.sessions.began(event.session)
    if case and case.is_dir():
        store = Store(case)
        with seat_of(case, wait=wait) as seat:
            if seat.session == event.session:
                drop_claim(store, event)
                write_seat(store, seat._replace(turn=None, over=left or seat.over))
    return None


def _is_somebody_elses(event: HookEvent) -> bool:
    """Whether `/research` without the plugin's name is another skill here than ours."""
    if event.carrier != PLUGIN:
        return False
    found = shadowing(Path(os.environ.get("CLAUDE_PROJECT_DIR") or event.cwd), os.environ)
    try:
        return bool(found) and Path(found).read_text(encoding="utf-8", errors="replace") != template(SKILL)
    except OSError:
        return True


def _obeyed(event: HookEvent, words: str) -> Answer:
    word, steering = words.casefold().strip(" .!?…"), STEERING.fullmatch(words)
    known = (*GO_ON, *WORDS)
    if word in HELP or (word not in known and " " not in word and get_close_matches(word, known, 1, 0.75)):
        return block(line("usage"))
    off = [name for name in BACKGROUND if os.environ.get(name, "0") not in ("", "0", "false")]
    if off and word not in WORDS:
        return block(line("background", names=", ".join(off)))
    case = case_of(event) if word in known or steering else _case_for(event, words)
    if case is None:
        return block(line("nothing_here"))
    if word == "status":
        session = open_session(case).session
        return block(render(look(session.store, session.settings)))
    at_work = other_claim(Store(case), event)
    if word == "stop":
        return block(request_stop(Store(case)) if at_work else line("idle", case=case))
    if steering:
        steered = steer(Store(case), steering["words"])
        if at_work or _stands(case):
            return block(steered)
    if word == "reopen" and not at_work:
        reopen(open_session(case).session)
    return _begin(event, case)


def _case_for(event: HookEvent, question: str) -> Path:
    """The case that asks this already, else a new one."""
    there = next((case for case in cases(event) if asks(case, question)), None)
    if there:
        return there
    case = new_case(event, question)
    begin(case, Asked(question))
    return case


def _stands(case: Path) -> str:
    """The status of the answer that ended it, "" while there is none."""
    answer = Store(case).snapshot().case.answer
    return answer.status if answer and answer.status != "draft" else ""


def _begin(event: HookEvent, case: Path) -> Answer:
    store = Store(case)
    with seat_of(case, wait=START_WAIT) as seat:
        at_work = other_claim(store, event)
        if at_work:  # theirs is the seat too
            return block(line("elsewhere", who=f"{at_work.role} (process {at_work.pid})"))
        event.sessions.begin(event.session, case)
        if status := _stands(case):
            return block(line("stands", path=case / "answer.md", status=status))
        store.drop_helper(STOP)  # meant for a run before this one
        opened = open_session(case)
        forget_failures(opened.session)  # a person who types it means: once more
        try:
            seat = begun(seat, event)._replace(turn=None, elapsed=0.0, tokens=0, folds=0, blocked=0, unheard=0)
            went = go_on(opened.session, seat, event.carrier)
            seat = went.seat._replace(line=told(went.next, event.carrier), over=isinstance(went.next, Over))
        finally:
            write_seat(store, seat)
    return _first_line(event, opened, went.next, seat)


def _first_line(event: HookEvent, opened: Told, due: Next, seat: Seat) -> Answer:
    if isinstance(due, Over):
        return context(event, seat.line)
    settings = opened.session.settings
    prompt = estimate(due.packet.prompt) if isinstance(due, ForRole) else REPLIED
    estimated = line(
        "estimate",
        case=opened.session.store.folder,
        searched=opened.searched,
        rounds=settings.rounds,
        each=round((2 * prompt + FOUND + REPLIED) / 1_000),  # the summary twice, what the search brings, the replies
        tokens=f"{settings.tokens:,}",
        minutes=f"{settings.minutes:g}",
    )
    notes = [line("note", note=note) for note in opened.notes]
    person = "\n".join([estimated, *notes])
    return context(event, f"{person}\n{seat.line}", person=person)
