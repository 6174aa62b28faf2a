"""What a case has spent: tokens by role and agent, searches by provider, cost."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from typing import BinaryIO, NamedTuple

from harness.errors import HarnessError
from harness.store import Store
from harness.store.reading import open_regular
from harness.store.trace import digest

CACHE = "spent.json"
# Bytes of the trace, some 100 lines, which are read again in 1 ms: below it a write costs more than it saves.
WORTH_KEEPING = 65_536
NONSENSE = 10**12  # a count or a round from here on stands in no line of ours


class Spent(NamedTuple):
    """Totals of a whole trace.

    `tokens`: (role, agent) -> (in, out), refused replies included, as far as a pass that was committed records them;
    `estimated`: whether any of these figures is an estimate; `requests`: provider -> searches made; `raws`: round ->
    tokens of its raw (always an estimate), None where no line says, in the order of the rounds; `cost`: USD of the
    agents that say it.
    """

    tokens: Mapping[tuple[str, str], tuple[int, int]]
    estimated: bool
    requests: Mapping[str, int]
    raws: Mapping[int, int | None]
    cost: float | None = None


# Counting ----------------------------------------------------------------------------------------


def spent(store: Store, *, worth_keeping: int = WORTH_KEEPING) -> Spent:
    """The totals of trace.jsonl. Only what came after the totals kept in `.harness/spent.json` is read.

    They are kept anew once `worth_keeping` bytes came after them. A line without its end is not counted yet: it is
    torn, or being written. Raises HarnessError where trace.jsonl is a link or cannot be read.
    """
    descriptor = open_regular(store.folder / "trace.jsonl")
    if descriptor is None:
        return _Tally().totals()
    with os.fdopen(descriptor, "rb") as file:
        tally = _kept(store, file) or _Tally()
        before = tally.end
        file.seek(before)
        for line in file:
            if not line.endswith(b"\n"):
                break
            tally.take(line)
    if tally.end - before >= max(worth_keeping, 1):
        with contextlib.suppress(HarnessError, OSError):  # a read-only folder: the next command reads it all again
            store.put_helper(CACHE, _render(tally))
    return tally.totals()


class _Tally:
    """Totals under way of the first `end` bytes of a trace, the last line of which is `last`."""

    def __init__(self) -> None:
        self.tokens: dict[tuple[str, str], tuple[int, int]] = {}
        self.estimated = False
        self.requests: dict[str, int] = {}
        self.raws: dict[int, int | None] = {}
        self.cost: float | None = None
        self.end = 0
        self.last = b""

    def take(self, line: bytes) -> None:
        """Count one line; a torn or foreign one adds nothing but its length."""
        self.end += len(line)
        self.last = line
        try:
            record = json.loads(line.decode("utf-8", errors="replace"))
        except (ValueError, RecursionError):
            return
        if isinstance(record, dict):
            self._add_tokens(record)
            self._add_raw(record)
            self._add_cost(record.get("cost"))
            if record.get("role") == "search":
                self._add_requests(record)

    def _add_tokens(self, record: Mapping[str, object]) -> None:
        match record:
            case {"role": str(role), "agent": str(agent), "tokens": [int(into), int(out)]}:
                if 0 <= into < NONSENSE and 0 <= out < NONSENSE:
                    before = self.tokens.get((role, agent), (0, 0))
                    self.tokens[role, agent] = (before[0] + into, before[1] + out)
                    self.estimated = self.estimated or record.get("estimated") is not False
        match record:
            case {"role": str(role), "others": dict(others)}:
                for agent, tokens in others.items():
                    self._add_tokens({**record, "others": None, "agent": agent, "tokens": tokens})

    def _add_cost(self, cost: object) -> None:
        if isinstance(cost, (int, float)) and not isinstance(cost, bool) and 0 <= cost < NONSENSE:
            self.cost = (self.cost or 0.0) + cost

    def _add_raw(self, record: Mapping[str, object]) -> None:
        number, size, role = record.get("round"), record.get("size"), record.get("role")
        if type(number) is not int or not 0 < number < NONSENSE:
            return
        if type(size) is int and 0 <= size < NONSENSE:
            self.raws[number] = size
        elif role == "search" or (role in ("synthesizer", "harness") and record.get("file") == "summary.md"):
            self.raws.setdefault(number, None)

    def _add_requests(self, record: Mapping[str, object]) -> None:
        """The providers that got a query; in older lines, which do not say so, those of the outcomes."""
        asked, outcomes = record.get("asked"), record.get("outcomes")
        named = list(asked) if isinstance(asked, list) else []
        for outcome in outcomes if isinstance(outcomes, list) and asked is None else []:
            match outcome:
                case {"outcome": "pasted" | "skipped"}:
                    pass
                case {"provider": provider}:
                    named.append(provider)
        for provider in named:
            if isinstance(provider, str) and provider:
                self.requests[provider] = self.requests.get(provider, 0) + 1

    def totals(self) -> Spent:
        raws = {number: self.raws[number] for number in sorted(self.raws)}
        return Spent(self.tokens, self.estimated, self.requests, raws, self.cost)


# The cache -----------------------------------------------------------------------------------------


def _render(tally: _Tally) -> str:
    """A line of JSON under its sha256, which is also over the last line counted: totals hold for that trace only."""
    body = json.dumps(
        {
            "version": 2,
            "end": tally.end,
            "length": len(tally.last),
            "tokens": [[*key, *counts] for key, counts in tally.tokens.items()],
            "estimated": tally.estimated,
            "requests": tally.requests,
            "cost": tally.cost,
            "rounds": list(tally.raws),  # beside their sizes: 5,000 pairs take 1 ms longer to read
            "sizes": list(tally.raws.values()),
        }
    )
    return f"{digest(tally.last + body.encode())}\n{body}"


def _kept(store: Store, trace: BinaryIO) -> _Tally | None:
    """The totals kept last, if the trace still has the line that they end with in its place; else None."""
    try:
        sha256, _, body = store.get_helper(CACHE).encode().partition(b"\n")
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    tally = _Tally()
    match value:
        case {"version": 2, "end": int(end), "length": int(length)} if 0 < length <= end:
            if end > trace.seek(0, os.SEEK_END):
                return None
            trace.seek(end - length)
            tally.end, tally.last = end, trace.read(length)
        case _:
            return None
    if digest(tally.last + body).encode() != sha256:
        return None
    try:
        tally.tokens = {(str(role), str(agent)): (_count(a), _count(b)) for role, agent, a, b in value["tokens"]}
        sizes = (None if size is None else _count(size) for size in value["sizes"])
        tally.raws = dict(zip(map(_count, value["rounds"]), sizes, strict=True))
        tally.cost = _amount(value["cost"])
        tally.requests = {str(provider): _count(number) for provider, number in value["requests"].items()}
    except (LookupError, TypeError, ValueError, AttributeError):  # the hash is no seal: a clone may bring its own
        return None
    tally.estimated = value.get("estimated") is not False
    return tally


def _count(value: object) -> int:
    if type(value) is not int or not 0 <= value < NONSENSE:
        raise TypeError(value)
    return value


def _amount(value: object) -> float | None:
    if value is None:
        return None
    if type(value) not in (int, float) or not 0 <= float(str(value)) < NONSENSE:
        raise TypeError(value)
    return float(str(value))
