"""`harness fork`: a new case that goes on from an earlier round of this one."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from harness import git
from harness.errors import HarnessError, WrongCall
from harness.formats.question import fingerprint as fingerprint_of
from harness.formats.summary import parse_summary
from harness.history import history_of
from harness.store import Base, Store
from harness.store.fresh import bytes_of, fresh_case
from harness.store.reading import list_case, read_state
from harness.versions import Version, fingerprint, version_record

QUESTION, SUMMARY = "question.md", "summary.md"


class Forked(NamedTuple):
    """`raws`: how many were copied. `missing`: those up to the round that are not there any more."""

    folder: Path
    round: int
    raws: int
    missing: tuple[int, ...]


def fork(folder: Path, number: int, target: Path) -> Forked:
    """The case as of a round: question, summary and raws. No query and no answer.

    Raises WrongCall for a round that is not known, naming those that are; HarnessError where the target stands.
    """
    if not (folder / QUESTION).exists():
        raise HarnessError("there is no case to fork", str(folder), "harness -C DIR fork ROUND --to NEW")
    history = history_of(folder)
    version = history.at_round(number)
    if version is None:
        known = ", ".join(map(str, history.rounds())) or "none"
        raise WrongCall("no such round is known", str(number), f"known: {known}; {'; '.join(history.notes)}")
    there = [one for one in list_case(folder).raws if one <= number]
    at = datetime.now(UTC).isoformat(timespec="seconds")
    origin = {"from": _way(folder, target), "round": number, "version": fingerprint(version.text)}
    with fresh_case(target) as store:
        store.note({"at": at, "role": "fork", "round": number, "forked": origin})
        store.make_case(_question(folder, version))
        for one in there:
            store.create_raw(one, bytes_of(folder / f"raw_{one}.md"), {"at": at, "role": "fork", "round": one})
        _write_summary(store, version, {"at": at, "role": "fork", "round": number})
    missing = sorted(set(range(1, parse_summary(version.text).round + 1)) - set(there))
    return Forked(target, number, len(there), tuple(missing))


def _way(folder: Path, target: Path) -> str:
    """From the new folder to the old one, so that no path of this machine stands in the trace."""
    try:
        return Path(os.path.relpath(folder.absolute(), target.absolute())).as_posix()
    except ValueError:  # another drive
        return folder.name


def _question(folder: Path, version: Version) -> str:
    """As it stood in the version's commit, where that asks the same; else as it stands."""
    now = read_state(folder / QUESTION).text
    then = git.file_at(folder, version.rev, QUESTION) if version.rev else None
    return then if then and fingerprint_of(then) == fingerprint_of(now) else now


def _write_summary(store: Store, version: Version, record: dict[str, object]) -> None:
    told = {**record, **version_record("", version.text, "")}
    store.commit(SUMMARY, version.text, Base({SUMMARY: ""}), told)


def render(forked: Forked) -> str:
    raws = "1 raw" if forked.raws == 1 else f"{forked.raws} raws"
    gone = f"; not there any more: {', '.join(f'raw_{one}.md' for one in forked.missing)}" if forked.missing else ""
    return f"{forked.folder} goes on from round {forked.round}: question, summary, {raws}{gone}"
