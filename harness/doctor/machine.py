"""Checks of the machine: Python and the package, git, tokens, console, the system's limits, our own folders."""

from __future__ import annotations

import locale
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from harness import __version__
from harness.caching import CACHE_VARIABLE, cache_folder
from harness.config import CONFIG_DIR, user_config_file
from harness.doctor.finding import Around, Finding, failed, passed, shown, skipped, started, warned
from harness.environment import child_environment
from harness.prompts import LANGUAGES, load_prompts
from harness.trust import DATA_DIR, trust_file, trusted
from harness.vocabulary import PINS, Vocabulary, vocabulary

OLDEST = (3, 11)
# One watch a case; editors and desktop programs of the same user need far more, and share these.
ENOUGH = {"max_user_watches": 8_192, "max_user_instances": 64}


def python(around: Around) -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < OLDEST:
        yield failed("Python", version, f"install {'.'.join(map(str, OLDEST))} or newer")
    else:
        yield passed("Python", f"{version}, {sys.executable}")
    for language in LANGUAGES:
        load_prompts(language)
    yield passed("package", f"harness {__version__}, prompts in {', '.join(LANGUAGES)}")


def on_path(around: Around) -> Iterator[Finding]:
    """A coding agent that takes part by `harness step` finds the program on PATH."""
    found = shutil.which("harness", path=around.environ.get("PATH"))
    todo = f"put {Path(sys.executable).parent} on PATH, for agents that call harness step"
    if found is None:
        yield warned("harness on PATH", "not there", todo)
    elif Path(os.path.realpath(found)).parent != Path(sys.executable).parent:
        yield warned("harness on PATH", f"{found}, another installation than this one", todo)
    else:
        yield passed("harness on PATH", found)


def git(around: Around) -> Iterator[Finding]:
    needed = "install git: the root of a project is found by it, and a case's history is kept in it"
    try:
        ended = started(["git", "--version"], child_environment(around.environ, {}))
    except FileNotFoundError:
        yield warned("git", "not on PATH", needed)
        return
    if ended.stopped or ended.code:
        yield warned("git", ended.stopped or f"exit code {ended.code}: {ended.stderr_tail}", needed)
    else:
        yield passed("git", ended.stdout.removeprefix("git version "))


def tokens(around: Around) -> Iterator[Finding]:
    yield vocabularies({name: vocabulary(name, cache_folder(around.environ), around.environ) for name in PINS})


def vocabularies(found: Mapping[str, Vocabulary | None]) -> Finding:
    """What counts tokens, by encoding; None: no vocabulary was found for it."""
    missing = [name for name, one in found.items() if one is None]
    if missing:
        told = f"an upper-bound estimate for {', '.join(missing)}: up to twice as many as there are"
        todo = "pip install toktok-rs; until then parts are cut smaller than they would have to be"
        return warned("tokens", told, todo)
    sources = {one.source: "" for one in found.values() if one}
    return passed("tokens", f"exact for {', '.join(found)}, from {', '.join(sources)}")


def console(around: Around) -> Iterator[Finding]:
    """Answers are in every language; what a console cannot show is shown as `?`."""
    names = {
        "output": getattr(sys.stdout, "encoding", None) or "none",
        "files": "utf-8" if sys.flags.utf8_mode else locale.getencoding(),
    }
    told = ", ".join(f"{name} {encoding}" for name, encoding in names.items())
    named = [f"{name}={around.environ[name]}" for name in ("PYTHONUTF8", "PYTHONIOENCODING") if name in around.environ]
    told += f" ({', '.join(named)})" if named else ""
    if all(_is_utf8(encoding) for encoding in names.values()):
        yield passed("encoding", told)
    else:
        yield warned("encoding", told, "set PYTHONUTF8=1, or a locale such as C.UTF-8: agents inherit it")


def _is_utf8(encoding: str) -> bool:
    return encoding.lower().replace("-", "").replace("_", "") in ("utf8", "cp65001")


def watches(around: Around) -> Iterator[Finding]:
    """inotify's limits are a user's, over all programs; without a watch the harness looks once a second."""
    folder = around.system / "fs" / "inotify"
    if not folder.is_dir():
        yield skipped("inotify limits", "not on this system")
        return
    for name, least in ENOUGH.items():
        value = int((folder / name).read_text(encoding="ascii"))
        if value < least:
            todo = f"sysctl fs.inotify.{name}={least}; until then changes are seen a second later"
            yield warned(f"inotify {name}", f"{value}, below {least}", todo)
        else:
            yield passed(f"inotify {name}", str(value))


def folders(around: Around) -> Iterator[Finding]:
    """Ours, outside every case; one that is not there yet is made when it is needed."""
    named = (
        ("data", DATA_DIR, trust_file(around.environ).parent),
        ("config", CONFIG_DIR, user_config_file(around.environ).parent),
        ("cache", CACHE_VARIABLE, cache_folder(around.environ)),
    )
    for name, variable, folder in named:
        there = next(level for level in (folder, *folder.parents) if os.path.lexists(level))
        try:
            with tempfile.TemporaryFile(dir=there):
                yield passed(f"{name} folder", str(folder))
        except OSError as error:
            todo = f"make it a folder that you may write, or set {variable} to another"
            yield failed(f"{name} folder", f"{folder} ({error.strerror}: {there})", todo)
    if problem := trusted(around.environ).problem:
        yield failed("trust.json", problem, "harness trust, in each project that you trust: the old file is kept")
    else:
        number = len(trusted(around.environ).projects)
        yield passed("trust.json", shown(f"{number} project{'' if number == 1 else 's'} trusted"))
