"""raw_N.md: what one search returned, or what a person pasted (design.md, section 1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
from harness.model import Attempt, FrontMatter, Problem, QueryRecord, Raw, RawHead, Source
from harness.patterns import lazy

KINDS = ("search", "note")  # any other front matter is the pasted page's own
_ADOPTED = "adopted"  # the body is one pasted text, whatever it looks like
_KEYS = ("kind", "queries", "rationale", "retrieved", "attempts", _ADOPTED)

_OPENING = lazy(r"^##[ \t]+(?P<number>[0-9]{1,6})\.(?P<title>.*)\n(?:[ \t]*\n)?(?=[-*][ \t])", re.MULTILINE)
_DETAIL = lazy(r"[-*][ \t]+(?P<key>[A-Za-z_][\w-]*)[ \t]*:(?!//)[ \t]*(?P<value>.*)(?:\n|\Z)")
_HEADING = lazy(r"^ {0,3}#{1,6}(?=[ \t]|$)", re.MULTILINE)
_FORGED = lazy(r"^##(?=[ \t]+[0-9]+\.)", re.MULTILINE)
_FENCE = lazy(r"^ {0,3}(```|~~~).*$", re.MULTILINE)

_FIRST = 4_000  # characters of a pasted page in which its address and date are looked for
# With brackets in pairs, as in Wikipedia's addresses; `(https://…)` and `[text](https://…)` end before theirs.
_URL = lazy(r"https?://(?:[^\s<>\"'»”()\[\]]|\([^\s<>\"'»”()\[\]]*\))+")
_DATE_WORDS = "date|published|updated|дата|опубликовано|обновлено|日期|发布"
_DATE_LINE = lazy(rf"^[ \t>*_#-]*+(?:{_DATE_WORDS})[\s*_]*[:：][\s*_\"']*(?P<date>[0-9][0-9./-]+)", re.I | re.M)
_ISO_DATE = lazy(r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?\b")
_DOTTED_DATE = lazy(r"(?P<day>[0-9]{1,2})\.(?P<month>[0-9]{1,2})\.(?P<year>[0-9]{4})\b")


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
        return Raw(head, (_pasted(parts.body),) if parts.body.strip() else (), tuple(problems))
    openings = list(_openings(parts.body))
    stray = parts.body[: openings[0].start()] if openings else parts.body
    ends = [opening.start() for opening in openings[1:]] + [len(parts.body)]
    sources = [_source(opening, parts.body, end) for opening, end in zip(openings, ends, strict=False)]
    if stray.strip():
        before = len(text) - len(parts.body) + len(stray) - len(stray.lstrip())
        hint = "It counts as the last source. To make it one of its own: `## 1. Title` and `- url: …` above it."
        problems.append(Problem(file, text.count("\n", 0, before) + 1, "text before the first source", hint))
        sources.append(_pasted(stray))  # last, so that no other source changes its number
    return Raw(head, tuple(sources), tuple(problems))


def parse_head(prefix: str) -> RawHead:
    """The front matter from the start of a file (64 KiB are plenty), also where the start ends within it."""
    front = _split(prefix).front
    return RawHead(None) if front is None else _head(front)


def render_raw(raw: Raw) -> str:
    """The file; `parse_raw` gives the same value back (blank lines around a text aside). A bare raw is its text.

    No title, detail or page text can open another source: they stand on one line, and headings are demoted.
    """
    if raw.head.kind is None:
        return "".join(source.text for source in raw.sources)
    return _render_head(raw.head) + "".join(_render_source(k, source) for k, source in enumerate(raw.sources, 1))


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


def _openings(body: str) -> Iterator[re.Match[str]]:
    """The headings that open a source: numbered 1, 2, 3 … and followed by an address or a date."""
    expected = 1
    for opening in _numbered_headings(body):
        keys = {key.lower() for key, _ in _details(body, opening.end())[0]}
        if int(opening["number"]) == expected and keys & {"url", "date"}:
            yield opening
            expected += 1


def _numbered_headings(body: str) -> Iterator[re.Match[str]]:
    """Found by their `##`: a look at every line of 32 MB takes ten times as long."""
    at = 0 if body.startswith("##") else body.find("\n##") + 1
    while at or body.startswith("##"):
        heading = _OPENING.match(body, at)
        if heading:
            yield heading
        at = body.find("\n##", at + 1) + 1
        if not at:
            return


def _details(body: str, position: int) -> tuple[list[tuple[str, str]], int]:
    """The `- key: value` lines from a position on, and where they end."""
    details: list[tuple[str, str]] = []
    while detail := _DETAIL.match(body, position):
        details.append((detail["key"], detail["value"].strip()))
        position = detail.end()
    return details, position


def _source(opening: re.Match[str], body: str, end: int) -> Source:
    details, start = _details(body, opening.end())
    named: dict[str, str] = {}
    extra: list[tuple[str, str]] = []
    for key, value in details:
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
    details = [("url", source.url), ("date", source.date)]
    shown = [detail for detail in details if detail[1]] or [("date", "")]  # one of the two makes it a source
    lines = [f"## {number}. {_one_line(source.title)}".rstrip()]
    lines += [
        f"- {key}: {_one_line(value)}".rstrip() for key, value in (*shown, ("origin", source.origin), *source.extra)
    ]
    text = demote(source.text.strip("\n"))
    return "\n".join(lines) + "\n\n" + (f"{text}\n\n" if text else "")


def _one_line(value: str) -> str:
    return " ".join(value.split())


def _pasted(text: str) -> Source:
    """One source from a text without structure; title, address and date as its own keys or first lines say."""
    front, body = split_front(text)
    front = front or FrontMatter()
    first = body[:_FIRST]
    url = front_value(front, "url") or front_value(front, "source") or ""
    found = _URL.search(first)
    stated = _DATE_LINE.search(first)
    date = front_value(front, "date") or front_value(front, "published") or (stated["date"] if stated else "")
    return Source(
        title=front_value(front, "title") or _title(first),
        text=demote(text),
        url=url if _URL.fullmatch(url) else found[0].rstrip(".,;:!?") if found else "",
        date=_iso(date),
        origin="pasted",
    )


def _title(first: str) -> str:
    heading = re.search(r"^ {0,3}#{1,6}[ \t]+(.*\S)", first, re.MULTILINE)
    if heading:
        return heading[1].strip(" #")[:200]
    lines = (line.strip(" \t#") for line in first.split("\n"))  # a lone `#` is a heading that is demoted
    told = [line for line in lines if line and not _URL.fullmatch(line) and not _DATE_LINE.match(line)]
    return told[0][:200] if told else ""


def _iso(date: str) -> str:
    """A date as `YYYY-MM-DD` or `YYYY-MM`; "" if it is none that is certain (3/4/2025 is two dates)."""
    found = _ISO_DATE.match(date) or _DOTTED_DATE.match(date)
    if not found:
        return ""
    parts = [found["year"], found["month"].zfill(2), *([found["day"].zfill(2)] if found["day"] else [])]
    return "-".join(parts)
