"""What became of a summary: log, diff and blame from the trace and from git, each saying how far it reaches."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import git
from harness.blaming import blame
from harness.changes import changes
from harness.comparing import compare, github, render
from harness.errors import HarnessError, WrongCall
from harness.facts import without_marks
from harness.formats.summary import lines_of, parse_summary
from harness.history import history_of
from harness.journal import journal, render_journal
from harness.model import SectionKind, Summary
from harness.passage import speaks_of
from harness.versions import fingerprint, version_record
from tests.program import harness
from tests.trees import write_tree

DOSSIER = Path(__file__).parent.parent / "templates" / "demo" / "documents"
ASKED = ("--entities", "Kazakhstan, Tajikistan", "--fields", "population, highest point")
FIRST = (
    "---\nround: 1\n---\n## Confirmed\n- A: revenue 2020 — 5 bn [1.1]\n- B: staff 2020 — 12 [1.2]\n## Not found\n- C\n"
)
SECOND = "---\nround: 2\n---\n## Confirmed\n- A: revenue 2020 — 6 bn [2.1]\n- C: staff 2021 — 7 [2.2]\n## Not found\n"


def commit(folder: Path, message: str, *more: str) -> None:
    named = ("-c", "user.name=Анна", "-c", "user.email=anna@example.org", "-c", "commit.gpgsign=false")
    for words in (("add", "-A"), (*named, "commit", "-q", "-m", message, *more)):
        subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)


def run_git(folder: Path, *words: str, stdin: str = "") -> str:
    ran = subprocess.run(["git", "-C", str(folder), *words], input=stdin.encode(), check=True, capture_output=True)
    return ran.stdout.decode()


def traced(folder: Path, *texts: str, **more: object) -> Path:
    """A case whose trace tells of these versions; `more` stands in its last line."""
    lines, before = [], ""
    for at, text in enumerate(texts):
        record = {"at": f"2026-01-0{at + 1}T10:00:00+00:00", "role": "synthesizer", "agent": "claude", "round": at + 1}
        lines.append({**record, **version_record(before, text, fingerprint(before) if before else "")})
        before = text
    lines[-1] |= more
    trace = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    write_tree(folder, {"question.md": "What?\n", "summary.md": before, "trace.jsonl": trace})
    return folder


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True, capture_output=True)
    return folder


@pytest.fixture
def researched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A case of three rounds; in the first a person corrected one figure and deleted another."""
    monkeypatch.chdir(tmp_path)
    harness("ask", "Compare Kazakhstan and Tajikistan: population and highest point", *ASKED)
    for _ in range(3):
        assert harness("step", "--in", str(DOSSIER)).code == 0
    summary = tmp_path / "research" / "summary.md"
    lines = summary.read_text(encoding="utf-8").split("\n")
    kept = [
        line.replace("20,432,662", "21,000,000")
        for line in lines
        if not line.startswith("- Tajikistan: population 2025")
    ]
    assert kept != lines
    summary.write_text("\n".join(kept), encoding="utf-8")
    for _ in range(3):
        assert harness("step").code == 0
    return tmp_path / "research"


def by_hand(folder: Path) -> Path:
    """A case that nobody but a person and git has seen, in a folder that was renamed on the way."""
    top = repository(folder)
    write_tree(top, {"черновик/summary.md": FIRST, "черновик/question.md": "What?\n"})
    commit(top, "раз")
    (top / "черновик").rename(top / "Исследование 1")
    commit(top, "renamed")
    write_tree(top, {"Исследование 1/summary.md": SECOND})
    commit(top, "два")
    return top / "Исследование 1"


# log -----------------------------------------------------------------------------------------------


