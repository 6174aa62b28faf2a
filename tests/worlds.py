"""Nine kinds of case in which every hand is a pure function of the files, driven through crashes and people's edits."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import HarnessError, WaitingForPerson
from harness.formats.queries import parse_next_query
from harness.formats.summary import lines_of, parse_summary
from harness.loop import Meter, one_pass, run
from harness.model import Packet, SectionKind, Source
from harness.session import Session, Step
from harness.store.disk import Disk
from tests.fakes import (
    Crash,
    FailingDisk,
    FakeSearch,
    FunctionAgent,
    QuickDisk,
    check_for,
    copy_facts,
    make_session,
    page,
    plan_for,
)
from tests.trees import read_tree, write_tree

QUESTION = "What is known about alpha and its kind?\n"
PASSES = 80  # more is a loop without end: the longest schedule needs half
MINE = "papa"  # what a person asks for on the way


@dataclass(frozen=True)
class World:
    """What lies outside the files. `flaky` is blocked until a raw records it."""

    wanted: tuple[str, ...] = ("alpha", "beta")
    checked: tuple[str, ...] = ()  # what the Checker wants in the answer
    nothing_pleases: bool = False  # the Checker always misses zulu
    per: int = 1
    rounds: int = 10
    flaky: str = ""
    pages: int = 1  # sources in the raw for the first query
    answer_by_file: bool = False  # the Planner's answer arrives as answer(…) in next_query.txt
    pasted: bool = False  # a person searches, and pastes pages without any structure


WORLDS: Mapping[str, World] = {
    "two rounds, check passes": World(),
    "the self-check finds gamma missing": World(checked=("gamma",)),
    "the self-check is never content": World(wanted=("alpha",), nothing_pleases=True),
    "answer(…) in next_query.txt and a self-check": World(wanted=("alpha",), checked=("gamma",), answer_by_file=True),
    "blocked, then found": World(flaky="beta"),
    "two queries a round": World(wanted=("alpha", "beta", "gamma", "delta"), per=2),
    "three sources in a raw": World(pages=3),
    "pasted raws": World(checked=("gamma",), pasted=True),
    "two rounds at the most": World(wanted=("alpha", "beta", "gamma"), checked=("gamma",), rounds=2),
}


@dataclass
class Told:
    """What happened on the way, for audits. Nothing of it reaches the code under test."""

    queries: list[str] = field(default_factory=list)
    checks: int = 0
    actions: list[str] = field(default_factory=list)
    deaths: int = 0
    final: str = ""


Event = Callable[[Path], None]


def drive(
    folder: Path,
    world: World,
    *,
    deaths: Sequence[int] = (),
    events: Mapping[int, Event] | None = None,
    last: Disk | None = None,
) -> Told:
    """Run the case to its end. A process dies before system call `deaths[0]`, the next before its own `deaths[1]` …

    `events`: what people do before the pass of that number, whichever process makes it. `last`: the disk of the process
    that lives.
    """
    told, events = Told(), dict(events or {})
    disks: list[Disk] = [*(FailingDisk(at) for at in deaths), last or QuickDisk()]
    for _ in range(PASSES):
        session = _session(folder, world, disks[0], told)
        try:
            for step in _passes(session, folder, events, told):
                told.final = step.final
        except Crash:
            disks.pop(0)
            told.deaths += 1
            told.actions.append("CRASH")
            bury(folder)
        except WaitingForPerson as waiting:
            _take_the_persons_turn(folder, waiting, told)
            continue
        if told.final:
            return told
    raise AssertionError(f"no end: {' > '.join(told.actions)}")


def drive_without_a_claim(folder: Path, world: World) -> str:
    """Pass by pass, as a process whose claim another has taken over; how it ended."""
    session = _session(folder, world, QuickDisk(), Told())
    for _ in range(PASSES):
        with contextlib.suppress(HarnessError):  # five passes in a row redone: the other was quicker each time
            if final := one_pass(session, Meter(session)).final:
                return final
    raise AssertionError("no end")


def start(folder: Path) -> Path:
    return write_tree(folder, {"question.md": QUESTION})


def bury(folder: Path) -> None:
    """Make the claim look like that of a dead process: this test's own pid, but started at another time."""
    claim = folder / ".harness" / "claim.json"
    if claim.exists():
        claim.write_text(claim.read_text(encoding="utf-8").replace('"started": "', '"started": "0'), encoding="utf-8")


def files_of(folder: Path) -> dict[str, str]:
    """What has to be equal after any disturbance: no record, no helpers, no times."""
    files = {name: text for name, text in read_tree(folder).items() if not name.startswith(".harness/")}
    files.pop("trace.jsonl", None)
    return {
        name: "".join(line for line in text.splitlines(keepends=True) if not line.startswith("retrieved:"))
        for name, text in files.items()
    }


def facts_of(folder: Path) -> str:
    summary = parse_summary((folder / "summary.md").read_text(encoding="utf-8"))
    return "\n".join(lines_of(summary, SectionKind.CONFIRMED))


