"""The lines that the main agent and the person are told, from `templates/inside/lines.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import yaml

from harness.assets import template
from harness.formats.text import one_line, shortened
from harness.render import fill

FILE = "inside/lines.yaml"
SHOWN = 600  # characters of a value: a person's path, a question, a reason


def line(name: str, **values: object) -> str:
    """One line; raises HarnessError where the template and the values do not fit."""
    told = {key: shortened(one_line(str(value)), SHOWN) for key, value in values.items()}
    return fill(_lines()[name], told, f"{FILE}: {name}")


@lru_cache(maxsize=1)
def _lines() -> Mapping[str, str]:
    lines: Mapping[str, str] = yaml.load(template(FILE), Loader=yaml.BaseLoader)
    return lines
