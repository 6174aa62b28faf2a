"""Cutting a text of which only a piece is held at a time: lines, strings, rows and titles longer than the piece."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import pytest

from harness.cutting import Cut, cut

BUDGET = 2_000
LONG = 700_000  # characters: more than are ever held


def characters(text: str) -> int:
    return len(text)


def prose(chance: random.Random) -> str:
    words = ["рынок", "вырос", "г.", "delivery", "e.g.", "北京。", "Mr.", "12.5", "End."]
    return " ".join(chance.choices(words, k=chance.randint(5, 400))) + "\n"


def table(chance: random.Random) -> str:
    return "| a | b |\n|---|---|\n" + "".join(f"| r{k} | {k} |\n" for k in range(chance.randint(1, 300)))


def values(chance: random.Random) -> str:
    return "### Data\n\na,b,c\n" + "".join(f'{k},"x\n\n{k}",z\n' for k in range(chance.randint(3, 200)))


def records(chance: random.Random) -> str:
    found = [{"id": k, "in": {"deep": [k, "}]"]}} for k in range(chance.randint(1, 300))]
    return "### Records\n\n" + json.dumps(found) + "\n"


def code(chance: random.Random) -> str:
    return "```\n" + "# not a heading\n\n" * chance.randint(1, 300) + "```\n"


def rows(chance: random.Random) -> str:
    return "<table>\n" + "<tr><td>1</td></tr>\n" * chance.randint(1, 200) + "</table>\n"


def tools(chance: random.Random) -> str:
    return f"<tool_call>x</tool_call>\n<tool_result>\n{prose(chance)}</tool_result>\n"


KINDS = [prose, prose, prose, table, values, records, code, rows, tools]


def long_text(seed: int, size: int = 600_000) -> str:
    chance = random.Random(seed)
    found: list[str] = []
    length = number = 0
    while length < size:
        if chance.random() < 0.1:
            number += 1
            found.append(f"## {number}. Title\n- url: https://e.org/{number}\n\n")
        found.append(chance.choice(KINDS)(chance) + "\n")
        length += len(found[-1])
    return "".join(found)


def pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def parts(text: str, size: int = 100_003, at: tuple[int, ...] = (), budget: int = BUDGET) -> list[Cut]:
    return list(cut(pieces(text, size), budget, characters, at=at))


@pytest.mark.parametrize("seed", range(2))
def test_what_is_held_decides_nothing(seed: int) -> None:
    text = long_text(seed)
    found = parts(text)
    assert "".join(text[part.start : part.end] for part in found) == text
    assert all(len(part.lead) + part.end - part.start <= BUDGET for part in found)
    assert parts(text, size=777) == parts(text, size=len(text)) == found
    middle = found[len(found) // 2].start
    assert parts(text, at=(middle,)) == found
    # Stopped before it elsewhere, and loaded otherwise: the rest is the same.
    assert [part for part in parts(text, at=(12_345, middle)) if part.start >= middle] == found[len(found) // 2 :]


LONG_TEXTS = {
    "a line": "x" * LONG,
    "blanks": " " * LONG,
    "line ends": "\n" * LONG,
    "a title": f"## 1. {'t' * LONG}\n- url: https://e.org\n\ntext",
    "a heading": f"### {'h' * LONG}\n\ntext",
    "a fence": "```\n" + "y" * LONG,
    "an unclosed fence": "~~~\n" + "line\n" * (LONG // 5),
    "a row": "| a |\n|---|\n| " + "r" * LONG + " |\n| b |\n",
    "a value": 'a,b\n1,2\n3,4\n"' + "v\n" * (LONG // 2) + '",5\n6,7\n',
    "a string": '[{"a": "' + 's\\"' * (LONG // 3) + '"}, {"b": 1}]\n\ntext',
    "numbers": "[" + ",".join(["1"] * (LONG // 2)) + "]",
    "brackets": "[" * LONG,
    "an html row": "<table><tr><td>" + "c" * LONG + "</td></tr></table>\n\ntext",
    "a tool call": "<tool_call>" + "w " * (LONG // 2) + "</tool_call>",
    "an action": "Action: a\nObservation: " + "o\n" * (LONG // 2),
    "marks": "e" + "\u0301" * LONG,
    "many headings": "# h\n" * (LONG // 4),
    "many tags": "<table><tr><td>1</td></tr></table>\n" * (LONG // 35),
}


@pytest.mark.parametrize("kind", LONG_TEXTS)
def test_what_is_longer_than_what_is_held(kind: str) -> None:
    text = LONG_TEXTS[kind]
    found = parts(text, budget=20_000)
    assert "".join(text[part.start : part.end] for part in found) == text
    assert all(len(part.lead) + part.end - part.start <= 20_000 for part in found)
    assert parts(text, size=30_011, budget=20_000) == found
    assert len(found) < 4 * len(text) / 20_000 + 4
