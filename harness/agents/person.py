"""A person takes a role: told what is due and where the prompt is, then their saved file is the reply."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from harness.errors import AgentFailed, WaitingForPerson
from harness.formats.text import decode
from harness.model import Packet, Reply, Role
from harness.store import Store
from harness.store.reading import read_bytes
from harness.watch import digests, wait_for_change

PROMPT = "prompt.md"
# The file a person edits for each role; a Planner may write answer.md in its place.
TARGET = {Role.PLANNER: "next_query.txt", Role.SYNTHESIZER: "summary.md", Role.CHECKER: "verdict.json"}


class PersonAgent:
    """`attended`: a person watches this terminal. `editor`: a command that opens the file to edit, "" for none."""

    name = "person"
    window: int | None = None

    def __init__(self, store: Store, *, attended: bool, say: Callable[[str], None], editor: str = "") -> None:
        self.store = store
        self.attended = attended
        self.say = say
        self.editor = editor

    def take(self, packet: Packet) -> Reply:
        """Waits for any save of a permitted file. Raises WaitingForPerson where nobody watches."""
        prompt = self.store.put_helper(PROMPT, packet.prompt)
        target = self._folder(packet) / TARGET[packet.role]
        if not self.attended:
            hint = "harness next shows the prompt, harness take takes your reply; or edit the file, then harness run"
            raise WaitingForPerson(f"you are the {packet.role} of round {packet.round}", str(target), hint)
        folder, names = self._folder(packet), packet.writes
        before = digests(folder, names)  # ahead of the message: a save that follows it at once counts
        for defect in packet.defects:
            self.say(f"  not yet: {defect.what}" + (f": {defect.value}" if defect.value else ""))
        self.say(f"Your turn as {packet.role}. The prompt: {prompt}\nWrite {target} and save it; it is taken at once.")
        if self.editor:
            open_editor(self.editor, target)
        changed = wait_for_change(folder, before, lambda: bool(self.store.get_helper("stop")))
        if not changed:
            raise AgentFailed("stopped while it was your turn", str(target), "harness run")
        return Reply("", files=_read(folder, changed))

    def _folder(self, packet: Packet) -> Path:
        """The verdict is no file of the case: it lives among the helpers."""
        return self.store.helpers if packet.role is Role.CHECKER else self.store.folder


def open_editor(command: str, path: Path) -> None:
    """Raises AgentFailed when the editor cannot be started."""
    try:
        subprocess.run([*shlex.split(command, posix=os.name != "nt"), str(path)], check=False)
    except OSError as error:
        raise AgentFailed("the editor cannot be started", f"{command} ({error.strerror})", "set EDITOR") from None


def _read(folder: Path, names: tuple[str, ...]) -> Mapping[str, str]:
    texts = {name: read_bytes(folder / name) for name in names}
    return {name: decode(data).text for name, data in texts.items() if data is not None}
