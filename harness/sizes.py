"""How many tokens files have, for the agents that would read them: `harness tokens`."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from harness.caching import cache_folder
from harness.counters import Counter, counter_for
from harness.crew import counter_of, room_for
from harness.errors import HarnessError, WrongCall
from harness.formats.text import decode, one_line
from harness.options import Settings
from harness.parts import LEAST, Budget, Part, Room, Text, budget_of, fits, parts_of, shown
from harness.search.documents.plain import CONTROL, CONTROL_SHARE, SAMPLE
from harness.search.scan import scan
from harness.store.rawtext import open_text
from harness.store.snapshot import RAW_LIMIT
from harness.vocabulary import PINS

STDIN = "-"
BLOCK = 4_000_000  # bytes read at once: memory stays the same for a file of any size
TEXT_FILES = (".md", ".markdown", ".txt", ".rst", ".html", ".htm", ".csv", ".tsv", ".json", ".jsonl")
PROMPT = 1_500  # tokens of a Synthesizer's prompt with a short question
PDF = b"%PDF-"  # a small one may have no byte that a text has not
STATE_FILES = ("question.md", "summary.md")


class Column(NamedTuple):
    """One way to count. `window`: the tokens that fit into one call, None where no agent or window is meant."""

    name: str
    counter: Counter
    window: int | None = None
    room: Room | None = None  # the agent's


class Size(NamedTuple):
    """One file: `tokens` stand in the order of the columns, and so do `parts` (None: not cut, or no window)."""

    name: str
    characters: int
    tokens: tuple[int, ...]
    parts: tuple[int | None, ...]


class Sizes(NamedTuple):
    columns: tuple[Column, ...]
    files: tuple[Size, ...]
    left_out: int = 0  # files of folders that are no text


# From a file and the column it is counted by to the number of parts it is cut into at the column's window.
CountParts = Callable[[Path, Column], int]


def columns_of(
    settings: Settings,
    environ: Mapping[str, str],
    *,
    encodings: Sequence[str],
    agents: Sequence[str],
    window: int | None,
) -> tuple[Column, ...]:
    """A column for each encoding and agent named; with none, for each agent of the roles; else for each vocabulary.

    Raises WrongCall for an agent that has no entry (the built-in ones read text of any size).
    """
    names = agents or ([] if encodings else _of_roles(settings))
    columns = [Column(one, counter_for(one, 1.0, cache_folder(environ)), window) for one in encodings]
    for name in names:
        if name not in settings.agents:
            raise WrongCall("no agent with a window", name, "harness agents lists them")
        room = room_for(name, settings._replace(window=window or settings.window), environ)
        columns.append(Column(name, counter_of(settings.agents[name], environ), room.window, room))
    return tuple(columns) or columns_of(settings, environ, encodings=tuple(PINS), agents=(), window=window)


def count_parts(settings: Settings) -> CountParts:
    """How many parts a Synthesizer would read a file in, about: the question is not known here."""

    return lambda path, column: len(cut_file(path, column, settings).parts)


class CutFile(NamedTuple):
    """A file as it would be read; no parts where the window has no room for any."""

    text: Text
    budget: Budget
    parts: tuple[Part, ...]


def cut_file(path: Path, column: Column, settings: Settings) -> CutFile:
    room = column.room or Room(column.window, count=column.counter)
    budget = budget_of(room, PROMPT + settings.summary_tokens)
    text = open_text(path, whole=RAW_LIMIT)
    if budget.tokens < LEAST:
        return CutFile(text, budget, ())
    start = text.slice(0, budget.longest)
    if fits(start, budget):
        return CutFile(text, budget, (Part(1, 1, 0, len(start), len(start), text=start),))
    return CutFile(text, budget, parts_of(text, budget, (0, None)))


def render_parts(path: Path, column: Column, settings: Settings) -> str:
    """A line a part: its characters, and its tokens with all that is repeated above them."""
    text, budget, parts = cut_file(path, column, settings)
    lines = [f"{path}, in a window of {column.window:,}:"]
    if not parts:
        lines.append(f"  too small: prompt, question and reply leave {max(budget.tokens, 0):,} tokens for a part")
    for part in parts:
        tokens = column.counter(part.text or shown(part, text, budget).text)
        lines.append(f"  part {part.number} of {part.of}: characters {part.start:,} to {part.end:,}, {tokens:,} tokens")
    return "\n".join(lines)


def _of_roles(settings: Settings) -> list[str]:
    names = dict.fromkeys((*settings.planner, *settings.synthesizer, *settings.checker))
    return [name for name in names if name in settings.agents]


def sizes_of(
    paths: Sequence[str], columns: tuple[Column, ...], stdin: BinaryIO, parts: CountParts | None = None
) -> Sizes:
    """Each file, every text file of each folder, and stdin for `-`. Raises HarnessError for what cannot be read."""
    found: list[Size] = []
    left_out = 0
    for given in paths:
        if given == STDIN:
            found.append(_size(STDIN, blocks(stdin, "stdin"), columns))
            continue
        path = Path(given)
        if not path.is_dir():
            found.append(_file_size(one_line(given), path, columns, parts))
            continue
        documents = _scanned(path)
        texts = [one for one in documents if one[1].suffix.lower() in TEXT_FILES]
        left_out += len(documents) - len(texts)
        for name, file in texts:
            try:
                found.append(_file_size(f"{one_line(given).rstrip('/')}/{name}", file, columns, parts))
            except HarnessError:  # named like a text, and none
                left_out += 1
        if not texts:
            raise HarnessError("no text files in this folder", given, f"looked for {', '.join(TEXT_FILES)}")
    return Sizes(columns, tuple(found), left_out)


def case_sizes(case: Path, raws: Iterable[int], columns: tuple[Column, ...], parts: CountParts | None = None) -> Sizes:
    """The question, the summary and each raw of a case, as far as they are there."""
    names = [*STATE_FILES, *(f"raw_{number}.md" for number in raws)]
    there = [name for name in names if (case / name).is_file()]
    if not there:
        raise HarnessError("no case here, so nothing to count", str(case), "name files: harness tokens FILE…")
    return Sizes(columns, tuple(_file_size(name, case / name, columns, parts) for name in there))


def _scanned(folder: Path) -> list[tuple[str, Path]]:
    try:
        return [(one.name, one.path) for one in scan(folder).files]
    except OSError as error:
        raise HarnessError("cannot list the folder", f"{folder} ({error.strerror})", "check its permissions") from None


def _file_size(name: str, path: Path, columns: tuple[Column, ...], parts: CountParts | None) -> Size:
    size = _size(name, _blocks_of(path), columns)
    if parts is None:
        return size
    return size._replace(parts=tuple(parts(path, column) if column.window else None for column in columns))


def _size(name: str, texts: Iterable[str], columns: tuple[Column, ...]) -> Size:
    characters, tokens = 0, [0] * len(columns)
    for text in texts:
        characters += len(text)
        for at, column in enumerate(columns):
            tokens[at] += column.counter(text)
    return Size(name, characters, tuple(tokens), (None,) * len(columns))


# Reading -----------------------------------------------------------------------------------------


def _blocks_of(path: Path) -> Iterator[str]:
    try:
        # A pipe is not waited for.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                hint = "send what it gives to stdin: … | harness tokens -"
                raise HarnessError("a pipe or a device, no file", str(path), hint)
            yield from blocks(file, str(path))
    except (FileNotFoundError, NotADirectoryError):
        raise WrongCall("no such file", str(path), "name a file or a folder, or - for stdin") from None
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or str(error)
        raise HarnessError("cannot read", one_line(f"{path} ({told})"), "check its name and permissions") from None


def blocks(file: BinaryIO, name: str, size: int = BLOCK) -> Iterator[str]:
    """The text in blocks of some `size` bytes that end at line ends, except within a longer line.

    Raises HarnessError for what is no text.
    """
    data = file.read(size)
    decoder = codecs.getincrementaldecoder(_encoding(data, name))("replace")
    left = ""
    while data:
        text = left + decoder.decode(data)
        cut = text.rfind("\n") + 1 or len(text)
        yield text[:cut]
        left = text[cut:]
        data = file.read(size)
    if rest := left + decoder.decode(b"", final=True):
        yield rest


def _encoding(data: bytes, name: str) -> str:
    """By the first lines, or by the beginning of a long one. Raises HarnessError for what is no text."""
    found = decode(data[: data.rfind(b"\n") + 1] or _whole_characters(data))
    sample = data[:SAMPLE]
    if found.encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32")):
        text = found.text[:SAMPLE]
        junk = sum(char.isprintable() or char.isspace() for char in text) < 0.9 * len(text)
    else:
        control = len(sample) - len(sample.translate(None, CONTROL))
        junk = control > CONTROL_SHARE * len(sample) or data.startswith(PDF)
    if junk:
        raise HarnessError("not a text file", name, "tokens are counted in text: convert it first")
    return found.encoding


def _whole_characters(data: bytes) -> bytes:
    """Without a UTF-8 character at the end that the block cuts in two."""
    for back in range(1, min(4, len(data)) + 1):
        if data[-back] >= 0xC0:
            return data[:-back]
        if data[-back] < 0x80:
            break
    return data


# Telling -----------------------------------------------------------------------------------------


def render_sizes(sizes: Sizes) -> str:
    """A line a file, a total where there are several, and how each column counts."""
    head = ["", "characters", *(column.name for column in sizes.columns)]
    rows = [_cells(one, sizes.columns) for one in sizes.files]
    if len(sizes.files) > 1:
        rows.append(_cells(_total(sizes), sizes.columns))
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in (head, *rows)]
    told = [f"{column.name}: {_how(column)}" for column in sizes.columns]
    if sizes.left_out:
        told.append(f"{sizes.left_out} files of other kinds left out")
    return "\n".join([*(line.rstrip() for line in lines), "", *told])


def _cells(size: Size, columns: tuple[Column, ...]) -> list[str]:
    cells = [size.name, f"{size.characters:,}"]
    for column, tokens, parts in zip(columns, size.tokens, size.parts, strict=True):
        share = f" ({tokens / column.window:.0%})" if column.window else ""
        cells.append(f"{tokens:,}{share}" + (f" {parts} part{'' if parts == 1 else 's'}" if parts else ""))
    return cells


def _total(sizes: Sizes) -> Size:
    tokens = tuple(sum(one.tokens[at] for one in sizes.files) for at in range(len(sizes.columns)))
    return Size("total", sum(one.characters for one in sizes.files), tokens, (None,) * len(sizes.columns))


def _how(column: Column) -> str:
    counter = column.counter
    window = f", share of a window of {column.window:,}" if column.window else ""
    by = f"tokens by {counter.name}" if counter.exact else f"at most; an estimate ({counter.name}), no vocabulary"
    return by + window


def as_data(sizes: Sizes) -> dict[str, object]:
    """For programs: columns by name, and the figures of each file by the column's name."""
    columns = {
        one.name: {"counter": one.counter.name, "exact": one.counter.exact, "window": one.window}
        for one in sizes.columns
    }
    files = [
        {
            "name": one.name,
            "characters": one.characters,
            "tokens": dict(zip(columns, one.tokens, strict=True)),
            "parts": dict(zip(columns, one.parts, strict=True)),
        }
        for one in sizes.files
    ]
    return {"columns": columns, "files": files, "left_out": sizes.left_out}
