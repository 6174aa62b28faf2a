"""Two corpora with a known truth for folds of what does not fit: 200 dated facts in prose, and a table of worklogs.

python -m benchmarks.needles facts OUT --tokens 2000000
python -m benchmarks.needles worklog OUT --tokens 1500000
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

FACTS = 200
FIELD = {"en": "revenue", "ru": "выручка"}
# Characters that a token of o200k has in 3,000 paragraphs of this filler, and in rows of this table: measured, exactly
# counted. (cl100k has more tokens: 3.7 million where these are 2.6.)
LETTERS_A_TOKEN = {"en": 4.95, "ru": 3.49, "zh": 1.07}
LETTERS_A_TOKEN_OF_A_TABLE = 1.875
SOURCES = 40
PEOPLE = tuple(
    f"{first} {last}"
    for first in ("Anna", "Boris", "Clara", "Dmitri", "Elena")
    for last in ("Novak", "Lee", "Kim", "Weiss")
)
PROJECTS = ("Atlas", "Boreas", "Cygnus", "Draco", "Eridanus")
HEADERS = {"en": ("Person", "Date", "Project", "Hours"), "ru": ("Сотрудник", "Дата", "Проект", "Часы")}
WORDS: Mapping[str, tuple[Sequence[str], Sequence[str], Sequence[str]]] = {
    "en": (
        ("the harbour", "an old mill", "the library", "a quiet street", "the eastern bridge", "our neighbour", "a fox"),
        ("waits for", "stands beside", "remembers", "follows", "is older than", "looks over", "keeps away from"),
        (
            "in the morning",
            "after the rain",
            "without a word",
            "since the flood",
            "at the end of summer",
            "every Sunday",
        ),
    ),
    "ru": (
        ("старая мельница", "тихая улица", "соседка", "восточный мост", "городской сад", "лиса", "пристань"),
        ("стоит у реки", "помнит лето", "ждёт парома", "смотрит на холмы", "спит до полудня", "молчит о прошлом"),
        ("после дождя", "ранним утром", "без лишних слов", "с самой весны", "в конце августа", "по воскресеньям"),
    ),
    "zh": (
        ("老磨坊", "小街", "东桥", "邻居", "图书馆", "港口", "狐狸"),
        ("靠着河边", "记得夏天", "等着渡船", "望着山坡", "睡到中午", "不谈往事"),
        ("雨后", "清晨", "一言不发", "自从春天", "八月末", "每个星期天"),
    ),
}


class Needle(NamedTuple):
    """One fact of the corpus: millions as they are written, "12.5" or "12,5"."""

    company: str
    year: int
    millions: str
    language: str

    def sentence(self) -> str:
        if self.language == "ru":
            return f"Выручка компании «{self.company}» в {self.year} году составила {self.millions} млн рублей."
        return f"{self.company}'s revenue in {self.year} was {self.millions} million dollars."


class Score(NamedTuple):
    """How many of the facts a summary has, and the companies of those that it lacks."""

    found: int
    missing: tuple[str, ...]


# Facts in prose ----------------------------------------------------------------------------------


def needles(seed: int, count: int = FACTS) -> tuple[Needle, ...]:
    """Facts about companies that do not exist, half of them in Russian; no two have one value."""
    drawn = random.Random(f"needles {seed}")
    values = drawn.sample(range(1_001, 99_999), count)
    found = []
    for number, tenths in enumerate(values, 1):
        language = "ru" if number % 2 == 0 else "en"
        company = f"Заря-{number}" if language == "ru" else f"Norvik {number}"
        mark = "," if language == "ru" else "."
        year = drawn.randint(2015, 2024)
        found.append(Needle(company, year, f"{tenths // 10}{mark}{tenths % 10 or 1}", language))
    return tuple(found)


def question(facts: Sequence[Needle]) -> str:
    """question.md that asks for every company's revenue."""
    names = ", ".join(f'"{fact.company}"' for fact in facts)
    return (
        f"---\nentities: [{names}]\nfields: [revenue]\n---\n"
        "What was the revenue of each company? Give the figure with its year.\n"
    )


