"""Questions without cells: the sentences of the sources that say most of what the question asks."""

from __future__ import annotations

from collections.abc import Sequence

from harness.agents.extractive import passages
from harness.agents.extractive.lexicon import meanings
from harness.facts import without_marks
from harness.model import Source
from harness.words import content_stems

MOST_A_ROUND = 5  # sentences one raw may add
MOST_AT_ALL = 25  # sentences a summary keeps: it must not grow with the rounds
LEAST_SHARE = 0.5  # of the question's words that a sentence must hold
LEAST_WORDS = 2
LONGEST = 400  # characters; a longer one is no sentence


def best_sentences(
    question: str, sources: Sequence[tuple[str, Source]], known: Sequence[str], struck: Sequence[str]
) -> list[str]:
    """New lines for Confirmed: the best sentences with their citation, in the order of the sources."""
    wanted = frozenset(meanings(content_stems(question)))
    least = min(len(wanted), max(LEAST_WORDS, round(len(wanted) * LEAST_SHARE)))
    if not wanted:
        return []
    there = {frozenset(content_stems(without_marks(line))) for line in (*known, *struck)}
    scored: list[tuple[int, int, str]] = []
    for id, source in sources:
        title = frozenset(meanings(content_stems(source.title)))
        for sentence in _sentences(source):
            said = content_stems(sentence)
            own = wanted & frozenset(meanings(said))
            covered = own | (wanted & title)
            if not own or len(covered) < least or frozenset(said) in there:
                continue
            there.add(frozenset(said))
            scored.append((2 * len(own) + len(covered), len(scored), f"{sentence} [{id}]"))
    room = max(0, min(MOST_A_ROUND, MOST_AT_ALL - len(known)))
    best = sorted(scored, key=lambda item: (-item[0], item[1]))[:room]
    return [line for _, _, line in sorted(best, key=lambda item: item[1])]


def _sentences(source: Source) -> list[str]:
    reading = passages.read(source.text)
    listed = [f"{' — '.join(entry.labels[-2:])}: {entry.value}" for entry in reading.entries if entry.labels]
    return [text for text in (*reading.sentences, *listed) if len(text) <= LONGEST and len(content_stems(text)) >= 3]
