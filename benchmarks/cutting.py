"""Cutting a long text, beside other libraries: speed, parts over the limit, torn rows, overlap and memory.

"of counting": the speed as a share of that of counting alone with the same counter in the same process; the other
libraries get a smaller text, since they take ten to twenty times as long. "overlap": tokens, where prose goes on.

python -m benchmarks.cutting --megabytes 100 --limit 20000; --gigabyte for the memory that 1 GB from a disk takes
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.cutting_run import CUTTERS
from benchmarks.cutting_text import paragraphs, write_text

ROOT = Path(__file__).parent.parent
SMALL = 1_000  # tokens: tables of a few hundred rows do not fit
PACKAGES = ("toktok-rs", "langchain-text-splitters", "chonkie", "semantic-text-splitter")
HEAD = (
    "cutter",
    "limit",
    "MB",
    "MB/s",
    "of counting",
    "parts",
    "filled",
    "over limit",
    "largest",
    "torn rows",
    "overlap",
    "MB more",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0, or 1 where the packages or the text could not be had."""
    options = _parser().parse_args(arguments)
    out = options.out.resolve()
    try:
        python = _python(out / "cutting-venv")
        guides = paragraphs(out / "packages")
    except (RuntimeError, OSError, subprocess.CalledProcessError) as problem:
        print(problem, file=sys.stderr)
        return 1
    text, sample = (out / f"cutting-{size}.md" for size in (options.megabytes, options.sample))
    write_text(text, options.megabytes * 1_000_000, guides)
    write_text(sample, options.sample * 1_000_000, guides)
    print(_row(HEAD))
    print(_row(_cells("ours", options.limit, _run(python, "ours", text, options.limit))), flush=True)
    for limit in (options.limit, SMALL):
        for name in CUTTERS:
            print(_row(_cells(name, limit, _run(python, name, sample, limit))), flush=True)
    if options.gigabyte:
        whole = out / "cutting-1000.md"
        write_text(whole, 1_000_000_000, guides)
        found = _run(python, "streamed", whole, options.limit)
        print(
            f"{found['MB']:.0f} MB from the disk: {found['speed']:.1f} MB/s, {found['parts']} parts, "
            f"{found['memory']:.0f} MB of memory more, {found['whole']:.0f} MB in all"
        )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cutting", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=100, metavar="N", help="of text for our cutter (100)")
    parser.add_argument("--sample", type=int, default=5, metavar="N", help="of text for every cutter (5)")
    parser.add_argument("--limit", type=int, default=20_000, metavar="N", help="tokens a part (20000)")
    parser.add_argument("--gigabyte", action="store_true", help="also cut 1 GB from the disk, and measure its memory")
    parser.add_argument(
        "--out", type=Path, default=Path("bench-out"), help="a folder for text and packages (bench-out)"
    )
    return parser


def _python(folder: Path) -> Path:
    """An interpreter with the other libraries; they are no dependency of ours."""
    python = folder / "bin" / "python"
    stamp = folder / "installed"
    if not stamp.is_file():
        venv.create(folder, with_pip=True)
        subprocess.run(
            [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check", *PACKAGES], check=True
        )
        stamp.touch()
    return python


def _run(python: Path, name: str, path: Path, limit: int) -> dict[str, Any]:
    """What one cutter did in a process of its own; its last words where it failed."""
    command = [str(python), "-m", "benchmarks.cutting_run", name, str(path), str(limit)]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(f"{name}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}", file=sys.stderr)
        return {}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def _cells(name: str, limit: int, found: dict[str, Any]) -> tuple[str, ...]:
    if not found:
        return (name, f"{limit}", *["-"] * (len(HEAD) - 2))
    return (
        name,
        f"{limit}",
        f"{found['MB']:.0f}",
        f"{found['speed']:.1f}",
        f"{found['ratio']:.2f}",
        f"{found['parts']:.0f}",
        f"{found['filled']:.0%}",
        f"{found['over']:.1%}",
        f"{found['largest']:.2f}",
        f"{found['torn']:.0f}/{found['rows']:.0f}",
        f"{found['overlap']:.1f}",
        f"{found['memory']:.0f}",
    )


def _row(cells: Sequence[str]) -> str:
    return f"{cells[0]:<42}" + "".join(f"{cell:>13}" for cell in cells[1:])


if __name__ == "__main__":
    sys.exit(main())
