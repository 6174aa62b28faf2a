"""Reads what is pasted into a terminal: in line mode the system cuts a line at 4,096 bytes, and replies have longer."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import BinaryIO

_END = b"\x04"  # Ctrl-D


def read_pasted(stdin: BinaryIO, ask: Callable[[], None]) -> bytes:
    """All that comes in up to Ctrl-D, after `ask` has asked for it. The mode is put back, also on Ctrl-C."""
    if sys.platform == "win32":
        ask()
        return stdin.read()
    import termios

    descriptor = stdin.fileno()
    before = termios.tcgetattr(descriptor)
    mode = termios.tcgetattr(descriptor)
    mode[3] &= ~termios.ICANON
    mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
    read = b""
    try:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, mode)
        ask()  # not before: what is pasted at once would still be cut
        while piece := os.read(descriptor, 65_536):
            read += piece
            if _END in piece:
                break
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
    return read.split(_END, 1)[0]
