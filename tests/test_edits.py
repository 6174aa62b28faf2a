"""A person's edits of the summary between two passes: theirs stay, what they deleted stays away, whatever is killed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.edits import Edits, edits, protect
from harness.formats.summary import lines_of, parse_summary, render_summary
from harness.loop import step
from harness.model import SectionKind, Source
from harness.store.trace import read_trace
from harness.versions import replay
from tests.fakes import Crash, FailingDisk, FakeSearch, copy_facts, make_session, plan_for, rewrite
from tests.trees import read_tree, write_tree

REVENUE, SHARE, STAFF = (
    "Samokat: revenue 2024 — 154.0 bn ₽ [1.2]",
    "Samokat: market share 2024 — 30 % [1.3]",
    "Lavka: staff 2023 — 12,000 [1.1]",
)
DISPUTE = "Lavka: revenue 2024 — 67 bn ₽ [1.3] ↔ 71.4 bn ₽ [3.1]"


def summary(*confirmed: str, disputes: tuple[str, ...] = (), more: str = "", round: int = 3) -> str:
    lines = ["---", f"round: {round}", f"spent: {round}", "---", "## Confirmed", *(f"- {line}" for line in confirmed)]
    lines += ["## Contradictions", *(f"- {line}" for line in disputes), "## Not found"]
    return "\n".join(lines) + "\n" + more


def protected(old: str, new: str) -> str:
    before, after = parse_summary(old), parse_summary(new)
    return render_summary(protect(after, edits(before, after), "en"))


OLD = summary(REVENUE, SHARE, STAFF, disputes=(DISPUTE,))


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (  # another value
            summary(REVENUE.replace("154.0", "160.5"), SHARE, STAFF, disputes=(DISPUTE,)),
            summary(REVENUE.replace("154.0", "160.5") + " [person]", SHARE, STAFF, disputes=(DISPUTE,)),
        ),
        (  # other words, pinned by hand
            summary(REVENUE, "Samokat: share of the market 2024 — 30 % [1.3] [pinned]", STAFF, disputes=(DISPUTE,)),
            summary(REVENUE, "Samokat: share of the market 2024 — 30 % [1.3] [pinned]", STAFF, disputes=(DISPUTE,)),
        ),
        (  # deleted, and one added without a source
            summary(REVENUE, STAFF, "Samokat belongs to Sber", disputes=(DISPUTE,)),
            summary(
                REVENUE,
                STAFF,
                "Samokat belongs to Sber [person]",
                disputes=(DISPUTE,),
                more=f"## Struck out\n- {SHARE}\n",
            ),
        ),
        (  # one with a source is like any other; order, citations and blank lines are nobody's business
            summary(STAFF, SHARE + " [2.1]", REVENUE, "Lavka: revenue 2023 — 52 bn ₽ [1.4]", disputes=(DISPUTE,)),
            summary(STAFF, SHARE + " [2.1]", REVENUE, "Lavka: revenue 2023 — 52 bn ₽ [1.4]", disputes=(DISPUTE,)),
        ),
        (  # a dispute that is settled by hand may not be opened again
            summary(REVENUE, SHARE, STAFF, "Lavka: revenue 2024 — 71.4 bn ₽ [3.1]"),
            summary(
                REVENUE,
                SHARE,
                STAFF,
                "Lavka: revenue 2024 — 71.4 bn ₽ [3.1]",
                more=f"## Struck out\n- {DISPUTE}\n",
            ),
        ),
        (  # moved out of the way by the person
            summary(REVENUE, STAFF, disputes=(DISPUTE,), more=f"## Doubtful\n- {SHARE}\n"),
            summary(REVENUE, STAFF, disputes=(DISPUTE,), more=f"## Doubtful\n- {SHARE}\n"),
        ),
        ("", ""),  # begun anew
        (summary(STAFF, round=4), summary(STAFF, round=4)),  # folded by hand: a role's turn
    ],
)
def test_what_a_person_changed_is_marked_and_what_they_deleted_struck_out(new: str, expected: str) -> None:
    assert protected(OLD, new) == (render_summary(parse_summary(expected)) if expected else protected("", ""))


LINES = st.lists(
    st.sampled_from([REVENUE, SHARE, STAFF, "Lavka was founded in 2018", "A: b 2020 — 5 [1.1]"]), unique=True
)


@given(LINES, LINES)
def test_each_old_fact_is_there_or_struck_out(old: list[str], new: list[str]) -> None:
    before, after = parse_summary(summary(*old)), parse_summary(summary(*new))
    kept = protect(after, edits(before, after), "en")
    said = [*lines_of(kept, SectionKind.CONFIRMED), *lines_of(kept, SectionKind.STRUCK)]
    if new:
        assert len(said) >= len({*old, *new})
    assert not edits(kept, kept)
    assert protect(kept, edits(kept, kept), "en") == kept


@given(LINES)
def test_nothing_changed_is_no_edit(lines: list[str]) -> None:
    value = parse_summary(summary(*lines))
    assert edits(value, value) == Edits()


# In the loop -------------------------------------------------------------------------------------


def started(folder: Path) -> Path:
    """A case whose first round has found two facts."""
    write_tree(folder, {"question.md": "What is alpha?\n"})
    session = make_session(folder, planner=plan_for("alpha 10", "beta"), search=FakeSearch(two_facts))
    for _ in range(3):
        step(session)
    return folder


def two_facts(query: str) -> tuple[Source, ...]:
    return (Source(query, f"fact {query} stands\nfact gamma is 7"),)


def edit(folder: Path, old: str, new: str) -> None:
    path = folder / "summary.md"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_the_mark_and_the_struck_line_hold_against_the_roles(tmp_path: Path) -> None:
    case = started(tmp_path / "case")
    edit(case, "alpha 10 stands", "alpha 11 stands")
    edit(case, "- fact gamma is 7 [1.1]\n", "")

    def again(packet: object) -> str:
        return rewrite(["fact alpha 10 stands [1.1]", "fact gamma is 7 [1.1]"])

    session = make_session(case, planner=plan_for("beta"), synthesizer=again, search=FakeSearch(two_facts), repairs=0)
    step(session)
    step(session)
    told = step(session)
    assert told.action == "failed"
    text = read_tree(case)["summary.md"]
    assert "- fact alpha 11 stands [1.1] [person]\n" in text
    assert "## Struck out\n- fact gamma is 7 [1.1]\n" in text
    rejected = "".join(text for name, text in read_tree(case / ".harness").items() if "rejected" in name)
    assert "a person struck this out" in rejected and "its numbers changed without a reason" in rejected


def test_with_a_new_source_a_struck_line_may_come_back(tmp_path: Path) -> None:
    case = started(tmp_path / "case")
    edit(case, "- fact gamma is 7 [1.1]\n", "")
    session = make_session(case, planner=plan_for("beta"), synthesizer=copy_facts, search=FakeSearch(two_facts))
    for _ in range(3):
        step(session)
    assert "- fact gamma is 7 [2.1]\n" in read_tree(case)["summary.md"]


def test_without_a_trace_only_marked_lines_are_protected(tmp_path: Path) -> None:
    case = started(tmp_path / "case")
    (case / "trace.jsonl").unlink()
    edit(case, "- fact gamma is 7 [1.1]\n", "")
    step(make_session(case, planner=plan_for("beta"), search=FakeSearch(two_facts)))
    assert "Struck" not in read_tree(case)["summary.md"]


def test_an_older_version_that_stands_here_again_is_no_edit(tmp_path: Path) -> None:
    """As after `git checkout`, or where a pass was killed behind its trace line."""
    case = started(tmp_path / "case")
    older = read_tree(case)["summary.md"]
    session = make_session(case, planner=plan_for("beta"), search=FakeSearch(two_facts))
    for _ in range(3):
        step(session)
    assert "beta" in read_tree(case)["summary.md"]
    (case / "summary.md").write_text(older, encoding="utf-8")
    step(session)
    assert "Struck" not in read_tree(case)["summary.md"]
    assert not [record for record in read_trace(case / "trace.jsonl") if record["role"] == "person"]


@pytest.mark.parametrize("crlf", [False, True])
def test_every_version_is_replayed_with_the_persons_between(tmp_path: Path, crlf: bool) -> None:
    case = started(tmp_path / "case")
    edit(case, "## Not found\n", "## Not found\n- delta\n")  # no fact: nothing to mark
    if crlf:
        path = case / "summary.md"
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    session = make_session(case, planner=plan_for("beta"), search=FakeSearch(two_facts))
    for _ in range(3):
        step(session)
    versions = list(replay(read_trace(case / "trace.jsonl")))
    assert [version.by for version in versions] == ["synthesizer (function)", "person", "synthesizer (function)"]
    assert "- delta\n" in versions[1].text
    assert versions[-1].text == read_tree(case)["summary.md"]


def test_killed_before_any_system_call_the_edit_is_noticed_all_the_same(tmp_path: Path) -> None:
    def edited(name: str) -> Path:
        case = started(tmp_path / name)
        edit(case, "alpha 10 stands", "alpha 11 stands")
        edit(case, "- fact gamma is 7 [1.1]\n", "")
        return case

    whole = edited("undisturbed")
    step(make_session(whole, planner=plan_for("beta")))
    expected = read_tree(whole)["summary.md"]
    for at in range(1, 200):
        case = edited(str(at))
        try:
            step(make_session(case, planner=plan_for("beta"), disk=FailingDisk(at)))
        except Crash:
            (case / ".harness" / "claim.json").unlink(missing_ok=True)
            step(make_session(case, planner=plan_for("beta")))
        else:
            break
        assert read_tree(case)["summary.md"] == expected, at
    assert 10 < at < 199


def test_a_first_pass_over_a_summary_by_hand_that_is_killed_strikes_nothing_out(tmp_path: Path) -> None:
    """Its trace line tells of facts that never came into the file."""
    files = {
        "question.md": "What is alpha?\n",
        "summary.md": "## Confirmed\n- fact beta [person]\n",
        "raw_1.md": "---\nkind: note\n---\n## 1. A\n- date: 2025-01-01\n\nfact alpha\n",
    }
    whole = write_tree(tmp_path / "whole", files)
    step(make_session(whole))
    expected = read_tree(whole)["summary.md"]
    for at in range(1, 100):
        case = write_tree(tmp_path / str(at), files)
        try:
            step(make_session(case, disk=FailingDisk(at)))
        except Crash:
            (case / ".harness" / "claim.json").unlink(missing_ok=True)
            step(make_session(case))
        else:
            break
        assert "Struck" not in read_tree(case)["summary.md"]
        assert read_tree(case)["summary.md"] == expected or "fact alpha" in read_tree(case)["summary.md"]
    assert 10 < at < 99
