"""The fields that questions ask for, where each edition keeps them, and the truth about a cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from benchmarks.factbook_get import Edition, Page
from benchmarks.factbook_pages import country_name, look_up
from benchmarks.factbook_score import Truth, contradict, quantities, surnames, year_of


class Field(NamedTuple):
    """`lasting`: a thing that does not change by itself, so two editions that differ contradict each other."""

    name: str
    older: tuple[str, ...]
    newer: tuple[str, ...]
    kind: Literal["number", "person", "place"] = "number"
    lasting: bool = False


def _both(name: str, *path: str, kind: Literal["number", "person", "place"] = "number", lasting: bool = False) -> Field:
    return Field(name, path, path, kind, lasting)


_PEOPLE, _ECONOMY, _EXECUTIVE = "People and Society", "Economy", ("Government", "Executive branch")

FIELDS = (
    Field("population", (_PEOPLE, "Population"), (_PEOPLE, "Population", "total")),
    _both("median age", _PEOPLE, "Median age", "total"),
    _both("population growth rate", _PEOPLE, "Population growth rate"),
    _both("birth rate", _PEOPLE, "Birth rate"),
    _both("death rate", _PEOPLE, "Death rate"),
    _both("net migration rate", _PEOPLE, "Net migration rate"),
    _both("urban population", _PEOPLE, "Urbanization", "urban population"),
    _both("infant mortality rate", _PEOPLE, "Infant mortality rate", "total"),
    _both("life expectancy at birth", _PEOPLE, "Life expectancy at birth", "total population"),
    _both("total fertility rate", _PEOPLE, "Total fertility rate"),
    _both("hospital bed density", _PEOPLE, "Hospital bed density"),
    _both("GDP (official exchange rate)", _ECONOMY, "GDP (official exchange rate)"),
    Field("GDP per capita", (_ECONOMY, "GDP - per capita (PPP)"), (_ECONOMY, "Real GDP per capita")),
    _both("unemployment rate", _ECONOMY, "Unemployment rate"),
    _both("inflation rate", _ECONOMY, "Inflation rate (consumer prices)"),
    _both("public debt", _ECONOMY, "Public debt"),
    _both("internet users", "Communications", "Internet users", "percent of population"),
    _both("airports", "Transportation", "Airports"),
    _both("irrigated land", "Geography", "Irrigated land"),
    _both("chief of state", *_EXECUTIVE, "chief of state", kind="person"),
    _both("head of government", *_EXECUTIVE, "head of government", kind="person"),
    _both("capital", "Government", "Capital", "name", kind="place"),
    _both("total area", "Geography", "Area", "total", lasting=True),
    _both("land boundaries", "Geography", "Land boundaries", "total", lasting=True),
    _both("coastline", "Geography", "Coastline", lasting=True),
    Field(
        "highest point",
        ("Geography", "Elevation extremes", "highest point"),
        ("Geography", "Elevation", "highest point"),
        lasting=True,
    ),
    Field(
        "lowest point",
        ("Geography", "Elevation extremes", "lowest point"),
        ("Geography", "Elevation", "lowest point"),
        lasting=True,
    ),
)


def truth(entity: str, field: Field, older: Page, newer: Page, date: str) -> Truth | None:
    """What is true of a cell: the newer edition's value; None unless both editions have one that can be compared.

    Only the first of several values counts ("5.2% (2014 est.); 5.1% (2013 est.)").
    """
    old, new = look_up(older, field.older), look_up(newer, field.newer)
    if old is None or new is None:
        return None
    if field.kind != "number":
        if field.kind == "person" and not _persons_clear(old, new):
            return None
        return Truth(entity, field.name, field.kind, new, old, date, differs=False)
    old, new = old.split(";")[0].strip(), new.split(";")[0].strip()
    was, now = quantities(old), quantities(new)
    if not was or not now or (field.lasting and len(was) + len(now) > 2):
        return None  # "1 km SW of The Bluff on Cayman Brac 50 m": which number is the value cannot be told
    period_old, period_new = year_of(old), year_of(new)
    same_period = period_old == period_new and (field.lasting or period_old != 0)
    return Truth(entity, field.name, field.kind, new, old, date, same_period and contradict(now[0], was[0]))


def countries(editions: tuple[Edition, Edition]) -> list[tuple[str, str]]:
    """(code, name as the newer edition has it) of what both editions describe, by name."""
    older, newer = editions
    named = ((code, country_name(newer.pages[code])) for code in sorted(older.pages.keys() & newer.pages.keys()))
    return sorted(((code, name) for code, name in named if name), key=lambda pair: pair[1])


def truths(editions: tuple[Edition, Edition], fields: Sequence[Field] = FIELDS) -> dict[tuple[str, str], Truth]:
    """Every cell whose truth is known, by (entity, field name)."""
    older, newer = editions
    known = {}
    for code, name in countries(editions):
        for field in fields:
            cell = truth(name, field, older.pages[code], newer.pages[code], newer.date)
            if cell is not None:
                known[name, field.name] = cell
    return known


def _persons_clear(old: str, new: str) -> bool:
    """Scoring goes by surname: it cannot tell a father from a son of the same name, so such a cell is not asked."""
    before, now = surnames(old), surnames(new)
    return bool(now) and (not before & now or old.split("(")[0] == new.split("(")[0])
