"""What a person is shown before they trust a project, and which settings count."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

from harness.config import Resolved, review
from harness.errors import HarnessError
from harness.options import Rung
from harness.trust import trust, untrust


def give_trust(file: Path, *, agreed: Callable[[str], bool]) -> str:
    """Raises HarnessError when the person does not agree."""
    seen = review(file)
    if not seen.risks:
        return f"{file} sets nothing that needs trust"
    if not agreed(f"{file} sets:\n  " + "\n  ".join(seen.risks)):
        raise HarnessError("not trusted", str(file), "nothing was changed")
    trust(file, environ=os.environ, content=seen.content)
    return f"trusted: {file}, as it is now; a change asks again"


def take_back(file: Path) -> str:
    return f"no longer trusted: {file}" if untrust(file, environ=os.environ) else f"{file} was not trusted"


class Told(NamedTuple):
    """One line of `harness config`."""

    key: str
    value: str
    origin: str


def settings_told(resolved: Resolved) -> tuple[Told, ...]:
    settings = resolved.settings
    keys = [field.name for field in fields(settings) if field.name != "agents"]
    values = {key: getattr(settings, key) for key in keys}
    values |= {f"agents.{name}": " ".join(spec.command) or spec.api for name, spec in settings.agents.items()}
    return tuple(Told(key, _shown(value), resolved.origins.get(key, "default")) for key, value in values.items())


def render_settings(told: tuple[Told, ...], warnings: tuple[str, ...]) -> str:
    lines = [f"{one.key:<20} {one.value:<40} {one.origin}" for one in told]
    return "\n".join([*lines, *(f"note: {warning}" for warning in warnings)])


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(_shown(one) for one in value)
    if isinstance(value, Rung):
        options = " ".join(f"{key}={one}" for key, one in value.options.items())
        return f"{value.provider} {options}".strip()
    return str(value)
