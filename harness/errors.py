"""What can go wrong, as data: what happened, which value, what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(eq=False)
class HarnessError(Exception):
    """A problem the user can fix. `hint` is a command to paste or one plain sentence."""

    what: str
    value: str = ""
    hint: str = ""
    spent: Mapping[str, tuple[int, int]] = field(default_factory=dict, kw_only=True)  # agent -> tokens in and out
    exit_code: ClassVar[int] = 1

    @property
    def tokens(self) -> int:
        """What a pass that failed has cost."""
        return sum(into + out for into, out in self.spent.values())

    def __str__(self) -> str:
        told = f"{self.what}: {self.value}" if self.value else self.what
        return f"{told}\n  {self.hint}" if self.hint else told


class BrokenFile(HarnessError):
    """A case file that cannot be understood; `value` is `path:line`."""


class WrongCall(HarnessError):
    """A command used in a way it does not allow."""

    exit_code = 2


class StateMoved(HarnessError):
    """A reply to an older state of the files, or a file that changed during the pass."""


class NotTrusted(HarnessError):
    """A setting that counts only from the user's own config or a trusted project."""


class AgentUnreachable(HarnessError):
    """The agent could not be asked at all (missing program, no key, refused connection): it never saw the packet."""


class AgentFailed(HarnessError):
    """The agent was asked and gave no usable reply (time-out, non-zero exit, nothing printed)."""


@dataclass(eq=False)
class RepliesDefective(HarnessError):
    """Every reply of a role had defects (`codes`); the replies are kept in `.harness/rejected/`."""

    codes: tuple[str, ...] = ()


class WaitingForPerson(HarnessError):
    """A person is due: to answer a question, to search, to look at the summary."""

    exit_code = 5


class SearchUnavailable(HarnessError):
    """Every rung of the search ladder was blocked; the run can be resumed."""

    exit_code = 6


class SnowBallError(HarnessError):
    """A call of a chat that cannot be folded: its fixed parts alone exceed the window, or no part could be read."""
