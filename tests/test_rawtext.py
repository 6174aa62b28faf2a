"""The laws of a raw's text: streamed in blocks it is what it would be if it were read at once."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.errors import BrokenFile, HarnessError, StateMoved
from harness.formats.text import decode
from harness.store.rawtext import StreamedText, WholeText, open_text

untimed = settings(deadline=None)
LINES = [
    "plain words",
    "",
    "рынок доставки",
    "北京 市场",
    "👩‍🔬 ¡é",
    "\x1b[31mred\x1b[0m",
    "tab\there",
    "\ufeffmark",
    "\x00nul",
]
ENDS = ["\n", "\r\n", "\r", "\n\n", "\u2028", "\x0b", "\r\r\n"]
lines = st.tuples(st.sampled_from(LINES), st.sampled_from(ENDS)).map("".join)
texts = st.lists(lines, max_size=40).map("".join)
endless = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029"), max_size=300)
broken = st.lists(
    st.sampled_from([b"\xd0", b"\x80\x80\x80\x80\x80", b"\xff", b"abc", b"\n", b"\xf0\x9f", "я".encode()])
)
blocks = st.integers(8, 90)


def streamed(folder: str, data: bytes, block: int) -> StreamedText:
    path = Path(folder) / "raw_1.md"
    path.write_bytes(data)
    return StreamedText(path, block)


@untimed
@given(texts, blocks)
@example("\r\n" * 40, 9)
@example("a" * 8 + "\r" + "b" * 8 + "\r\n", 9)
@example("\x1b[31m" * 10, 12)
def test_the_blocks_are_the_text_of_the_file(text: str, block: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        one = streamed(folder, text.encode(), block)
        assert "".join(one.blocks()) == "".join(one.blocks()) == decode(text.encode()).text


@untimed
@given(endless, blocks)
def test_no_character_of_an_endless_line_is_torn(text: str, block: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        one = streamed(folder, text.encode(), block)
        assert "".join(one.blocks()) == decode(text.encode()).text


@untimed
@given(st.one_of(texts.map(str.encode), endless.map(str.encode), broken.map(b"".join)), blocks, st.data())
@example(b"\x80" * 50, 8, None)
def test_a_slice_is_the_same_whoever_asks_first(data: bytes, block: int, asked: st.DataObject | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        whole = "".join(streamed(folder, data, block).blocks())
        one = streamed(folder, data, block)
        places = st.integers(0, len(whole) + 5)
        pairs = asked.draw(st.lists(st.tuples(places, places), max_size=8)) if asked else [(40, 45), (0, 9), (3, 50)]
        for start, end in pairs:
            assert one.slice(start, end) == whole[start:end], (start, end)
        assert "".join(one.blocks()) == whole


@untimed
@given(broken.map(b"".join), blocks)
def test_what_is_no_utf_8_is_marked_and_nothing_after_it_is_lost(data: bytes, block: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        text = "".join(streamed(folder, data + b"\nthe end\n", block).blocks())
    assert text.endswith("\nthe end\n") and text.count("abc") == data.count(b"abc")


def test_above_a_size_it_is_streamed_and_known_again(tmp_path: Path) -> None:
    path = tmp_path / "raw_1.md"
    path.write_text("строка\n" * 100, encoding="utf-8")
    whole, parts = open_text(path, whole=10_000), open_text(path, whole=1_000)
    assert isinstance(whole, WholeText) and not whole.huge and isinstance(parts, StreamedText) and parts.huge
    assert "".join(parts.blocks()) == "".join(whole.blocks()) == whole.slice(0, 700)
    assert open_text(path, whole=1_000) is parts
    path.write_text("строка\n" * 101, encoding="utf-8")
    assert open_text(path, whole=1_000) != parts


def test_what_cannot_be_streamed_is_told(tmp_path: Path) -> None:
    path = tmp_path / "raw_1.md"
    with pytest.raises(StateMoved):
        open_text(path, whole=1_000)
    for encoding in ("cp1251", "utf-16"):
        path.write_bytes(("Выручка выросла, а прибыль осталась прежней.\n" * 100).encode(encoding))
        assert "прибыль" in open_text(path, whole=100_000).slice(0, 100)
        with pytest.raises(BrokenFile, match="a raw of more than 0 MB in") as refused:
            open_text(path, whole=1_000)
        assert "UTF-8" in refused.value.hint
    link = tmp_path / "raw_2.md"
    link.symlink_to(path)
    with pytest.raises(HarnessError, match="link"):
        open_text(link, whole=1_000)


def test_a_raw_that_goes_away_is_told(tmp_path: Path) -> None:
    one = streamed(str(tmp_path), b"text\n" * 10, 9)
    (tmp_path / "raw_1.md").unlink()
    with pytest.raises(StateMoved, match="removed during the pass"):
        one.slice(0, 3)
