"""What was spent, told: tokens by role and agent, searches, cost, and what one growing chat would have read."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import NamedTuple

from harness.formats.text import one_line, shortened
from harness.spending import Spent

WINDOWS = (64_000, 128_000, 200_000)  # tokens
AGENTS_NAMED = 6  # on the screen; --json has them all
NAME_SHOWN = 40  # characters: a trace may hold anything


class GrowingChat(NamedTuple):
    """One chat instead of this case, in tokens. `overflows`: window -> first round that does not fit, None = none."""

    holds: int
    has_read: int
    overflows: Mapping[int, int | None]
    whole: bool  # False: some raw's size is not known, so all figures are the least possible


class Share(NamedTuple):
    role: str
    agent: str
    tokens_in: int
    tokens_out: int


class Account(NamedTuple):
    """What `harness status` tells of it. `growing_chat` is None while there is no raw."""

    tokens_in: int
    tokens_out: int
    by: tuple[Share, ...]
    estimated: bool
    searches: Mapping[str, int]  # provider -> number
    growing_chat: GrowingChat | None
    cost: float | None = None  # USD


# The counterfactual ------------------------------------------------------------------------------


def growing_chat(raws: Mapping[int, int | None], windows: tuple[int, ...] = WINDOWS) -> GrowingChat:
    """What one chat that keeps everything would hold after these rounds, and what it would have read in all.

    `raws`: round -> tokens, in order. Counted is the text of the raws alone: the chat holds their sum, and since each
    round's call reads all raws up to its own again, it has read the sum over the rounds of what it held after each. It
    overflows in the first round after which it holds more than the window. Not counted are its instructions, the
    question, its own replies and what a repeated call costs, so a real chat is above these figures; a cache of the
    vendor makes re-reading cheaper, not shorter. A raw of unknown size (None) counts as 0 and makes it not `whole`.
    """
    held = list(accumulate(size or 0 for size in raws.values()))
    overflows = {
        window: next((number for number, size in zip(raws, held, strict=True) if size > window), None)
        for window in windows
    }
    return GrowingChat(held[-1] if held else 0, sum(held), overflows, None not in raws.values())


# Telling -----------------------------------------------------------------------------------------


def account_of(totals: Spent) -> Account | None:
    """None where nothing was spent."""
    if not (totals.tokens or totals.requests or totals.raws):
        return None
    by = tuple(Share(_name(role), _name(agent), *counts) for (role, agent), counts in totals.tokens.items())
    return Account(
        tokens_in=sum(share.tokens_in for share in by),
        tokens_out=sum(share.tokens_out for share in by),
        by=by,
        estimated=totals.estimated,
        searches={_name(provider): number for provider, number in totals.requests.items()},
        growing_chat=growing_chat(totals.raws) if totals.raws else None,
        cost=totals.cost,
    )


def told_account(account: Account) -> list[str]:
    """One line on what was spent, and one on the chat; agents with the tokens that they read."""
    parts = []
    if account.by:
        named = [f"{share.role} {share.agent} {share.tokens_in:,}" for share in account.by[:AGENTS_NAMED]]
        more = len(account.by) - AGENTS_NAMED
        behind = f" and {more} more" if more > 0 else ""
        tokens = f"{account.tokens_in:,} tokens in, {account.tokens_out:,} out ({'; '.join(named)}{behind})"
        parts.append(tokens + (", an estimate" if account.estimated else ""))
    if account.searches:
        number = sum(account.searches.values())
        each = ", ".join(f"{provider} {count:,}" for provider, count in account.searches.items())
        searches = f"{number:,} search{'' if number == 1 else 'es'}"
        parts.append(f"{searches} ({each})" if len(account.searches) > 1 else searches)
    if account.cost is not None:
        parts.append(f"${account.cost:,.2f}")
    chat = account.growing_chat
    return [*([f"spent: {'; '.join(parts)}"] if parts else []), *([_told_chat(chat)] if chat and chat.holds else [])]


def _told_chat(chat: GrowingChat) -> str:
    about, latest = ("about", "") if chat.whole else ("at least", " at the latest")
    full = [(window // 1000, number) for window, number in chat.overflows.items() if number is not None]
    if full:
        rest = "".join(f", a {size}k one in round {number}" for size, number in full[1:])
        fits = f"a {full[0][0]}k window would have overflowed in round {full[0][1]}{rest}{latest}"
    else:
        fits = f"a {min(chat.overflows) // 1000}k window would still hold it"
    return (
        f"one growing chat would hold {about} {chat.holds:,} tokens of raws now and have read {chat.has_read:,}; {fits}"
    )


def _name(text: str) -> str:
    return shortened(one_line(text), NAME_SHOWN)
