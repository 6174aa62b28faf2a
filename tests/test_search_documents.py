"""Readers: bytes of every supported kind become Markdown with title, address and date, or one named fault."""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.search.documents.dates import dated_line, file_date, first_date
from harness.search.documents.document import Document, Unreadable
from harness.search.documents.read import READERS, Content, read_content, read_document

CHAD = """---
title: Chad
date: 2015-07-01
url: https://example.org/chad
---
# Chad in figures

- Population: 11,631,456 (July 2015 est.)
"""


def read(name: str, data: str | bytes, encoding: str = "utf-8") -> Document:
    return read_document(Content(data if isinstance(data, bytes) else data.encode(encoding), False), name)


def fault(name: str, data: bytes) -> str:
    with pytest.raises(Unreadable) as raised:
        read(name, data)
    return raised.value.what


def pdf(text: str, info: str = "", *, encrypt: str = "") -> bytes:
    """A one-page PDF written by hand; readers rebuild the missing table of objects."""
    stream = f"BT /F1 12 Tf 20 50 Td ({text}) Tj ET"
    return (
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 900 99]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj\n"
        f"4 0 obj<</Length {len(stream)}>>stream\n{stream}\nendstream endobj\n"
        f"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n6 0 obj<<{info}>>endobj\n{encrypt}"
        f"trailer<</Root 1 0 R/Info 6 0 R{'/Encrypt 7 0 R/ID[<00><00>]' if encrypt else ''}>>\n%%EOF\n"
    ).encode("latin-1")


def docx(body: str, core: str = "") -> bytes:
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    relations = "http://schemas.openxmlformats.org/package/2006"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{relations}/content-types">'
        f'<Override PartName="/word/document.xml" ContentType="{kind}"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{relations}/relationships">'
        f'<Relationship Id="r1" Type="{office}" Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{word}"><w:body>{body}</w:body></w:document>',
        "docProps/core.xml": f"<cp:coreProperties>{core}</cp:coreProperties>",
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return packed.getvalue()


def run(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def test_markdown_takes_title_date_and_url_from_front_matter() -> None:
    found = read("cd.md", CHAD)
    assert (found.title, found.url, found.date, found.date_from) == (
        "Chad",
        "https://example.org/chad",
        "2015-07-01",
        "front matter",
    )
    assert found.text.strip() == "# Chad in figures\n\n- Population: 11,631,456 (July 2015 est.)"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "cp1251", "koi8-r"])
def test_text_is_read_as_it_was_meant(encoding: str) -> None:
    text = "Чад: население\r\n\r\nНаселение Чада составляет 11 631 456 человек, столица называется Нджамена.\r\n"
    assert "Население Чада составляет 11 631 456 человек" in read("чад.txt", text, encoding).text
    assert "\r" not in read("чад.txt", text, encoding).text


def test_underlined_titles_become_headings() -> None:
    assert read("a.rst", "====\nChad\n====\n\nText\n\nArea\n----\n\nx").text == "# Chad\n\nText\n\n## Area\n\nx"
    assert read("a.md", "Chad\n====\n\nArea\n---\nx").text == "# Chad\n\n## Area\nx"
    assert read("a.md", "```\nx\n---\n```\n\n| a |\n| - |").text == "```\nx\n---\n```\n\n| a |\n| - |"


def test_csv_is_a_table_whatever_its_delimiter() -> None:
    text = 'country;"capital, main";note\nChad;N\'Djamena;"two\nlines"\nNiger;Niamey\n'
    assert read("c.csv", text).text == (
        "| country | capital, main | note |\n| --- | --- | --- |\n| Chad | N'Djamena | two lines |\n"
        "| Niger | Niamey |  |"
    )
    assert read("c.tsv", "country\tarea, km2\nChad\t1,284,000\n").text.endswith("| Chad | 1,284,000 |")


def test_csv_without_a_head_gets_one_and_years_are_a_head() -> None:
    assert read("c.csv", "Chad,11631456\nNiger,18045729\n").text.startswith(
        "| column 1 | column 2 |\n| --- | --- |\n| Chad"
    )
    assert read("c.csv", "country,2015,2025\nChad,11,19\n").text.startswith("| country | 2015 | 2025 |")


