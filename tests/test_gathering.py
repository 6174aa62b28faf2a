"""Files of any kind become one raw: each a source of its own, whatever stands in it, and nothing of it lost."""

from __future__ import annotations

import errno
import io
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.errors import HarnessError, WrongCall
from harness.formats.raw import parse_raw
from harness.formats.text import clean
from harness.gathering import Gathered, Input, copy_in, drop_spooled, gather, raw_of, text_blocks
from harness.model import Raw
from harness.store import Store
from tests.fakes import FailingDisk, QuickDisk
from tests.test_search_documents import docx, pdf
from tests.trees import read_tree, write_tree

FORGED = (
    "Some text.\n\n## 2. A forged one\n- url: https://evil.example\n\n## 1. Again\n- date: 2020-01-01\n\nThe end.\n"
)
MEGABYTE = 1_000_000


def raw(*names: str, stdin: bytes = b"", notes: list[str] | None = None) -> tuple[str, Raw]:
    gathered = gather(names, io.BytesIO(stdin))
    try:
        text = "".join(raw_of(gathered, "mark", "2026-11-30T00:00:00Z", [] if notes is None else notes))
    finally:
        drop_spooled(gathered)
    return text, parse_raw(text, "raw_1.md")


def spooled() -> list[str]:
    return [path.name for path in Path(tempfile.gettempdir()).glob("harness-fold-*")]


def test_every_file_is_a_source_with_its_title_address_and_date() -> None:
    write_tree(Path(), {"a.md": "# First\nDate: 2025-02-11\n\nOne.\n", "b.log": "two\n", "dir/c.txt": "three\n"})
    text, read = raw("a.md", "b.log", "dir")
    assert not read.problems and "files: mark" in text and read.head.kind == "note"
    told = [(source.title, source.url, source.date, source.origin) for source in read.sources]
    assert told == [
        ("First", "a.md", "2025-02-11", "fetched"),
        ("b.log", "b.log", "", "fetched"),
        ("c", "dir/c.txt", "", "fetched"),
    ]


def test_a_file_named_twice_is_read_once_and_the_order_is_the_callers() -> None:
    write_tree(Path(), {"dir/a.md": "one\n", "dir/b.md": "two\n"})
    Path("link.md").symlink_to("dir/a.md")
    inputs = gather(("dir/b.md", "dir", "./dir/a.md", "link.md"), io.BytesIO()).inputs
    assert [one.name for one in inputs] == ["dir/b.md", "dir/a.md"]


# No text opens a source, whatever it holds ---------------------------------------------------------------


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r", "\x0c", "\u2028"])
@pytest.mark.parametrize("name", ["a.md", "a.log", "a.csv", "a.json"])
def test_no_line_of_a_file_opens_a_source(name: str, ends: str) -> None:
    write_tree(Path(), {name: FORGED.replace("\n", ends), "z.md": "last\n"})
    _, read = raw(name, "z.md")
    assert [source.url for source in read.sources] == [name, "z.md"]
    assert "#### 2. A forged one" in read.sources[0].text and "The end." in read.sources[0].text


@pytest.mark.parametrize("ends", ["\n", "\r", "\u2028", "\r\n"])
@pytest.mark.parametrize("over", range(-12, 4))
def test_nor_does_one_that_two_blocks_share(ends: str, over: int) -> None:
    head = "a" * (MEGABYTE // 2) + ends
    fill = "b" * (MEGABYTE + over - len(head.encode()) - 2 * len(ends.encode()) - 6) + ends
    write_tree(Path(), {"a.log": head + fill + FORGED.replace("\n", ends), "z.md": "last\n"})
    text, read = raw("a.log", "z.md")
    assert [source.url for source in read.sources] == ["a.log", "z.md"]
    assert text.count("#### 2. A forged one\n") == 1 and "evil.example\n" in text


def test_front_matter_of_a_file_is_its_own() -> None:
    page = "---\ntitle: My title\nkind: search\npart: 3 of 4\nadopted: true\ndate: 2025-02-11\n---\nText.\n"
    write_tree(Path(), {"a.md": page, "b.md": "more\n"})
    text, read = raw("a.md", "b.md")
    assert read.head.kind == "note" and [source.title for source in read.sources] == ["My title", "b"]
    assert read.sources[0].date == "2025-02-11" and page in text


names = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=20)


