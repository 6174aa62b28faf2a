"""Rules for the Planner's reply: its action, its queries, and the answer it gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

from harness.facts import citations
from harness.formats.answer import without_sources
from harness.formats.summary import lines_of, read_block, search_blocks, search_lines, source_lines
from harness.grounding import missing, page
from harness.guards import text
from harness.guards.lines import UNGROUNDED, UNVERIFIED, WRITABLE, View
from harness.guards.settled import SUCCEEDED, unsettled_cells, was_read
from harness.model import Case, Decision, Defect, SectionKind, Summary
from harness.mojibake import repaired
from harness.patterns import lazy
from harness.words import bag

QUERY_LIMIT = 200  # characters; several engines refuse 400, and nothing should be smuggled out in a query
UNBROKEN_LIMIT = 60  # a longer run without a space is no word of any language: it may carry data out
URL = lazy(r"https?://|www\.\w", re.IGNORECASE)
WITHOUT_MARK = lazy(r"^\s*(?:#+\s*)?(?:[-*+•]\s+)?(?:\d{1,3}[.)]\s)?")  # the marks of a list and of a heading
SMALL = lazy(r"\d|1\d|20")  # `three of the 5 countries`: counted by the answer, not found


def wrong_action(decision: Decision, view: View) -> Iterator[Defect]:
    if view.packet.must_answer and decision.answer is None:
        yield Defect("must-answer", "there is no further search: write the answer")
    if view.packet.must_decide and decision.ask is not None:
        yield Defect("must-decide", "no person is there to be asked: decide yourself")


def echoed_example(decision: Decision, view: View) -> Iterator[Defect]:
    """Small models copy the example of the prompt."""
    for query in decision.queries:
        if f'search("{query}")' in view.packet.prompt:
            yield Defect("echoed-prompt", "this is the example of the prompt, not a query of yours", query)


def unfit_query(decision: Decision, view: View) -> Iterator[Defect]:
    for query in decision.queries:
        if len(query) > QUERY_LIMIT:
            yield Defect("long-query", f"a query has at most {QUERY_LIMIT} characters", query)
        if URL.search(query):
            yield Defect("query-url", "a query may not contain an address", query)
        elif any(len(word) > UNBROKEN_LIMIT for word in query.split()):
            yield Defect("query-token", "a query may not contain a long unbroken token", query)


def repeated_query(decision: Decision, view: View) -> Iterator[Defect]:
    """The same words again after they found something; a blocked or empty search may be repeated."""
    found = [_found_in(block) for block in search_blocks(view.case.summary)] if decision.queries else []
    for at, query in enumerate(decision.queries):
        if bag(query) in {bag(other) for other in decision.queries[:at]}:
            yield Defect("repeated-query", "another query of this reply says the same", query)
        if rounds := [block[bag(query)] for block in found if bag(query) in block]:
            yield Defect("repeated-query", f"round {rounds[-1]} searched this and found sources", query)


@lru_cache(maxsize=1_024)
def _found_in(block: tuple[str, ...]) -> Mapping[frozenset[str], int]:
    """The round of each search that found something, by the words of its query; `block`: lines of Searches."""
    return {bag(line.query): line.round for line in read_block(block) if line.outcome == SUCCEEDED}


def early_answer(decision: Decision, view: View) -> Iterator[Defect]:
    if decision.answer is None or view.packet.must_answer:
        return
    if not was_read(view.case.summary):
        yield Defect("no-source", "no source has been read yet: search first")
        return
    for entity, field in unsettled_cells(view.case):
        yield Defect("early-answer", "no cited figure and fewer than 2 searches for", f"{entity}: {field}")


def bad_citations(decision: Decision, view: View) -> Iterator[Defect]:
    if decision.answer is not None:
        yield from miscited(without_sources(decision.answer), view.case.summary, view.source_ids)


def miscited(body: str, summary: Summary, known: frozenset[str]) -> Iterator[Defect]:
    """Citations of an answer that lead nowhere, and an answer that cites nothing although the summary does."""
    cited = citations(body)
    for id in cited:
        if id not in known:
            yield Defect("unknown-citation", "the answer cites a source that the summary does not have", f"[{id}]")
    if not cited and any(map(citations, lines_of(summary, SectionKind.CONFIRMED))):
        yield Defect("uncited-answer", "the answer cites nothing; carry the citations over from the summary")


def ungrounded_answer(decision: Decision, view: View) -> Iterator[Defect]:
    """The answer's numbers, dates and quotations stand in the summary or the question."""
    if decision.answer is not None and was_read(view.case.summary):
        yield from unsupported(decision.answer, view.case, view.packet.today)


