"""What goes to an API and what comes back, the same for every SDK."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.agents.chat.deadline import Deadline
from harness.errors import AgentFailed
from harness.formats.text import one_line
from harness.options import AgentSpec

SHOWN = 300  # characters of what the model says about a refusal


@dataclass(frozen=True)
class Call:
    """One request: `key` is "" where the SDK has a store of its own."""

    spec: AgentSpec
    key: str = field(repr=False)
    prompt: str
    deadline: Deadline


@dataclass(frozen=True)
class Completion:
    """One reply. `stop`: "" at its natural end, `length` (cut at the output limit), `window` or `refused`."""

    text: str
    stop: str = ""
    detail: str = ""  # what the model or the server said about a refusal or an odd end
    tokens_in: int | None = None
    tokens_out: int | None = None

    def text_or_raise(self, spec: AgentSpec) -> str:
        """The text of a whole reply. Raises AgentFailed for one that is cut, refused or empty."""
        told = one_line(self.detail)[:SHOWN] or spec.model
        if self.stop == "length":
            hint = f"Raise agents.{spec.name}.output ({spec.output} tokens)."
            raise AgentFailed(f"{spec.name}: the reply was cut at the output limit", spec.model, hint)
        if self.stop == "window":
            hint = f"Set agents.{spec.name}.window to the model's real context window (now {spec.window} tokens)."
            raise AgentFailed(f"{spec.name}: prompt and reply do not fit the model", told, hint)
        if self.stop == "refused":
            hint = f"Name another agent behind {spec.name} in the role's list."
            raise AgentFailed(f"{spec.name}: the model refused", told, hint)
        if not self.text.strip():
            hint = f"Check agents.{spec.name}.model: it must be a chat model; a reasoning model needs a larger output."
            raise AgentFailed(f"{spec.name}: the reply is empty", told, hint)
        return self.text


def whole_number(value: object) -> int | None:
    """A token count as servers report it; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
