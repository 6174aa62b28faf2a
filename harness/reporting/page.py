"""The report as one HTML file that asks for nothing: its style, script and data stand in it, held by their hashes."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from html import escape
from string import Template

from harness.assets import template
from harness.formats.labels import label, words
from harness.formats.text import shortened
from harness.model import SectionKind
from harness.patterns import lazy
from harness.reporting.charts import charts
from harness.reporting.prose import blocks, inline
from harness.reporting.telling import Cell, Cited, Moment, Report
from harness.reporting.wording import wording

TITLE = 140  # characters of a question that fit a heading
_SENTENCE = lazy(r"(?<=[.?!])\s+|(?<=[。？！])")
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def render_page(report: Report) -> str:
    """The whole file. Nothing from the case stands in it but escaped, or as JSON without `<`, `>` and `&`."""
    told = wording(report.language)
    style, script = template("report/page.css"), template("report/page.js")
    heading, rest = _heading(report.question)
    return Template(template("report/page.html")).substitute(
        lang=report.language,
        style_hash=_hash(style),
        script_hash=_hash(script),
        title=escape(heading),
        kicker=escape(Template(told["kicker"]).substitute(status=told[report.status], round=report.round)),
        heading=escape(heading),
        question=blocks(rest, ()) if rest else "",
        sections="\n".join(_sections(report, told)),
        made=escape(Template(told["made"]).substitute(date=report.made)),
        style=style,
        script=script,
        data=data_of(report, told),
    )


def _heading(question: str) -> tuple[str, str]:
    """The first sentence of a question, and what comes after it; of a long one the beginning, and all of it."""
    first, *more = re.split(r"\n\s*\n", question, maxsplit=1)
    sentence, *others = _SENTENCE.split(" ".join(first.split()), maxsplit=1)
    if len(sentence) <= TITLE:
        return sentence, "\n\n".join((*others, *more))
    return shortened(sentence, TITLE), question


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _sections(report: Report, told: Mapping[str, str]) -> Iterator[str]:
    ids = [one.id for one in report.sources]
    yield _section("answer", told["answer" if report.answer else "so_far"], _answer(report, told, ids))
    if report.moments:
        yield _section("course", told["course"], _course(report, told))
    drawn = charts(report, told)
    if drawn:
        yield _section("charts", told["charts"], drawn)
    if report.searches:
        yield _section("searches", label(SectionKind.SEARCHES, report.language), _searches(report, told))
    if report.sources:
        sources = "\n".join(_source(one, told) for one in report.sources)
        yield _section("sources", label(SectionKind.SOURCES, report.language), sources)


def _section(name: str, title: str, body: str) -> str:
    return f'<section id="{name}">\n<h2>{escape(title)}</h2>\n{body}\n</section>'


def _answer(report: Report, told: Mapping[str, str], ids: list[str]) -> str:
    if report.answer:
        return blocks(report.answer, ids)
    facts = report.moments[-1].facts if report.moments else ()
    listed = "".join(f"<li>{inline(line, ids)}</li>" for line in facts)
    return f'<p class="quiet">{escape(told["no_answer"])}</p>' + (f"<ul>{listed}</ul>" if listed else "")


def _course(report: Report, told: Mapping[str, str]) -> str:
    notes = "".join(f"<li>{escape(note)}</li>" for note in report.notes)
    table = f'<div id="table"><h3>{escape(told["table"])}</h3>{_table(report, told)}</div>' if _has_grid(report) else ""
    return (
        f"{_slider(report, told)}{table}"
        f'<div id="facts"><h3>{escape(told["facts_title"])}</h3><ul class="facts" id="lines"></ul>'
        f'<details><summary class="quiet">{escape(told["history"])}</summary>'
        f'<ul class="quiet">{notes}</ul></details></div>'
    )


def _has_grid(report: Report) -> bool:
    return bool(report.entities and report.fields)


def _slider(report: Report, told: Mapping[str, str]) -> str:
    last = len(report.moments) - 1
    return (
        f'<div class="slider"><label class="hidden" for="rounds">{escape(told["slider"])}</label>'
        f'<input type="range" id="rounds" min="0" max="{last}" value="{last}" autocomplete="off">'
        '<output id="where" for="rounds"></output></div>'
        '<p id="told" aria-live="polite"></p>'
    )


def _table(report: Report, told: Mapping[str, str]) -> str:
    """As it stands at the end; the script fills it along with the slider."""
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in (told["entity"], *report.fields))
    cells = report.moments[-1].cells
    rows = []
    for row, entity in enumerate(report.entities):
        places = range(row * len(report.fields), (row + 1) * len(report.fields))
        rows.append(f'<tr><th scope="row">{escape(entity)}</th>{"".join(_cell(at, cells[at]) for at in places)}</tr>')
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n'
        + "\n".join(rows)
        + "\n</tbody></table></div>"
    )


def _cell(at: int, held: tuple[Cell, ...]) -> str:
    if not held:
        return f'<td data-cell="{at}" class="open">—</td>'
    lines = (f'<p>{escape(one.value)} <span class="period">{escape(one.period)}</span></p>' for one in held)
    return f'<td data-cell="{at}">{"".join(lines)}</td>'


def _searches(report: Report, told: Mapping[str, str]) -> str:
    outcomes = words(report.language).outcomes
    head = "".join(f'<th scope="col">{escape(told[one])}</th>' for one in ("round", "query", "outcome"))
    rows = "\n".join(
        f"<tr><td>{one.round}</td><td>{escape(one.query)}</td>"
        f'<td class="outcome">{escape(", ".join(filter(None, (outcomes.get(one.outcome, one.outcome), one.note))))}'
        "</td></tr>"
        for one in report.searches
    )
    return (
        f'<div class="wide"><table class="searches"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _source(one: Cited, told: Mapping[str, str]) -> str:
    where = f'<a href="{escape(one.url)}" rel="noopener noreferrer nofollow">{escape(one.url)}</a>' if one.url else ""
    quotes = "".join(
        f"<blockquote>{escape(q.before)}\n<mark>{escape(q.said)}</mark>\n{escape(q.after)}</blockquote>"
        f'<p class="quiet">{escape(told["bears"])} {escape("; ".join(q.facts))}</p>'
        for q in one.passages
    )
    lacking = f'<p class="quiet">{escape(told["lacking"])}</p>'
    told_of = " · ".join(filter(None, (one.date, one.title)))
    return (
        f'<details id="s-{one.id}"><summary><span class="id">[{one.id}]</span>{escape(told_of)}</summary>'
        f"<p>{where or escape(one.name)}</p>{quotes or lacking}</details>"
    )


def data_of(report: Report, told: Mapping[str, str]) -> str:
    """What the slider needs: each line once, moments by the numbers of lines."""
    places: dict[str, int] = {}
    moments = [_moment(one, places, told) for one in report.moments]
    text = json.dumps({"words": dict(told), "lines": [*places], "moments": moments}, ensure_ascii=False)
    return "".join(_ESCAPED.get(one, one) for one in text)


def _moment(one: Moment, places: dict[str, int], told: Mapping[str, str]) -> dict[str, object]:
    def at(line: str) -> int:
        return places.setdefault(line, len(places))

    found = one.changes
    counts = {"added": found.added, "changed": found.changed, "lost": found.lost, "disputes": one.contradictions}
    sizes = {name: len(lines) for name, lines in counts.items()}
    return {
        "round": one.round,
        "kind": one.kind,
        "facts": [at(line) for line in one.facts],
        "contradictions": [at(line) for line in one.contradictions],
        "gaps": [at(line) for line in one.gaps],
        "added": [at(line) for line in found.added],
        "changed": [(at(old), at(new)) for old, new in found.changed],
        "lost": [(at(line), reason) for line, reason in found.lost],
        "cells": [[(at(cell.line), cell.period, cell.value) for cell in held] for held in one.cells],
        "told": Template(told["told"]).substitute(sizes, gaps=one.gap_count),
    }
