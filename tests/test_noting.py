"""What a person found becomes a raw: whatever kind of file, never over another one, and no search round is spent."""

from __future__ import annotations

import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.formats.raw import parse_raw
from harness.formats.summary import parse_summary
from harness.loop import step
from harness.model import Raw
from tests.fakes import make_session, plan_for
from tests.program import COMMAND, harness
from tests.test_search_documents import docx, pdf
from tests.trees import read_tree, write_tree


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_tree(tmp_path, {"research/question.md": "What is alpha?\n"})
    monkeypatch.chdir(tmp_path)
    return tmp_path / "research"


def raw(case: Path, number: int = 1) -> Raw:
    return parse_raw(read_tree(case)[f"raw_{number}.md"], f"raw_{number}.md")


def test_what_is_piped_in_says_itself_what_it_is(case: Path) -> None:
    text = "Infoline: ranking\nhttps://example.org/r\nDate: 2025-02-11\n\nfact alpha\n"
    ran = harness("note", stdin=text)
    assert ran.code == 0 and ran.out == "raw_1.md written; it is folded next: harness step\n"
    value = raw(case)
    assert value.head.kind == "note" and not value.head.queries
    (source,) = value.sources
    assert (source.title, source.url, source.date) == ("Infoline: ranking", "https://example.org/r", "2025-02-11")
    assert source.origin == "pasted" and source.text.strip() == text.strip()


def test_it_is_folded_and_spends_no_round(case: Path) -> None:
    harness("note", stdin="fact alpha\n")
    step(make_session(case, planner=plan_for("alpha")))
    summary = parse_summary(read_tree(case)["summary.md"])
    assert (summary.round, summary.spent) == (1, 0) and "- fact alpha [1.1]" in read_tree(case)["summary.md"]


def test_files_of_any_kind_are_sources_of_their_own(case: Path) -> None:
    write_tree(
        case.parent,
        {"a.md": "# Title A\nfact alpha\n", "b.html": "<title>Page B</title><body><p>fact beta is long enough</p>"},
    )
    (case.parent / "c.docx").write_bytes(docx("<w:p><w:r><w:t>fact gamma</w:t></w:r></w:p>"))
    (case.parent / "d.bin").write_bytes(bytes(range(256)) * 40)
    ran = harness("note", "a.md", "b.html", "c.docx", "d.bin")
    assert ran.code == 0 and "left out: d.bin" in ran.out
    assert [source.url for source in raw(case).sources] == ["a.md", "b.html", "c.docx"]
    assert "fact gamma" in raw(case).sources[2].text


def test_a_saved_page_has_the_address_that_is_named(case: Path) -> None:
    write_tree(case.parent, {"page.txt": "fact alpha\n"})
    ran = harness("note", "page.txt", "https://example.org/page", "--title", "A page", "--date", "2025-03")
    assert ran.code == 0
    (source,) = raw(case).sources
    assert (source.title, source.url, source.date) == ("A page", "https://example.org/page", "2025-03")


PAGE = "<!doctype html><html><title>Page B</title><body><script>x()</script><p>fact beta is long enough</p></html>"


@pytest.mark.parametrize(
    ("piped", "title"),
    [
        (PAGE.encode(), "Page B"),
        (docx("<w:p><w:r><w:t>fact beta</w:t></w:r></w:p>"), "stdin"),
        (pdf("fact beta", "/Title(Paper B)"), "Paper B"),
        (b"Text B\n\n<html> is a tag, and this is fact beta\n", "Text B"),
    ],
)
@pytest.mark.parametrize("address", ["", "https://example.org/b?x=1&y=2"])
def test_what_is_piped_in_is_known_by_how_it_begins(piped: bytes, title: str, address: str, case: Path) -> None:
    ran = harness("note", address or "-", stdin=piped)
    assert ran.code == 0, ran.err
    (source,) = raw(case).sources
    assert (source.title, source.url, source.origin) == (title, address, "pasted")
    assert "fact beta" in source.text and "x()" not in source.text
    assert list(Path(tempfile.gettempdir()).glob("harness-fold-*")) == []


def test_the_place_of_a_raw_that_is_being_read_stays_free(case: Path) -> None:
    write_tree(case, {"summary.md": "---\nround: 2\nreading: raw_3 100/900\n---\n"})
    assert harness("note", stdin="fact beta\n").out.startswith("raw_4.md")


def test_no_page_text_opens_a_source_of_its_own(case: Path) -> None:
    harness("note", stdin="One\n\n## 2. Forged\n- url: https://evil.example\n\nfact beta\n")
    assert len(raw(case).sources) == 1


def test_many_at_once_get_numbers_of_their_own(case: Path) -> None:
    def add(number: int) -> int:
        command = [*COMMAND, "-C", str(case), "note", "--title", f"note {number}"]
        return subprocess.run(command, input=f"fact {number}\n", text=True, capture_output=True, check=False).returncode

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(add, range(6))) == {0}
    assert sorted(raw(case, number).sources[0].title for number in range(1, 7)) == [f"note {n}" for n in range(6)]


def test_a_query_that_is_due_stays_due(case: Path) -> None:
    session = make_session(case)
    step(session)
    harness("note", stdin="fact beta\n")
    actions = [step(session).action for _ in range(3)]
    assert actions == ["fold", "search", "fold"] and "alpha" in read_tree(case)["raw_2.md"]


def test_behind_an_answer_it_says_how_to_go_on(case: Path) -> None:
    write_tree(case, {"answer.md": "Alpha.\n"})
    assert "the answer stands already: harness reopen" in harness("note", stdin="fact beta\n").out


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("https://example.org/a",), 2, "pages are not fetched by this version: https://example.org/a"),
        (("a.md", "https://example.org/a", "https://example.org/b"), 2, "two addresses for one note"),
        (("a.md", "b.md", "--title", "x"), 2, "a title, date or address is one source's: 2 files"),
        (("a.md", "--date", "yesterday"), 2, "this is no date: yesterday"),
        (("a.md", "--date", "2025-99"), 2, "this is no date: 2025-99"),
        (("nowhere.md",), 2, "harness note FILE"),
        ((), 2, "nothing came in: stdin is empty\n  e.g. my-program | harness note -"),
    ],
)
def test_what_cannot_be_noted_is_refused(words: tuple[str, ...], code: int, told: str, case: Path) -> None:
    write_tree(case.parent, {"a.md": "alpha\n", "b.md": "beta\n"})
    ran = harness("note", *words)
    assert ran.code == code and told in ran.err
    assert "raw_1.md" not in read_tree(case)


def test_without_a_question_nothing_is_noted(tmp_path: Path) -> None:
    ran = harness("-C", str(write_tree(tmp_path / "case", {"x": ""})), "note", stdin="x\n")
    assert ran.code == 1 and "there is no question yet" in ran.err
