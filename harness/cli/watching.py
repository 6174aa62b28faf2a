"""`harness watch`: shows what comes into a case while people and agents work on it, and takes a step at a key."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import click

from harness import clipboard
from harness.agents.person import open_editor
from harness.cli.place import call_of, case_of, pasteable, place_of, plain, say, searching
from harness.cli.screen import Screen
from harness.cli.sessions import remember_folder, session_of, with_agent
from harness.cli.take_part import tell_notes
from harness.errors import HarnessError
from harness.formats.text import decode
from harness.handover import hand_out, role_is_due, search_due, take_in, told_of
from harness.loop import step
from harness.options import Settings
from harness.session import Session, Step
from harness.steering import steer
from harness.store import Store
from harness.store.reading import read_bytes
from harness.store.trace import TRACE
from harness.terminal import key_within, single_keys
from harness.watch import LOOK_ANYWAY, Contents, wakes
from harness.watching import News, View, held, lines, moved, news, view_of, writers

REPLY = "reply.txt"
KEY_SECONDS = 0.2  # a save is seen so soon while keys are waited for
EDITED = {"NoQuestion": "question.md", "Ask": "next_query.txt", "Search": "next_query.txt", "TakeAnswer": "answer.md"}


@click.command("watch")
@click.option("--agent", multiple=True, help="Who takes a step at the key g; several: the next when one fails.")
@click.option("--in", "folder", metavar="DIR", help="Search the documents of this folder at the key s.")
@click.option("--poll", is_flag=True, help="Look each second: for a disk that sends no events.")
@click.option("--json", "as_json", is_flag=True, help="For programs: one object a line.")
@click.pass_context
def watch_command(context: click.Context, agent: tuple[str, ...], folder: str | None, poll: bool, as_json: bool) -> int:
    """Show what comes into the case, what is wrong with it and whose turn it is; on a terminal keys take a step."""
    watch = Watch(context, searching(folder), with_agent({"agent": agent}))
    remember_folder(watch.store, folder)
    with wakes(watch.store.folder, poll=poll) as woken:
        if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()) or sys.platform == "win32":
            return on_pipe(watch, woken, as_json=as_json)
        return on_terminal(watch, Screen(KEYS_TOLD, call_of(context)), woken)


class Watch:
    """Looks at the case, and remembers what was seen last: each change is told once."""

    def __init__(self, context: click.Context, flags: Mapping[str, object], agents: Mapping[str, object]) -> None:
        """Raises HarnessError where there is no case."""
        self.context, self.flags, self.agents = context, flags, agents
        self.store = Store(case_of(context))
        self.contents = Contents(self.store.folder)
        if not self.store.folder.is_dir():
            self.store.snapshot()  # raises, with what to do
        self.before: View | None = None

    def look(self, *, own: bool = False) -> News | None:
        """None where nothing is new. The content decides: neither our reads nor a touched file are news."""
        if self.before is not None and self.contents.now() == self.before.files:
            return None
        files = self.contents.settled()
        after = view_of(self.store, _settings(self.context), files)
        wrote = writers(self.store, moved(self.before, after)) if self.before else {}
        said = news(self.before, after, wrote, own=own)
        self.before = held(self.before, after)
        return said

    def session(self, agents: Mapping[str, object] | None = None) -> Session:
        """Opened for each step: settings may have changed. Nobody is waited for within a step."""
        return replace(session_of(self.context, {**self.flags, **(agents or {})}, unattended=True), unattended=False)

    def told(self, said: News) -> list[str]:
        return [pasteable(line, call_of(self.context)) for line in lines(said)]


def _settings(context: click.Context) -> Settings:
    """As they count now. While a file of the case cannot be read, nothing that they change is shown."""
    try:
        return place_of(context, {}, looking=True).resolved.settings
    except HarnessError:
        return Settings()


def on_pipe(watch: Watch, woken: threading.Event, *, as_json: bool) -> int:
    """Lines until the answer stands."""
    while True:
        if said := watch.look():
            if as_json:
                click.echo(json.dumps(plain(said), ensure_ascii=False))
            elif told := watch.told(said):
                click.echo("\n".join(told))
            sys.stdout.flush()
            if said.due == "Done":
                return 0
        woken.wait(LOOK_ANYWAY)
        woken.clear()


def on_terminal(watch: Watch, screen: Screen, woken: threading.Event) -> int:
    """Until q is pressed. A step that fails is shown, and the watch goes on."""
    while (key := _key(watch, screen, woken)) != "q":
        if key in KEYS:
            say(f"{key}: {KEYS[key].told}")
            _take(watch, KEYS[key].act)
            _show(watch, screen, own=True)
    return 0


def _key(watch: Watch, screen: Screen, woken: threading.Event) -> str:
    """The next key; what comes in meanwhile is shown."""
    with single_keys(sys.stdin.fileno()), screen.shown():
        waited = LOOK_ANYWAY
        while True:
            if woken.is_set() or waited >= LOOK_ANYWAY:
                woken.clear()
                waited = 0.0
                _show(watch, screen)
            if key := key_within(sys.stdin.fileno(), KEY_SECONDS):
                return key
            waited += KEY_SECONDS


def _show(watch: Watch, screen: Screen, *, own: bool = False) -> None:
    if said := watch.look(own=own):
        screen.add(watch.told(said), watch.before)


def _take(watch: Watch, act: Callable[[Watch], None]) -> None:
    """Outside the screen, as a command of its own would."""
    try:
        act(watch)
    except (HarnessError, OSError) as error:
        say(f"harness: {pasteable(str(error), call_of(watch.context))}")


# Keys --------------------------------------------------------------------------------------------


def accept(watch: Watch) -> None:
    """What is due without a role; a role's step with the reply that a person has saved."""
    session = watch.session()
    if not role_is_due(session):
        _tell(step(session))
        return
    reply, trace = watch.store.folder / REPLY, watch.store.folder / TRACE
    if not reply.is_file() or (trace.exists() and reply.stat().st_mtime_ns <= trace.stat().st_mtime_ns):
        hint = f"save it as {reply} and press a; c copies the prompt, g lets an agent take the step"
        raise HarnessError("a role is due, and no reply to it is saved", "", hint)
    _tell(take_in(session, decode(read_bytes(reply) or b"").text))


