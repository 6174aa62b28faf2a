"""Shows the passes while they happen: a live checklist of cells on a terminal, plain lines on a pipe."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from harness.agents.extractive.answer import latest
from harness.facts import parse_fact
from harness.formats.labels import counted
from harness.formats.summary import lines_of
from harness.model import Case, Grid, SectionKind
from harness.plan import rounds_used
from harness.ports import Clock
from harness.session import SYSTEM_CLOCK, Event, Session, Step

if TYPE_CHECKING:
    from rich.console import RenderableType

LABELS = {
    "ask": "plan",
    "search": "search",
    "blocked": "search",
    "fold": "read",
    "part": "read",
    "check": "check",
    "answer": "answer",
    "adopt": "adopt",
    "tidy": "tidy",
    "failed": "failed",
    "pause": "pause",
    "stop": "stop",
}
ROWS_SHOWN = 30
VALUE_SHOWN = 28  # characters of a cell's value
LINES_KEPT = 8
BAR = 30  # characters


class Progress(Protocol):
    def event(self, event: Event) -> None: ...

    def step(self, step: Step) -> None: ...


class Pace:
    """How fast a raw is read that comes in parts, and how long the rest of it will take."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.since = clock.monotonic()
        self.begun: int | None = None  # characters that were read when the first part of this run was done

    def left(self, step: Step) -> str:
        """E.g. "48 %, about 3 min left"; "" for a step that read no part."""
        if step.read is None:
            self.since, self.begun = self.clock.monotonic(), None
            return ""
        done, total = step.read
        share = f"{100 * done // total} %"
        if self.begun is None:
            self.begun, self.since = done, self.clock.monotonic()
            return share
        pace = (done - self.begun) / max(self.clock.monotonic() - self.since, 0.001)
        return f"{share}, about {told_time((total - done) / pace)} left" if done < total and pace else share


def told_time(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60:02} min"
    return f"{minutes} min" if minutes > 1 else f"{max(1, round(seconds))} s"


class Plain:
    """One line a pass on a pipe or a file."""

    def __init__(self, stream: TextIO, clock: Clock = SYSTEM_CLOCK) -> None:
        self.stream = stream
        self.pace = Pace(clock)

    def event(self, event: Event) -> None:
        if event.kind in ("notice", "failed", "defect"):
            self._print(f"        {event.text}")

    def step(self, step: Step) -> None:
        left = self.pace.left(step)
        if step.action != "done":
            self._print(f"{LABELS.get(step.action, step.action):<7} {step.line}{f', {left}' if left else ''}")
        for note in step.notes:
            self._print(f"        note: {note}")

    def _print(self, line: str) -> None:
        print(line, file=self.stream, flush=True)


class Live:
    """A checklist that ticks off, with the last passes under it."""

    def __init__(self, session: Session) -> None:
        from rich.console import Console
        from rich.live import Live as RichLive

        self.session = session
        self.started = session.clock.monotonic()
        self.tokens = 0
        self.now = "reading the files"
        self.lines: list[str] = []
        self.case = session.store.snapshot().case
        self.guard = threading.Lock()
        self.pace = Pace(session.clock)
        self.part = ""
        self.console = Console(stderr=True)
        self.live = RichLive(console=self.console, get_renderable=self.render, refresh_per_second=8, transient=False)

    def event(self, event: Event) -> None:
        with self.guard:
            if event.kind == "asked":
                self.now = f"waiting for {event.text}"
            elif event.kind == "searching":
                self.now = f"searching: {event.text}"
            elif event.kind in ("notice", "failed", "defect"):
                self._keep(f"[yellow]{_plain(event.text)}[/]")

    def step(self, step: Step) -> None:
        case = self.session.store.snapshot().case
        with self.guard:
            self.case, self.tokens, self.now = case, self.tokens + step.tokens, ""
            left = self.pace.left(step)
            self.part = f"[cyan]{_bar(*step.read)}[/] {left}" if step.read else ""
            if step.action != "done":
                self._keep(f"[bold]{LABELS.get(step.action, step.action):<7}[/] {_plain(step.line)}")
            for note in step.notes:
                self._keep(f"[dim]note: {_plain(note)}[/]")

    def render(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        with self.guard:
            seconds = int(self.session.clock.monotonic() - self.started)
            used = f"{rounds_used(self.case)} of {self.session.settings.rounds} searches"
            tokens = f", about {self.tokens:,} tokens" if self.tokens else ""
            foot = Text.from_markup(f"[dim]{used}, {seconds} s{tokens}[/]  {_plain(self.now)}")
            lines = [Text.from_markup(line) for line in (*self.lines, *filter(None, [self.part]))]
            for text in (*lines, foot):  # one line each: what wraps makes the display jump
                text.no_wrap, text.overflow = True, "ellipsis"
            return Group(checklist(self.case), *lines, foot)

    def _keep(self, line: str) -> None:
        self.lines = [*self.lines, line][-LINES_KEPT:]


@contextmanager
def open_progress(session: Session, on_terminal: bool) -> Iterator[Progress]:
    if not on_terminal:
        yield Plain(sys.stderr)
        return
    shown = Live(session)
    with shown.live:
        yield shown


def _bar(done: int, total: int) -> str:
    filled = BAR * done // total
    return "━" * filled + "─" * (BAR - filled)


def checklist(case: Case) -> RenderableType:
    """Entities × fields with what is known; without them, the gaps listed so far."""
    from rich.table import Table
    from rich.text import Text

    grid = case.question.grid if case.question else Grid()
    if not grid:
        facts, gaps = lines_of(case.summary, SectionKind.CONFIRMED), lines_of(case.summary, SectionKind.NOT_FOUND)
        found = [counted(len(facts), "facts", "en")] if facts else []
        lines = [*found, *(f"· {gap}" for gap in gaps[:ROWS_SHOWN])]
        return Text("\n".join(lines), no_wrap=True, overflow="ellipsis")
    known = values(case, grid)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("", *grid.fields):
        table.add_column(title, overflow="ellipsis", no_wrap=True)
    for entity in grid.entities[:ROWS_SHOWN]:
        cells = [known.get((entity, field), "") for field in grid.fields]
        table.add_row(entity, *(f"[green]✓[/] {_plain(value)}" if value else "[dim]·[/]" for value in cells))
    return table


def values(case: Case, grid: Grid) -> dict[tuple[str, str], str]:
    """The value of each filled cell, of its newest period."""
    facts = [parse_fact(line, grid) for line in lines_of(case.summary, SectionKind.CONFIRMED)]
    cited = [fact for fact in facts if fact.field and fact.value and (fact.citations or fact.person)]
    newest = {cell: latest([fact for fact in cited if fact.cell == cell]) for cell in {fact.cell for fact in cited}}
    return {cell: fact.value[:VALUE_SHOWN] for cell, fact in newest.items() if fact}


def _plain(text: Any) -> str:
    from rich.markup import escape

    return escape(str(text))
