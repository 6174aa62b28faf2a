"""`sandbox: bwrap`: a program that sees the system and its own settings, no documents, and can write to its desk only.

Inside it, bubblewrap makes everything read-only, and the temporary folders, the home folder and the hidden ones (the
case, the project) empty. Of the home folder come back: what the program is installed in, read-only, and a copy of the
files in its own settings folders, so that its login counts and nothing that it writes there stays. The network stays,
or no model could be asked. It ends with us, and all its children with it.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.errors import AgentUnreachable

PROGRAM = "bwrap"
LARGEST = 1_000_000  # bytes of one file of a program's settings; a transcript or a model is none
# Folders of the home folder in which a program NAME keeps its settings and its login.
SETTINGS = (".{name}*", ".config/{name}", ".local/share/{name}", ".local/state/{name}", ".cache/{name}")
SYSTEM = tuple(map(Path, ("/", "/usr", "/etc", "/bin", "/lib", "/opt", "/var", "/run", "/dev", "/proc")))


def no_sandbox(name: str) -> AgentUnreachable:
    hint = f"Install bubblewrap (Linux), or set agents.{name}.sandbox to none."
    return AgentUnreachable(f"{name}: its sandbox is missing", PROGRAM, hint)


@contextmanager
def sandboxed(
    name: str,
    command: Sequence[str],
    env: Mapping[str, str],
    *,
    desk: Path,
    hidden: Iterable[Path],
    shown: Iterable[str],
) -> Iterator[list[str]]:
    """The command line to run instead of `command`.

    `shown`: words that may name files which the program needs, e.g. its arguments. Raises AgentUnreachable without
    bubblewrap, FileNotFoundError without the program.
    """
    path = env.get("PATH")
    bwrap, program = shutil.which(PROGRAM, path=path), shutil.which(command[0], path=path)
    if bwrap is None:
        raise no_sandbox(name)
    if program is None:
        raise FileNotFoundError(2, "no such program", command[0])
    home = Path(env.get("HOME") or Path.home()).resolve()
    covered = _covered(home, hidden)
    with tempfile.TemporaryDirectory(prefix="harness-home-", ignore_cleanup_errors=True) as copies:
        words = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        for folder in covered:
            words += ["--tmpfs", str(folder)]
        searched = (Path(each) for each in (path or "").split(":") if each)
        needed = [*_installed(Path(program), home), *_files(shown), *searched]
        for place in dict.fromkeys(each for each in needed if _inside(each, covered)):
            words += ["--ro-bind-try", str(place), str(place)]
        for place, copy in _copied(home, Path(program).name, Path(copies)):
            words += ["--bind", str(copy), str(place)]
        words += ["--bind", str(desk), str(desk), "--chdir", str(desk)]
        words += ["--unshare-pid", "--unshare-ipc", "--die-with-parent", "--"]
        yield [bwrap, *words, program, *command[1:]]


def _temporary() -> Path:
    return Path(tempfile.gettempdir()).resolve()


def _covered(home: Path, hidden: Iterable[Path]) -> list[Path]:
    """The folders that are empty inside, outer ones first: a later one inside an earlier one is not there any more."""
    wanted = {_temporary(), Path("/tmp"), Path("/var/tmp"), home, *(each.resolve() for each in hidden)}
    usable = sorted(each for each in wanted if each.is_dir() and each not in SYSTEM)
    return [each for each in usable if not any(each != other and each.is_relative_to(other) for other in usable)]


def _inside(place: Path, covered: list[Path]) -> bool:
    return any(place != folder and place.is_relative_to(folder) for folder in covered)


def _installed(program: Path, home: Path) -> Iterator[Path]:
    """What a program consists of: itself, and the package folder or the prefix (`PREFIX/bin/NAME`) that it lies in."""
    for place in (program, program.resolve()):
        yield place
        packages = [each for each in place.parents if each.name == "node_modules"]
        prefix = place.parent.parent
        if packages:
            yield packages[-1]
        elif place.parent.name == "bin" and prefix not in (home, home / ".local"):  # these hold everything
            yield prefix
        else:
            yield place.parent


def _files(words: Iterable[str]) -> Iterator[Path]:
    """The files among the words, alone or behind `--option=`."""
    for word in words:
        for text in (word, word.rpartition("=")[2]):
            with suppress(OSError, ValueError):  # too long for a name, or with a NUL
                if text.startswith("/") and Path(text).is_file():
                    yield Path(text)


def _copied(home: Path, name: str, copies: Path) -> Iterator[tuple[Path, Path]]:
    """Each place of a program's settings with a copy of the plain files in it; its folders (talks, caches) stay out."""
    found = sorted(place for pattern in SETTINGS for place in home.glob(pattern.format(name=name)))
    for number, place in enumerate(found):
        copy = copies / str(number)
        with suppress(OSError):
            if place.is_file():
                shutil.copyfile(place, copy)
            else:
                copy.mkdir()
                for file in place.iterdir():
                    if file.is_file() and file.stat().st_size <= LARGEST:
                        shutil.copyfile(file, copy / file.name)
            yield place, copy