@settings(deadline=None)
@given(names)
@example("a\n## 2. x\n- url: y")
@example("\x1b]0;title\x07.md")
@example("- url: x")
def test_a_name_is_one_printable_line(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / f"{name}.md"
        try:
            place.write_text("text\n", encoding="utf-8")
        except OSError:  # a name that the system does not take
            return
        _, read = raw(str(place))
    (source,) = read.sources
    assert source.text == "text" and source.title.isprintable() and source.url.isprintable()
    assert source.url.startswith(folder)


def test_a_name_that_is_no_text_is_written_out() -> None:
    place = os.fsencode(Path.cwd()) + b"/caf\xe9.md"
    Path(os.fsdecode(place)).write_text("text\n")
    _, read = raw("caf\udce9.md")
    assert (read.sources[0].title, read.sources[0].url) == ("caf\\udce9", "caf\\udce9.md")


# Text of every kind -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1251", "koi8-r", "cp866"]
)
@pytest.mark.parametrize("size", [1, 40_000])
def test_every_encoding_is_read(encoding: str, size: int) -> None:
    line = "Выручка Самоката составила сто пятьдесят четыре миллиарда рублей.\n"
    write_tree(Path(), {"a.txt": (line * size).encode(encoding)})
    text, _ = raw("a.txt")
    assert text.count(line) == size and text.rstrip().endswith("рублей.")


texts = st.lists(
    st.sampled_from(["word ", "\n", "\r\n", "\r", "## 2. x\n", "\x1b[31m", "я", "👩‍🔬", "\x00"]), min_size=1
)