def test_the_log_has_a_line_a_round_and_one_for_an_edit(researched: Path) -> None:
    entries = journal(history_of(researched))
    assert [(one.round, one.kind) for one in entries] == [(1, "round"), (1, "edit"), (2, "round")]
    first, edit, second = entries
    assert first.added > 3 and first.sources > 0 and first.queries and first.tokens > 1_000
    assert (edit.added, edit.lost, edit.changed, edit.who) == (0, 1, 1, (("", "person"),))
    assert ("planner", "extractive") in second.who and ("search", "folder") in second.who
    told = harness("log")
    assert len(told.out.strip().split("\n")) == 4 and "edited by hand" in told.out
    assert "the trace reaches back to round 1" in told.err
    assert json.loads(harness("log", "--json").out)[1]["kind"] == "edit"


def test_a_case_made_by_hand_has_its_history_from_git(tmp_path: Path) -> None:
    case = by_hand(tmp_path / "top")
    told = harness("-C", str(case), "log")
    lines = told.out.strip().split("\n")
    assert [line.split()[:2] for line in lines[1:]] == [["1", "+2"], ["2", "+1"]] and "−1 ~1" in lines[2]
    assert "Анна" in told.out
    assert "there is no trace.jsonl" in told.err and "git has 2 versions" in told.err


def test_what_is_not_recorded_yet_is_the_last_line(tmp_path: Path) -> None:
    case = by_hand(tmp_path / "top")
    with (case / "summary.md").open("a", encoding="utf-8") as file:
        file.write("- D\n")
    assert history_of(case).versions[-1].by == "not recorded yet"


def test_a_shallow_clone_says_that_it_is_one(tmp_path: Path) -> None:
    by_hand(tmp_path / "top")
    source = (tmp_path / "top").as_uri()
    subprocess.run(
        ["git", "clone", "-q", "--depth", "1", source, str(tmp_path / "clone")], check=True, capture_output=True
    )
    history = history_of(tmp_path / "clone" / "Исследование 1")
    assert len(history.versions) == 1
    assert "the clone is shallow: what came before was left out" in history.notes


def test_a_merge_brings_in_what_the_other_branch_had(tmp_path: Path) -> None:
    top = repository(tmp_path / "top")
    write_tree(top, {"research/summary.md": FIRST})
    commit(top, "one")
    subprocess.run(["git", "-C", str(top), "checkout", "-q", "-b", "other"], check=True, capture_output=True)
    write_tree(top, {"research/summary.md": SECOND})
    commit(top, "two")
    subprocess.run(["git", "-C", str(top), "checkout", "-q", "main"], check=True, capture_output=True)
    write_tree(top, {"notes.txt": "x"})
    commit(top, "aside")
    named = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", "-C", str(top), *named, "merge", "-q", "other", "-m", "m"], check=True, capture_output=True)
    assert [one.text for one in git.versions(top / "research")] == [FIRST, SECOND]


def test_rounds_that_were_undone_are_left_out(tmp_path: Path) -> None:
    case = by_hand(tmp_path / "top")
    (case / "summary.md").write_text(FIRST.replace("5 bn", "4 bn"), encoding="utf-8")
    commit(case.parent, "back")
    history = history_of(case)
    assert [parse_summary(one.text).round for one in history.versions] == [1, 1]
    assert any("went back to an earlier round" in note for note in history.notes)


def test_reading_history_starts_no_program_of_the_repository(tmp_path: Path) -> None:
    case = by_hand(tmp_path / "top")
    mark = tmp_path / "started"
    for key in ("core.fsmonitor", "core.pager", "diff.external", "diff.x.textconv", "core.sshCommand", "core.editor"):
        subprocess.run(["git", "-C", str(case), "config", key, f"touch '{mark}' #"], check=True, capture_output=True)
    write_tree(case, {".gitattributes": "summary.md diff=x\n"})
    for words in (("log",), ("diff", "HEAD~1"), ("blame", "7"), ("diff", "1", "2")):
        assert harness("-C", str(case), *words).code == 0
    assert not mark.exists()


