"""Figures stated in prose: «выручка Самоката в 2024 году составила 154,0 млрд ₽», `the capital of Chad is N'Djamena`.

A sentence is walked word by word: the field's name, then its owner, a verb, and the value. Any other word on
the way (another noun, a name that is not the owner's) ends the walk: the sentence then says something else.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from harness.agents.extractive import fields
from harness.agents.extractive.counts import counted
from harness.agents.extractive.figures import is_figure
from harness.agents.extractive.lexicon import (
    COUNTED,
    links,
    meanings,
    mild,
    moves,
    owners,
    percent_fields,
    reports,
    supposing,
    telling,
    uncertain,
)
from harness.agents.extractive.sentence import Sentence, Token
from harness.facts import Cell
from harness.model import Grid
from harness.patterns import lazy
from harness.periods import newest, periods
from harness.quantities import Quantity
from harness.words import STOP_WORDS, stems


class Statement(NamedTuple):
    value: str
    period: str  # as written in the sentence, "" if it names none (or several, none of them near)


LONGEST = 800  # characters; what is longer is no sentence
MOST_WORDS_IN_NAME = 6  # of a value in words: a city, a person
_NAME_VALUE = lazy(
    r"\s*[«\"“]?((?:[^\W\d_][\w'’.-]*)(?:\s(?:de|of|the|la|le|el|al|и|and|[^\W\d_][\w'’.-]*)){0,5})[»\"”]?\s*"
)
# behind an amount: what was measured is the difference to something else, or its part
_COMPARED = lazy(
    r"\s*(?:times|fold|-fold|раза?)(?![^\W_])|\s+(?:\w+\s)?(?:\w+er|more|less|worse)\sthan\b"
    r"|\s+of\s(?:that|those|its|their|this)\b|\s+(?:above|below|выше|ниже)(?![^\W_])(?!\s(?:mean|sea|уровня))"
    r"|\s+(?:lower|higher|larger|smaller|greater|fewer|more|less|больше|меньше|более|менее|от этого|от того)"
    r"(?![^\W_])",
    re.IGNORECASE,
)
_UNTIL = lazy(r"(?<![^\W_])(?:until|till|prior to|до)\s(?:\w+\s)?$", re.IGNORECASE)
_FORMER = lazy(r"\((?:former|formerly|бывш\w+)(?![^\W_])", re.IGNORECASE)
_SINCE = lazy(r"(?<![^\W_])(?:from|since|с|со|от)\s(?:\w+\s)?$", re.IGNORECASE)
_QUESTION = lazy(r"[?？][\s»”\"')]*$")
_OPENS_CLAUSE = frozenset({"that", "что"})  # only a verb of telling makes what follows a statement
_UNSURE_CLAUSE = frozenset({"whether", "ли", "будто", "чтобы", "if", "если"})
_FULL_STOP = lazy(r"(?<=[A-Za-z0-9%])\.$|(?<=[а-яё]{5})\.$")  # the stop of `руб.` stays
_HAN_NAME = lazy(r"[\u4e00-\u9fff·]{2,12}(?=[，。；！、]|$)")
_FROM = frozenset({"from", "с", "со", "从"})
_BETWEEN = frozenset({"between", "между", "от"})
_TO = frozenset({"to", "до", "at", "至", "到"})
_BY = frozenset({"by", "на"})
_HARD_STOP = lazy(r"[;!?。；]|\.\s")
_SHORTENED = frozenset({"г", "гг"})  # «в 2024 г. — 5 млрд»: that stop ends no sentence
_DASH = lazy(r"\s[-–—]\s|[:：=]|——")


def state(sentence: str, cell: Cell, grid: Grid, *, about: bool) -> Statement | None:
    """The value that the sentence states for the cell; None if it states none, or not surely.

    `about`: the document is about the entity, so that the sentence need not name it.
    """
    if not 5 < len(sentence) <= LONGEST or not _may_state(sentence, cell):
        return None
    walk = _Walk(sentence, cell, grid, about)
    if _QUESTION.search(sentence) or (walk.tokens and walk.tokens[0].stem in supposing()):
        return None
    doubt = uncertain() - frozenset(stems(cell[1]))  # `life expectancy` is no expectation
    named = (*walk.named, *walk.others)  # Target is a company too
    if any(token.stem in doubt and not walk.inside(token, named) for token in walk.tokens):
        return None
    return walk.run()


def _may_state(sentence: str, cell: Cell) -> bool:
    """Cheap: the sentence holds the field's words (or a phrase of the same meaning, or what is counted)."""
    if all(word[0].isdigit() for word in fields.field(cell[1]).base):
        return False  # «65 years and over» is no field that a sentence could be told by
    if any(noun in sentence for noun in COUNTED.get(cell[1].casefold(), ())):
        return True
    base = fields.field(cell[1]).base
    said = frozenset(meanings(stems(sentence))) | frozenset(stems(sentence))
    return (base - mild() or base) <= said


