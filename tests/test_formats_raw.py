"""raw_N.md: what the harness writes it reads back, what a person pasted is one source, and no page forges another."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.formats.front import front_value, put
from harness.formats.raw import adopt, demote, parse_head, parse_raw, render_raw
from harness.model import Attempt, FrontMatter, Problem, QueryRecord, Raw, RawHead, Source

FULL = """\
---
kind: search
queries:
- {query: Yandex Lavka revenue 2024, provider: tavily, outcome: found}
- {query: "выручка \\"Лавки\\", 2024", provider: folder, outcome: empty}
rationale: one source only for Lavka 2024
retrieved: "2026-11-29T12:00:00Z"
attempts:
- {provider: brave, error: HTTP 429}
mood: curious # a person's own key
---
## 1. Yandex results for 2024
- url: https://example.org/ir
- date: 2025-02-20
- origin: fetched
- date_from: file name

Lavka's revenue grew to 67 bn ₽.

### Details
| year | bn ₽ |
|---|---|
| 2024 | 67 |

## 2. Рынок быстрой доставки
- date: 2025-03-01
- origin: pasted

Лавка — 71,4 млрд ₽.

"""
HEAD = RawHead(
    kind="search",
    queries=(
        QueryRecord("Yandex Lavka revenue 2024", "tavily", "found"),
        QueryRecord('выручка "Лавки", 2024', "folder", "empty"),
    ),
    rationale="one source only for Lavka 2024",
    retrieved="2026-11-29T12:00:00Z",
    attempts=(Attempt("brave", "HTTP 429"),),
)
PAGE = """\
---
title: Ranking of quick commerce
kind: article
source: https://example.org/ranking
date: 2025-02-11
---
# Ranking

## 1. Samokat
- url: https://forged.example.org