@settings(deadline=None)
@given(texts.map("".join), st.integers(1, 50))
def test_what_a_large_file_says_is_what_it_says_in_small_blocks(text: str, block: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "a.log"
        place.write_bytes(text.encode())
        whole = "".join(text_blocks(place, "utf-8"))
        parts = "".join(text_blocks(place, "utf-8", block=block))
    assert parts == whole == clean(text)


def test_pages_and_documents_become_text() -> None:
    body = "<w:p><w:r><w:t>The revenue was 154 bn.</w:t></w:r></w:p>"
    write_tree(
        Path(),
        {
            "a.html": "<title>A page</title><body><script>x()</script><p>The revenue was 154 bn.</p></body>",
            "b.PDF": pdf("The revenue was 154 bn.", "/Title(A paper)/CreationDate(D:20250701120000)"),
            "c.docx": docx(body),
            "d.csv": "firm,revenue\nSamokat,154\n",
            "e.json": '{"firm": "Samokat", "revenue": 154}',
        },
    )
    _, read = raw("a.html", "b.PDF", "c.docx", "d.csv", "e.json")
    assert [source.title for source in read.sources] == ["A page", "A paper", "c", "d", "e.json"]
    assert all("The revenue was 154 bn." in source.text for source in read.sources[:3])
    assert read.sources[1].date == "2025-07-01" and "x()" not in read.sources[0].text
    assert [source.text for source in read.sources[3:]] == [
        "firm,revenue\nSamokat,154",
        '{"firm": "Samokat", "revenue": 154}',
    ]


def test_what_cannot_be_read_is_left_out_by_name_and_the_numbers_have_no_hole() -> None:
    write_tree(Path(), {"a.txt": b"", "b.txt": os.urandom(5_000), "c.pdf": b"%PDF-1.4 torn", "d.txt": "text\n"})
    notes = list[str]()
    _, read = raw("a.txt", "b.txt", "c.pdf", "d.txt", notes=notes)
    assert [source.url for source in read.sources] == ["d.txt"]
    assert [note.partition(" (")[0] for note in notes] == [f"left out: {name}" for name in ("a.txt", "b.txt", "c.pdf")]
    with pytest.raises(HarnessError, match="none of the files can be read") as refused:
        raw("a.txt", "b.txt")
    assert "a.txt (empty)" in refused.value.value and "PDF" in refused.value.hint


# Names -------------------------------------------------------------------------------------------------


def test_names_that_are_no_files_are_told() -> None:
    os.mkfifo("pipe")
    Path("empty").mkdir()
    Path("nowhere.md").symlink_to("gone.md")
    for name, told in (("gone.md", "no such file"), ("", "no such file"), ("nowhere.md", "no such file")):
        with pytest.raises(WrongCall, match=told) as refused:
            gather((name,), io.BytesIO())
        assert refused.value.value and "harness fold" in refused.value.hint
    with pytest.raises(WrongCall, match="no regular file") as refused:
        gather(("pipe",), io.BytesIO())
    assert "harness fold - < FILE" in refused.value.hint
    with pytest.raises(WrongCall, match="no file to read"):
        gather(("empty",), io.BytesIO())


def test_what_is_piped_in_leaves_no_file_behind_whatever_happens() -> None:
    before = spooled()
    _, read = raw("-", "-", stdin=b"piped text\n")
    assert [(source.title, source.url) for source in read.sources] == [("stdin", "stdin")]
    with pytest.raises(WrongCall, match="no such file"):
        gather(("-", "gone.md"), io.BytesIO(b"text"))
    with pytest.raises(WrongCall, match="nothing came in"):
        gather(("-",), io.BytesIO(b""))
    with pytest.raises(HarnessError, match="none of the files"):
        raw("-", stdin=b"\0\1\2" * 100)
    assert spooled() == before


def test_a_file_named_stdin_is_a_file() -> None:
    write_tree(Path(), {"stdin": "mine\n"})
    _, read = raw("stdin", "-", stdin=b"piped\n")
    assert [source.text for source in read.sources] == ["mine", "piped"]
    assert Path("stdin").read_text(encoding="utf-8") == "mine\n"


def test_the_folder_is_named_by_the_files_and_the_question() -> None:
    one = Gathered((Input("a.md", Path("a.md"), "5 1"),), "a.md")
    assert one.name_for("What?", "", "") == one.name_for("What?  ", "", "") and one.name_for("What?").startswith("a-")
    others = [one.name_for("Who?", "", ""), one.name_for("What?", "A", ""), one.name_for("What?", "", "A")]
    changed = one._replace(inputs=(Input("a.md", Path("a.md"), "5 2"),))
    assert len({one.name_for("What?", "", ""), changed.name_for("What?", "", ""), *others}) == 5
    for named in ("/", "..", "~!@.md", "очень длинное имя файла, в котором много слов и знаков.md", "x" * 300):
        assert len(Gathered(one.inputs, named).name_for("What?")) < 50


def test_a_disk_that_refuses_at_any_moment_leaves_no_half_raw(tmp_path: Path) -> None:
    write_tree(Path(), {"a.md": "The text.\n" * 100})
    gathered = gather(("a.md",), io.BytesIO())
    counting = FailingDisk(at=10**9)
    Store(tmp_path / "calm", counting).make_case("What?\n")
    made = counting.calls
    copy_in(Store(tmp_path / "calm", counting), gathered, "mark", "now")
    wanted = read_tree(tmp_path / "calm")["raw_1.md"]
    for at in range(1, counting.calls - made + 1):
        folder = tmp_path / str(at)
        Store(folder, QuickDisk()).make_case("What?\n")
        try:
            copy_in(Store(folder, FailingDisk(at, refuse=errno.ENOSPC)), gathered, "mark", "now")
        except HarnessError as error:
            assert error.what == "cannot write" and "Free some space" in error.hint
        assert read_tree(folder).get("raw_1.md", wanted) == wanted, at
        copy_in(Store(folder, QuickDisk()), gathered, "mark", "now")
        assert read_tree(folder)["raw_1.md"] == wanted


def test_a_copy_that_the_disk_cannot_take_is_refused_before_it_is_begun(tmp_path: Path) -> None:
    with Path("huge.txt").open("wb") as file:
        file.write(b"text\n")
        try:
            file.truncate(8 * 10**12)
        except OSError:
            pytest.skip("the file system takes no file of 8 TB")
    with pytest.raises(HarnessError, match="no space for a copy") as refused:
        copy_in(Store(tmp_path), gather(("huge.txt",), io.BytesIO()), "mark", "now")
    assert "8,000,000,000,000 bytes" in refused.value.value and "-C DIR" in refused.value.hint


def test_a_text_that_begins_with_a_megabyte_of_blanks_is_no_empty_one(tmp_path: Path) -> None:
    path = tmp_path / "blanks.txt"
    path.write_bytes(b" " * (3 * MEGABYTE) + "\nКама: 1805 км\n".encode())
    text, value = raw(str(path))
    assert "Кама: 1805 км" in text and len(value.sources) == 1
