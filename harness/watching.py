"""What `harness watch` says: what came into a case since it was looked at last, what is wrong, whose turn it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from harness.changes import Changes, changes
from harness.check import Finding
from harness.checking import check_case
from harness.errors import HarnessError
from harness.formats.text import shortened
from harness.model import Case
from harness.options import Settings
from harness.status import Status, look
from harness.store import Snapshot, Store
from harness.store.trace import TRACE, read_trace

SHOWN = 120  # characters of a line; files may hold anything
LINES_SHOWN = 6  # of one kind at a time
PERSON = "a person"


class View(NamedTuple):
    """A case at one moment. `files`: digest by name; `broken`: why it cannot be read now, "" if it can."""

    files: Mapping[str, str]
    case: Case | None = None
    status: Status | None = None
    wrong: tuple[str, ...] = ()
    broken: str = ""


class Came(NamedTuple):
    """A file that was written or removed, and by whom."""

    file: str
    by: str
    how: str  # new, changed, removed


class News(NamedTuple):
    """What is different, and what is due. `facts`: of the summary; cells that were filled and that became open."""

    due: str
    next: str
    came: tuple[Came, ...] = ()
    facts: Changes = Changes()
    filled: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()  # what was not wrong before
    mended: tuple[str, ...] = ()
    answer: str = ""
    broken: str = ""
    turn: bool = True  # whether what is due is another thing than before


def view_of(store: Store, settings: Settings, files: Mapping[str, str]) -> View:
    """Never raises for what a person may have saved: a file that cannot be read is what is wrong."""
    try:
        snapshot = store.snapshot()
        status = look(store, settings, seen=snapshot)
        return View(files, snapshot.case, status, (*status.problems, *_found(store, settings, snapshot)))
    except HarnessError as error:
        return View(files, broken="; ".join(line.strip() for line in str(error).split("\n")))


def _found(store: Store, settings: Settings, snapshot: Snapshot) -> Iterable[str]:
    """What `check` finds; nothing in a case that is only a question yet."""
    try:
        found = check_case(store, settings, snapshot)
    except HarnessError:
        return ()
    told = {(problem.file, problem.line) for problem in snapshot.problems}
    return [_told(one) for one in found if one.severity != "notice" and (one.file, one.line) not in told]


def _told(finding: Finding) -> str:
    value = f": {finding.value}" if finding.value and finding.value not in finding.what else ""
    return f"{finding.file}:{finding.line}: {finding.code}: {finding.what}{value}"


def writers(store: Store, files: Iterable[str]) -> dict[tuple[str, str], str]:
    """By file and digest: who wrote it, as the trace says. What a person saved is in no line of it at first."""
    wanted, found = set(files), dict[tuple[str, str], str]()
    for record in read_trace(store.folder / TRACE):
        if (name := record.get("file")) in wanted:
            agent = f" ({record['agent']})" if record.get("agent") else ""
            person = record.get("role") == "person"
            found[str(name), str(record.get("sha256", ""))] = (
                PERSON if person else f"the {record.get('role') or 'harness'}{agent}"
            )
    return found


def moved(before: View, after: View) -> tuple[str, ...]:
    """The files whose content became another one."""
    names = dict.fromkeys((*before.files, *after.files))
    return tuple(name for name in names if before.files.get(name) != after.files.get(name))


def news(before: View | None, after: View, wrote: Mapping[tuple[str, str], str], *, own: bool = False) -> News:
    """What to say. `own`: after a pass of ours, whose writes have been told already; a person's are told still."""
    if before is None:
        return _standing(after, after.wrong)
    told = {name for name, digest in wrote if own and after.files.get(name, "") == digest}
    said = _standing(after, tuple(one for one in after.wrong if one not in before.wrong))
    said = said._replace(
        came=tuple(_came(name, before, after, wrote) for name in moved(before, after) if name not in told),
        mended=() if after.broken else tuple(one for one in before.wrong if one not in after.wrong),
        turn=before.status is None or after.status is None or before.status.next != after.status.next,
    )
    if before.case is None or after.case is None or before.status is None or after.status is None:
        return said
    was, now = before.status.open_cells, after.status.open_cells
    return said._replace(
        facts=changes(before.case.summary, after.case.summary),
        filled=tuple(cell for cell in was if cell not in now),
        opened=tuple(cell for cell in now if cell not in was),
    )


def held(before: View | None, after: View) -> View:
    """What the next look is compared with: while a file cannot be read, the case as it was read last."""
    return before._replace(files=after.files, broken=after.broken) if before and after.broken else after


def _standing(view: View, wrong: tuple[str, ...]) -> News:
    if view.status is None:
        return News("", "", broken=view.broken)
    return News(view.status.due, view.status.next, wrong=wrong, answer=view.status.answer)


def _came(name: str, before: View, after: View, wrote: Mapping[tuple[str, str], str]) -> Came:
    digest = after.files.get(name, "")
    how = "removed" if not digest else "changed" if name in before.files else "new"
    return Came(name, wrote.get((name, digest), PERSON), how)


def lines(said: News) -> list[str]:
    """For people: one line for each thing, the most of one kind counted."""
    facts = said.facts
    told = [f"{one.file} {one.how}, by {one.by}" for one in said.came]
    told += _few("  + ", facts.added) + _few("  - ", (line for line, _ in facts.lost))
    told += _few("  ~ ", (now for _, now in facts.changed)) + _few("  contradiction: ", facts.opened)
    told += _few("  settled: ", facts.settled)
    told += _few("  ✓ ", said.filled) + _few("  open: ", said.opened)
    told += _few("  ✓ found: ", facts.gaps_closed) + _few("  not found: ", facts.gaps_opened)
    told += _few("  wrong: ", said.wrong) + _few("  mended: ", said.mended)
    if said.broken:
        told.append(f"  wrong: {said.broken}")
    if said.next and (told or said.turn):
        told.append(f"due: {said.next}")
    return told


def _few(mark: str, found: Iterable[str]) -> list[str]:
    every = list(found)
    more = [f"{mark}and {len(every) - LINES_SHOWN} more"] if len(every) > LINES_SHOWN else []
    return [f"{mark}{shortened(one, SHOWN)}" for one in every[:LINES_SHOWN]] + more
