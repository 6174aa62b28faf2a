"""Whole researches inside the real Claude Code, typed as `/research …`; what each request held is looked at."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from harness.formats.raw import parse_raw
from tests.agent_programs import needs
from tests.agent_server import AgentServer, Asked, Call, Said
from tests.real_claude import QUESTION, SECRET, Stage, cast, requests_of, role_of, sent

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
    stage = Stage(tmp_path, 2, {"sub/deep/x.txt": "x"})
    with AgentServer(cast(2)) as server:
        ran = stage.ask(server, f"/research {QUESTION}", sub="sub/deep")
    assert ran.code == 0, ran.out + ran.err
    # A new case begins where the person stands; it searches the project's documents.
    assert (stage.project / "sub/deep/research/answer.md").is_file()


@needs("claude")
@pytest.mark.parametrize("in_project", [False, True], ids=["plugin", "plugin and project files"])
def test_as_init_lays_it_down_every_turn_is_done_once(tmp_path: Path, in_project: bool) -> None:
    stage = Stage(tmp_path, 2)
    with AgentServer(cast(2)) as server:
        stage.init(server, in_project=in_project)
        ran = stage.ask(server, f"/research {QUESTION}")
    assert ran.code == 0, ran.out + ran.err
    assert stage.roles() == ["planner", "search", "synthesizer"] * 2 + ["planner", "checker"]
    assert len(requests_of(server, "Planner")) == 3
    rejected = stage.case / ".harness/rejected"
    assert not rejected.exists()


@needs("claude")
def test_switched_off_nothing_of_ours_happens(tmp_path: Path) -> None:
    stage = Stage(tmp_path, 2)
    with AgentServer(cast(2)) as server:
        ran = stage.ask(server, f"/research {QUESTION}", HARNESS_HOOKS="0")
        assert "Research in" not in sent(server.asked[-1])
    assert ran.code == 0
    assert not stage.case.exists()


MCP_SERVER = """
import json, sys
for line in sys.stdin:
    call = json.loads(line)
    if "id" not in call:
        continue
    result = {}
    if call["method"] == "initialize":
        version = call["params"]["protocolVersion"]
        about = {"name": "pages", "version": "1"}
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    elif call["method"] == "tools/list":
        schema = {"type": "object", "properties": {"query": {"type": "string"}}}
        result = {"tools": [{"name": "find", "description": "finds", "inputSchema": schema}]}
    elif call["method"] == "tools/call":
        query = call["params"]["arguments"]["query"]
        page = {"title": "Page", "url": "https://pages.example/1", "text": query + ": it was 11 bn roubles. %s"}
        result = {"content": [{"type": "text", "text": json.dumps([page])}]}
    print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": result}), flush=True)
"""


@needs("claude")
def test_a_search_by_the_sub_agent_with_the_web_and_a_named_tool(tmp_path: Path) -> None:
    """No search is set up: the searcher makes it; what its tools gave is the raw, and nobody is asked to permit it."""
    server_file = tmp_path / "server.py"
    server_file.write_text(MCP_SERVER % SECRET, encoding="utf-8")
    servers = {"mcpServers": {"pages": {"command": sys.executable, "args": [str(server_file)]}}}
    tool = "mcp__pages__find"
    files = {".mcp.json": json.dumps(servers), "harness.yaml": "rounds: 3\n"}
    stage = Stage(tmp_path, 1, files, search_tools=(tool,))

    def searching(asked: Asked) -> Said:
        if asked.tools == ("web_search",):  # WebSearch asks the model's own search for it
            return Said("The web says: Firm1 had 11 bn roubles.")
        if role_of(asked) != "searcher":
            return cast(1)(asked)
        steps = (
            Said(calls=(Call("WebSearch", {"query": "revenue of Firm1 2024"}),)),
            Said(calls=(Call(tool, {"query": "revenue of Firm1 2024"}),)),
            Said(calls=(Call("Bash", {"command": "cat harness.yaml"}),)),
            Said("## 1. The page\n- url: https://pages.example/1\n\nFirm1 had a revenue of 11 bn roubles in 2024.\n"),
        )
        return steps[asked.replies]

    with AgentServer(searching) as server:
        ran = stage.ask(server, f"/research {QUESTION}")
        searchers = requests_of(server, "searcher")
        mains, planners = requests_of(server, "main"), requests_of(server, "Planner")
    assert ran.code == 0, ran.out + ran.err
    assert json.loads(ran.out)["permission_denials"] == []
    assert set(searchers[0].tools) == {"WebSearch", "WebFetch", tool}
    assert "No such tool available" in sent(searchers[-1])  # the shell
    raw = parse_raw((stage.case / "raw_1.md").read_text(encoding="utf-8"), "raw_1.md")
    assert [(source.origin, source.url) for source in raw.sources] == [
        ("digest", ""),
        ("recorded", "https://pages.example/1"),
    ]
    assert raw.head.queries[0].outcome == "found"
    assert not any(SECRET in sent(asked) for asked in (*mains, *planners))
    assert (stage.case / "answer.md").is_file()
