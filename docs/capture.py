"""Types the shell lines of by-hand.md into a real tmux session and writes down what the terminal shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
DOSSIER = HERE.parent / "templates" / "demo" / "documents"
SESSION = HERE / "by-hand-session.txt"
SHOWN_AS = "/home/you/peaks"  # in the place of the temporary folder
WIDTH, HEIGHT, LINES_KEPT = 132, 50, 10_000
PROMPTS = ("$", ">")  # of the shell, and inside a text that it reads
PATIENCE = 60.0  # seconds for one command


def lines_typed() -> list[str]:
    text = (HERE / "by-hand.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


class Terminal:
    """A shell in a tmux server of its own."""

    def __init__(self, folder: Path) -> None:
        self._tmux = ["tmux", "-u", "-L", f"harness-capture-{os.getpid()}", "-f", os.devnull]
        shell = ["env", "-i", *(f"{name}={value}" for name, value in surroundings(folder).items()), "sh"]
        size = ["-x", str(WIDTH), "-y", str(HEIGHT), "-c", str(folder)]
        keep = ["set-option", "-g", "history-limit", str(LINES_KEPT), ";"]
        self._call("start-server", ";", *keep, "new-session", "-d", *size, *shell)
        self._wait_behind(-1)

    def type(self, line: str) -> None:
        """One line and Enter; returns when the shell asks for the next."""
        before = self._row()
        self._call("send-keys", "-l", "--", line)
        self._call("send-keys", "Enter")
        self._wait_behind(before)

    def text(self) -> str:
        """All that was shown, lines that the terminal wrapped in one piece."""
        return self._call("capture-pane", "-p", "-J", "-S", "-")

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)

    def _wait_behind(self, row: int) -> None:
        deadline = time.monotonic() + PATIENCE
        while self._row() <= row or not self.text().rstrip().endswith(tuple(f"\n{sign}" for sign in PROMPTS)):
            if row < 0 and self.text().strip() in PROMPTS:
                return
            if time.monotonic() > deadline:
                raise SystemExit(f"the terminal does not go on; it shows:\n{self.text()}")
            time.sleep(0.02)

    def _row(self) -> int:
        """The cursor's, counted from the first line that was shown."""
        above, row = self._call("display-message", "-p", "#{history_size} #{cursor_y}").split()
        return int(above) + int(row)

    def _call(self, *words: str) -> str:
        done = subprocess.run([*self._tmux, *words], check=True, capture_output=True, text=True, encoding="utf-8")
        return done.stdout


def surroundings(folder: Path) -> dict[str, str]:
    """Nothing of this machine's settings, and the harness of this Python."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {f"HARNESS_{name}_DIR": f"{folder}/.own/{name.lower()}" for name in ("CONFIG", "DATA", "CACHE")}
    signs = {"PS1": "$ ", "PS2": "> "}
    return {"PATH": path, "HOME": str(folder), "LANG": "C.UTF-8", "TERM": "tmux-256color", **signs, **own}


def captured() -> str:
    """What the terminal shows, with a folder's name of nobody in the place of the temporary one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve() / "peaks"
        shutil.copytree(DOSSIER, folder / "documents")
        terminal = Terminal(folder)
        try:
            for line in lines_typed():
                terminal.type(line)
            shown = terminal.text()
        finally:
            terminal.close()
    lines = [line.rstrip() for line in shown.replace(str(folder), SHOWN_AS).rstrip().removesuffix("$").splitlines()]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Writes the file named on the command line, or the one beside this script."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else SESSION
    target.write_text(captured(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
