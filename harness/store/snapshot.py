"""A case as read at one moment: the state files and as much of the raws as the turn depends on."""

from __future__ import annotations

import contextlib
import hashlib
import shlex
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from harness.errors import BrokenFile, HarnessError, StateMoved
from harness.formats.answer import parse_answer
from harness.formats.queries import parse_next_query
from harness.formats.question import parse_question
from harness.formats.raw import parse_head, parse_raw
from harness.formats.summary import parse_summary, recorded_queries
from harness.formats.text import decode, shortened
from harness.model import Case, NextQuery, Problem, Raw, RawHead, Summary
from harness.mojibake import looks_misread, repaired
from harness.store.reading import HEAD_BYTES, FileText, Known, list_case, read_bytes, read_state, refuse_junk

STATE_FILES = ("question.md", "summary.md", "next_query.txt", "answer.md")
PART_REPLIES = "fold"  # among the helpers: replies to the parts of raw_N that are read side by side, in a folder N
CELLS = 1_000  # a table of more is no question; each fold looks at every cell
MEANT_SHOWN = 80  # characters of a repaired line
RAW_LIMIT = 32_000_000  # bytes; a raw is read whole, and a value takes several times its size in memory


class Snapshot(NamedTuple):
    """The case at one moment; `files` as read, by name."""

    case: Case
    files: Mapping[str, FileText]
    temporary: tuple[str, ...]
    problems: tuple[Problem, ...]

    def text(self, name: str) -> str:
        return self.files[name].text


def take(folder: Path, known: dict[str, Known] | None = None) -> Snapshot:
    """The files of a case; `known` holds them as they were read before.

    Raises HarnessError where there is no case, BrokenFile for a link or junk in the place of a file.
    """
    if not folder.is_dir():
        raise HarnessError("no such case", str(folder), f'harness -C {shlex.quote(str(folder))} ask "your question"')
    files = {name: read_state(folder / name, known) for name in STATE_FILES}
    listing = list_case(folder)
    summary = parse_summary(files["summary.md"].text) if files["summary.md"].digest else Summary()
    question = parse_question(files["question.md"].text) if files["question.md"].digest else None
    if question and len(question.grid.entities) * len(question.grid.fields) > CELLS:
        told = f"{folder / 'question.md'}:1 ({len(question.grid.entities)} × {len(question.grid.fields)})"
        raise BrokenFile(f"more than {CELLS} cells", told, "ask for fewer entities or fields, or make several cases")
    next_query = parse_next_query(files["next_query.txt"].text)
    # A blank one is an editor's new file: it says nothing yet, and must not end the loop.
    answer = parse_answer(files["answer.md"].text) if files["answer.md"].text.strip() else None
    heads = _heads(folder, listing.raws, summary, next_query)
    parsed = (question, summary, next_query, answer)
    problems = [problem for value in parsed if value is not None for problem in value.problems]
    problems += [problem for name, file in files.items() if (problem := _unreadable(name, file.text))]
    case = Case(question, summary, next_query, answer, listing.raws, heads)
    return Snapshot(case, files, listing.temporary, (*listing.problems, *problems))


@lru_cache(maxsize=8)  # of four files a pass changes one
def _unreadable(name: str, text: str) -> Problem | None:
    """Text that no one can read as it was meant: a program saved it in a code page that was not the file's."""
    if "\ufffd" in text:
        line = text.count("\n", 0, text.index("\ufffd")) + 1
        return Problem(name, line, "characters that cannot be read", "Save the file as UTF-8 before it is rewritten.")
    if not looks_misread(text):
        return None
    for number, misread in enumerate(text.split("\n"), 1):
        if meant := repaired(misread):
            hint = f"It was meant to be: {shortened(meant, MEANT_SHOWN)}. Mend it before a role goes on from it."
            return Problem(name, number, "text that was read in a wrong code page", hint)
    return None


def _heads(folder: Path, raws: tuple[int, ...], summary: Summary, next_query: NextQuery) -> dict[int, RawHead]:
    """Raws above `round`; folded ones only while a query waits that Searches does not record."""
    heads = {number: read_head(raw_path(folder, number)) for number in raws if number > summary.round}
    if not next_query.queries or recorded_queries(summary, next_query.round or 0).issuperset(next_query.queries):
        return heads
    for number in reversed([number for number in raws if number <= summary.round]):
        if next_query.round is not None and number < next_query.round:
            break
        heads[number] = head = read_head(raw_path(folder, number))
        others = {record.query for record in head.queries} - set(next_query.queries)
        if next_query.round is None and head.kind == "search" and (others or not head.queries):
            break
    return heads


def raw_path(folder: Path, number: int) -> Path:
    return folder / f"raw_{number}.md"


def read_head(path: Path) -> RawHead:
    """Only the start of the file is read, whatever its size."""
    return parse_head(decode(read_bytes(path, limit=HEAD_BYTES) or b"").text)


def read_raw(path: Path) -> tuple[str, Raw]:
    text = decode(_raw_bytes(path)).text
    refuse_junk(path, text)
    return text, parse_raw(text, path.name)


def read_bare(path: Path) -> FileText:
    data = _raw_bytes(path)
    text = decode(data).text
    with contextlib.suppress(UnicodeDecodeError):
        exact = data.decode("utf-8")
        if exact.replace("\r\n", "\n") == text:
            text = exact
    refuse_junk(path, text)
    return FileText(text, hashlib.sha256(data).hexdigest())


def _raw_bytes(path: Path) -> bytes:
    data = read_bytes(path, limit=RAW_LIMIT + 1)
    if data is None:
        raise StateMoved("a raw was removed during the pass", str(path), "harness status")
    if len(data) > RAW_LIMIT:
        hint = 'harness fold FILE -q "…" reads a file of any size; a raw of the harness is read in parts by its fold'
        raise BrokenFile(f"a raw of more than {RAW_LIMIT // 1_000_000} MB", str(path), hint)
    return data
