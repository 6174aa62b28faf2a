"""Scores what a case says against the truth: pure functions over texts, with a reader of fact lines of their own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

Kind = Literal["number", "person", "place"]
Verdict = Literal["right", "missing", "hedged", "wrong"]

SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "bn": 1e9}
SCALES |= {"тыс": 1e3, "млн": 1e6, "млрд": 1e9, "трлн": 1e12}
NUMBER = re.compile(
    r"(?<![\w.,])(-?(?:\d{1,3}(?:[, ]\d{3})+(?!\d)|\d+)(?:[.,]\d+)?)(?!\d|st\b|nd\b|rd\b|th\b)"
    r"(?:\s*(" + "|".join(SCALES) + r")\b)?",
    re.IGNORECASE,
)
YEAR = re.compile(r"(?<![\d,.])(?:19|20)\d\d(?!\d|[.,]\d)")
CITATION = re.compile(r"\[(\d+\.\d+)\]")
MARK = re.compile(r"\[[^\]]*\]")
BRACKETS = re.compile(r"\([^()]*\)")
SPACES = re.compile("[\u00a0\u2009\u202f]")  # no-break and thin ones, used between groups of digits
BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
SOURCE = re.compile(r"^\s*[-*+]\s+\[(\d+\.\d+)\]\s+(\d{4})")
ROUNDS = re.compile(r"^spent:\s*(\d+)", re.MULTILINE)
# Sections whose lines state no fact, by how their titles begin.
NO_FACTS = ("search", "source", "struck", "not found", "поиск", "источник", "вычеркнут", "не найден")
# Three significant digits may stand for a longer number ("20.4 million" for 20,432,662); fewer may not.
ENOUGH_DIGITS = 3
# "life expectancy" is "life expectancy at birth" (2 of 3 words); "urban population" is not "population" (1 of 2).
SAME_FIELD = 0.6
FILLING = frozenset(
    {"a", "an", "the", "of", "at", "in", "and", "to", "as", "total", "est", "estimate", "newest", "latest"}
    | {"january", "february", "march", "april", "may", "june", "july"}
    | {"august", "september", "october", "november", "december"}
)


@dataclass(frozen=True)
class Truth:
    """One cell: the newer edition's value, the older one's, and whether they truly contradict each other."""

    entity: str
    field: str
    kind: Kind
    value: str
    older: str
    date: str
    differs: bool


class Quantity(NamedTuple):
    value: float
    step: float  # what one more in the last digit would add
    digits: int  # significant ones


class Claim(NamedTuple):
    """One fact line of a cell. `year`: of its period, else of its newest source, else 0."""

    entity: str
    field: str
    value: str
    year: int
    unverified: bool


class Dispute(NamedTuple):
    """One line that keeps both sides (`a ↔ b`) of a cell."""

    entity: str
    field: str
    sides: tuple[str, ...]


class Cell(NamedTuple):
    truth: Truth
    verdict: Verdict
    shown: str  # what the case presents as the newest


@dataclass(frozen=True)
class Score:
    cells: tuple[Cell, ...]
    differences: int
    found: int  # true differences that are named with both values
    false: int  # contradictions reported where the editions do not contradict each other
    rounds: int

    def count(self, verdict: Verdict) -> int:
        return sum(cell.verdict == verdict for cell in self.cells)


def score(summary: str, answer: str, truths: Sequence[Truth]) -> Score:
    """Judges the texts of summary.md and answer.md ("" where there is none).

    A cell goes by the answer's fact lines, else by the summary's; contradictions count from either.
    """
    years = _source_years(summary) | _source_years(answer)
    answered, known = _claims(answer, truths, years), _claims(summary, truths, years)
    disputes = [*_disputes(summary, truths), *_disputes(answer, truths)]
    cells = []
    for truth in truths:
        of_cell = [claim for claim in answered if _cell(claim) == _cell(truth)]
        of_cell = of_cell or [claim for claim in known if _cell(claim) == _cell(truth)]
        cells.append(judge(truth, of_cell, [dispute for dispute in disputes if _cell(dispute) == _cell(truth)]))
    disputed = {_cell(dispute) for dispute in disputes}
    true = {_cell(truth) for truth in truths if truth.differs}
    found = {_cell(truth) for truth in truths if truth.differs and _named(truth, disputes)}
    spent = ROUNDS.search(summary)
    return Score(tuple(cells), len(true), len(found), len(disputed - true), int(spent[1]) if spent else 0)


def judge(truth: Truth, claims: Sequence[Claim], disputes: Sequence[Dispute]) -> Cell:
    """The verdict on one cell. The claim of the newest year is what is presented; of equal years the first.

    Both sides of a true difference are a right answer; both sides where the editions do not contradict each other,
    or a wrong value that is marked as unverified, are `hedged`: not right, but nobody was misled.
    """
    sides = [side for dispute in disputes for side in dispute.sides]
    has_truth = any(matches(truth, side) for side in sides)
    presented = max(claims, key=lambda claim: claim.year) if claims else None
    if presented and matches(truth, presented.value):
        return Cell(truth, "right", presented.value)
    shown = presented.value if presented else " ↔ ".join(sides)
    if has_truth:
        return Cell(truth, "right" if truth.differs else "hedged", shown)
    if presented:
        return Cell(truth, "hedged" if presented.unverified else "wrong", shown)
    return Cell(truth, "wrong" if sides else "missing", shown)


def matches(truth: Truth, value: str) -> bool:
    """Whether `value` states the newer edition's value."""
    return _states(truth.kind, truth.value, value)