def copy_prompt(watch: Watch) -> None:
    packet = hand_out(watch.session())
    say(clipboard.copy(packet.prompt))
    say(f"{told_of(packet, call_of(watch.context), copied=True)}; or save it as {watch.store.folder / REPLY}, then a")


def open_file(watch: Watch) -> None:
    """The file that a person would write for what is due."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise HarnessError(
            "no editor is named", "VISUAL and EDITOR are empty", "set EDITOR, then start the watch again"
        )
    status = watch.before.status if watch.before else None
    open_editor(editor, watch.store.folder / EDITED.get(status.due if status else "", "summary.md"))


def search(watch: Watch) -> None:
    _tell(search_due(watch.session()))


def let_an_agent(watch: Watch) -> None:
    _tell(step(watch.session(watch.agents)))


def direct(watch: Watch) -> None:
    try:
        words = input("Direction (empty: none): ").strip()
    except EOFError:
        words = ""
    say(steer(watch.store, words) if words else "no direction")


def _tell(done: Step) -> None:
    tell_notes(done)
    say(f"{done.action}: {done.line}")


class Key(NamedTuple):
    told: str
    act: Callable[[Watch], None]


KEYS = {
    "a": Key("accept", accept),
    "c": Key("copy the prompt", copy_prompt),
    "e": Key("edit", open_file),
    "s": Key("search", search),
    "g": Key("agent", let_an_agent),
    "t": Key("steer", direct),
}
KEYS_TOLD = " · ".join([*(f"{key} {one.told}" for key, one in KEYS.items()), "q stop"])
