"""Versions of the summary, replayed from the trace: exact, and honest about what cannot be replayed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.deltas import delta, patched
from harness.store.trace import newest
from harness.versions import VERSION, fingerprint, replay, version_record

texts = st.lists(st.sampled_from(["", "a", "b", "- fact", "## Confirmed", "ё", "\r", "\ud800"]), max_size=12).map(
    "\n".join
)


@given(texts, texts)
def test_a_delta_makes_the_new_text_of_the_old(old: str, new: str) -> None:
    assert patched(old, json.loads(json.dumps(delta(old, new)))) == new


@given(texts)
def test_no_change_is_no_delta(text: str) -> None:
    assert delta(text, text) == []


@pytest.mark.parametrize(
    "wrong", [None, "x", [[0]], [[0, 9, ["x"]]], [[1, 0, []]], [[0, 1, [2]]], [[1, 2, []], [0, 2, []]]]
)
def test_what_is_no_delta_is_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match="change"):
        patched("a\nb", wrong)


@given(st.lists(texts, min_size=1, max_size=6), st.data())
def test_every_version_is_replayed_whatever_stood_between(written: list[str], data: st.DataObject) -> None:
    """Where somebody wrote without a trace line, the next line holds the whole text."""
    records, known, before = [], "", ""
    for text in written:
        if data.draw(st.booleans()):
            before = data.draw(texts)
        record = {"role": "synthesizer", **version_record(before, text, known)}
        records.append(json.loads(json.dumps(record)))
        known, before = str(record[VERSION]), text
    assert [version.text for version in replay(records)] == written


def test_a_trace_that_lost_a_line_goes_on_at_the_next_whole_version() -> None:
    first, second = version_record("", "a\nb", ""), version_record("a\nb", "a\nc", fingerprint("a\nb"))
    third = version_record("other", "d", fingerprint("a\nc"))
    assert [version.text for version in replay([second, third])] == ["d"]
    assert [version.text for version in replay([first, {**second, "delta": [[1, 2, ["x"]]]}, third])] == ["a\nb", "d"]


def test_the_newest_version_is_found_from_the_end(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    assert newest(path, VERSION) is None
    lines = [json.dumps({"version": "old"}), json.dumps({"version": "new"})]
    lines += [json.dumps({"role": "planner", "think": 'it says "version"' + "x" * 700}) for _ in range(300)]
    path.write_text("\n".join([*lines, '{"version": "torn']), encoding="utf-8")
    assert newest(path, VERSION) == "new"
