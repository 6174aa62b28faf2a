"""Text of a case as HTML: everything is escaped, citations lead to their source on the page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from itertools import groupby

from harness.patterns import lazy

_CITED = lazy(r"\[(\d+\.\d+(?:[,;]\s*\d+\.\d+)*)\]")
_STRONG = lazy(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
_HEADING = lazy(r"#{1,6}\s+(.+?)\s*#*")
_ITEM = lazy(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+(.+)")
_RULE = lazy(r"\s*\|?[\s:|-]*-[\s:|-]*\|?\s*")


def inline(text: str, known: Iterable[str]) -> str:
    """One line. `known`: the ids of the sources that stand on the page; another citation stays text."""
    ids = frozenset(known)
    text = _STRONG.sub(r"<strong>\1</strong>", escape(text))
    return _CITED.sub(lambda match: _links(match, ids), text)


def _links(match: re.Match[str], ids: frozenset[str]) -> str:
    cited = [one.strip() for one in match[1].replace(";", ",").split(",")]
    if not ids.issuperset(cited):
        return match[0]
    return " ".join(f'<a class="cite" href="#s-{id}">[{id}]</a>' for id in cited)


def blocks(text: str, known: Iterable[str]) -> str:
    """The Markdown that answers are written in: headings, lists, tables and paragraphs; all else is text."""
    ids = frozenset(known)
    found = []
    for kind, lines in groupby(text.strip().split("\n"), _kind):
        found.append(_block(kind, list(lines), ids))
    return "\n".join(filter(None, found))


def _kind(line: str) -> str:
    if not line.strip():
        return "blank"
    if _HEADING.fullmatch(line):
        return "heading"
    if line.lstrip().startswith("|"):
        return "table"
    return "item" if _ITEM.fullmatch(line) else "text"


def _block(kind: str, lines: list[str], ids: frozenset[str]) -> str:
    match kind:
        case "heading":
            return "\n".join(f"<h3>{_within(_HEADING, line, ids)}</h3>" for line in lines)
        case "item":
            return "<ul>" + "".join(f"<li>{_within(_ITEM, line, ids)}</li>" for line in lines) + "</ul>"
        case "table":
            return _table([line for line in lines if not _RULE.fullmatch(line)], ids)
        case "text":
            # wrapped prose is one paragraph; lines that each cite their source are a list without bullets
            between = "<br>" if any(_CITED.search(line) for line in lines) else "\n"
            return f"<p>{between.join(inline(line, ids) for line in lines)}</p>"
    return ""


def _within(form: re.Pattern[str], line: str, ids: frozenset[str]) -> str:
    return inline(form.sub(lambda match: match[1], line), ids)


def _table(lines: list[str], ids: frozenset[str]) -> str:
    rows = [[inline(cell.strip(), ids) for cell in line.strip().strip("|").split("|")] for line in lines]
    if not rows:
        return ""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows[1:])
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
