"""An agent program with web tools of its own as a search provider: `- agent: NAME`, the role of a searcher.

It gets the query in a prompt of ours and replies with sources. What it says of a page is its own digest, since nobody
saw the page; where its event stream shows what its tools returned, an address that stands nowhere in it is left out.

To try one by hand: `harness find QUERY` with `search: [{agent: NAME}]` in your own config.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.addresses import canonical
from harness.agents.command import CommandAgent
from harness.assets import template
from harness.errors import AgentFailed, AgentUnreachable, WrongCall
from harness.formats.raw import parse_raw
from harness.formats.text import clean, one_line, shortened
from harness.model import Source
from harness.options import AgentSpec
from harness.patterns import lazy
from harness.ports import SearchResult, Usage
from harness.prompts import LANGUAGES
from harness.render import as_data, fill
from harness.words import language_of

OURS = "---\nkind: search\n---\n"
SHOWN = 300  # characters of an error
NOT_SEEN = ("address", "left out: the searcher's tools did not show it")
NOTHING = lazy(r"^[ \t>*_]*Nothing found\b[ \t*_]*[:：.—-]?(?P<why>[^\n]*)", re.IGNORECASE | re.MULTILINE)
FENCE = lazy(r"\A\s*(?P<mark>```|~~~)[^\n]*\n(?P<inner>.*)\n(?P=mark)\s*\Z", re.DOTALL)
HEADING = lazy(r"^##[ \t]+[0-9]+\.", re.MULTILINE)
WEB = lazy(r"https?://[^\s<>\"]+", re.IGNORECASE)


class AgentSearch:
    """ports.Search: one run of the program for each query; thread-safe. Raises WrongCall where it has no web tools."""

    def __init__(self, spec: AgentSpec) -> None:
        if not spec.search_command:
            hint = f"Set agents.{spec.name}.search_command: the program with its web tools allowed and nothing else."
            raise WrongCall("an agent that cannot search", spec.name, hint)
        self._name = spec.name
        self._program = CommandAgent(spec._replace(command=spec.search_command, files=False))

    @property
    def name(self) -> str:
        return self._name

    def search(self, query: str) -> SearchResult:
        """Its sources; a failure, an empty reply and one in another form are `blocked` with the reason."""
        try:
            printed = self._program.ask(search_prompt((query,), language_of(query)))
        except (AgentUnreachable, AgentFailed) as error:
            told = f"{error.what}: {error.value}" if error.value else error.what
            spent = error.spent.get(self._name)
            used = None if spent is None else Usage(*spent)
            return SearchResult("blocked", error=shortened(" ".join(told.split()), SHOWN), usage=used)
        used = Usage(printed.tokens_in or 0, printed.tokens_out or 0, printed.cost)
        sources = sources_told(printed.text, printed.seen)
        if sources:
            return SearchResult("found", sources, usage=used)
        if nothing := NOTHING.search(printed.text):
            why = nothing["why"].strip()
            return SearchResult("empty", notes=(f"{self._name} found nothing: {why}",) if why else (), usage=used)
        said = shortened(one_line(printed.text), SHOWN)
        return SearchResult("blocked", error=f"its reply lists no source: {said}" if said else "no reply", usage=used)


def search_prompt(queries: Sequence[str], language: str) -> str:
    """The whole prompt of a searcher; in English for a language without prompts."""
    name = f"prompts/{language if language in LANGUAGES else LANGUAGES[0]}/searcher.md"
    return fill(template(name), {"queries": "\n".join(f"- {as_data(query)}" for query in queries)}, name)


def sources_told(reply: str, seen: frozenset[str] | None) -> tuple[Source, ...]:
    """The sources that a searcher's reply lists, every one a digest; without its address where it was not seen.

    `seen`: the addresses in what its tools returned; None: that is not known. A source without text is none.
    """
    fenced = FENCE.match(reply)
    text = clean(fenced["inner"] if fenced else reply)
    first = HEADING.search(text)
    if first is None:
        return ()
    known = None if seen is None else {canonical(address) for address in seen}
    raw = parse_raw(OURS + text[first.start() :], "reply")
    listed = (source for source in raw.sources if source.origin != "pasted" and source.text.strip())
    return tuple(_checked(source, known) for source in listed)


def _checked(source: Source, known: set[str] | None) -> Source:
    url = source.url if WEB.fullmatch(source.url) else ""  # no javascript:, no file: from a model
    digest = source._replace(url=url, origin="digest", extra=())
    if not url or known is None or canonical(url) in known:
        return digest
    return digest._replace(url="", extra=(NOT_SEEN,))
