"""Folds of what fits no window, with a known truth, by the code behind `harness fold` and the built-in rules.

Needles: 200 dated facts in prose of three languages; how many of them are in the summary. "2 spoilt": the agent's
replies to two parts are defective; these must stay unread and every fact outside them be kept ("kept", "lost"), and
`reread` by a good agent must bring the rest ("right"). Sums: the hours of 20 people over a table; how many are exact.
Only a tree adds them; refine must not tell wrong ones.

python -m benchmarks.folding; --tokens 200000 for a small run
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.needles import (
    Needle,
    Score,
    needles,
    question,
    score_facts,
    score_sums,
    worklog_question,
    write_facts,
    write_worklog,
)

ROOT = Path(__file__).parent.parent
STRATEGIES = ("refine", "map_reduce", "tree")
WINDOW = 131_072  # tokens, what most models can read
BESIDE_PARTS = 24_000  # tokens of a small run's window: prompt, question and summary, so that it too has many parts
SPOILT = (3, 5)  # parts; a run whose first two fail stops instead
HEAD = ("parts", "unread", "kept", "lost", "reread", "right", "seconds", "s/part", "MB")


class Task(NamedTuple):
    """One fold. `folder`: its corpus; `score`: of a summary; `facts`: those whose places are known."""

    name: str
    strategy: str
    folder: Path
    score: Callable[[str], Score]
    facts: tuple[Needle, ...] = ()
    spoilt: tuple[int, ...] = ()
    exact: bool = True  # the strategy must bring all


class Result(NamedTuple):
    task: Task
    found: dict[str, Any]  # see `folding_run.run`; empty where it failed
    before: Score
    after: Score
    lost: tuple[str, ...]  # facts that are missing although their part was read


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0, or 1 where a fold failed or did not bring what it must."""
    options = _parser().parse_args(arguments)
    out = options.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    window = options.window or min(WINDOW, options.tokens // 8 + BESIDE_PARTS)
    print(f"{options.tokens:,} tokens of prose, {options.tokens * 3 // 4:,} of a table; a window of {window:,} tokens")
    print(_row("", HEAD), flush=True)
    good = True
    with ThreadPoolExecutor(max_workers=options.beside) as pool:
        for result in pool.map(partial(_run, out, window), list(_tasks(out, options.tokens, options.seed))):
            good = good and _is_good(result)
            print(_row(result.task.name, _cells(result)), flush=True)
            if result.lost:
                print(f"  lost: {', '.join(result.lost)}")
    return 0 if good else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.folding", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tokens", type=int, default=2_000_000, metavar="N", help="of prose; the table has 3/4 of it")
    parser.add_argument("--window", type=int, default=0, metavar="N", help=f"tokens ({WINDOW:,}, less for small runs)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="which facts and rows (1)")
    parser.add_argument("--beside", type=int, default=1, metavar="N", help="folds at the same time (1)")
    parser.add_argument("--out", type=Path, default=Path("bench-out/folding"), metavar="DIR", help="made anew")
    return parser


def _tasks(out: Path, tokens: int, seed: int) -> Iterator[Task]:
    """Writes the two corpora; then what is to be done with them."""
    facts, prose, table = needles(seed), out / "facts", out / "worklog"
    write_facts(prose, facts, seed=seed, tokens=tokens)
    (prose / "question.md").write_text(question(facts), encoding="utf-8", newline="\n")
    sums = write_worklog(table / "documents" / "worklog.csv", seed=seed, tokens=tokens * 3 // 4)
    (table / "question.md").write_text(worklog_question(), encoding="utf-8", newline="\n")
    for strategy in STRATEGIES:
        score = partial(score_facts, facts=facts)
        yield Task(f"needles, {strategy}", strategy, prose, score, facts)
        yield Task(f"needles, {strategy}, 2 spoilt", strategy, prose, score, facts, SPOILT)
    for strategy in ("refine", "tree"):
        exact = strategy == "tree"
        yield Task(f"sums, {strategy}", strategy, table, partial(score_sums, sums=sums), exact=exact)


def _run(out: Path, window: int, task: Task) -> Result:
    """One fold in a process of its own, so that its memory is its own."""
    case = out / "cases" / task.name.replace(", ", "-").replace(" ", "-")
    command = [sys.executable, "-m", "benchmarks.folding_run", str(case), str(task.folder / "documents")]
    command += [str(task.folder / "question.md"), "--strategy", task.strategy, "--window", str(window)]
    command += ["--spoilt", ",".join(map(str, task.spoilt))]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{task.name}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}", file=sys.stderr)
        return Result(task, {}, Score(0, ()), Score(0, ()), ())
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    before, after = task.score(found["before"]), task.score(found["summary"])
    inside = unread_facts((case / "raw_1.md").read_text(encoding="utf-8"), task.facts, found["unread"])
    lost = tuple(who for who in before.missing if who not in inside) if task.facts else ()
    return Result(task, found, before, after, lost)


def unread_facts(raw: str, facts: Sequence[Needle], unread: Sequence[Sequence[int]]) -> frozenset[str]:
    """The companies whose sentence stands, wholly or in part, in a stretch that was not read."""
    places = {fact.company: (raw.find(said := fact.sentence()), len(said)) for fact in facts}
    return frozenset(
        who for who, (at, length) in places.items() if any(at < end and start < at + length for start, end in unread)
    )


def _is_good(result: Result) -> bool:
    if not result.found:
        return False
    as_spoilt = len(result.found["unread"]) == len(result.task.spoilt)
    return as_spoilt and not result.lost and not (result.task.exact and result.after.missing)


def _cells(result: Result) -> tuple[str, ...]:
    if not result.found:
        return ("-",) * len(HEAD)
    found, all_of = result.found, result.after.found + len(result.after.missing)
    return (
        str(found["parts"]),
        str(len(found["unread"])),
        f"{result.before.found}/{all_of}",
        str(len(result.lost)),
        str(found["again"]),
        f"{result.after.found}/{all_of}",
        f"{found['seconds']:.1f}",
        f"{found['seconds'] / max(1, found['parts']):.2f}",
        f"{found['MB']:.0f}",
    )


def _row(name: str, cells: Sequence[str]) -> str:
    return f"{name:<32}" + "".join(f"{cell:>10}" for cell in cells)


if __name__ == "__main__":
    sys.exit(main())
