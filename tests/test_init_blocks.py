"""The block in somebody's instruction file: every other byte stays, whatever the encoding and the line ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.assets import template
from harness.scaffold.blocks import edited_block, put_block, take_block
from harness.scaffold.refused import NotText, Refused

BLOCK = template("init/block.md")
TEXTS = st.text(st.sampled_from("a#\n\r\t ж-<!>`"), max_size=40)
FILES = st.none() | st.builds(lambda mark, text: (mark + text).encode(), st.sampled_from(["", "\ufeff"]), TEXTS)


@given(before=FILES)
def test_what_is_put_in_comes_out_without_a_trace(before: bytes | None) -> None:
    put = put_block(before, BLOCK, "1")
    assert take_block(put) == before
    assert put.startswith(before or b"") and put_block(put, BLOCK, "1") == put


@given(before=FILES, behind=TEXTS)
def test_a_later_version_changes_the_block_only(before: bytes | None, behind: str) -> None:
    put = put_block(before, "old\n", "1") + f"\n{behind}".encode()
    renewed = put_block(put, BLOCK, "2")
    assert renewed.startswith(before or b"") and renewed.endswith(behind.encode())
    assert b"\nold" not in renewed and renewed.count(b"<!-- harness init 2 ") == 1


@pytest.mark.parametrize("text", ["# Rules\r\nBe kind.\r\n", "# Rules\r\nBe kind."])
def test_the_block_has_the_line_ends_of_its_file(text: str) -> None:
    put = put_block(text.encode(), BLOCK, "1").decode()
    assert put.count("\r\n") == put.count("\n") > 30


def test_git_may_change_the_line_ends_of_it_all() -> None:
    put = put_block(b"# Rules\n", BLOCK, "1").replace(b"\n", b"\r\n")
    assert edited_block(put) == ""
    assert take_block(put) == b"# Rules\r\n"


def test_a_block_that_was_changed_inside_is_told() -> None:
    put = put_block(b"# Rules\n", BLOCK, "1")
    assert "MINE" in edited_block(put.replace(b"**Search.**", b"**MINE.**"))
    assert edited_block(put) == ""


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "cp1251"])
def test_what_is_not_utf_8_is_left_alone(encoding: str) -> None:
    with pytest.raises(NotText, match="UTF-8"):
        put_block("# Правила\n".encode(encoding), BLOCK, "1")


def test_broken_marks_are_refused_with_their_line() -> None:
    put = put_block(b"# Rules\n", BLOCK, "1").decode()
    begin, end = put.index("<!-- harness init"), put.index("<!-- end of harness init")
    broken = [put[:end], put[:begin] + put[end:], put + put, put[end:] + "\n" + put[begin:end]]
    for text in broken:
        with pytest.raises(Refused, match=r"broken \(line \d+\)"):
            put_block(text.encode(), BLOCK, "1")
        with pytest.raises(Refused):
            take_block(text.encode())


def test_the_block_is_short() -> None:
    assert put_block(None, BLOCK, "0.1.0").count(b"\n") < 40
    assert max(map(len, BLOCK.splitlines())) <= 125
