"""The line that a prompt handed to a person carries, so that its reply is recognised, and an old one too."""

from __future__ import annotations

import re

from harness.model import Packet
from harness.patterns import lazy

_TOKEN = 6  # characters of the packet's token: two turns of one case hardly ever share them
# Chat windows wrap it in quotes, code or emphasis, or make a heading of it.
_MARK = lazy(
    r"^[\W_]*#+[ \t]*(planner|synthesizer|checker)[ \t]+([0-9]{1,9})[ \t]+([0-9a-f]{6})[\W_]*$\n?",
    re.MULTILINE | re.IGNORECASE,
)


def mark_of(packet: Packet) -> str:
    """`#planner 3 a1b2c3`: role, round, and what the files were."""
    return f"#{packet.role} {packet.round} {packet.token[:_TOKEN]}"


def taken_off(text: str) -> tuple[str, str]:
    """The mark of a reply, "" if it has none, and the reply without it."""
    found = _MARK.search(text)
    if found is None:
        return "", text
    mark = f"#{found[1].lower()} {found[2]} {found[3].lower()}"
    return mark, f"{text[: found.start()]}{text[found.end() :]}"
