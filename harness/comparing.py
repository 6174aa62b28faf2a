"""`harness diff`: two versions of a summary by what they say; rounds, commits, folders and files can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from harness import git
from harness.changes import Changes, changes
from harness.errors import HarnessError, WrongCall
from harness.formats.summary import parse_summary
from harness.formats.text import decode
from harness.history import History, history_of
from harness.journal import removed_by
from harness.model import Removal
from harness.patterns import lazy
from harness.store.reading import read_bytes
from harness.versions import Version, fingerprint

_ROUND = lazy(r"(?:round:)?([0-9]{1,6})")
_WORD = lazy(r"\s+|[^\s]+")
SUMMARY = "summary.md"


class Named(NamedTuple):
    """A version, and how it is called in the result."""

    name: str
    version: Version


class Comparison(NamedTuple):
    old: str
    new: str
    changes: Changes


def compare(folder: Path, names: Sequence[str]) -> Comparison:
    """None: the last step, that is from the version before it; one: from there to what stands; two: between them.

    Raises WrongCall for a name that means nothing here, saying which rounds are known.
    """
    history = history_of(folder)
    if not history.versions:
        raise HarnessError("there is no summary yet", str(folder / SUMMARY), "harness run")
    now = Named("now", history.versions[-1])
    if names:
        old = _named(history, names[0])
        new = _named(history, names[1]) if len(names) > 1 else now
    else:
        old, new = _last_step(history), now
    reasons = _reasons(history, old.version, new.version)
    return Comparison(
        old.name, new.name, changes(parse_summary(old.version.text), parse_summary(new.version.text), reasons)
    )


def _last_step(history: History) -> Named:
    """What stood before the last round; before everything there was nothing."""
    last = parse_summary(history.versions[-1].text).round
    for version in reversed(history.versions):
        summary = parse_summary(version.text)
        if summary.round < last and summary.reading is None:
            return Named(f"round {summary.round}", version)
    return Named("nothing", Version(""))


def _named(history: History, name: str) -> Named:
    there = Path(name)
    number = _ROUND.fullmatch(name)
    if number and there.exists() and not name.startswith("round:"):
        raise WrongCall("both a round and a file", name, f"round:{name} or ./{name}")
    if number:
        if version := history.at_round(int(number[1])):
            return Named(f"round {number[1]}", version)
        raise WrongCall(
            "no such round is known", name, f"known: {_shown(history.rounds())}; {'; '.join(history.notes)}"
        )
    if there.is_dir() or there.is_file():
        path = there / SUMMARY if there.is_dir() else there
        data = read_bytes(path)
        if data is None:
            raise WrongCall("no summary.md stands there", name, "name the folder of a case")
        return Named(name, Version(decode(data).text))
    rev = git.revision(history.folder, name) if git.is_repository(history.folder) else None
    text = git.version_at(history.folder, rev) if rev else None
    if text is not None:
        return Named(name, Version(text, rev=rev or ""))
    if rev:
        raise WrongCall("this commit has no summary.md here", name, "harness log lists what there is")
    raise WrongCall("neither a round, a commit, a folder nor a file", name, f"rounds known: {_shown(history.rounds())}")


def _shown(rounds: Sequence[int]) -> str:
    return ", ".join(map(str, rounds)) or "none"


def _reasons(history: History, old: Version, new: Version) -> tuple[Removal, ...]:
    """Those that the passes between the two gave, where both are of this history; else all that there are."""
    prints = [fingerprint(one.text) for one in history.versions]
    ends = [prints.index(mark) for one in (old, new) if (mark := fingerprint(one.text)) in prints]
    between = history.versions[min(ends) + 1 : max(ends) + 1] if len(ends) == 2 else history.versions
    return tuple(reason for version in between for reason in removed_by(version))


# For people --------------------------------------------------------------------------------------


def render(told: Comparison, *, colours: bool = False) -> str:
    found = told.changes
    blocks = [
        _block("Added", "+", found.added, "32", colours),
        _block("Lost", "-", (f"{line}  ({reason or 'no reason given'})" for line, reason in found.lost), "31", colours),
        _block("Changed", "~", (_changed(old, new, colours) for old, new in found.changed), "", colours),
        _block("Moved", ">", (f"{line}  ({a} → {b})" for line, a, b in found.moved), "", colours),
        _block("Contradictions opened", "!", found.opened, "33", colours),
        _block("Contradictions settled", "=", found.settled, "", colours),
        _block("Gaps closed", "✓", found.gaps_closed, "", colours),
        _block("Gaps opened", "?", found.gaps_opened, "", colours),
    ]
    body = "\n".join(block for block in blocks if block)
    return f"{told.old} → {told.new}\n{body or 'no fact is different'}"


def _block(title: str, sign: str, lines: Iterable[str], colour: str, colours: bool) -> str:
    shown = [f"  {sign} {line}" for line in lines]
    if colours and colour:
        shown = [f"\x1b[{colour}m{line}\x1b[0m" for line in shown]
    return "\n".join([title, *shown]) if shown else ""


def _changed(old: str, new: str, colours: bool) -> str:
    """Both lines; on a terminal the words that differ stand out."""
    if not colours:
        return f"{old}\n    → {new}"
    before, after = _WORD.findall(old), _WORD.findall(new)
    shown: list[list[str]] = [[], []]
    for tag, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        for words, colour, out in ((before[i:j], "31", shown[0]), (after[k:m], "32", shown[1])):
            text = "".join(words)
            out.append(text if tag == "equal" or not text else f"\x1b[{colour}m{text}\x1b[0m")
    return f"{''.join(shown[0])}\n    → {''.join(shown[1])}"


def stat(told: Comparison) -> str:
    """One line of counts."""
    counts = ((len(lines), name.replace("_", " ")) for name, lines in told.changes._asdict().items())
    return f"{told.old} → {told.new}: " + (
        ", ".join(f"{n} {name}" for n, name in counts if n) or "no fact is different"
    )


def github(told: Comparison) -> str:
    """Markdown for a comment: one diff block, so that signs are coloured there."""
    found = told.changes
    lines = [f"+ {line}" for line in found.added]
    lines += [f"- {line}  ({reason or 'no reason given'})" for line, reason in found.lost]
    lines += [text for old, new in found.changed for text in (f"- {old}", f"+ {new}")]
    lines += [f"! {line}  ({a} → {b})" for line, a, b in found.moved]
    lines += [f"! contradiction: {line}" for line in found.opened]
    lines += [f"! settled: {line}" for line in found.settled]
    lines += [f"# gap closed: {line}" for line in found.gaps_closed]
    lines += [f"# gap: {line}" for line in found.gaps_opened]
    fence = "`" * max(3, 1 + max((len(run) for line in lines for run in lazy("`+").findall(line)), default=0))
    body = "\n".join(lines) or "# no fact is different"
    return f"**{told.old} → {told.new}**\n\n{fence}diff\n{body}\n{fence}"
