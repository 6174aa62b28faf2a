"""The text that cutters are compared on: Debian's guides in English, Russian and Chinese, as sources with tables."""

from __future__ import annotations

import gzip
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

PACKAGES = ("installation-guide-amd64", "debian-reference-en", "debian-reference-zh-cn")
TEXTS = ("install.en", "install.ru", "install.zh_CN", "debian-reference.en", "debian-reference.zh-cn")
HEADER = "| id | person | day | hours | note |\n|---|---|---|--:|---|\n"
NAMES = ("Ivan Petrov", "Мария Иванова", "王伟", "Ann Lee", "Олег Смирнов")


def paragraphs(cache: Path) -> list[list[str]]:
    """The paragraphs of each guide; the packages are kept in `cache`. Raises RuntimeError where they cannot be had."""
    cache.mkdir(parents=True, exist_ok=True)
    unpacked = cache / "guides"
    if not unpacked.is_dir():
        if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
            raise RuntimeError(f"apt-get and dpkg-deb are needed for the packages {', '.join(PACKAGES)}")
        subprocess.run(["apt-get", "download", "-qq", *PACKAGES], cwd=cache, check=True, stderr=subprocess.DEVNULL)
        part = cache / "guides.part"
        shutil.rmtree(part, ignore_errors=True)
        for package in cache.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", str(package), str(part)], check=True)
        part.rename(unpacked)
    found = []
    for name in TEXTS:
        path = next(unpacked.rglob(f"{name}.txt.gz"))
        text = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
        found.append([each.strip("\n") for each in text.split("\n\n") if len(each) > 40])
    return found


def sources(guides: list[list[str]], seed: int) -> Iterator[str]:
    """Sources without end: each some pages of one guide, every third with a table of 5 to 400 rows."""
    chance = random.Random(seed)
    row = 0
    number = 0
    while True:
        number += 1
        guide = chance.choice(guides)
        count = chance.randint(5, 300)
        at = chance.randrange(len(guide))
        taken = [guide[(at + step) % len(guide)] for step in range(count)]
        for step in range(0, count, 25):
            taken[step] = f"### Section {step // 25 + 1}\n\n{taken[step]}"
        if number % 3 == 0:
            rows = []
            for _ in range(chance.randint(5, 400)):
                row += 1
                name, note = chance.choice(NAMES), chance.choice(guide)[:30].replace("\n", " ").replace("|", "/")
                rows.append(f"| {row} | {name} | 2025-{row % 12 + 1:02}-{row % 28 + 1:02} | {row % 9}.5 | {note} |\n")
            taken.insert(chance.randrange(count), HEADER + "".join(rows).rstrip("\n"))
        body = "\n\n".join(taken)
        yield f"## {number}. Guide, {number}\n- url: https://example.org/{number}\n- date: 2025-03-01\n\n{body}\n\n"


def write_text(path: Path, size: int, guides: list[list[str]], seed: int = 1) -> None:
    """A file of about `size` bytes; one that is there is kept."""
    if path.is_file():
        return
    part = path.with_suffix(".part")
    written = 0
    with part.open("w", encoding="utf-8", newline="\n") as file:
        for source in sources(guides, seed):
            file.write(source)
            written += len(source.encode())
            if written >= size:
                break
    part.rename(path)
