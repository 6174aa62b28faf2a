"""`harness report`: what it holds, what it leaves out, and where it goes."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.assets import template
from harness.formats.labels import LANGUAGES
from harness.reporting.charts import charts
from harness.reporting.prose import blocks, inline
from harness.reporting.quoting import web_or_name
from harness.reporting.telling import Report, Tokens
from harness.reporting.wording import wording
from tests.program import DOCUMENTS, GRID, harness
from tests.trees import read_tree, write_tree

EVIL = "<script>alert(1)</script></script><img src=x onerror=alert(2)> \u2028 & [x](javascript:alert(3))"
RAW = f"""---
kind: search
queries:
- {{query: "Samokat revenue", provider: tavily, outcome: found}}
retrieved: 2026-11-29T12:00:00Z
---
## 1. Samokat <script>alert(0)</script>
- url: javascript:alert(4)
- date: 2025-03-01
- origin: provider

UNCITED far away. {"Words and more words. " * 40}

{EVIL} Samokat had a revenue of 154.0 bn roubles in 2024.

## 2. A page
- url: /home/someone/secret/notes.md
- date: 2025-03-02
- origin: fetched

VkusVill had a revenue of 303.5 bn roubles in 2024.
"""
SUMMARY = f"""---
round: 1
spent: 1
---
## Confirmed
- Samokat: revenue 2024 — 154.0 bn roubles {EVIL} [1.1]
- VkusVill: revenue 2024 — 303.5 bn roubles [1.2]
## Searches
- 1 · Samokat revenue {EVIL} — found, 2 sources, +2 facts, 0 gaps
"""
ANSWER = f"""---
status: complete
stopped: answered
round: 1
---
{EVIL}

