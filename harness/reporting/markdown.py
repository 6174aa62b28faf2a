"""The report as Markdown: the answer, the table, how it came to be, the searches and the sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from string import Template

from harness.formats.labels import label, words
from harness.formats.text import one_line
from harness.model import SectionKind
from harness.reporting.telling import GENERATOR, Cell, Cited, Report
from harness.reporting.wording import wording


def render_markdown(report: Report) -> str:
    told = wording(report.language)
    kicker = Template(told["kicker"]).substitute(status=told[report.status], round=report.round)
    return "\n\n".join([f"<!-- {GENERATOR} -->", report.question, f"*{kicker}*", *_blocks(report, told)]) + "\n"


def _blocks(report: Report, told: Mapping[str, str]) -> Iterator[str]:
    last = report.moments[-1] if report.moments else None
    if report.answer:
        yield f"## {told['answer']}\n\n{report.answer}"
    else:
        facts = "\n".join(f"- {line}" for line in last.facts) if last else ""
        yield f"## {told['so_far']}\n\n{facts or told['no_answer']}"
    if last and report.entities and report.fields:
        size = len(report.fields)
        rows = [(told["entity"], *report.fields), ("---",) * (size + 1)]
        for at, entity in enumerate(report.entities):
            rows.append((entity, *(_held(held) for held in last.cells[at * size : (at + 1) * size])))
        yield f"## {told['table']}\n\n" + "\n".join(map(_row, rows))
    if report.moments:
        lines = [
            Template(f"- {told['round']} {one.round}: {told['told']}").substitute(
                added=len(one.changes.added),
                changed=len(one.changes.changed),
                lost=len(one.changes.lost),
                disputes=len(one.contradictions),
                gaps=one.gap_count,
            )
            for one in report.moments
        ]
        yield f"## {told['course']}\n\n" + "\n".join(lines)
    if report.searches:
        outcomes = words(report.language).outcomes
        rows = [(told["round"], told["query"], told["outcome"]), ("---",) * 3]
        for search in report.searches:
            outcome = ", ".join(filter(None, (outcomes.get(search.outcome, search.outcome), search.note)))
            rows.append((str(search.round), search.query, outcome))
        yield f"## {label(SectionKind.SEARCHES, report.language)}\n\n" + "\n".join(map(_row, rows))
    if report.sources:
        yield f"## {label(SectionKind.SOURCES, report.language)}\n\n" + "\n".join(map(_source, report.sources))


def _held(held: tuple[Cell, ...]) -> str:
    return "; ".join(f"{one.value} ({one.period})" if one.period else one.value for one in held) or "—"


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") if cell != "---" else cell for cell in cells) + " |"


def _source(one: Cited) -> str:
    """The line, and the passages below it as quotations: a page's own marks are escaped, none is a link."""
    head = f"- [{one.id}] " + " — ".join(
        filter(None, (" · ".join(filter(None, (one.date, one.title))), one.url or one.name))
    )
    quotes = (f"  > {_plain(passage.said)}" for passage in one.passages)
    return "\n\n".join([head, *quotes])


def _plain(text: str) -> str:
    return "".join(f"\\{one}" if one in "\\`*_[]<>!#|" else one for one in one_line(text))
