"""The passages that a report quotes: what is cited, with a little around it, and nothing else of a raw."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from harness.errors import HarnessError
from harness.facts import citations, without_marks
from harness.model import Grid, Raw, Source, SourceLine
from harness.passage import passage
from harness.patterns import lazy
from harness.reporting.telling import Cited, Passage
from harness.store.snapshot import raw_path, read_raw

AROUND = 240  # characters before and behind
SAID = 600  # characters of the passage itself: a line of a minified page is as long as the page
_SENTENCE = lazy(r"(?<=[.!?])\s+(?=\S)|(?<=[。！？])")
_WEB = lazy(r"https?://[^\s<>\"]+", re.IGNORECASE)
_SLASH = lazy(r"[\\/]")


def quoted(folder: Path, lines: Iterable[str], listed: Iterable[SourceLine], grid: Grid) -> tuple[Cited, ...]:
    """What the lines cite, in the order of rounds. `listed`: the Sources, which know a raw that is gone."""
    by_id: dict[str, list[str]] = {}
    for line in dict.fromkeys(lines):
        for id in citations(line):
            by_id.setdefault(id, []).append(line)
    known = {one.id: one for one in listed}
    raws: dict[int, Raw | None] = {}
    found = []
    for id in sorted(by_id, key=_numbers):
        number, k = _numbers(id)
        if number not in raws:
            raws[number] = _raw(folder, number)
        found.append(_cited(id, _source(raws[number], k), known.get(id), by_id[id], grid))
    return tuple(found)


def _numbers(id: str) -> tuple[int, int]:
    number, _, k = id.partition(".")
    return int(number), int(k)


def _raw(folder: Path, number: int) -> Raw | None:
    try:
        return read_raw(raw_path(folder, number))[1]
    except HarnessError:  # gone, a link, or no text: the source is named, not quoted
        return None


def _source(raw: Raw | None, k: int) -> Source | None:
    at = k - raw.first if raw else -1
    return raw.sources[at] if raw and 0 <= at < len(raw.sources) else None


def _cited(id: str, source: Source | None, listed: SourceLine | None, lines: list[str], grid: Grid) -> Cited:
    address = (source.url if source else "") or (listed.url if listed else "")
    title = (source.title if source else "") or (listed.title if listed else "")
    date = (source.date if source else "") or (listed.date if listed else "")
    return Cited(id, _bare(title), date, *web_or_name(address), _passages(lines, source.text, grid) if source else ())


def _passages(lines: list[str], text: str, grid: Grid) -> tuple[Passage, ...]:
    """Each place once, with all that it bears out."""
    found: dict[str, Passage] = {}
    for fact in dict.fromkeys(without_marks(line).lstrip("-*• ") for line in lines):
        one = _passage(fact, text, grid)
        if one:
            before = found.get(one.said)
            found[one.said] = before._replace(facts=(*before.facts, fact)) if before else one
    return tuple(found.values())


def web_or_name(address: str) -> tuple[str, str]:
    """(address, "") of the web, else ("", file name): a report that is passed on shows no path of this machine."""
    address = address.strip()
    if _WEB.fullmatch(address):
        return address, ""
    return "", _SLASH.split(address)[-1]


def _bare(title: str) -> str:
    """A title may be a path, where a document has none of its own."""
    is_path = title.startswith(("/", "~", "file:")) or title[1:3] == ":\\"
    return _SLASH.split(title)[-1] if is_path else title


def _passage(fact: str, text: str, grid: Grid) -> Passage | None:
    at = passage(fact, text, grid)
    if at is None:
        return None
    lines = text.split("\n")
    before, said, after = "\n".join(lines[:at]), lines[at], "\n".join(lines[at + 1 :])
    if len(said) > SAID:
        sentences = _SENTENCE.split(said)
        within = passage(fact, "\n".join(one.replace("\n", " ") for one in sentences), grid) or 0
        before, after = " ".join(sentences[:within]), " ".join(sentences[within + 1 :])
        said = sentences[within]
    return Passage((fact,), _end(before), said.strip()[:SAID], _start(after))


def _end(text: str) -> str:
    """The last sentences, from the beginning of a word."""
    text = text.strip()
    return text if len(text) <= AROUND else "… " + text[-AROUND:].partition(" ")[2].lstrip()


def _start(text: str) -> str:
    text = text.strip()
    return text if len(text) <= AROUND else text[:AROUND].rpartition(" ")[0].rstrip() + " …"
