"""Sums and counts over the parts of a raw: read from each reply, added exactly, written as facts marked [summed]."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Context, Decimal, Inexact
from typing import NamedTuple

from harness.amounts import MEASURABLE, Quantity, whole_amount
from harness.facts import citations as citations_of
from harness.facts import without_marks
from harness.formats.headings import heading_of
from harness.formats.labels import INCOMPLETE, TOTALS
from harness.formats.removals import opens_removals
from harness.formats.summary import lines_of
from harness.model import Rewrite, Section, SectionKind, Summary, Total
from harness.patterns import lazy
from harness.units import unit_of
from harness.words import fold, stems

MARK = "[summed]"
_SAID = {
    "en": f"{TOTALS['en']}(?: of this part| for this part)?|Subtotals",
    "ru": f"{TOTALS['ru']}|Итого|Итоги(?: по части)?",
    "zh": f"{TOTALS['zh']}|合计|总计|小计",
}
_GROUPS = "|".join(f"(?P<{language}>{words})" for language, words in _SAID.items())
_LABEL = lazy(rf"[\s>*_#]*(?:{_GROUPS})[*_\s]*(?P<colon>[:：])?[*_\s]*", re.IGNORECASE)
_BULLET = lazy(r"\s*(?:[-*+•]|[0-9]{1,3}[.)])(?:\s+|$)")
_NONE = lazy(r"[\W_]*+(?:none|nothing|n/a|нет|ничего|无|没有)?[\W_]*+", re.IGNORECASE)
_DASH = lazy(r"\s+(?:—|–|-{1,2})\s+|\s*——\s*")
_COLON = lazy(r"\s*[:：]\s*")
_UNIT = lazy(r"[^\W\d_][\w./·-]{0,19}(?: [^\W\d_][\w.-]{0,19})?|[%‰$€£¥₽₸₴₹]|")
_NUMBER = lazy(r"^[-−–+\d\s.,'’]+")
_THOUSANDTHS = lazy(r"-?[1-9]\d{0,2},\d{3}")  # in Russian a decimal fraction, to others thousands
# A number read has at most MEASURABLE digits before and behind its mark, so that a million of them add without loss.
_EXACT = Context(prec=4 * MEASURABLE, traps=[Inexact])


class Listed(NamedTuple):
    """What stands under `Totals:`: the numbers, and the lines that could not be read."""

    totals: tuple[Total, ...] = ()
    unread: tuple[str, ...] = ()


def cut_totals(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines of a reply without its list of totals, and that list with its label.

    `Totals:` opens it anywhere, `## Totals` only below `Removed:`: above, it is a section of a person's. It ends at the
    next heading and at `Removed:`.
    """
    below = False
    for at, line in enumerate(lines):
        below = below or opens_removals(line)
        label = _LABEL.fullmatch(line)
        if label and (label["colon"] or (below and line.lstrip().startswith("#"))):
            end = next((one for one in range(at + 1, len(lines)) if _ends(lines[one])), len(lines))
            return [*lines[:at], *lines[end:]], list(lines[at:end])
    return list(lines), []


def _ends(line: str) -> bool:
    heading = heading_of(line)
    return opens_removals(line) or bool(heading and heading.certain)


def parse_totals(lines: Sequence[str]) -> Listed:
    """The entries `- name: field — number unit` below the label; `- none` is none, talk below a blank line neither.

    The label tells how a comma is meant: below a Russian one `1,234` is a decimal fraction.
    """
    label = _LABEL.fullmatch(lines[0]) if lines else None
    if not label:
        return Listed()
    found: list[Total] = []
    unread: list[str] = []
    above = lines[0]
    for line in lines[1:]:
        entry = _BULLET.sub("", line, count=1).strip()
        talk = not _BULLET.match(line) and not above.strip()
        above = line
        if talk or _NONE.fullmatch(entry):
            continue
        total = _total(entry, decimal_comma=bool(label["ru"]))
        found += [total] if total else []
        unread += [] if total else [entry]
    return Listed(tuple(found), tuple(unread))


def _total(entry: str, *, decimal_comma: bool) -> Total | None:
    text = without_marks(entry).replace("**", "").replace("`", "")
    between = list(_DASH.finditer(text)) or list(_COLON.finditer(text))
    if not between:
        return None
    head, said = text[: between[-1].start()], text[between[-1].end() :].strip()
    colon = _COLON.search(head)
    name, field = (head[: colon.start()], head[colon.end() :]) if colon else (head, "")
    amount = whole_amount(said, decimal_comma=decimal_comma)
    if not name.strip() or amount is None or not is_exact(amount.value):
        return None
    unit = _unit_behind(said, amount)
    return None if unit is None else Total(name.strip(), field.strip(), amount.value, unit)


def is_exact(value: Decimal) -> bool:
    """Whether a number is short enough to be added without loss."""
    return value.is_finite() and abs(value.adjusted()) < MEASURABLE and -int(value.as_tuple().exponent) <= MEASURABLE


def _unit_behind(said: str, amount: Quantity) -> str | None:
    """The unit as it is written, canonical where a scale word stands before it; None for a remark that is no unit."""
    rest = said.strip()[len(amount.text) :].strip(" .")
    if amount.unit:
        written = _NUMBER.sub("", amount.text).strip()
        return None if rest else written if unit_of(fold(written)) == amount.unit else amount.unit
    return rest if _UNIT.fullmatch(rest) else None


