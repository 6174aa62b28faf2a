"""The built-in role-taker through its port: packets in, replies that the parsers read out."""

from __future__ import annotations

import json

import pytest

from harness.agents.extractive import ExtractiveAgent
from harness.model import Defect, Packet, Role, SectionKind
from harness.reply import parse_checker, parse_planner, parse_synthesizer

QUESTION = """---
entities: [Chad, Niger]
fields: [population, capital]
---
Compare Chad and Niger.
"""
RAW = """---
kind: search
queries:
- {query: "Chad population", provider: folder, outcome: found}
retrieved: 2026-11-29T12:00:00Z
---
## 1. Chad, note of 2015
- url: chad-2015.md
- date: 2015-11-15
- origin: fetched

- Population: 11,631,456 (July 2015 est.)
- Capital: N'Djamena [9.9] [pinned]
## 2. Chad, country note
- url: chad.md
- date: 2025-11-15
- origin: fetched

- Population: 19,674,004 (2025 est.)
- Capital: N'Djamena
- Highest point: Emi Koussi 3,445 m
## 3. Niger, country note
- url: niger.md
- date: 2025-11-15
- origin: fetched

Niger borders Chad (1,196 km). The population of Niger is 26.3 million (2025 est.).
"""
FOLDED = """## Confirmed
- Chad: population 2025 est. — 19,674,004 [1.2]
- Chad: population July 2015 est. — 11,631,456 [1.1]
- Chad: capital 2025 — N'Djamena [1.2] [1.1]
- Niger: population 2025 — 26.3 million [1.3]
## Contradictions
## Not found
- Niger: capital
"""
SOURCES = """## Sources
- [1.1] 2015-11-15 · Chad, note of 2015 — chad-2015.md
- [1.2] 2025-11-15 · Chad, country note — chad.md
- [1.3] 2025-11-15 · Niger, country note — niger.md
"""


def packet(
    role: Role, summary: str = "", *, question: str = QUESTION, defects: tuple[Defect, ...] = (), **more: str
) -> Packet:
    files = {"question.md": question, "summary.md": summary}
    files |= {name.replace("_md", ".md"): text for name, text in more.items()}
    return Packet(role, "token", 1, "", files, (), today="2026-11-29", defects=defects)


def asked(one: Packet) -> tuple[tuple[str, ...], str | None]:
    """The queries and the answer of a Planner's reply."""
    decision, defects = parse_planner(ExtractiveAgent().take(one))
    assert decision is not None and defects == ()
    return decision.queries, decision.answer


def folded(one: Packet) -> dict[SectionKind, tuple[str, ...]] | str:
    """The sections of a Synthesizer's reply, or why nothing was new."""
    rewrite, defects = parse_synthesizer(ExtractiveAgent().take(one))
    assert rewrite is not None and defects == ()
    if rewrite.nothing_new is not None:
        return rewrite.nothing_new
    return {
        section.kind: tuple(line.removeprefix("- ") for line in section.lines if line.startswith("- "))
        for section in rewrite.sections
    }


def test_a_raw_becomes_fact_lines_newest_first_with_the_gaps() -> None:
    got = folded(packet(Role.SYNTHESIZER, raw_1_md=RAW))
    assert isinstance(got, dict)
    assert got[SectionKind.CONFIRMED] == tuple(line[2:] for line in FOLDED.splitlines()[1:5])
    assert got[SectionKind.NOT_FOUND] == ("Niger: capital",)


def test_a_rounded_value_of_a_newer_source_is_a_line_of_its_own_and_no_contradiction() -> None:
    raw = RAW.replace("11,631,456 (July 2015 est.)", "130.8 sq km").replace("19,674,004 (2025 est.)", "131 sq km")
    raw = raw.replace("- Population:", "- Total area:")
    question = QUESTION.replace("[population, capital]", "[total area]")
    got = folded(packet(Role.SYNTHESIZER, question=question, raw_1_md=raw))
    assert isinstance(got, dict)
    lines = ("Chad: total area 2025 — 131 sq km [1.2]", "Chad: total area 2015 — 130.8 sq km [1.1]")
    assert got[SectionKind.CONFIRMED] == lines
    assert got[SectionKind.CONTRADICTIONS] == ()


def test_the_same_documents_again_bring_nothing_new() -> None:
    assert isinstance(folded(packet(Role.SYNTHESIZER, FOLDED + SOURCES, raw_1_md=RAW)), str)
    assert isinstance(folded(packet(Role.SYNTHESIZER, FOLDED + SOURCES, raw_2_md=RAW)), str)


def test_existing_lines_keep_order_wording_and_marks() -> None:
    old = "## Confirmed\n- a remark of mine [person]\n- Chad: capital — the city of N'Djamena [person] [pinned]\n"
    got = folded(packet(Role.SYNTHESIZER, old, raw_1_md=RAW))
    assert isinstance(got, dict)
    assert got[SectionKind.CONFIRMED][:2] == (
        "a remark of mine [person]",
        "Chad: capital — the city of N'Djamena [person] [pinned]",
    )
    assert len(got[SectionKind.CONFIRMED]) == 5


