"""The report in a real browser: the slider, citations, keys, and that nothing hostile runs and nothing is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import NEEDS_BROWSER, Browser, browsing
from tests.program import harness
from tests.test_report import hostile

pytestmark = [*NEEDS_BROWSER]
RESEARCH = Path(__file__).parent.parent / "research"
FILLED = "document.querySelectorAll('#table td:not(.open)').length"
LEFT, RIGHT, HOME = ("ArrowLeft", 37), ("ArrowRight", 39), ("Home", 36)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsing(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Browser:
    """The shipped example."""
    assert harness("-C", str(RESEARCH), "report", "-o", str(tmp_path / "report.html")).code == 0
    browser.open(tmp_path / "report.html")
    return browser


def test_keys_move_the_slider_and_the_table_follows(page: Browser) -> None:
    page.ask("document.getElementById('rounds').focus()")
    last, facts = page.ask(FILLED), page.ask("document.querySelectorAll('#lines li').length")
    page.press(*HOME)
    assert page.ask("document.getElementById('where').textContent") == "Round 1"
    assert 0 < page.ask(FILLED) < last and page.ask("document.querySelectorAll('#lines li').length") < facts
    assert page.ask("document.querySelectorAll('#lines .added').length") > 0
    first = page.ask("document.getElementById('told').textContent")
    page.press(*RIGHT)
    assert page.ask("document.getElementById('rounds').getAttribute('aria-valuetext')") == "Round 2"
    assert page.ask("document.getElementById('told').textContent") != first
    page.press(*LEFT)
    assert page.ask("document.getElementById('told').textContent") == first
    assert page.faults() == [] and page.requests() == []


def test_a_citation_opens_its_passage(page: Browser) -> None:
    page.ask("document.querySelector('#answer a.cite').click()")
    page.ask("new Promise(done => setTimeout(done, 100))")
    assert page.ask("[...document.querySelectorAll('#sources details[open]')].map(one => one.id)") == ["s-1.2"]
    assert "20,432,662" in page.ask("document.querySelector('#sources details[open] mark').textContent")
    assert page.ask("document.activeElement.tagName") == "SUMMARY"
    page.ask("document.querySelector('#sources details[open]').open = false")
    page.ask("document.querySelector('#answer a.cite').click()")
    assert page.ask("document.querySelectorAll('#sources details[open]').length") == 1
    assert page.faults() == [] and page.requests() == []


def test_nothing_hostile_runs(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(hostile(tmp_path), encoding="utf-8")
    browser.open(tmp_path / "report.html")
    browser.ask("new Promise(done => setTimeout(done, 100))")
    assert browser.faults() == [] and browser.requests() == []
    assert browser.ask("document.querySelectorAll('img, #lines script').length") == 0
    assert "<script>alert(1)" in browser.ask("document.getElementById('lines').textContent")


def test_a_script_that_got_in_would_be_refused(browser: Browser, tmp_path: Path) -> None:
    text = hostile(tmp_path).replace("</main>", "<script>window.ran = 1</script></main>")
    (tmp_path / "report.html").write_text(text, encoding="utf-8")
    browser.open(tmp_path / "report.html")
    assert browser.ask("window.ran === undefined") is True
    assert any("Content Security Policy" in str(fault) for fault in browser.faults())


def test_dark_and_light_differ_and_print_leaves_out_the_rounds(page: Browser, tmp_path: Path) -> None:
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    page.picture(tmp_path / "dark.png", dark=True)
    dark = page.ask(ground)
    page.picture(tmp_path / "light.png", dark=False)
    assert dark != page.ask(ground)
    page.call("Emulation.setEmulatedMedia", media="print")
    assert page.ask("getComputedStyle(document.querySelector('.slider')).display") == "none"
    assert page.ask("getComputedStyle(document.querySelector('#table')).display") == "block"
    page.call("Emulation.setEmulatedMedia", media="")
