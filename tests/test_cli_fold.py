"""`harness fold` as a user meets it: any file against one question, stopped and gone on with, or refused."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.formats.summary import parse_summary
from tests.program import COMMAND, Ran, agent_program, begin, harness, wait_until
from tests.test_bad_input import refused
from tests.trees import read_tree, write_tree

QUESTION = "What was the revenue?"
FIRMS = ("Samokat", "Lavka", "Kuper", "Vprok", "Utkonos", "Ozon")
FILLER = "Nothing of interest is said in this sentence, which is only here to fill the page.\n\n"
SMALL = ("--window", "16000")  # some 3,000 tokens a part
MEMORY = 1_000_000_000  # bytes of address space for a process that folds 40 MB
# Copies the lines that state a fact, as a model would: those of the summary and those of the part.
COPY = """
import re, sys
packet = sys.stdin.read()
asked, _, raw = packet.rpartition("<raw_results")
facts = re.findall(r"^- (fact .*)$", asked, re.M)
k = "1"
for line in raw.split("\\n"):
    opened = re.match(r"## (\\d+)\\. ", line)
    k = opened[1] if opened else k
    if line.startswith("fact ") and f"{line} [1.{k}]" not in facts:
        facts.append(f"{line} [1.{k}]")
print("Summary:\\n## Confirmed\\n" + "\\n".join(f"- {fact}" for fact in facts) + "\\nRemoved:\\n- none")
"""


def reader(code: str = COPY) -> None:
    agent_program("mine", code, more=", output: 500", role="synthesizer")


def revenue(firm: str) -> str:
    return f"The revenue of {firm} was {100 + FIRMS.index(firm)} bn roubles in 2024.\n\n"


def long_text(between: int = 60) -> str:
    return "".join(revenue(firm) + FILLER * between for firm in FIRMS)


def fold(*arguments: str, stdin: str | bytes = b"") -> Ran:
    return harness("fold", *arguments, "-q", QUESTION, stdin=stdin)


def found(ran: Ran) -> list[str]:
    return [line for line in ran.out.splitlines() if line.startswith("- ") and not line.startswith("- [")]


def case() -> Path:
    (folder,) = Path("folds").iterdir()
    return folder


def test_one_file_several_a_folder_and_what_is_piped_in() -> None:
    write_tree(Path(), {f"docs/{firm}.md": revenue(firm) for firm in FIRMS[:4]})
    for arguments, stdin, number in (
        (("docs/Lavka.md",), "", 1),
        (("docs/Lavka.md", "docs/Kuper.md"), "", 2),
        (("docs",), "", 4),
        (("docs/Lavka.md", "-"), revenue("Ozon"), 2),
        (("-",), revenue("Ozon"), 1),
    ):
        ran = fold(*arguments, stdin=stdin)
        assert ran.code == 0 and len(found(ran)) == number, ran
        assert ran.out.count("- [1.") == number and "## Searches" not in ran.out
        assert "run goes on to an answer" in ran.err
    assert len(list(Path("folds").iterdir())) == 5


def test_the_same_command_again_says_the_same_at_once_and_writes_nothing() -> None:
    write_tree(Path(), {"a.md": long_text()})
    first = fold("a.md", *SMALL)
    before = read_tree(case())
    assert first.err.count("part ") > 1 and len(found(first)) == len(FIRMS), first.err
    again = fold("a.md", *SMALL)
    assert (again.code, again.out) == (0, first.out) and "part " not in again.err
    assert fold("a.md").out == first.out, "whatever the window is now"
    assert read_tree(case()) == before


def test_other_files_and_another_question_are_another_case() -> None:
    write_tree(Path(), {"a.md": revenue("Lavka")})
    assert len(found(fold("a.md"))) == 1
    write_tree(Path(), {"a.md": revenue("Lavka") + revenue("Kuper")})
    assert len(found(fold("a.md"))) == 2
    harness("fold", "a.md", "-q", "Which staff?")
    ran = fold("a.md", "--entities", "Lavka, Kuper, Ozon", "--fields", "revenue")
    assert "Lavka: revenue 2024 — 101 bn roubles [1.1]" in ran.out and "- Ozon: revenue" in ran.out
    assert len(list(Path("folds").iterdir())) == 4


def test_a_folder_of_ones_own_is_refused_to_other_files_and_questions() -> None:
    write_tree(Path(), {"a.md": revenue("Lavka"), "b.md": revenue("Kuper"), "other/question.md": "Another one?\n"})
    ran = harness("-C", "mine", "fold", "a.md", "-q", QUESTION)
    assert ran.code == 0 and not Path("folds").exists() and "harness -C mine run" in ran.err
    assert harness("-C", "mine", "fold", "a.md", "-q", QUESTION).out == ran.out
    before = read_tree(Path("mine"))
    for arguments in (
        ("b.md", "-q", QUESTION),
        ("a.md", "-q", "Which staff?"),
        ("a.md", "-q", QUESTION, "--entities", "X"),
    ):
        told = "other files, or another question, are folded here"
        refused(harness("-C", "mine", "fold", *arguments), told, "mine", "another -C DIR")
    assert read_tree(Path("mine")) == before
    refused(harness("-C", "other", "fold", "a.md", "-q", QUESTION), "a case is here already")


def test_the_result_goes_to_a_file_and_the_talk_does_not() -> None:
    write_tree(Path(), {"a.md": revenue("Lavka")})
    ran = fold("a.md", "-o", "out.md")
    assert ran.code == 0 and ran.out == "" and "101 bn roubles" in Path("out.md").read_text(encoding="utf-8")
    assert Path("out.md").read_text(encoding="utf-8").endswith("a.md\n")
    refused(fold("a.md", "-o", "gone/out.md"), "cannot write the result", "gone/out.md", "--out FILE")
    assert fold("a.md").code == 0, "what was read is kept"


def test_a_file_that_is_read_is_never_written_over() -> None:
    write_tree(Path(), {"a.md": revenue("Lavka")})
    Path("link.md").symlink_to("a.md")
    for name in ("a.md", f"{Path.cwd()}/a.md", "link.md"):
        refused(fold("a.md", "-o", name), "the result would replace a file that is read", name, code=2)
    assert Path("a.md").read_text(encoding="utf-8") == revenue("Lavka") and not Path("folds").exists()


def test_nothing_found_is_said() -> None:
    write_tree(Path(), {"a.md": FILLER})
    ran = fold("a.md")
    assert ran.code == 0 and ran.out.strip() == "" and "nothing was found" in ran.err


@pytest.mark.parametrize("strategy", ["refine", "map_reduce", "tree"])
def test_every_strategy_finds_the_same(strategy: str) -> None:
    write_tree(Path(), {"a.md": long_text()})
    ran = fold("a.md", *SMALL, "--strategy", strategy)
    assert ran.code == 0 and sorted(found(ran)) == sorted(f"- {revenue(firm).strip()} [1.1]" for firm in FIRMS)


# Stopped and gone on with ----------------------------------------------------------------------------------


def facts_text(number: int = 30) -> str:
    return "".join(f"fact f{at}x\n\n{FILLER * 12}" for at in range(number))


def test_a_limit_ends_it_early_and_the_same_command_goes_on() -> None:
    write_tree(Path(), {"a.md": facts_text()})
    reader()
    ran = fold("a.md", *SMALL, "--tokens", "1")
    assert ran.code == 4 and "the tokens of this run are used up; the same command goes on from here" in ran.err
    assert 0 < len(found(ran)) < 30
    assert parse_summary(read_tree(case())["summary.md"]).reading
    ran = fold("a.md", *SMALL)
    assert ran.code == 0 and found(ran) == [f"- fact f{at}x [1.1]" for at in range(30)]


def test_stop_ends_it_after_the_part_that_is_under_way() -> None:
    write_tree(Path(), {"a.md": facts_text()})
    reader("import time; time.sleep(0.3)\n" + COPY)
    process = begin("fold", "a.md", "-q", QUESTION, *SMALL)
    try:
        wait_until(lambda: any(Path("folds").glob("*/summary.md")))
        ran = harness("-C", str(case()), "stop")
    except AssertionError:
        process.kill()
        raise AssertionError(process.communicate()) from None
    assert ran.code == 0 and "nothing to stop" not in ran.out
    out, err = process.communicate(timeout=60)
    assert process.returncode == 4 and "stopped on request; the same command goes on from here" in err
    ran = fold("a.md", *SMALL)
    assert ran.code == 0 and len(found(ran)) == 30 > out.count("- fact ")


def test_what_failed_twice_is_tried_again_when_asked() -> None:
    write_tree(Path(), {"a.md": facts_text(1)})
    reader("import sys; sys.exit('no permission')")
    refused(fold("a.md"), "no permission")
    refused(fold("a.md"), "failed 2 times in this state of the files", "--again")
    reader()
    assert fold("a.md").code == 1, "the agent was mended, its name is the same"
    ran = fold("a.md", "--again")
    assert ran.code == 0 and found(ran) == ["- fact f0x [1.1]"]


def test_a_part_that_stays_unread_is_told_and_read_again() -> None:
    write_tree(Path(), {"a.md": facts_text()})
    reader(COPY.replace("print(", "print('x' if 'fact f20x\\n' in raw else ", 1))
    ran = fold("a.md", *SMALL)
    assert ran.code == 4 and "unread: characters " in ran.err and "reread tries" in ran.err
    assert "part 2 of 3 left unread: its replies stayed defective" in ran.err
    assert "fact f20x" not in ran.out and 10 < len(found(ran)) < 30
    again = fold("a.md", *SMALL)
    assert (again.code, again.out) == (4, ran.out), "and says it again"
    told = harness("-C", str(case()), "status").out
    assert "are unread: " in told and f"harness -C {case()} reread 1" in told
    reader()
    assert harness("-C", str(case()), "reread", *SMALL).code == 0
    ran = fold("a.md", *SMALL)
    assert ran.code == 0 and len(found(ran)) == 30 and "unread" not in ran.err


@pytest.mark.real
@pytest.mark.skipif(os.name == "nt", reason="there is no kill -9 on Windows")
@pytest.mark.parametrize("strategy", ["refine", "map_reduce"])
def test_killed_again_and_again_it_ends_with_the_same_summary(strategy: str, tmp_path: Path) -> None:
    text = long_text(200)
    write_tree(tmp_path, {"calm/a.md": text, "killed/a.md": text})
    stamp = (tmp_path / "calm/a.md").stat().st_mtime_ns
    os.utime(tmp_path / "killed/a.md", ns=(stamp, stamp))
    command = [sys.executable, "-m", "harness", "fold", "a.md", "-q", QUESTION, "--window", "14000"]
    command += ["--strategy", strategy, "-o", "out.md"]

    def start(place: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(command, cwd=tmp_path / place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    started = time.monotonic()
    assert start("calm").wait(120) == 0
    took = time.monotonic() - started
    chance, killed = random.Random(20261130), 0
    for _ in range(8):
        process = start("killed")
        time.sleep(chance.uniform(0.05, 0.4) * took)
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
    assert killed > 1, "the run was over too soon for this test to mean anything"
    assert start("killed").wait(120) == 0
    calm, after = (read_tree(tmp_path / place) for place in ("calm", "killed"))
    assert after["out.md"] == calm["out.md"] and calm["out.md"].count(" bn roubles") == len(FIRMS)
    (name,) = [name for name in calm if name.endswith("summary.md")]
    assert after[name] == calm[name]
    assert not [name for name in after if name.endswith(".tmp")]


# What is refused ---------------------------------------------------------------------------------------------


def test_wrong_calls_say_what_to_do() -> None:
    write_tree(Path(), {"a.md": "text\n", "empty.md": "", "noise.bin": os.urandom(9_000)})
    refused(fold("gone.md"), "no such file", f"{Path.cwd()}/gone.md", "harness fold FILE", code=2)
    refused(fold("-"), "nothing came in", "stdin is empty", "my-program | harness fold -", code=2)
    refused(fold("empty.md"), "none of the files can be read", "empty.md (empty)")
    refused(fold("noise.bin"), "none of the files can be read", "noise.bin (no text")
    refused(harness("fold", "a.md", "-q", " "), "an empty question", 'harness fold FILE -q "…"', code=2)
    refused(fold("a.md", "--strategy", "none"), "strategy", "refine, map_reduce, tree", code=2)
    refused(fold("a.md", "--tokens", "0"), "tokens", "from 1", code=2)
    refused(fold("a.md", "--agent", "nobody"), "nobody", "The agents are", code=2)
    assert "Missing option '-q'" in harness("fold", "a.md").err


def test_a_window_that_is_too_small_is_told_before_anything_is_asked() -> None:
    write_tree(Path(), {"a.md": long_text()})
    refused(
        fold("a.md", "--window", "9000"), "the window has no room for the results", "tokens are left", "larger window"
    )


def test_folds_that_lead_out_of_the_project_or_are_no_folder_are_refused(tmp_path: Path) -> None:
    write_tree(Path(), {"a.md": "text\n"})
    (tmp_path / "other").mkdir()
    Path("folds").symlink_to(tmp_path / "other")
    refused(fold("a.md"), "the case is a link out of the project", str(tmp_path / "other"))
    assert not list((tmp_path / "other").iterdir())
    Path("folds").unlink()
    write_tree(Path(), {"folds": "a file\n"})
    ran = fold("a.md")
    assert ran.code in (1, 2) and "folds" in ran.err and "Traceback" not in ran.err
    assert Path("folds").read_text(encoding="utf-8") == "a file\n"


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
def test_40_mb_are_read_in_bounded_memory() -> None:
    resource = pytest.importorskip("resource", reason="limits of POSIX")
    with Path("big.txt").open("w", encoding="utf-8") as file:
        file.write(revenue("Lavka"))
        while file.tell() < 40_000_000:
            file.write(FILLER * 1_000)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    command = [*COMMAND, "fold", "big.txt", "-q", QUESTION, "--minutes", "0.02"]
    read: list[int] = []
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, encoding="utf-8", preexec_fn=limit, check=False)
        assert done.returncode == 4, done.stderr
        assert "the same command goes on from here" in done.stderr
        read += map(int, re.findall(r"part (\d+) of \d+ read", done.stderr))
        assert "101 bn roubles" in done.stdout
    assert read == list(range(1, len(read) + 1)) and len(read) > 1
