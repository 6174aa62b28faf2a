"""Asks the harness questions with a known truth, over two editions of the World Factbook, and scores its answers.

python -m benchmarks.factbook --questions 20 --seed 1
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.factbook_fields import FIELDS, truths
from benchmarks.factbook_get import Edition, NoPackage, get_editions
from benchmarks.factbook_pages import write_corpus
from benchmarks.factbook_questions import Asked, Form, draw, render_question
from benchmarks.factbook_run import ANSWERED, Run, run_case
from benchmarks.factbook_score import Score, score

FORMS: dict[str, tuple[Form, ...]] = {"grid": ("grid",), "plain": ("plain",), "both": ("grid", "plain")}
HEAD = ("question", "right", "missing", "hedged", "wrong", "differences", "false", "rounds", "seconds", "MB", "exit")


class Result(NamedTuple):
    name: str
    form: Form
    asked: Asked
    run: Run
    score: Score


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0, or 1 if a run failed (neither 0 nor 4) or the packages could not be had."""
    options = _parser().parse_args(arguments)
    out = options.out.resolve()
    try:
        editions = get_editions(out / "packages")
    except NoPackage as problem:
        print(problem, file=sys.stderr)
        return 1
    corpus = (options.corpus or out / "corpus").resolve()
    _make_corpus(editions, corpus)
    asked = draw(truths(editions), FIELDS, count=options.questions, seed=options.seed)
    results = []
    for result in _results(asked, options, corpus, out):
        results.append(result)
        if not options.json:
            if len(results) == 1:
                print(_row(HEAD))
            print(_row(_cells(result)), flush=True)
    print(
        json.dumps(_as_json(results, options.seed), ensure_ascii=False, indent=1) if options.json else _total(results)
    )
    return 0 if all(result.run.code in ANSWERED for result in results) else 1


def _make_corpus(editions: tuple[Edition, Edition], corpus: Path) -> None:
    """Written beside its place and then moved there, so that an interrupted start leaves no half of it."""
    if corpus.is_dir() and any(corpus.iterdir()):
        return
    part = corpus.with_name(corpus.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    count = write_corpus(editions, part)
    if corpus.is_dir():
        corpus.rmdir()
    part.rename(corpus)
    print(f"{count} documents written to {corpus}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.factbook", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--questions", type=int, default=20, metavar="N", help="how many questions (20)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="which ones: same seed, same questions (1)")
    parser.add_argument(
        "--form", choices=sorted(FORMS), default="grid", help="with entities and fields, as plain text, or both"
    )
    parser.add_argument(
        "--corpus", type=Path, metavar="DIR", help="the documents, written there if none are (OUT/corpus)"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("bench-out"), metavar="DIR", help="packages, corpus, cases (./bench-out)"
    )
    parser.add_argument(
        "--harness", default=f"{sys.executable} -m harness", metavar="COMMAND", help="how the harness is started"
    )
    parser.add_argument("--timeout", type=float, default=900.0, metavar="SECONDS", help="limit of one run (900)")
    parser.add_argument("--json", action="store_true", help="everything as JSON, with every cell")
    return parser


def _results(asked: Sequence[Asked], options: argparse.Namespace, corpus: Path, out: Path) -> Iterator[Result]:
    for form in FORMS[options.form]:
        for question in asked:
            name = f"s{options.seed}-{question.number:02d}-{form}"
            run = run_case(
                out / "cases" / name,
                render_question(question, form),
                corpus,
                harness=options.harness,
                home=out / "home",
                timeout=options.timeout,
            )
            yield Result(name, form, question, run, score(run.summary, run.answer, question.truths))


def _cells(result: Result) -> tuple[str, ...]:
    run, scored = result.run, result.score
    return (
        result.name,
        *(str(scored.count(verdict)) for verdict in ("right", "missing", "hedged", "wrong")),
        f"{scored.found}/{scored.differences}",
        str(scored.false),
        str(scored.rounds),
        f"{run.seconds:.1f}",
        "-" if run.peak_mb is None else f"{run.peak_mb:.0f}",
        "time" if run.code is None else str(run.code),
    )


def _row(cells: Sequence[str]) -> str:
    return f"{cells[0]:<16}" + "".join(
        f"{cell:>{max(len(head) + 2, 7)}}" for head, cell in zip(HEAD[1:], cells[1:], strict=True)
    )


def _total(results: Sequence[Result]) -> str:
    """The sums, then every cell that is not right, with what was shown and what is true."""
    lines = []
    for form in sorted({result.form for result in results}):
        of_form = [result for result in results if result.form == form]
        sums = _sums(of_form)
        parts = [
            f"{sums[name]} {name} ({sums[name] / max(sums['cells'], 1):.1%})"
            for name in ("right", "missing", "hedged", "wrong")
        ]
        lines.append(f"\n{form}: {sums['cells']} cells: {', '.join(parts)}")
        lines.append(
            f"true differences found: {sums['found']} of {sums['differences']}; reported without cause: {sums['false']}"
        )
        lines.append(f"{sums['rounds']} rounds, {sums['seconds']:.1f} seconds, at most {sums['peak_mb']:.0f} MB")
    for result in results:
        for cell in result.score.cells:
            if cell.verdict != "right":
                truth = cell.truth
                shown = f"{cell.shown[:90]!r}, not " if cell.shown else ""
                lines.append(
                    f"{result.name} {cell.verdict}: {truth.entity}: {truth.field}: {shown}{truth.value[:90]!r}"
                )
    return "\n".join(lines)


def _sums(results: Sequence[Result]) -> dict[str, Any]:
    verdicts = {
        verdict: sum(result.score.count(verdict) for result in results)
        for verdict in ("right", "missing", "hedged", "wrong")
    }
    return verdicts | {
        "cells": sum(len(result.score.cells) for result in results),
        "differences": sum(result.score.differences for result in results),
        "found": sum(result.score.found for result in results),
        "false": sum(result.score.false for result in results),
        "rounds": sum(result.score.rounds for result in results),
        "seconds": round(sum(result.run.seconds for result in results), 2),
        "peak_mb": max((result.run.peak_mb or 0.0 for result in results), default=0.0),
    }


def _as_json(results: Sequence[Result], seed: int) -> dict[str, Any]:
    return {
        "seed": seed,
        "total": {
            form: _sums([result for result in results if result.form == form])
            for form in sorted({r.form for r in results})
        },
        "questions": [
            {
                "name": result.name,
                "question": result.asked.text,
                "exit": result.run.code,
                **_sums([result]),
                "log": str(result.run.log),
                "verdicts": [
                    {
                        "entity": cell.truth.entity,
                        "field": cell.truth.field,
                        "verdict": cell.verdict,
                        "shown": cell.shown,
                        "truth": cell.truth.value,
                        "older": cell.truth.older,
                        "differs": cell.truth.differs,
                    }
                    for cell in result.score.cells
                ],
            }
            for result in results
        ],
    }


if __name__ == "__main__":
    sys.exit(main())