def unsupported(answer: str, case: Case, today: str = "") -> Iterator[Defect]:
    """What an answer says that the facts do not: those with a citation of the line, or, where it has none, all.

    Small counts are its own, and so is the list of sources the harness's. The head of a table gives its rows a scale.
    """
    facts = [line for kind in WRITABLE for line in lines_of(case.summary, kind)]
    tried = (line.query for line in search_lines(case.summary))  # quoted where something was searched in vain
    asked = "\n".join((case.question.text if case.question else "", today, *tried))
    dates = {line.id: line.date for line in source_lines(case.summary)}
    head = ""
    for line in without_sources(answer).split("\n"):
        head = (head or line) if line.lstrip().startswith("|") else ""
        cited = frozenset(citations(line))
        own = [fact for fact in facts if not cited or cited & frozenset(citations(fact))]
        known = page("\n".join((*own, asked, *(dates.get(id, "") for id in cited or dates))))
        pieces = () if UNVERIFIED.search(line) else missing(WITHOUT_MARK.sub("", line), [known], head)
        for piece in (one for one in pieces if not SMALL.fullmatch(one)):
            elsewhere = next((fact for fact in facts if cited and not missing(piece, [page(fact)], head)), "")
            behind = f", but in a line with {_cites(elsewhere)}" if elsewhere else ""
            where = f"with {_cites(line)}" if cited else ""
            yield Defect(UNGROUNDED, f"{piece} stands in no line of the summary {where}{behind}".strip(), line.strip())


def _cites(line: str) -> str:
    return ", ".join(f"[{id}]" for id in citations(line))


def bad_text(decision: Decision, view: View) -> Iterator[Defect]:
    lines = [line for line in without_sources(decision.answer or "").split("\n") if line.strip()]
    yield from text.unreadable((*lines, *decision.queries))
    yield from text.forged_tag((*lines, *decision.queries))
    question = view.case.question.text if view.case.question else ""
    yield from text.wrong_language(lines, view.packet.language, settled=question)
    yield from text.invented_address(lines, [view.packet.files.get("summary.md", "")])


def mend_decision(decision: Decision, defects: Sequence[Defect]) -> Decision | None:
    """The last word when repair turns fail: letters are repaired, and what the summary does not hold is marked.

    None: not to be put right.
    """
    if any(defect.code not in ACCEPTED for defect in defects):
        return None
    doubtful = {defect.value for defect in defects if defect.code == UNGROUNDED}
    queries = tuple(repaired(query) or query for query in decision.queries)
    if decision.answer is None:
        return decision._replace(queries=queries)
    lines = [repaired(line) or line for line in decision.answer.split("\n")]
    marked = [_marked(line) if line.strip() in doubtful else line for line in lines]
    return decision._replace(answer="\n".join(marked), queries=queries)


def _marked(line: str) -> str:
    """The line with the mark at its end, in a table in its last cell."""
    row = line.rstrip()
    in_table = row.lstrip().startswith("|") and row.endswith("|")
    return f"{row[:-1].rstrip()} [unverified] |" if in_table else f"{row} [unverified]"


ACCEPTED = frozenset({UNGROUNDED, "wrong-language", "mojibake"})

Rule = Callable[[Decision, View], Iterator[Defect]]
PLANNER_RULES: tuple[Rule, ...] = (
    wrong_action,
    echoed_example,
    unfit_query,
    repeated_query,
    early_answer,
    bad_citations,
    ungrounded_answer,
    bad_text,
)


def check_decision(decision: Decision, view: View) -> tuple[Defect, ...]:
    return tuple(defect for rule in PLANNER_RULES for defect in rule(decision, view))