def test_reading_history_checks_no_signature_and_fetches_nothing(tmp_path: Path) -> None:
    """A signature is checked by gpg.program; what a partial clone lacks comes from a remote, which may be a program."""
    case = by_hand(tmp_path / "top")
    mark = tmp_path / "started"
    program = tmp_path / "gpg"
    program.write_text(f"#!/bin/sh\ntouch '{mark}'\n", encoding="utf-8")
    program.chmod(0o755)
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----"
    signed = run_git(case, "cat-file", "commit", "HEAD").replace("\n\n", f"\n{signature}\n\n", 1)
    name = run_git(case, "hash-object", "-t", "commit", "-w", "--stdin", stdin=signed).strip()
    run_git(case, "update-ref", "refs/heads/main", name)
    blob = run_git(case, "rev-parse", "HEAD:./summary.md").strip()
    (tmp_path / "top" / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    settings = {
        "log.showSignature": "true",
        "gpg.program": str(program),
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::sh -c touch% {mark}",
        "protocol.ext.allow": "always",
    }
    for key, value in settings.items():
        run_git(case, "config", key, value)
    for words in (("log",), ("diff", "1"), ("blame", "7")):
        assert harness("-C", str(case), *words).code == 0
    assert not mark.exists()


def test_commits_keep_the_order_of_git_whatever_their_clocks_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = repository(tmp_path / "top")
    for text, year in ((FIRST, 2026), (SECOND, 2020), (SECOND.replace("round: 2", "round: 3"), 2023)):
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"{year}-01-01T00:00:00Z")
        write_tree(top, {"research/summary.md": text})
        commit(top, "one more")
    assert [parse_summary(one.text).round for one in history_of(top / "research").versions] == [1, 2, 3]


def test_a_trace_that_lost_lines_or_was_torn_says_so(tmp_path: Path) -> None:
    case = traced(tmp_path / "case", FIRST, SECOND, SECOND.replace("7", "8"))
    trace = case / "trace.jsonl"
    lines = trace.read_text(encoding="utf-8").strip().split("\n")
    trace.write_text("\n".join([*lines[1:], '{"role": "plan']), encoding="utf-8")
    assert history_of(case).notes == (
        "trace.jsonl holds no version of the summary",
        "2 of its 2 versions cannot be replayed: lines before them were lost or edited",
        "1 line of the trace cannot be read: torn, or edited by hand",
    )
    told = harness("-C", str(case), "log")
    assert told.code == 0 and "rounds up to 2: what each brought is not known" in told.out
    trace.unlink()
    assert history_of(case).notes == ("there is no trace.jsonl",)


def test_a_reopening_is_a_line_of_its_own(researched: Path) -> None:
    assert harness("run").code in (0, 4)
    assert harness("reopen").code == 0
    told = harness("log").out.strip().split("\n")
    assert told[-1].split()[1] == "0" and told[-1].endswith("reopened")


def test_a_log_for_a_pipe_has_whole_lines_and_for_a_terminal_is_cut(tmp_path: Path) -> None:
    long = "very " * 60 + "long query"
    case = traced(tmp_path / "case", FIRST + f"## Searches\n- 1 · {long} — found, 2 sources, +2 facts, 1 gap\n")
    entries = journal(history_of(case))
    assert entries[0].sources == 2 and long in harness("-C", str(case), "log").out
    assert len(render_journal(entries, 80).split("\n")[1]) == 80
    wide = render_journal([entries[0]._replace(queries=("人口" * 60,), who=(("planner", "小明"),))], 80).split("\n")
    assert wide[1].startswith("1      +2     0         1             小明  人口") and wide[1].endswith("…")
    assert 79 <= len(wide[1]) + sum(char in "人口小明" for char in wide[1]) <= 80


# diff ----------------------------------------------------------------------------------------------


def test_a_lost_fact_has_the_reason_that_its_pass_gave(tmp_path: Path) -> None:
    reasons = [["B: staff 2020 — 12 [1.2]", "wrong citation"]]
    case = traced(tmp_path / "case", FIRST, SECOND, reasons=reasons)
    assert "  - B: staff 2020 — 12 [1.2]  (wrong citation)\n" in harness("-C", str(case), "diff").out
    assert "- B: staff 2020 — 12 [1.2]  (wrong citation)\n" in harness("-C", str(case), "diff", "--format=github").out
    assert "because: wrong citation" in harness("-C", str(case), "blame", "B: staff 2020").out


