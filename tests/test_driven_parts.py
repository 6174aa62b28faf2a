"""A raw that does not fit, read in parts by the real agent programs with a scripted model behind them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.formats.raw import render_raw
from harness.model import QueryRecord, Raw, RawHead, Source
from harness.tokens import estimate
from tests.agent_programs import each
from tests.agent_server import AgentServer, Asked, Said
from tests.driven import SYNTHESIZER, packet_of, researcher, role_of, wire
from tests.program import harness
from tests.trees import read_tree, write_tree

WINDOW = 32_000  # tokens; less a reply of 16,000, the summary's 8,000 and the prompt some 5,000 are left
FILLER = "Nothing of interest is said here. "
PAGE = "".join(
    f"The revenue of Samokat{at} was {at + 100}.0 bn roubles in 2024.\n\n{FILLER * 60}\n\n" for at in range(24)
)
RAW = render_raw(
    Raw(
        RawHead("search", (QueryRecord("Samokat revenue 2024", "web", "found"),)),
        (
            Source(
                "Samokat in 2024", "Samokat had a revenue of 154.0 bn roubles in 2024.\n\n" + PAGE, "https://e.org/1"
            ),
        ),
    )
)


def part_of(packet: str) -> tuple[int, int] | None:
    told = re.search(r"part (\d+) of (\d+)", packet)
    return (int(told[1]), int(told[2])) if told else None


def reader(asked: Asked) -> Said:
    """Copies what the part says of each firm below what the summary has; all other roles as in a research."""
    if role_of(asked) != SYNTHESIZER:
        return researcher(asked)
    packet = packet_of(asked)
    old = re.findall(r"^- (The revenue of .* \[1\.1\])$", packet, re.MULTILINE)
    stated = re.findall(r"^(The revenue of Samokat\d+ was .* in 2024)\.$", packet, re.MULTILINE)
    if "Samokat had a revenue" in packet:
        stated.insert(0, "The revenue of Samokat was 154.0 bn roubles in 2024")
    facts = list(dict.fromkeys([*old, *(f"{one} [1.1]" for one in stated)]))
    return Said("Summary:\n## Confirmed\n" + "".join(f"- {fact}\n" for fact in facts) + "\nRemoved:\n- none\n")


@pytest.mark.parametrize("name", each("claude", "codex", "opencode", "gemini"))
def test_every_part_comes_in_order_within_the_window(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "What was the revenue of Samokat in 2024?\n"
    write_tree(tmp_path, {"research/question.md": question, "research/raw_1.md": RAW, "docs/a.md": "text\n"})
    monkeypatch.chdir(tmp_path)
    with AgentServer(reader) as server:
        wire((name,), server.url, monkeypatch)
        ran = harness("run", "--agent", name, "--window", str(WINDOW), "--in", "docs", "--unattended")
    assert ran.code == 0 and "154.0 bn roubles" in ran.out, ran.err
    packets = [packet_of(asked) for asked in server.asked if role_of(asked) == SYNTHESIZER]
    parts = [part_of(packet) for packet in packets]
    assert len(parts) > 1 and parts == [(number, len(parts)) for number in range(1, len(parts) + 1)]
    assert all(estimate(packet) <= WINDOW for packet in packets)
    shown = "".join(packets)
    assert all(f"Samokat{at} was {at + 100}.0 bn" in shown for at in range(24))
    summary = read_tree(tmp_path / "research")["summary.md"]
    assert all(f"- The revenue of Samokat{at} was {at + 100}.0 bn roubles in 2024 [1.1]" in summary for at in range(24))
    assert "reading:" not in summary and "unread:" not in summary
