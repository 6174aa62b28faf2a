"""What a person is shown before they trust a project, and which settings count."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from harness.config import Resolved, Review, review
from harness.environment import mask, secrets_of
from harness.errors import HarnessError
from harness.formats.text import decode
from harness.options import AgentSpec, Rung, Settings
from harness.trust import trust, untrust


def give_trust(file: Path, *, agreed: Callable[[str], bool]) -> str:
    """Raises HarnessError when the person does not agree."""
    seen = review(file)
    if not seen.risks:
        return f"{file} sets nothing that needs trust"
    if not agreed(_shown_whole(seen)):
        raise HarnessError("not trusted", str(file), "nothing was changed")
    trust(file, environ=os.environ, content=seen.content)
    return f"trusted: {file}, as it is now; a change asks again"


def _shown_whole(seen: Review) -> str:
    """What needs trust, and the file itself: a name does not tell which program it starts."""
    text = mask(decode(seen.content).text.rstrip("\n"), secrets_of(os.environ))
    return f"{seen.file} sets {', '.join(seen.risks)}:\n\n  " + text.replace("\n", "\n  ") + "\n"


def take_back(file: Path) -> str:
    return f"no longer trusted: {file}" if untrust(file, environ=os.environ) else f"{file} was not trusted"


class Told(NamedTuple):
    """One line of `harness config`."""

    key: str
    value: str
    origin: str


def settings_told(resolved: Resolved) -> tuple[Told, ...]:
    """Every setting as text; keys and passwords are masked."""
    settings = resolved.settings
    keys = [name for name in Settings._fields if name != "agents"]
    values = {key: getattr(settings, key) for key in keys}
    values |= {f"agents.{name}": _agent_shown(spec) for name, spec in settings.agents.items()}
    secrets = secrets_of({**os.environ, **{k: v for spec in settings.agents.values() for k, v in spec.env.items()}})
    return tuple(
        Told(key, mask(_shown(value), secrets), resolved.origins.get(key, "default")) for key, value in values.items()
    )


def render_settings(told: tuple[Told, ...], warnings: tuple[str, ...]) -> str:
    lines = [f"{one.key:<20} {one.value:<40} {one.origin}" for one in told]
    return "\n".join([*lines, *(f"note: {warning}" for warning in warnings)])


def _agent_shown(spec: AgentSpec) -> str:
    return shlex.join(spec.command) if spec.command else f"{spec.api} {spec.model}"


def _shown(value: object) -> str:
    if isinstance(value, Rung):
        options = " ".join(f"{key}={one}" for key, one in value.options.items())
        return f"{value.provider} {options}".strip()
    if isinstance(value, tuple):
        return ", ".join(_shown(one) for one in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)
