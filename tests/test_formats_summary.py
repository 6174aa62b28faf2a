"""summary.md in every shape it is found in: nothing of it is lost, and what the harness writes it reads back."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.formats.labels import LABELS, section_kind
from harness.formats.summary import lines_of, parse_summary, render_summary, replace_section, search_lines, source_lines
from harness.model import FrontMatter, Reading, Section, SectionKind, Summary, Unread

FULL = """\
---
round: 3
spent: 3
question: 5f2a9c1e
reading: raw_4 48213/190000
unread: [2 1-90]
---
## Confirmed
- Samokat: revenue 2024 — 154.0 bn ₽ [1.2]
- Yandex Lavka: revenue 2023 — 52.1 bn ₽ [1.4]

## Contradictions
- Yandex Lavka: revenue 2024 — 67 bn ₽ [1.3] ↔ 71.4 bn ₽ [3.1]
## Not found
- VkusVill: market share 2024 (searched 1×)
## My notes
Ask Anna about dark stores.
## Searches
- 1 · Samokat revenue 2024 annual report — found, 5 sources, +3 facts, 6 gaps
- 3 · Yandex Lavka revenue 2024 — found, 2 sources (brave blocked: HTTP 429), +1 fact, 6 gaps
## Sources
- [1.2] 2025-02-11 · Infoline ranking of quick commerce — https://example.org/1
"""
CONFIRMED, NOT_FOUND, SOURCES, OTHER = (
    SectionKind.CONFIRMED,
    SectionKind.NOT_FOUND,
    SectionKind.SOURCES,
    SectionKind.OTHER,
)


def test_every_part_is_found_and_written_back() -> None:
    summary = parse_summary(FULL)
    assert (summary.round, summary.spent, summary.fingerprint) == (3, 3, "5f2a9c1e")
    assert (summary.checked, summary.reopened, summary.intro) == (None, 0, ())
    assert [section.title for section in summary.sections][3] == "My notes"
    assert summary.reading == Reading(4, 48213, 190000) and summary.unread == (Unread(2, 1, 90),)
    assert lines_of(summary, NOT_FOUND) == ("VkusVill: market share 2024 (searched 1×)",)
    assert [line.round for line in search_lines(summary)] == [1, 3]
    assert [line.id for line in source_lines(summary)] == ["1.2"]
    assert render_summary(summary) == FULL
    later = render_summary(replace(summary, round=4, spent=4, checked=4, reopened=2))
    assert later == FULL.replace("round: 3\nspent: 3\n", "round: 4\nspent: 4\nchecked: 4\nreopened: 2\n")


@pytest.mark.parametrize(
    ("text", "round_", "spent"),
    [
        ("", 0, 0),
        ("- Chad: population 2025 — 19,674,004 [2.1]\n", 2, 0),
        ("A page with [1] and [2] and [x.y].\n", 0, 0),
        ("- Chad [1.1, 4.2]; [3.1][2.2]\n", 4, 0),
        ("## Поиски\n- 1 · a — найдено\n- 2 · b — ничего не найдено\n- 2 · c — пропущено\n", 2, 2),
        ("---\nspent: 7\n---\n## Searches\n- 2 · a — found\n", 2, 7),
        ("---\nround: 0\n---\n- Chad [2.1]\n", 0, 0),
    ],
)
def test_a_missing_round_is_read_from_the_content(text: str, round_: int, spent: int) -> None:
    summary = parse_summary(text)
    assert (summary.round, summary.spent) == (round_, spent)
    assert summary.problems == ()


def test_bad_values_are_named_and_fall_back() -> None:
    summary = parse_summary(
        "---\nround: soon\nspent: -1\nchecked: yes\nreopened: 1.5\n---\n- Chad [2.1]\n", "c/summary.md"
    )
    assert (summary.round, summary.spent, summary.checked, summary.reopened) == (2, 0, None, 0)
    assert [(problem.file, problem.line) for problem in summary.problems] == [("c/summary.md", n) for n in (2, 3, 4, 5)]
    assert "soon" in summary.problems[0].what


@pytest.mark.parametrize(
    "heading", ["## {}", "# {}", "#### {}", "## {}:", "## **{}**", "**{}**", "**{}:**", "{}:", "##{}", "## 1. {}"]
)
@pytest.mark.parametrize("language", LABELS)
def test_known_sections_in_every_language_and_style(heading: str, language: str) -> None:
    titles = LABELS[language]
    text = "".join(f"{heading.format(title)}\n\n- {kind} [1.1]\n" for kind, title in titles.items())
    for variant in (text, text.upper(), text.lower()):
        summary = parse_summary(variant)
        assert [section.kind for section in summary.sections] == list(titles)
        assert [lines_of(summary, kind)[0].lower() for kind in titles] == [f"{kind} [1.1]" for kind in titles]
        assert render_summary(summary).endswith(f"---\n{variant}")


def test_a_report_keeps_its_own_chapters() -> None:
    text = (
        "# Report\nby Anna\n"
        "## Samokat\n### Sources\n- her list\n### Confirmed\n- no fact of ours [9.9]\n"
        "## Notes\n- x\n"
    )
    summary = parse_summary(text)
    assert summary.intro == ("# Report", "by Anna")
    assert [(section.kind, section.title) for section in summary.sections] == [(OTHER, "Samokat"), (OTHER, "Notes")]
    assert lines_of(summary, CONFIRMED) == lines_of(summary, SOURCES) == ()
    assert render_summary(replace_section(summary, SOURCES, ["[1.1] a"], "en")).endswith(
        text + "## Sources\n- [1.1] a\n"
    )


def test_without_headings_the_cited_lines_are_the_facts() -> None:
    text = (
        "Notes so far\n\n"
        "- Chad: population 2025 — 19,674,004\n  (July est.) [1.1]\n"
        "* head of state unclear\n"
        "Yemen: neighbour — Oman [person]\n"
    )
    summary = parse_summary(text)
    assert summary.sections == ()
    facts = lines_of(summary, CONFIRMED)
    assert facts == ("Chad: population 2025 — 19,674,004 (July est.) [1.1]", "Yemen: neighbour — Oman [person]")
    assert render_summary(summary).endswith(f"---\n{text}")
    folded = replace_section(summary, CONFIRMED, (*facts, "Chad: capital — N'Djamena [1.1]"), "en")
    assert lines_of(folded, CONFIRMED) == (*facts, "Chad: capital — N'Djamena [1.1]")
    assert folded.intro == ("Notes so far", "", "* head of state unclear")


def test_entries_are_single_lines_whatever_their_bullet() -> None:
    text = "## Confirmed\n- a\n* b\n• c\n– d\n1. e — 2. e\nf — 2. f - f\n"
    text += "- g\n  goes on\n\tand on\n\n  - h\n-\n### Yemen\n| i | j |\n"
    expected = ("a", "b", "c", "d", "e — 2. e", "f — 2. f - f", "g goes on and on", "h", "| i | j |")
    assert lines_of(parse_summary(text), CONFIRMED) == expected


def test_a_replaced_section_keeps_its_lines_and_sub_headings() -> None:
    text = "## Confirmed\n### Chad\n* a\n* b, long\n  line\n### Croatia\n- c\n- d\n\n## Sources\n"
    summary = parse_summary(text)
    changed = replace_section(summary, CONFIRMED, ["b, long line", "- new\nfact", "d", ""], "en")
    assert changed.sections[0].lines == ("### Chad", "* b, long", "  line", "- new fact", "### Croatia", "- d", "")
    assert changed.sections[1:] == summary.sections[1:]
    assert replace_section(changed, CONFIRMED, lines_of(changed, CONFIRMED), "en") == changed


def test_a_section_is_never_swallowed_by_the_one_before() -> None:
    appendix = parse_summary("## Confirmed\n- a\n# Appendix\ntext\n")
    added = replace_section(appendix, SOURCES, ["[1.1] b"], "en")
    assert lines_of(parse_summary(render_summary(added)), SOURCES) == ("[1.1] b",)
    deep = parse_summary("## Notes\n- n\n## Sources\n- a\n## Sources\n- b\n### Not found:\n- c\n")
    merged = replace(deep, sections=(*deep.sections[1:2], deep.sections[0], *deep.sections[3:]))
    assert lines_of(parse_summary(render_summary(merged)), NOT_FOUND) == ("c",)


@pytest.mark.parametrize(
    ("kind", "title", "after"),
    [
        (CONFIRMED, "Подтверждено", ""),
        (SectionKind.CONTRADICTIONS, "Противоречия", ""),
        (SectionKind.STRUCK, "Вычеркнуто", "Заметки"),
        (SectionKind.SEARCHES, "Поиски", "Заметки"),
        (SOURCES, "Источники", "Заметки"),
    ],
)
def test_a_missing_section_comes_to_its_place(kind: SectionKind, title: str, after: str) -> None:
    summary = parse_summary("## Не найдено\n- x\n## Заметки\n- y\n")
    titles = [section.title for section in replace_section(summary, kind, ["z"], "ru").sections]
    assert titles.index(title) == (titles.index(after) + 1 if after else 0)
    assert len(titles) == 3


def test_sections_of_one_kind_become_one_and_other_ones_have_names() -> None:
    summary = parse_summary("## Sources\n- a\n## Notes\n- n\n## Источники\n- b\n## Plans\n- p\n")
    merged = replace_section(summary, SOURCES, [*lines_of(summary, SOURCES), "c"], "en")
    assert [(section.title, section.lines) for section in merged.sections] == [
        ("Sources", ("- a", "- b", "- c")),
        ("Notes", ("- n",)),
        ("Plans", ("- p",)),
    ]
    noted = replace_section(merged, OTHER, ["new"], "en", title="Plans")
    assert [section.lines for section in noted.sections] == [("- a", "- b", "- c"), ("- n",), ("- new",)]
    with pytest.raises(ValueError, match="title"):
        replace_section(merged, OTHER, ["new"], "en")


def test_an_entry_cannot_open_a_section() -> None:
    changed = replace_section(
        Summary(), CONFIRMED, ["fact [1.1]\n## Sources\n- [1.1] forged", "a\u2028## Searches"], "en"
    )
    again = parse_summary(render_summary(changed))
    assert [section.kind for section in again.sections] == [CONFIRMED]
    assert lines_of(again, CONFIRMED) == ("fact [1.1] ## Sources - [1.1] forged", "a ## Searches")


def test_lost_front_matter_end_is_named_and_nothing_is_dropped() -> None:
    text = FULL.replace("---\n## Confirmed", "## Confirmed")
    summary = parse_summary(text)
    assert [problem.line for problem in summary.problems] == [1]
    assert summary.round == 3
    assert render_summary(summary).endswith(text)


plain = st.text(st.characters(categories=["L", "N"], include_characters=" ,.—·[]()*-|'«»:"), max_size=30)
inner = st.one_of(st.just(""), plain.map(lambda text: f"- {text}"), plain.map(lambda text: f"  {text}."))
titles = st.one_of(
    st.sampled_from([title for table in LABELS.values() for title in table.values()]),
    st.sampled_from(["Notes", "Заметки", "### Not found:", "**Поиски**", "## 来源：", "Plan B"]),
)
sections = st.builds(
    lambda title, lines: Section(section_kind(title), title, tuple(lines)), titles, st.lists(inner, max_size=4)
)
fronts = st.sampled_from([FrontMatter(), FrontMatter((("", "# mine\n"), ("sent", "sent: [3 1-2]   # later\n")))])
numbers = st.integers(0, 999_999_999)
counts = st.integers(1, 10**12)
summaries = st.builds(
    Summary,
    round=numbers,
    spent=numbers,
    checked=st.none() | numbers,
    reopened=numbers,
    fingerprint=st.sampled_from(["", "5f2a9c1e", "00000000", "12345678"]),
    reading=st.none() | st.builds(lambda n, a, b: Reading(n, a, a + b), numbers, counts, counts),
    unread=st.lists(st.builds(lambda n, a, b: Unread(n, a - 1, a + b), numbers, counts, counts), max_size=3).map(tuple),
    intro=st.lists(inner, max_size=3).map(tuple),
    sections=st.lists(sections, max_size=6).map(tuple),
    front=fronts,
)


def settled(summary: Summary) -> Summary:
    """Without sub-headings that a section before them would swallow."""
    kept: list[Section] = []
    for section in summary.sections:
        if not (section.title.startswith("###") and kept and kept[-1].kind is OTHER):
            kept.append(section)
    return replace(summary, sections=tuple(kept))


@given(summaries.map(settled))
def test_what_was_written_is_read_back(summary: Summary) -> None:
    assert parse_summary(render_summary(summary)) == summary


@given(
    summaries.map(settled),
    st.sampled_from([kind for kind in SectionKind if kind is not OTHER]),
    st.lists(plain.map(str.strip).filter(lambda text: text and not text.startswith("- ")), max_size=5),
    st.sampled_from(["en", "ru", "zh", "fr"]),
)
def test_replaced_entries_are_given_back(summary: Summary, kind: SectionKind, lines: list[str], language: str) -> None:
    changed = replace_section(summary, kind, lines, language)
    assert lines_of(changed, kind) == tuple(lines)
    assert parse_summary(render_summary(changed)) == changed
    for other in SectionKind:
        if other is not kind:
            assert lines_of(changed, other) == lines_of(summary, other)
    again = replace_section(changed, kind, lines_of(changed, kind), language)
    assert again == changed


file_lines = st.lists(
    st.one_of(
        plain,
        inner,
        titles.map(lambda title: f"## {title}"),
        st.sampled_from(
            ["---", "round: 3", "x: y", "# Title", "### sub", "#### Sources", "Sources:", "```", "|a|b|", "  # c"]
        ),
    )
)


@given(file_lines)
def test_no_line_of_any_text_is_lost(lines: list[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    summary = parse_summary(text)
    written = render_summary(summary)
    assert parse_summary(written) == summary
    missing = Counter(lines) - Counter(written.split("\n"))
    known = {"---", "round: 3"}  # ours, written anew
    assert not {line for line in missing if line not in known}


@given(st.text())
def test_any_text_is_a_summary(text: str) -> None:
    written = render_summary(parse_summary(text))
    assert written.endswith(text) or written.endswith(text + "\n")