def test_a_fact_that_is_disputed_is_not_lost_and_lives_on_where_it_is_settled(tmp_path: Path) -> None:
    head = "---\nround: {}\n---\n## Confirmed\n- A: staff 2020 — 12 [1.2]\n"
    fact, other = "- B: revenue 2024 — 67 bn [1.3]\n", "- B: revenue 2024 — 71.4 bn [2.1]\n"
    dispute = "## Contradictions\n- B: revenue 2024 — 67 bn [1.3] ↔ 71.4 bn [2.1]\n"
    case = traced(tmp_path / "case", head.format(1) + fact, head.format(2) + dispute, head.format(3) + other)
    told = harness("-C", str(case), "diff", "1", "2").out
    assert "Moved\n  > B: revenue 2024 — 67 bn [1.3]  (confirmed → contradictions)" in told and "Lost" not in told
    assert "Contradictions opened\n  ! B: revenue 2024" in told
    told = harness("-C", str(case), "diff", "2", "3").out
    assert "71.4 bn [2.1]  (contradictions → confirmed)" in told and "Contradictions settled" in told
    assert [(one.added, one.lost, one.disputes) for one in journal(history_of(case))] == [
        (2, 0, 0),
        (0, 0, 1),
        (0, 0, 0),
    ]
    first, second = blame(case, "67").facts
    assert [event.what for event in first.events] == ["found", "disputed", "gone"] and not first.stands
    assert first.events[-1].reason == "the contradiction was settled"
    assert [event.what for event in second.events] == ["disputed", "gone"]
    assert blame(case, "71.4 bn").facts[0].stands


def test_on_a_terminal_the_words_that_differ_stand_out(tmp_path: Path) -> None:
    told = compare(traced(tmp_path / "case", FIRST, SECOND), ())
    shown = render(told, colours=True)
    assert "A: revenue 2020 — \x1b[31m5\x1b[0m bn" in shown and "→ A: revenue 2020 — \x1b[32m6\x1b[0m bn" in shown
    assert "\x1b" not in render(told)


def test_a_fence_in_a_fact_does_not_end_the_block_of_a_comment(tmp_path: Path) -> None:
    case = traced(tmp_path / "case", FIRST, SECOND.replace("## Not found", "- ```` ends it [2.3]\n## Not found"))
    told = github(compare(case, ()))
    fence = told.split("\n")[2].removesuffix("diff")
    assert fence == "`````" and "+ ```` ends it" in told and told.count(fence) == 2 and told.endswith(f"\n{fence}")


def test_a_diff_says_what_the_last_round_brought(tmp_path: Path) -> None:
    case = by_hand(tmp_path / "top")
    told = harness("-C", str(case), "diff").out
    assert told == (
        "round 1 → now\nAdded\n  + C: staff 2021 — 7 [2.2]\nLost\n  - B: staff 2020 — 12 [1.2]  (no reason given)\n"
        "Changed\n  ~ A: revenue 2020 — 5 bn [1.1]\n    → A: revenue 2020 — 6 bn [2.1]\nGaps closed\n  ✓ C\n"
    )
    assert (
        harness("-C", str(case), "diff", "--stat").out == "round 1 → now: 1 added, 1 lost, 1 changed, 1 gaps closed\n"
    )
    github = harness("-C", str(case), "diff", "1", "2", "--format", "github").out
    assert github.startswith("**round 1 → round 2**\n\n```diff\n+ C: staff 2021") and github.endswith("```\n")
    assert json.loads(harness("-C", str(case), "diff", "--json").out)["changes"]["added"] == ["C: staff 2021 — 7 [2.2]"]


