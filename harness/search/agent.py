"""What an agent with web tools of its own is asked, and what it told: sources by its word alone."""

from __future__ import annotations

from harness.formats.raw import demote, parse_raw
from harness.formats.text import clean
from harness.model import Source
from harness.prompts import load_prompts
from harness.render import as_data, fill

NOTHING = "nothing found"  # what the prompt asks for in that case
DIGEST = "digest"  # origin: only a model says that a page says so


def search_prompt(queries: tuple[str, ...], language: str) -> str:
    """The whole task of a searcher, one text."""
    listed = "\n".join(f"- {query}" for query in queries)
    return fill(load_prompts(language).parts["search"], {"queries": as_data(listed)}, "prompts/search")


def sources_told(reply: str, seen: frozenset[str] | None) -> tuple[Source, ...]:
    """The sources of a reply in the form of a raw: `## k. Title`, `- url:`, `- date:`, text.

    `seen`: the addresses that the agent's tools really showed; any other is dropped, and its text says so.
    """
    text = clean(reply).strip()
    if text.strip(". ").lower() == NOTHING:
        return ()
    sources = parse_raw(_as_raw(text), "reply").sources
    return tuple(_told(source, seen) for source in sources if source.text.strip())


def _as_raw(text: str) -> str:
    """As a raw of ours, so that its headings are read."""
    return f"---\nkind: search\n---\n{text}\n" if text else ""


def _told(source: Source, seen: frozenset[str] | None) -> Source:
    if seen is None or not source.url or source.url in seen:
        return source._replace(origin=DIGEST)
    text = f"{source.text}\n(The searcher named an address that none of its tools showed: left out.)"
    return source._replace(url="", text=demote(text), origin=DIGEST)
