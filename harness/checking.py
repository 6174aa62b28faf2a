"""`harness check`: reads a case and its raws once, applies the rules, and says what it found. Writes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.check import Checked, Finding, check
from harness.errors import BrokenFile, HarnessError
from harness.evidence import RawText
from harness.formats.text import shortened
from harness.options import Settings
from harness.store import Snapshot, Store

SHOWN = 160  # characters of a line of the case; files may hold anything
GITHUB = {"error": "error", "warning": "warning", "notice": "notice"}


def check_case(store: Store, settings: Settings, seen: Snapshot | None = None) -> tuple[Finding, ...]:
    """Raises HarnessError where there is no case. Raws are read one at a time; one that cannot be is a finding."""
    try:
        snapshot = seen or store.snapshot()
    except BrokenFile as error:  # what else is wrong shows when this is mended
        path, _, line = error.value.rpartition(":") if error.value[-1:].isdigit() else (error.value, "", "1")
        return (Finding(Path(path).name, int(line), "broken-file", "error", error.what, "", error.hint),)
    case = snapshot.case
    if not (case.question or case.raws or case.summary.sections or case.summary.intro):
        raise HarnessError("there is no case to check", str(store.folder), 'harness ask "your question"')
    broken: dict[str, Finding] = {}

    def raws() -> Iterator[RawText]:
        for number in snapshot.case.raws:
            try:
                text, raw = store.read_raw(number)
            except HarnessError as error:
                name = f"raw_{number}.md"
                broken[name] = Finding(name, 1, "broken-file", "warning", error.what, "", error.hint)
            else:
                yield RawText(number, text, raw.sources)

    texts = {name: file.text for name, file in snapshot.files.items()}
    found = check(Checked(snapshot.case, texts, snapshot.problems, raws, settings.summary_tokens))
    return (*found, *broken.values())


def is_wrong(findings: Iterable[Finding]) -> bool:
    """Whether anything has to be done: a notice is only worth knowing."""
    return any(finding.severity != "notice" for finding in findings)


def told(findings: tuple[Finding, ...]) -> str:
    """For people: `summary.md:12: error ungrounded: what`, the line, and what to do about each kind once."""
    if not findings:
        return "nothing is wrong"
    lines, hinted = [], set[tuple[str, str]]()
    for finding in findings:
        lines.append(f"{finding.file}:{finding.line}: {finding.severity} {finding.code}: {finding.what}")
        if finding.value and finding.value not in finding.what:
            lines.append(f"    {shortened(finding.value, SHOWN)}")
        if (finding.code, finding.hint) not in hinted:
            lines.append(f"  {finding.hint}")
            hinted.add((finding.code, finding.hint))
    counts = Counter[str](finding.severity for finding in findings)
    total = ", ".join(f"{counts[one]} {one}{'s' if counts[one] != 1 else ''}" for one in GITHUB if counts[one])
    return "\n".join([*lines, total])


def github(findings: tuple[Finding, ...], folder: str) -> str:
    """Workflow commands of GitHub Actions, one a line: annotations in the diff of a pull request."""
    return "\n".join(
        f"::{GITHUB[one.severity]} file={_property(f'{folder}/{one.file}')},line={one.line},title={one.code}::"
        f"{_data(' — '.join(filter(None, (one.what, one.value and shortened(one.value, SHOWN), one.hint))))}"
        for one in findings
    )


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
