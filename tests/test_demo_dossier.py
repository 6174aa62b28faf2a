"""The demo dossier holds what its README promises: formats, dates, one contradiction, one missing cell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.program import harness
from tests.trees import write_tree

DEMO = Path(__file__).parent.parent / "templates" / "demo"
DOCUMENTS = sorted(path for path in (DEMO / "documents").rglob("*") if path.is_file())
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in DOCUMENTS if path.suffix not in {".pdf", ".docx"}}


def lines_with(*words: str) -> list[str]:
    return [
        line
        for text in TEXTS.values()
        for line in text.casefold().splitlines()
        if all(word.casefold() in line for word in words)
    ]


def test_about_thirty_small_documents_in_every_format_and_both_languages() -> None:
    assert 25 <= len(DOCUMENTS) <= 40
    assert {path.suffix for path in DOCUMENTS} == {".md", ".txt", ".html", ".csv", ".json", ".pdf", ".docx"}
    assert all(path.stat().st_size < 40_000 for path in DOCUMENTS)
    assert sum("/ru/" in path.as_posix() for path in DOCUMENTS) >= 8


def test_the_highest_point_of_kazakhstan_is_contradictory_in_both_languages() -> None:
    assert lines_with("khan", "6,995 m") and lines_with("khan-tengri", "7,010 m")
    assert lines_with("хан-тенгри", "6995 м") and lines_with("хан-тенгри", "7010 м")


def test_only_the_poverty_rate_of_turkmenistan_is_missing() -> None:
    known = ("Kazakhstan", "Uzbekistan", "Kyrgyzstan", "Tajikistan")
    assert all(lines_with(country, "poverty rate", "%") for country in known)
    assert not lines_with("Turkmenistan", "poverty rate", "%")
    assert not any("poverty" in text.casefold() for name, text in TEXTS.items() if name.startswith("turkmenistan"))
    assert not any("бедност" in text.casefold() for name, text in TEXTS.items() if name.startswith("turkmenistan"))


def test_plain_text_alone_holds_every_other_cell() -> None:
    """The libraries for HTML, PDF and DOCX are optional: the demo must not depend on them."""
    plain = "\n".join(text for name, text in TEXTS.items() if not name.endswith(".html"))
    for figure in ("20,432,662", "37,015,151", "6,219,751", "10,593,876", "5,744,151"):
        assert figure in plain and figure.replace(",", " ") in plain
    for figure in ("73.3", "76.2", "72.9", "71.9", "72.4"):
        assert figure in plain and figure.replace(".", ",") in plain
    for figure in ("4,643 m", "7,439 m", "7,495 m", "3,139 m"):
        assert figure in plain and figure.replace(",", "").replace("m", "м") in plain


@pytest.mark.parametrize(
    ("question", "gap", "sides"),
    [
        ("question.md", "Turkmenistan: poverty rate", ("7,010 m", "6,995 m")),
        ("question.ru.md", "Туркмения: уровень бедности", ("7010 м", "6995 м")),
    ],
)
def test_the_built_in_roles_answer_the_demo(question: str, gap: str, sides: tuple[str, str], repository: Path) -> None:
    """What `make demo` shows: every cell but the one that is missing, and the contradiction."""
    demo = repository / "templates" / "demo"
    write_tree(Path("case"), {"question.md": (demo / question).read_text(encoding="utf-8")})
    ran = harness("-C", "case", "run", "--in", str(demo / "documents"))
    assert ran.code == 0
    status = json.loads(harness("-C", "case", "status", "--json").out)
    assert status["open_cells"] == [gap] and status["contradictions"] == 1
    assert all(side in line for line in ran.out.splitlines() if "↔" in line for side in sides)
    assert "↔" in ran.out and gap in ran.out