class _Walk(Sentence):
    def run(self) -> Statement | None:
        wanted = fields.field(self.cell[1])
        spans = self.spans_of(wanted.base) or self.spans_of(wanted.base - mild())
        found = [value for start, end in spans if (value := self._after(start, end))]
        if not found and (other := self._before(wanted.base) or self._counted()):
            found = [other]
        return found[0] if len({value.value for value in found}) == 1 and not self._is_over() else None

    def _is_over(self) -> bool:
        """Whether what is said held until a time: `The capital was Fort-Lamy until 1973`."""
        if _FORMER.search(self.text):
            return True
        ends = any(_UNTIL.search(self.text, 0, period.at) for period in self.periods)
        return ends and not any(_SINCE.search(self.text, 0, period.at) for period in self.periods)

    def _after(self, start: int, end: int) -> Statement | None:
        owned = self._owner_before(start)
        if owned is None or self._depends(start):
            return None
        at, link, owner = self._walk_to_link(end, owned)
        if link == "" or not self._owner_fits(owner, start):
            return None
        named = link in ("is", "dash") and not is_figure(self.cell[1])
        return self._amount_after(at, link) or (self._name_after(at) if named else None)

    def _depends(self, start: int) -> bool:
        """Whether the field stands in a clause that somebody doubts, denies or asks: `It is false that …`."""
        before = self.tokens[:start]
        told = all(
            at and before[at - 1].stem in telling() for at, token in enumerate(before) if token.word in _OPENS_CLAUSE
        )
        return not told or any(token.word in _UNSURE_CLAUSE for token in before)

    def _owner_before(self, start: int) -> bool | None:
        """Whether the entity stands directly before the field; None if another word does, which changes the meaning."""
        at = start - 1
        while at >= 0 and (self.tokens[at].stem in mild() or self.in_period(self.tokens[at])):
            at -= 1
        if at < 0 or re.search(r"[,;:(—–«\"]", self.text[self.tokens[at].end : self.tokens[start].start]):
            return False
        token = self.tokens[at]
        if self.inside(token, self.named):
            return True
        known = token.word in STOP_WORDS or token.stem in reports() | owners() | moves() | links()
        return False if known and not self.inside(token, self.others) else None

    def _walk_to_link(self, at: int, owned: bool) -> tuple[int, str, bool]:
        """The token after the verb or dash, its kind ("" if none is reached), and whether the owner was named."""
        owner = owned
        for index in range(at, min(len(self.tokens), at + 14)):
            token = self.tokens[index]
            gap = self.text[self.tokens[index - 1].end : token.start]
            if _HARD_STOP.search(gap.lstrip(".") if self.tokens[index - 1].word in _SHORTENED else gap):
                break
            if _DASH.search(gap):
                return index, "dash", owner
            if token.stem in links():
                return index + 1, "is", owner
            if token.stem in moves():
                return index + 1, "moved", owner
            if index == at and self._leads_to_amount(token, index + 1):
                return index + 1, "of", owner
            if index == at and any(amount.at <= token.start < amount.at + len(amount.text) for amount in self.amounts):
                return index, "direct", owner
            if self.inside(token, self.named):
                owner = True
            elif self.inside(token, self.others) or not self.passes(token):
                break
        return at, "", owner

    def _leads_to_amount(self, token: Token, index: int) -> bool:
        """`revenue of 5 bn`, `share at 44 %`; `revenue at 5 stores` tells where, not how much."""
        amount = self.amount_at(index) if token.word in ("of", "at", "в") else None
        return amount is not None and (token.word != "at" or amount.unit not in ("", "people"))

    def _owner_fits(self, owner: bool, start: int) -> bool:
        """The owner is named beside the field; else by the sentence, or the document, with no other name before."""
        if owner:
            return True
        before = self.tokens[:start]
        if not (self.about or any(self.inside(token, self.named) for token in before)) or self.others:
            return False  # who is named only behind the value need not be its owner
        strange = [
            t for at, t in enumerate(before) if t.capital and not self.inside(t, self.named) and not self.plain(at)
        ]
        return not strange

    def _amount_after(self, at: int, link: str) -> Statement | None:
        index = at
        while index < len(self.tokens):
            amount = self.amount_at(index)
            if amount is None:
                return None
            lead = [t for t in self.tokens[at:] if t.end <= amount.at][-2:]
            if any(t.word in _BETWEEN for t in lead):
                return None
            after = next((n for n, t in enumerate(self.tokens) if t.start >= amount.at + len(amount.text)), None)
            moved = link == "moved" and not any(t.word in _TO for t in lead[-1:])
            if any(t.word in _FROM | _BY for t in lead[-1:]) or moved or not self._suits(amount):
                if after is None or after <= index:
                    return None
                index = after
                continue
            return None if _COMPARED.match(self.text, amount.at + len(amount.text)) else self._latest(amount)
        return None

    def _latest(self, first: Quantity) -> Statement:
        """The newest of amounts told one after another, each with its period: `5 % in 1995 and 9 % in 2023`."""
        row = [first]
        for amount in self.amounts:
            if amount.unit == first.unit and self._goes_on_with(row[-1], amount):
                row.append(amount)
        told = [self._statement(amount) for amount in row]
        dated = [(found, said) for said in told if (found := newest(periods(said.period)))]
        if len(row) == 1 or len(dated) < len(row):
            return told[0]
        return max(dated, key=lambda pair: (pair[0].end, pair[0].start))[1]

    def _goes_on_with(self, last: Quantity, amount: Quantity) -> bool:
        """Whether only a period and small words stand between two amounts."""
        end = last.at + len(last.text)
        between = [token for token in self.tokens if end <= token.start and token.end <= amount.at]
        small = all(t.word in STOP_WORDS or t.word in _SHORTENED or self.in_period(t) for t in between)
        return bool(between) and small and "(" not in self.text[end : amount.at]

    def _suits(self, amount: Quantity) -> bool:
        """A percentage belongs to rates and shares only."""
        rate = bool(fields.field(self.cell[1]).base & percent_fields()) or bool(
            set(stems(self.cell[1])) & percent_fields()
        )
        return rate if amount.unit in ("%", "pp") else True

    def _statement(self, amount: Quantity) -> Statement:
        end = amount.at + len(amount.text)
        value = _FULL_STOP.sub("", amount.text.strip())
        return Statement(value, self.period_of(amount.at, end))

    def _name_after(self, at: int) -> Statement | None:
        """A value in words: a capitalised name directly after `is` or a dash."""
        while at < len(self.tokens) and self.tokens[at].word in ("the", "a", "город", "city", "г"):
            at += 1
        if at >= len(self.tokens) or self.inside(self.tokens[at], self.others):
            return None
        han = _HAN_NAME.match(self.text, self.tokens[at].start)
        if han:
            return Statement(han.group(), self.period_of(0, 0))
        # one small word may open a name: «пик Победы», `mount Elbrus`
        small = 0 if self.tokens[at].capital else 1
        if small and not (at + 1 < len(self.tokens) and self.tokens[at + 1].capital and len(self.tokens[at].text) > 2):
            return None
        found = _NAME_VALUE.match(self.text, self.tokens[at + small].start)
        name = _name_part(found.group(1)) if found else ""
        if not found or not name:
            return None
        end = found.start(1) + len(name)
        measured = self.measure_behind(end)
        end = measured.at + len(measured.text) if measured else end
        return Statement(self.text[self.tokens[at].start : end].strip('«»“”"'), self.period_of(end, end))

    def _before(self, base: frozenset[str]) -> Statement | None:
        """`N'Djamena is the capital of Chad.`: the name from the sentence's start to the verb."""
        for start, end in self.spans_of(base):
            verb = next((n for n in range(start - 1, -1, -1) if self.tokens[n].word not in ("the", "a")), -1)
            rest = self.tokens[end : end + 4]
            owned = any(self.inside(token, self.named) for token in rest)
            if verb < 1 or self.tokens[verb].stem not in links() or not owned:
                continue
            value = self.text[: self.tokens[verb].start].strip(' «»"“”—–')
            named = _NAME_VALUE.fullmatch(value)
            if named and self.tokens[0].capital and self.tokens[0].word not in STOP_WORDS and not self.amounts:
                return Statement(_name_part(named.group(1)), self.period_of(0, 0))
        return None

    def _counted(self) -> Statement | None:
        amount = counted(self)
        return self._statement(amount) if amount else None


def _name_part(text: str) -> str:
    """The capitalised beginning of a phrase: `N'Djamena in the south` → N'Djamena."""
    kept: list[str] = []
    for word in text.split()[:MOST_WORDS_IN_NAME]:
        if not word[0].isupper() and word not in ("de", "of", "the", "la", "le", "el", "al"):
            break
        kept.append(word)
    while kept and not kept[-1][0].isupper():
        kept.pop()
    return " ".join(kept).rstrip(".,")
