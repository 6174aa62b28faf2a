"""The screen of `harness watch`: what came in scrolls up, below it stand the state and the keys."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from harness.cli.place import pasteable
from harness.progress import checklist
from harness.watching import View

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live


class Screen:
    """Drawn only while it is `shown`: a step prints as a command would, and an editor has the terminal for itself."""

    def __init__(self, keys: str, call: str) -> None:
        from rich.console import Console

        self.console = Console()
        self.keys, self.call = keys, call
        self.view: View | None = None
        self.live: Live | None = None

    def add(self, lines: list[str], view: View | None) -> None:
        self.view = view
        for line in lines:
            self.console.print(line, markup=False, highlight=False)
        if self.live:
            self.live.update(self.render(), refresh=True)

    @contextmanager
    def shown(self) -> Iterator[None]:
        from rich.live import Live as RichLive

        with RichLive(self.render(), console=self.console, auto_refresh=False, transient=True) as self.live:
            try:
                yield
            finally:
                self.live = None

    def render(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        foot = [Text(self.keys, style="dim")]
        status = self.view.status if self.view else None
        if status and self.view and self.view.case:
            wrong = len(self.view.wrong) + bool(self.view.broken)
            told = f"round {status.round}, {status.rounds_used} of {status.rounds} searches"
            told += f", {len(status.open_cells)} cells open" if status.open_cells else ""
            told += f", {wrong} wrong (harness check)" if wrong else ""
            head = [
                checklist(self.view.case),
                Text(told, style="dim"),
                Text(f"due: {pasteable(status.next, self.call)}", style="bold"),
            ]
            foot[0].overflow = "fold"
            return Group(*head, *foot)
        return Group(*foot)