def write_facts(folder: Path, facts: Sequence[Needle], *, seed: int, tokens: int, sources: int = SOURCES) -> int:
    """Writes one text a source, about `tokens` in all, and question.md beside the folder's `documents`. Returns bytes.

    The facts stand in an order of their own, evenly far from each other, each in a paragraph of prose of its language.
    """
    documents = folder / "documents"
    documents.mkdir(parents=True, exist_ok=True)
    (folder / "question.md").write_text(question(facts), encoding="utf-8", newline="\n")
    order = list(facts)
    random.Random(f"order {seed}").shuffle(order)
    written = 0
    for number in range(sources):
        mine = order[number * len(order) // sources : (number + 1) * len(order) // sources]
        path = documents / f"source-{number + 1:03}.md"
        with path.open("w", encoding="utf-8", newline="\n") as file:
            for piece in _source(number + 1, mine, tokens / sources, random.Random(f"filler {seed} {number}")):
                file.write(piece)
        written += path.stat().st_size
    return written


def _source(number: int, facts: Sequence[Needle], tokens: float, drawn: random.Random) -> Iterator[str]:
    """The pieces of one source's text: nothing longer than a paragraph is held."""
    yield f"# Notes, volume {number}\n\n"
    gap = tokens / (len(facts) + 1)
    for at in range(len(facts) + 1):
        left = gap
        while left > 0:
            language = drawn.choice(("en", "ru", "zh"))
            told = paragraph(drawn, language)
            left -= len(told) / LETTERS_A_TOKEN[language]
            yield told + "\n\n"
        if at < len(facts):
            fact = facts[at]
            yield f"{paragraph(drawn, fact.language)} {fact.sentence()}\n\n"


def paragraph(drawn: random.Random, language: str) -> str:
    """A few sentences without a figure or a company."""
    who, does, when = WORDS[language]
    told = []
    for _ in range(drawn.randint(4, 9)):
        if language == "en":
            words = (drawn.choice(who), drawn.choice(does), drawn.choice(who), drawn.choice(when))
        else:
            words = (drawn.choice(when), drawn.choice(who), drawn.choice(does), "")
        text = ("" if language == "zh" else " ").join(word for word in words if word)
        told.append(text[0].upper() + text[1:] + ("。" if language == "zh" else "."))
    return ("" if language == "zh" else " ").join(told)


def score_facts(summary: str, facts: Sequence[Needle]) -> Score:
    """A fact is found where one line of the summary, outside Not found, has its company, its year and its figure."""
    lines = [line for line in _stated(summary) if re.search(r"\[\d+\.\d+\]", line)]
    missing = tuple(fact.company for fact in facts if not any(_has(line, fact) for line in lines))
    return Score(len(facts) - len(missing), missing)


def _stated(summary: str) -> Iterator[str]:
    stated = True
    for line in summary.splitlines():
        if line.startswith("## "):
            stated = not re.search(r"Not found|Не найдено|未找到|Searches|Поиски|搜索|Sources|Источники|来源", line)
        elif stated:
            yield line


def _has(line: str, fact: Needle) -> bool:
    figure = fact.millions.replace(",", ".")
    said = re.sub(r"(?<=\d),(?=\d)", ".", line)
    return (
        bool(re.search(rf"{re.escape(fact.company)}(?!\d)", line))
        and bool(re.search(rf"(?<!\d){fact.year}(?!\d)", line))
        and bool(re.search(rf"(?<![\d.]){re.escape(figure)}(?!\d)", said))
    )


# Worklog -----------------------------------------------------------------------------------------


def write_worklog(path: Path, *, seed: int, tokens: int, language: str = "en") -> dict[str, Decimal]:
    """Writes a CSV table of about `tokens` row by row, and returns the true hours of each person."""
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn = random.Random(f"worklog {seed}")
    sums = dict.fromkeys(PEOPLE, Decimal(0))
    left = tokens * LETTERS_A_TOKEN_OF_A_TABLE
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(",".join(HEADERS[language]) + "\n")
        while left > 0:
            quarters = drawn.randint(1, 48)
            who, hours = drawn.choice(PEOPLE), Decimal(quarters) / 4
            sums[who] += hours
            told = f'"{str(hours).replace(".", ",")}"' if language == "ru" and "." in str(hours) else str(hours)
            day = f"{drawn.randint(2020, 2025)}-{drawn.randint(1, 12):02}-{drawn.randint(1, 28):02}"
            row = f"{who},{day},{drawn.choice(PROJECTS)},{told}\n"
            left -= len(row)
            file.write(row)
    return sums


def worklog_question(language: str = "en") -> str:
    """question.md that asks for the hours of each person."""
    field, text = {
        "en": ("hours", "How many hours did each person work in total?"),
        "ru": ("часы", "Сколько всего часов отработал каждый сотрудник?"),
    }[language]
    return f"---\nentities: [{', '.join(PEOPLE)}]\nfields: [{field}]\n---\n{text}\n"


def score_sums(summary: str, sums: Mapping[str, Decimal]) -> Score:
    """A sum is found where a cited line of the summary has the person and exactly this number, and no line another."""
    said: dict[str, set[Decimal]] = {}
    for line in _stated(summary):
        found = re.match(r"\s*[-*+] ([^:]+):.*?[—–-] (.*?)\s*\[\d", line)
        if found:
            said.setdefault(found[1].strip(), set()).update(_numbers(found[2]))
    missing = tuple(who for who, value in sums.items() if said.get(who) != {value})
    return Score(len(sums) - len(missing), missing)


def _numbers(text: str) -> Iterator[Decimal]:
    for match in re.finditer(r"\d+(?:[ \u00a0,]\d{3})*(?:[.,]\d+)?", text):
        plain = re.sub(r"[ \u00a0]|,(?=\d{3}(?!\d))", "", match.group())
        yield Decimal(plain.replace(",", "."))


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes a corpus with its question and its truth (truth.json) into a folder."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.needles", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", choices=("facts", "worklog"))
    parser.add_argument("out", type=Path)
    parser.add_argument("--tokens", type=int, default=2_000_000, help="about how many (2,000,000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--language", choices=sorted(HEADERS), default="en", help="of the worklog (en)")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    truth: object
    if options.corpus == "facts":
        facts = needles(options.seed)
        write_facts(options.out, facts, seed=options.seed, tokens=options.tokens)
        truth = [fact._asdict() for fact in facts]
    else:
        table = options.out / "documents" / "worklog.csv"
        sums = write_worklog(table, seed=options.seed, tokens=options.tokens, language=options.language)
        asked = worklog_question(options.language)
        (options.out / "question.md").write_text(asked, encoding="utf-8", newline="\n")
        truth = {who: str(value) for who, value in sums.items()}
    text = json.dumps(truth, ensure_ascii=False, indent=1)
    (options.out / "truth.json").write_text(text + "\n", encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
