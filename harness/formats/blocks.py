"""What one block of front matter says: a string, a list or a mapping of strings, or its text where YAML refuses it."""

from __future__ import annotations

import json
import re

from harness.patterns import lazy

_COMMENT = lazy(r"(?<!\s)\s+#.*$")
# Written without quotes: nothing that means something to YAML, in flow or block context, anywhere in it.
_WORDS = r"\w(?:[\w ./%()+«»№₽$€–—-]*[\w.%)»₽$€])?"
_PLAIN = lazy(_WORDS)
# One such value, or a list of them in one line: nearly all front matter, read without YAML, whose import takes 12 ms.
_SENTENCE = r"\w(?:[\w ,;'?!./%()+«»№₽$€–—-]*[\w.%)»₽$€?!'])?"  # commas are plain text outside brackets
SIMPLE = lazy(rf"[\w-]+: (?:({_SENTENCE})|\[({_WORDS}(?:, {_WORDS})*)\])\n")
# Characters that JSON leaves as they are and YAML does not.
_UNSAFE = lazy("[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]")


def load(text: str) -> object:
    """What YAML makes of one block (strings, lists, mappings); None if it refuses it."""
    if simple := SIMPLE.fullmatch(text):
        return simple[1] or simple[2].split(", ")
    return load_yaml(text)


def load_yaml(text: str) -> object:
    import yaml

    # libyaml where it is there (10 × faster); both read every scalar as the string it is (YAML makes 600 of `10:00`).
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        if "*" in text and any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=loader)):
            return None  # a few aliases of aliases make a list of a billion items
        loaded = yaml.load(text, Loader=loader)
    except (yaml.YAMLError, RecursionError, ValueError):
        return None
    return next(iter(loaded.values())) if isinstance(loaded, dict) and len(loaded) == 1 else None


def items_of(text: str) -> list[object]:
    """The list items of a block that YAML refuses as a whole, each read alone; a refused one is its text."""
    chunks: list[str] = []
    for line in text.split("\n")[1:]:
        if re.match(r"\s*-(\s|$)", line):
            chunks.append(re.sub(r"^\s*-\s*", "", line))
        elif chunks:
            chunks[-1] += f" {line.strip()}"
    return [chunk if (item := load(f"item: {chunk}\n")) is None else item for chunk in chunks]


def as_written(text: str) -> str:
    """All behind the first colon in one line, without the comment if the block has one line only."""
    value = text.partition(":")[2].rstrip("\n")
    return " ".join((value if "\n" in value else _COMMENT.sub("", f" {value}")).split())


def flat(value: object) -> str:
    """A value inside a list or mapping as one string: `- a: b` was meant as the text `a: b`."""
    if isinstance(value, dict):
        return ", ".join(f"{key}: {flat(item)}" if item else f"{key}" for key, item in value.items())
    return ", ".join(map(flat, value)) if isinstance(value, list) else str(value)


def scalar(text: str) -> str:
    """A string as YAML in one line: plain where that is safe, else in double quotes."""
    if _PLAIN.fullmatch(text):
        return text
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))
