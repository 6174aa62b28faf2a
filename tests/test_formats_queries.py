"""next_query.txt as the Planner, other agents and people write it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.formats.calls import Action, blank_thoughts, is_placeholder, is_reasoning, render_call, without_thoughts
from harness.formats.queries import actions, distinct, parse_next_query, render_next_query
from harness.model import NextQuery


def values(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(action.kind, action.values) for action in actions(text)]


def test_the_planners_own_form() -> None:
    text = "# round: 3\n# directions: 2\n# One source for Lavka.\n#\n# So its own report.\nYandex Lavka revenue 2024\n"
    parsed = parse_next_query(text)
    assert parsed == NextQuery(
        round=3,
        directions=2,
        reasoning=("One source for Lavka.", "", "So its own report."),
        queries=("Yandex Lavka revenue 2024",),
    )
    assert render_next_query(parsed) == text


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("", ()),
        (" \n\t\n", ()),
        ("Samokat revenue 2024", ("Samokat revenue 2024",)),
        ("  Samokat   revenue \n\nLavka revenue\n", ("Samokat revenue", "Lavka revenue")),
        ("#MeToo 2024\n# reasoning\n## a heading", ("#MeToo 2024",)),
        (
            "- Samokat revenue\n* Lavka revenue\n• ВкусВилл выручка",
            ("Samokat revenue", "Lavka revenue", "ВкусВилл выручка"),
        ),
        ("I need two:\n1. Samokat revenue\n2) Lavka revenue", ("Samokat revenue", "Lavka revenue")),
        ("3.5 inch floppy sales\n2024 Samokat revenue", ("3.5 inch floppy sales", "2024 Samokat revenue")),
        (
            "\"Samokat revenue\"\n«выручка Лавки»\n“京东 营收”\n'Ozon'",
            ("Samokat revenue", "выручка Лавки", "京东 营收", "Ozon"),
        ),
        ('"Samokat" OR "Lavka" revenue', ('"Samokat" OR "Lavka" revenue',)),
        ('"Samokat" OR "Lavka"', ('"Samokat" OR "Lavka"',)),
        ('"He said \\"yes\\" twice"', ('He said "yes" twice',)),
        ("**Samokat revenue**\n`Lavka revenue`", ("Samokat revenue", "Lavka revenue")),
        ("Sure! Here is the query:\n\n```text\nSamokat revenue 2024\n```\nGood luck!", ("Samokat revenue 2024",)),
        ("Sure! Here is the query:\nSamokat revenue 2024", ("Samokat revenue 2024",)),
        ("Think: only one source\nSamokat revenue 2024", ("Samokat revenue 2024",)),
        ("Мысль: мало источников\nвыручка Самоката", ("выручка Самоката",)),
        ("思考：缺少来源\n京东 营收", ("京东 营收",)),
        ("Action: Samokat revenue\nwhy: one source", ("Samokat revenue",)),
        ("Запрос: выручка Самоката", ("выручка Самоката",)),
        ("Lavka\nlavka\nLAVKA\nSamokat", ("Lavka", "Samokat")),
        ('search("...")', ()),
        ('search("…")', ()),
        ('Think: x\nAction: search("<query>")', ()),
        ("<think>search for Ozon\nOzon</think>\nSamokat", ("Samokat",)),
        ('We lack revenue.\nsearch("Samokat revenue") to close it', ("Samokat revenue",)),
        ('So next comes search("Samokat revenue") I think', ("Samokat revenue",)),
        ('# search("not this")\nThink: I did search("nor this")\nsearch("this")', ("this",)),
        ('search("a1")\nAction: b2\nprose', ("a1", "b2")),
        ('# Reasoning\n1. We know X.\n2. We lack Y.\nAction: search("Y")', ("Y",)),
    ],
)
def test_queries_in_every_shape(text: str, queries: tuple[str, ...]) -> None:
    parsed = parse_next_query(text)
    assert parsed.queries == queries
    assert (parsed.answer, parsed.ask, parsed.problems) == (None, None, ())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('search("a b")', [("search", ("a b",))]),
        ("search('a', \"b\")", [("search", ("a", "b"))]),
        ("search('Shu'ayb mountain')", [("search", ("Shu'ayb mountain",))]),
        ('Action: search("отчёт «Самоката» за 2024")', [("search", ("отчёт «Самоката» за 2024",))]),
        ("Action: search(«отчёт „Самоката“ 2024»)", [("search", ("отчёт „Самоката“ 2024",))]),
        ('search("отчёт "Самокат", "Лавка" 2024")', [("search", ('отчёт "Самокат", "Лавка" 2024',))]),
        ('search("Samokat" "Lavka" revenue)', [("search", ('"Samokat" "Lavka" revenue',))]),
        ('search("a ("b") c")', [("search", ('a ("b") c',))]),
        ('search("a \\"b\\" c")', [("search", ('a "b" c',))]),
        ("Action： search（“京东 营收”）", [("search", ("京东 营收",))]),
        ("行动：搜索（“京东 营收”）", [("search", ("京东 营收",))]),
        ("Действие: поиск(«выручка Самоката»)", [("search", ("выручка Самоката",))]),
        ("Action: search(Samokat revenue)", [("search", ("Samokat revenue",))]),
        ('search("mixed”)', [("search", ("mixed",))]),
        ('search("no closing quote)', [("search", ("no closing quote",))]),
        ('search("no bracket"', [("search", ("no bracket",))]),
        ('search(query="a")\nsearch(["b", "c"])', [("search", ("a",)), ("search", ("b", "c"))]),
        ('search(\n  "a",\n  "b",\n)', [("search", ("a", "b"))]),
        ('1. search("a"), search("b")\n- **Action:** `search("c")`', [("search", (v,)) for v in "abc"]),
        ('> Action 1: Search("a")', [("search", ("a",))]),
        ('search("a") OR answer("b")', [("search", ("a",)), ("answer", ("b",))]),
        (
            'answer("Line (the "best")\nsecond [1.1].")\n\nHope (it "helps").',
            [("answer", ('Line (the "best")\nsecond [1.1].',))],
        ),
        ('answer("""He said "x" (y)\n# z""")', [("answer", ('He said "x" (y)\n# z',))]),
        ('answer("one\\n\\ntwo")', [("answer", ("one\n\ntwo",))]),
        ('answer("a :( smiley\nand Shu\'ayb [1.2]")', [("answer", ("a :( smiley\nand Shu'ayb [1.2]",))]),
        (
            'answer("## Title\n- search(x) was tried\n- 3 (of "4") [1.2]")',
            [("answer", ('## Title\n- search(x) was tried\n- 3 (of "4") [1.2]',))],
        ),
        ('ask("Calendar or fiscal year?")', [("ask", ("Calendar or fiscal year?",))]),
        # told of, not done
        ('I would search("x") or answer("y") now', []),
        ('search("x") found two sources', []),
        ("The answer (see above) is in the search results.", []),
        ("answer\nsearch", []),
        ('search("...", "…")', []),
        ('Action: search("...")   OR   answer("...")', []),
        ('answer("…multi-line text…")', []),
        ("research(“x”)", []),
    ],
)
def test_calls_in_every_shape(text: str, found: list[tuple[str, tuple[str, ...]]]) -> None:
    assert values(text) == found


