"""Whether the labels above a value name a field: the same thing, not something that only shares a word with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from harness.agents.extractive.figures import foreseen, is_figure, measured
from harness.agents.extractive.lexicon import category, generic, meanings, mild, whole
from harness.patterns import lazy
from harness.periods import only_period, periods
from harness.quantities import quantities
from harness.words import content_stems, stems


class Field(NamedTuple):
    """A field as the question names it: meanings of its words, of the words in brackets, and the period it asks for."""

    name: str
    base: frozenset[str]
    remark: frozenset[str]
    period: str


class Fit(NamedTuple):
    """How well labels name a field: the lower, the better. `remark` is a bracketed qualifier of the label, if any."""

    grade: int
    remark: str


_BRACKETS = lazy(r"\(([^()]*)\)|（([^（）]*)）")
_PLURAL = lazy(r"\((?:s|es|и|ы)\)")
_UNIT_TAIL = lazy(r"[,(（]\s*([^,()（）]{1,24})[)）]?\s*$")
_EXACT, _WITH_REMARK, _MILD, _NESTED = 0, 1, 2, 3
# what is left over of a thing is not the thing: `other exports`
_REST = frozenset({"other", "others", "прочие", "проч", "остальн", "друг", "ин"})
_PROJECTED = lazy(r"\bproject(?:ions?|ed)\b", re.IGNORECASE)  # its stem is that of `projects`
_SHARE = frozenset(
    {"percent", "percentag", "share", "of", "the", "popul", "gdp", "total", "дол", "процент", "от", "населен"}
)


@lru_cache(maxsize=4096)
def field(name: str) -> Field:
    """Reads a field's name once; its own period (`revenue 2023`) is taken out of it."""
    bare, remark = _bare(name)
    named = periods(name)
    return Field(name, frozenset(bare), frozenset(remark), named[-1].text if named else "")


