"""Settings as they were given: text with the place where it stands, typed later by whoever knows the key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import BrokenFile, HarnessError, WrongCall
from harness.formats.text import clean, decode
from harness.patterns import lazy

# A settings file is a page of text; a larger one is a mistake or an attack on the parser.
MAX_BYTES = 262_144
# agents -> name -> env -> variable is the deepest that any key goes.
MAX_DEPTH = 6
SHOWN = 60  # characters of a bad value that an error repeats
# Where a list is written as one text, as in question.md; items with commas are parted by semicolons.
_SEMICOLON, _COMMA = lazy("[;；]"), lazy("[,，、]")
_NULLS = frozenset({"~", "null", "Null", "NULL"})


@dataclass(frozen=True)
class Given:
    """One value as it was given. `name` is its key with dots, e.g. `agents.mine.timeout`."""

    name: str
    value: str | tuple[Given, ...] | Mapping[str, Given]
    where: str  # "path:line", "environment HARNESS_X" or "flag --x"
    base: Path  # relative paths are relative to this folder
    in_file: bool = True

    @property
    def empty(self) -> bool:
        """A key without a value (`rounds:`) counts as not given."""
        return self.value == ""

    def problem(self, what: str, hint: str) -> HarnessError:
        """An error about this value: of a file (exit 1) or of the call (exit 2)."""
        return (BrokenFile if self.in_file else WrongCall)(what, self.where, hint)

    def refused(self, takes: str) -> HarnessError:
        """The error for a value of the wrong form; `takes` says what the key takes."""
        return self.problem(f"`{self.name}` is {self.shown}", f"`{self.name}` takes {takes}.")

    @property
    def shown(self) -> str:
        if isinstance(self.value, str):
            return f"`{self.value if len(self.value) <= SHOWN else self.value[:SHOWN] + '…'}`"
        return "a list" if isinstance(self.value, tuple) else "a mapping"

    def items(self) -> tuple[Given, ...]:
        """The value as a list: `claude`, `claude, codex` and `[claude, codex]` are all lists."""
        if isinstance(self.value, tuple):
            return self.value
        if not isinstance(self.value, str):
            return (self,)
        pieces = (_SEMICOLON if _SEMICOLON.search(self.value) else _COMMA).split(self.value)
        return tuple(self.with_value(piece.strip()) for piece in pieces if piece.strip())

    def with_value(self, value: str) -> Given:
        return Given(self.name, value, self.where, self.base, self.in_file)


class SettingsFile(NamedTuple):
    """A settings file as read once: what it gives, and the very bytes (their hash decides on trust)."""

    entries: Mapping[str, Given]
    content: bytes


def near_match(name: str, names: Iterable[str]) -> str:
    """`; did you mean …?` for the closest of `names`, or nothing."""
    from difflib import get_close_matches  # late: only mistakes need it

    close = get_close_matches(name, list(names), n=1, cutoff=0.7)
    return f"; did you mean `{close[0]}`?" if close else ""


def read_settings_file(path: Path) -> SettingsFile:
    """The top-level keys of a YAML file. Raises BrokenFile with path:line."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise BrokenFile("cannot read the settings", str(path), f"{error.strerror}.") from error
    if len(content) > MAX_BYTES:
        raise BrokenFile("too large for a settings file", str(path), f"It may hold {MAX_BYTES // 1024} kB.")
    return SettingsFile(parse_settings(decode(content).text, str(path), path.parent), content)


def parse_settings(text: str, file: str, base: Path, *, first_line: int = 1) -> Mapping[str, Given]:
    """Top-level keys of a YAML text whose first line is line `first_line` of `file`. Raises BrokenFile."""
    import yaml  # late: `status` in a case without harness.yaml needs none of it

    reader = _Reader(file, base, first_line)
    # libyaml is some ten times faster. Both leave all values as text: YAML's own types would turn `10:00` into 600
    # and `no` into False.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        node: Any = yaml.compose(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line if error.problem_mark else 0
        hint = "Put quotes around a value that holds `: ` or starts with a special character."
        if "'\\t'" in str(error.problem):
            hint = "YAML takes spaces at the beginning of a line, no tabs."
        raise BrokenFile(f"not valid YAML ({error.problem})", reader.place(line), hint) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise BrokenFile("not valid YAML", file, "Write one `key: value` a line.") from error
    if node is None:
        return {}
    if node.id != "mapping":
        raise BrokenFile("not a list of settings", reader.place(node.start_mark.line), "Write one `key: value` a line.")
    return dict(reader.entries(node, "", 1))


class _Reader:
    """YAML nodes (told apart by their `id`) to values with places.

    `seen` refuses aliases: nested ones grow without bound.
    """

    def __init__(self, file: str, base: Path, first_line: int) -> None:
        self.file, self.base, self.first_line = file, base, first_line
        self.seen: set[int] = set()

    def place(self, line: int) -> str:
        return f"{self.file}:{line + self.first_line}"

    def given(self, node: Any, name: str, depth: int) -> Given:
        where = self.place(node.start_mark.line)
        if id(node) in self.seen:
            raise BrokenFile("an alias (`*name`) is not taken here", where, "Write the value out.")
        self.seen.add(id(node))
        if depth > MAX_DEPTH:
            raise BrokenFile(f"`{name}` is nested too deeply", where, "No setting needs more than four levels.")
        if node.id == "sequence":
            return Given(name, tuple(self.given(item, name, depth + 1) for item in node.value), where, self.base)
        if node.id == "mapping":
            return Given(name, dict(self.entries(node, f"{name}.", depth + 1)), where, self.base)
        value = "" if not node.style and node.value in _NULLS else str(node.value)
        if clean(value) != value:
            raise BrokenFile(f"`{name}` holds control characters", where, "Remove them.")
        return Given(name, value, where, self.base)

    def entries(self, node: Any, prefix: str, depth: int) -> Iterator[tuple[str, Given]]:
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line
            if key_node.id != "scalar" or clean(key_node.value) != key_node.value:
                raise BrokenFile("a key that is no plain word", self.place(line), "Write one `key: value` a line.")
            key = str(key_node.value)
            if key in lines:
                earlier = f"It stands in line {lines[key] + self.first_line} too; keep one of them."
                raise BrokenFile(f"`{prefix}{key}` is repeated", self.place(line), earlier)
            lines[key] = line
            given = self.given(value_node, prefix + key, depth)
            # The key's line, where people look; the value may start lines below it.
            yield key, Given(given.name, given.value, self.place(line), given.base)
