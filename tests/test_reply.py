"""Replies as strong and small models give them, and as programs and people leave them in files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import reply as module
from harness.formats.calls import is_placeholder, render_call
from harness.formats.queries import distinct
from harness.model import Decision, Removal, Reply, Rewrite, Section, SectionKind, Verdict
from harness.reply import Defects, parse_checker, parse_planner, parse_synthesizer

RECORDED = Path(__file__).parent / "data" / "replies"


def recorded(name: str) -> Reply:
    return Reply((RECORDED / f"{name}.txt").read_text(encoding="utf-8"))


def codes(parsed: tuple[object, Defects]) -> list[str]:
    assert (parsed[0] is None) == bool(parsed[1])
    return [defect.code for defect in parsed[1]]


def decision(text: str, **files: str) -> Decision:
    value, defects = parse_planner(Reply(text, {name.replace("_txt", ".txt"): file for name, file in files.items()}))
    assert defects == ()
    assert value is not None
    return value


def rewrite(reply: Reply) -> Rewrite:
    value, defects = parse_synthesizer(reply)
    assert defects == ()
    assert value is not None
    return value


# What models replied -----------------------------------------------------------------------------


def test_a_strong_planner_searches() -> None:
    value, defects = parse_planner(recorded("strong/planner_search"))
    assert defects == ()
    assert value is not None
    assert value.queries == ("Infoline quick commerce ranking 2024 market share «ВкусВилл»",)
    assert (value.answer, value.ask) == (None, None)
    assert value.think.startswith("Revenue is there for Samokat")
    assert value.think.endswith("next to it.")


def test_a_strong_planner_answers_over_many_lines() -> None:
    value, defects = parse_planner(recorded("strong/planner_answer_ru"))
    assert defects == ()
    assert value is not None
    assert value.queries == ()
    assert value.answer is not None
    assert value.answer.startswith("Выручка за 2024 год")
    assert value.answer.endswith("(искали дважды).")
    assert value.think.startswith("все восемь ячеек закрыты")


def test_a_strong_synthesizer_rewrites() -> None:
    value = rewrite(recorded("strong/synthesizer"))
    assert value.think.startswith("New: Lavka's revenue")
    assert [(section.kind.value, section.lines) for section in value.sections] == [
        (
            "confirmed",
            ("- Samokat: revenue 2024 — 154.0 bn ₽ [1.2]", "- Yandex Lavka: revenue 2023 — 52.1 bn ₽ [1.4], [3.1]"),
        ),
        ("contradictions", ("- Yandex Lavka: revenue 2024 — 67 bn ₽ [1.3] ↔ 71.4 bn ₽ [3.1]",)),
        ("not_found", ("- VkusVill: market share 2024 (not searched yet)",)),
    ]
    assert value.removed == (
        Removal("Yandex Lavka: revenue 2024 — 67 bn ₽ [1.3]", "merged into the contradiction"),
        Removal("Yandex Lavka: revenue 2024 (preliminary) — 66 bn ₽ [1.1]", "superseded by [3.1] — the annual report"),
    )


def test_a_whole_summary_in_a_fence_is_a_rewrite() -> None:
    value = rewrite(recorded("strong/synthesizer_ru_file"))
    assert [section.title for section in value.sections] == [
        "Подтверждено",
        "Противоречия",
        "Не найдено",
        "Мои заметки",
    ]
    assert value.sections[3].lines == ("Спросить Анну о дарксторах.",)
    assert value.removed == (
        Removal("Самокат: выручка 2023 — 90 млрд ₽ [1.1]", "неверная ссылка"),
        Removal("Лавка открыла сотый даркстор — в марте [1.3]", "повтор строки"),
    )


def test_a_strong_synthesizer_finds_nothing_new() -> None:
    value = rewrite(recorded("strong/synthesizer_nothing"))
    assert value == Rewrite(nothing_new="both results are ticket shops – neither names a revenue or a share.")


def test_a_strong_checker_names_what_is_missing() -> None:
    missing = ("VkusVill: market share", "Magnit Express: revenue — the year is not given")
    assert parse_checker(recorded("strong/checker")) == (Verdict(False, missing), ())


def test_a_small_checker_is_understood() -> None:
    assert parse_checker(recorded("small/checker_fenced")) == (Verdict(True), ())
    assert codes(parse_checker(recorded("small/checker_template"))) == ["no-verdict"]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("planner_echo", "echoed-prompt"),
        ("planner_echo_ru", "echoed-prompt"),
        ("planner_loop", "no-action"),
        ("planner_tags", "no-action"),
    ],
)
def test_a_small_planner_s_reply_is_a_defect(name: str, code: str) -> None:
    assert codes(parse_planner(recorded(f"small/{name}"))) == [code]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("synthesizer_raw_echo", "echoed-prompt"),
        ("synthesizer_placeholders", "echoed-prompt"),
        ("synthesizer_list", "no-sections"),
        ("synthesizer_twice", "repeated-section"),
    ],
)
def test_a_small_synthesizer_s_reply_is_a_defect(name: str, code: str) -> None:
    assert codes(parse_synthesizer(recorded(f"small/{name}"))) == [code]


# Planner -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty-reply"),
        ("<think>Action: search('x')</think>\n", "empty-reply"),
        ("<think>never closed\nAction: search('x')", "empty-reply"),
        ("I would search for it and answer later.", "no-action"),
        ('Think: search("x") found it, so answer("y") is near.', "no-action"),
        ('Action: search("a")\nAction: answer("b")', "two-actions"),
        ('Action: search("a") or answer("b")', "two-actions"),
        ('answer("a")\nanswer("b")', "two-actions"),
        ('ask("a?")\nask("b?")', "two-actions"),
        ('Action: answer("The revenue is (as of 2024', "unfinished-action"),
        ('Action: search("Samokat rev', "unfinished-action"),
        ('Action: answer("...")', "echoed-prompt"),
    ],
)
def test_a_planner_s_reply_with_a_defect(text: str, code: str) -> None:
    assert codes(parse_planner(Reply(text))) == [code]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('Action: search("a")\r\nAction: search("b")\r\n', Decision(queries=("a", "b"))),
        ('Think: why\n\n```\nAction: search("a")\n```\n', Decision("why", ("a",))),
        ('Sure!\nThought: why\nso.\nsearch("a"), search("A")', Decision("why\nso.", ("a",))),
        ("思考：为什么\n行动：搜索（“京东 营收”）", Decision("为什么", ("京东 营收",))),
        ('<think>a</think>Think: b\nAction: ask("Which year?")', Decision("b", ask="Which year?")),
        ('reasoning of a template\n</think>\nAction: answer("x [1.1]")', Decision(answer="x [1.1]")),
        ('Action: search("...")\nAction: search("a")', Decision("", ("a",))),
        ('answer("same")\n\nanswer("same")', Decision(answer="same")),
    ],
)
def test_a_planner_s_reply(text: str, value: Decision) -> None:
    assert decision(text) == value


def test_a_file_goes_before_the_text() -> None:
    assert decision('Action: answer("x")', next_query_txt="# why\n1. a\n2. b\n") == Decision("why", ("a", "b"))
    assert decision('Action: search("x")', next_query_txt=" \n") == Decision(queries=("x",))
    thought = '<think>\nsearch("x")\n</think>\n# why\nanswer("b (c)")'
    assert decision("Done!", next_query_txt=thought) == Decision("why", answer="b (c)")
    written = parse_planner(Reply("Done!", {"answer.md": "---\nstatus: complete\n---\nSamokat [1.2].\n"}))
    assert written == (Decision(answer="Samokat [1.2]."), ())


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"next_query.txt": 'search("a")\nanswer("b")'}, "two-actions"),
        ({"next_query.txt": 'search("a")', "answer.md": "b"}, "two-actions"),
        ({"next_query.txt": "Samokat revenue", "answer.md": "b"}, "two-actions"),
        ({"next_query.txt": 'search("...")'}, "echoed-prompt"),
        ({"next_query.txt": "<question>\nWhich?\n</question>\n"}, "echoed-prompt"),
        ({"next_query.txt": "# only reasoning\n"}, "no-action"),
        ({"answer.md": "---\nstatus: complete\n---\n"}, "empty-reply"),
        ({}, "empty-reply"),
    ],
)
def test_a_file_with_a_defect(files: dict[str, str], code: str) -> None:
    assert codes(parse_planner(Reply("", files))) == [code]


# Synthesizer -------------------------------------------------------------------------------------


def sections_of(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(section.title, section.lines) for section in rewrite(Reply(text)).sections]


@pytest.mark.parametrize(
    ("text", "sections"),
    [
        (
            "**Confirmed**\n- a [1.1]\n**Not found:**\n- none",
            [("**Confirmed**", ("- a [1.1]",)), ("**Not found:**", ())],
        ),
        ("## Summary\n## Confirmed\n- a [1.1]", [("Confirmed", ("- a [1.1]",))]),
        ("<summary>\n## Confirmed\n- a [1.1]\n</summary>", [("Confirmed", ("- a [1.1]",))]),
        ("---\nround: 2\n---\n## Confirmed\n- a [1.1]", [("Confirmed", ("- a [1.1]",))]),
        ("Think: x\n```\nSummary:\n## 已确认\n- a [1.1]\n## 已删除\n- gone\n```\n", [("已确认", ("- a [1.1]",))]),
        ("## Confirmed\n- a [1.1]\n\nCheers!", [("Confirmed", ("- a [1.1]",))]),
        ("## Confirmed\na [1.1]\n\nb [1.2]", [("Confirmed", ("a [1.1]", "", "b [1.2]"))]),
        ("## Confirmed\n- a\n  [1.1]\n\nb [person]", [("Confirmed", ("- a", "  [1.1]", "", "b [person]"))]),
        ("## Not found\n- a", [("Not found", ("- a",))]),
    ],
)
def test_sections_in_every_shape(text: str, sections: list[tuple[str, tuple[str, ...]]]) -> None:
    assert sections_of(text) == sections


@pytest.mark.parametrize(
    ("text", "removed"),
    [
        ("Removed: none", ()),
        ("Удалено:\n- нет", ()),
        ("已删除：\n- 无", ()),
        ("Removed:\n- (none)\n\nBye — for now", ()),
        ("Removed: a — b [1.1] - duplicate of c", (Removal("a — b [1.1]", "duplicate of c"),)),
        ("## Removed\n* a b [1.1]\n  — wrong citation", (Removal("a b [1.1]", "wrong citation"),)),
        ("Удалено:\n- А: б 2024 — 5 [1.1] — заменён на [2.1]", (Removal("А: б 2024 — 5 [1.1]", "заменён на [2.1]"),)),
        ("已删除：\n- 甲：乙 — 5 [1.1] — 被 [2.1] 取代", (Removal("甲：乙 — 5 [1.1]", "被 [2.1] 取代"),)),
        ("Removed:\n- a — b — c d", (Removal("a — b", "c d"),)),
        ("Removed:\n- a b", (Removal("a b", ""),)),
    ],
)
def test_what_was_removed_and_why(text: str, removed: tuple[Removal, ...]) -> None:
    assert rewrite(Reply(f"## Confirmed\n- a [1.1]\n{text}\n")).removed == removed


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Nothing new: a sports page.", "a sports page."),
        ("Think: looked\nНичего нового: это реклама.", "это реклама."),
        ("没有新内容：只有广告。", "只有广告。"),
        ("<think>x</think>\n> **Nothing new**: ads", "ads"),
    ],
)
def test_nothing_new(text: str, why: str) -> None:
    assert rewrite(Reply(text)) == Rewrite(nothing_new=why)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (" ", "empty-reply"),
        ("Nothing new", "no-reason"),
        ("Nothing new: and why.", "no-reason"),
        ("Ничего нового: почему", "no-reason"),
        ("## Confirmed\n- a [1.1]\nNothing new: ads", "two-actions"),
        ("The results say that nothing new: happened", "no-sections"),
        ("## Searches\n- 1 · a — found\n## Sources\n- [1.1]", "no-sections"),
        ("## Confirmed\n- a [1.1]\n## 2. Page\n- url: https://a.example.org\n", "echoed-prompt"),
        ('<raw_results note="x">\n## Confirmed\n- a', "echoed-prompt"),
    ],
)
def test_a_synthesizer_s_reply_with_a_defect(text: str, code: str) -> None:
    assert codes(parse_synthesizer(Reply(text))) == [code]


def test_a_summary_file_goes_before_the_text() -> None:
    file = "---\nround: 2\n---\n## Confirmed\n- a [1.1]\n## Sources\n- [1.1]\n"
    assert rewrite(Reply("Done.", {"summary.md": file})) == Rewrite(
        sections=(Section(SectionKind.CONFIRMED, "Confirmed", ("- a [1.1]",)),)
    )


# Checker -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('{"complete": true, "missing": []}', Verdict(True)),
        ('{"complete": true}', Verdict(True)),
        ('Here: {"note": {"a": 1}} {"Complete": "no", "missing": "B: c"} bye }', Verdict(False, ("B: c",))),
        (
            '<think>{"complete": true}</think>{"complete": false, "missing": [" a  b ", 3, "a b"]}',
            Verdict(False, ("a b",)),
        ),
        ('```json\n{"complete": "False", "missing": ["Чад: глава", "..."]}\n```', Verdict(False, ("Чад: глава",))),
    ],
)
def test_a_checker_s_reply(text: str, verdict: Verdict) -> None:
    assert parse_checker(Reply(text)) == (verdict, ())
    assert parse_checker(Reply("Written.", {"verdict.json": text})) == (verdict, ())


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty-reply"),
        ("The answer is complete.", "no-verdict"),
        ('{"complete": 1}', "no-verdict"),
        ('{"complete": true', "no-verdict"),
        ("{" * 100_000, "no-verdict"),
        ('{"a":' * 100_000, "no-verdict"),
        ('{"complete": true, "n": ' + "9" * 5000 + "}", "no-verdict"),
        ("<question>\nWhich?\n</question>", "echoed-prompt"),
        ('{"complete": false, "missing": ["..."]}', "no-missing"),
        ('{"complete": true, "missing": ["Chad: area"]}', "contradictory-verdict"),
    ],
)
def test_a_checker_s_reply_with_a_defect(text: str, code: str) -> None:
    assert codes(parse_checker(Reply(text))) == [code]


# Laws --------------------------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=60)
VALUE = TEXT.map(lambda text: " ".join(text.split())).filter(lambda text: not is_placeholder(text))


@given(st.lists(VALUE, min_size=1, max_size=3).map(distinct))
def test_law_queries_that_are_written_are_read(queries: tuple[str, ...]) -> None:
    text = "\n".join(["Think: why", *(f"Action: {render_call('search', query)}" for query in queries)])
    assert decision(text) == Decision("why", queries)


@given(
    st.lists(TEXT | st.sampled_from(["## Confirmed", "- a [1.1]", "Removed:", "```", "{", 'search("a")']), max_size=8)
)
def test_law_a_reply_is_a_value_or_has_defects_that_are_in_the_table(lines: list[str]) -> None:
    reply = Reply("\n".join(lines))
    for parsed in (parse_planner(reply), parse_synthesizer(reply), parse_checker(reply)):
        for code in codes(parsed):
            assert f"| {code} " in str(module.__doc__)
