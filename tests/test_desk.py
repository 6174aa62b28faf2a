"""The desk: exactly the permitted files in, only the permitted outputs out."""

from __future__ import annotations

import os
import string
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import desk
from harness.desk import Collected, Desk
from harness.errors import AgentUnreachable

FILES = {"question.md": "Сколько?\n", "summary.md": "## Confirmed\n", "raw_3.md": ""}
WRITES = ("summary.md", "next_query.txt")


def open_desk(files: Mapping[str, str] = FILES, prompt: str | None = "Do it.\n") -> Desk:
    return Desk(files, prompt=prompt, writes=WRITES)


def test_holds_exactly_the_files_and_is_gone_afterwards() -> None:
    with open_desk() as given_desk:
        there = {path.name: path.read_bytes().decode() for path in given_desk.path.iterdir()}
        assert there == {**FILES, "PROMPT.md": "Do it.\n"}
        assert (given_desk.path.stat().st_mode & 0o077) == 0
        assert given_desk.collect() == Collected({}, ())
    assert not given_desk.path.exists()
    with open_desk({}, prompt=None) as empty:
        assert list(empty.path.iterdir()) == []


def test_gone_also_after_an_error_and_whatever_stands_there() -> None:
    with pytest.raises(KeyboardInterrupt), open_desk() as there:
        (there.path / "deep" / "er").mkdir(parents=True)
        (there.path / "deep" / "er" / "locked").touch()
        (there.path / "deep" / "er").chmod(0)
        raise KeyboardInterrupt
    assert not there.path.exists()


def test_takes_changed_outputs_in_any_encoding() -> None:
    with open_desk() as there:
        (there.path / "summary.md").write_bytes("\ufeff## Подтверждено\r\n- факт\x1b[31m\x00\r\n".encode("utf-16-le"))
        (there.path / "next_query.txt").write_bytes(b'search("caf\xc3\xa9")\r\n')
        collected = there.collect()
    assert collected.files == {
        "summary.md": "## Подтверждено\n- факт\n",
        "next_query.txt": 'search("café")\n',
    }
    assert collected.notes == ()


def test_every_other_change_is_named_and_discarded() -> None:
    with open_desk() as there:
        (there.path / "question.md").write_text("another question")
        (there.path / "PROMPT.md").unlink()
        (there.path / "markdown").write_text("summary in the wrong place")
        (there.path / "research").mkdir()
        (there.path / "research" / "summary.md").write_text("in the wrong folder")
        (there.path / "empty").mkdir()
        collected = there.collect()
    assert collected.files == {}
    assert sorted(collected.notes) == [
        "PROMPT.md was deleted: ignored",
        "empty was created: discarded",
        "markdown was created: discarded",
        "question.md was changed: discarded",
        "research/summary.md was created: discarded",
    ]


def test_links_and_odd_files_are_never_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("raw results")
    for make, why in (
        (lambda path: path.symlink_to(secret), "is a link"),
        (lambda path: path.symlink_to(tmp_path), "is a link"),
        (lambda path: os.link(secret, path), "is a link"),
        (lambda path: os.mkfifo(path), "is no regular file"),
        (lambda path: path.mkdir(), "is no regular file"),
    ):
        with open_desk() as there:
            (there.path / "summary.md").unlink()
            make(there.path / "summary.md")
            assert there.collect() == Collected({}, (f"summary.md {why}: discarded",))
    assert secret.read_text() == "raw results"


def test_a_linked_folder_is_not_entered(tmp_path: Path) -> None:
    (tmp_path / "inside").write_text("x")
    with open_desk() as there:
        (there.path / "link").symlink_to(tmp_path)
        assert there.collect().notes == ("link was created: discarded",)
    assert (tmp_path / "inside").exists()


def test_a_replaced_desk_gives_nothing(tmp_path: Path) -> None:
    (tmp_path / "summary.md").write_text("from elsewhere")
    with open_desk() as there:
        there.path.rename(there.path.with_name(there.path.name + "-moved"))
        there.path.symlink_to(tmp_path)
        collected = there.collect()
        there.path.unlink()
        there.path.with_name(there.path.name + "-moved").rename(there.path)
    assert collected.files == {} and "replaced" in collected.notes[0]
    assert (tmp_path / "summary.md").exists()


def test_too_large_and_emptied_files_are_refused() -> None:
    with open_desk() as there:
        with (there.path / "next_query.txt").open("wb") as file:
            file.truncate(desk.FILE_LIMIT + 1)
        (there.path / "summary.md").write_bytes(b" \r\n")
        collected = there.collect()
    assert collected.files == {}
    assert sorted(collected.notes) == [
        "next_query.txt has 4000001 bytes, more than 4000000: discarded",
        "summary.md was emptied: discarded",
    ]


def test_many_changes_are_counted_and_odd_names_made_harmless() -> None:
    with open_desk() as there:
        (there.path / os.fsdecode(b"\xff\x1b[31m\nname")).touch()
        (there.path / ("x" * 200)).mkdir()
        for number in range(30):
            (there.path / f"{number:02}.txt").write_text("x")
        notes = there.collect().notes
    assert len(notes) == desk.NOTES_SHOWN + 1
    assert notes[-1] == f"and {31 - desk.NOTES_SHOWN} more changes: discarded"
    assert all(note.isprintable() and len(note) < 120 for note in notes)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    with pytest.raises(AgentUnreachable) as caught, Desk({"no/such/folder": ""}, prompt=None, writes=()):
        pass
    assert "TMPDIR" in str(caught.value) and "cannot make the desk" in str(caught.value)


NAMES = st.sampled_from(["question.md", "summary.md", "next_query.txt", "PROMPT.md", "markdown", "a"])
TEXTS = st.text(string.ascii_letters + " \nйё", max_size=20)


@given(st.dictionaries(NAMES, TEXTS))
def test_only_permitted_names_come_back_and_nothing_goes_unseen(written: dict[str, str]) -> None:
    with open_desk() as there:
        for name, text in written.items():
            (there.path / name).write_bytes(text.encode())
        collected = there.collect()
    given_files = {**FILES, "PROMPT.md": "Do it.\n"}
    changed = {name for name, text in written.items() if text != given_files.get(name, "")}
    noted = {name for name in changed if any(note.startswith(f"{name} ") for note in collected.notes)}
    assert set(collected.files) <= set(WRITES)
    assert set(collected.files) | noted == changed and not set(collected.files) & noted
