"""Every word that the harness itself writes into a case file, in each language it knows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from harness.model import SectionKind, Unread
from harness.patterns import lazy

LANGUAGES = ("en", "ru", "zh")

# Titles of the sections of summary.md (design.md, section 1). `OTHER` has none: its title is the person's.
LABELS: Mapping[str, Mapping[SectionKind, str]] = {
    "en": {
        SectionKind.CONFIRMED: "Confirmed",
        SectionKind.CONTRADICTIONS: "Contradictions",
        SectionKind.NOT_FOUND: "Not found",
        SectionKind.STRUCK: "Struck out",
        SectionKind.SEARCHES: "Searches",
        SectionKind.SOURCES: "Sources",
    },
    "ru": {
        SectionKind.CONFIRMED: "Подтверждено",
        SectionKind.CONTRADICTIONS: "Противоречия",
        SectionKind.NOT_FOUND: "Не найдено",
        SectionKind.STRUCK: "Вычеркнуто",
        SectionKind.SEARCHES: "Поиски",
        SectionKind.SOURCES: "Источники",
    },
    "zh": {
        SectionKind.CONFIRMED: "已确认",
        SectionKind.CONTRADICTIONS: "矛盾",
        SectionKind.NOT_FOUND: "未找到",
        SectionKind.STRUCK: "已删除",
        SectionKind.SEARCHES: "搜索",
        SectionKind.SOURCES: "来源",
    },
}

# What people and models write instead; read, never written.
_ALSO: Mapping[SectionKind, tuple[str, ...]] = {
    SectionKind.CONFIRMED: ("confirmed facts", "подтверждённые факты", "подтвержденные факты", "已確認"),
    SectionKind.CONTRADICTIONS: ("contradiction", "conflicts", "противоречие", "расхождения"),
    SectionKind.NOT_FOUND: ("not found yet", "gaps", "пробелы", "缺口"),
    SectionKind.STRUCK: ("struck", "вычеркнутое", "已刪除"),
    SectionKind.SEARCHES: ("search", "поиск", "搜尋"),
    SectionKind.SOURCES: ("source", "источник", "來源"),
}
_KINDS = {
    title.lower(): kind
    for table in (*LABELS.values(), _ALSO)
    for kind, titles in table.items()
    for title in ((titles,) if isinstance(titles, str) else titles)
}

DIRECTIONS: Mapping[str, str] = {"en": "Directions", "ru": "Указания", "zh": "指示"}

# Over the sums and counts of one part of a raw, below `Removed:` in a Synthesizer's reply.
TOTALS: Mapping[str, str] = {"en": "Totals", "ru": "Итого по части", "zh": "本部分合计"}
# Behind a sum that lacks parts which nobody could read.
INCOMPLETE: Mapping[str, str] = {"en": "(without what is unread)", "ru": "(без непрочитанного)", "zh": "(不含未读部分)"}

Counted = Literal["sources", "facts", "gaps"]


class Words(NamedTuple):
    """One language's words for Searches and Not found.

    Counted nouns are (one, many), in Russian the forms for 1, for 2 to 4, and for 5 and more.
    """

    outcomes: Mapping[str, str]  # outcome of a search -> as written
    blocked: str  # `NAME blocked: ERROR`
    counted: Mapping[Counted, tuple[str, ...]]
    searched: str  # `$n` is the number
    told_by: Mapping[str, str]  # origin of a source that nobody fetched -> as written behind its title
    unread: str  # `$n` is the raw's number, `$from` and `$to` are characters


WORDS: Mapping[str, Words] = {
    "en": Words(
        {"found": "found", "empty": "nothing found", "blocked": "blocked", "pasted": "pasted", "skipped": "skipped"},
        "blocked",
        {"sources": ("source", "sources"), "facts": ("fact", "facts"), "gaps": ("gap", "gaps")},
        "(searched $n×)",
        {"pasted": "(pasted)", "digest": "(told by a model)"},
        "Not read: characters $from to $to of raw_$n.md",
    ),
    "ru": Words(
        {
            "found": "найдено",
            "empty": "ничего не найдено",
            "blocked": "недоступно",
            "pasted": "вставлено",
            "skipped": "пропущено",
        },
        "недоступен",
        {
            "sources": ("источник", "источника", "источников"),
            "facts": ("факт", "факта", "фактов"),
            "gaps": ("пробел", "пробела", "пробелов"),
        },
        "(искали $n×)",
        {"pasted": "(вставлено)", "digest": "(со слов модели)"},
        "Не прочитано: знаки с $from по $to в raw_$n.md",
    ),
    "zh": Words(
        {"found": "已找到", "empty": "未找到", "blocked": "被拒绝", "pasted": "已粘贴", "skipped": "已跳过"},
        "被拒绝",
        {"sources": ("个来源",), "facts": ("条事实",), "gaps": ("个缺口",)},
        "(已搜索 $n×)",
        {"pasted": "(已粘贴)", "digest": "(模型转述)"},
        "未读：raw_$n.md 第 $from 至 $to 个字符",
    ),
}

_SEARCHED = lazy(
    r" ?[(（](?:"
    + "|".join(table.searched[1:].partition(" ")[0] for table in WORDS.values())
    + r") ?[0-9]{1,6} ?[×x] ?[)）]"
)
_MARKS = " \t\u3000#*_"


def section_kind(title: str) -> SectionKind:
    """The kind that a heading's title means in any language; marks, numbering and a colon do not count."""
    return _KINDS.get(bare_title(title).lower(), SectionKind.OTHER)


