"""Stand-ins at the ports: agents, a search, a clock, and a disk that dies or refuses at the k-th system call."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from harness.formats.calls import render_call
from harness.formats.labels import without_searched_mark
from harness.formats.raw import parse_raw
from harness.formats.summary import lines_of, parse_summary
from harness.model import Packet, Reply, Role, SectionKind, Source
from harness.options import Settings
from harness.parts import Room
from harness.ports import Agent, Search, SearchResult
from harness.session import Crew, Event, Session
from harness.store import Store
from harness.store.disk import Disk

START = datetime(2026, 11, 29, 12, tzinfo=UTC)
Function = Callable[[Packet], Reply | str]


class FixedClock:
    """Stands still until a test adds seconds."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> datetime:
        return START + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds


# Disks -------------------------------------------------------------------------------------------


class QuickDisk(Disk):
    """The real file system without fsync, which costs milliseconds and decides nothing that a test can see."""

    def sync(self, descriptor: int) -> None:
        """Nothing."""

    def sync_folder(self, folder: Path) -> None:
        """Nothing."""


class Crash(BaseException):
    """The process is gone: no `except Exception` of the code may see it."""


class CountingDisk(QuickDisk):
    """Calls `before` ahead of every system call; a write is two, so that a torn one is among them."""

    def __init__(self) -> None:
        self.calls = 0

    def before(self) -> None:
        """What a subclass does ahead of call number `self.calls`."""

    def make_folder(self, path: Path) -> None:
        self._count()
        super().make_folder(path)

    def create_temporary(self, folder: Path) -> tuple[int, Path]:
        self._count()
        return super().create_temporary(folder)

    def open_append(self, path: Path) -> int:
        self._count()
        return super().open_append(path)

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        self._count()
        written = super().write(descriptor, data[: len(data) // 2])
        self._count()
        return written + super().write(descriptor, data[written:])

    def sync(self, descriptor: int) -> None:
        self._count()

    def close(self, descriptor: int) -> None:
        super().close(descriptor)  # always: the descriptor is this process's own
        self._count()

    def replace(self, source: Path, target: Path) -> None:
        self._count()
        super().replace(source, target)

    def link(self, source: Path, target: Path) -> None:
        self._count()
        super().link(source, target)

    def unlink(self, path: Path) -> None:
        self._count()
        super().unlink(path)

    def sync_folder(self, folder: Path) -> None:
        self._count()

    def _count(self) -> None:
        self.calls += 1
        self.before()


class FailingDisk(CountingDisk):
    """Dies before the k-th system call, or refuses it with an errno.

    A dead disk stays dead: what `finally` blocks still try is not done. A refusing one refuses once.
    """

    def __init__(self, at: int, refuse: int = 0) -> None:
        super().__init__()
        self.at = at
        self.refuse = refuse

    def before(self) -> None:
        if self.refuse and self.calls == self.at:
            raise OSError(self.refuse, os.strerror(self.refuse))
        if not self.refuse and self.calls >= self.at:
            raise Crash(f"before system call {self.calls}")


class PhotographingDisk(CountingDisk):
    """Keeps what `folder` holds ahead of every system call: what a process killed just then leaves behind."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.photographs: list[dict[str, bytes]] = []

    def before(self) -> None:
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        photograph = {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in files}
        if photograph not in self.photographs[-1:]:
            self.photographs.append(photograph)


class StubbornDisk(QuickDisk):
    """Refuses the first `times` replaces of a file as Windows does while another program holds it open."""

    def __init__(self, times: int) -> None:
        self.left = times

    def replace(self, source: Path, target: Path) -> None:
        if target.name == "summary.md" and self.left:
            self.left -= 1
            raise PermissionError(errno.EACCES, "The process cannot access the file", str(target))
        super().replace(source, target)


# Agents and search -------------------------------------------------------------------------------


class ScriptedAgent:
    """Gives its replies in order (an exception is raised, a function is called with the packet); fails loudly after."""

    window: int | None = None

    def __init__(self, *script: Reply | str | Exception | Function, name: str = "scripted") -> None:
        self.name = name
        self.script = list(script)
        self.packets: list[Packet] = []

    def take(self, packet: Packet) -> Reply:
        self.packets.append(packet)
        if not self.script:
            raise AssertionError(f"the script of {self.name} has run out; it was asked once more:\n{packet.prompt}")
        reply = self.script.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return as_reply(reply if isinstance(reply, (Reply, str)) else reply(packet))


class FunctionAgent:
    """A pure function of the packet, so that a disturbed run has to end as an undisturbed one does."""

    window: int | None = None

    def __init__(self, function: Function, name: str = "function") -> None:
        self.function = function
        self.name = name
        self.asked = 0

    def take(self, packet: Packet) -> Reply:
        self.asked += 1
        return as_reply(self.function(packet))


class FakeSearch:
    """A function of the query: sources, "empty", or the reason why it was blocked."""

    def __init__(self, function: Callable[[str], Sequence[Source] | str], name: str = "fake") -> None:
        self.function = function
        self.name = name
        self.queries: list[str] = []

    def search(self, query: str) -> SearchResult:
        self.queries.append(query)
        found = self.function(query)
        if isinstance(found, str):
            return SearchResult("empty") if found == "empty" else SearchResult("blocked", error=found)
        return SearchResult("found", tuple(found))


def as_reply(reply: Reply | str) -> Reply:
    return Reply(reply) if isinstance(reply, str) else reply


def page(fact: str) -> Source:
    """A page that states one fact."""
    return Source(f"About {fact}", f"fact {fact}", f"https://example.org/{fact}", "2025-02-11")


def find_page(query: str) -> tuple[Source, ...]:
    return (page(query),)


# What functional agents say ----------------------------------------------------------------------


def search_for(*queries: str) -> str:
    return "\n".join(["Think: not known yet.", *(f"Action: {render_call('search', query)}" for query in queries)])


def answer_with(text: str) -> str:
    return f"Think: known.\nAction: {render_call('answer', text)}"


def rewrite(confirmed: Iterable[str], missing: Iterable[str] = (), contradictions: Iterable[str] = ()) -> str:
    """A Synthesizer's reply with these lines."""
    lines = ["Think: as found.", "Summary:"]
    for title, entries in (("Confirmed", confirmed), ("Contradictions", contradictions), ("Not found", missing)):
        lines += [f"## {title}", *(f"- {entry}" for entry in entries)]
    return "\n".join([*lines, "Removed:", "- none"])


def plan_for(*wanted: str, per: int = 1) -> Function:
    """Asks for what no fact covers, `per` queries at a time, then answers with every fact."""

    def plan(packet: Packet) -> str:
        summary = parse_summary(packet.files["summary.md"])
        facts = lines_of(summary, SectionKind.CONFIRMED)
        gaps = [without_searched_mark(line) for line in lines_of(summary, SectionKind.NOT_FOUND)]
        open_ = [one for one in dict.fromkeys((*wanted, *gaps)) if not any(f.startswith(f"fact {one}") for f in facts)]
        if packet.must_answer or not open_:
            return answer_with("Known: " + "; ".join(facts))
        return search_for(*open_[:per])

    return plan


def copy_facts(packet: Packet) -> str:
    """Keeps every fact, adds those that the raw states, drops the gaps that they fill."""
    summary = parse_summary(packet.files["summary.md"])
    facts = list(lines_of(summary, SectionKind.CONFIRMED))
    name = f"raw_{packet.round}.md"
    raw = parse_raw(packet.files[name], name)
    for k, source in enumerate(raw.sources, raw.first):
        stated = [line.strip() for line in source.text.splitlines() if line.startswith("fact ")]
        facts += [f"{fact} [{packet.round}.{k}]" for fact in stated if not any(f.startswith(fact) for f in facts)]
    gaps = [without_searched_mark(line) for line in lines_of(summary, SectionKind.NOT_FOUND)]
    return rewrite(facts, [gap for gap in gaps if not any(f.startswith(f"fact {gap}") for f in facts)])


def check_for(*wanted: str) -> Function:
    """Names what the draft does not state."""

    def check(packet: Packet) -> str:
        missing = [one for one in wanted if f"fact {one}" not in packet.files["answer.md"]]
        listed = ", ".join(f'"{one}"' for one in missing)
        return f'{{"complete": {"false" if missing else "true"}, "missing": [{listed}]}}'

    return check


def compose(packet: Packet) -> str:
    """The built-in rules' stand-in: answers where it must, else has one query of its own."""
    if packet.must_answer:
        return answer_with("Composed by code. " + packet.files["summary.md"].replace("#", ""))
    return search_for("built-in query")


# Session -----------------------------------------------------------------------------------------


def agents_of(given: Agent | Sequence[Agent] | Function) -> tuple[Agent, ...]:
    if isinstance(given, Sequence):
        return tuple(given)
    return (FunctionAgent(given),) if callable(given) else (given,)


def make_session(
    folder: Path,
    *,
    planner: Agent | Sequence[Agent] | Function | None = None,
    synthesizer: Agent | Sequence[Agent] | Function = copy_facts,
    checker: Agent | Sequence[Agent] | Function | None = None,
    search: Search | Sequence[Search] | None = None,
    built_in: Agent | None = None,
    disk: Disk | None = None,
    clock: FixedClock | None = None,
    events: list[Event] | None = None,
    unattended: bool = True,
    rooms: Mapping[str, Room] | None = None,
    **settings: Any,
) -> Session:
    """A session on `folder` with fakes at every port; `settings` are fields of Settings."""
    roles = {
        Role.PLANNER: planner or plan_for("alpha"),
        Role.SYNTHESIZER: synthesizer,
        Role.CHECKER: checker or check_for(),
    }
    ladder = search if search is not None else FakeSearch(find_page)
    crew = Crew(
        {role: agents_of(given) for role, given in roles.items()},
        tuple(ladder) if isinstance(ladder, Sequence) else (ladder,),
        built_in or FunctionAgent(compose, "built-in"),
        rooms or {},
    )
    told = events if events is not None else []
    return Session(
        Store(folder, disk or QuickDisk()),
        crew,
        Settings(**settings),
        clock or FixedClock(),
        told.append,
        unattended,
    )
