"""The rules of the guards over a whole case, also one that was made without the harness: what is wrong, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from harness.addresses import groups
from harness.contradictions import clashes
from harness.evidence import Confirmed, Raws, evidence
from harness.facts import Cell, citations, parse_fact
from harness.formats.answer import without_sources
from harness.formats.entries import text_of
from harness.formats.question import fingerprint
from harness.formats.summary import lines_of, render_source_line, search_lines, source_lines
from harness.guards import text
from harness.guards.lines import FACTUAL, MARK, UNVERIFIED, WRITABLE, known_sources, struck_again
from harness.guards.planner import QUERY_LIMIT, URL, miscited, unsupported
from harness.guards.settled import SUCCEEDED, unsettled_cells
from harness.guards.synthesizer import PLACEHOLDER
from harness.model import Case, Defect, Grid, Problem, SectionKind, Source
from harness.periods import newest, periods
from harness.plan import last_number
from harness.quantities import is_physical
from harness.tokens import estimate
from harness.words import bag

Severity = Literal["error", "warning", "notice"]


UNBORNE = "something in this line does not stand in what it cites"
MOST = 100  # findings of one kind; a file with more is broken as a whole


class Code(NamedTuple):
    """What a finding of a kind means for the reader, and what to do about it."""

    severity: Severity
    hint: str


CODES: Mapping[str, Code] = {
    "broken-file": Code("warning", "mend the line as it says"),
    "uncited-fact": Code("error", "add its source as [N.k], or [person] if it is yours"),
    "unknown-citation": Code("error", "cite a source that is there, or remove the line"),
    "gone-source": Code("notice", "the raw was removed: its numbers cannot be looked up any more"),
    "ungrounded": Code("error", "correct the number or the citation, or mark the line [unverified]"),
    "unverified": Code("warning", "look the number up; then correct it, or remove the mark"),
    "told-only": Code("notice", "look for a page that says the same"),
    "contradiction": Code("error", "add the line to Contradictions, or correct one of the two"),
    "stale": Code("warning", "look at the source and add the figure, or: harness reopen, then harness steer for it"),
    "repeated-line": Code("warning", "remove one of them"),
    "placeholder": Code("error", "write the lines out; git or .harness/rejected may still have them"),
    "placeholder-source": Code("error", "remove it: nothing was read there"),
    "unknown-address": Code("error", "cite the source by its [N.k]"),
    "mojibake": Code("error", "write the line as it was meant, and save the file as UTF-8"),
    "lost-letters": Code("error", "write the line anew from its source"),
    "forged-tag": Code("warning", "remove the tag"),
    "struck-out": Code("error", "remove it again, or cite a source that it did not have"),
    "over-allowance": Code("warning", "merge lines, or raise summary_tokens"),
    "unread-part": Code("warning", "harness reread, perhaps with another --agent"),
    "same-document": Code("notice", "count them as one source"),
    "repeated-query": Code("notice", "ask in other words, or for something else"),
    "long-query": Code("warning", f"shorten it to {QUERY_LIMIT} characters"),
    "query-url": Code("warning", "ask in words: an address in a query may carry data out"),
    "uncited-answer": Code("error", "carry the citations over from summary.md"),
    "early-answer": Code("error", "harness reopen, then harness run"),
    "question-changed": Code("warning", 'for a new case: harness -C research/NAME ask "…"'),
    "planted": Code("notice", "a page gives orders; they were data to every role"),
}


class Finding(NamedTuple):
    """One thing that is wrong at `file:line` (line 1 where no line can be named)."""

    file: str
    line: int
    code: str
    severity: Severity
    what: str
    value: str
    hint: str


class Checked(NamedTuple):
    """What is checked: the case, its files' texts by name, what reading them found, and its raws."""

    case: Case
    texts: Mapping[str, str]
    problems: tuple[Problem, ...]
    raws: Raws
    allowance: int

    @property
    def grid(self) -> Grid:
        return self.case.question.grid if self.case.question else Grid()

    def lines(self, *kinds: SectionKind) -> tuple[str, ...]:
        return tuple(line for kind in kinds for line in lines_of(self.case.summary, kind))


def check(checked: Checked) -> tuple[Finding, ...]:
    """The findings, by file and line, at most MOST of a kind; the same case gives the same findings."""
    counts: Counter[str] = Counter()
    found = []
    for finding in dict.fromkeys(finding for rule in RULES for finding in rule(checked)):
        counts[finding.code] += 1
        if counts[finding.code] <= MOST:
            found.append(finding)
    return tuple(sorted(found, key=lambda finding: finding[:3]))


def _finding(checked: Checked, file: str, defect: Defect) -> Finding:
    code = CODES[defect.code]
    line = _line_of(checked.texts.get(file, ""), defect.value)
    return Finding(file, line, defect.code, code.severity, defect.what, defect.value, code.hint)


def _line_of(whole: str, entry: str) -> int:
    """The line of a file that is this entry, else the one that begins with it (a wrapped one), else that holds it."""
    entry = text_of(entry)
    if not entry:
        return 1
    bare = [text_of(line) for line in whole.split("\n")]
    for fits in (entry.__eq__, lambda line: bool(line) and entry.startswith(line), lambda line: entry[:40] in line):
        for number, line in enumerate(bare, 1):
            if fits(line) is True:
                return number
    return 1


