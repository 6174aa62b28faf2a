"""raw_N.md: what one search returned, or what a person pasted (design.md, section 1)."""

from __future__ import annotations

import re
from typing import NamedTuple

from harness.formats.front import (
    front_problems,
    front_records,
    front_value,
    put,
    put_records,
    render_front,
    split_front,
)
from harness.formats.front import without as without_keys
from harness.formats.openings import details, openings
from harness.formats.pasted import pasted
from harness.model import Attempt, FrontMatter, Problem, QueryRecord, Raw, RawHead, Source
from harness.patterns import lazy

KINDS = ("search", "note")  # any other front matter is the pasted page's own
_ADOPTED = "adopted"  # the body is one pasted text, whatever it looks like
PART = "part"  # `2 of 7`: a part of a raw, whose sources may begin at any number
_KEYS = ("kind", "queries", "rationale", "retrieved", "attempts", _ADOPTED)

_HEADING = lazy(r"^ {0,3}#{1,6}(?=[ \t]|$)", re.MULTILINE)
_FORGED = lazy(r"^##(?=[ \t]+[0-9]+\.)", re.MULTILINE)
_FENCE = lazy(r"^ {0,3}(```|~~~).*$", re.MULTILINE)


class _Parts(NamedTuple):
    front: FrontMatter | None  # None: not ours
    body: str
    closed: bool


def parse_raw(text: str, file: str) -> Raw:
    """Reads a whole raw; a bare file is one pasted source. Never raises: an odd place is a problem, its text is kept.

    `text` has `\\n` line ends. Page headings come out demoted.
    """
    parts = _split(text)
    if parts.front is None:
        return Raw(RawHead(None), (_pasted(text),) if text.strip() else ())
    head = _head(parts.front)
    problems = list(front_problems(parts.front, file))
    if not parts.closed:
        problems.append(Problem(file, 1, "the front matter has no end", "Put a line `---` below its last key."))
    if front_value(parts.front, _ADOPTED):
        return Raw(head, (_pasted(parts.body),) if parts.body.strip() else (), problems=tuple(problems))
    opened = list(openings(parts.body, anywhere=front_value(parts.front, PART) is not None))
    stray = parts.body[: opened[0].start()] if opened else parts.body
    ends = [opening.start() for opening in opened[1:]] + [len(parts.body)]
    sources = [_source(opening, parts.body, end) for opening, end in zip(opened, ends, strict=False)]
    if stray.strip():
        before = len(text) - len(parts.body) + len(stray) - len(stray.lstrip())
        hint = "It counts as the last source. To make it one of its own: `## 1. Title` and `- url: …` above it."
        problems.append(Problem(file, text.count("\n", 0, before) + 1, "text before the first source", hint))
        sources.append(_pasted(stray))  # last, so that no other source changes its number
    return Raw(head, tuple(sources), int(opened[0]["number"]) if opened else 1, tuple(problems))


def parse_head(prefix: str) -> RawHead:
    """The front matter from the start of a file (64 KiB are plenty), also where the start ends within it."""
    front = _split(prefix).front
    return RawHead(None) if front is None else _head(front)


class Outline(NamedTuple):
    """How a raw is laid out. `stray`: text before the first source (or all of a pasted one), as a source of its own."""

    body: int  # where the front matter ends, in characters
    adopted: bool  # the body is one pasted text: nothing in it opens a source
    first: int  # where the first source opens; the end of the text where none does
    stray: Source | None
    stray_number: int  # the k of its [N.k]: it counts after the others


def outline(text: str) -> Outline:
    """Of a raw of ours, or of a long enough beginning of one."""
    parts = _split(text)
    front, body = parts.front or FrontMatter(), len(text) - len(parts.body)
    adopted = front_value(front, _ADOPTED) is not None
    opened = [] if adopted else [opening.start() for opening in openings(parts.body)]
    first = opened[0] if opened else len(parts.body)
    before = parts.body[:first]
    stray = _pasted(before) if before.strip() else None
    return Outline(body, adopted, body + first, stray, len(opened) + 1)


def render_part_head(head: RawHead, part: str) -> str:
    """The front matter above a part: `part` says which, e.g. `2 of 7`; the sources may then begin at any number."""
    return _render_head(head._replace(front=put(without_keys(head.front, (PART, _ADOPTED)), PART, part or None)))


def without_openings(text: str) -> str:
    """The text as it is, but for lines that would open a source: those are headings of a lower level then."""
    return _FORGED.sub("####", text) if "##" in text else text


def render_opening(number: int, source: Source) -> str:
    """The heading and the details that open a source, with the blank line below them."""
    return _render_source(number, source._replace(text=""))


