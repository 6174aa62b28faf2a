"""The prompts of a fold, from `templates/prompts/LANGUAGE/snowball_*.md`, and what counts as a reply without news."""

from __future__ import annotations

import re
from functools import lru_cache

from harness.assets import template
from harness.patterns import lazy
from harness.render import as_data, fill

LANGUAGES = ("en", "ru")  # as in `prompts`, which would take 60 ms of the 90 that an import would last
# A reply that begins so and has one short line leaves the notes as they are: written over them it would lose them.
NO_NEWS = lazy(
    r"\W*(?:nothing (?:new|to add|relevant|of use)|unchanged\W*$|none\W*$|n/?a\W*$|no (?:notes|\w+) (?:yet|found)\W*$"
    r"|no (?:further |new |relevant |useful )*(?:information|facts?|data|content|notes|news)\b"
    r"|no (?:further )?(?:changes?|updates?|additions?)(?:(?: (?:is|are))? (?:needed|required|necessary)|\W*$)"
    r"|ничего (?:нового|не добав)|без изменений\W*$|заметок пока нет|нечего добавить"
    r"|изменени[йя] (?:нет|не (?:нужн|требу))|нет (?:новых|полезных|нужных) (?:фактов|данных|сведений))",
    re.IGNORECASE,
)
NO_NEWS_LENGTH = 200  # characters; a longer reply that begins so goes on to say something
THOUGHTS = lazy(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)


@lru_cache(maxsize=32)
def _prompt(language: str, name: str) -> str:
    return template(f"prompts/{language if language in LANGUAGES else LANGUAGES[0]}/snowball_{name}.md")


def prompt(language: str, name: str, **values: str | int) -> str:
    """One filled prompt; material can neither close its frame nor be expanded. Raises HarnessError for names that
    do not fit."""
    shown = {key: as_data(value) if isinstance(value, str) else str(value) for key, value in values.items()}
    return fill(_prompt(language, name), shown, f"snowball_{name}.md").rstrip("\n")


def no_notes(language: str) -> str:
    """What stands in place of notes before there are any."""
    return _prompt(language, "empty").strip()


def notes_in(reply: str) -> str:
    """A reply as notes: without the thoughts that some models print before it, and made safe to be shown again."""
    return as_data(THOUGHTS.sub("", reply)).strip()


def says_nothing(reply: str) -> bool:
    """Whether a reply says only that there is nothing to note."""
    return len(reply) <= NO_NEWS_LENGTH and "\n" not in reply.strip() and NO_NEWS.match(reply) is not None
