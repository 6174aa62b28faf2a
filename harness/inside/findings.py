"""What the searcher really found: the output of its tools as the hooks recorded it, and what it only told."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from harness.agents.forms import addresses_in
from harness.formats.raw import demote
from harness.formats.text import clean, one_line, shortened
from harness.inside.crew import Found
from harness.inside.event import HookEvent
from harness.model import Source
from harness.patterns import lazy
from harness.ports import SearchResult
from harness.search.agent import sources_told
from harness.search.command import result_of
from harness.store import Store

FOLDER = "found"
NO_NAME = lazy(r"\W")
WORD = lazy(r"\w+")
ERROR_SHOWN = 200  # characters
LARGEST = 8_000_000  # characters of one tool output
# Tools whose output is written by a model that read the pages: it is told, not recorded.
TOLD_BY_A_MODEL = ("WebSearch", "WebFetch")


def record_finding(store: Store, event: HookEvent) -> None:
    """One file a tool call: several run at the same time."""
    kept = {"tool": event.tool, "asked": dict(event.asked), "response": event.response, "error": event.error}
    text = json.dumps(kept)
    if len(text) > LARGEST:  # more than could be read back
        told = f"its output has {len(text)} characters, more than {LARGEST}"
        text = json.dumps({**kept, "asked": {}, "response": None, "error": told})
    store.put_helper(f"{FOLDER}/{NO_NAME.sub('', event.use) or 'one'}.json", text)


def clear_findings(store: Store) -> None:
    for name in _names(store):
        store.drop_helper(name)


def findings(store: Store, reply: str, queries: tuple[str, ...]) -> Found:
    """What each query brought: the outputs of the tools, then what the searcher told.

    Its addresses count only if a tool showed them. Of several queries those that it searched for count as found.
    """
    sources: list[Source] = []
    errors: list[str] = []
    seen: set[str] = set()
    searched: list[str] = []
    for kept in _records(store):
        if kept["error"]:
            errors.append(f"{kept['tool']}: {shortened(one_line(kept['error']), ERROR_SHOWN)}")
            continue
        searched.append(" ".join(str(one) for one in kept["asked"].values()))
        seen |= addresses_in([kept["response"], kept["asked"].get("url")])  # of a fetch that worked
        sources += _sources(kept)
    by_word = sources_told(reply, frozenset(seen))
    sources += by_word
    searched += [source.title for source in by_word]
    failed = "; ".join(dict.fromkeys(errors))
    hit = {query for query in queries if any(_alike(query, words) for words in searched)}

    def of(query: str) -> SearchResult:
        if sources and (query in hit or not hit):  # what was found must not be lost for a want of words
            return SearchResult("found", tuple(sources), notes=tuple(dict.fromkeys(errors)))
        return SearchResult("blocked", error=failed) if failed else SearchResult("empty")

    return of


def _alike(query: str, searched: str) -> bool:
    """Whether most words of the query were searched for: a searcher puts them in the words of its tool."""
    wanted, there = (set(WORD.findall(text.lower())) for text in (query, searched))
    return len(wanted & there) * 2 >= len(wanted)


def said(response: object) -> str:
    """The text of a tool's response, whatever its form."""
    if isinstance(response, str):
        return response
    if isinstance(response, Mapping):
        return said(response.get("content") or response.get("text") or response.get("result") or "")
    return "\n".join(filter(None, map(said, response))) if isinstance(response, list) else ""


def _sources(kept: Mapping[str, Any]) -> tuple[Source, ...]:
    tool, asked, response = kept["tool"], kept["asked"], kept["response"]
    if tool not in TOLD_BY_A_MODEL:
        query = str(asked.get("query") or asked.get("q") or tool)
        return tuple(source._replace(origin="recorded") for source in result_of(said(response), query).sources)
    url = str(asked.get("url", ""))
    title = url or f"Web search: {asked.get('query', '')}"
    text = said(response) if url else "\n\n".join(_searched(response))
    clear = demote(clean(text).strip())
    return (Source(one_line(title), clear, url, origin="digest"),) if clear else ()


def _searched(response: object) -> Iterator[str]:
    """Texts and links of WebSearch, in their order: `results` holds both."""
    results = response.get("results") if isinstance(response, Mapping) else None
    for one in results if isinstance(results, list) else ():
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            links = one.get("content")
            for link in links if isinstance(links, list) else ():
                if isinstance(link, Mapping):
                    yield f"- {link.get('title', '')}: {link.get('url', '')}"


def _records(store: Store) -> Iterator[Mapping[str, Any]]:
    for kept in map(store.get_record, _names(store)):
        if isinstance(kept.get("asked"), Mapping):
            yield {"tool": "", "response": None, "error": "", **kept}


def _names(store: Store) -> list[str]:
    """In the order of the calls."""
    files = list((store.helpers / FOLDER).glob("*.json"))
    return [f"{FOLDER}/{path.name}" for path in sorted(files, key=lambda path: path.stat().st_mtime_ns)]
