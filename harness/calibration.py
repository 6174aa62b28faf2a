"""What replies report as their input, held against our counts: an agent that counts more is counted so from then on.

One small file in our cache. It can be lost at any time, and whatever stands in it only ever makes prompts smaller.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from harness.caching import read_cached, write_cached

FILE = "counted.json"
LIMIT = 500_000  # bytes
AGENTS = 200  # the ones not learned from for the longest go first
LONGEST_KEY = 200  # characters
LEAST_COUNTED = 2_000  # tokens: below it, a program's own prompt is most of what it reports
# What a program adds of its own (system prompt, tools, framing) comes on top of every prompt and is no factor. Chat
# APIs add about ten tokens; coding agents with their tools turned off some thousands, which nobody tells us.
OWN_PROMPT = 6_000
# More than this is several requests in one report: the largest difference measured between two vocabularies is 1.76
# (Claude's in Russian, by o200k_base), and an agent that had to ask its model twice reports twice the prompt.
MOST = 2.0
SEEN = 2  # times: until then a large report may have been such a second request


def learned(cache: Path, agent_key: str, spec_safety: float) -> float:
    """The factor to count this agent's prompts with, never below `spec_safety`: what two replies have shown.

    `cache`: our cache folder; `agent_key`: name and model, as in `claude` or `mine openai gpt-5`.
    """
    shown = _read(cache).get(agent_key[:LONGEST_KEY], ())
    return max(spec_safety, shown[SEEN - 1]) if len(shown) >= SEEN else spec_safety


def learn(cache: Path, agent_key: str, counted: int, reported: int) -> None:
    """Keep this reply's factor if it is larger than those known. Never raises: a cache that takes no file forgets.

    `counted`: tokens of the prompt by its encoding, times 1.0; `reported`: the input that the reply tells, its cached
    part included. Learned from is only what cannot be the program's own prompt, (reported − OWN_PROMPT) / counted: a
    program that adds 6,000 tokens teaches nothing, and one that counts 1.5 times ours teaches 1.38 at 50,000 tokens
    and 1.47 at 200,000: nearly all of it where a window gets full, which is where it matters.
    """
    factor = round((reported - OWN_PROMPT) / counted, 3) if counted >= LEAST_COUNTED else 0.0
    if not 1.0 < factor <= MOST:
        return
    known = dict(_read(cache))
    key = agent_key[:LONGEST_KEY]
    before = known.pop(key, ())  # the last learned stands last
    known[key] = tuple(sorted((*before, factor), reverse=True)[:SEEN])
    if known[key] != before:
        kept = dict(list(known.items())[-AGENTS:])
        write_cached(cache / FILE, json.dumps(kept, ensure_ascii=False, indent=1).encode("utf-8", "replace"))


def _read(cache: Path) -> Mapping[str, tuple[float, ...]]:
    """The largest factors of each agent, the largest first; nothing of what is broken, too large or somebody else's."""
    data = read_cached(cache / FILE, LIMIT)
    try:
        found = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {key: _factors(value) for key, value in found.items() if isinstance(value, list)}


def _factors(value: list[object]) -> tuple[float, ...]:
    numbers = [float(one) for one in value if isinstance(one, int | float) and 1.0 < one <= MOST]
    return tuple(sorted(numbers, reverse=True)[:SEEN])
