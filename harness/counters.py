"""Token counters: an exact vocabulary times a safety factor, or the estimate where none can be had."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.tokens import estimate
from harness.vocabulary import CountMany, vocabulary

ESTIMATE_ENCODING = "estimate"
# A float such as 1.2 is a little more than it says: 10 × 1.2 must stay 12.
_EXACTLY = 1e-9


def _estimates(texts: Sequence[str]) -> list[int]:
    return [estimate(text) for text in texts]


@dataclass(frozen=True)
class Counter:
    """A ports.CountTokens. Thread-safe; never raises for a str.

    `name`: for people, e.g. "cl100k_base × 1.2" or "estimate"; `exact`: whether a vocabulary counts (before the safety
    factor); `source`: where that is from, "" for the estimate. Two pieces count at most 1 less than the whole, but for
    texts made to break this.
    """

    name: str
    exact: bool
    source: str = ""
    safety: float = 1.0
    _count: CountMany = field(default=_estimates, repr=False, compare=False)

    def __call__(self, text: str) -> int:
        return self.many((text,))[0]

    def many(self, texts: Sequence[str]) -> list[int]:
        """One count a text, in their order; for the quick vocabulary one call with as many threads as processors."""
        return [math.ceil(number * self.safety - _EXACTLY) for number in self._exact_or_estimate(texts)]

    def _exact_or_estimate(self, texts: Sequence[str]) -> list[int]:
        try:
            return self._count(texts)
        except UnicodeEncodeError:  # half a surrogate pair, as from broken JSON: no vocabulary has it
            return self._exact_or_estimate([_well_formed(text) for text in texts])
        except BaseException as problem:
            # A panic in compiled code is no Exception, and must not end a run of an hour over one count.
            if type(problem).__name__ != "PanicException":
                raise
            return _estimates(texts)


ESTIMATE = Counter(ESTIMATE_ENCODING, exact=False)


def counter_for(encoding: str, safety: float, cache: Path) -> Counter:
    """The counter for an agent's `encoding` and `safety` (1.0 to 3.0).

    The estimate where `encoding` says so or no vocabulary can be had: it is above both encodings, so the factor, which
    is about models that count more than cl100k_base, is needed for it too. Raises KeyError for an unknown encoding.
    """
    found = vocabulary(encoding, cache) if encoding != ESTIMATE_ENCODING else None
    name = ESTIMATE_ENCODING if found is None else encoding
    if safety != 1.0:
        name = f"{name} × {safety:g}"
    if found is None:
        return Counter(name, exact=False, safety=safety)
    return Counter(name, exact=True, source=found.source, safety=safety, _count=found.count_many)


def _well_formed(text: str) -> str:
    """As tiktoken reads it: halves of one pair that stand together are one character, others are U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
