"""How much room a call has: the window, what is reserved in it, and texts made to fit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from harness.errors import SnowBallError
from harness.snowball.messages import Seen, see

Count = Callable[[str], int]

OUTPUT_SHARE = 5  # a fifth of the window for the reply, and another for the notes (docs of SnowBall: 20 %)
PER_MESSAGE = 4  # tokens of a role's marks: 3 with OpenAI's models, 4 with Anthropic's
PER_IMAGE = 1600  # tokens of an image of a megapixel with Anthropic; OpenAI takes 765 to 1,100
# Two texts put together may have a few tokens more than each for itself: a hundredth, and at least these.
SLACK_SHARE, SLACK = 100, 8


class Room(NamedTuple):
    """Tokens: `total` for everything that goes into a call, `notes` for the notes among it."""

    window: int
    total: int
    notes: int

    @property
    def slack(self) -> int:
        return self.total // SLACK_SHARE + SLACK


def room_for(window: int, output: int | None) -> Room:
    """`output` is reserved for the reply: a fifth of the window unless it is named. Raises SnowBallError."""
    reserved = window // OUTPUT_SHARE if output is None else output
    if not 0 <= reserved < window:
        told = f"window={window}, output={reserved}"
        raise SnowBallError("the room for the reply leaves none for the request", told, "name a smaller output=")
    return Room(window, window - reserved, min(window // OUTPUT_SHARE, reserved or window))


def measure(messages: Iterable[Any], count: Count) -> int:
    """Tokens of whole messages of any kind, roles and images included."""
    return sum(size(see(message), count) for message in messages)


def size(message: Seen, count: Count) -> int:
    return count(message.text) + PER_MESSAGE + PER_IMAGE * len(message.kept)


def size_of_arguments(arguments: Any, count: Count) -> int:
    """Tokens of what goes along with the messages: tools, a system prompt, a reply's form."""
    if not arguments:
        return 0
    told = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, default=str)
    return count(told) + PER_MESSAGE


def fit(text: str, budget: int, count: Count, *, from_end: bool = False) -> str:
    """The longest beginning (or end) of a text that has at most `budget` tokens, at a line's end where there is one."""
    low, high = 0, max(1, budget)
    while count(text[-high:] if from_end else text[:high]) <= budget:  # a long text is not counted whole
        if high >= len(text):
            return text
        low, high = high, 2 * high
    high = min(high, len(text))
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[-middle:] if from_end else text[:middle]) <= budget:
            low = middle
        else:
            high = middle - 1
    if from_end:
        piece = text[len(text) - low :]
        line = piece.find("\n") + 1
        return piece[line:] if 0 < line < len(piece) else piece
    piece = text[:low]
    line = piece.rfind("\n")
    return piece[:line] if line > 0 else piece


def excerpt(text: str, budget: int, count: Count) -> str:
    """The head and the tail lines of a long text, where people put what they ask."""
    if (head := fit(text, budget, count)) == text:
        return head
    half = max(0, budget // 2 - PER_MESSAGE)
    return f"{fit(text, half, count).strip()}\n[…]\n{fit(text, half, count, from_end=True).strip()}"
