"""The folder as a search provider: what is a document, what is skipped, and no fault that leaves `search()`."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.search.folder import FolderSearch
from harness.search.scan import scan

CHAD = "---\ntitle: Chad\ndate: 2015-07-01\nurl: https://example.org/chad\n---\n# Chad\n\n- Population: 11,631,456\n"
NIGER = "# Niger\n\n- Population: 18,045,729 (July 2015 est.)\n"
CASE = {"question.md": "Population of Chad?", "summary.md": "## Confirmed\n- Chad: population — 11,631,456 [1.1]\n"}


def write(root: Path, tree: dict[str, str | bytes]) -> None:
    for name, content in tree.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def found_in(root: Path) -> list[str]:
    return [one.name for one in scan(root).files]


def searcher(tmp_path: Path, tree: dict[str, str | bytes]) -> FolderSearch:
    (tmp_path / "docs").mkdir(exist_ok=True)
    write(tmp_path / "docs", tree)
    return FolderSearch(tmp_path / "docs", cache=tmp_path / "cache")


def test_every_kind_of_document_is_found_in_path_order(tmp_path: Path) -> None:
    kinds = ["csv", "docx", "htm", "html", "json", "jsonl", "markdown", "md", "pdf", "rst", "tsv", "txt"]
    write(tmp_path, {**{f"b.{kind}": "x" for kind in kinds}, "A/a.MD": "x", "photo.jpg": "x", "run.py": "x"})
    result = scan(tmp_path)
    assert [one.name for one in result.files] == ["A/a.MD", *(f"b.{kind}" for kind in kinds)]
    assert result.left_out == {"file of another kind": 2}


@pytest.mark.parametrize("mark", ["summary.md", "raw_3.md", "next_query.txt", ".harness/lock"])
def test_cases_are_skipped_whole_wherever_they_are(tmp_path: Path, mark: str) -> None:
    write(tmp_path, {"a.md": "x", "deep/case/question.md": "?", f"deep/case/{mark}": "x", "deep/case/docs/b.md": "x"})
    result = scan(tmp_path)
    assert [one.name for one in result.files] == ["a.md"]
    assert result.left_out == {"case folder": 1}


def test_a_question_alone_makes_no_case(tmp_path: Path) -> None:
    write(tmp_path, {"faq/question.md": "x", "faq/answer.md": "x", "other/summary.md": "x"})
    assert found_in(tmp_path) == ["faq/answer.md", "faq/question.md", "other/summary.md"]


def test_a_root_that_is_a_case_keeps_the_documents_beside_its_files(tmp_path: Path) -> None:
    write(tmp_path, {**CASE, "raw_1.md": "x", "answer_1.md": "x", "chad.md": CHAD, "docs/niger.md": NIGER})
    assert found_in(tmp_path) == ["chad.md", "docs/niger.md"]


def test_hidden_and_dependency_folders_are_skipped(tmp_path: Path) -> None:
    write(tmp_path, {".git/x.md": "x", ".hidden.md": "x", "node_modules/p/readme.md": "x", "a.md": "x"})
    result = scan(tmp_path)
    assert [one.name for one in result.files] == ["a.md"]
    assert result.left_out == {"hidden": 2, "folder of dependencies": 1}


def test_git_ignored_files_are_skipped_by_every_ignore_file(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            ".git/info/exclude": "private.md\n",
            ".gitignore": "*.log.txt\nbuild/\n/only-top.md\ndrafts/*\n!drafts/keep.md\n",
            "docs/.gitignore": "nested.md\n!important.log.txt\n",
            "docs/private.md": "x",
            "docs/a.log.txt": "x",
            "docs/important.log.txt": "x",
            "docs/build/b.md": "x",
            "docs/only-top.md": "x",
            "docs/nested.md": "x",
            "docs/deep/nested.md": "x",
            "drafts/keep.md": "x",
            "drafts/old.md": "x",
            "only-top.md": "x",
            "nested.md": "x",
        },
    )
    assert found_in(tmp_path / "docs") == ["important.log.txt", "only-top.md"]
    assert found_in(tmp_path) == ["docs/important.log.txt", "docs/only-top.md", "drafts/keep.md", "nested.md"]


def test_a_folder_named_by_the_user_counts_although_git_ignores_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        {".git/HEAD": "x", ".gitignore": "data/\n", "data/a.md": "x", "data/.gitignore": "b.md", "data/b.md": "x"},
    )
    assert found_in(tmp_path / "data") == ["a.md"]
    assert found_in(tmp_path) == []


def test_links_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, {"outside/secret.md": "x", "docs/a.md": "x", "docs/sub/b.md": "x"})
    (tmp_path / "docs/out.md").symlink_to(tmp_path / "outside/secret.md")
    (tmp_path / "docs/out").symlink_to(tmp_path / "outside")
    (tmp_path / "docs/sub/up").symlink_to(tmp_path / "docs")
    (tmp_path / "docs/turn").symlink_to(tmp_path / "docs/turn")
    result = scan(tmp_path / "docs")
    assert [one.name for one in result.files] == ["a.md", "sub/b.md"]
    assert result.left_out["link that leads out of the folder"] == 2


def test_odd_names_are_searched_and_shown_printable(tmp_path: Path) -> None:
    names = ["Отчёт за 2024 г. (v2).md", "two\nlines.md", "esc\x1b[31m.md"]
    folder = searcher(tmp_path, {name: f"grain {number}" for number, name in enumerate(names)})
    if sys.platform == "linux":
        (tmp_path / "docs" / os.fsdecode(b"\xff.md")).write_text("grain 3", encoding="utf-8")
    shown = {source.url for source in folder.search("grain").sources}
    assert {"Отчёт за 2024 г. (v2).md", "two\\nlines.md", "esc\\x1b[31m.md"} <= shown
    assert len(shown) == (4 if sys.platform == "linux" else 3)
    assert all(url.isprintable() for url in shown)


def test_a_source_says_where_it_is_from_and_how_its_date_is_known(tmp_path: Path) -> None:
    folder = searcher(tmp_path, {"chad.md": CHAD, "niger 2015.md": NIGER})
    chad = folder.search("population of Chad").sources[0]
    assert (chad.title, chad.url, chad.date, chad.origin) == (
        "Chad",
        "chad.md",
        "2015-07-01",
        "fetched",
    )
    assert chad.extra == (("says_it_is", "https://example.org/chad"), ("date_from", "front matter"))
    assert chad.text == "### Chad\n\n- Population: 11,631,456"  # headings of a page never look like those of a raw
    niger = folder.search("Niger").sources[0]
    assert (niger.title, niger.url, niger.date, niger.extra) == (
        "Niger",
        "niger 2015.md",
        "2015",
        (("date_from", "file name"),),
    )


def test_outcomes_are_told_apart(tmp_path: Path) -> None:
    folder = searcher(tmp_path, {"chad.md": CHAD})
    assert folder.search("Chad").outcome == "found"
    assert folder.search("zebra").outcome == "empty"
    assert folder.search("").outcome == "empty"
    (tmp_path / "other").mkdir()
    nothing = searcher(tmp_path / "other", {"photo.jpg": b"x"})
    assert nothing.search("Chad").outcome == "blocked"
    assert "no document" in nothing.search("Chad").error
    missing = FolderSearch(tmp_path / "missing", cache=tmp_path / "cache")
    assert missing.search("Chad").outcome == "blocked"
    assert str(tmp_path / "missing") in missing.search("Chad").error


def test_unreadable_files_are_told_once_by_kind_with_an_example(tmp_path: Path) -> None:
    folder = searcher(
        tmp_path,
        {
            "chad.md": CHAD,
            "broken-1.pdf": b"%PDF-1.4 torn",
            "broken-2.pdf": b"no pdf at all",
            "empty.txt": b"",
            "junk.txt": bytes(range(256)) * 30,
            "torn.json": '{"a": ',
        },
    )
    first = folder.search("Chad population")
    assert [source.title for source in first.sources] == ["Chad"]
    told = "\n".join(first.notes)
    assert len(first.notes) == 4
    assert "2 files left out: broken PDF, e.g. broken-1.pdf" in told
    assert "1 file left out: empty, e.g. empty.txt" in told
    assert "1 file left out: not text although named so, e.g. junk.txt" in told
    assert "1 file left out: broken JSON, e.g. torn.json" in told
    assert folder.search("Chad population").notes == ()


def test_a_missing_library_leaves_out_its_files_and_says_what_to_install(tmp_path: Path) -> None:
    write(
        tmp_path / "docs", {"a.pdf": b"%PDF", "b.pdf": b"%PDF", "c.html": "<p>x</p>", "d.docx": b"PK", "chad.md": CHAD}
    )
    code = (
        "import sys, pathlib; sys.modules.update(dict.fromkeys(('trafilatura', 'mammoth', 'pypdfium2')))\n"
        "from harness.search.folder import FolderSearch\n"
        "folder = FolderSearch(pathlib.Path('docs'), cache=pathlib.Path('cache'))\n"
        "for _ in range(2):\n    result = folder.search('Chad')\n    print(result.outcome, *result.notes, sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    install = 'pip install "research-harness[docs]"'
    assert done.stdout.splitlines() == [
        "found",
        f"1 file left out: needs mammoth, e.g. d.docx; {install}",
        f"2 files left out: needs pypdfium2, e.g. a.pdf; {install}",
        f"1 file left out: needs trafilatura, e.g. c.html; {install}",
        "found",
    ]
    assert (
        FolderSearch(tmp_path / "docs", cache=tmp_path / "cache").search("Chad").notes[0].startswith("2 files left out")
    )


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user whom permissions bind")
def test_a_file_without_permission_is_a_note(tmp_path: Path) -> None:
    folder = searcher(tmp_path, {"chad.md": CHAD, "locked.md": "x"})
    (tmp_path / "docs/locked.md").chmod(0)
    assert folder.search("Chad").outcome == "found"


def test_a_folder_that_goes_away_between_two_searches_is_blocked(tmp_path: Path) -> None:
    folder = searcher(tmp_path, {"chad.md": CHAD})
    assert folder.search("Chad").outcome == "found"
    (tmp_path / "docs").rename(tmp_path / "moved")
    fresh = FolderSearch(tmp_path / "docs", cache=tmp_path / "cache")
    assert fresh.search("Chad").outcome == "blocked"


def test_the_folder_stays_untouched_and_a_cache_inside_it_is_no_document(tmp_path: Path) -> None:
    write(tmp_path / "docs", {"chad.md": CHAD})
    folder = FolderSearch(tmp_path / "docs", cache=tmp_path / "docs/cache")
    assert [source.title for source in folder.search("Chad").sources] == ["Chad"]
    again = FolderSearch(tmp_path / "docs", cache=tmp_path / "docs/cache").search("segments version files")
    assert again.outcome == "empty"
    assert sorted(path.name for path in (tmp_path / "docs").iterdir()) == ["cache", "chad.md"]


def test_an_index_damaged_where_only_a_search_sees_it_is_built_anew(tmp_path: Path) -> None:
    folder = searcher(tmp_path, {"chad.md": CHAD, "niger.md": NIGER})
    assert folder.search("Chad").outcome == "found"
    for segment in (tmp_path / "cache/index").rglob("*.store"):
        segment.write_bytes(b"\0" * segment.stat().st_size)
    for segment in (tmp_path / "cache/index").rglob("*.term"):
        segment.write_bytes(segment.read_bytes()[:-8])
    result = FolderSearch(tmp_path / "docs", cache=tmp_path / "cache").search("Chad")
    assert result.outcome == "found"
    assert any("built anew" in note for note in result.notes)


def test_queries_side_by_side_give_what_they_give_alone(tmp_path: Path) -> None:
    tree: dict[str, str | bytes] = {f"{i}.md": f"# Land {i}\n\n- Population: {i}\n" for i in range(40)}
    queries = [f"population of Land {i}" for i in range(4)]
    together = searcher(tmp_path, tree)
    results: dict[str, tuple[str, ...]] = {}

    def ask(query: str) -> None:
        results[query] = tuple(source.title for source in together.search(query).sources)

    threads = [threading.Thread(target=ask, args=(query,)) for query in queries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = FolderSearch(tmp_path / "docs", cache=tmp_path / "other-cache")
    assert results == {query: tuple(s.title for s in alone.search(query).sources) for query in queries}
    assert results[queries[3]][0] == "Land 3"


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=300))
def test_any_query_is_answered(tmp_path: Path, query: str) -> None:
    folder = searcher(
        tmp_path, {"chad.md": CHAD, "чад.md": "Население Чада — 11 631 456", "c.txt": "乍得 人口 11 631 456"}
    )
    assert folder.search(query).outcome in ("found", "empty")
    assert folder.search(query).outcome == folder.search(query).outcome


def test_chinese_is_found_by_its_characters(tmp_path: Path) -> None:
    folder = searcher(tmp_path, {"a.txt": "拼多多2023年营业收入为2476亿元", "b.txt": "多多益善，收支平衡"})
    assert folder.search("营业收入 拼多多").sources[0].url == "a.txt"
