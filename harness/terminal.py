"""Reads what is pasted into a terminal (in line mode the system cuts a line at 4,096 bytes), and single keys."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

_END = b"\x04"  # Ctrl-D
_KEY_BYTES = 64  # of one arrow key, or of a paste; neither is a key here
_RUSSIAN = str.maketrans("йцукенгшщзфывапролдячсмить", "qwertyuiopasdfghjklzxcvbnm")  # the same keys of the keyboard


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


@contextmanager
def single_keys(descriptor: int) -> Iterator[None]:
    """Keys come at once and are not shown. The mode is put back however the block ends; Ctrl-C still interrupts."""
    if sys.platform == "win32":
        yield
        return
    import termios

    before = termios.tcgetattr(descriptor)
    mode = termios.tcgetattr(descriptor)
    mode[3] &= ~(termios.ICANON | termios.ECHO)
    mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
    try:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, mode)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def key_within(descriptor: int, seconds: float) -> str:
    """The key that is pressed in this time, as on a Latin keyboard; "" if none is. A closed terminal is `q`."""
    if not select.select([descriptor], [], [], seconds)[0]:
        return ""
    try:
        data = os.read(descriptor, _KEY_BYTES)
    except OSError:
        return "q"
    typed = data.decode("utf-8", errors="ignore")
    return "q" if not data else typed.lower().translate(_RUSSIAN) if len(typed) == 1 else ""
