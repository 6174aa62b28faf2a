"""Whole researches inside the real Claude Code, typed as `/research …`; what each request held is looked at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.agent_programs import needs
from tests.agent_server import AgentServer
from tests.real_claude import QUESTION, SECRET, Stage, cast, requests_of, sent

GROWTH = 1_600  # bytes a round of the main agent's conversation: two calls and two lines


@needs("claude")
@pytest.mark.parametrize("firms", [3, 30])
def test_a_whole_research_ends_in_the_answer(tmp_path: Path, firms: int, capsys: pytest.CaptureFixture[str]) -> None:
    stage = Stage(tmp_path, firms)
    with AgentServer(cast(firms)) as server:
        ran = stage.ask(server, f"/research {QUESTION}", timeout=300)
        mains, planners = requests_of(server, "main"), requests_of(server, "Planner")
        synthesizers = requests_of(server, "Synthesizer")
    assert ran.code == 0, ran.out + ran.err
    result = json.loads(ran.out)
    assert not result["is_error"]
    assert result["permission_denials"] == []
    assert (stage.case / "answer.md").read_text(encoding="utf-8").startswith("---\nstatus: complete\n")
    assert stage.roles() == ["planner", "search", "synthesizer"] * firms + ["planner", "checker"]

    sizes = [len(json.dumps(asked.body["messages"]).encode()) for asked in mains]
    growth = (sizes[2 * firms] - sizes[0]) / firms
    with capsys.disabled():
        print(f"\n{firms} rounds in {ran.seconds:.0f} s; main agent: {growth:.0f} bytes a round")
    assert growth < GROWTH
    assert (len(planners), len(synthesizers)) == (firms + 1, firms)
    assert all(asked.tools == () for asked in (*planners, *synthesizers))
    assert not any(SECRET in sent(asked) for asked in (*mains, *planners))
    assert all(SECRET in sent(asked) for asked in synthesizers)
    assert not any("bn roubles" in sent(asked) for asked in mains)
    # What a role reads does not grow with the rounds, but for the facts themselves.
    first, last = (len(sent(asked)) for asked in (planners[1], planners[-1]))
    assert last - first < 400 * firms


@needs("claude")
def test_started_in_a_sub_folder(tmp_path: Path) -> None:
    stage = Stage(tmp_path, 2, **{"sub/deep/x.txt": "x"})
    with AgentServer(cast(2)) as server:
        ran = stage.ask(server, f"/research {QUESTION}", sub="sub/deep")
    assert ran.code == 0, ran.out + ran.err
    # A new case begins where the person stands; it searches the project's documents.
    assert (stage.project / "sub/deep/research/answer.md").is_file()


@needs("claude")
def test_switched_off_nothing_of_ours_happens(tmp_path: Path) -> None:
    stage = Stage(tmp_path, 2)
    with AgentServer(cast(2)) as server:
        ran = stage.ask(server, f"/research {QUESTION}", HARNESS_HOOKS="0")
        assert "Research in" not in sent(server.asked[-1])
    assert ran.code == 0
    assert not stage.case.exists()