def test_where_a_call_stands_and_that_it_has_no_end() -> None:
    text = 'Think: x\n- Action: search("a")\nanswer("cut off (here'
    assert actions(text) == [
        Action("search", ("a",), 9, 30),
        Action("answer", (), 31, len(text), finished=False),
    ]
    assert actions('search("...")') == []
    assert actions('search("...")', placeholders=True) == [Action("search", (), 0, 13)]


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("<think>search</think>\nx", "x"),
        ("<thinking>\na\n</thinking>x", "x"),
        ("<reasoning>a</reasoning>\n<think>b</think>x", "x"),
        ("<think>never closed\nAction: search('x')", ""),
        ("opened by the template\n</think>\nx", "x"),
        ('answer("the tags <think> and </think>")', 'answer("the tags <think> and </think>")'),
        ("a < b", "a < b"),
    ],
)
def test_thoughts_are_no_text(text: str, rest: str) -> None:
    assert without_thoughts(text) == rest


def test_answers_and_questions() -> None:
    parsed = parse_next_query(
        '# round: 4\n# All cells are there.\nanswer("Samokat: 154.0 bn ₽ [1.2].\n\n# Rest\n1. none")\n'
    )
    assert parsed.answer == "Samokat: 154.0 bn ₽ [1.2].\n\n# Rest\n1. none"
    assert (parsed.round, parsed.reasoning, parsed.queries) == (4, ("All cells are there.",), ())
    assert parse_next_query('Action: ask("Which year?")').ask == "Which year?"


