"""The clipboard of whoever sits at the terminal: the system's own, or over ssh the terminal's (OSC 52)."""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Mapping

from harness.errors import HarnessError

OSC_52_LIMIT = 74_994  # bytes in base64 that terminals take at the least; they drop a longer text without a word


def copy(text: str) -> str:
    """Puts the text on the clipboard and says how, for people. Raises HarnessError where neither way is there."""
    if _is_remote(os.environ) or not _copied(text):
        _to_terminal(text, os.environ)
        return "copied through the terminal (if nothing arrives, it does not take OSC 52: use --out FILE)"
    return "copied"


def paste() -> str:
    """The text on the clipboard. Raises HarnessError where it cannot be read or is empty."""
    import pyperclip

    hint = "save the reply in a file: harness take FILE; or paste it: harness take -"
    if _is_remote(os.environ):
        raise HarnessError("the clipboard of your own machine cannot be read over ssh", "", hint)
    try:
        text = str(pyperclip.paste())
    except pyperclip.PyperclipException:
        raise HarnessError("there is no clipboard program here", "xclip, xsel or wl-clipboard", hint) from None
    if not text.strip():
        raise HarnessError("the clipboard is empty", "", "copy the whole reply, then harness take --paste")
    return text


def _is_remote(environ: Mapping[str, str]) -> bool:
    return bool(environ.get("SSH_TTY") or environ.get("SSH_CONNECTION"))


def _copied(text: str) -> bool:
    import pyperclip

    try:
        pyperclip.copy(text)
    except pyperclip.PyperclipException:
        return False
    return True


def _to_terminal(text: str, environ: Mapping[str, str]) -> None:
    hint = "harness next --out FILE writes it to a file"
    if not sys.stderr.isatty():
        raise HarnessError("there is no clipboard here", "no clipboard program, and no terminal", hint)
    sequence = osc_52(text, tmux=bool(environ.get("TMUX")))
    if len(sequence) > OSC_52_LIMIT:
        raise HarnessError("this is too long for the terminal's clipboard", f"{len(text):,} characters", hint)
    sys.stderr.write(sequence)
    sys.stderr.flush()


def osc_52(text: str, *, tmux: bool) -> str:
    """The sequence by which a terminal is told to copy; tmux hands on only what is wrapped for it."""
    sequence = f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07"
    return f"\x1bPtmux;{sequence.replace(chr(27), chr(27) * 2)}\x1b\\" if tmux else sequence
