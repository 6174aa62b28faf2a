"""Everything a pass works with: the case, who takes the roles, where to search, the settings, the clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import NamedTuple

from harness.model import Role
from harness.options import Settings
from harness.parts import Room
from harness.ports import Agent, Clock, Search
from harness.store import Base, Snapshot, Store
from harness.store.trace import TRACE, newest
from harness.versions import VERSION, version_record


class SystemClock:
    """The real time, UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return monotonic()


SYSTEM_CLOCK = SystemClock()


class Event(NamedTuple):
    """Something to show while a pass is under way. `kind`: due, asked, defect, failed, searched, notice, done."""

    kind: str
    text: str


@dataclass(frozen=True)
class Crew:
    """Who takes each role, in order: the next takes over when one fails. `built_in` always can."""

    agents: Mapping[Role, tuple[Agent, ...]]
    ladder: tuple[Search, ...]
    built_in: Agent
    rooms: Mapping[str, Room] = field(default_factory=dict)  # by agent
    learn: Callable[[str, str, int], None] = lambda agent, prompt, reported: None  # what a reply says of its prompt

    def room_of(self, agent: Agent) -> Room:
        """What a packet for it may hold."""
        return self.rooms.get(agent.name, Room(agent.window))


def _silent(event: Event) -> None:
    """For callers that only want the result."""


@dataclass(frozen=True)
class Session:
    store: Store
    crew: Crew
    settings: Settings
    clock: Clock = SYSTEM_CLOCK
    tell: Callable[[Event], None] = _silent
    unattended: bool = True  # no person is there to answer a question

    def today(self) -> str:
        return self.clock.now().date().isoformat()

    def commit(
        self,
        snapshot: Snapshot,
        name: str,
        text: str | None,
        record: Mapping[str, object],
        *,
        decided_on: Iterable[str] = (),
        replies: Mapping[str, str] | None = None,
        before: str | None = None,
    ) -> None:
        """One write (None removes), refused when the target or a file it was decided on has changed meanwhile.

        `before`: the text that stood in the file last, as far as the trace knows, where that is not what stands there.
        Raises StateMoved, or HarnessError where the disk refuses.
        """
        base = Base.of(snapshot, name, *decided_on, replies=replies)
        if name == "summary.md" and text is not None:
            old = snapshot.text(name) if before is None else before
            record = {**record, **version_record(old, text, str(newest(self.store.folder / TRACE, VERSION)))}
        self.store.commit(name, text, base, self.stamped(record))

    def stamped(self, record: Mapping[str, object]) -> dict[str, object]:
        """A trace record with its time."""
        return {"at": self.clock.now().isoformat(timespec="seconds"), **record}


@dataclass(frozen=True)
class Step:
    """What one pass did. `final`: "" while the loop goes on, else why it ends (design.md, section 4)."""

    action: str
    line: str  # for the screen
    tokens: int = 0
    final: str = ""
    notes: tuple[str, ...] = ()
    read: tuple[int, int] | None = None  # characters of a raw read in parts so far, and in all
