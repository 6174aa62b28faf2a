"""next_query.txt: the queries now due with the reasoning above them, or an answer, or a question to the person."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from harness.formats.calls import (
    ACTION_WORDS,
    QUOTES,
    Action,
    actions,
    blank_thoughts,
    is_placeholder,
    is_reasoning,
    render_call,
    without_label,
)
from harness.model import NextQuery, Problem
from harness.patterns import lazy

__all__ = ["Action", "actions", "distinct", "parse_next_query", "render_next_query"]

# At most nine digits: int() refuses 4,300, and no case has a billion rounds.
_HEADER = lazy(r"#\s*(round|directions)\s*[:：]\s*([0-9]{1,9})\s*", re.IGNORECASE)
_COMMENT = lazy(r"#(?=\s|$)|#{2,6}(?=\s)")  # `#MeToo 2024` is a query
_FENCE = lazy(r"[ \t]*(?:```|~~~)[\w-]*[ \t]*")
_QUERY_WORDS = "|".join((*ACTION_WORDS, "Query", "Next query", "Запрос", "Следующий запрос", "查询"))
_LABELLED = lazy(rf"[\s>*_`-]*(?:{_QUERY_WORDS})[ \t]*[0-9]*[*_`]*[ \t]*[:：][*_`]*(?P<rest>.*)", re.IGNORECASE)
_NUMBERED = lazy(r"[\s>*_]*\(?[0-9]{1,3}(?:[.)、]|[:：](?=\s))(?![0-9])(?P<rest>.*)")
_BULLET = lazy(r"\A\s*+(?:>\s*+)*+[-*+•–—](?:\s+\[[ xX]?\])?\s+")


class _Line(NamedTuple):
    number: int
    text: str
    fenced: bool


def parse_next_query(text: str, file: str = "next_query.txt") -> NextQuery:
    """Reads what the Planner, another agent or a person wrote; never raises, an odd line is reported.

    Calls come first: where there are any, the other lines are reasoning. Else labelled lines count, else numbered
    ones, else those in a code fence, else every line that is no comment. Queries that repeat are folded.
    """
    text = blank_thoughts(text)
    found = actions(text, inline=True, placeholders=True)
    header, comments, lines = _sort_lines(text, found)
    calls = [call for call in found if call.finished and call.values]
    result = NextQuery(round=header.get("round"), directions=header.get("directions"))
    if not found:
        queries, prose = _plain_queries(lines)
        return replace(result, reasoning=(*comments, *prose), queries=queries)
    # Where there are several kinds a search is taken: it loses nothing, while an answer would end the loop.
    first = next((call for call in calls if call.kind == "search"), calls[0] if calls else None)
    line_ends = [end.start() for end in re.finditer("\n", text)]
    numbered = [(bisect_left(line_ends, call.start) + 1, call) for call in found]
    problems = [
        _problem(file, line, call, "a second action" if call.finished else "a call without its end")
        for line, call in numbered
        if not call.finished or (first and call.values and _differs(call, first))
    ]
    searching = first is not None and first.kind == "search"
    due = [(line, value) for line, call in numbered if call.kind == "search" for value in call.values]
    labelled = _matching(lines, _LABELLED) if searching else {}
    due += [(number, _bare(rest)) for number, rest in labelled.items()]
    return replace(
        result,
        reasoning=(*comments, *(without_label(line.text) for line in lines if line.number not in labelled)),
        queries=distinct(query for _, query in sorted(due, key=lambda entry: entry[0])),
        answer=first.values[0] if first and first.kind == "answer" else None,
        ask=first.values[0] if first and first.kind == "ask" else None,
        problems=tuple(problems),
    )


def _differs(call: Action, first: Action) -> bool:
    """Whether a call cannot stand beside the one that was taken."""
    return call.kind != first.kind or (call.kind != "search" and call.values != first.values)


def render_next_query(query: NextQuery) -> str:
    """The file as the harness writes it; `parse_next_query` gives the same value back."""
    head = []
    if query.round is not None:
        head.append(f"# round: {query.round}")
    if query.directions is not None:
        head.append(f"# directions: {query.directions}")
    reasoning = [line for text in query.reasoning for line in text.split("\n")]
    if reasoning and (not reasoning[0].strip() or any(_HEADER.fullmatch(f"# {line}") for line in reasoning)):
        head.append("#")  # ends the header: what follows is reasoning, whatever it looks like
    head += [f"# {line}".rstrip() for line in reasoning]
    if query.answer is not None:
        body = [render_call("answer", query.answer)]
    elif query.ask is not None:
        body = [render_call("ask", query.ask)]
    else:
        body = _query_lines(query.queries)
    return "".join(f"{line}\n" for line in [*head, *body])


def _query_lines(queries: tuple[str, ...]) -> list[str]:
    """One query a line; all as calls where a plain line would be read as something else."""
    plain = parse_next_query("\n".join(queries))
    if plain.queries == queries and not plain.reasoning and plain.answer is None and plain.ask is None:
        return list(queries)
    return [render_call("search", query) for query in queries]


def _sort_lines(text: str, found: list[Action]) -> tuple[dict[str, int], list[str], list[_Line]]:
    """The header's numbers, the comments, and the other lines that are no part of a call."""
    header: dict[str, int] = {}
    comments: list[str] = []
    lines: list[_Line] = []
    in_header, fenced, start = True, False, 0
    spans = iter([*found, None])
    span = next(spans)
    for number, line in enumerate(text.split("\n"), 1):
        end = start + len(line)
        while span and span.end < start:
            span = next(spans)
        in_call = span is not None and span.start <= end
        start = end + 1
        if in_call or not line.strip():
            continue
        if _FENCE.fullmatch(line):
            fenced = not fenced
            continue
        if not (mark := _COMMENT.match(line)):
            in_header = False
            lines.append(_Line(number, line.strip(), fenced))
            continue
        named = _HEADER.fullmatch(line.rstrip()) if in_header else None
        if named and named[1].lower() not in header:
            header[named[1].lower()] = int(named[2])
            continue
        comment = line[mark.end() :].rstrip()
        if in_header and not comment:
            in_header = False
            if not comments:
                continue
        comments.append(comment.removeprefix(" "))
    return header, comments, lines