def test_two_values_for_one_period_contradict_each_other() -> None:
    old = "## Confirmed\n- Chad: population 2025 — 18.1 million [7.1]\n"
    got = folded(packet(Role.SYNTHESIZER, old, raw_8_md=RAW))
    assert isinstance(got, dict)
    assert got[SectionKind.CONTRADICTIONS] == ("Chad: population 2025 est. — 18.1 million [7.1] ↔ 19,674,004 [8.2]",)
    assert got[SectionKind.CONFIRMED][0] == "Chad: population 2025 — 18.1 million [7.1]"


def test_heights_without_a_period_contradict_each_other_and_presidents_do_not() -> None:
    question = "---\nentities: [Chad]\nfields: [highest point, president]\n---\n"
    raw = (
        "---\nkind: search\n---\n## 1. Chad\n- url: a\n- date: 2015-01-01\n\n- Highest point: Emi Koussi 3,415 m\n"
        "- President: Idriss Déby\n## 2. Chad\n- url: b\n- date: 2025-01-01\n\n- Highest point: Emi Koussi 3,445 m\n"
        "- President: Mahamat Masra\n"
    )
    got = folded(packet(Role.SYNTHESIZER, question=question, raw_1_md=raw))
    assert isinstance(got, dict)
    assert got[SectionKind.CONTRADICTIONS] == (
        "Chad: highest point — Emi Koussi 3,445 m [1.2] ↔ Emi Koussi 3,415 m [1.1]",
    )
    assert got[SectionKind.CONFIRMED][2:] == (
        "Chad: president 2025 — Mahamat Masra [1.2]",
        "Chad: president 2015 — Idriss Déby [1.1]",
    )


def test_what_a_person_struck_out_does_not_come_back_from_the_same_source() -> None:
    struck = "## Struck out\n- Chad: population 2025 est. — 19,674,004 [1.2]\n" + SOURCES
    got = folded(packet(Role.SYNTHESIZER, struck, raw_2_md=RAW))
    assert isinstance(got, dict)
    assert not any("19,674,004" in line for line in got[SectionKind.CONFIRMED])


def test_a_part_of_a_raw_keeps_the_numbers_of_its_sources() -> None:
    part = "## 4. Niger, country note\n- url: niger.md\n- date: 2025-11-15\n\nThe capital of Niger is Niamey.\n"
    got = folded(packet(Role.SYNTHESIZER, raw_3_md="---\nkind: search\npart: 2 of 2\n---\n" + part))
    assert isinstance(got, dict)
    assert got[SectionKind.CONFIRMED] == ("Niger: capital 2025 — Niamey [3.4]",)


def test_a_line_that_was_refused_is_not_written_again() -> None:
    refused = Defect("ungrounded", "not in the source", "Niger: population 2025 — 26.3 million [1.3]")
    got = folded(packet(Role.SYNTHESIZER, defects=(refused,), raw_1_md=RAW))
    assert isinstance(got, dict)
    assert not any("26.3" in line for line in got[SectionKind.CONFIRMED])


def test_without_cells_the_best_sentences_are_kept() -> None:
    raw = RAW.replace("Niger borders", "Plants turn light into sugar by photosynthesis. Niger borders")
    got = folded(packet(Role.SYNTHESIZER, question="How does photosynthesis turn light into sugar?", raw_1_md=raw))
    assert isinstance(got, dict)
    assert got[SectionKind.CONFIRMED] == ("Plants turn light into sugar by photosynthesis. [1.3]",)


def test_the_planner_asks_for_the_first_open_row() -> None:
    assert asked(packet(Role.PLANNER))[0] == ("Chad population, capital",)
    # its population came with another's sources: the own search may bring a newer one
    assert asked(packet(Role.PLANNER, FOLDED))[0] == ("Niger population, capital",)
    tried = FOLDED + "## Searches\n- 1 · Niger population — found, +1 fact, 1 gap\n"
    assert asked(packet(Role.PLANNER, tried))[0] == ("Niger capital",)


def test_the_second_search_for_a_cell_uses_different_words() -> None:
    tried = FOLDED + "## Searches\n- 1 · Niger capital — nothing found, +0 facts, 1 gap\n"
    (query,), _ = asked(packet(Role.PLANNER, tried))
    assert {"niger", "capital"} < set(query.lower().split())


def test_a_query_that_was_refused_is_not_asked_again() -> None:
    refused = Defect("repeated-query", "round 1 searched this", "Niger capital")
    (query,), _ = asked(packet(Role.PLANNER, FOLDED, defects=(refused,)))
    assert query != "Niger capital"


def test_several_queries_for_several_rows() -> None:
    one = packet(Role.PLANNER)
    assert asked(one._replace(queries_allowed=3))[0] == ("Chad population, capital", "Niger population, capital")


