"""Which sources are one document, and what of the others is kept."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.addresses import canonical, distinct, groups, same_document
from harness.formats.raw import parse_raw, render_raw
from harness.model import Raw, RawHead, Source

# Pieces that meet in odd ways: ports behind dots, escapes of escapes, names that IDNA refuses, half a surrogate pair.
PIECES = (
    *("http://", "HTTPS://", "www.", "m.", "a", "B", "İ", "Ა", "℀", "…", "。", "ß", "xn--", "я", "рф", "\u00ad"),
    *("%", "%41", "%2F", "%2f", "%25", "%E4", ":80", ":443", ":8080", "@", "/", "?", "#", "!", "&", "=", "+"),
    *("utm_a=1", "[", "]", "\\", " ", "\x1f", ".", "\ud800"),
)
ODD = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
ANY = st.one_of(ODD.map("http://".__add__), ODD, st.text(), st.text().map("https://".__add__))


@settings(max_examples=500)
@given(ANY)
def test_canonical_takes_any_text_and_twice_is_once(url: str) -> None:
    assert canonical(canonical(url)) == canonical(url)


@pytest.mark.parametrize(
    "other",
    [
        "http://example.org/a?x=1&y=2",
        "HTTPS://Example.ORG/a?x=1&y=2",
        "https://www.example.org/a?x=1&y=2",
        "https://m.example.org/a?x=1&y=2",
        "https://example.org/a/?x=1&y=2",
        "https://example.org/a?x=1&y=2#part",
        "https://example.org/a?x=1&y=2#:~:text=found",
        "http://example.org:80/a?x=1&y=2",
        "https://example.org:443/a?x=1&y=2",
        "https://example.org/a?y=2&x=1",
        "https://example.org/a?utm_source=n&x=1&UTM_campaign=c&y=2",
        "https://example.org/a?x=1&y=2&gclid=1&fbclid=2&yclid=3&ysclid=4",
        "https://example.org/%61?x=%31&y=2&",
        "https://example.org./a?x=1&y=2",
        "https://someone@example.org/a?x=1&y=2",
        " https://example.org/a?x=1&y=2\n",
    ],
)
def test_ways_to_write_one_address(other: str) -> None:
    assert canonical(other) == canonical("https://example.org/a?x=1&y=2")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://пример.рф/новости", "http://xn--e1afmkfd.xn--p1ai/%D0%BD%D0%BE%D0%B2%D0%BE%D1%81%D1%82%D0%B8/"),
        ("https://en.m.wikipedia.org/wiki/A_(b)", "https://en.wikipedia.org/wiki/A_%28b%29"),
        ("https://example.org/?q=a+b", "https://example.org?q=a%20b"),
        ("https://example.org/%d0%b9", "https://example.org/й"),
    ],
)
def test_other_scripts_and_escapes(one: str, other: str) -> None:
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.org/A", "https://example.org/a"),
        ("https://example.org/a?id=1", "https://example.org/a?id=2"),
        ("https://example.org/a?ref=main", "https://example.org/a"),
        ("https://example.org:8080/a", "https://example.org/a"),
        ("https://example.org/a%2Fb", "https://example.org/a/b"),
        ("https://example.org/?q=a%2Bb", "https://example.org/?q=a+b"),
        ("https://app.example.org/#/one", "https://app.example.org/#/two"),
        ("https://m.com/a", "https://com/a"),
    ],
)
def test_what_may_be_another_page_stays_apart(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


@pytest.mark.parametrize("path", ["docs/Report.md", "C:\\Docs\\A.md", "www.example.org/Index.html", "", " a ", "/A/"])
def test_local_paths_stay_as_they_are(path: str) -> None:
    assert canonical(path) == path


# Documents ---------------------------------------------------------------------------------------


def source(url: str = "", title: str = "T", text: str = "Text.") -> Source:
    return Source(title, text, url)


def test_the_same_address_is_one_document() -> None:
    assert same_document(source("http://x.org/a/", "A", "one"), source("https://www.x.org/a?utm_source=b", "B", "two"))
    assert not same_document(source("https://x.org/a", "A", "one"), source("https://x.org/b", "A", "two"))


def test_the_same_title_and_text_are_one_document_wherever_they_stand() -> None:
    one = source("https://x.org/a", "A  Title", "Some\n text.")
    assert same_document(one, source("https://mirror.net/b", "a title", "SOME TEXT."))
    assert not same_document(one, source("https://mirror.net/b", "Another title", "Some text."))
    assert not same_document(source("https://x.org/a", "A", ""), source("https://y.org/a", "A", ""))


ARXIV = (
    "https://arxiv.org/abs/2101.00001",
    "http://arxiv.org/pdf/2101.00001v2.pdf",
    "https://export.arxiv.org/abs/2101.00001v1",
    "https://ar5iv.labs.arxiv.org/html/2101.00001",
    "https://www.alphaxiv.org/abs/2101.00001",
    "https://doi.org/10.48550/arXiv.2101.00001",
    "https://huggingface.co/papers/2101.00001",
)
DOI = (
    "https://doi.org/10.1002/Abc.12(3)4",
    "https://dx.doi.org/10.1002%2Fabc.12(3)4",
    "https://onlinelibrary.wiley.com/doi/full/10.1002/abc.12(3)4",
    "https://library.example.edu/get?doi=10.1002/abc.12(3)4&lang=en",
    "https://mirror.example.net/10.1002/abc.12(3)4.pdf",
)


@pytest.mark.parametrize("mirrors", [ARXIV, DOI])
def test_mirrors_of_a_paper_are_one_document(mirrors: tuple[str, ...]) -> None:
    found = distinct([source(url, f"Copy {k}", f"Text {k}.") for k, url in enumerate(mirrors)])
    assert [one.url for one in found] == [mirrors[0]]
    assert [value for key, value in found[0].extra if key == "also"] == list(mirrors[1:])


def test_other_papers_and_numbers_in_an_address_are_not_taken_for_one() -> None:
    urls = (
        *("https://arxiv.org/abs/2101.00001", "https://arxiv.org/abs/2101.00002", "https://arxiv.org/abs/math/0309136"),
        *("https://doi.org/10.1002/abc.1", "https://doi.org/10.1002/abc.12", "https://doi.org/10.1101/2020.01.01.1"),
        *("https://a.org/macos/10.15.7/notes", "https://b.org/macos/10.15.7/notes"),
    )
    assert len(distinct([source(url, url, url) for url in urls])) == len(urls)


def test_files_of_one_relative_path_in_two_folders_are_two_documents() -> None:
    ours, theirs = source("docs/readme.md", "Ours", "One."), source("docs/readme.md", "Theirs", "Two.")
    assert distinct([ours, theirs]) == (ours, theirs)
    assert same_document(ours, source("docs/readme.md", "Ours", "Another passage."))
    assert not same_document(ours, source("docs/README.md", "Ours", "Two."))


def test_nothing_that_only_a_further_source_says_is_lost() -> None:
    more = Source("T", "Up 10 MW\n\n[…]\n\nSecond.", "http://x.org/a#b", "2024-05", extra=(("k", "v"),))
    first, other = source("https://x.org/a", "T", "Up 1\n\n[…]"), source("https://x.org/b", "Other", "other page")
    merged, beside = distinct([first, other, more, source("http://x.org/a#b", "T", "Second.")])
    assert merged.text == "Up 1\n\n[…]\n\nUp 10 MW\n\n[…]\n\nSecond."
    assert (merged.url, merged.date) == ("https://x.org/a", "2024-05")
    assert merged.extra == (("k", "v"), ("also", "http://x.org/a#b"))
    assert beside == other


def test_a_text_that_holds_the_first_one_takes_its_place() -> None:
    page = "### Page\n\nA snippet and more."
    found = distinct([source("https://x.org/a", text="A snippet"), source("http://x.org/a", text=page)])
    assert [one.text for one in found] == [page]


def test_documents_are_one_over_a_third() -> None:
    a, b = source("https://x.org/a", "A", "one"), source("https://y.org/b", "B", "two")
    assert len(distinct([a, b, source("https://x.org/a", "B", "two")])) == 1
    known = Source("A", "one", "https://x.org/a", extra=(("also", "https://y.org/b"),))
    assert same_document(known, b)


def test_groups_name_the_first_id_of_a_document() -> None:
    lines = {
        "1.1": source("https://x.org/a", "A", ""),
        "1.2": source("https://y.org/a", "A", ""),
        "2.1": source("http://www.x.org/a/", "A, again", ""),
        "2.2": source("", "A", ""),
        "3.1": source("https://x.org/a#end", "", ""),
    }
    assert groups(lines) == {"1.1": "1.1", "1.2": "1.2", "2.1": "1.1", "2.2": "2.2", "3.1": "1.1"}


URLS = st.sampled_from(
    ["", "docs/a.md", "https://x.org/a", "http://x.org/a/", "https://y.org/a b", "https://arxiv.org/abs/2101.00001"]
)
TEXTS = st.sampled_from(
    ["one", "two", "one\n\n[…]\n\ntwo", "### head\n\nthree", "```\n# remark", "# remark\n\n```\nx\n```"]
)
SOURCES = st.lists(
    st.builds(
        Source,
        st.sampled_from(["A", "B"]),
        TEXTS,
        URLS,
        st.sampled_from(["", "2024"]),
        st.just("provider"),
        st.sampled_from([(), (("date_from", "front matter"),)]),
    ),
    max_size=6,
)


@given(SOURCES)
@example(
    [
        Source("A", "one", "docs/a.md"),
        Source("A", "two", "docs/a.md"),
        Source("A", "one\n\n[…]\n\ntwo", ""),
    ]
)
def test_each_document_once_and_a_raw_gives_it_back(sources: list[Source]) -> None:
    raw = Raw(RawHead("search"), tuple(parse_raw(render_raw(Raw(RawHead("search"), tuple(sources))), "").sources))
    found = distinct(raw.sources)
    kept = {address for one in found for address in (one.url, *(value for key, value in one.extra if key == "also"))}
    assert {one.url for one in raw.sources} - {""} <= kept
    assert not any(same_document(a, b) for k, a in enumerate(found) for b in found[:k])
    written = Raw(RawHead("search"), found)
    assert parse_raw(render_raw(written), "").sources == written.sources
    for one in raw.sources:  # every line of every text is somewhere
        lines = {line for other in found for line in other.text.splitlines()}
        assert {line.lstrip("# ") for line in one.text.splitlines()} <= {line.lstrip("# ") for line in lines}
