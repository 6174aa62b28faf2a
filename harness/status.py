"""What `harness status` says: where the case stands, whose turn it is, what it cost. Opens no folded raw."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from harness.account import Account, account_of, told_account
from harness.errors import HarnessError
from harness.formats.labels import counted
from harness.formats.question import fingerprint
from harness.formats.summary import lines_of
from harness.formats.text import shortened
from harness.model import Case, Problem, SectionKind
from harness.options import Settings
from harness.plan import (
    Action,
    Adopt,
    Ask,
    AskPerson,
    Check,
    Done,
    DropDraft,
    EmptyQueries,
    Fold,
    Hole,
    Limits,
    NoQuestion,
    Search,
    TakeAnswer,
    due,
    open_cells_of,
    rounds_used,
)
from harness.spending import spent
from harness.store import Snapshot, Store
from harness.store.claim import read_claim
from harness.store.snapshot import PART_REPLIES

GONE_NAMED = 5
CELLS_NAMED = 8  # on the screen; --json has them all
QUERIES_NAMED = 3
SHOWN = 120  # characters of a question or a query: files may hold anything


class Status(NamedTuple):
    """The case in figures. `due` is the action's name, `next` what it means and how to go on."""

    case: str
    question: str
    round: int
    rounds_used: int
    rounds: int
    cells: int
    open_cells: tuple[str, ...]
    facts: int
    contradictions: int
    not_found: tuple[str, ...]
    due: str
    next: str
    answer: str  # "", draft, complete or partial
    stopped: str
    working: str  # who has claimed the case
    spent: Account | None  # None where the trace tells nothing
    problems: tuple[str, ...]


def look(store: Store, settings: Settings, warnings: tuple[str, ...] = (), seen: Snapshot | None = None) -> Status:
    """Raises HarnessError when there is no case. `seen`: the case as just read; listing 5,000 raws twice costs."""
    snapshot = seen or store.snapshot()
    case = snapshot.case
    action = due(case, Limits(settings.rounds))
    grid = case.question.grid if case.question else None
    claim = read_claim(store.helpers / "claim.json")
    alive = claim is not None and claim.alive(datetime.now(UTC))  # a killed process leaves its claim behind
    account, unread = _account(store)
    return Status(
        case=str(store.folder),
        question=case.question.text.strip() if case.question else "",
        round=case.summary.round,
        rounds_used=rounds_used(case),
        rounds=settings.rounds,
        cells=len(grid.entities) * len(grid.fields) if grid else 0,
        open_cells=tuple(f"{entity}: {field}" for entity, field in open_cells_of(case)),
        facts=len(lines_of(case.summary, SectionKind.CONFIRMED)),
        contradictions=len(lines_of(case.summary, SectionKind.CONTRADICTIONS)),
        not_found=lines_of(case.summary, SectionKind.NOT_FOUND),
        due=type(action).__name__,
        next=describe(action) + _how_far(store, case, action),
        answer=case.answer.status if case.answer else "",
        stopped=case.answer.stopped if case.answer else "",
        working=f"{claim.role}, process {claim.pid}, since {claim.since}" if claim and alive else "",
        spent=account,
        problems=(*warnings, *map(told, snapshot.problems), *_case_warnings(case), *unread),
    )


def _account(store: Store) -> tuple[Account | None, tuple[str, ...]]:
    """What was spent; a trace that cannot be read is a problem to name, and no reason to say nothing else."""
    try:
        return account_of(spent(store)), ()
    except HarnessError as error:
        return None, (f"{error.what}: {error.value}. {error.hint}",)


def told(problem: Problem) -> str:
    """A problem of a file in one line."""
    return f"{problem.file}:{problem.line}: {problem.what}. {problem.hint}"


def _how_far(store: Store, case: Case, action: Action) -> str:
    """How much is read of a raw that does not fit at once, part after part or side by side."""
    reading = case.summary.reading
    if not isinstance(action, Fold):
        return ""
    if reading and reading.number == action.number:
        return f" ({reading.done:,} of {reading.total:,} characters are read)"
    waiting = len(store.helpers_in(f"{PART_REPLIES}/{action.number}"))
    return f" ({waiting} of its parts are read)" if waiting else ""


