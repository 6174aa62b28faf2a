"""What replies report makes counts larger, and only what must be the vocabulary's doing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.calibration import AGENTS, FILE, LIMIT, MOST, OWN_PROMPT, learn, learned

COUNTED = 100_000


def teach(cache: Path, factor: float, *, key: str = "mine", times: int = 2) -> float:
    for _ in range(times):
        learn(cache, key, COUNTED, int(factor * COUNTED) + OWN_PROMPT)
    return learned(cache, key, 1.2)


def test_a_factor_shown_twice_counts_from_then_on(tmp_path: Path) -> None:
    assert teach(tmp_path, 1.5, times=1) == 1.2
    assert teach(tmp_path, 1.5, times=1) == 1.5
    assert teach(tmp_path, 1.3) == 1.5
    assert teach(tmp_path, 1.7) == 1.7
    assert learned(tmp_path, "another", 1.2) == 1.2
    assert learned(tmp_path, "mine", 2.5) == 2.5


@pytest.mark.parametrize(
    ("counted", "reported"),
    [
        (1_500, 30_000),  # nearly all of it the program's own prompt
        (10_000, 16_000),  # 6,000 tokens on top are no factor of 1.6
        (50_000, 130_000),  # two requests and more
        (50_000, 40_000),
        (50_000, 0),
        (0, 50_000),
        (-5, -70_000),
    ],
)
def test_what_teaches_nothing(tmp_path: Path, counted: int, reported: int) -> None:
    for _ in range(3):
        learn(tmp_path, "mine", counted, reported)
    assert learned(tmp_path, "mine", 1.0) == 1.0
    assert not (tmp_path / FILE).exists()


@given(st.lists(st.tuples(st.integers(-10, 10**7), st.integers(-10, 10**7)), max_size=6))
def test_the_factor_never_leaves_its_bounds_and_only_grows(
    tmp_path_factory: pytest.TempPathFactory, reports: list[tuple[int, int]]
) -> None:
    cache = tmp_path_factory.mktemp("cache")
    before = 1.2
    for counted, reported in reports:
        learn(cache, "mine", counted, reported)
        now = learned(cache, "mine", 1.2)
        assert before <= now <= MOST
        before = now


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'{"mine": 1.9}',
        b'{"mine": [1e999, NaN, "1.9", null, true, 3.0, -2]}',
        b'{"mine": [[1.9], [1.9]]}',
        b"[" * 100_000,
        b"\xff\xfe\x00",
        b'{"mine": [' + b"9" * 10_000 + b"]}",
        b'{"mine": [1.9, 1.9], "x": "' + b"x" * LIMIT + b'"}',
    ],
)
def test_a_file_that_makes_no_sense_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    assert learned(tmp_path, "mine", 1.2) == 1.2
    assert teach(tmp_path, 1.5) == 1.5


def test_the_file_does_not_grow(tmp_path: Path) -> None:
    for number in range(AGENTS + 20):
        teach(tmp_path, 1.5, key=f"{number}\x01" * 200)
    assert len(json.loads((tmp_path / FILE).read_bytes())) == AGENTS
    assert (tmp_path / FILE).stat().st_size < LIMIT
    assert teach(tmp_path, 1.6, key="\ud800") >= 1.2


def test_a_cache_that_takes_no_file_forgets(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert teach(tmp_path / "file", 1.5) == 1.2
    (tmp_path / FILE).mkdir()
    assert teach(tmp_path, 1.5) == 1.2
