"""The case that a command means, and the project around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import WrongCall
from harness.locate import CaseOutside, CaseUnclear, find_case, find_project


def make(root: Path, *names: str) -> Path:
    """Files under `root`; a name that ends in `/` is a folder."""
    for name in names:
        path = root / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.write_text("x: 1\n" if name.endswith(".yaml") else "Which one?\n", encoding="utf-8", newline="\n")
    return root


def found(start: Path, given: str | None = None, **environ: str) -> Path:
    return find_case(start, given=Path(given) if given else None, environ=environ)


def test_research_here_is_the_case_also_before_it_exists(tmp_path: Path) -> None:
    assert found(tmp_path) == tmp_path / "research"
    make(tmp_path, "research/question.md")
    assert found(tmp_path) == tmp_path / "research"


@pytest.mark.parametrize("place", ["research/question.md", "research/Лавка и Самокат/question.md"])
def test_the_nearest_parents_case_up_to_the_git_root(tmp_path: Path, place: str) -> None:
    make(tmp_path, "research/question.md", "repo/.git/", f"repo/{place}", "repo/src/deep/")
    assert found(tmp_path / "repo/src/deep") == (tmp_path / "repo" / place).parent


def test_a_parent_above_the_git_root_is_another_project(tmp_path: Path) -> None:
    make(tmp_path, "research/question.md", "repo/.git/", "repo/src/")
    assert found(tmp_path / "repo/src") == tmp_path / "repo/src/research"


def test_without_git_a_harness_yaml_marks_the_project(tmp_path: Path) -> None:
    make(
        tmp_path, "research/question.md", "loose/", "project/harness.yaml", "project/research/question.md", "project/a/"
    )
    assert found(tmp_path / "loose") == tmp_path / "loose/research"
    assert found(tmp_path / "project/a") == tmp_path / "project/research"


def test_a_case_counts_when_we_stand_in_it(tmp_path: Path) -> None:
    make(tmp_path, ".git/", "research/a/question.md", "research/a/.harness/", "research/b/question.md")
    assert found(tmp_path / "research/a") == tmp_path / "research/a"
    assert found(tmp_path / "research/a/.harness") == tmp_path / "research/a"


def test_a_case_whose_question_was_deleted_is_still_found(tmp_path: Path) -> None:
    make(tmp_path, ".git/", "research/a/trace.jsonl", "research/notes/plan.md")
    assert found(tmp_path) == tmp_path / "research/a"


@pytest.mark.parametrize("places", [("research/a", "research/b"), ("research", "research/b"), (".", "research")])
def test_two_candidates_are_refused_and_both_named(tmp_path: Path, places: tuple[str, str]) -> None:
    make(tmp_path, ".git/", *(f"{place}/question.md" for place in places))
    with pytest.raises(CaseUnclear) as caught:
        found(tmp_path)
    assert caught.value.value == ", ".join(places)
    assert caught.value.exit_code == 1
    calls = " or ".join(f"harness -C {place} status" for place in places)
    assert caught.value.hint == f"say which one: {calls}"


def test_a_parents_two_cases_are_refused_from_a_subfolder(tmp_path: Path) -> None:
    make(tmp_path, ".git/", "research/a/question.md", "research/b/question.md", "src/")
    with pytest.raises(CaseUnclear) as caught:
        found(tmp_path / "src")
    assert caught.value.value == "../research/a, ../research/b"


def test_the_flag_goes_before_the_variable_before_what_is_here(tmp_path: Path) -> None:
    make(tmp_path, "research/question.md", "one/question.md", "two/question.md", "three/question.md")
    assert found(tmp_path, "one", HARNESS_DIR="two") == tmp_path / "one"
    assert found(tmp_path, HARNESS_DIR="two") == tmp_path / "two"
    assert found(tmp_path, HARNESS_DIR="") == tmp_path / "research"
    assert found(tmp_path / "one", "../three") == tmp_path / "three"
    assert found(tmp_path, str(tmp_path / "new")) == tmp_path / "new"


def test_a_link_out_of_the_project_is_refused(tmp_path: Path) -> None:
    make(tmp_path, "elsewhere/question.md", "repo/.git/")
    (tmp_path / "repo/research").symlink_to(tmp_path / "elsewhere")
    for given in (None, "research"):
        with pytest.raises(CaseOutside) as caught:
            found(tmp_path / "repo", given)
        assert str(tmp_path / "elsewhere") in caught.value.value


def test_a_link_inside_the_project_is_taken(tmp_path: Path) -> None:
    make(tmp_path, ".git/", "cases/one/question.md")
    (tmp_path / "research").symlink_to(tmp_path / "cases/one")
    assert found(tmp_path) == tmp_path / "research"


def test_a_link_to_itself_is_no_case_and_no_crash(tmp_path: Path) -> None:
    make(tmp_path, ".git/")
    (tmp_path / "research").symlink_to(tmp_path / "research")
    assert found(tmp_path) == tmp_path / "research"


def test_a_file_in_the_place_of_the_folder_is_a_wrong_call(tmp_path: Path) -> None:
    make(tmp_path, "research")
    with pytest.raises(WrongCall):
        found(tmp_path)


def test_the_project_file_is_the_nearest_up_to_the_git_root(tmp_path: Path) -> None:
    make(tmp_path, "harness.yaml", "repo/.git/", "repo/a/harness.yaml", "repo/a/case/", "repo/b/", "free/deep/")
    assert find_project(tmp_path / "repo/a/case") == tmp_path / "repo/a/harness.yaml"
    assert find_project(tmp_path / "repo/b") is None
    assert find_project(tmp_path / "free/deep/not-yet") == tmp_path / "harness.yaml"


def test_the_cases_own_file_is_a_project_file(tmp_path: Path) -> None:
    make(tmp_path, "harness.yaml", "case/harness.yaml")
    assert find_project(tmp_path / "case") == tmp_path / "case/harness.yaml"
