"""Text that was read in a wrong code page is told and repaired; text of any language is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.mojibake import is_lost, looks_misread, repaired
from harness.store import Store
from tests.trees import write_tree

RUSSIAN = "Самокат: выручка 2024 — 154,0 млрд ₽ [1.2]"
FRENCH = "Côte d’Ivoire — naïve café, São Tomé: 964 km²"


@pytest.mark.parametrize(
    ("text", "written", "read"),
    [
        (RUSSIAN, "utf-8", "cp1251"),
        (RUSSIAN, "utf-8", "cp1252"),
        (RUSSIAN, "utf-8", "latin-1"),
        (RUSSIAN, "utf-8", "cp866"),
        ("Выручка Самоката выросла", "cp1251", "cp1252"),
        ("Выручка Самоката выросла", "cp1251", "latin-1"),
        (FRENCH, "utf-8", "cp1252"),
    ],
)
def test_what_was_read_wrongly_is_repaired(text: str, written: str, read: str) -> None:
    wrong = text.encode(written).decode(read, "ignore" if read == "cp1252" else "strict")
    if len(wrong.encode(read)) == len(text.encode(written)):
        assert looks_misread(wrong) and repaired(wrong) == text


@pytest.mark.parametrize(
    "text",
    [
        RUSSIAN,
        FRENCH,
        "乍得: 人口 2025 — 1967 万 [1.1]",
        "Қазақстан халқы 20 млн, Україна — ґанок, їжак",
        "Ελλάδα, ישראל, ประเทศไทย, 日本",
        "Größe: 5 m² (±1 °C), «Самокат» №1 — ½",
        "С… тех пор. Р. Х.",
        "| a | b |\n|---|---|\n╔══╗ ║ ░",
    ],
)
def test_text_of_any_language_is_left_alone(text: str) -> None:
    assert repaired(text) is None
    assert not is_lost(text)


def test_lost_letters() -> None:
    assert is_lost("???? 2024") and is_lost("caf\ufffd")
    assert not is_lost("Really??? Yes.")


@given(st.text())
def test_any_text_can_be_looked_at(text: str) -> None:
    meant = repaired(text)
    assert meant is None or meant != text
    assert isinstance(looks_misread(text), bool)


def test_a_state_file_that_was_saved_wrongly_is_a_problem_with_what_was_meant(tmp_path: Path) -> None:
    wrong = RUSSIAN.encode().decode("cp1251")
    folder = write_tree(tmp_path / "case", {"question.md": "?\n", "summary.md": f"## Confirmed\n- {wrong}\n"})
    (problem,) = Store(folder).snapshot().problems
    assert (problem.file, problem.line) == ("summary.md", 2)
    assert RUSSIAN in problem.hint
