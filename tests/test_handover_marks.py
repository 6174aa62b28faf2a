"""By hand: a mark tells which turn a reply is to, the clipboard carries it, the terminal cuts nothing of it."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.clipboard import osc_52
from harness.errors import RepliesDefective, StateMoved
from harness.handover import hand_out, search_due, take_in
from harness.marks import mark_of, taken_off
from tests.fakes import copy_facts, make_session, search_for
from tests.program import COMMAND
from tests.trees import read_tree, write_tree

DOSSIER = Path(__file__).parent.parent / "templates" / "demo" / "documents"
XCLIP = '#!/bin/sh\ncase "$*" in *-o*) cat "$CLIP" ;; *) cat > "$CLIP" ;; esac\n'
pasting = pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals here")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "case", {"question.md": "What is alpha?\n"})


# Marks -------------------------------------------------------------------------------------------

WRAPPED = ("{}", "`{}`", "**{}**", "> {}", "```\n{}\n```", "## {}", "Sure! Here it is:\n\n{}", "{}  ")


@given(st.sampled_from(WRAPPED), st.sampled_from(["", "Think: x\n", "text\n"]), st.sampled_from(["", "\nmore\n"]))
def test_a_mark_is_found_however_a_chat_wraps_it(wrapped: str, above: str, below: str) -> None:
    mark, rest = taken_off(above + wrapped.format("#planner 3 a1b2c3") + below)
    assert mark == "#planner 3 a1b2c3" and "a1b2c3" not in rest
    assert above in rest and below.strip() in rest


@given(st.text(max_size=60))
def test_what_is_no_mark_stays(text: str) -> None:
    assert taken_off(text) == ("", text) or "#" in text


def test_an_old_reply_is_known_by_its_mark_and_kept_aside(folder: Path) -> None:
    session = make_session(folder)
    old = mark_of(hand_out(session))
    take_in(session, f"{old}\n{search_for('alpha')}")
    search_due(session)
    packet = hand_out(session)
    with pytest.raises(StateMoved, match="reply to another prompt") as told:
        take_in(session, f"{old}\n{search_for('beta')}")
    assert old in str(told.value) and mark_of(packet) in str(told.value)
    assert any("beta" in text for name, text in read_tree(folder).items() if "rejected" in name)
    assert take_in(session, f"{copy_facts(packet)}\n{mark_of(packet)}").action == "fold"


def test_a_mark_is_enough_where_the_helpers_were_deleted(folder: Path) -> None:
    session = make_session(folder)
    mark = mark_of(hand_out(session))
    shutil.rmtree(folder / ".harness")
    assert take_in(make_session(folder), f"{mark}\n{search_for('alpha')}").action == "ask"


def test_after_a_refused_reply_the_next_prompt_names_its_defects(folder: Path) -> None:
    session = make_session(folder)
    first = hand_out(session)
    with pytest.raises(RepliesDefective):
        take_in(session, "I would rather talk about the weather.")
    second = hand_out(session)
    assert second.defects and mark_of(second) == mark_of(first)
    assert "talk about the weather" in second.prompt and "the reply has no Action" in second.prompt
    assert hand_out(session).prompt == second.prompt
    assert take_in(session, search_for("alpha")).action == "ask"
    search_due(session)
    assert not hand_out(session).defects


# Clipboard ---------------------------------------------------------------------------------------


def program(case: Path, *words: str, clip: Path | None = None, **environ: str) -> subprocess.CompletedProcess[str]:
    """One command in a process of its own; `clip`: the file behind an `xclip` that stands first on its path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SSH_", "WAYLAND", "TMUX"))}
    if clip:
        bin_ = write_tree(clip.parent / "bin", {"xclip": XCLIP})
        (bin_ / "xclip").chmod(0o755)
        kept |= {"PATH": f"{bin_}:{kept['PATH']}", "DISPLAY": ":9", "CLIP": str(clip)}
    command = [*COMMAND, "-C", str(case), *words]
    return subprocess.run(command, env=kept | environ, text=True, capture_output=True, timeout=60, check=False)