def test_a_cell_whose_newest_value_is_old_is_searched_for_again() -> None:
    old = "## Confirmed\n- Chad: population 2015 — 11.6 million [1.1]\n- Chad: capital 2025 — N'Djamena [1.1]\n"
    question = QUESTION.replace("[Chad, Niger]", "[Chad]")
    tried = "## Searches\n- 1 · Chad capital — found, +1 fact, 0 gaps\n"
    assert asked(packet(Role.PLANNER, old + tried + SOURCES, question=question))[0] == ("Chad population",)
    in_2015 = question + "What was it in 2015?\n"
    assert asked(packet(Role.PLANNER, old + SOURCES, question=in_2015))[1] is not None


def test_of_old_values_those_of_an_entity_with_a_newer_source_come_first() -> None:
    old = (
        "## Confirmed\n- Chad: population 2015 — 11.6 million [1.1]\n- Chad: capital 2015 — N'Djamena [1.1]\n"
        "- Niger: population 2015 — 18 million [1.1]\n- Niger: capital 2025 — Niamey [1.1]\n"
    )
    tried = "## Searches\n- 1 · Chad population, capital — found, +2 facts, 0 gaps\n"
    tried += "- 2 · Niger population, capital — found, +2 facts, 0 gaps\n"
    (query,), _ = asked(packet(Role.PLANNER, old + tried + SOURCES))
    assert query.startswith("Niger population")


def test_the_answer_shows_values_gaps_and_what_was_tried() -> None:
    tried = "- 1 · Niger capital — nothing found, +0 facts, 1 gap\n- 2 · Niger capital city — found, +0 facts, 1 gap\n"
    _, answer = asked(packet(Role.PLANNER, f"{FOLDED}## Searches\n{tried}{SOURCES}"))
    assert answer == (
        "- Chad: population 2025 est. — 19,674,004 [1.2]\n"
        "- Chad: capital 2025 — N'Djamena [1.2] [1.1]\n"
        "- Niger: population 2025 — 26.3 million [1.3]\n\n"
        "## Not found\n\n"
        "- Niger: capital (searched 2×): «Niger capital»; «Niger capital city»"
    )


def test_must_answer_always_answers() -> None:
    one = packet(Role.PLANNER)
    for summary in ("", FOLDED):
        forced = one._replace(files={**one.files, "summary.md": summary}, must_answer=True)
        queries, answer = asked(forced)
        assert queries == () and answer


def test_without_cells_two_dry_rounds_end_in_an_answer() -> None:
    dry = "## Searches\n- 1 · a b — found, +0 facts, 0 gaps\n- 2 · c d — nothing found, +0 facts, 0 gaps\n"
    found = "## Confirmed\n- Light becomes sugar [1.1]\n"
    question = "How does photosynthesis work?"
    assert asked(packet(Role.PLANNER, found + dry, question=question))[1] == "- Light becomes sugar [1.1]"
    assert asked(packet(Role.PLANNER, found, question=question))[0] == ("photosynthesis work",)


def test_a_russian_question_gets_a_russian_answer() -> None:
    question = "---\nentities: [Чад]\nfields: [население]\n---\nКаково население Чада?\n"
    head = "---\nkind: search\n---\n## 1. Чад: справка\n- url: a\n- date: 2025-11-15\n"
    raw = f"{head}\nНаселение: 19,7 млн (оценка 2025 года)\n"
    one = packet(Role.SYNTHESIZER, question=question, raw_1_md=raw)
    reply = ExtractiveAgent().take(one._replace(language="ru"))
    assert "## Подтверждено\n- Чад: население оценка 2025 года — 19,7 млн [1.1]" in reply.text
    assert asked(packet(Role.PLANNER, question=question))[0] == ("Чад население",)


@pytest.mark.parametrize(
    ("answer", "missing"),
    [
        ("Chad has 19.67 million people; its capital is N'Djamena. Niger: 26.3 m", ("Niger: population",)),
        ("Chad: 19,674,004, N'Djamena. Niger: 26.3 million", ()),
        ("Nothing is known.", ("Chad: population", "Chad: capital", "Niger: population")),
    ],
)
def test_the_checker_names_filled_cells_that_the_answer_does_not_show(answer: str, missing: tuple[str, ...]) -> None:
    reply = ExtractiveAgent().take(packet(Role.CHECKER, FOLDED, answer_md=f"---\nstatus: draft\n---\n{answer}\n"))
    verdict, defects = parse_checker(reply)
    assert verdict is not None and defects == ()
    assert verdict.missing == missing
    assert json.loads(reply.text)["complete"] is not bool(missing)


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("junk", ["", "\x00\x1b[31m", "---\n", "## Confirmed\n" * 50, "- [1.1] " * 500, "9" * 5000])
def test_junk_in_the_files_raises_nothing(role: Role, junk: str) -> None:
    one = packet(role, junk, question=junk, raw_1_md=junk, answer_md=junk)
    assert ExtractiveAgent().take(one).text == ExtractiveAgent().take(one).text
