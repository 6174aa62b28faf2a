"""Loads the prompts of one language from `templates/`."""

from __future__ import annotations

from functools import lru_cache

import yaml

from harness.assets import template
from harness.model import Role
from harness.packet import Prompts
from harness.render import parse_template

# Labels exist in more languages than prompts: the others are asked in English and answer in theirs.
LANGUAGES = ("en", "ru")
PARTS = ("turn_ask", "turn_must_answer", "turn_must_decide", "repair", "again", "marked")


@lru_cache(maxsize=len(LANGUAGES))
def load_prompts(language: str) -> Prompts:
    """Raises HarnessError when a template is missing or broken."""
    folder = f"prompts/{language if language in LANGUAGES else LANGUAGES[0]}"
    roles = {role: parse_template(template(f"{folder}/{role}.md"), f"{folder}/{role}.md") for role in Role}
    parts = {name: template(f"{folder}/{name}.md") for name in PARTS}
    phrases = yaml.load(template(f"{folder}/phrases.yaml"), Loader=yaml.BaseLoader)
    return Prompts(roles, parts, phrases)
