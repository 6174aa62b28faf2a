"""The list under `Removed:` in a Synthesizer's reply: which facts went, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.model import Removal
from harness.patterns import lazy

_WORDS = "Removed|Удалено|已删除|已移除"
# `## 已删除` without a colon is the section Struck out.
_LABEL = lazy(rf"[\s>*_#]*(?:{_WORDS})[*_\s]*[:：][*_\s]*(?P<first>.*)|#+\s*(?:Removed|Удалено)\s*", re.IGNORECASE)
# An indented dash goes on with the line above: `- fact` / `  — reason`.
_BULLET = lazy(r"\s*(?:[-*+•]|[0-9]{1,2}[.)])(?:\s+|$)|[–—]\s+")
# `none`, also as the prompts put it: `... (or none)`.
_NONE = lazy(r"[\W_]*+(?:(?:or|или)\W+)?(?:none|nothing|n/a|нет|ничего|无|没有)?[\W_]*+", re.IGNORECASE)
# The reasons that code can verify (design.md, section 4), and how models vary them.
_REASONS = r"superseded|duplicate|merged|wrong|замен|устар|повтор|дубл|слит|объедин|неверн|ошибочн|被|重复|合并|错误"
_DASH = r"\s(?:—|–|-{1,3}|→)\s"
_KNOWN = lazy(rf"(?:{_DASH}|\s?[:：;]\s|\s?(?P<bracket>[(（]))(?={_REASONS})", re.IGNORECASE)


def opens_removals(line: str) -> bool:
    """Whether a line is `Removed:` in a known language."""
    return bool(_LABEL.fullmatch(line))


def parse_removals(lines: Sequence[str]) -> tuple[Removal, ...]:
    """The entries of a list whose first line is `Removed:`; `- none` is no entry, talk below a blank line neither.

    Facts have dashes of their own: the reason begins where a known one does, else at the last dash, else it is "".
    """
    label = _LABEL.fullmatch(lines[0]) if lines else None
    if not label:
        return ()
    entries = [label["first"] or ""]
    above = lines[0]
    for line in lines[1:]:
        if _BULLET.match(line):
            entries.append(_BULLET.sub("", line, count=1))
        elif line[:1] in (" ", "\t") and line.strip() and above.strip():
            entries[-1] += f" {line}"
        elif line.strip() and above.strip():
            entries.append(line)
        above = line
    folded = (" ".join(entry.split()) for entry in entries)
    return tuple(_removal(entry) for entry in folded if not _NONE.fullmatch(entry))


def _removal(entry: str) -> Removal:
    if known := _KNOWN.search(entry):
        reason = entry[known.end() :].strip()
        return Removal(entry[: known.start()].strip(), reason.rstrip(")）") if known["bracket"] else reason)
    dashes = list(re.finditer(_DASH, entry))
    if not dashes:
        return Removal(entry, "")
    return Removal(entry[: dashes[-1].start()], entry[dashes[-1].end() :])
