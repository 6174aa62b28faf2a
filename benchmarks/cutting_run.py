"""One cutter over one text in a process of its own: python -m benchmarks.cutting_run NAME FILE LIMIT prints JSON."""

from __future__ import annotations

import importlib
import json
import re
import resource
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from harness.cutting import Cut, cut
from harness.ports import CountTokens

ENCODING = "o200k_base"
OVERLAP = 20
BLOCK = 1_000_000  # as the store reads a raw
PROSE = re.compile(r"(?![|#\s])")  # a part that begins so continues prose: there an overlap is due
ROW = re.compile(r"^\| (\d+) \|.*\|$", re.MULTILINE)
LONGEST = 400  # characters in which an overlap is looked for


def counter() -> CountTokens:
    toktok: Any = importlib.import_module("toktok")

    def count(text: str) -> int:
        return int(toktok.batch_count([text], ENCODING, 1)[0])

    count("the vocabulary is loaded")
    return count


def blocks(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", newline="\n") as file:
        while block := file.read(BLOCK):
            yield block


def ours(text: str, limit: int, count: CountTokens) -> list[str]:
    pieces = (text[at : at + BLOCK] for at in range(0, len(text), BLOCK))
    found: list[Cut] = list(cut(pieces, limit, count, overlap=OVERLAP))
    return [part.lead + text[part.start : part.end] for part in found]


def langchain(kind: str) -> Callable[[str, int, CountTokens], list[str]]:
    """As its `from_tiktoken_encoder` makes it, but with the faster counter; the lengths are the same."""

    def split(text: str, limit: int, count: CountTokens) -> list[str]:
        module: Any = importlib.import_module("langchain_text_splitters")
        splitter = getattr(module, kind)(chunk_size=limit, chunk_overlap=OVERLAP, length_function=count)
        return list(splitter.split_text(text))

    return split


def chonkie(text: str, limit: int, count: CountTokens) -> list[str]:
    module: Any = importlib.import_module("chonkie")
    return [chunk.text for chunk in module.RecursiveChunker(tokenizer=count, chunk_size=limit).chunk(text)]


def semantic(text: str, limit: int, count: CountTokens) -> list[str]:
    module: Any = importlib.import_module("semantic_text_splitter")
    return list(module.MarkdownSplitter.from_callback(count, limit, overlap=OVERLAP).chunks(text))


CUTTERS: dict[str, Callable[[str, int, CountTokens], list[str]]] = {
    "ours": ours,
    "langchain CharacterTextSplitter": langchain("CharacterTextSplitter"),
    "langchain RecursiveCharacterTextSplitter": langchain("RecursiveCharacterTextSplitter"),
    "chonkie RecursiveChunker": chonkie,
    "semantic-text-splitter MarkdownSplitter": semantic,
}


def peak() -> float:
    """MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def overlap(before: str, after: str) -> str:
    """What of the end of one part stands at the beginning of the next; ours marks it in the lines above."""
    marked = re.search(r"^… (.*)$", after[:3000], re.MULTILINE)
    if marked:
        return marked[1]
    start = after[:LONGEST]
    return next((start[:length] for length in range(len(start), 3, -1) if before.endswith(start[:length])), "")


def own(part: str) -> str:
    """Without the lines that ours puts above a part."""
    marked = re.search(r"^… .*\n", part[:3000], re.MULTILINE)
    return part[marked.end() :] if marked else part


def judge(text: str, parts: list[str], limit: int, count: CountTokens) -> dict[str, float]:
    sizes = [count(part) for part in parts]
    rows: dict[str, int] = {}
    for part in parts:
        for row in ROW.finditer(part):
            rows[row[0]] = rows.get(row[0], 0) + 1
    wanted = [row[0] for row in ROW.finditer(text)]
    repeated = [count(found) if (found := overlap(a, b)) else 0 for a, b in pairwise(parts) if PROSE.match(own(b))]
    return {
        "parts": len(parts),
        "filled": sum(sizes) / len(sizes) / limit,
        "over": sum(size > limit for size in sizes) / len(sizes),
        "largest": max(sizes) / limit,
        "rows": len(wanted),
        "torn": sum(rows.get(row, 0) != 1 for row in wanted),
        "overlap": sum(repeated) / max(len(repeated), 1),
    }


def compared(name: str, path: Path, limit: int) -> dict[str, float]:
    """Counting alone and cutting take turns, the best of each by the processor's time: other programs run beside it."""
    count = counter()
    text = path.read_text(encoding="utf-8")
    alone, seconds, parts = float("inf"), float("inf"), [""]
    before = peak()
    for _ in range(3 if name == "ours" else 1):
        started = time.process_time()
        for at in range(0, len(text), BLOCK):  # fresh strings, as a cutter's are: none has its UTF-8 at hand
            count(text[at : at + BLOCK])
        alone = min(alone, time.process_time() - started)
        started = time.process_time()
        parts = CUTTERS[name](text, limit, count)
        seconds = min(seconds, time.process_time() - started)
    memory = peak() - before
    size = path.stat().st_size / 1e6
    return {"MB": size, "speed": size / seconds, "ratio": alone / seconds, "memory": memory} | judge(
        text, parts, limit, count
    )


def streamed(path: Path, limit: int) -> dict[str, float]:
    """A file that is never held: how much memory cutting it takes beyond what stood there before."""
    count = counter()
    before = peak()
    started = time.process_time()
    parts = len([part.end for part in cut(blocks(path), limit, count, overlap=OVERLAP)])
    seconds = time.process_time() - started
    size = path.stat().st_size / 1e6
    return {"MB": size, "speed": size / seconds, "parts": parts, "memory": peak() - before, "whole": peak()}


if __name__ == "__main__":
    name, file, limit = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    print(json.dumps(streamed(file, limit) if name == "streamed" else compared(name, file, limit)))
