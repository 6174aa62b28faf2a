"""Speed and memory as ratios within one run: `make bench` prints them. No figure here is a test."""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from harness import hook
from harness.checking import check_case
from harness.formats.labels import LABELS
from harness.formats.summary import lines_of, parse_summary, render_search_line, render_summary, search_record
from harness.formats.text import decode
from harness.loop import Meter, one_pass
from harness.model import FrontMatter, Packet, Reply, Role, Section, SectionKind, Source, Summary
from harness.options import Settings
from harness.ports import SearchResult
from harness.session import Crew, Session
from harness.store import Store

REPEATS = 15
ROUNDS = 20
CORPUS_FILES = 500
CHECKED_ROUNDS = 300
CHECKED_FACTS = 400
CHECKED_BYTES = 100_000_000
CORPUS_BYTES = 30_000


def best(action: Callable[[], object], repeats: int = REPEATS) -> float:
    """Seconds of the quickest of several runs: the machine's noise only ever adds."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return min(times)


def command(*words: str, cwd: Path) -> Callable[[], object]:
    environ = {
        **os.environ,
        "PYTHONDONTWRITEBYTECODE": "",
        "HARNESS_CONFIG_DIR": str(cwd / "none"),
        "HARNESS_CACHE_DIR": str(cwd / "cache"),
    }
    return lambda: subprocess.run(words, cwd=cwd, env=environ, check=False, capture_output=True)


def case_at(folder: Path, round_: int, *, raws: int = 0) -> Path:
    """A case in which `round_` rounds are folded, one search line each and 40 facts in all."""
    case = folder / f"case-{round_}-{raws}"
    case.mkdir(parents=True)
    (case / "question.md").write_text("Compare Samokat and Lavka.\n", encoding="utf-8")
    searches = tuple(
        "- "
        + render_search_line(
            search_record(n, f"query number {n}", "found", sources=5, new_facts=n % 3, gaps=n % 7), "en"
        )
        for n in range(1, round_ + 1)
    )
    facts = tuple(f"- Company {n}: revenue 2024 — {n}.5 bn ₽ [1.{n}]" for n in range(1, 41))
    sources = tuple(f"- [1.{n}] 2025-01-01 · Report {n} — https://example.org/{n}" for n in range(1, 41))
    kinds = {SectionKind.CONFIRMED: facts, SectionKind.SEARCHES: searches, SectionKind.SOURCES: sources}
    sections = tuple(Section(kind, LABELS["en"][kind], lines) for kind, lines in kinds.items())
    text = render_summary(Summary(round=round_, spent=round_, sections=sections, front=FrontMatter()))
    (case / "summary.md").write_text(text, encoding="utf-8")
    for n in range(1, raws + 1):
        (case / f"raw_{n}.md").write_text(
            f"---\nkind: search\n---\n## 1. Page {n}\n- url: x\n\ntext\n", encoding="utf-8"
        )
    return case


class Instant:
    """Replies at once, so that what is measured is ours."""

    name = "instant"
    window: int | None = None

    def __init__(self) -> None:
        self.count = 0

    def take(self, packet: Packet) -> Reply:
        self.count += 1
        if packet.role is Role.PLANNER:
            return Reply(f'Think: next.\nAction: search("something new {self.count} {packet.round}")')
        # One new fact a round, or the loop would see a stall and end.
        summary = parse_summary(packet.files["summary.md"])
        facts = [line for line in lines_of(summary, SectionKind.CONFIRMED) if not line.startswith("Counter")]
        facts.append(f"Counter: round {packet.round} [{packet.round}.1]")
        before = f"- Counter: round {packet.round - 1} — superseded by [{packet.round}.1]"
        listed = "".join(f"- {fact}\n" for fact in facts)
        return Reply(f"Think: one more.\nSummary:\n## Confirmed\n{listed}Removed:\n{before}\n")

    def search(self, query: str) -> SearchResult:
        return SearchResult("found", (Source("A page", "some text", url=f"https://example.org/{query}"),))


def round_seconds(case: Path) -> float:
    """Seconds a round (three passes: plan, search, fold), the median of ROUNDS rounds."""
    instant = Instant()
    roles = dict.fromkeys(Role, (instant,))
    session = Session(Store(case), Crew(roles, (instant,), instant), Settings(rounds=1_000_000))
    meter = Meter(session)
    for _ in range(3):  # one round, so that reading the case for the first time is not counted as a pass
        one_pass(session, meter)
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        actions = [one_pass(session, meter).action for _ in range(3)]
        times.append(time.perf_counter() - started)
        assert actions == ["ask", "search", "fold"], actions
    return statistics.median(times)


def write_corpus(folder: Path) -> Path:
    """CORPUS_FILES documents of CORPUS_BYTES each, from a fixed seed."""
    chance = random.Random(7)
    words = [f"{chance.choice('bcdfglmnprstv')}{chance.choice('aeiou')}{n:x}" for n in range(3_000)]
    corpus = folder / "corpus"
    corpus.mkdir()
    for n in range(CORPUS_FILES):
        text = [f"# Land {n}", "", f"- population: {n}00,000 (2024 est.)", ""]
        while sum(map(len, text)) < CORPUS_BYTES:
            text.append(" ".join(chance.choices(words, k=80)) + ".")
        (corpus / f"land-{n:03}.md").write_text("\n\n".join(text), encoding="utf-8")
    return corpus


def measure_status(folder: Path) -> None:
    small, large = case_at(folder, 3), case_at(folder, 5_000, raws=5_000)
    harness = str(Path(sys.executable).parent / "harness")
    click = best(command(sys.executable, "-c", "import click", cwd=folder))
    for name, case in (("a small case", small), ("5,000 raws", large)):
        seconds = best(command(harness, "-C", str(case), "status", cwd=folder))
        print(f"status, {name:<14} {seconds / click:5.2f} × `import click` ({seconds * 1000:.0f} ms; aim 2.5 ×)")


def measure_passes(folder: Path) -> None:
    early = min(round_seconds(case_at(folder / f"a{n}", 10)) for n in range(3))
    late = min(round_seconds(case_at(folder / f"b{n}", 2_000)) for n in range(3))
    print(f"a pass at round 2,000  {late / early:5.2f} × a pass at round 10 ({early / 3 * 1000:.1f} ms; aim 1.3 ×)")


def measure_run(folder: Path) -> None:
    corpus = write_corpus(folder)
    harness = str(Path(sys.executable).parent / "harness")
    times = []
    for name in ("first", "second"):
        case = folder / name
        case.mkdir()
        question = (
            "---\nentities: [Land 7, Land 77]\nfields: [population]\n---\nThe population of Land 7 and Land 77.\n"
        )
        (case / "question.md").write_text(question, encoding="utf-8")
        times.append(best(command(harness, "-C", str(case), "run", "--in", str(corpus), cwd=folder), repeats=1))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"run on {CORPUS_FILES} documents     {times[0]:.1f} s with indexing, {times[1]:.1f} s with the index there")
    print(f"peak memory of a child {peak:5.0f} MB")


def case_of_raws(folder: Path) -> Path:
    """CHECKED_ROUNDS raws of CHECKED_BYTES in all, and CHECKED_FACTS facts that they bear out."""
    chance = random.Random(7)
    words = [f"{chance.choice('bcdfglmnprstv')}{chance.choice('aeiou')}{n:x}" for n in range(3_000)]
    case = folder / "checked"
    case.mkdir()
    grid = f"entities: [{', '.join(f'Land {n}' for n in range(1, 101))}]\nfields: [population, area, exports, staff]\n"
    (case / "question.md").write_text(f"---\n{grid}---\nCompare them.\n", encoding="utf-8")
    facts, sources = [], []
    for n in range(1, CHECKED_ROUNDS + 1):
        said = [
            f"{field} of Land {n % 100 + 1} was {n}{k},{k}50 in 20{10 + k}"
            for k, field in enumerate(("population", "area"), 1)
        ]
        filler: list[str] = []
        while sum(map(len, filler)) < CHECKED_BYTES // CHECKED_ROUNDS // 5:
            filler.append(
                " ".join(chance.choices(words, k=60)) + f" {chance.randrange(10**6)} in {chance.randrange(1990, 2010)}."
            )
        pages = "".join(
            f"## {k}. Land {n % 100 + 1}, page {k}\n- url: https://land.invalid/{n}/{k}\n- date: 2012-01-01\n\n"
            + "\n\n".join((filler[0], *said, *filler[1:]))
            + "\n"
            for k in range(1, 6)
        )
        (case / f"raw_{n}.md").write_text(f"---\nkind: search\n---\n{pages}", encoding="utf-8")
        facts += [
            f"- Land {n % 100 + 1}: {one.split(' ')[0]} 20{10 + k} — {n}{k},{k}50 [{n}.{k}]"
            for k, one in enumerate(said, 1)
        ]
        sources.append(f"- [{n}.1] 2012-01-01 · Land {n % 100 + 1}, page 1 — https://land.invalid/{n}/1")
    parts = ("## Confirmed", *facts[:CHECKED_FACTS], "## Contradictions", "## Sources", *sources)
    front = f"---\nround: {CHECKED_ROUNDS}\nspent: {CHECKED_ROUNDS}\n---\n"
    (case / "summary.md").write_text(front + "\n".join(parts) + "\n", encoding="utf-8")
    return case


def measure_check(folder: Path) -> None:
    case = case_of_raws(folder)
    paths = sorted(case.iterdir())
    size = sum(path.stat().st_size for path in paths)
    once = best(lambda: [decode(path.read_bytes()) for path in paths], repeats=3)
    found = []
    checking = best(lambda: found.append(check_case(Store(case), Settings())), repeats=2)
    told = f"{checking / once:5.2f} × reading and decoding them once ({checking:.1f} s; aim 10 ×)"
    print(f"check, {size / 1e6:.0f} MB of raws  {told}, {len(found[0])} findings")


def measure_hook(folder: Path) -> None:
    """A hook call that is none of ours: every Agent call of every session pays for it."""
    event = {"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": {"subagent_type": "x"}}
    python = [sys.executable, "-I", "-S"]

    def started(*words: str) -> Callable[[], object]:
        sent = json.dumps(event).encode()
        return lambda: subprocess.run([*python, *words], input=sent, check=True, capture_output=True)

    bare = best(started("-c", "import json"), repeats=40)
    ours = best(started(hook.__file__, str(Path(hook.__file__).parent.parent)), repeats=40)
    print(f"a hook call that is not ours {ours / bare:5.2f} × `import json` ({ours * 1000:.0f} ms; aim 2 ×)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for measure in (measure_status, measure_hook, measure_passes, measure_run, measure_check):
            measure(Path(name))


if __name__ == "__main__":
    main()
