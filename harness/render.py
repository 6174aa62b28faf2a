"""Strict one-pass templates: page text that holds `$question` is never expanded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import Template
from typing import NamedTuple

from harness.errors import HarnessError
from harness.formats.front import front_list, front_value, split_front
from harness.model import Role
from harness.patterns import lazy

# Tags that delimit data in the prompts, and those that agent programs and chat templates give a
# meaning to. In page text they are shown with ‹ in place of <, so that a page cannot close its own frame.
FRAMES = "question|summary|decision|raw_results|draft_answer|reply"
FORGED = lazy(
    rf"<(?=\s*/?\s*(?:{FRAMES}|system[\w-]*|assistant|user|human|think(?:ing)?|tool_\w+|function_\w+|antml\b)\b)|<(?=\|)",
    re.IGNORECASE,
)


class RoleTemplate(NamedTuple):
    """A role's template: what the role reads and may write (its front matter), and the prompt's text."""

    role: Role
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    body: str


def parse_template(text: str, name: str) -> RoleTemplate:
    """Raises HarnessError when the front matter does not say role, reads and writes."""
    front, body = split_front(text)
    role = front_value(front, "role") if front else None
    reads = front_list(front, "reads") if front else None
    writes = front_list(front, "writes") if front else None
    if role not in set(Role) or reads is None or writes is None:
        hint = "its front matter needs role, reads and writes"
        raise HarnessError("this template does not say what its role may do", name, hint)
    return RoleTemplate(Role(role), reads, writes, body)


def fill(text: str, values: Mapping[str, str], name: str) -> str:
    """Replace each `$name` once, in one pass. A missing and an unused name are errors."""
    template = Template(text)
    wanted = set(template.get_identifiers())
    if wanted != set(values):
        missing, unused = sorted(wanted - set(values)), sorted(set(values) - wanted)
        told = f"{name}: missing {', '.join(missing) or 'none'}; unused {', '.join(unused) or 'none'}"
        raise HarnessError("a template and its values do not fit", told, "compare it with the one that is shipped")
    try:
        return template.substitute(values)
    except ValueError as error:
        raise HarnessError("a template has a stray $", f"{name}: {error}", "write $$ for a dollar sign") from None


def as_data(text: str) -> str:
    """Text from outside, made unable to close the frame it stands in or to look like a system's tag."""
    return FORGED.sub("‹", text).strip("\n")
