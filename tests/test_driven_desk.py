"""The two programs that docs/agents.md sets up to work through files: they write at their desk and nowhere else."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from harness.desk import PROMPT_FILE
from tests.agent_programs import each
from tests.agent_server import AgentServer, Asked, Call, Said
from tests.driven import make_research, wire
from tests.program import harness, user_config

ACTION = 'Action: search("Samokat revenue 2024")'
FENCE = re.compile(r"```yaml\n(agents:\n  claude-desk:.*?)```", re.DOTALL)


def steps(name: str, desk: str, secret: Path, escaped: Path) -> list[Call]:
    """Reads what it may not, writes where it may not, reads its prompt, writes its reply."""
    if name == "codex":
        look = f"cat {secret}; echo x > {escaped}; echo x > ../escaped; cat {PROMPT_FILE}"
        return [Call("exec_command", {"cmd": f"{look}; echo {shlex.quote(ACTION)} > next_query.txt"})]
    return [
        Call("Read", {"file_path": str(secret)}),
        Call("Write", {"file_path": str(escaped), "content": "x"}),
        Call("Read", {"file_path": f"{desk}/{PROMPT_FILE}"}),
        Call("Write", {"file_path": f"{desk}/next_query.txt", "content": ACTION}),
    ]


@pytest.mark.parametrize("name", each("claude", "codex"))
def test_it_writes_its_reply_and_nothing_else(
    name: str, tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_research(tmp_path)
    escaped = tmp_path / "escaped"
    home = Path.home()
    secret = home / "Documents" / "diary.txt"
    secret.parent.mkdir()
    secret.write_text("the-canary-sings\n")

    def writes(asked: Asked) -> Said:
        desk = re.search(r"/\S*harness-desk-\w+", json.dumps(asked.body))
        calls = steps(name, desk[0] if desk else ".", secret, escaped)
        return Said("A step.", (calls[asked.replies],)) if asked.replies < len(calls) else Said("Written.")

    desk_of = FENCE.search((repository / "docs/agents.md").read_text(encoding="utf-8"))
    assert desk_of
    user_config(desk_of[1])
    with AgentServer(writes) as server:
        wire((name,), server.url, monkeypatch)
        # Codex keeps no helper of its sandbox below the temporary folder, where HOME lies in a test.
        (home / "tmp").mkdir()
        monkeypatch.setenv("CODEX_HOME", str(home / ".codex"))
        monkeypatch.setenv("TMPDIR", str(home / "tmp"))
        ran = harness("step", "--agent", f"{name}-desk")
    assert ran.code == 0 and ran.out == "ask: Samokat revenue 2024\n", ran.err
    sent = "\n".join(text for asked in server.asked for _, text in asked.messages)
    assert "You are the Planner" in sent, "it read its prompt"
    assert "the-canary-sings" not in sent, "it read a document"
    assert not escaped.exists() and not (home / "tmp/escaped").exists(), "it wrote elsewhere"