def test_json_becomes_headings_and_lines_and_keeps_figures_as_written() -> None:
    text = """{"name": "Chad", "updated": "2025-11-01", "big": 11631456.50, "Geography": {"Area": {"total":
    {"text": "1.284 million sq km"}}, "borders": ["Niger", "Libya"], "none": {}},
    "rows": [{"y": 2015, "v": true}, {"y": 2025, "v": null}]}"""
    found = read("cd.json", text)
    assert (found.title, found.date, found.date_from) == ("Chad", "2025-11-01", "text")
    assert [line for line in found.text.split("\n") if line] == [
        "- name: Chad",
        "- updated: 2025-11-01",
        "- big: 11631456.50",
        "# Geography",
        "- borders: Niger, Libya",
        "## Area",
        "- total: 1.284 million sq km",
        "# rows",
        "| y | v |",
        "| --- | --- |",
        "| 2015 | true |",
        "| 2025 |  |",
    ]


def test_json_lines_leave_out_what_is_no_json_and_say_so() -> None:
    found = read("c.jsonl", '{"country": "Chad", "area": 1}\nbroken\n{"country": "Niger", "area": 2}\n')
    assert found.text == "| country | area |\n| --- | --- |\n| Chad | 1 |\n| Niger | 2 |"
    assert found.notes == ("lines that are no JSON left out",)


def test_page_keeps_tables_and_drops_menus() -> None:
    prose = "<p>" + "Chad is a landlocked country in Central Africa with a long border to Libya. " * 6 + "</p>"
    page = f"""<html><head><title>Chad</title><meta property="article:published_time" content="2025-03-01T10:00:00Z">
    <link rel="canonical" href="https://example.org/chad"></head><body><nav><a href="/">Home menu</a></nav>
    <article><h1>Chad</h1>{prose}<table><tr><th>Field</th><th>Value</th></tr>
    <tr><td>Area</td><td>1,284,000 sq km</td></tr></table>{prose}</article></body></html>"""
    found = read("chad.html", page)
    assert (found.title, found.url, found.date, found.date_from) == (
        "Chad",
        "https://example.org/chad",
        "2025-03-01",
        "meta tag",
    )
    assert "| Area | 1,284,000 sq km |" in found.text
    assert "Home menu" not in found.text


def test_page_whose_main_text_is_not_found_is_stripped_of_its_tags() -> None:
    cells = "".join(f"<div><h2>Year {year}</h2><span>figure {year * 7}</span></div>" for year in range(2010, 2016))
    found = read("figures.htm", f"<html><body><script>var x=1</script><nav>{cells}</nav></body></html>")
    assert "## Year 2015" in found.text
    assert f"figure {2015 * 7}" in found.text
    assert "var x" not in found.text


def test_a_page_of_tables_within_tables_takes_no_minute() -> None:
    page = "<table><tr><td>" * 400 + "Chad has 17 million people" + "</td></tr></table>" * 400
    assert "17 million people" in read("chad.html", f"<html><body>{page}</body></html>").text


def test_page_in_the_charset_it_names() -> None:
    page = '<html><head><meta charset="windows-1251"><title>Чад</title></head><body>Столица — Нджамена</body></html>'
    found = read("chad.html", page, "cp1251")
    assert found.title == "Чад"
    assert "Столица — Нджамена" in found.text


def test_pdf_takes_its_date_from_its_information() -> None:
    found = read("chad.pdf", pdf("Population: 11,631,456", "/Title(Chad)/CreationDate(D:20150701120000+02'00')"))
    assert (found.title, found.text, found.date, found.date_from) == (
        "Chad",
        "Population: 11,631,456",
        "2015-07-01",
        "pdf info",
    )


def test_pdf_faults_are_told_apart() -> None:
    keys = "7 0 obj<</Filter/Standard/V 1/R 2/P -4/O<" + "11" * 32 + ">/U<" + "22" * 32 + ">>>endobj\n"
    assert fault("a.pdf", pdf("secret", encrypt=keys)) == "encrypted PDF"
    assert fault("a.pdf", b"%PDF-1.4\ngarbage") == "broken PDF"
    assert fault("a.pdf", pdf("")) == "PDF without text (scanned pages?)"


def test_docx_keeps_headings_and_tables() -> None:
    heading = '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Chad</w:t></w:r></w:p>'
    cells = "".join(f"<w:tc>{run(text)}</w:tc>" for text in ("Area", "1,284,000"))
    table = f"<w:tbl><w:tr><w:tc>{run('Field')}</w:tc><w:tc>{run('Value')}</w:tc></w:tr><w:tr>{cells}</w:tr></w:tbl>"
    core = "<dc:title>Chad profile</dc:title><dcterms:modified>2025-11-01T00:00:00Z</dcterms:modified>"
    found = read("chad.docx", docx(heading + run("Landlocked.") + table, core))
    assert (found.title, found.date, found.date_from) == ("Chad profile", "2025-11-01", "docx properties")
    assert found.text == "# Chad\n\nLandlocked.\n\n| Field | Value |\n| --- | --- |\n| Area | 1,284,000 |"