- Samokat: 154.0 bn roubles in 2024 [1.1] [9.9]
"""
HOSTILE = {"question.md": GRID + EVIL, "raw_1.md": RAW, "summary.md": SUMMARY, "answer.md": ANSWER}


@pytest.fixture
def case() -> Path:
    """A finished case of several rounds."""
    write_tree(Path(), {**DOCUMENTS, "research/question.md": GRID})
    assert harness("run", "--in", "docs").code in (0, 4)
    return Path("research")


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def hostile(tmp_path: Path, *options: str) -> str:
    write_tree(tmp_path / "case", HOSTILE)
    ran = harness("-C", str(tmp_path / "case"), "report", "-o", str(tmp_path / "out"), *options)
    assert ran.code == 0, ran.err
    return (tmp_path / "out").read_text(encoding="utf-8")


# What it holds -----------------------------------------------------------------------------------


def test_the_page_holds_the_answer_its_passages_and_every_round(case: Path) -> None:
    before = {name: text for name, text in read_tree(case).items() if not name.startswith(".harness/")}
    ran = harness("report")
    assert (ran.code, ran.out) == (0, "") and "written: report.html" in ran.err
    page = Path("report.html").read_text(encoding="utf-8")
    assert 'href="#s-1.1"' in page and 'id="s-1.1"' in page and "<mark>Samokat had a revenue of 154.0 bn" in page
    assert 'type="range"' in page and 'aria-live="polite"' in page and '<html lang="en">' in page
    assert {name: text for name, text in read_tree(case).items() if not name.startswith(".harness/")} == before


def test_markdown_and_json_go_to_stdout(case: Path) -> None:
    told = json.loads(harness("report", "--format", "json").out)
    assert told["generator"] == "harness report" and told["status"] in ("complete", "partial")
    assert len(told["moments"][-1]["cells"]) == 2 and told["searches"] and told["sources"][0]["passages"]
    assert set(told) - {"generator", "schema"} == set(Report._fields)
    text = harness("report", "--format", "md").out
    assert "| Samokat | 154.0 bn" in text and "## Sources" in text and "  > Samokat had a revenue" in text
    assert not Path("report.html").exists()


def test_the_question_gives_the_language(tmp_path: Path) -> None:
    write_tree(tmp_path, {"ru/question.md": "Сравни доставку продуктов\n", "zh/question.md": "比较两家公司\n"})
    for language, said in (("ru", "Ответа ещё нет"), ("zh", "尚无答案")):
        harness("-C", str(tmp_path / language), "report", "-o", str(tmp_path / f"{language}.html"))
        page = (tmp_path / f"{language}.html").read_text(encoding="utf-8")
        assert f'<html lang="{language}">' in page and said in page


def test_every_language_has_all_words() -> None:
    known = yaml.safe_load(template("report/words.yaml"))
    assert set(known) == set(LANGUAGES)
    assert len({frozenset(words) for words in known.values()}) == 1


def test_a_chart_needs_two_rounds_and_says_its_figures_in_a_table(case: Path) -> None:
    nothing = Report("Q", "en", "open", "", 1, "", (), (), (), (), (), (), (), "")
    assert charts(nothing._replace(tokens=(Tokens(1, 5, 5),)), wording("en")) == ""
    drawn = charts(nothing._replace(tokens=(Tokens(1, 500, 300), Tokens(2, 700, 1900))), wording("en"))
    assert "<desc" in drawn and "<td>2</td><td>700</td><td>1900</td>" in drawn and "style=" not in drawn


# Hostile text ------------------------------------------------------------------------------------


def test_a_hostile_raw_is_text(tmp_path: Path) -> None:
    page = hostile(tmp_path)
    tags = Tags(page)
    assert tags.tags.count("script") == 2 and "img" not in tags.tags
    assert not [name for name, _ in tags.attributes if name.startswith("on") or name == "style"]
    assert all((value or "").startswith(("#", "data:,")) for name, value in tags.attributes if name == "href")
    assert page.count("</script>") == 2
    data = page.partition('id="data">')[2].partition("</script>")[0]
    assert not set("<>&\u2028") & set(data) and EVIL.split()[0] in json.loads(data)["lines"][0]


def test_the_policy_names_the_style_and_the_script(tmp_path: Path) -> None:
    page = hostile(tmp_path)
    for tag in ("style", "script"):
        held = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert len(held) == 1
        assert f"{tag}-src 'sha256-{b64encode(sha256(held[0].encode()).digest()).decode()}'" in page
    assert "default-src 'none'" in page


@pytest.mark.parametrize("form", ["html", "md", "json"])
def test_no_path_and_nothing_that_is_not_cited(form: str, tmp_path: Path) -> None:
    text = hostile(tmp_path, "--format", form)
    assert "/home/someone" not in text and str(tmp_path) not in text and "UNCITED" not in text
    assert "154.0 bn" in text


@given(st.text())
def test_no_text_makes_a_tag_of_its_own(text: str) -> None:
    known = {"p", "ul", "li", "h3", "br", "a", "strong", "div", "table", "thead", "tbody", "tr", "th", "td"}
    assert set(Tags(blocks(text, ["1.1"])).tags) <= known


def test_citations_lead_to_sources_that_are_there() -> None:
    assert inline("a [1.1, 1.2]", ["1.1", "1.2"]).count("<a ") == 2
    assert inline("a [1.1] [9.9]", ["1.1"]).endswith("[9.9]")
    assert web_or_name("https://a.example/x?y=1") == ("https://a.example/x?y=1", "")
    assert web_or_name("file:///home/me/a.md") == web_or_name("C:\\me\\a.md") == ("", "a.md")


# Where it goes -----------------------------------------------------------------------------------


def test_a_file_that_is_no_report_stays(case: Path) -> None:
    Path("report.html").write_text("my own page")
    ran = harness("report")
    assert ran.code == 1 and "a file that is no report stands there" in ran.err and "--force" in ran.err
    assert Path("report.html").read_text() == "my own page"
    assert harness("report", "--force").code == harness("report").code == 0


def test_no_report_stands_inside_a_case_or_behind_a_link(case: Path) -> None:
    assert "inside a case" in harness("report", "-o", "research/report.html").err
    Path("there.html").symlink_to("elsewhere.html")
    assert "a link or a folder" in harness("report", "-o", "there.html").err
    assert "cannot write the report" in harness("report", "-o", "none/there.html").err
    assert not Path("elsewhere.html").exists()
