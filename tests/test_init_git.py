"""`harness init --git`: plain git shows facts and marks both sides of a summary; taken out again to the byte."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.scaffold.attributes import LINE
from tests.program import harness
from tests.test_committing import git_in
from tests.test_history import by_hand
from tests.trees import read_tree, write_tree


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = by_hand(tmp_path / "top").parent
    monkeypatch.chdir(top)
    return top


def config(top: Path) -> str:
    return (top / ".git" / "config").read_text(encoding="utf-8")


def difference(top: Path, path: str) -> str:
    words = ["git", "-C", str(top), "diff", "-U0", "HEAD~1", "HEAD"]
    done = subprocess.run(words, check=True, capture_output=True, env={**os.environ, "PATH": path})
    return done.stdout.decode()


@pytest.mark.parametrize("before", [None, "*.png binary\n", "*.png binary", "a text\r\nb text\r\n"])
def test_it_is_laid_down_once_and_taken_out_to_the_byte(before: str | None, top: Path) -> None:
    if before is not None:
        (top / ".gitattributes").write_bytes(before.encode())
    tree, settings = read_tree(top), config(top)
    for _ in range(2):
        assert harness("init", "--git").code == 0
    text = (top / ".gitattributes").read_bytes().decode()
    assert text.splitlines().count(LINE) == 1 and text.startswith(before or "")
    assert config(top).count("textconv =") == 1
    assert harness("init", "--remove", "--yes").code == 0
    assert read_tree(top) == tree and config(top) == settings


def test_git_shows_facts_and_the_whole_file_where_the_harness_is_not_on_path(top: Path) -> None:
    harness("init", "--git")
    here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    facts, whole = difference(top, here), difference(top, "/usr/bin:/bin")
    assert "+- A: revenue 2020 — 6 bn [2.1]" in facts and "+round: 2" not in facts
    assert "+- A: revenue 2020 — 6 bn [2.1]" in whole and "+round: 2" in whole


def test_what_a_person_set_instead_stays(top: Path) -> None:
    harness("init", "--git")
    git_in(top, "config", "diff.harness.textconv", "cat")
    harness("init", "--remove", "--yes")
    assert git_in(top, "config", "diff.harness.textconv") == "cat\n"


def test_outside_of_git_nothing_is_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path / "plain", {"a.txt": "a\n"})
    monkeypatch.chdir(tmp_path / "plain")
    ran = harness("init", "--git")
    assert ran.code == 1 and "no repository of git" in ran.err
    assert read_tree(tmp_path / "plain") == {"a.txt": "a\n"}