def _case_warnings(case: Case) -> list[str]:
    found = [
        f"characters {part.start:,} to {part.end:,} of raw_{part.number}.md are unread: harness reread {part.number}"
        for part in case.summary.unread
    ]
    gone = sorted(set(range(1, case.summary.round + 1)) - set(case.raws))
    if gone:
        named = ", ".join(f"raw_{number}.md" for number in gone[:GONE_NAMED]) + (" …" if len(gone) > GONE_NAMED else "")
        found.append(f"gone are {named}, folded already: their citations cannot be checked any more")
    if case.question and case.summary.fingerprint not in ("", fingerprint(case.question.text)):
        found.append(
            "the question was changed since the summary began: it goes on with the new one. "
            'For a new case: harness -C research/NAME ask "…"'
        )
    return found


def describe(action: Action) -> str:
    """What is due, for a person, with the command that goes on."""
    match action:
        case NoQuestion():
            return 'a question: harness ask "…"'
        case Hole(missing):
            return f"raw_{missing}.md is missing: put it back, or rename the later file"
        case Adopt(number):
            return f"raw_{number}.md, which a person pasted, is taken in: harness step"
        case EmptyQueries() | DropDraft():
            return "the harness tidies up: harness step"
        case Done(later):
            behind = f"; later came {', '.join(later)}: harness reopen" if later else "; harness reopen goes on"
            return f"nothing: answer.md stands{behind}"
        case Check():
            return "the Checker looks at the draft answer: harness step"
        case Fold(number):
            return f"the Synthesizer folds raw_{number}.md: harness step, or harness next"
        case TakeAnswer():
            return "the answer in next_query.txt becomes answer.md: harness step"
        case AskPerson(question):
            return f'you: {shortened(question, SHOWN)} (harness steer "…")'
        case Search(number, queries):
            return f"a search for raw_{number}.md: {_named(queries)} (harness search)"
        case Ask(_, must_answer):
            if must_answer:
                return f"the Planner must answer ({must_answer}): harness step, or harness next"
            return "the Planner writes a query or the answer: harness step, or harness next"


def _named(queries: tuple[str, ...]) -> str:
    """The first few, and how many more there are."""
    more = len(queries) - QUERIES_NAMED
    return "; ".join(shortened(query, SHOWN) for query in queries[:QUERIES_NAMED]) + (
        f" and {more} more" if more > 0 else ""
    )


def render(status: Status) -> str:
    """The lines for a terminal."""
    first = shortened(status.question.split("\n", 1)[0], SHOWN) or "(no question)"
    contradictions = f"{status.contradictions} contradiction{'' if status.contradictions == 1 else 's'}"
    found = f"{counted(status.facts, 'facts', 'en')}, {contradictions}"
    if status.cells:
        filled = f"{status.cells - len(status.open_cells)} of {status.cells} cells filled; {found}"
    else:
        filled = f"{found}, {counted(len(status.not_found), 'gaps', 'en')}"
    lines = [
        f"{Path(status.case).name}: {first}",
        f"  round {status.round}, {status.rounds_used} of {status.rounds} search rounds used; {filled}",
    ]
    if status.open_cells:
        more = len(status.open_cells) - CELLS_NAMED
        behind = f" and {more} more" if more > 0 else ""
        lines.append("  open: " + "; ".join(status.open_cells[:CELLS_NAMED]) + behind)
    if status.answer:
        lines.append(f"  answer.md: {status.answer} ({status.stopped})")
    if status.working:
        lines.append(f"  at work: {status.working}")
    lines += [f"  {line}" for line in (told_account(status.spent) if status.spent else ())]
    lines.append(f"  due: {status.next}")
    lines += [f"  note: {problem}" for problem in status.problems]
    return "\n".join(lines)