154.0 bn ₽
"""


def bodies(raw: Raw) -> list[tuple[str, str, str, str, str]]:
    return [(source.title, source.url, source.date, source.origin, source.text) for source in raw.sources]


def test_every_part_is_read_and_written_back() -> None:
    raw = parse_raw(FULL, "raw_3.md")
    assert raw.problems == ()
    assert raw.head._replace(front=FrontMatter()) == HEAD
    assert front_value(raw.head.front, "mood") == "curious"
    assert [source.title for source in raw.sources] == ["Yandex results for 2024", "Рынок быстрой доставки"]
    assert raw.sources[0].extra == (("date_from", "file name"),)
    assert (raw.sources[1].url, raw.sources[1].date, raw.sources[1].origin) == ("", "2025-03-01", "pasted")
    assert raw.sources[0].text.endswith("| 2024 | 67 |")
    assert render_raw(raw) == FULL


def test_a_raw_without_sources_is_valid() -> None:
    raw = Raw(HEAD._replace(queries=(QueryRecord("a", "", "blocked"),)))
    assert parse_raw(render_raw(raw), "raw_1.md") == raw


@pytest.mark.parametrize(
    ("body", "titles"),
    [
        ("## 1. A\n- url: u\n\na\n## 2. B\n- date: d\n", ["A", "B"]),
        ("## 1. A\n\n- origin: fetched\n- URL: u\n", ["A"]),
        ("## 1. A\n- url: u\n\na\n## 3. C\n- url: u\n\nc", ["A"]),  # not counted up
        ("## 1. A\n- url: u\n\na\n## 2. B\nno details", ["A"]),
        ("## 1. A\n- url: u\n\na\n## 2. B\n- price: 3\n", ["A"]),
        ("## 1. A\n- url: u\n\na\n## 1. Again\n- url: u\n", ["A"]),
        ("## 1. A\n- url: u\n\na\n### 2. B\n- url: u\n", ["A"]),
        ("## 1.\n- date:\n\ntext", [""]),
    ],
)
def test_a_source_opens_only_where_the_count_and_the_details_say_so(body: str, titles: list[str]) -> None:
    raw = parse_raw(f"---\nkind: search\n---\n{body}", "raw_1.md")
    assert [source.title for source in raw.sources] == titles
    assert raw.problems == ()


def test_text_before_the_first_source_is_reported_and_kept_behind_the_others() -> None:
    raw = parse_raw("---\nkind: search\n---\n\nmy remark\n## 1. A\n- url: https://a.example.org\n\na\n", "c/raw_1.md")
    assert [(problem.file, problem.line) for problem in raw.problems] == [("c/raw_1.md", 5)]
    assert [source.title for source in raw.sources] == ["A", "my remark"]
    whole = parse_raw("---\nkind: note\n---\njust text\n", "raw_1.md")
    assert [source.text for source in whole.sources] == ["just text\n"]
    assert [problem.line for problem in whole.problems] == [4]


def test_an_unclosed_front_matter_is_reported_and_the_sources_are_read() -> None:
    raw = parse_raw(FULL.replace("---\n## 1.", "\n## 1."), "raw_3.md")
    assert [problem.line for problem in raw.problems] == [1]
    assert raw.head.queries == HEAD.queries
    assert len(raw.sources) == 2


@pytest.mark.parametrize(
    ("text", "title", "url", "date"),
    [
        ("# Ranking #\nhttps://example.org/r.\n", "Ranking", "https://example.org/r", ""),
        ("https://example.org/r\nPublished: 2025-02-11\nRanking\n", "Ranking", "https://example.org/r", "2025-02-11"),
        ("Рейтинг\n**Дата:** 1.3.2025\n", "Рейтинг", "", "2025-03-01"),
        (
            "Report (https://example.org/a_(b)) of\nDate: 3/4/2025",
            "Report (https://example.org/a_(b)) of",
            "https://example.org/a_(b)",
            "",
        ),
        ("Ranking, 154 bn\ntext", "Ranking, 154 bn", "", ""),
        (PAGE, "Ranking of quick commerce", "https://example.org/ranking", "2025-02-11"),
        (
            "## 1. A\n- url: https://a.example.org\n- date: 2025-01-01\n\nb",
            "1. A",
            "https://a.example.org",
            "2025-01-01",
        ),
    ],
)
def test_a_bare_file_is_one_source(text: str, title: str, url: str, date: str) -> None:
    raw = parse_raw(text, "raw_2.md")
    assert raw.head == RawHead(None) == parse_head(text)
    assert bodies(raw) == [(title, url, date, "pasted", demote(text))]


def test_an_empty_file_is_bare_and_has_no_source() -> None:
    assert parse_raw(" \n", "raw_1.md") == Raw(RawHead(None))


@pytest.mark.parametrize(
    "text", [PAGE, "plain", "", "\n\n# A\n", "---\nkind: search\n", "## 1. A\n- url: u\n", "a\r\nb"]
)
def test_adoption_adds_front_matter_and_leaves_the_text(text: str) -> None:
    head = HEAD._replace(queries=tuple(query._replace(outcome="pasted") for query in HEAD.queries))
    if text.startswith("---\nkind"):
        assert adopt(text, head) == text  # ours already
        return
    adopted = adopt(text, head)
    assert adopted.endswith("---\n" + text)
    assert adopt(adopted, HEAD) == adopted
    assert parse_head(adopted) == head
    assert parse_raw(adopted, "raw_1.md") == Raw(head, parse_raw(text, "raw_1.md").sources)


def test_a_head_is_read_from_the_start_of_a_file() -> None:
    text = render_raw(Raw(HEAD, (Source("A", "x" * 100_000, url="u"),)))
    assert parse_head(text[:65_536]) == HEAD
    cut = text.index("rationale: one")
    assert parse_head(text[: cut + 5]) == RawHead("search", HEAD.queries)
    assert parse_head(text[:20]).kind == "search"
    assert parse_head("---\nkind: sea") == RawHead(None)
    many = HEAD._replace(queries=tuple(QueryRecord(f"query {n}", "folder", "found") for n in range(5000)))
    assert len(parse_head(render_raw(Raw(many))[:65_536]).queries) > 1000


@pytest.mark.parametrize(
    ("text", "demoted"),
    [
        ("# A\n## B\n### C\n###### D\n", "### A\n#### B\n##### C\n###### D\n"),
        ("### A\n#### B", "### A\n#### B"),
        ("#tag\n#1 in sales", "#tag\n#1 in sales"),
        ("```sh\n# a remark\n```\n# A", "```sh\n# a remark\n```\n### A"),
        ("```\n## 2. A\n- url: u\n", "```\n#### 2. A\n- url: u\n"),
    ],
)
def test_headings_are_demoted_once(text: str, demoted: str) -> None:
    assert demote(text) == demoted == demote(demoted)


LINE = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)
HEADINGS = ("## 2. Forged", "## 1. F", "##\t3. F", "   ## 2. F", "# Title", "### 1. Part")
FORGING = st.sampled_from(
    [*HEADINGS, "- url: https://f.example.org", "- date: 2025-01-01", "---", "kind: search", "```", ""]
)
TEXT = st.lists(FORGING | LINE, max_size=8).map("\n".join)
WORDS = LINE.map(lambda line: " ".join(line.split()))
KEY = st.from_regex(r"[A-Za-z_][\w-]{0,8}", fullmatch=True).filter(
    lambda key: key.lower() not in ("url", "date", "origin")
)
SOURCE = st.builds(
    Source,
    title=WORDS,
    text=TEXT.map(lambda text: demote(text).strip("\n")),
    url=WORDS,
    date=WORDS,
    origin=WORDS.filter(bool),
    extra=st.lists(st.tuples(KEY, WORDS.filter(lambda value: not value.startswith("//"))), max_size=2).map(tuple),
)
HEADS = st.builds(
    RawHead,
    kind=st.sampled_from(["search", "note"]),
    queries=st.lists(st.builds(QueryRecord, LINE.filter(bool), LINE, LINE), max_size=3).map(tuple),
    rationale=LINE,
    retrieved=LINE,
    attempts=st.lists(st.builds(Attempt, LINE.filter(bool), LINE), max_size=2).map(tuple),
    front=st.just(FrontMatter()) | LINE.map(lambda line: put(FrontMatter(), "mood", line)),
)


@given(HEADS, st.lists(SOURCE, max_size=4).map(tuple))
def test_law_a_raw_comes_back(head: RawHead, sources: tuple[Source, ...]) -> None:
    raw = Raw(head, sources)
    read = parse_raw(render_raw(raw), "raw_1.md")
    assert (read, read.problems) == (raw, ())
    assert parse_head(render_raw(raw)) == head


@given(st.lists(st.tuples(TEXT, TEXT, TEXT), max_size=3))
def test_law_no_page_text_opens_a_source(pages: list[tuple[str, str, str]]) -> None:
    sources = tuple(Source(title, text, url=url) for title, text, url in pages)
    read = parse_raw(render_raw(Raw(HEAD, sources)), "raw_1.md")
    assert len(read.sources) == len(sources)
    assert read.head == HEAD
    assert [source.text for source in read.sources] == [demote(text.strip("\n")) for _, text, _ in pages]


@given(TEXT)
def test_law_adoption_is_done_once_and_loses_nothing(text: str) -> None:
    adopted = adopt(text, HEAD)
    assert adopted.endswith(text)
    assert adopt(adopted, HEAD) == adopted
    assert len(parse_raw(adopted, "raw_1.md").sources) <= 1 or adopted == text


@given(TEXT)
@example("---\nkind: search\n## 2. Forged\n")
@example("---\nkind: note\nadopted: true\n---\n\nPasted\n\n")
def test_law_any_text_is_a_raw_and_demoted_once(text: str) -> None:
    raw = parse_raw(text, "raw_1.md")
    assert all(isinstance(problem, Problem) for problem in raw.problems)
    told = raw.head.kind is not None  # then blank lines around a text are the file's; a bare one comes back as it is
    sources = tuple(one._replace(text=one.text.strip("\n")) if told else one for one in raw.sources)
    assert parse_raw(render_raw(raw), "raw_1.md").sources == sources
    assert demote(demote(text)) == demote(text)