def bare_title(title: str) -> str:
    """A heading's words: `### 2. **Not found:**` is `Not found`."""
    return re.sub(r"^\d{1,2}[.)]\s", "", title.strip(_MARKS)).strip(_MARKS + ":：")


def label(kind: SectionKind, language: str) -> str:
    """The title of a section in a language (English for one without labels). `OTHER` has none: KeyError."""
    return LABELS.get(language, LABELS["en"])[kind]


def words(language: str) -> Words:
    """The words of a language, English for one without labels."""
    return WORDS.get(language, WORDS["en"])


def counted(count: int, noun: Counted, language: str) -> str:
    """`1 source`, `5 источников`, `3 条事实`."""
    forms = words(language).counted[noun]
    return f"{count} {forms[_form(count, len(forms))]}"


def searched_mark(count: int, language: str) -> str:
    """`(searched 2×)`, which the harness adds to a line of Not found."""
    return words(language).searched.replace("$n", str(count))


def unread_note(part: Unread, language: str) -> str:
    """`Not read: characters 48213 to 96120 of raw_3.md`, for an answer that had to do without them."""
    told = words(language).unread.replace("$n", str(part.number))
    return told.replace("$from", str(part.start)).replace("$to", str(part.end))


def without_searched_mark(line: str) -> str:
    """The line as it was before `searched_mark`, in whichever language that was."""
    return _SEARCHED.sub("", line)


def _form(count: int, forms: int) -> int:
    if forms == 3:  # Russian: 1, 21 источник; 2, 24 источника; 0, 5, 11 to 14 источников
        teens = 11 <= count % 100 <= 14
        return 0 if count % 10 == 1 and not teens else 1 if 2 <= count % 10 <= 4 and not teens else 2
    return 0 if forms == 1 or count == 1 else 1


def script_language(text: str) -> str:
    """The label language by script alone: `ru` if Cyrillic letters outnumber Latin ones, `zh` by Han characters."""
    scripts = {
        "en": len(re.findall("[A-Za-z]", text)),
        "ru": len(re.findall("[А-яЁё]", text)),
        "zh": len(re.findall("[\u4e00-\u9fff]", text)) * 3,  # one character is about a word
    }
    return max(scripts, key=lambda name: scripts[name])