def render_raw(raw: Raw) -> str:
    """The file; `parse_raw` gives the same value back (blank lines around a text aside). A bare raw is its text.

    No title, detail or page text can open another source: they stand on one line, and headings are demoted.
    """
    if raw.head.kind is None:
        return "".join(source.text for source in raw.sources)
    return _render_head(raw.head) + "".join(_render_source(k, one) for k, one in enumerate(raw.sources, raw.first))


def adopt(text: str, head: RawHead) -> str:
    """A bare file with our front matter on top, its text byte for byte; a file that is ours already stays as it is."""
    if _split(text).front is not None:
        return text
    mark = put(FrontMatter(), _ADOPTED, "true")
    return _render_head(head._replace(front=FrontMatter((*mark.blocks, *head.front.blocks)))) + text


def demote(text: str) -> str:
    """Page text whose headings begin at level 3, so that none looks like ours; twice is the same as once."""
    if "#" not in text or not _HEADING.search(text):
        return text
    pieces: list[str] = []
    start, fenced = 0, False
    for fence in [*_FENCE.finditer(text), None]:
        end = fence.start() if fence else len(text)
        pieces.append(text[start:end] if fenced else _lower(text[start:end]))
        start, fenced = end, not fenced
    # In code a `#` is a remark; but a line that would open a source is one in code too.
    return _FORGED.sub("####", "".join(pieces))


def _lower(text: str) -> str:
    """Every heading two levels down if one of them stands at level 1 or 2."""
    marks = [heading.group() for heading in _HEADING.finditer(text)]
    if not any(len(mark.strip()) < 3 for mark in marks):
        return text
    return _HEADING.sub(lambda heading: heading.group() + "#" * min(2, 6 - len(heading.group().strip())), text)


def _split(text: str) -> _Parts:
    """Front matter of ours and the body. One without a closing line ends at the first blank line or heading."""
    front, body = split_front(text)
    closed = front is not None
    if not closed and re.match(r"---[ \t]*\n", text):
        end = re.compile(r"^(?:[ \t]*$|#{1,6}[ \t])", re.MULTILINE).search(text, 4)
        # The last line may be torn: the start of a file ends anywhere.
        cut = end.start() if end else text.rfind("\n") + 1
        front, _ = split_front(f"{text[:cut]}---\n")
        body = text[cut:] if end else ""
    if front is None or front_value(front, "kind") not in KINDS:
        return _Parts(None, text, True)
    return _Parts(front, body, closed)


def _head(front: FrontMatter) -> RawHead:
    queries = (
        QueryRecord(row["query"], row.get("provider", ""), row.get("outcome", ""))
        for row in front_records(front, "queries")
        if row.get("query")
    )
    attempts = (
        Attempt(row.get("provider", ""), row.get("error", ""))
        for row in front_records(front, "attempts")
        if row.get("provider") or row.get("error")
    )
    return RawHead(
        kind=front_value(front, "kind"),
        queries=tuple(queries),
        rationale=front_value(front, "rationale") or "",
        retrieved=front_value(front, "retrieved") or "",
        attempts=tuple(attempts),
        front=without_keys(front, _KEYS),
    )


def _render_head(head: RawHead) -> str:
    front = put(FrontMatter(), "kind", head.kind)
    front = put_records(front, "queries", [query._asdict() for query in head.queries])
    front = put(front, "rationale", head.rationale or None)
    front = put(front, "retrieved", head.retrieved or None)
    front = put_records(front, "attempts", [attempt._asdict() for attempt in head.attempts])
    return render_front(FrontMatter((*front.blocks, *head.front.blocks)))


def _source(opening: re.Match[str], body: str, end: int) -> Source:
    given, start = details(body, opening.end())
    named: dict[str, str] = {}
    extra: list[tuple[str, str]] = []
    for key, value in given:
        if key.lower() in ("url", "date", "origin") and key.lower() not in named:
            named[key.lower()] = value
        else:
            extra.append((key, value))
    return Source(
        title=opening["title"].strip(),
        text=demote(body[start:end].strip("\n")),
        url=named.get("url", ""),
        date=named.get("date", ""),
        origin=named.get("origin") or "provider",
        extra=tuple(extra),
    )


def _render_source(number: int, source: Source) -> str:
    where = [("url", source.url), ("date", source.date)]
    shown = [detail for detail in where if detail[1]] or [("date", "")]  # one of the two makes it a source
    lines = [f"## {number}. {_one_line(source.title)}".rstrip()]
    lines += [
        f"- {key}: {_one_line(value)}".rstrip() for key, value in (*shown, ("origin", source.origin), *source.extra)
    ]
    text = demote(source.text.strip("\n"))
    return "\n".join(lines) + "\n\n" + (f"{text}\n\n" if text else "")


def _one_line(value: str) -> str:
    return " ".join(value.split())


def _pasted(text: str) -> Source:
    source = pasted(text)
    return source._replace(text=demote(source.text))
