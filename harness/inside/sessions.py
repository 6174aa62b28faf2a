"""The sessions of Claude Code in which a person typed our command: one small file each, in the user's data folder.

A research is started by people and not by a model, and goes on in the session that has it: both are remembered outside
the project, which may come from a stranger and may be worked on in several sessions.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from pathlib import Path

from harness.patterns import lazy
from harness.scaffold.disk import write
from harness.trust import trust_file

KEPT = 30 * 86_400.0  # seconds
NAME = lazy(r"[\w-]{1,80}")


class Sessions:
    """`folder`: as hook.py found it; None: where the data folder is now."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or trust_file(os.environ).parent / "claude" / "sessions"

    def began(self, session: str) -> Path | None:
        """The case that a person began or went on with last in this session."""
        try:
            value = json.loads((self.folder / session).read_text(encoding="utf-8")) if NAME.fullmatch(session) else None
            return Path(value["case"]) if value else None
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None

    def begin(self, session: str, case: Path) -> None:
        """From now on the session works on this case. Raises OSError."""
        if not NAME.fullmatch(session):
            return
        self._make_folder()
        write(self.folder / session, json.dumps({"case": str(case)}).encode(), 0o600)

    def first(self, session: str, message: str) -> bool:
        """Whether nobody has acted on this message yet: two installations of the hooks hear the same words."""
        name = re.sub(r"[^\w-]", "", f"{session}.{message}".replace(".", "--"))[:160]
        try:
            self._make_folder()
            self._sweep()
            os.close(os.open(self.folder / f"{name}.heard", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            return False
        except OSError:  # a full disk: better twice than never
            return True
        return True

    def _make_folder(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def _sweep(self) -> None:
        """What is older than a month is nobody's any more."""
        oldest = time.time() - KEPT
        for path in self.folder.iterdir():
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()
