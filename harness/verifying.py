"""`harness verify`: whether a case is as its passes left it, and if not, which file, round and facts are touched."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from harness.changes import changes
from harness.checking import check_case
from harness.errors import HarnessError, WrongCall
from harness.facts import citations
from harness.formats.question import fingerprint as fingerprint_of
from harness.formats.summary import lines_of, parse_summary, source_lines
from harness.formats.text import shortened
from harness.guards.lines import FACTUAL
from harness.options import Settings
from harness.store import Snapshot, Store
from harness.store.reading import RAW_NAME, open_regular
from harness.store.trace import TRACE
from harness.versions import VERSION, Version, fingerprint, replay

SUMMARY = "summary.md"
NAMED = 5  # facts of a finding that are shown
_BLOCK = 1_000_000
_HEAD = 12  # characters of a head at the least: a shorter one stands for any trace
# What `check` finds in lines whose sources somebody may have touched.
_CITED = frozenset({"unknown-citation", "ungrounded", "unknown-address", "struck-out"})


class Finding(NamedTuple):
    """`round`: 0 where none is meant. `facts`: the lines of the summary that it touches."""

    file: str
    round: int
    what: str
    facts: tuple[str, ...] = ()


class Verified(NamedTuple):
    """`head`: the sha256 of the last line of the trace, "" without one. Kept elsewhere it proves more: `--head`."""

    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    files: int
    lines: int
    facts: int
    head: str


class _Line(NamedTuple):
    text: str
    record: Mapping[str, object]


def verify(folder: Path, settings: Settings, head: str = "") -> Verified:
    """`head`: what was printed earlier and kept elsewhere. Raises HarnessError where there is no case."""
    if head and len(head) < _HEAD:
        raise WrongCall(
            "a head has more characters", head, f"--head and at least {_HEAD} of the 64 that verify printed"
        )
    store = Store(folder)
    snapshot = store.snapshot()
    lines = list(_trace_lines(folder))
    facts = tuple(line for kind in FACTUAL for line in lines_of(snapshot.case.summary, kind))
    records = [line.record for line in lines]
    findings = [
        *_lineage(lines),
        *_against(head, lines),
        *_versions(records, snapshot),
        *_files(folder, records, facts),
        *_question(snapshot),
        *_sources(store, snapshot),
        *(
            Finding(one.file, 0, one.what, (one.value,))
            for one in check_case(store, settings, snapshot)
            if one.code in _CITED
        ),
    ]
    notes = (
        [] if lines else ["there is no trace.jsonl: nothing tells what the passes left, only citations were checked"]
    )
    there = sum((folder / name).exists() for name in snapshot.files) + len(snapshot.case.raws)
    last = _digest(lines[-1].text) if lines else ""
    return Verified(tuple(findings), tuple(notes), there, len(lines), len(facts), last)


# The trace ---------------------------------------------------------------------------------------


def _trace_lines(folder: Path) -> Iterator[_Line]:
    descriptor = open_regular(folder / TRACE)
    if descriptor is None:
        return
    with os.fdopen(descriptor, encoding="utf-8", errors="replace", newline="\n") as file:
        for line in file:
            text = line.removesuffix("\n")
            try:
                record = json.loads(text)
            except (ValueError, RecursionError):
                record = None
            yield _Line(text, record if isinstance(record, dict) else {})


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _lineage(lines: list[_Line]) -> Iterator[Finding]:
    """Each line names the sha256 of the one before it."""
    before = ""
    for number, line in enumerate(lines, 1):
        where = f"{TRACE}:{number}"
        if not line.record:
            yield Finding(where, 0, "a line that cannot be read: torn by a kill, or written by something else")
        elif line.record.get("previous") != _digest(before):
            told = "a line before this one is missing, was changed, or stands elsewhere"
            yield Finding(where, _round(line.record), told if number > 1 else "lines before this one are missing")
        before = line.text


def _against(head: str, lines: list[_Line]) -> Iterator[Finding]:
    """A head that was kept elsewhere must be one of the lines: what came after it may be new."""
    if head and not any(_digest(line.text).startswith(head.lower()) for line in lines):
        yield Finding(TRACE, 0, f"no line has the head {head[:12]}: the trace was written anew since")


def _round(record: Mapping[str, object]) -> int:
    number = record.get("round")
    return number if type(number) is int else 0


def _versions(records: list[Mapping[str, object]], snapshot: Snapshot) -> Iterator[Finding]:
    """Each version has to follow from what its line says, and the last one has to stand in the file."""
    versions = list(replay(records))
    known = {str(version.record[VERSION]) for version in versions}
    for record in records:
        if isinstance(record.get(VERSION), str) and record[VERSION] not in known:
            yield Finding(TRACE, _round(record), "what changed in summary.md does not give the text that was written")
    text = snapshot.text(SUMMARY)
    if not versions or fingerprint(text) in (versions[-1].record[VERSION], _killed(records, versions)):
        return
    told = changes(parse_summary(versions[-1].text), snapshot.case.summary)
    touched = (*told.added, *(line for line, _ in told.lost), *(now for _, now in told.changed))
    what = (
        f"{len(told.added)} facts added, {len(told.lost)} lost, {len(told.changed)} changed"
        if told
        else "no fact is different"
    )
    yield Finding(SUMMARY, snapshot.case.summary.round, f"changed after the last pass: {what}", touched)


def _killed(records: list[Mapping[str, object]], versions: list[Version]) -> str:
    """The version before the last, if the last line of the trace is about it: its pass may have been killed."""
    last = records[-1] if records else {}
    return str(last.get("base", "")) if last.get(VERSION) == versions[-1].record[VERSION] else ""


# The files ---------------------------------------------------------------------------------------


def _files(folder: Path, records: list[Mapping[str, object]], facts: tuple[str, ...]) -> Iterator[Finding]:
    """Raws and answers against the sha256 that the trace has of them. summary.md is compared by what it says."""
    for name, (expected, number, before) in sorted(_expected(records).items()):
        now = _sha256(folder / name)
        if now in (expected, before):
            continue
        raw = RAW_NAME.fullmatch(name)
        touched = _citing(facts, int(raw[1])) if raw else ()
        what = "is gone" if not now else "was changed after it was written" if expected else "is there again"
        yield Finding(name, number, what, touched)


def _expected(records: list[Mapping[str, object]]) -> dict[str, tuple[str, int, str | None]]:
    """File → the sha256 it was left with, the round, and one that it may have where its last pass was killed."""
    found: dict[str, tuple[str, int, str | None]] = {}
    for at, record in enumerate(records):
        match record:
            case {"file": str(name), "sha256": str(sha256)} if RAW_NAME.fullmatch(name) or name.startswith("answer"):
                before = found[name][0] if name in found else ""
                found[name] = sha256, _round(record), before if at == len(records) - 1 else None
                if "reopened" in record:
                    found["answer.md"] = "", _round(record), sha256 if at == len(records) - 1 else None
    return found


def _sha256(path: Path) -> str:
    descriptor = open_regular(path)
    if descriptor is None:
        return ""
    digest = hashlib.sha256()
    with os.fdopen(descriptor, "rb") as file:
        while data := file.read(_BLOCK):
            digest.update(data)
    return digest.hexdigest()


def _citing(facts: tuple[str, ...], number: int) -> tuple[str, ...]:
    return tuple(line for line in facts if any(id.startswith(f"{number}.") for id in citations(line)))


def _question(snapshot: Snapshot) -> Iterator[Finding]:
    question, summary = snapshot.case.question, snapshot.case.summary
    if question is None and summary.fingerprint:
        yield Finding("question.md", 0, "is gone")
    if question and summary.fingerprint and fingerprint_of(question.text) != summary.fingerprint:
        yield Finding("question.md", 0, "is another question than the one that the summary answers")


def _sources(store: Store, snapshot: Snapshot) -> Iterator[Finding]:
    """Date and address of each line of Sources against its raw; the raws one at a time."""
    listed = source_lines(snapshot.case.summary)
    for number in sorted({int(line.id.partition(".")[0]) for line in listed} & set(snapshot.case.raws)):
        try:
            _, raw = store.read_raw(number)
        except HarnessError:
            continue
        there = {f"{number}.{k}": source for k, source in enumerate(raw.sources, raw.first)}
        for line in listed:
            source = there.get(line.id)
            if source and (source.date, source.url) != (line.date, line.url):
                facts = tuple(lines_citing(snapshot, line.id))
                yield Finding(SUMMARY, number, f"Sources says of [{line.id}] what raw_{number}.md does not", facts)


def lines_citing(snapshot: Snapshot, id: str) -> Iterator[str]:
    for kind in FACTUAL:
        yield from (line for line in lines_of(snapshot.case.summary, kind) if id in citations(line))


def render(told: Verified) -> str:
    """A line a finding with the facts below it, then the totals."""
    lines = []
    for one in told.findings:
        where = f" (round {one.round})" if one.round else ""
        lines.append(f"{one.file}: {one.what}{where}")
        lines += (f"    {shortened(fact, 160)}" for fact in one.facts[:NAMED])
        if len(one.facts) > NAMED:
            lines.append(f"    and {len(one.facts) - NAMED} more")
    lines += told.notes
    counted = f"{told.files} files, {told.lines} trace lines, {told.facts} facts"
    number = len(told.findings)
    found = f"{number} finding{'s' if number != 1 else ''}" if number else "nothing was changed"
    return "\n".join([*lines, f"{counted}: {found}", *([f"head {told.head}"] if told.head else [])])