def quantities(text: str) -> tuple[Quantity, ...]:
    """The numbers of a value, remarks in brackets left out; a bare year only where there is nothing else."""
    plain = MARK.sub(" ", SPACES.sub(" ", text.replace("\u2212", "-")))
    found = _numbers(BRACKETS.sub(" ", plain)) or _numbers(plain)
    others = tuple(quantity for is_year, quantity in found if not is_year)
    return others or tuple(quantity for _, quantity in found)


def same_quantity(truth: Quantity, given: Quantity) -> bool:
    """Equal, or `given` is the truth rounded to at least three significant digits."""
    gap = abs(truth.value - given.value)
    if gap <= 1e-9 * max(abs(truth.value), 1.0):
        return True
    return given.digits >= ENOUGH_DIGITS and gap <= given.step / 2


def contradict(a: Quantity, b: Quantity) -> bool:
    """Whether two values differ by more than rounding to the last digit of either."""
    return abs(a.value - b.value) > max(a.step, b.step) / 2


def surnames(person: str) -> frozenset[str]:
    """The words in capitals of the first person named, folded; numbers of kings are no names."""
    first = re.split(r"\(|;", person)[0]
    words = re.findall(r"[^\W\d_]{2,}(?:['’][^\W\d_]+)*", first)
    return frozenset(fold(word) for word in words if word.isupper() and not re.fullmatch("[IVXL]+", word))


def year_of(text: str) -> int:
    """The newest year in a value's remarks in brackets, 0 without one; "since …" tells of no period."""
    remarks = (remark for remark in BRACKETS.findall(text) if "since" not in remark)
    return max((int(year) for remark in remarks for year in YEAR.findall(remark)), default=0)