@pytest.mark.skipif(sys.platform != "linux", reason="the clipboard program stands for those of Linux")
def test_a_round_is_one_command_and_two_pastes(tmp_path: Path) -> None:
    case, clip = (
        write_tree(tmp_path / "case", {"question.md": "What is the highest point of Tajikistan?\n"}),
        tmp_path / "clip",
    )
    ran = program(case, "next", "--copy", clip=clip)
    assert ran.returncode == 0 and "copied" in ran.stderr and "take --paste --copy" in ran.stderr and not ran.stdout
    prompt = clip.read_text(encoding="utf-8")
    mark = prompt.rstrip().split("\n")[-1]
    assert mark.startswith("#planner 1 ")
    clip.write_text(f"Of course!\n```\n{mark}\n{search_for('highest point of Tajikistan')}\n```\n", encoding="utf-8")
    ran = program(case, "take", "--paste", "--copy", "--in", str(DOSSIER), clip=clip)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("ask: ") and "sources from folder" in ran.stdout
    assert clip.read_text(encoding="utf-8").rstrip().split("\n")[-1].startswith("#synthesizer 1 ")
    assert "synthesizer, round 1" in ran.stderr


def test_without_any_clipboard_it_says_what_to_do(folder: Path, tmp_path: Path) -> None:
    ran = program(folder, "next", "--copy", PATH=str(tmp_path), DISPLAY="")
    assert ran.returncode == 1 and "there is no clipboard here" in ran.stderr and "--out FILE" in ran.stderr
    ran = program(folder, "take", "--paste", SSH_TTY="/dev/pts/9")
    assert ran.returncode == 1 and "cannot be read over ssh" in ran.stderr


@given(st.text(max_size=200).filter(lambda text: text.isprintable()))
def test_the_terminals_sequence_holds_the_text(text: str) -> None:
    plain, wrapped = osc_52(text, tmux=False), osc_52(text, tmux=True)
    assert base64.b64decode(plain.removeprefix("\x1b]52;c;").removesuffix("\x07")).decode() == text
    assert wrapped == "\x1bPtmux;" + plain.replace("\x1b", "\x1b\x1b") + "\x1b\\"


# Terminals ---------------------------------------------------------------------------------------


def in_terminal(case: Path, *words: str, typed: bytes, **environ: str) -> str:
    """What a command prints on a pseudo-terminal; `typed` comes once it has asked for it."""
    import pty

    pid, master = pty.fork()
    if not pid:
        os.environ.update(environ)
        os.execv(COMMAND[0], [*COMMAND, "-C", str(case), *words])
    told, sent = b"", not typed
    try:
        while piece := _read(master):
            told += piece
            if not sent and b"Ctrl-D" in told:
                sent = True
                for at in range(0, len(typed), 1_000):
                    os.write(master, typed[at : at + 1_000])
                    told += _ready(master)
    finally:
        os.close(master)
        os.waitpid(pid, 0)
    return told.decode(errors="replace")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65_536)
    except OSError:  # the other end is closed
        return b""


def _ready(descriptor: int) -> bytes:
    """What was echoed: a terminal that nobody reads stands still."""
    import select

    return os.read(descriptor, 65_536) if select.select([descriptor], [], [], 0.01)[0] else b""


@pasting
def test_a_pasted_line_of_any_length_comes_in_whole(folder: Path) -> None:
    think = "Think: " + "alpha beta " * 2_000
    told = in_terminal(folder, "take", "-", typed=f"{think}\n{search_for('alpha')}\n".encode() + b"\x04")
    assert "ask: " in told, told[-500:]
    assert read_tree(folder)["next_query.txt"].count("alpha beta") == 2_000


@pasting
def test_over_ssh_the_terminal_is_asked_to_copy(folder: Path) -> None:
    told = in_terminal(folder, "next", "--copy", typed=b"", SSH_TTY="/dev/pts/9", TMUX="")
    encoded = told.split("\x1b]52;c;")[1].split("\x07")[0]
    assert "What is alpha?" in base64.b64decode(encoded).decode()
