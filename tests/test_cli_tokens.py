"""`harness tokens`: files, folders, stdin or the case in; a table or JSON out."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.counters import ESTIMATE, counter_for
from harness.options import AgentSpec, Settings
from harness.sizes import Column, blocks, columns_of, sizes_of
from tests.program import DOCUMENTS, harness, user_config
from tests.trees import write_tree

TEXT = "Samokat had a revenue of 154.0 bn roubles in 2024.\n" * 50


def exact(text: str, encoding: str = "cl100k_base", safety: float = 1.0) -> int:
    return counter_for(encoding, safety, Path("unused"))(text)


def test_a_file_by_both_vocabularies() -> None:
    write_tree(Path(), {"a.txt": TEXT})
    ran = harness("tokens", "a.txt")
    assert (ran.code, ran.err) == (0, "")
    head, row, *told = ran.out.splitlines()
    assert head.split() == ["characters", "cl100k_base", "o200k_base"]
    assert row.split() == ["a.txt", "2,550", f"{exact(TEXT):,}", f"{exact(TEXT, 'o200k_base'):,}"]
    assert told == ["", "cl100k_base: tokens by cl100k_base", "o200k_base: tokens by o200k_base"]


def test_an_agent_counts_as_its_spec_says_and_has_a_window() -> None:
    user_config("agents:\n  mine: {command: [a], window: 1000, output: 100, safety: 2}\n")
    write_tree(Path(), {"a.txt": TEXT})
    found = json.loads(harness("tokens", "a.txt", "--agent", "mine", "--agent", "openai:gpt-4", "--json").out)
    assert found["columns"]["mine"] == {"counter": "cl100k_base × 2", "exact": True, "window": 1000}
    assert found["columns"]["openai:gpt-4"]["counter"] == "cl100k_base"
    assert found["files"][0]["tokens"] == {"mine": 2 * exact(TEXT), "openai:gpt-4": exact(TEXT)}
    told = harness("tokens", "a.txt", "--agent", "mine").out
    assert f"({2 * exact(TEXT) / 1000:.0%})" in told and "share of a window of 1,000" in told
    assert "share of a window of 500" in harness("tokens", "a.txt", "--agent", "mine", "--window", "500").out


def test_an_estimate_says_so() -> None:
    ran = harness("tokens", "-", "--encoding", "estimate", stdin=TEXT)
    assert "estimate: at most; an estimate (estimate), no vocabulary" in ran.out
    assert ran.out.splitlines()[1].split() == ["-", "2,550", f"{ESTIMATE(TEXT):,}"]


def test_a_folder_is_walked_like_documents() -> None:
    write_tree(Path(), {**DOCUMENTS, "docs/.gitignore": "out\n", "docs/out/b.md": "x", "docs/.hidden.md": "x"})
    Path("docs/brief.pdf").write_bytes(b"%PDF-1.4")
    found = json.loads(harness("tokens", "docs/", "--json").out)
    assert [one["name"] for one in found["files"]] == ["docs/samokat.md", "docs/vkusvill.md"]
    assert found["left_out"] == 1
    out = harness("tokens", "docs").out
    assert out.splitlines()[3].startswith("total ") and out.endswith("1 files of other kinds left out\n")


def test_without_a_file_it_is_the_case_for_the_agents_of_its_roles() -> None:
    user_config("planner: mine\nagents:\n  mine: {command: [a], window: 1000, output: 100}\n")
    case = {"research/question.md": "Who?\n", "research/raw_1.md": "---\nkind: search\n---\n" + TEXT}
    write_tree(Path(), case)
    found = json.loads(harness("tokens", "--json").out)
    assert {one["name"]: one["tokens"] for one in found["files"]} == {
        name.partition("/")[2]: {"mine": exact(text, safety=1.2)} for name, text in case.items()
    }


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("none.txt", None, "no such file: none.txt"),
        ("a.txt/b", None, "no such file: a.txt/b"),
        ("\0", None, "cannot read"),
        ("photo.md", hashlib.shake_128(b"").digest(5_000), "not a text file: photo.md"),
        ("noise.txt", bytes(range(7, 200)) * 9, "not a text file: noise.txt"),
        ("brief.pdf", b"%PDF-1.4 in ASCII", "not a text file: brief.pdf"),
        ("empty/x.bin", b"", "no text files in this folder: empty"),
    ],
)
def test_what_cannot_be_counted_is_said_with_what_to_do(name: str, content: bytes | None, told: str) -> None:
    write_tree(Path(), {"a.txt": "x"})
    if content is not None:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_bytes(content)
    ran = harness("tokens", "empty" if name.startswith("empty/") else name)
    assert ran.code in (1, 2) and ran.out == ""
    assert ran.err.startswith(f"harness: {told}") and ran.err.count("\n") == 2


@pytest.mark.skipif(os.name == "nt", reason="pipes with a name are POSIX")
def test_a_pipe_is_not_waited_for() -> None:
    os.mkfifo("pipe")
    assert "a pipe or a device" in harness("tokens", "pipe").err


def test_no_case_and_no_window() -> None:
    assert "name files: harness tokens FILE…" in harness("tokens").err
    assert "no agent with a window: person" in harness("tokens", "x", "--agent", "person").err


def test_an_empty_file_has_no_tokens() -> None:
    write_tree(Path(), {"a.txt": ""})
    assert harness("tokens", "a.txt").out.splitlines()[1].split() == ["a.txt", "0", "0", "0"]


@given(st.text(st.sampled_from("aя的😀\n "), max_size=60), st.integers(1, 20))
def test_blocks_are_the_text_whatever_their_size(text: str, size: int) -> None:
    assert "".join(blocks(io.BytesIO(text.encode()), "x", size)) == text


def test_blocks_end_at_line_ends_and_a_longer_line_is_cut() -> None:
    read = list(blocks(io.BytesIO(b"one\ntwo\n" + b"x" * 40), "x", 10))
    assert read[0] == "one\ntwo\n" and len(read) > 4 and max(map(len, read)) < 20


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "cp1251"])
def test_other_encodings_are_read_as_text(codec: str) -> None:
    text = "Выручка компании за год составила пятнадцать миллионов рублей.\n" * 20
    assert "".join(blocks(io.BytesIO(text.encode(codec)), "x")).lstrip("\ufeff") == text


def test_parts_are_counted_by_whoever_cuts() -> None:
    write_tree(Path(), {"a.txt": TEXT})
    columns = (Column("x", ESTIMATE, 100), Column("y", ESTIMATE))
    found = sizes_of(["a.txt"], columns, io.BytesIO(), lambda path, column: path.stat().st_size // (column.window or 1))
    assert found.files[0].parts == (25, None)


def test_columns_of_roles_without_a_window_are_the_vocabularies() -> None:
    settings = Settings(planner=("mine", "extractive"), agents={"mine": AgentSpec("mine", ("a",))})
    assert [one.name for one in columns_of(settings, {}, encodings=(), agents=(), window=None)] == ["mine"]
    plain = columns_of(Settings(), {}, encodings=(), agents=(), window=7)
    assert [(one.name, one.window) for one in plain] == [("cl100k_base", 7), ("o200k_base", 7)]


def test_each_part_is_listed_with_its_characters_and_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "".join(f"Line {number} of the log says nothing new.\n" for number in range(2_000))
    write_tree(tmp_path, {"log.txt": text})
    ran = harness("tokens", "log.txt", "--encoding", "cl100k_base", "--window", "16000", "--parts")
    told = re.findall(r"part (\d+) of (\d+): characters ([\d,]+) to ([\d,]+), ([\d,]+) tokens", ran.out)
    places = [(int(start.replace(",", "")), int(end.replace(",", ""))) for _, _, start, end, _ in told]
    assert len(told) > 3 and {int(of) for _, of, *_ in told} == {len(told)}
    assert places[0][0] == 0 and places[-1][1] == len(text)
    assert [end for _, end in places[:-1]] == [start for start, _ in places[1:]]
    assert f"{len(told)} parts" in ran.out and max(int(tokens.replace(",", "")) for *_, tokens in told) < 16_000
    small = harness("tokens", "log.txt", "--encoding", "cl100k_base", "--window", "6000", "--parts")
    assert re.search(r"too small: prompt, question and reply leave [0-9,]+ tokens for a part", small.out)
    refused = harness("tokens", "log.txt", "--encoding", "cl100k_base", "--parts")
    assert refused.code == 2 and "--window" in refused.err


def test_a_run_without_a_vocabulary_says_that_it_estimates(tmp_path: Path) -> None:
    write_tree(tmp_path, {**DOCUMENTS, "config/config.yaml": "agents:\n  mine: {command: [cat]}\n"})
    hidden = "import sys; sys.modules.update(toktok=None, tiktoken=None); sys.argv[0] = 'harness'\n"
    code = f"{hidden}from harness.__main__ import main\nmain()"
    arguments = ["-C", "case", "run", "Which revenue?", "--in", "docs", "--agent", "mine", "--unattended"]
    environ = {**os.environ, "HARNESS_CONFIG_DIR": str(tmp_path / "config"), "TIKTOKEN_CACHE_DIR": ""}
    command = [sys.executable, "-c", code, *arguments]
    ran = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=120)
    assert ran.stderr.startswith("note: tokens are estimated") and "harness doctor" in ran.stderr
