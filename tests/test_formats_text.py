"""Whatever a person's editor or shell makes of a text, it is read as they meant it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.formats.text import clean, decode

RUSSIAN = "Сравни выручку Самоката и Лавки за 2024 год.\nЕщё одна строка\n"
CHINESE = "叮咚买菜的营业收入是多少？\n第二行 2024\n"
ENGLISH = "Compare the largest grocery delivery services.\nSecond line\n"
WIDE = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", *WIDE])
@pytest.mark.parametrize("text", [RUSSIAN, CHINESE, ENGLISH])
def test_every_unicode_encoding_and_line_end_is_read(text: str, encoding: str, newline: str) -> None:
    found = decode(text.replace("\n", newline).encode(encoding))
    assert found.text == text
    assert found.newline == newline


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "cp1251", "cp866", "koi8-r"])
def test_what_is_appended_in_the_named_encoding_is_read_again(encoding: str) -> None:
    found = decode(RUSSIAN.encode(encoding))
    assert (found.text, found.encoding) == (RUSSIAN, encoding)
    assert decode((RUSSIAN + RUSSIAN).encode(found.encoding)).text == RUSSIAN * 2


def test_a_mark_decides_and_a_second_one_is_dropped() -> None:
    assert decode(b"\xef\xbb\xbf\xef\xbb\xbf---\n").text == "---\n"
    assert decode("\ufeffда".encode("utf-16-le")).text == "да"
    assert decode("\ufeff\0abc".encode("utf-16-le")).text == "abc"  # begins like UTF-32, is no whole number of units


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"\xff\xfe", ""),
        (b"ab\0c", "abc"),
        (b"abcd\0efg", "abcdefg"),
        ("caf\xe9 \xe0 la carte".encode("latin-1"), "caf\ufffd \ufffd la carte"),  # not «cafй»
        ("Привет".encode() + b"\xff" + " мир".encode(), "Привет\ufffd мир"),  # not «РџСЂРёРІРµС‚»
        ("Привет, мир".encode()[:-1], "Привет, ми\ufffd"),  # cut in the middle of a letter
        ("GDP вырос на 5 %".encode("cp1251"), "GDP вырос на 5 %"),
    ],
)
def test_damaged_bytes_keep_all_that_is_readable(data: bytes, text: str) -> None:
    assert decode(data).text == text


@pytest.mark.parametrize(
    ("dirty", "text"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;https://x.example\x1b\\link\x1b]8;;\x07", "link"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]0;never ended\nnext line", "0;never ended\nnext line"),
        ("\x9b31mred \x9d0;title\x9ctext", "red text"),
        ("\x1b\x1b[0m[31m", "[31m"),
        ("a\tb\x00\x08\x7f\x80c", "a\tbc"),
        (
            "one\u2028two\u2029three\x0bfour\x0cfive\x85six\rseven\r\neight",
            "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight",
        ),
        ("\u202egnp.exe\u202c", "gnp.exe"),
        ("\ud83d\ude00 \ud800", "😀 \ufffd"),
        ("семья 👩\u200d👧 и می\u200cخواهم", "семья 👩\u200d👧 и می\u200cخواهم"),
    ],
)
def test_what_could_steer_a_terminal_goes_and_text_stays(dirty: str, text: str) -> None:
    assert clean(dirty) == text


@given(st.text(st.characters(exclude_categories=())))
def test_clean_text_is_clean_printable_in_utf8_and_splits_at_newlines_only(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert cleaned.encode().decode() == cleaned
    assert cleaned.splitlines() == cleaned.removesuffix("\n").split("\n") or cleaned == ""
    assert not {char for char in cleaned if ord(char) < 32} - {"\t", "\n"}


@given(st.binary())
def test_no_bytes_are_refused(data: bytes) -> None:
    found = decode(data)
    assert clean(found.text) == found.text
    "".encode(found.encoding)


@given(st.text(min_size=1))
def test_utf8_is_never_taken_for_anything_else(text: str) -> None:
    """But for texts that are mostly control characters."""
    text = clean(text)
    assert decode(text.encode()).text == text


@pytest.mark.parametrize("piece", ["\x9d", "\x1b[", "\x1b]", "\x1b[0", "\x00", " ", "\x90a"])
def test_junk_takes_time_in_proportion_to_its_size(piece: str) -> None:
    start = time.perf_counter()
    decode((piece * 300_000).encode())
    assert time.perf_counter() - start < 3