def test_docx_faults_are_told_apart() -> None:
    assert fault("a.docx", b"PK\x03\x04 torn") == "broken Word file"
    assert fault("a.docx", b"\xd0\xcf\x11\xe0" + b"\0" * 600) == "encrypted or old Word file"
    assert fault("a.docx", docx("")) == "empty"


@pytest.mark.parametrize("suffix", sorted(READERS))
def test_every_reader_calls_an_empty_file_empty(suffix: str) -> None:
    assert fault(f"a{suffix}", b"") == "empty"
    assert fault(f"a{suffix}", b" \r\n\t") == "empty"


@pytest.mark.parametrize("suffix", sorted(READERS))
def test_binary_junk_is_no_document_under_any_name(suffix: str) -> None:
    assert fault(f"a{suffix}", bytes(range(256)) * 40)
    assert fault(f"a{suffix}", Path(sys.executable).read_bytes()[:60_000])


@given(st.sampled_from(sorted(READERS)), st.binary(max_size=400) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_a_document_or_an_unreadable_file(suffix: str, data: bytes) -> None:
    try:
        document = read(f"a{suffix}", data)
    except Unreadable as problem:
        assert problem.what
    else:
        assert document.text.strip()
        assert not {"\0", "\x1b", "\r"} & set(document.text)


def test_nested_without_end_is_broken_json() -> None:
    assert fault("a.json", b"[" * 100_000) == "broken JSON"
    assert read("a.json", '{"a":' * 200 + "1" + "}" * 200).text.endswith("###### a / a / a\n\n- a: 1")


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2025-03-01T10:00:00Z", "2025-03-01"),
        ("D:20150701120000+02'00'", "2015-07-01"),
        ("1 March 2025", "2025-03-01"),
        ("March 1st, 2025", "2025-03-01"),
        ("12 марта 2025 г.", "2025-03-12"),
        ("01.03.2025", "2025-03-01"),
        ("2025年3月1日", "2025-03-01"),
        ("July 2015", "2015-07"),
        ("2015-07", "2015-07"),
        ("Edition of 2015", "2015"),
        ("03/01/2025", "2025"),
        ("2025-02-31", "2025"),
        ("11,631,456", ""),
        ("12015", ""),
    ],
)
def test_dates_are_read_only_as_far_as_they_are_written(text: str, iso: str) -> None:
    assert first_date(text) == iso


def test_a_date_in_the_text_needs_a_label_near_the_top() -> None:
    assert dated_line("# Chad\n\n**Published:** 1 March 2025\n") == "2025-03-01"
    assert dated_line("Дата публикации: 12 марта 2025\n") == "2025-03-12"
    assert dated_line("Population: 11,631,456 (July 2015 est.)") == ""
    assert dated_line("x\n" * 60 + "Date: 2025-03-01") == ""


def test_the_file_name_dates_a_document_that_does_not_and_no_file_time_does(tmp_path: Path) -> None:
    assert file_date("world/chad_2015-07-01.md") == "2015-07-01"
    found = read("chad-2015.txt", "Population: 11,631,456")
    assert (found.date, found.date_from, found.title) == ("2015", "file name", "chad-2015")
    path = tmp_path / "chad.txt"
    path.write_text("Population", encoding="utf-8")
    undated = read_document(read_content(path), "chad.txt")
    assert (undated.date, undated.date_from) == ("", "")


def test_a_text_above_its_limit_is_cut_at_a_line_end_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "big.txt"
    with path.open("wb") as file:
        file.write(b"Population: 11,631,456\n")
        file.seek(READERS[".txt"].limit - 4)
        file.write(b"\nlast line\n")
    content = read_content(path)
    assert content.cut
    assert len(content.data) == READERS[".txt"].limit - 3
    small = Content(b"Population: 11,631,456\n", True)
    assert read_document(small, "big.txt").notes == ("only the first 16 MB read",)


def test_what_is_not_there_or_no_regular_file_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="gone"):
        read_content(tmp_path / "gone.md")
    (tmp_path / "link.md").symlink_to(tmp_path / "gone.md")
    with pytest.raises(Unreadable):
        read_content(tmp_path / "link.md")
    (tmp_path / "folder.md").mkdir()
    with pytest.raises(Unreadable):
        read_content(tmp_path / "folder.md")
