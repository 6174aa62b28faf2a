"""Front matter: the keys between two `---` lines, read as strings and rewritten block by block."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from harness.formats.blocks import as_written, flat, items_of, load, scalar
from harness.model import FrontMatter, Problem
from harness.patterns import lazy

# `key:`, up to four words, quoted or not. `round:3` is meant as a key, `https://…` is not.
_KEY = lazy(r"""(["']?)([^\W\d][\w.-]*(?: [\w.-]+){0,3})\1[ \t]*:(?!//)""")
_OPENING = lazy(r"---[ \t]*\n")
_CLOSING = lazy(r"^---[ \t]*(?:\n|\Z)", re.MULTILINE)
_COUNT = lazy(r"[0-9]{1,9}")  # int() refuses 4,300 digits; nothing here is counted in billions


class Count(NamedTuple):
    """A whole number from front matter; `value` None: not there, or no number (then with a problem)."""

    value: int | None
    problem: Problem | None = None


def split_front(text: str) -> tuple[FrontMatter | None, str]:
    """Front matter and body of a text with `\\n` line ends; None if it has none, then the body is the text.

    It opens only with a first line `---`, needs a closing `---`, and what is between must look like keys:
    the first line with content is one, and keys outnumber odd lines. A page that begins with a rule is no front matter.
    """
    inner, body = _between(text)
    if inner is None or body is None:
        return None, text
    blocks = _blocks(inner)
    significant = [(key, line) for key, lines in blocks for line in lines if line.strip() and not line.startswith("#")]
    odd = sum(not key for key, _ in significant)
    keys = {key for key, _ in blocks if key}
    if inner and (not significant or not significant[0][0] or odd >= len(keys)):
        return None, text
    return FrontMatter(tuple((key, "".join(line + "\n" for line in lines)) for key, lines in blocks)), body


def open_problems(text: str, file: str) -> tuple[Problem, ...]:
    """One problem if the text begins like front matter whose closing `---` is missing."""
    opening = _OPENING.match(text)
    if not opening or not _KEY.match(text, opening.end()) or _CLOSING.search(text, opening.end()):
        return ()
    return (Problem(file, 1, "the front matter has no end", "Put a line `---` below its last key."),)


def front_value(front: FrontMatter, key: str) -> str | None:
    """The value as one string, "" for an empty one, None if the key is not there. The first of a repeated key counts.

    What YAML refuses (`key: a: b`), a list and a mapping are taken as they stand, white space folded.
    """
    text = _text_of(front, key)
    if text is None:
        return None
    value = load(text)
    return value if isinstance(value, str) else as_written(text)


def front_list(front: FrontMatter, key: str) -> tuple[str, ...] | None:
    """The items of a YAML list, or of one string split at `;` or else at commas; None if the key is not there."""
    text = _text_of(front, key)
    if text is None:
        return None
    value = load(text)
    if isinstance(value, dict):
        value = [{key: item} for key, item in value.items()]
    if isinstance(value, list):
        items = [flat(item) for item in value]
    elif text.count("\n") > 1 and value is None:
        items = [flat(item) for item in items_of(text)]
    else:
        joined = value if isinstance(value, str) else as_written(text).strip("[]")
        items = re.split(r"[;；\n]" if re.search("[;；]", joined) else r"[,，、\n]", joined)
    return tuple(item.strip() for item in items if item.strip())


def front_records(front: FrontMatter, key: str) -> tuple[dict[str, str], ...]:
    """The mappings of a list, every value a string. One item that YAML refuses does not hide the others."""
    text = _text_of(front, key)
    if text is None:
        return ()
    value = load(text)
    rows = value if isinstance(value, list) else [value] if isinstance(value, dict) else items_of(text)
    return tuple({str(name): flat(item) for name, item in row.items()} for row in rows if isinstance(row, dict))


def front_count(front: FrontMatter, key: str, file: str) -> Count:
    """A whole number from 0 to 999,999,999; anything else is a problem of that line."""
    value = front_value(front, key)
    if value is None:
        return Count(None)
    if _COUNT.fullmatch(value):
        return Count(int(value))
    what, hint = f"`{key}` is no whole number: {value[:60]}", f"Write it like `{key}: 3`."
    return Count(None, Problem(file, line_of(front, key), what, hint))


def line_of(front: FrontMatter, key: str) -> int:
    """The line of the file in which a key that is there stands."""
    return next(line for line, name, _ in _numbered(front) if name == _same(key))


def put(front: FrontMatter, key: str, value: str | Sequence[str] | None) -> FrontMatter:
    """Set one key (a new one goes to the end), None removes it; all other blocks stay byte for byte."""
    if value is None:
        return _set(front, key, None)
    shown = scalar(value) if isinstance(value, str) else f"[{', '.join(map(scalar, value))}]"
    return _set(front, key, f"{key}: {shown}\n")


def put_records(front: FrontMatter, key: str, rows: Sequence[Mapping[str, str]]) -> FrontMatter:
    """Set one key to a list of mappings, one a line; no rows remove it."""
    lines = ("- {" + ", ".join(f"{scalar(name)}: {scalar(item)}" for name, item in row.items()) + "}\n" for row in rows)
    return _set(front, key, f"{key}:\n{''.join(lines)}" if rows else None)


def without(front: FrontMatter, keys: Collection[str]) -> FrontMatter:
    """All blocks but those of some keys."""
    blocks: list[tuple[str, list[str]]] = []
    for key, text in front.blocks:
        if key not in keys:
            _append(blocks, key, [text])
    return FrontMatter(tuple((key, "".join(texts)) for key, texts in blocks))


def render_front(front: FrontMatter) -> str:
    """The text between and with its `---` lines; "" if there are no keys.

    Odd lines become comments where they would make a reader take the whole for a page that begins with a rule.
    """
    text = f"---\n{''.join(text for _, text in front.blocks)}---\n"
    if front.blocks and split_front(text)[0] is None:
        commented = (
            (key, text if key else re.sub("^(?=[^#\n])", "# ", text, flags=re.M)) for key, text in front.blocks
        )
        text = f"---\n{''.join(text for _, text in commented)}---\n"
    return text if front.blocks else ""


def front_problems(front: FrontMatter, file: str) -> tuple[Problem, ...]:
    """Repeated keys, lines that are no key, and blocks that YAML refuses, each with its line in the file."""
    return tuple(_find_problems(front, file))


def _find_problems(front: FrontMatter, file: str) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for line, key, text in _numbered(front):
        if not key:
            for offset, odd in enumerate(text.split("\n")):
                if odd.strip() and not odd.startswith("#"):
                    yield Problem(
                        file,
                        line + offset,
                        f"no `key: value`: {odd.strip()[:60]}",
                        "Begin it with `# ` if it is a remark.",
                    )
        elif key in seen:
            yield Problem(file, line, f"`{key}` stands twice; line {seen[key]} counts", "Remove one of the two.")
        else:
            seen[key] = line
            if load(text) is None and (text.count("\n") > 1 or as_written(text).startswith(("[", "{"))):
                yield Problem(
                    file, line, f"`{key}` is not valid YAML", "Close its brackets and quotes, or write it on one line."
                )


def _between(text: str) -> tuple[list[str] | None, str | None]:
    """The lines between a first line `---` and the next one, and the text below; None, None if either is missing."""
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if not opening or not closing:
        return None, None
    return text[opening.end() : closing.start()].split("\n")[:-1], text[closing.end() :]


def _blocks(lines: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Lines by key. Comments and blank lines belong to a block only if it goes on below them, else they stand alone."""
    blocks: list[tuple[str, list[str]]] = []
    waiting: list[str] = []
    for line in lines:
        if not line.strip() or line.startswith("#"):
            waiting.append(line)
            continue
        key = _KEY.match(line)
        if blocks and (line[0] in " \t" or (not key and _goes_on(blocks[-1], line))):
            blocks[-1][1].extend([*waiting, line])
        else:
            _append(blocks, "", waiting)
            _append(blocks, _same(key[2]) if key else "", [line])
        waiting = []
    _append(blocks, "", waiting)
    return blocks


def _append(blocks: list[tuple[str, list[str]]], key: str, lines: list[str]) -> None:
    """Add a block; neighbours without a key are one."""
    if not key and blocks and not blocks[-1][0]:
        blocks[-1][1].extend(lines)
    elif lines:
        blocks.append((key, lines))


def _goes_on(block: tuple[str, list[str]], line: str) -> bool:
    """Whether an unindented line continues a block: a list item under `key:`, or inside an open bracket."""
    key, lines = block
    value = as_written(lines[0]) if key else ""
    if line.startswith("- ") or line.rstrip() == "-":
        return bool(key) and not value
    return value.startswith(("[", "{")) and not lines[-1].rstrip().endswith(("]", "}"))


def _same(key: str) -> str:
    """`Ready-when` and `ready when` are meant as `ready_when`."""
    return re.sub(r"[ -]", "_", key).lower()


def _text_of(front: FrontMatter, key: str) -> str | None:
    return next((text for name, text in front.blocks if name == _same(key)), None)


def _numbered(front: FrontMatter) -> Iterator[tuple[int, str, str]]:
    """(line in the file, key, text) of each block; the first stands below the opening `---`."""
    line = 2
    for key, text in front.blocks:
        yield line, key, text
        line += text.count("\n")


def _set(front: FrontMatter, key: str, text: str | None) -> FrontMatter:
    """Replace the first block of the key; further blocks of a repeated key go."""
    name = _same(key)
    blocks: list[tuple[str, str]] = []
    for block in front.blocks:
        if block[0] != name:
            blocks.append(block)
        elif text is not None:
            blocks.append((name, text))
            text = None
    return FrontMatter((*blocks, (name, text)) if text is not None else tuple(blocks))
