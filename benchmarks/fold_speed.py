"""What folding costs beside the model, as ratios within one run: `python -m benchmarks.fold_speed`."""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.speed import best
from harness import snowball
from harness.caching import cache_folder
from harness.counters import counter_for

REPEATS = 7
ROW = "| 2025-01-{day:02} | {who} | {hours} h | ticket {n}: {said} |\n"
SAID = ("fixed the import of invoices", "исправил выгрузку счетов", "修复了发票导入")


def worklog(megabytes: float) -> str:
    """A Markdown table in three languages."""
    rows, size, n = ["| day | who | time | what |\n|---|---|---|---|\n"], 0, 0
    while size < megabytes * 1_000_000:
        rows.append(
            ROW.format(day=n % 28 + 1, who=("Anna", "Борис", "李雷")[n % 3], hours=n % 8, n=n, said=SAID[n % 3])
        )
        size += len(rows[-1].encode())
        n += 1
    return "".join(rows)


def seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def imported(code: str) -> float:
    return best(lambda: subprocess.run([sys.executable, "-c", code], check=True), REPEATS)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--megabytes", type=float, default=10)
    given = parser.parse_args()
    bare = imported("pass")
    print(f"import harness: {imported('import harness') / bare:.2f} × python alone ({bare * 1000:.0f} ms)")
    print(f"from harness import snowball: {imported('from harness import snowball') / bare:.2f} ×")

    count = counter_for("cl100k_base", 1.2, cache_folder(os.environ))
    text = worklog(given.megabytes)
    count("warm")
    alone = seconds(lambda: count(text))
    print(f"counting {given.megabytes:g} MB with {count.name}: {alone:.2f} s")
    calls: list[int] = []

    def chat(messages: list[Any]) -> str:
        calls.append(1)
        return "- a note"

    for strategy in ("refine", "map_reduce", "tree"):
        calls.clear()
        fold = snowball.wrap(chat, count=count, strategy=strategy, question="How many hours did Anna work?")
        taken = seconds(lambda: fold([{"role": "user", "content": text}]))  # noqa: B023
        print(f"folding by {strategy}, a model that takes no time: {taken / alone:.1f} × counting, {len(calls)} calls")
    small = [{"role": "user", "content": "hello"}]
    fold = snowball.wrap(chat, count=count)
    print(f"a request that fits: {best(lambda: fold(small), 200) * 1e6:.0f} µs more than the call itself")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory: {peak:.0f} MB, {len(text.encode()) / 1e6:.0f} MB of them the text ({Path(__file__).name})")


if __name__ == "__main__":
    main()