@pytest.mark.parametrize(
    ("text", "line", "queries"),
    [
        ('search("a")\nanswer("b")', 2, ("a",)),
        ('answer("b")\nsearch("a")', 1, ("a",)),
        ('ask("b?")\n\nanswer("c")', 3, ()),
        ('\nsearch("a")\nsearch("torn (off', 3, ("a",)),
    ],
)
def test_what_is_not_understood_is_reported_with_its_line(text: str, line: int, queries: tuple[str, ...]) -> None:
    parsed = parse_next_query(text, "case/next_query.txt")
    assert parsed.queries == queries
    assert parsed.answer is None
    assert [(problem.file, problem.line) for problem in parsed.problems] == [("case/next_query.txt", line)]


def test_only_the_first_lines_are_header() -> None:
    parsed = parse_next_query("# a note of mine\n# round: 7\n# round: 8\nquery\n# directions: 2")
    assert (parsed.round, parsed.directions) == (7, None)
    assert parsed.reasoning == ("a note of mine", "round: 8", "directions: 2")
    assert parse_next_query("# round: " + "9" * 5000).round is None


LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=40)
MARKS = "\"'`«»“”()[]{}\\:：，（）-#*> x."
WORDS = (
    "search(",
    "answer(",
    '")',
    "Action:",
    "Think:",
    "<think>",
    "</think>",
    "round: 3",
    "\\n",
    "\\u003c",
    "1. ",
    "q=",
)
TRICKY = st.sampled_from([*MARKS, *WORDS])
MIXED = st.lists(TRICKY | LINE, max_size=8).map("".join)
QUERY = MIXED.map(lambda text: " ".join(text.split())).filter(lambda text: not is_placeholder(text))
TEXT = (
    st.lists(MIXED, min_size=1, max_size=5).map("\n".join).map(str.strip).filter(lambda text: not is_placeholder(text))
)
REASONING = st.lists(MIXED.map(lambda line: line.replace("\n", " ").rstrip()), max_size=3).map(tuple)
NUMBER = st.none() | st.integers(0, 999_999_999)


@given(NUMBER, NUMBER, REASONING, st.lists(QUERY, max_size=4).map(distinct))
def test_law_queries_come_back(
    round_: int | None, directions: int | None, reasoning: tuple[str, ...], queries: tuple[str, ...]
) -> None:
    value = NextQuery(round=round_, directions=directions, reasoning=reasoning, queries=queries)
    read = parse_next_query(render_next_query(value))
    assert (read, read.problems) == (value, ())


@given(NUMBER, REASONING, TEXT, st.booleans())
def test_law_answers_and_questions_come_back(
    round_: int | None, reasoning: tuple[str, ...], text: str, asked: bool
) -> None:
    value = NextQuery(round=round_, reasoning=reasoning, answer=None if asked else text, ask=text if asked else None)
    read = parse_next_query(render_next_query(value))
    assert (read, read.problems) == (value, ())


@given(TEXT, LINE.filter(lambda line: not is_reasoning(line)))
def test_law_a_written_call_is_read_back_in_a_reply(text: str, think: str) -> None:
    reply = f"Think: {think}\nAction: {render_call('answer', text)}\n"
    assert values(reply) == [("answer", (text,))]


@given(MIXED | TEXT)
def test_law_any_text_is_a_file(text: str) -> None:
    parsed = parse_next_query(text)
    assert sum((bool(parsed.queries), parsed.answer is not None, parsed.ask is not None)) <= 1
    assert all(query == " ".join(query.split()) for query in parsed.queries)
    assert blank_thoughts(text).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "unit",
    [
        'Action: search("\n',
        'answer("x") is prose\n',
        'search("...") OR answer("...")\n',
        "<think>\n",
        ">",
        " ",
        '"',
        "1. ",
        '")',
    ],
)
def test_a_model_that_loops_is_read_in_no_time(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    start = time.perf_counter()
    actions(text)
    without_thoughts(text)
    parse_next_query(text)
    actions(f'answer("{text}')
    assert time.perf_counter() - start < 5
