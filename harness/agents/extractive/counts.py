"""How many of something an owner has: `Acme operates 6,300 lockers`, «У 5Post 11 500 постаматов»."""

from __future__ import annotations

import re

from harness.agents.extractive import fields
from harness.agents.extractive.figures import by_the_way, counting
from harness.agents.extractive.lexicon import COUNTED, approximate, mild, owners
from harness.agents.extractive.sentence import Sentence, Token
from harness.patterns import lazy
from harness.quantities import Quantity
from harness.words import STOP_WORDS, words

_IT = frozenset({"it", "они", "она", "он", "they"})
_OWNER_FIRST = frozenset({"у", "в"})  # «у 5Post 11 500 постаматов»: such a sentence needs no verb
_BEFORE_OWNER = frozenset(
    {"the", "in", "at", "by", "as", "of", "and", "year", "года", "год", "году", "г", "у", "в", "на", "к", "и", "по"}
)
_MARK_ONLY = lazy(r"[\s»”\"*]*[:—–-]\s*")  # `InPost: 25,000 lockers`
# behind the counted noun only a period, a new clause or the end: `lockers in Poland` are a part of all lockers
_ENDS_THERE = lazy(r"\s*(?:[.,;:!?()—–。，]|$|(?:and|but|while|и|а|но)\b)")


def counted(said: Sentence) -> Quantity | None:
    """The amount of the sentence that stands directly before what the cell's field counts, if the entity owns it."""
    nouns = frozenset(words(noun)[0] for noun in COUNTED.get(said.cell[1].casefold(), ()))
    base = fields.field(said.cell[1]).base
    ends: dict[int, int] = {}  # first token of the noun → the token after it
    for wanted in (base, base - mild()):
        ends |= dict(said.spans_of(wanted)) if wanted else {}
    ends |= {at: at + 1 for at, token in enumerate(said.tokens) if token.word in nouns}
    found = [(amount, end) for amount in said.amounts if (end := _noun_behind(said, amount, ends)) is not None]
    if len(found) != 1:
        return None
    amount, end = found[0]
    return amount if _is_whole(said, end) and _is_owned(said, amount) else None


def _noun_behind(said: Sentence, amount: Quantity, ends: dict[int, int]) -> int | None:
    """The token after the counted noun where that noun directly follows the amount or is its unit (`5 people`)."""
    stop = amount.at + len(amount.text)
    for at, end in ends.items():
        token = said.tokens[at]
        if amount.at < token.start < stop or (token.start >= stop and not said.text[stop : token.start].strip()):
            return end
    return None


def _is_whole(said: Sentence, end: int) -> bool:
    """Whether the count goes on with no place or other limit."""
    last = said.tokens[end - 1].end
    if _ENDS_THERE.match(said.text, last):
        return True
    following = [token for token in said.tokens[end : end + 6] if not said.in_period(token)]
    today = bool(following) and following[0].stem in by_the_way()
    return (today or bool(_periods_behind(said, last))) and all(
        token.word in STOP_WORDS or token.stem in by_the_way() for token in following[:3]
    )


def _periods_behind(said: Sentence, at: int) -> list[int]:
    return [period.at for period in said.periods if 0 <= period.at - at <= 24]


def _is_owned(said: Sentence, amount: Quantity) -> bool:
    """Whether the entity is the subject: its name, a verb of having and words of time lead to the amount."""
    before = [token for token in said.tokens if token.end <= amount.at]
    named = [at for at, token in enumerate(before) if said.inside(token, said.named)]
    if not named and said.about:
        named = [at for at, token in enumerate(before) if token.stem in owners() or token.word in _IT][:1]
    if not named or any(said.inside(token, said.others) for token in before):
        return False
    head, tail = before[: named[0]], before[named[-1] + 1 :]
    if not all(_passes_before(said, token) for token in head):
        return False
    verb = any(token.stem in counting() for token in tail) or bool(head and head[-1].word in _OWNER_FIRST)
    verb = verb or any(token.word in _OWNER_FIRST for token in head[:1])
    joined = said.text[before[named[-1]].end : amount.at]
    verb = verb or bool(_MARK_ONLY.fullmatch(joined))
    joined = joined if not _MARK_ONLY.fullmatch(joined) else ""
    return verb and not re.search(r"[;:()]", joined) and all(_passes_behind(said, token) for token in tail)


def _passes_before(said: Sentence, token: Token) -> bool:
    return token.word in _BEFORE_OWNER or token.stem in owners() | by_the_way() or said.in_period(token)


def _passes_behind(said: Sentence, token: Token) -> bool:
    return (
        token.stem in counting() | approximate() | by_the_way() | owners()
        or token.word in _BEFORE_OWNER | STOP_WORDS - {"more", "other"}
        or said.in_period(token)
    )
