"""The searcher inside Claude Code: its raw is built from what its tools gave, as the hooks recorded it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.formats.raw import parse_raw
from harness.model import Raw
from tests.claude_events import Claude, query, summary
from tests.test_inside_roles import DOCUMENTS, QUESTION
from tests.trees import write_tree

SEARCHED = "Samokat revenue 2024"
PAGES = [{"title": "Ranking", "url": "https://rank.example/2024", "text": "Revenue of Samokat 2024: 154.0 bn roubles."}]


def begin(tmp_path: Path, **files: str) -> Claude:
    """A session at the moment when the search is due."""
    (tmp_path / ".git").mkdir()
    claude = Claude(write_tree(tmp_path, {"research/question.md": QUESTION, **files}))
    claude.types("/research")
    assert "call the sub-agent research-searcher" in claude.turn("planner", query(SEARCHED))
    assert SEARCHED in claude.calls("searcher")
    return claude


def raw(tmp_path: Path, number: int = 1) -> Raw:
    path = tmp_path / f"research/raw_{number}.md"
    return parse_raw(path.read_text(encoding="utf-8"), path.name)


def test_what_a_tool_gave_is_recorded(tmp_path: Path) -> None:
    claude = begin(tmp_path)
    claude.finds("mcp__find__find", {"query": SEARCHED}, [{"type": "text", "text": json.dumps(PAGES)}])
    assert claude.replies("searcher", "") == ""
    assert "call the sub-agent research-synthesizer" in claude.sees("searcher")
    found = raw(tmp_path)
    assert [(one.query, one.provider, one.outcome) for one in found.head.queries] == [
        (SEARCHED, "claude-code", "found")
    ]
    assert [(one.title, one.url, one.origin) for one in found.sources] == [
        ("Ranking", "https://rank.example/2024", "recorded")
    ]
    fact = "Samokat: revenue 2024 — 154.0 bn roubles [1.1]"
    assert "call the sub-agent research-planner" in claude.turn("synthesizer", summary(fact))


def test_what_only_a_model_told_is_marked_so(tmp_path: Path) -> None:
    claude = begin(tmp_path)
    links = {"tool_use_id": "x", "content": [{"title": "Ranking", "url": "https://rank.example/2024"}]}
    claude.finds("WebSearch", {"query": SEARCHED}, {"query": SEARCHED, "results": ["It was 154.0 bn.", links]})
    claude.finds("WebFetch", {"url": "https://rank.example/2024"}, {"url": "x", "code": 200, "result": "154.0 bn."})
    claude.replies("searcher", "")
    sources = raw(tmp_path).sources
    assert [one.origin for one in sources] == ["digest", "digest"]
    assert "It was 154.0 bn." in sources[0].text
    assert "https://rank.example/2024" in sources[0].text
    assert (sources[1].url, sources[1].text.strip()) == ("https://rank.example/2024", "154.0 bn.")


def test_an_address_that_no_tool_showed_is_not_a_source_s(tmp_path: Path) -> None:
    claude = begin(tmp_path)
    claude.finds("WebFetch", {"url": "https://rank.example/2024"}, {"result": "154.0 bn."})
    reply = (
        "## 1. The ranking\n- url: https://rank.example/2024\n\nRevenue: 154.0 bn roubles.\n\n"
        "## 2. An invention\n- url: https://example.com/made-up\n\nRevenue: 200 bn roubles.\n"
    )
    claude.replies("searcher", reply)
    told = [source for source in raw(tmp_path).sources if source.title in ("The ranking", "An invention")]
    assert {source.origin for source in told} == {"digest"}
    assert {source.url for source in told} <= {"https://rank.example/2024", ""}
    assert "https://example.com/made-up" not in {source.url for source in raw(tmp_path).sources}


def test_nothing_found_and_nothing_reached_are_two_things(tmp_path: Path) -> None:
    claude = begin(tmp_path)
    claude.replies("searcher", "")
    assert raw(tmp_path).head.queries[0].outcome == "empty"
    line = claude.sees("searcher")
    assert "call the sub-agent research-planner" in line  # a raw without sources is folded by code
    assert "research-searcher" in claude.turn("planner", query("Samokat turnover 2024"))
    claude.calls("searcher")
    claude.finds("WebFetch", {"url": "https://rank.example"}, None, error="HTTP 403\x1b[0m")
    claude.replies("searcher", "")
    assert raw(tmp_path, 2).head.queries[0].outcome == "blocked"
    assert raw(tmp_path, 2).head.attempts[0].error == "WebFetch: HTTP 403"


def test_findings_of_one_round_are_not_those_of_the_next(tmp_path: Path) -> None:
    claude = begin(tmp_path)
    claude.finds("mcp__find__find", {"query": SEARCHED}, [{"type": "text", "text": json.dumps(PAGES)}])
    claude.replies("searcher", "")
    claude.sees("searcher")
    claude.turn("synthesizer", summary("Samokat: revenue 2024 — 154.0 bn roubles [1.1]"))
    claude.turn("planner", query("Samokat founder"))
    claude.calls("searcher")
    claude.replies("searcher", "")
    assert raw(tmp_path, 2).sources == ()


def test_a_folder_comes_first_where_it_stands_first(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    ladder = {
        **DOCUMENTS,
        "harness.yaml": "search:\n- folder: docs\n- agent: claude\n",
        "research/question.md": QUESTION,
    }
    claude = Claude(write_tree(tmp_path, ladder))
    claude.types("/research")
    assert "research-synthesizer" in claude.turn("planner", query(SEARCHED))
    claude.turn("synthesizer", summary("Samokat: revenue 2024 — 154.0 bn roubles [1.1]"))
    assert "research-searcher" in claude.turn("planner", query("Quokka population"))


def test_a_program_is_never_started_by_a_hook(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    config = tmp_path / "home"
    (config / "config").mkdir(parents=True)
    marker = tmp_path / "started"
    settings = f"search:\n- mine: {{command: [touch, {marker}]}}\nplanner: other\n"
    agents = f"agents:\n  other: {{command: [touch, {marker}]}}\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CONFIG_DIR", str(config / "config"))
        (config / "config" / "config.yaml").write_text(settings + agents, encoding="utf-8")
        claude = Claude(write_tree(tmp_path, {"research/question.md": QUESTION}))
        claude.types("/research")
        told = claude.turn("planner", query(SEARCHED))
    assert told.startswith("Research: it stops here: the search mine is a program, and hooks start none")
    assert told.endswith("harness search. Tell the person; /research goes on when that is settled.")
    assert not marker.exists()


def test_a_rung_above_the_searcher_is_asked_once_a_round_and_counts(tmp_path: Path) -> None:
    ladder = "search:\n- folder: {path: docs, cap: 1}\n- agent: claude\n"
    files = {"harness.yaml": ladder, "docs/quokka.md": "# Quokka\n\nThe quokka lives on an island.\n"}
    claude = begin(tmp_path, **files)
    claude.replies("searcher", "Nothing found.")
    line = (tmp_path / "research/trace.jsonl").read_text(encoding="utf-8").splitlines()[-2]
    assert json.loads(line)["asked"] == ["folder", "claude-code"]


def test_a_tool_output_of_many_megabytes_is_a_failure_that_is_told(tmp_path: Path) -> None:
    claude = begin(tmp_path)
    claude.finds("mcp__find__find", {"query": SEARCHED}, [{"type": "text", "text": "x" * 9_000_000}])
    claude.replies("searcher", "")
    assert raw(tmp_path).head.queries[0].outcome == "blocked"
    assert "more than 8000000" in raw(tmp_path).head.attempts[0].error