def fold(text: str) -> str:
    """Lower case without accents and with single spaces between words."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return " ".join(re.findall(r"\w+", plain.casefold()))


def _states(kind: Kind, expected: str, value: str) -> bool:
    if kind == "number":
        wanted, given = quantities(expected), quantities(value)
        return bool(wanted and given) and same_quantity(wanted[0], given[0])
    words = f" {fold(MARK.sub(' ', value))} "
    if kind == "person":
        return any(f" {name} " in words for name in surnames(expected))
    name = fold(re.split(r"[(;,]|\bnote\b", expected)[0])
    return bool(name) and f" {name} " in words


def _numbers(text: str) -> list[tuple[bool, Quantity]]:
    """(looks like a bare year, quantity) in the order of the text."""
    found = []
    for match in NUMBER.finditer(text):
        digits, scale = match[1].replace(" ", ""), SCALES.get((match[2] or "").lower(), 1.0)
        if re.fullmatch(r"-?\d+,\d{1,2}|-?0,\d+|-?\d{4,},\d+", digits):
            digits = digits.replace(",", ".")
        digits = digits.replace(",", "")
        decimals = len(digits.partition(".")[2])
        significant = len(digits.lstrip("-0.").replace(".", ""))
        quantity = Quantity(float(digits) * scale, scale * 10.0**-decimals, significant)
        found.append((bool(YEAR.fullmatch(match[0].strip())), quantity))
    return found


def _claims(text: str, truths: Sequence[Truth], years: Mapping[str, int]) -> list[Claim]:
    claims = []
    for truth, label, value in _lines(text, truths):
        if "↔" in value:
            continue
        cited = max((years.get(source, 0) for source in CITATION.findall(value)), default=0)
        period = max((int(year) for year in YEAR.findall(label)), default=0)
        year = period or (year_of(value) if truth.kind == "number" else 0) or cited
        claims.append(Claim(truth.entity, truth.field, MARK.sub("", value).strip(), year, "[unverified]" in value))
    return claims


def _disputes(text: str, truths: Sequence[Truth]) -> list[Dispute]:
    return [
        Dispute(truth.entity, truth.field, tuple(MARK.sub("", side).strip() for side in value.split("↔")))
        for truth, _, value in _lines(text, truths)
        if "↔" in value
    ]


def _lines(text: str, truths: Sequence[Truth]) -> Iterator[tuple[Truth, str, str]]:
    """(cell, field with period, value) of every line `- Entity: field period — value`."""
    stated = True
    for line in text.splitlines():
        if line.startswith("#"):
            stated = not line.lstrip("# ").casefold().startswith(NO_FACTS)
        elif stated and BULLET.match(line):
            entity, colon, rest = BULLET.sub("", line).replace("**", "").partition(":")
            parts = re.split(r"\s+[—–]\s+|\s+-\s+", rest, maxsplit=1)
            truth = _cell_of(entity, parts[0], truths) if colon and len(parts) == 2 else None
            if truth is not None:
                yield truth, parts[0], parts[1]


def _cell_of(entity: str, label: str, truths: Sequence[Truth]) -> Truth | None:
    """The cell of this entity whose field is most like the label's words without its period."""
    rows = [truth for truth in truths if _bare(truth.entity) == _bare(entity)]
    likest = max(rows, key=lambda truth: _likeness(truth.field, label), default=None)
    return likest if likest and _likeness(likest.field, label) >= SAME_FIELD else None


def _bare(entity: str) -> str:
    return fold(entity).removeprefix("the ")


def _likeness(field: str, label: str) -> float:
    """Shared words over all words, 0 to 1."""
    ours, theirs = (
        {word for word in fold(text).split() if word not in FILLING and not word.isdecimal()} for text in (field, label)
    )
    return len(ours & theirs) / max(len(ours | theirs), 1)


def _named(truth: Truth, disputes: Sequence[Dispute]) -> bool:
    return any(
        any(matches(truth, side) for side in dispute.sides)
        and any(_states(truth.kind, truth.older, side) for side in dispute.sides)
        for dispute in disputes
        if _cell(dispute) == _cell(truth)
    )


def _cell(of: Truth | Claim | Dispute) -> tuple[str, str]:
    return of.entity, of.field


def _source_years(text: str) -> dict[str, int]:
    return {match[1]: int(match[2]) for match in map(SOURCE.match, text.splitlines()) if match}