def _plain_queries(lines: list[_Line]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The queries among lines without any call, and the other lines as reasoning."""
    chosen = _matching(lines, _LABELLED) or _matching(lines, _NUMBERED)
    if not chosen:
        fenced = [line for line in lines if line.fenced]
        chosen = {line.number: line.text for line in fenced or lines if not _is_talk(line.text)}
    prose = tuple(without_label(line.text) for line in lines if line.number not in chosen)
    return distinct(_bare(text) for text in chosen.values()), prose


def _matching(lines: list[_Line], form: re.Pattern[str]) -> dict[int, str]:
    """What stands behind the mark, by line number, for the lines that carry it."""
    matches = ((line.number, form.fullmatch(line.text)) for line in lines if not is_reasoning(line.text))
    return {number: match["rest"] for number, match in matches if match and match["rest"].strip()}


def _is_talk(line: str) -> bool:
    """Reasoning, or a line that announces the next: "Here is the query:"."""
    return is_reasoning(line) or line.endswith((":", "："))


def _bare(line: str) -> str:
    """The line without list mark, emphasis and one pair of quotes around the whole."""
    line = _BULLET.sub("", line, count=1).strip()
    for mark in ("**", "__", "`"):
        if len(line) > 2 * len(mark) and line.startswith(mark) and line.endswith(mark):
            line = line[len(mark) : -len(mark)].strip()
    unlisted = line.rstrip(",;").rstrip()
    closers = QUOTES.get(unlisted[:1], "")
    inner = unlisted[1:-1].replace(f"\\{unlisted[:1]}", "")
    if len(unlisted) > 2 and unlisted[-1] in closers and unlisted[0] not in inner and unlisted[-1] not in inner:
        line = re.sub(r"\\([\"'`])", r"\1", unlisted[1:-1])
    return " ".join(line.split())


def distinct(queries: Iterable[str]) -> tuple[str, ...]:
    """The queries without placeholders; of those that differ only in capitals the first stays."""
    found: dict[str, str] = {}
    for query in queries:
        if not is_placeholder(query):
            found.setdefault(query.casefold(), query)
    return tuple(found.values())


def _problem(file: str, line: int, call: Action, what: str) -> Problem:
    hint = "Leave one action in the file, closed with a quote and a bracket."
    return Problem(file, line, f"{what}: {call.kind}(…)", hint)
