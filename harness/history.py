"""How a case's summary came to be: its versions from the trace and from git, and how far back each of them reaches."""

from __future__ import annotations

import shlex
from collections import deque
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from harness import git
from harness.errors import HarnessError
from harness.formats.summary import parse_summary, round_of
from harness.store.reading import read_state
from harness.store.trace import TRACE, broken_lines, read_trace
from harness.versions import VERSION, Version, fingerprint, replay

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class History(NamedTuple):
    """`versions`: oldest first, the last one is what stands in the file. `notes`: how far back they reach."""

    folder: Path
    versions: tuple[Version, ...]
    notes: tuple[str, ...]

    def at_round(self, number: int) -> Version | None:
        """The last version of a round that was folded whole."""
        there = (one for one in reversed(self.versions) if _is_whole(one, number))
        return next(there, None)

    def rounds(self) -> tuple[int, ...]:
        return tuple(sorted({round_of(one.text) for one in self.versions if _is_whole(one)}))


def history_of(folder: Path) -> History:
    """A version that both know is one, with its commit; those of a commit alone stand where their time puts them.

    Raises HarnessError where there is no case, and for a link in the place of a file.
    """
    if not folder.is_dir():
        raise HarnessError("no such case", str(folder), f'harness -C {shlex.quote(str(folder))} ask "your question"')
    records = list(read_trace(folder / TRACE))
    recorded = list(replay(records))
    committed = list(git.versions(folder)) if git.is_repository(folder) else []
    commits = {fingerprint(one.text): one.rev for one in reversed(committed)}
    known = {str(one.record[VERSION]) for one in recorded}
    found = [one._replace(rev=commits.get(str(one.record[VERSION]), "")) for one in recorded]
    others = (Version(one.text, one.at, one.author, rev=one.rev) for one in committed)
    found = _in_order(found, [one for one in others if fingerprint(one.text) not in known])
    present = read_state(folder / "summary.md").text
    if present and (not found or found[-1].text != present):
        found.append(Version(present, by="not recorded yet"))
    found = _each_once(found)
    kept = _one_course(found)
    told = sum(VERSION in record for record in records)
    notes = [*_notes_on_trace(folder, recorded, told), *_notes_on_git(folder, committed)]
    if len(kept) < len(found):
        notes.append("what came before the research went back to an earlier round, or began anew, is left out")
    return History(folder, tuple(kept), tuple(notes))


def _is_whole(version: Version, number: int | None = None) -> bool:
    return number in (None, round_of(version.text)) and parse_summary(version.text).reading is None


def _in_order(recorded: list[Version], others: list[Version]) -> list[Version]:
    """By time, but those of the trace stay in its order, and commits in git's, whatever the clocks said."""
    found: list[Version] = []
    left = deque(others)
    for version in recorded:
        while left and _time(left[0]) < _time(version):
            found.append(left.popleft())
        found.append(version)
    return [*found, *left]


def _time(version: Version) -> datetime:
    try:
        at = datetime.fromisoformat(version.at)
    except ValueError:
        return _LONG_AGO
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _each_once(versions: list[Version]) -> list[Version]:
    """Without repetitions in a row, as a revert and what is committed again make them."""
    return [one for at, one in enumerate(versions) if not at or versions[at - 1].text != one.text]


def _one_course(versions: list[Version]) -> list[Version]:
    """Without the rounds that were undone: a summary of an earlier round stands in their place from then on."""
    found: list[tuple[int, Version]] = []
    for version in versions:
        number = round_of(version.text)
        anew = version.record.get("base") == ""  # written over a text that the trace does not know
        while found and (found[-1][0] > number or (anew and found[-1][0] == number)):
            found.pop()
        found.append((number, version))
    return [version for _, version in found]


def _notes_on_trace(folder: Path, recorded: list[Version], told: int) -> list[str]:
    """`told`: versions that its lines tell of, those that cannot be replayed included."""
    if not (folder / TRACE).exists():
        return ["there is no trace.jsonl"]
    notes = ["trace.jsonl holds no version of the summary"]
    if recorded:
        notes = [f"the trace reaches back to round {round_of(recorded[0].text)}, {recorded[0].at[:10]}"]
    if lost := told - len(recorded):
        notes.append(f"{lost} of its {told} versions cannot be replayed: lines before them were lost or edited")
    if broken := broken_lines(folder / TRACE):
        notes.append(f"{broken} line{'s' if broken > 1 else ''} of the trace cannot be read: torn, or edited by hand")
    return notes


def _notes_on_git(folder: Path, committed: list[git.GitVersion]) -> list[str]:
    if not committed:
        return []
    number = len({one.text for one in committed})
    notes = [f"git has {number} version{'s' if number > 1 else ''} of summary.md since {committed[0].at[:10]}"]
    if git.is_shallow(folder):
        notes.append("the clone is shallow: what came before was left out")
    return notes
