"""Words as the harness compares them: stems, languages, sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.words import content_stems, fold, language_of, same_words, sentences, stems

ANY = st.text(max_size=200)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Выручку Самоката за 2024 год", ("выручк", "самокат", "за", "2024", "год")),
        ("revenues of Samokat", ("revenu", "of", "samokat")),
        ("北京大学2024年", ("北", "京", "大", "学", "2024", "年")),
        ("154,0 млрд", ("154.0", "млрд")),
        ("Côte d’Ivoire's 1П2024", ("cote", "d'ivoir", "1п2024")),
        ("", ()),
    ],
)
def test_stems_in_three_languages(text: str, expected: tuple[str, ...]) -> None:
    assert stems(text) == expected


def test_content_stems_leave_out_function_words_of_every_language() -> None:
    assert content_stems("What is the revenue of Samokat in the year 2024?") == ("revenu", "samokat", "2024")
    assert content_stems("Какова выручка у Самоката за 2024 год?") == ("выручк", "самокат", "2024")
    assert content_stems("乍得的人口是多少") == ("乍", "得", "人", "口")


def test_same_words_in_another_order_and_case() -> None:
    assert same_words("выручка Самоката 2024", "Самокат выручка за 2024 год")
    assert same_words("Ёлка", "елку")
    assert not same_words("выручка Самоката 2024", "выручка Самоката 2023")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Compare Самокат and Лавка revenue", "en"),
        ("Сравни Samokat и Yandex Lavka", "ru"),
        ("выручка Samokat", "ru"),
        ("Самокат revenue", "en"),
        ("比较 Samokat 和 Lavka 的收入", "zh"),
        ("", "en"),
        ("2024", "en"),
    ],
)
def test_the_language_is_that_of_the_words_around_the_names(text: str, language: str) -> None:
    assert language_of(text) == language


def test_sentences_do_not_end_at_abbreviations() -> None:
    text = "В 2024 г. выручка составила 154,0 млрд руб. в России. Это рост. Mr. Smith came (2015 est.). U.S. GDP fell."
    assert sentences(text) == [
        "В 2024 г. выручка составила 154,0 млрд руб. в России.",
        "Это рост.",
        "Mr. Smith came (2015 est.).",
        "U.S. GDP fell.",
    ]


def test_sentences_of_wrapped_lines_lists_and_chinese() -> None:
    text = "# Title\nOne sentence goes\non here. Two.\n\n- item one\n- item two\n营收增长。利润下降。"
    assert sentences(text) == [
        "# Title",
        "One sentence goes on here.",
        "Two.",
        "- item one",
        "- item two 营收增长。",
        "利润下降。",
    ]


@pytest.mark.parametrize("char", [".", "a", " ", "9", "(", "\n", "。", ". "])
def test_a_long_run_of_one_character_takes_no_time(char: str) -> None:
    assert len(sentences(char * 100_000)) <= 100_001
    assert stems(char * 100_000) is not None


@given(ANY)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(ANY)
def test_no_letter_is_lost_between_sentences(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@given(ANY, ANY)
def test_same_words_is_symmetric(a: str, b: str) -> None:
    assert same_words(a, a)
    assert same_words(a, b) == same_words(b, a)


@pytest.mark.parametrize("form", ["Узбекистан", "Узбекистана", "Узбекистану", "Узбекистане", "Узбекистаном"])
def test_the_cases_of_a_country_share_their_stem(form: str) -> None:
    assert stems(form) == stems("Узбекистан")


@pytest.mark.parametrize(
    "forms",
    [
        "Магнит Магнита Магниту Магните Магнитом",
        "Китай Китая Китаю Китае Китаем",
        "Иран Ирана Ирану Иране Ираном",
        "Вьетнам Вьетнама Вьетнаму Вьетнаме Вьетнамом",
        "Киев Киева Киеву Киеве Киевом",
        "Ростов Ростова Ростову Ростове",
        "система системы системе систему системой систем",
        "кредит кредита кредиты кредитов кредитом",
    ],
)
def test_the_cases_of_a_noun_share_their_stem(forms: str) -> None:
    assert len(set(stems(forms))) == 1