def _passes(session: Session, folder: Path, events: dict[int, Event], told: Told) -> Iterator[Step]:
    passes = run(session)
    while len(told.actions) < PASSES:
        if event := events.pop(len(told.actions), None):
            event(folder)
            told.actions.append("PERSON")
        try:
            step = next(passes)
        except StopIteration:
            return
        told.actions.append(step.action)
        told.checks += step.action == "check"
        yield step


def _session(folder: Path, world: World, disk: Disk, told: Told) -> Session:
    return make_session(
        folder,
        planner=FunctionAgent(_planner(world)),
        synthesizer=copy_facts,
        checker=check_for(*world.checked, *(["zulu, and it says so"] if world.nothing_pleases else [])),
        search=_search(folder, world, told),
        disk=disk,
        rounds=world.rounds,
        queries_per_round=world.per,
    )


def _planner(world: World) -> Callable[[Packet], str]:
    plan = plan_for(*world.wanted, per=world.per)

    def take(packet: Packet) -> str:
        reply = str(plan(packet))
        if world.answer_by_file and "Action: answer(" in reply and not packet.must_answer:
            raise WaitingForPerson("an answer by file", reply.partition("Action: ")[2])
        return reply

    return take


def _search(folder: Path, world: World, told: Told) -> FakeSearch:
    def search(query: str) -> tuple[Source, ...] | str:
        if world.pasted:
            raise WaitingForPerson("a search by hand", query)
        told.queries.append(query)
        if query == world.flaky and not _recorded(folder, query):
            return "HTTP 429"
        more = [page(f"{query} more {k}") for k in range(1, world.pages)] if query == world.wanted[0] else []
        return (page(query), *more)

    return FakeSearch(search)


def _recorded(folder: Path, query: str) -> bool:
    summary = folder / "summary.md"
    texts = [path.read_text(encoding="utf-8") for path in [*folder.glob("raw_*.md"), summary] if path.exists()]
    return any(f"{query} — " in text or f'query: "{query}"' in text or f"query: {query}," in text for text in texts)


def _take_the_persons_turn(folder: Path, waiting: WaitingForPerson, told: Told) -> None:
    """A person does it with an editor: no header, no front matter, a Windows line end."""
    told.actions.append("BY HAND")
    if waiting.what == "a search by hand":
        told.queries.append(waiting.value)
        (folder / f"raw_{next_raw(folder)}.md").write_text(f"fact {waiting.value}\r\n", encoding="utf-8")
    else:
        (folder / "next_query.txt").write_text(waiting.value, encoding="utf-8-sig")


# What people do --------------------------------------------------------------------------------------


def next_raw(folder: Path) -> int:
    numbers = [int(path.stem.removeprefix("raw_")) for path in folder.glob("raw_*.md")]
    return max([folded(folder), *numbers]) + 1


def folded(folder: Path) -> int:
    path = folder / "summary.md"
    return parse_summary(path.read_text(encoding="utf-8")).round if path.exists() else 0


def add_note(folder: Path) -> None:
    text = "---\nkind: note\n---\n## 1. A page\n- url: https://example.org/note\n\nfact note\n"
    (folder / f"raw_{next_raw(folder)}.md").write_text(text, encoding="utf-8")


def paste_page(folder: Path) -> None:
    (folder / f"raw_{next_raw(folder)}.md").write_text("# A page\n\nfact pasted\n", encoding="utf-8")


def add_query(folder: Path) -> None:
    path = folder / "next_query.txt"
    there = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text(f"{there}{MINE}\n", encoding="utf-8")


def replace_query(folder: Path) -> None:
    """Keeps the header line, as a person in an editor does."""
    path = folder / "next_query.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    kept = [line for line in lines if line.startswith("# round:")]
    path.write_text("\n".join([*kept, MINE, ""]), encoding="utf-8")


def prune_raws(folder: Path) -> None:
    for path in folder.glob("raw_*.md"):
        if int(path.stem.removeprefix("raw_")) <= folded(folder):
            path.unlink()


def edit_question(folder: Path) -> None:
    text = f"{QUESTION}\r\n## Directions\r\n- 2026-11-29: leave out prices\r\n".replace("\r\n", "\n")
    (folder / "question.md").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())


EVENTS: Mapping[str, Event] = {
    "a note": add_note,
    "a bare raw": paste_page,
    "a query added": add_query,
    "a query replaced": replace_query,
    "raws pruned": prune_raws,
    "the question edited": edit_question,
}


def before_the_end(event: Event, happened: list[str] | None = None) -> Event:
    """Not once an answer stands (that is `reopen`'s test), nor over an answer that a person has just written."""

    def act(folder: Path) -> None:
        answer, query = folder / "answer.md", folder / "next_query.txt"
        if answer.exists() and "status: draft" not in answer.read_text(encoding="utf-8"):
            return
        if query.exists() and parse_next_query(query.read_text(encoding="utf-8-sig")).answer is not None:
            return
        event(folder)
        if happened is not None:
            happened.append(event.__name__)

    return act