def _of_problems(checked: Checked) -> Iterator[Finding]:
    for problem in checked.problems:
        hint = problem.hint or CODES["broken-file"].hint
        yield Finding(problem.file, problem.line, "broken-file", "warning", problem.what, "", hint)


def _of_question(checked: Checked) -> Iterator[Finding]:
    case = checked.case
    if case.question and case.summary.fingerprint not in ("", fingerprint(case.question.text)):
        told = "the question was changed since the summary began"
        yield _finding(checked, "question.md", Defect("question-changed", told))


def _of_summary(checked: Checked) -> Iterator[Finding]:
    for defect in _summary_defects(checked):
        yield _finding(checked, "summary.md", defect)


def _summary_defects(checked: Checked) -> Iterator[Defect]:
    facts, lines = checked.lines(SectionKind.CONFIRMED), checked.lines(*WRITABLE)
    for line in facts:
        if not citations(line) and not MARK.search(line):
            yield Defect("uncited-fact", "a fact without a source", line)
    for line in lines:
        if UNVERIFIED.search(line):
            yield Defect("unverified", UNBORNE, line)
        if PLACEHOLDER.match(line):
            yield Defect("placeholder", "a remark in place of the lines", line)
    for line, count in Counter(lines).items():
        if count > 1:
            yield Defect("repeated-line", f"this line stands {count} times", line)
    yield from text.unreadable(lines)
    yield from text.forged_tag(lines)
    for clash in clashes(facts, checked.lines(SectionKind.CONTRADICTIONS), checked.grid):
        told = f"another value for the same: {clash.first}"
        yield Defect("contradiction", told, clash.second)
    yield from struck_again(lines, checked.lines(SectionKind.STRUCK))
    for part in checked.case.summary.unread:
        yield Defect("unread-part", f"characters {part.start} to {part.end} of raw_{part.number}.md were not read")
    size = estimate("\n".join(lines))
    if checked.allowance and size > checked.allowance:
        yield Defect("over-allowance", f"about {size} tokens of {checked.allowance}")


def _of_sources(checked: Checked) -> Iterator[Finding]:
    """Addresses of Sources that are one document: who counts them as two counts one voice twice."""
    lines = {line.id: line for line in source_lines(checked.case.summary)}
    first = groups({id: Source(line.title, "", line.url) for id, line in lines.items()})
    for id, other in first.items():
        if id != other:
            told = f"[{id}] and [{other}] are one document"
            yield _finding(checked, "summary.md", Defect("same-document", told, render_source_line(lines[id])))


def _of_raws(checked: Checked) -> Iterator[Finding]:
    """Citations, numbers and addresses of the facts against the raws themselves."""
    confirmed: dict[Cell, Confirmed] = {}
    for fact in (parse_fact(line, checked.grid) for line in checked.lines(SectionKind.CONFIRMED)):
        latest = newest(periods(fact.period)) if fact.field and not is_physical(fact.value) else None
        if latest and (fact.cell not in confirmed or latest.end > confirmed[fact.cell].period.end):
            confirmed[fact.cell] = Confirmed(latest, fact.text)
    last = last_number(checked.case)
    found = evidence(checked.lines(*FACTUAL), checked.grid, checked.raws, confirmed, last)
    for defect in found.summary:
        yield _finding(checked, "summary.md", defect)
    severity, hint = CODES["planted"]
    for file, at, line in found.orders:
        yield Finding(file, at, "planted", severity, "a page gives orders", line, hint)


def _of_searches(checked: Checked) -> Iterator[Finding]:
    seen: dict[frozenset[str], int] = {}
    for line in search_lines(checked.case.summary):
        words_of = bag(line.query)
        if line.outcome == SUCCEEDED and words_of in seen:
            told = f"round {seen[words_of]} searched this and found sources"
            yield _finding(checked, "summary.md", Defect("repeated-query", told, line.query))
        elif line.outcome == SUCCEEDED:
            seen[words_of] = line.round
    for query in checked.case.next_query.queries:
        if len(query) > QUERY_LIMIT:
            yield _finding(checked, "next_query.txt", Defect("long-query", f"{len(query)} characters", query))
        if URL.search(query):
            yield _finding(checked, "next_query.txt", Defect("query-url", "a query holds an address", query))


def _of_answer(checked: Checked) -> Iterator[Finding]:
    answer, case = checked.case.answer, checked.case
    if answer is None:
        return
    body = without_sources(answer.text)
    defects = list(miscited(body, case.summary, known_sources(case.summary)))
    defects += [Defect("unverified", UNBORNE, line.strip()) for line in body.split("\n") if UNVERIFIED.search(line)]
    defects += unsupported(body, case)
    lines = [line for line in body.split("\n") if line.strip()]
    defects += text.unreadable(lines)
    defects += text.invented_address(lines, [checked.texts.get("summary.md", "")])
    if answer.status == "complete":
        told = "complete, but no cited figure and fewer than 2 searches for"
        defects += [Defect("early-answer", f"{told} {entity}: {field}") for entity, field in unsettled_cells(case)]
    for defect in defects:
        yield _finding(checked, "answer.md", defect)


Rule = Callable[[Checked], Iterable[Finding]]
RULES: tuple[Rule, ...] = (
    _of_problems,
    _of_question,
    _of_summary,
    _of_sources,
    _of_raws,
    _of_searches,
    _of_answer,
)
