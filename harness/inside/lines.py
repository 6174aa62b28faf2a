"""The lines that the main agent and the person are told, from `templates/inside/lines.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import yaml

from harness.assets import template
from harness.inside.event import PREFIX
from harness.render import fill

FILE = "inside/lines.yaml"
PLUGIN = "plugin"  # the carrier whose agents have the plugin's name before theirs
PLUGIN_NAME = "research"


def line(name: str, **values: object) -> str:
    """One line; raises HarnessError where the template and the values do not fit."""
    told = {key: " ".join(str(value).split()) for key, value in values.items()}
    return fill(_lines()[name], told, f"{FILE}: {name}")


def type_of(role: str, carrier: str) -> str:
    """How Claude Code knows the role's sub-agent."""
    return f"{PLUGIN_NAME}:{PREFIX}{role}" if carrier == PLUGIN else f"{PREFIX}{role}"


@lru_cache(maxsize=1)
def _lines() -> Mapping[str, str]:
    lines: Mapping[str, str] = yaml.load(template(FILE), Loader=yaml.BaseLoader)
    return lines
