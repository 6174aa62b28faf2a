"""What git runs where two branches both changed a summary.md: it marks the conflict and names what settles it."""

from __future__ import annotations

import shlex
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from harness import git
from harness.formats.text import decode
from harness.store.reading import read_bytes


class Marked(NamedTuple):
    """The file with both sides in it, and what to tell the person."""

    text: str
    told: str


def marked(base: Path, ours: Path, theirs: Path, name: str) -> Marked:
    """Lines that both changed stand between git's marks; where none did, the whole of both sides does.

    One file is all that git shows: numbers of rounds and citations of the two sides may mean different raws, so lines
    that merge by themselves are no summary yet. `name`: its path from the top of the repository.
    """
    text, conflicts = git.merged(ours, base, theirs)
    if not conflicts:
        left, right = (decode(read_bytes(path) or b"").text.rstrip("\n") for path in (ours, theirs))
        text = f"<<<<<<< ours\n{left}\n=======\n{right}\n>>>>>>> theirs\n"
    folder = PurePosixPath(name).parent
    told = f"{name}: both sides went on with this research. To join them, the raws too: "
    return Marked(text, f"{told}harness -C {shlex.quote(str(folder))} merge")
