"""Token counters held against each other in one run: speed on mixed text, how far the estimate is above, odd input.

    python -m benchmarks.counters [--texts DIR] [--megabytes 10]

`--texts`: a folder of .txt files to take the text from (for instance the pages of debian-handbook in three languages
as text); without it, the texts of the tests and of this repository, shuffled by line.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import tiktoken

from benchmarks.speed import best
from harness.counters import ESTIMATE, Counter, counter_for
from harness.vocabulary import PINS, tiktoken_encoding
from tests.test_counters import PATHOLOGICAL
from tests.token_texts import CHINESE, FILES, MADE, PROSE_RU

REPEATS = 3
MB = 1_000_000


def mixed(folder: Path | None, size: int) -> dict[str, str]:
    """Text by kind, some `size` bytes in all."""
    if folder is not None:
        found = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.txt"))}
    else:
        russian = PROSE_RU + "".join(text for name, text in FILES.items() if "/ru/" in name)
        english = "".join(text for name, text in FILES.items() if name.startswith("docs/"))
        code = "".join(text for name, text in FILES.items() if name.startswith("harness/"))
        found = {"English": english, "Russian": russian, "Chinese": CHINESE, "code": code}
    return {name: shuffled(text, size // len(found)) for name, text in found.items() if text}


def shuffled(text: str, size: int) -> str:
    """Lines in a random order until there are `size` bytes, so that no cache sees the same long text twice."""
    order, lines, out, made = random.Random(1), text.splitlines(keepends=True), [], 0
    while made < size:
        order.shuffle(lines)
        for line in lines:
            out.append(line)
            made += len(line.encode())
            if made >= size:
                break
    return "".join(out)


def counters(cache: Path) -> dict[str, Counter]:
    """By library and vocabulary; tiktoken's own pace is measured too where the quick one counts."""
    found = {"estimate": ESTIMATE}
    for name in PINS:
        found[f"toktok {name}"] = counter_for(name, 1.0, cache)
        encoding = tiktoken_encoding(name, cache)
        if encoding is not None:
            found[f"tiktoken {name}"] = Counter(name, exact=True, _count=partial(by_tiktoken, encoding))
    return found


def by_tiktoken(encoding: tiktoken.Encoding, texts: Sequence[str]) -> list[int]:
    return [len(encoding.encode_ordinary(text)) for text in texts]


def print_speeds(texts: Mapping[str, str], known: Mapping[str, Counter]) -> None:
    whole = "".join(texts.values())
    size = len(whole.encode()) / MB
    paragraphs = whole.split("\n\n")
    seconds = {name: best(partial(counter, whole), REPEATS) for name, counter in known.items()}
    batch = {name: best(partial(counter.many, paragraphs), 1) for name, counter in known.items()}
    slowest = max(seconds.values())
    print(f"{size:.1f} MB, of them {', '.join(texts)}; {len(paragraphs):,} paragraphs\n")
    print("| counter | MB/s | times the slowest | MB/s by paragraph |\n|---|---|---|---|")
    for name in known:
        pace = f"{size / seconds[name]:.1f} | {slowest / seconds[name]:.1f} | {size / batch[name]:.1f}"
        print(f"| {name} | {pace} |")


def print_overcounts(texts: Mapping[str, str], known: Mapping[str, Counter]) -> None:
    """The estimate divided by the greater of both vocabularies, and by o200k_base."""
    exact = [counter for name, counter in known.items() if name.startswith("toktok")]
    print("\n| text | tokens a character | estimate / greater | estimate / o200k_base |\n|---|---|---|---|")
    for name, text in {**texts, **MADE}.items():
        counts = [counter(text) for counter in exact]
        most, told = max(counts), ESTIMATE(text)
        print(f"| {name} | {most / len(text):.2f} | {told / most:.2f} | {told / counts[-1]:.2f} |")


def print_odd(known: Mapping[str, Counter]) -> None:
    quick = {name: counter for name, counter in known.items() if not name.startswith("tiktoken")}
    print(f"\n| 1 MB and more of | {' | '.join(f'{name}, s' for name in quick)} |\n|---|{'---|' * len(quick)}")
    for kind, text in PATHOLOGICAL.items():
        times = [best(partial(counter, text), 1) for counter in quick.values()]
        print(f"| {kind} | {' | '.join(f'{one:.3f}' for one in times)} |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--megabytes", type=int, default=10)
    given = parser.parse_args()
    texts = mixed(given.texts, given.megabytes * MB)
    with tempfile.TemporaryDirectory() as folder:
        known = counters(Path(folder))
    print_speeds(texts, known)
    print_overcounts(texts, known)
    print_odd(known)
    print(f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