def key(total: Total) -> tuple[str, frozenset[str], str]:
    """What a total is of: the name but for case and spaces (Петров is not Петрова), the field's words, the unit."""
    return " ".join(fold(total.name).split()), frozenset(stems(total.field)), _unit(total)


def _unit(total: Total) -> str:
    """The canonical unit, "" where the field says it already: `hours — 37.5 hours`."""
    unit = unit_of(fold(total.unit)) or fold(total.unit)
    told = unit_of(fold(total.field)) == unit or set(stems(total.unit)) == set(stems(total.field))
    return "" if told else unit


def add(parts: Iterable[Iterable[Total]]) -> tuple[Total, ...]:
    """The totals of several parts added by what they are of, exactly, in the order and spelling of the first.

    In whatever order and groups the parts are added, the numbers are the same.
    """
    sums: dict[tuple[str, frozenset[str], str], Total] = {}
    for part in parts:
        for total in part:
            before = sums.get(mine := key(total))
            sums[mine] = before._replace(value=_EXACT.add(before.value, total.value)) if before else total
    return tuple(sums.values())


def lines(
    totals: Iterable[Total], citations: Sequence[str], language: str = "en", *, incomplete: bool = False
) -> tuple[str, ...]:
    """Lines for Confirmed: `Anna Petrova: hours — 1,234.5 [1.1] [summed]`. `citations`: each `N.k` that was added over.

    A unit that only some parts wrote is that of all, where there is but one. `incomplete`: some parts are unread.
    """
    behind = [INCOMPLETE.get(language, INCOMPLETE["en"])] if incomplete else []
    marks = " ".join((*behind, *(f"[{id}]" for id in citations), MARK))
    return tuple(f"{_said(total, language)} {marks}" for total in _in_one_unit(tuple(totals)))


class Summed(NamedTuple):
    """Sums that stand in a summary, with what they cite."""

    totals: tuple[Total, ...]
    citations: tuple[str, ...]


def summed_of(summary: Summary, number: int, language: str) -> Summed:
    """Those over the parts of raw_`number`, to add to what is read of it later."""
    entries, cited = [], dict[str, None]()
    for line in lines_of(summary, SectionKind.CONFIRMED):
        ids = [id for id in citations_of(line) if id.startswith(f"{number}.")]
        if MARK in line and ids:
            cited |= dict.fromkeys(ids)
            for remark in INCOMPLETE.values():
                line = line.replace(remark, "")
            entries.append(f"- {line}")
    return Summed(parse_totals([f"{TOTALS.get(language, TOTALS['en'])}:", *entries]).totals, tuple(cited))


def _in_one_unit(totals: Sequence[Total]) -> tuple[Total, ...]:
    united: dict[tuple[str, frozenset[str]], dict[str, str]] = {}
    for total in totals:
        name, field, unit = key(total)
        if unit:
            united.setdefault((name, field), {})[unit] = total.unit

    def whole(total: Total) -> Total:
        name, field, unit = key(total)
        others = united.get((name, field), {})
        return total._replace(unit=next(iter(others.values()))) if not unit and len(others) == 1 else total

    return add([map(whole, totals)])


def _said(total: Total, language: str) -> str:
    head = f"{total.name}: {total.field}" if total.field else total.name
    unit = "" if total.field and not _unit(total) else total.unit
    return f"{head} — {written(total.value, language)} {unit}".rstrip()


def written(value: Decimal, language: str) -> str:
    """A number as facts have it: 1,234.5; in Russian 1 234,5 with spaces that do not break."""
    plain = f"{value:,f}"
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    if language != "ru":
        return plain
    russian = plain.replace(",", "\u00a0").replace(".", ",")
    return f"{russian}0" if _THOUSANDTHS.fullmatch(russian) else russian


def with_lines(rewrite: Rewrite, summary: Summary, summed: Sequence[str]) -> Rewrite:
    """The rewrite with lines at the end of its Confirmed, in place of earlier ones of the same head and citations.

    Where it has no such section (also one that says "nothing new"), the summary's stays and gets them.
    """
    if not summed:
        return rewrite
    kind = SectionKind.CONFIRMED
    sections = rewrite.sections if rewrite.nothing_new is None else ()
    if not any(section.kind is kind for section in sections):
        kept = tuple(f"- {line}" for line in lines_of(summary, kind))
        sections = (Section(kind, "Confirmed", kept), *sections)
    heads = {(_head(line), _cited(line)) for line in summed}

    def stays(line: str) -> bool:
        return MARK not in line or (_head(line), _cited(line)) not in heads

    longer = tuple(
        section._replace(lines=(*filter(stays, section.lines), *(f"- {line}" for line in summed)))
        if section.kind is kind
        else section
        for section in sections
    )
    return rewrite._replace(sections=longer, nothing_new=None)


def _head(line: str) -> str:
    return fold(_DASH.split(_BULLET.sub("", line, count=1), maxsplit=1)[0])


def _cited(line: str) -> str:
    return " ".join(re.findall(r"\[[\d.,; ]+\]", line))