@lru_cache(maxsize=65_536)
def _bare(label: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A label's meanings without its period and unit, and those of its remark in brackets."""
    text = without_period(_PLURAL.sub("", label))
    text = _UNIT_TAIL.sub(lambda match: "" if unit_of(label) else match.group(), text)
    remark = " ".join(a or b for a, b in _BRACKETS.findall(text))
    base = _BRACKETS.sub(" ", text)
    said = content_stems(base) or tuple(word for word in stems(base) if not word[0].isdigit())
    return meanings(said), meanings(content_stems(remark))


def without_period(label: str) -> str:
    """The label without the periods it names: `Population (July 2015 est.)` → Population."""
    text = _BRACKETS.sub(lambda match: " " if only_period(match[1] or match[2] or "") else match.group(), label)
    for period in periods(text):
        text = text.replace(period.text, " ", 1)
    return text.strip()


@lru_cache(maxsize=16_384)
def unit_of(label: str) -> str:
    """The unit at the end of a table's column label: `Выручка, млрд ₽` → `млрд ₽`; "" if there is none."""
    found = _UNIT_TAIL.search(without_period(_PLURAL.sub("", label)))
    if not found:
        return ""
    unit = found[1].strip()
    code, _, rest = unit.partition(" ")
    return unit if any(_is_amount(one) for one in (f"1 {unit}", f"{code} 1 {rest}".strip())) else ""


def _is_amount(text: str) -> bool:
    read = quantities(text)
    return len(read) == 1 and read[0].text.strip().rstrip(".") == text.rstrip(".")


def fit(labels: Sequence[str], wanted: Field, grouping: frozenset[str]) -> Fit | None:
    """How the labels (outermost first, without those that name the entity) name the field; None if they do not."""
    open_labels = [label for label in labels if only_period(label) is None and _bare(label)[0]]
    trimmed = _without_whole(open_labels, wanted)
    if any(stems(label)[0] in _REST for label in open_labels) or is_foreseen(labels, wanted):
        return None
    for path in dict.fromkeys((tuple(open_labels), tuple(trimmed))):
        if not path:
            continue
        found = _last(path, wanted, grouping) or _joined(path, wanted)
        if found:
            return found
    return None


def is_foreseen(labels: Sequence[str], wanted: Field) -> bool:
    """Whether a label says that its values are plans or forecasts, which the question did not ask for."""
    asked = frozenset(stems(wanted.name))
    return is_figure(wanted.name) and any(
        frozenset(stems(label)) & foreseen() - asked or (_PROJECTED.search(label) and "project" not in asked)
        for label in labels
    )


def asks_ahead(wanted: Field) -> bool:
    """Whether the question asks for a forecast, by a word like `plan` or by a period."""
    return bool(wanted.period) or bool(frozenset(stems(wanted.name)) & foreseen())


def _without_whole(labels: list[str], wanted: Field) -> list[str]:
    """Labels without a last one like `total`, which stands for the whole of the label above it."""
    if len(labels) < 2:
        return labels
    last = stems(_BRACKETS.sub(" ", labels[-1]))
    above = frozenset(stems(labels[-2])) | {"popul", "number", "subscript"}
    if last in whole() or (last[0] == "total" and frozenset(last[1:]) <= above):
        return labels[:-1]
    return labels


def _last(path: tuple[str, ...], wanted: Field, grouping: frozenset[str]) -> Fit | None:
    """The last label alone names the field. Under the name of some other thing it takes more than one word."""
    found = _same(path[-1], wanted)
    if found is None:
        return None
    inner = [label for label in path[:-1] if not _groups(label, path[-1], grouping)]
    if not inner:
        return found
    last = stems(_BRACKETS.sub(" ", path[-1]))
    if found.grade >= _MILD or len(content_stems(wanted.name)) < 2 or last in whole() or last[:1] == ("total",):
        return None
    return found._replace(grade=found.grade + _NESTED)


def share(labels: Sequence[str], wanted: Field, grouping: frozenset[str]) -> Fit | None:
    """The fit where the last label only says of what: `Internet users` › `percent of population`."""
    if len(labels) < 2 or not frozenset(stems(labels[-1])) <= _SHARE:
        return None
    found = fit(labels[:-1], wanted, grouping)
    return Fit(found.grade + _NESTED, labels[-1]) if found else None


def _groups(label: str, below: str, grouping: frozenset[str]) -> bool:
    """Whether a label only groups (`Economy`, a heading with headings below it) or repeats the label below it."""
    said = frozenset(content_stems(label))
    return label in grouping or said <= category() or frozenset(_bare(label)[0]) <= frozenset(_bare(below)[0])


def _joined(path: tuple[str, ...], wanted: Field) -> Fit | None:
    """The last two labels together name the field: `Budget` › `revenues`, `GDP` › `per capita (PPP)`."""
    if len(path) < 2 or _same(path[-2], wanted):
        return None  # below the field itself a label names a part of it
    return _same(f"{path[-2]} {path[-1]}", wanted)


def _tells_method(remark: str) -> bool:
    """Whether a remark says only how or by whom a figure was measured, not of what part."""
    return "%" in remark or frozenset(content_stems(remark)) <= measured() | mild() | generic()


@lru_cache(maxsize=262_144)
def _same(label: str, wanted: Field) -> Fit | None:
    base, remark = (frozenset(part) for part in _bare(label))
    shown = "; ".join(inner for pair in _BRACKETS.findall(_PLURAL.sub("", label)) for inner in pair if inner)
    if unit_of(label):
        shown = ""
    extra = remark - wanted.remark
    if extra and shown and extra != wanted.base and not _tells_method(shown):
        return None  # `Population (male)` is a part of it
    grade = _WITH_REMARK if extra and shown else _EXACT
    if wanted.remark - remark and not wanted.remark <= base | remark:
        return None  # `GDP (PPP)` was asked for: another GDP, or one that does not say, is not it
    if base == wanted.base or base | remark == wanted.base | wanted.remark:
        return Fit(grade, shown if extra else "")
    if wanted.base - mild() and base - mild() == wanted.base - mild():
        return Fit(grade + _MILD, shown if extra else "")
    return None