@pytest.mark.parametrize(
    "names", [("HEAD~2",), ("1", "HEAD"), ("round:1", "main"), ("HEAD~2", "../copy"), ("1", "../copy/summary.md")]
)
def test_rounds_commits_folders_and_files_can_be_compared(
    names: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = by_hand(tmp_path / "top")
    write_tree(tmp_path / "top" / "copy", {"summary.md": SECOND})
    monkeypatch.chdir(case)
    told = harness("-C", ".", "diff", *names)
    assert told.code == 0 and "+ C: staff 2021" in told.out and "~ A: revenue 2020 — 5 bn" in told.out


def test_a_struck_line_is_lost_by_a_person(researched: Path) -> None:
    told = harness("diff", "1", "2").out + harness("log", "--json").out
    assert "no fact is different" in told or "Added" in told
    blame = harness("blame", "10593876").out
    assert "gone by person" in blame and "because: struck out by a person" in blame


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("99",), "no such round is known: 99\n  known: 1, 2"),
        (("nowhere",), "neither a round, a commit, a folder nor a file: nowhere"),
        (("--", "-rf"), "neither a round, a commit, a folder nor a file: -rf"),
        (("1", "2", "3"), "Two versions at the most"),
        ((".git",), "no summary.md stands there: .git"),
    ],
)
def test_a_name_that_means_nothing_is_refused(
    names: tuple[str, ...], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = by_hand(tmp_path / "top")
    monkeypatch.chdir(tmp_path / "top")
    ran = harness("-C", str(case), "diff", *names)
    assert ran.code == 2 and told in ran.err


def test_a_number_that_is_a_folder_too_is_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = by_hand(tmp_path / "top")
    write_tree(case, {"1/summary.md": SECOND})
    monkeypatch.chdir(case)
    ran = harness("-C", ".", "diff", "1")
    assert ran.code == 2 and "round:1 or ./1" in ran.err
    assert harness("-C", ".", "diff", "./1", "2", "--stat").out == "./1 → round 2: no fact is different\n"


# blame ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("typed", ["21,000,000", "21 000 000", "21000000", "21 млн", "kazakhstan: POPULATION 2025"])
def test_blame_tells_round_query_source_line_and_who(typed: str, researched: Path) -> None:
    told = harness("blame", typed).out
    assert told.startswith(
        "Kazakhstan: population 2025 — 21,000,000 [1.2] [person]\n  round 1  found by synthesizer (extractive)"
    )
    assert 'asked: "Kazakhstan population' in told and "  round 1  changed by person" in told
    place = next(line for line in told.split("\n") if "raw_1.md:" in line)
    number = int(place.split("raw_1.md:")[1].split(":")[0])
    said = (researched / "raw_1.md").read_text(encoding="utf-8").split("\n")[number - 1]
    assert "20,432,662" in said


def test_blame_says_that_a_raw_is_gone(researched: Path) -> None:
    (researched / "raw_1.md").unlink()
    assert "[1.2] raw_1.md is gone" in harness("blame", "21,000,000").out


def test_blame_of_nothing_names_what_is_near(researched: Path) -> None:
    ran = harness("blame", "Kazakhstan", "4711")
    assert ran.code == 1 and "no fact speaks of this: Kazakhstan 4711" in ran.err and "near it: Kazakhstan" in ran.err


def test_a_case_that_is_not_there_is_no_empty_one(tmp_path: Path) -> None:
    for words in (("log",), ("diff",), ("blame", "7")):
        ran = harness("-C", str(tmp_path / "nowhere"), *words)
        assert ran.code == 1 and "no such case" in ran.err


def test_without_a_summary_there_is_nothing_to_compare(tmp_path: Path) -> None:
    write_tree(tmp_path / "case", {"question.md": "What?\n"})
    for words in (("diff",), ("blame", "7")):
        assert harness("-C", str(tmp_path / "case"), *words).code == 1
    assert harness("-C", str(tmp_path / "case"), "log").code == 0


@pytest.mark.parametrize(
    ("line", "typed", "found"),
    [
        ("D: revenue 2024 — 154.0 bn ₽ [1.1]", "154", True),
        ("D: revenue 2024 — 154.0 bn ₽ [1.1]", "154,0 млрд", True),
        ("D: revenue 2024 — 154.0 bn ₽ [1.1]", "154000000000", True),
        ("Д: выручка 2024 — 154,0 млрд ₽ [1.1]", "154.0 bn", True),
        ("D: staff — 1,154 [1.1]", "154", False),
        ("D: staff — 1154 [1.1]", "1 154", True),
        ("D: share — 15.4% [1.1]", "154", False),
        ("D: income — 1.54 mn [1.1]", "154", False),
        ("D: staff — 154 [1.1]", "154.0 bn", False),
        ("D: staff — 12 [154.1]", "154", False),
    ],
)
def test_a_number_is_found_in_any_writing_and_no_other_number_is(line: str, typed: str, found: bool) -> None:
    assert speaks_of(line, typed) is found


# changes ---------------------------------------------------------------------------------------------

LINES = [
    "A: revenue 2020 — 5 bn [1.1]",
    "A: revenue 2020 — 6 bn [2.1]",
    "B: staff 2020 — 12 [1.2]",
    "C was founded in 2018 [1.3]",
]
summaries = st.lists(st.sampled_from([*LINES, *(line.replace("[1.", "[3.") for line in LINES)]), unique=True)


@given(summaries)
def test_a_summary_and_itself_have_no_difference(lines: list[str]) -> None:
    value = parse_summary("## Confirmed\n" + "".join(f"- {line}\n" for line in lines))
    assert not changes(value, value)


@given(summaries, summaries)
def test_each_old_fact_is_accounted_for_once(old: list[str], new: list[str]) -> None:
    before, after = (parse_summary("## Confirmed\n" + "".join(f"- {x}\n" for x in lines)) for lines in (old, new))
    told = changes(before, after)
    kept = {without_marks(line) for line in lines_of(after, SectionKind.CONFIRMED)}
    for line in lines_of(before, SectionKind.CONFIRMED):
        named = [
            line in {one for one, _ in told.lost},
            line in {one for one, _ in told.changed},
            without_marks(line) in kept,
        ]
        assert sum(named) == 1
    assert {without_marks(line) for line in told.added} <= kept


values = st.dictionaries(st.sampled_from(["Astana", "Bishkek", "Dushanbe", "Tashkent"]), st.integers(1, 3), max_size=4)


def told_of(values: dict[str, int], disputed: dict[str, int], missing: dict[str, int]) -> Summary:
    blocks = (
        ("Confirmed", [f"{name}: area 2020 — {value} km² [1.1]" for name, value in values.items()]),
        ("Contradictions", [f"{name}: staff — {n} [1.1] ↔ {n + 5} [1.2]" for name, n in disputed.items()]),
        ("Not found", [f"{name}: height" for name in missing]),
    )
    return parse_summary("".join(f"## {title}\n" + "".join(f"- {x}\n" for x in lines) for title, lines in blocks))


@given(st.builds(told_of, values, values, values), st.builds(told_of, values, values, values))
def test_turned_round_what_was_added_is_lost(old: Summary, new: Summary) -> None:
    there, back = changes(old, new), changes(new, old)
    assert set(there.added) == {line for line, _ in back.lost} and set(back.added) == {line for line, _ in there.lost}
    assert set(there.changed) == {(a, b) for b, a in back.changed}
    assert (set(there.opened), set(there.gaps_closed)) == (set(back.settled), set(back.gaps_opened))


def test_git_that_refuses_is_a_problem_with_its_words(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="git refused"):
        git.git(tmp_path, "rev-parse", "HEAD")
    assert not git.is_repository(tmp_path / "nowhere")
    assert git.revision(repository(tmp_path / "empty"), "HEAD") is None
    assert list(git.versions(tmp_path / "empty")) == []
    assert issubclass(WrongCall, HarnessError)
