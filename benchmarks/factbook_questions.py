"""Draws questions with a known truth: four countries by three fields, the same ones for the same seed."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.factbook_fields import Field
from benchmarks.factbook_score import Truth

Form = Literal["grid", "plain"]

ENTITIES = 4
FIELDS_ASKED = 3
# Every second question asks for something lasting (an area, a highest point), rather where the editions differ than
# where they agree: few other cells hold a true contradiction.
LASTING_EVERY = 2
# Four countries drawn at random often lack a common third field; far fewer draws than this were ever needed.
DRAWS = 1000
WORDINGS = (
    "For each of these countries: {entities}. What is the {fields}?\n"
    "Give the newest figure with its period and its source, and say where the sources disagree.",
    "Compare {entities} by {fields}.\nUse the newest data and name every contradiction between the sources.",
    "What are the {fields} of {entities}?\n"
    "The newest value counts; where two sources contradict each other, name both.",
)


@dataclass(frozen=True)
class Asked:
    """One question: its cells in row order, and its wording."""

    number: int
    entities: tuple[str, ...]
    fields: tuple[str, ...]
    text: str
    truths: tuple[Truth, ...]


def draw(known: Mapping[tuple[str, str], Truth], fields: Sequence[Field], *, count: int, seed: int) -> list[Asked]:
    """`count` questions whose every cell has a known truth. Raises ValueError where the data cannot give them."""
    chance = random.Random(seed)
    names = sorted({entity for entity, _ in known})
    return [_draw_one(known, fields, names, number, chance) for number in range(1, count + 1)]


def render_question(asked: Asked, form: Form) -> str:
    """question.md: with entities and fields in its front matter (`grid`), or as the bare text (`plain`)."""
    if form == "plain":
        return asked.text + "\n"
    front = ["---", f"entities: {_flow(asked.entities)}", f"fields: {_flow(asked.fields)}", "---"]
    return "\n".join([*front, asked.text]) + "\n"


def _draw_one(
    known: Mapping[tuple[str, str], Truth],
    fields: Sequence[Field],
    names: list[str],
    number: int,
    chance: random.Random,
) -> Asked:
    for _ in range(DRAWS if len(names) >= ENTITIES else 0):
        entities = tuple(chance.sample(names, ENTITIES))
        common = [field for field in fields if all((entity, field.name) in known for entity in entities)]
        lasting = [field.name for field in common if field.lasting] if number % LASTING_EVERY == 0 else []
        others = [field.name for field in common if not field.lasting]
        if len(others) < FIELDS_ASKED or (number % LASTING_EVERY == 0 and not lasting):
            continue
        asked = tuple(chance.sample(others, FIELDS_ASKED))
        if lasting:
            weights = [1 + sum(known[entity, field].differs for entity in entities) for field in lasting]
            asked = (chance.choices(lasting, weights)[0], *asked[1:])
        text = chance.choice(WORDINGS).format(entities=_listed(entities), fields=_listed(asked))
        truths = tuple(known[entity, field] for entity in entities for field in asked)
        return Asked(number, entities, asked, text, truths)
    raise ValueError(f"{len(names)} countries do not give {ENTITIES} with {FIELDS_ASKED} fields in common")


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _flow(names: Sequence[str]) -> str:
    return f"[{', '.join(_scalars(names))}]"


def _scalars(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        yield name if re.fullmatch(r"\w[\w ()'.-]*", name) else json.dumps(name, ensure_ascii=False)
