"""Figures stated in prose: «выручка Самоката в 2024 году составила 154,0 млрд ₽», `the capital of Chad is N'Djamena`.

A sentence is walked word by word: the field's name, then its owner, a verb, and the value. Any other word on
the way (another noun, a name that is not the owner's) ends the walk: the sentence then says something else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from harness.agents.extractive import fields
from harness.agents.extractive.lexicon import (
    COUNTED,
    links,
    meanings,
    mild,
    moves,
    owners,
    percent_fields,
    reports,
    uncertain,
)
from harness.agents.extractive.sentence import Sentence, Token
from harness.facts import Cell
from harness.model import Grid
from harness.patterns import lazy
from harness.quantities import Quantity
from harness.words import STOP_WORDS, stems, words


class Statement(NamedTuple):
    value: str
    period: str  # as written in the sentence, "" if it names none (or several, none of them near)


LONGEST = 800  # characters; what is longer is no sentence
MOST_WORDS_IN_NAME = 6  # of a value in words: a city, a person
_NAME_VALUE = lazy(
    r"\s*[«\"“]?((?:[^\W\d_][\w'’.-]*)(?:\s(?:de|of|the|la|le|el|al|и|and|[^\W\d_][\w'’.-]*)){0,5})[»\"”]?\s*"
)
_MORE_UNIT = lazy(r"[ \u00a0](?:[^\W\d_]+/[\w ]{1,20}|stores\b|employees\b|магазин\w*|сотрудник\w*)")
_HAN_NAME = lazy(r"[\u4e00-\u9fff·]{2,12}(?=[，。；！、]|$)")
_ROUGHLY = frozenset({"about", "around", "approximately", "nearly", "almost", "roughly", "over", "约", "近"}) | {
    "около", "примерно", "почти", "порядка", "приблизительно", "более", "свыше", "менее",
}  # fmt: skip
_FROM = frozenset({"from", "с", "со", "从"})
_TO = frozenset({"to", "до", "at", "至", "到"})
_BY = frozenset({"by", "на"})
_HARD_STOP = lazy(r"[;!?。；]|\.\s")
_DASH = lazy(r"\s[-–—]\s|[:：=]|——")


def state(sentence: str, cell: Cell, grid: Grid, *, about: bool) -> Statement | None:
    """The value that the sentence states for the cell; None if it states none, or not surely.

    `about`: the document is about the entity, so that the sentence need not name it.
    """
    if not 5 < len(sentence) <= LONGEST or not _may_state(sentence, cell):
        return None
    walk = _Walk(sentence, cell, grid, about)
    if any(token.stem in uncertain() for token in walk.tokens):
        return None
    return walk.run()


def _may_state(sentence: str, cell: Cell) -> bool:
    """Cheap: the sentence holds the field's words (or a phrase of the same meaning, or what is counted)."""
    if all(word[0].isdigit() for word in fields.field(cell[1]).base):
        return False  # «65 years and over» is no field that a sentence could be told by
    if any(noun in sentence for noun in COUNTED.get(cell[1].casefold(), ())):
        return True
    return fields.field(cell[1]).base <= frozenset(meanings(stems(sentence))) | frozenset(stems(sentence))


class _Walk(Sentence):
    def run(self) -> Statement | None:
        wanted = fields.field(self.cell[1])
        found = [value for start, end in self.spans_of(wanted.base) if (value := self._after(start, end))]
        if not found and (other := self._before(wanted.base) or self._counted()):
            found = [other]
        return found[0] if len({value.value for value in found}) == 1 else None

    def _after(self, start: int, end: int) -> Statement | None:
        owned = self._owner_before(start)
        if owned is None:
            return None
        at, link, owner = self._walk_to_link(end, owned)
        if link == "" or not self._owner_fits(owner, start):
            return None
        return self._amount_after(at, link) or (self._name_after(at) if link in ("is", "dash") else None)

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
            if _HARD_STOP.search(gap):
                break
            if _DASH.search(gap):
                return index, "dash", owner
            if token.stem in links():
                return index + 1, "is", owner
            if token.stem in moves():
                return index + 1, "moved", owner
            if index == at and token.word in ("of", "в") and self.amount_at(index + 1):
                return index + 1, "of", owner
            if index == at and any(amount.at <= token.start < amount.at + len(amount.text) for amount in self.amounts):
                return index, "direct", owner
            if self.inside(token, self.named):
                owner = True
            elif self.inside(token, self.others) or not self.passes(token):
                break
        return at, "", owner

    def _owner_fits(self, owner: bool, start: int) -> bool:
        """The owner is named beside the field; else by the sentence, or the document, with no other name before."""
        if owner:
            return True
        if not (self.named or self.about) or self.others:
            return False
        before = self.tokens[:start]
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
            after = next((n for n, t in enumerate(self.tokens) if t.start >= amount.at + len(amount.text)), None)
            moved = link == "moved" and not any(t.word in _TO for t in lead[-1:])
            if any(t.word in _FROM | _BY for t in lead[-1:]) or moved or not self._suits(amount):
                if after is None or after <= index:
                    return None
                index = after
                continue
            return self._statement(amount, lead)
        return None

    def _suits(self, amount: Quantity) -> bool:
        """A percentage belongs to rates and shares only."""
        rate = bool(fields.field(self.cell[1]).base & percent_fields()) or bool(
            set(stems(self.cell[1])) & percent_fields()
        )
        return rate if amount.unit in ("%", "pp") else True

    def _statement(self, amount: Quantity, lead: Sequence[Token]) -> Statement:
        start = amount.at
        if lead and lead[-1].word in _ROUGHLY:
            start = lead[-1].start
        while start > 0 and self.text[start - 1] in "≈~+":
            start -= 1
        end = amount.at + len(amount.text)
        unit = re.match(
            r"[ \u00a0](?:[^\W\d_]+/[\w ]{1,20}|births?\b|deaths?\b|магазин\w*|сотрудник\w*|stores\b)", self.text[end:]
        )
        end += unit.end() if unit else 0
        value = re.sub(r"(?<=[A-Za-z0-9%])\.$", "", self.text[start:end].strip())
        return Statement(value, self.period_of(start, end))

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
        """`Georgia has 4,900,961 inhabitants`: the amount directly behind the entity and `has`, its noun behind it."""
        nouns = [words(noun)[0] for noun in COUNTED.get(self.cell[1].casefold(), ())]
        for amount in self.amounts if nouns else ():
            before = [token for token in self.tokens if token.end <= amount.at][-2:]
            after = [token for token in self.tokens if token.end >= amount.at + len(amount.text)][:2]
            has = len(before) == 2 and before[1].word in ("has", "had") and self.inside(before[0], self.named)
            if has and any(token.word in nouns for token in after):
                return self._statement(amount, [])
        return None


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
