"""Front matter is read as strings, one block at a time, and rewritten the same way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.formats.blocks import SIMPLE, load, load_yaml
from harness.formats.front import (
    front_count,
    front_list,
    front_problems,
    front_records,
    front_value,
    open_problems,
    put,
    put_records,
    render_front,
    split_front,
    without,
)
from harness.model import FrontMatter

FILE = """\
---
# settings of this case
Rounds: 10        # search rounds
ready when: source: any
entities:
- Самокат
# a comment inside
- Яндекс: Лавка
fields: [
  "revenue",
  market share
]
note: |
  one

  two

# about the limits
minutes: 10:30
unattended: no
---
text
"""


def front(text: str) -> FrontMatter:
    found = split_front(f"---\n{text}---\n")[0]
    assert found is not None
    return found


def test_values_are_the_strings_that_stand_there() -> None:
    found, body = split_front(FILE)
    assert found is not None
    assert body == "text\n"
    assert front_value(found, "rounds") == "10"
    assert front_value(found, "ready_when") == "source: any"  # YAML refuses it
    assert front_value(found, "minutes") == "10:30"  # YAML: 630
    assert front_value(found, "unattended") == "no"  # YAML: False
    assert front_value(found, "note") == "one\n\ntwo\n"
    assert front_value(found, "missing") is None
    assert front_list(found, "entities") == ("Самокат", "Яндекс: Лавка")
    assert front_list(found, "fields") == ("revenue", "market share")
    assert front_problems(found, "question.md") == ()
    assert render_front(found) + body == FILE


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('"quoted" and more', '"quoted" and more'),
        ("*bold*", "*bold*"),
        ("@someone", "@someone"),
        ("`code`", "`code`"),
        ("50 % # half", "50 %"),
        ("C# and F#", "C# and F#"),
        ("2024-01-01", "2024-01-01"),
        ("~", "~"),
        ("", ""),
        ("a\tb", "a\tb"),
        ("a: b # half", "a: b"),
        ("[see above", "[see above"),
    ],
)
def test_odd_values_are_taken_as_written(value: str, text: str) -> None:
    assert front_value(front(f"key: {value}\nother: 1\n"), "key") == text
    assert front_value(front("round:3\n"), "round") == "3"


@pytest.mark.parametrize(
    ("written", "items"),
    [
        (" [a, b]", ("a", "b")),
        ("\n- a\n- b", ("a", "b")),
        ("\n  - a\n  - b", ("a", "b")),
        ("\n  a:\n  b: c", ("a", "b: c")),
        (" a, b", ("a", "b")),
        (" Самокат，Лавка、ВкусВилл", ("Самокат", "Лавка", "ВкусВилл")),
        (" Foods, Inc.; Lavka", ("Foods, Inc.", "Lavka")),
        (" a", ("a",)),
        ("", ()),
        (" []", ()),
        (" [a, b", ("a", "b")),
        ('\n- say "x": y\n- b', ('say "x": y', "b")),
    ],
)
def test_a_list_is_understood_in_every_way_people_write_it(written: str, items: tuple[str, ...]) -> None:
    assert front_list(front(f"key:{written}\nother: 1\n"), "key") == items


def test_one_broken_record_does_not_hide_the_others() -> None:
    found = front(
        'queries:\n- {query: "x", provider: tavily}\n- {query: say "hi": x, provider: a}\n- {query: y, provider: 5}\n'
    )
    assert front_records(found, "queries") == ({"query": "x", "provider": "tavily"}, {"query": "y", "provider": "5"})
    assert [problem.line for problem in front_problems(found, "raw_1.md")] == [2]


def test_what_is_not_understood_is_named_with_its_line_and_stays() -> None:
    text = '---\nround: 3\n# fine\nodd line\nlist: [a, "b\nother: 1\nround: 4\n---\nbody\n'
    found, body = split_front(text)
    assert found is not None
    problems = front_problems(found, "summary.md")
    assert [(problem.file, problem.line) for problem in problems] == [("summary.md", n) for n in (4, 5, 7)]
    assert "line 2" in problems[2].what
    assert front_value(found, "round") == "3"
    assert front_value(found, "other") == "1"
    assert render_front(found) + body == text


@pytest.mark.parametrize(
    "page",
    [
        "",
        "text",
        "---\n\n---\ntext",
        "---\n# Title\n---\ntext\n",
        "---\nA paragraph between two rules.\n---\n",
        "---\nNote: a paragraph\nthat goes on\nbetween two rules\n---\n",
        "---\nhttps://example.org\n---\n",
        "---\nround: 3\n## Confirmed\n",
        "\n---\nround: 3\n---\n",
        "----\nround: 3\n----\n",
    ],
)
def test_a_page_that_begins_with_a_rule_is_no_front_matter(page: str) -> None:
    assert split_front(page) == (None, page)


def test_a_missing_end_is_a_problem_and_a_rule_is_none() -> None:
    assert [problem.line for problem in open_problems("---\nround: 3\n## Confirmed\n", "summary.md")] == [1]
    assert open_problems("---\nA page that begins with a rule.\n", "summary.md") == ()
    assert open_problems("---\nround: 3\n---\n", "summary.md") == ()


def test_empty_front_matter_is_front_matter() -> None:
    assert split_front("---\n---\ntext") == (FrontMatter(), "text")
    assert split_front("---\na: 1\n---") == (FrontMatter((("a", "a: 1\n"),)), "")


def test_put_touches_only_its_own_block() -> None:
    found, body = split_front(FILE)
    assert found is not None
    changed = render_front(put(put(found, "rounds", "12"), "new", ["a", "b: c"])) + body
    expected = FILE.replace("Rounds: 10        # search rounds", "rounds: 12")
    assert changed == expected.replace("unattended: no\n", 'unattended: no\nnew: [a, "b: c"]\n')
    gone = render_front(put(found, "minutes", None)) + body
    assert gone == FILE.replace("minutes: 10:30\n", "")
    assert render_front(put(front("round: 3\n"), "round", None)) == ""


def test_setting_a_repeated_key_settles_it() -> None:
    assert put(front("round: 3\na: 1\nround: 4\n"), "round", "5") == front("round: 5\na: 1\n")


@pytest.mark.parametrize(
    ("value", "count"),
    [("3", 3), ("007", 7), ("soon", None), ("-1", None), ("3.5", None), ("9" * 5000, None), ("", None)],
)
def test_a_count_is_a_whole_number_or_a_problem(value: str, count: int | None) -> None:
    found = front_count(front(f"a: 1\nround: {value}\n"), "round", "summary.md")
    assert found.value == count
    assert (found.problem is None) == (count is not None)
    assert found.problem is None or found.problem.line == 3


@pytest.mark.parametrize("value", ["[" * 50_000, "{a: " * 50_000, "&a [*a]", "!!python/object:os.system x", "&a x"])
def test_hostile_yaml_is_harmless(value: str) -> None:
    assert isinstance(front_value(front(f"key: {value}\nother: 1\n"), "key"), str)


def test_aliases_of_aliases_are_not_expanded() -> None:
    rows = ["&a0 [x, x]"] + [f"&a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    found = front(f"key: [{', '.join(rows)}]\n")
    assert len(str(front_list(found, "key"))) < 10_000
    assert len(front_problems(found, "question.md")) == 1


keys = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True)
fronts = st.dictionaries(keys, st.one_of(st.text(), st.lists(st.text())), max_size=4)


@given(fronts, keys, st.text())
def test_what_was_put_is_read_back(values: dict[str, str | list[str]], key: str, value: str) -> None:
    found = FrontMatter()
    for name, content in values.items():
        found = put(found, name, content)
    found = put(found, key, value)
    back, body = split_front(render_front(found) + "body")
    assert (back, body) == (found, "body")
    assert front_value(found, key) == value
    assert not front_problems(found, "f")
    for name, content in values.items():
        if name != key:
            expected = tuple(i.strip() for i in content if i.strip()) if isinstance(content, list) else content
            assert (front_list(found, name) if isinstance(content, list) else front_value(found, name)) == expected


@given(st.lists(st.dictionaries(keys, st.text(), min_size=1), min_size=1))
def test_records_are_read_back(rows: list[dict[str, str]]) -> None:
    found = put_records(FrontMatter(), "queries", rows)
    assert front_records(found, "queries") == tuple(rows)
    assert split_front(render_front(found))[0] == found
    assert put_records(found, "queries", []) == FrontMatter()


lines = st.lists(
    st.sampled_from(["a: 1", "B: [x", "- y", "]", "  z", "# c", "", "odd", "a: 2", "d:", "e: x: y", "f: |", "g: 'h"])
)


@given(lines)
def test_every_line_survives_a_rewrite(inner: list[str]) -> None:
    text = "".join(f"{line}\n" for line in ["---", *inner, "---", "body"])
    found, body = split_front(text)
    assert (render_front(found) if found else "") + body == text or found == FrontMatter()
    if found:
        front_problems(found, "f")
        kept = render_front(without(put(found, "new", "1"), ["a"]))
        stay = [line for key, block in found.blocks if key != "a" for line in block.split("\n")[:-1]]
        assert [line.removeprefix("# ") for line in kept.split("\n")[1:-2]] == [
            line.removeprefix("# ") for line in [*stay, "new: 1"]
        ]


VALUES = st.text("abcЯя 09.,;'?!/%()+«»№₽$€–—-[]:#", min_size=1, max_size=20)


@given(VALUES)
def test_what_is_read_without_yaml_is_what_yaml_reads(value: str) -> None:
    block = f"key: {value}\n"
    if SIMPLE.fullmatch(block):
        assert load(block) == load_yaml(block)


@pytest.mark.parametrize(
    "block", ["round: 3\n", "entities: [Samokat, Yandex Lavka, 5 %]\n", "status: no\n", "k: 'a'\n"]
)
def test_the_usual_front_matter_is_read_alike(block: str) -> None:
    assert load(block) == load_yaml(block)
