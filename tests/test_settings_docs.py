"""docs/settings.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from harness.given import parse_settings
from harness.options import AgentSpec, Rung
from harness.settings import DEFAULTS, SETTINGS
from harness.sheet import typed
from harness.specs import AGENT_KEYS

DOCS = (Path(__file__).parent.parent / "docs/settings.md").read_text(encoding="utf-8")


def rows(heading: str) -> dict[str, list[str]]:
    """Key → the other cells, of the first table below a line."""
    table = re.search(r"\n\|.*?\n\n", DOCS[DOCS.index(heading) :], re.DOTALL)
    assert table is not None
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table[0].split("\n") if line]
    return {row[0].strip("`"): row[1:] for row in cells[2:]}


def written(value: object) -> str:
    """A default as the table writes it."""
    match value:
        case bool():
            return f"`{str(value).lower()}`"
        case int() | float():
            return f"`{value:.0f}`" if value == int(value) else f"`{value:g}`"
        case (Rung(provider), *_):
            return f"`{provider}`"
        case (str(name), *_):
            return f"`{name}`"
        case str() if value:
            return f"`{value}`"
        case _:
            return "none"


def test_the_table_names_every_key_its_default_and_who_may_set_it() -> None:
    found = {key: (cells[1], cells[2]) for key, cells in rows("## Keys").items()}
    assert found == {key: (written(getattr(DEFAULTS, key)), SETTINGS[key].question.value) for key in SETTINGS}
    assert list(found) == list(SETTINGS)


def test_the_table_of_an_agents_keys() -> None:
    found = {key: cells[1] for key, cells in rows("An agent has one of").items()}
    assert found == {key: written(getattr(AgentSpec("x"), key)) for key in AGENT_KEYS}


@pytest.mark.parametrize("example", re.findall(r"```yaml\n(.*?)```", DOCS, re.DOTALL))
def test_every_example_counts_as_it_stands(example: str) -> None:
    assert set(typed(parse_settings(example, "docs/settings.md", Path("/p")))) == set(yaml.safe_load(example))


def test_ranges_in_the_table_are_those_of_the_code() -> None:
    for key, cells in rows("## Keys").items():
        for least, most in re.findall(r"(\d+) to (\d+)", cells[0]):
            for value in (least, most):
                assert typed(parse_settings(f"{key}: {value}", "x", Path("/p")))
            with pytest.raises(Exception, match=f"{least} to {most}"):
                typed(parse_settings(f"{key}: {int(most) + 1}", "x", Path("/p")))
