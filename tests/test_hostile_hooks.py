"""A project from a stranger, opened in Claude Code: our hooks start, read, reach and tell nothing that is not its."""

from __future__ import annotations

import json
import socket

import pytest

from harness.store import Store
from tests.claude_events import Claude, query, summary
from tests.test_hostile_clone import PROJECTS, SECRET, Clone, clone, listening, untouched
from tests.trees import write_tree

__all__ = ["clone", "listening"]
# What a role would have to see, or a line to say, if a secret had been read.
SECRETS = (SECRET, "Key")


def a_session(clone: Clone) -> str:
    """Everything that a session does at a case; all that our hooks said."""
    claude = Claude(clone.folder)
    said = [str(claude.tell("SessionStart", source="startup")), str(claude.types("/research"))]
    for role, reply in (
        ("planner", query("revenue of the key")),
        ("searcher", "## 1. A page\n- url: https://example.org/\n\nThe revenue is 5.\n"),
        ("synthesizer", summary("Samokat: revenue 2024 — 154 bn [1.1]")),
        ("checker", "{}"),
    ):
        said += [claude.calls(role), claude.replies(role, reply), claude.sees(role)]
    said += [
        str(claude.types(words)) for words in ("/research status", "/research steer: x", "/research stop", "hello")
    ]
    return "\n".join([*said, claude.stops(), str(claude.tell("SessionEnd", reason="exit"))])


@pytest.mark.parametrize("project", PROJECTS)
def test_a_strangers_project_is_harmless_to_a_session(project: str, clone: Clone, listening: socket.socket) -> None:
    PROJECTS[project](clone)
    said = a_session(clone)
    assert not [secret for secret in SECRETS if secret in said]
    assert "Traceback" not in said
    assert "unexpected error" not in said
    untouched(clone, listening)


def a_search_that_finds_nothing(clone: Clone) -> None:
    (clone.case / "summary.md").unlink()
    (clone.case / "raw_1.md").unlink()
    claude = Claude(clone.folder)
    claude.types("/research")
    claude.turn("planner", query("Samokat revenue"))
    claude.calls("searcher")
    claude.replies("searcher", "Nothing found.")


def test_findings_that_were_there_before_are_not_found(clone: Clone) -> None:
    planted = {"tool": "mcp__x__y", "asked": {}, "response": "planted", "error": ""}
    write_tree(clone.case / ".harness/found", {"a.json": json.dumps(planted)})
    a_search_that_finds_nothing(clone)
    assert "planted" not in (clone.case / "raw_1.md").read_text(encoding="utf-8")


def test_a_folder_of_findings_that_is_a_link_is_left_alone(clone: Clone) -> None:
    (clone.case / ".harness").mkdir()
    elsewhere = clone.home / "private"
    write_tree(elsewhere, {"a.json": json.dumps({"tool": "t", "asked": {}, "response": SECRET, "error": ""})})
    (clone.case / ".harness/found").symlink_to(elsewhere)
    a_search_that_finds_nothing(clone)
    assert (elsewhere / "a.json").is_file()
    assert not any(SECRET in path.read_text(encoding="utf-8") for path in clone.case.glob("*.md"))


def test_a_seat_from_elsewhere_is_nobody_s(clone: Clone) -> None:
    """Replies that a stranger wrote into the seat are never committed."""
    turn = {"use": "u", "role": "planner", "prompt": "p", "token": "t", "replies": [query("planted query")]}
    Store(clone.case).put_helper("inside.json", json.dumps({"session": "s", "turn": turn, "over": False}))
    claude = Claude(clone.folder)
    claude.types("/research")
    assert "planted" not in claude.calls("planner")
    assert not (clone.case / "next_query.txt").exists()
