"""Where sentences, words and characters end in English, Russian and Chinese."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cutting import cut
from harness.cutting.sentences import sentence_end


def characters(text: str) -> int:
    return len(text)


def sentences(text: str) -> list[str]:
    found: list[str] = []
    high = len(text)
    while (at := sentence_end(text, 0, high - 1)) is not None:
        found.append(text[at:high])
        high = at
    return [text[:high], *found][:1] + found[::-1]


@pytest.mark.parametrize(
    "expected",
    [
        ["Mr. Smith paid 3.5 m, e.g. to J. R. Brown. ", "He left."],
        ["It grew (see fig. 3). ", "“Really?” ", "Yes!"],
        ["В 2024 г. выручка выросла, т. е. удвоилась, до 3,5 млрд руб. в год. ", "Это много."],
        ["А. С. Пушкин родился в 1799 г. в Москве на ул. Немецкой. ", "Он умер в 1837-м."],
        ["И так далее, и т. д., и т. п., см. рис. 3. ", "Конец!"],
        ["市场增长了百分之五。", "“真的吗？”", "是的！", "好。"],
        ["Steps:\n", "- first one\n", "- second one"],
        ["Version 2.0.1 of example.com came in Jan. 2024... ", "Then nothing."],
    ],
)
def test_the_sentences_of_a_text(expected: list[str]) -> None:
    assert sentences("".join(expected)) == expected


LETTERS = ["а", "e\u0301", "й\u0306", "👩‍🔬", "👍🏽", "的", "\ud83d\ude00", "❤️"]


@given(st.lists(st.sampled_from(LETTERS), min_size=40, max_size=400))
def test_no_cut_between_a_letter_and_its_mark(letters: list[str]) -> None:
    text = "".join(letters)
    for part in list(cut([text], 64, characters))[1:]:
        before, after = text[part.start - 1], text[part.start]
        assert not unicodedata.combining(after)
        assert before != "\u200d" and after not in "\u200d\ufe0f\U0001f3fd\ude00"


def test_a_long_paragraph_is_cut_between_sentences_with_an_overlap() -> None:
    text = "В 2024 г. выручка Самоката выросла до 3,5 млрд руб. и т. д. " * 30
    found = list(cut([text], 200, characters, overlap=20))
    for part in found[1:]:
        assert text[part.start :].startswith("В 2024")
        assert part.lead.startswith("… ") and part.lead.rstrip().endswith("т. д.")


def test_chinese_without_blanks_is_cut_between_sentences() -> None:
    text = "二零二四年营业收入增长了百分之五，净利润下降。" * 40
    found = list(cut([text], 100, characters))
    assert all(text[part.end - 1] == "。" for part in found)


def test_words_stay_whole_where_there_are_no_sentences() -> None:
    text = "слово " * 200
    assert all(text[part.end - 1] == " " for part in cut([text], 100, characters))


@pytest.mark.parametrize(
    "line",
    [
        "2024-03-01 12:00:{0:02} ERROR worker-{0} took 3.5 s. It was ended, and was begun anew.",
        "{0} | Anna | 37.5 | Alpha. Beta",
        "Entry {0}: Samokat opened a dark store in Kazan. It has 300 square metres",
        "Запись {0}: Самокат открыл склад в Казани. Его площадь 300 кв. м",
    ],
)
def test_lines_that_are_entries_stay_whole(line: str) -> None:
    text = "".join(line.format(number) + "\n" for number in range(300))
    parts = list(cut([text], 2_000, characters, sources=False))
    assert len(parts) > 3 and all(text[part.end - 1] == "\n" for part in parts)


def test_prose_that_was_wrapped_is_cut_between_sentences() -> None:
    text = "The river rose in\nthe night and the town was\nflooded by the morning. " * 100
    parts = list(cut([text], 2_000, characters, sources=False))
    assert len(parts) > 2 and all(text[: part.end].endswith("morning. ") for part in parts)
