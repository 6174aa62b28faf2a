"""The folds themselves, without any model: generators that yield calls and are sent the replies."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, Literal, NamedTuple

from harness.errors import SnowBallError
from harness.snowball.memory import trail
from harness.snowball.messages import see
from harness.snowball.parts import Part
from harness.snowball.planning import Job, room_for_notes
from harness.snowball.prompts import no_notes, prompt, says_nothing
from harness.snowball.sizes import PER_MESSAGE, fit

WORDS_A_TOKEN = 0.5  # a Russian word takes two tokens and more, an English one 1.3: the lower of both
Stage = Literal["part", "merge", "shorten"]


class Ask(NamedTuple):
    """One call. `number` of `total` counts within its stage; `again`: it was made before and brought nothing."""

    messages: list[Any]
    stage: Stage
    number: int
    total: int
    again: bool = False


class Notes(NamedTuple):
    """What was taken from the parts, and the numbers of those that gave no reply."""

    text: str
    unread: tuple[int, ...] = ()
    trimmed: int = 0  # times that notes were too long even after they were asked to be shorter, and were cut


# Calls that may run side by side; sent back: one reply each, "" where none came.
Fold = Generator[list[Ask], list[str], Notes]


def refine(job: Job) -> Fold:
    """Part after part: the notes so far and the next part give the new notes. What is remembered is not read again."""
    notes, trimmed = "", 0
    unread: list[int] = []
    key = trail(b"", [job.question, *(see(message).text for message in job.system)])
    for number, part in enumerate(job.parts, 1):
        key = trail(key, [part.text])
        remembered = job.memory.get(key)
        if remembered is not None and not unread:
            notes = remembered
            continue
        before = notes or no_notes(job.language)
        (reply,) = yield from _twice([_reading(job, "refine", number, part, notes=before)])
        if not reply:
            unread.append(number)
        elif not says_nothing(reply):
            notes, cut = yield from _short(job, reply, job.room.notes)
            trimmed += cut
        if not unread:  # notes that lack a part are no beginning for the next time
            job.memory.put(key, notes)
    return _read(job, notes, unread, trimmed)


def map_reduce(job: Job) -> Fold:
    """All parts side by side; their notes are merged in levels only where together they do not fit the last call."""
    return (yield from _apart(job, single=False))


def tree(job: Job) -> Fold:
    """All parts side by side, then their notes merged level by level into one set: for counts and sums."""
    return (yield from _apart(job, single=True))


STRATEGIES: dict[str, Callable[[Job], Fold]] = {"refine": refine, "map_reduce": map_reduce, "tree": tree}


def _apart(job: Job, *, single: bool) -> Fold:
    total = len(job.parts)
    replies = yield from _twice([_reading(job, "part", number, part) for number, part in enumerate(job.parts, 1)])
    unread = [number for number, reply in enumerate(replies, 1) if not reply]
    taken = [
        f"[{number}/{total}]\n{reply}" for number, reply in enumerate(replies, 1) if reply and not says_nothing(reply)
    ]
    notes, trimmed = yield from _merged(job, taken, single=single)
    return _read(job, notes, unread, trimmed)


def _reading(job: Job, name: str, number: int, part: Part, **notes: str) -> Ask:
    """The call that reads one part."""
    about = notes | {"question": job.question, "text": part.text}
    text = prompt(job.language, name, part=number, parts=len(job.parts), words=_words(job), **about)
    return Ask(job.call(text), "part", number, len(job.parts))


def _merged(job: Job, notes: list[str], *, single: bool) -> Generator[list[Ask], list[str], tuple[str, int]]:
    """One text of notes that fits the last call, and how often something was cut to get there."""
    target, trimmed = room_for_notes(job), 0
    empty = job.count(prompt(job.language, "merge", question=job.question, notes="", words=99999)) + PER_MESSAGE
    each = max(1, job.left(empty) // 2 - PER_MESSAGE)
    while len(notes) > 1 and (single or job.count("\n\n".join(notes)) > target):
        short = [fit(text, each, job.count) for text in notes]
        trimmed += sum(a != b for a, b in zip(short, notes, strict=True))
        bundles = _bundles(short, job.left(empty), job)
        asks: list[Ask] = []
        for bundle in bundles:
            if len(bundle) > 1:
                shown = "\n\n".join(bundle)
                text = prompt(job.language, "merge", question=job.question, notes=shown, words=_words(job))
                asks.append(Ask(job.call(text), "merge", len(asks) + 1, len(bundles)))
        replies = iter((yield from _twice(asks)))
        notes = [_one_of(bundle, next(replies)) if len(bundle) > 1 else bundle[0] for bundle in bundles]
    joined = "\n\n".join(notes)
    text = fit(joined, target, job.count)
    return text, trimmed + (text != joined)


def _one_of(bundle: Sequence[str], reply: str) -> str:
    """A merge that says nothing must not lose what it was to merge."""
    return "\n\n".join(bundle) if not reply or says_nothing(reply) else reply


def _bundles(notes: Sequence[str], budget: int, job: Job) -> list[list[str]]:
    """Neighbours put together as far as they fit; each note has at most half the budget, so two always do."""
    bundles: list[list[str]] = []
    used = 0
    for text in notes:
        tokens = job.count(text + "\n\n")
        if not bundles or (used + tokens > budget and len(bundles[-1]) > 1):
            bundles.append([])
            used = 0
        bundles[-1].append(text)
        used += tokens
    return bundles


def _short(job: Job, notes: str, budget: int) -> Generator[list[Ask], list[str], tuple[str, int]]:
    """Notes within the budget: asked once to be shorter, then cut at a line's end."""
    if job.count(notes) <= budget:
        return notes, 0
    empty = job.count(prompt(job.language, "shorten", question=job.question, notes="", words=99999)) + PER_MESSAGE
    shown = fit(notes, job.left(empty), job.count)
    text = prompt(job.language, "shorten", question=job.question, notes=shown, words=_words(job))
    (reply,) = yield [Ask(job.call(text), "shorten", 1, 1)]
    shorter = notes if not reply or says_nothing(reply) else reply
    kept = fit(shorter, budget, job.count)
    return kept, int(kept != shorter)


def _twice(asks: list[Ask]) -> Generator[list[Ask], list[str], list[str]]:
    """The replies; a call that brought none is made once more."""
    replies = yield asks
    missing = [at for at, reply in enumerate(replies) if not reply]
    if missing:
        for at, reply in zip(missing, (yield [asks[at]._replace(again=True) for at in missing]), strict=True):
            replies[at] = reply
    return replies


def _read(job: Job, notes: str, unread: Sequence[int], trimmed: int) -> Notes:
    if job.parts and len(unread) == len(job.parts):
        told = f"{len(job.parts)} parts, each asked twice"
        raise SnowBallError("no part gave a reply", told, "look at what the model returns for a short request")
    return Notes(notes, tuple(unread), trimmed)


def _words(job: Job) -> int:
    return max(1, int(job.room.notes * WORDS_A_TOKEN))
