"""Laws of init over whatever a project already holds: removing undoes it to the byte, twice is once."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.init_world import EVERY, World, words
from tests.trees import write_tree

FOREIGN = "---\nname: research\n---\nmine\n"
TEXTS = [
    "",
    "\n",
    "# Rules\n",
    "# Rules",
    "# Правила\r\nдва\r\n",
    "\ufeffrules\n",
    "a\r",
    "---\nname: research\n---\nmine\n",
]
SETTINGS = ["{}", "{}\n", '{"a": 1}', '{\n  "hooks": {}\n}\n', '{\n    "hooks": {\n        "Stop": []\n    }\n}']
BLOCKED = ["CLAUDE.md", "AGENTS.md", "GEMINI.md", "QWEN.md", "CONVENTIONS.md", ".goosehints"]
WHOLE = [
    ".agents/skills/research/SKILL.md",
    ".opencode/command/research.md",
    ".gemini/commands/research.toml",
    ".claude/agents/research-planner.md",
    ".claude/skills/research/SKILL.md",
]
EMPTY = [".claude", ".claude/agents", ".gemini/commands", ".agents/skills/research", ".github", "src"]


class Before(NamedTuple):
    """A project as it was: text by path, bits by path, and folders with nothing in them."""

    texts: dict[str, str]
    modes: dict[str, int]
    folders: list[str]


MODES = st.sampled_from([0o644, 0o600, 0o755, 0o640])


def _before(texts: dict[str, str], settings: str | None, mode: int, folders: list[str]) -> Before:
    every = texts if settings is None else {**texts, ".claude/settings.json": settings}
    return Before(every, {name: mode for name in every if name != "src/main.py"}, folders)


PROJECTS = st.builds(
    _before,
    st.dictionaries(st.sampled_from([*BLOCKED, *WHOLE, "src/main.py"]), st.sampled_from(TEXTS), max_size=6),
    st.none() | st.sampled_from(SETTINGS),
    MODES,
    st.lists(st.sampled_from(EMPTY), max_size=3),
)
AGENTS = st.lists(st.sampled_from(EVERY), min_size=1, max_size=4, unique=True)


@contextmanager
def made(before: Before) -> Iterator[World]:
    with tempfile.TemporaryDirectory() as root:
        world = World(Path(root))
        write_tree(world.project, before.texts)
        for name, mode in before.modes.items():
            (world.project / name).chmod(mode)
        for folder in before.folders:
            (world.project / folder).mkdir(parents=True, exist_ok=True)
        yield world


@settings(deadline=None, max_examples=60)
@given(before=PROJECTS, agents=AGENTS)
def test_removing_gives_back_every_byte_bit_and_folder(before: Before, agents: list[str]) -> None:
    with made(before) as world:
        was = world.tree()
        world.init(*agents)
        world.init(*agents)
        world.remove()
        assert world.tree() == was
        assert not list((world.data / "init").iterdir())


@settings(deadline=None, max_examples=60)
@given(before=PROJECTS, agents=AGENTS)
def test_twice_is_once(before: Before, agents: list[str]) -> None:
    with made(before) as world:
        world.init(*agents)
        once = world.tree()
        again = world.init(*agents)
        assert set(words(again).values()) == {"unchanged"}
        assert world.tree() == once


@settings(deadline=None, max_examples=40)
@given(before=PROJECTS, first=AGENTS, second=AGENTS)
def test_agents_one_after_the_other_are_agents_together(before: Before, first: list[str], second: list[str]) -> None:
    with made(before) as world, made(before) as other:
        was = world.tree()
        world.init(*first)
        world.init(*second)
        other.init(*first, *second)
        assert without_paths(world) == without_paths(other)
        world.remove()
        assert world.tree() == was


def without_paths(world: World) -> str:
    """The tree; a settings.json names the data folder."""
    return repr(world.tree()).replace(str(world.data.parent), "")


@settings(deadline=None, max_examples=40)
@given(before=PROJECTS, agents=AGENTS)
def test_nothing_of_others_is_lost_in_between(before: Before, agents: list[str]) -> None:
    """Each text that was there is still there: in its place, around a block, or aside."""
    with made(before) as world:
        world.init(*agents)
        now = [inside for _, inside in world.tree().values() if isinstance(inside, bytes)]
        for name, text in before.texts.items():
            if not name.endswith("settings.json"):
                assert any(text.encode() in inside for inside in now), name


@settings(deadline=None, max_examples=60)
@given(before=PROJECTS, agents=AGENTS)
def test_a_clone_that_remembers_nothing_is_cleared_by_the_marks(before: Before, agents: list[str]) -> None:
    texts = {name: text for name, text in before.texts.items() if name in (*BLOCKED, "src/main.py")}
    with made(Before(texts, {}, [])) as world:
        was = world.tree()
        world.init(*agents)
        shutil.rmtree(world.data)
        world.remove()
        assert world.tree() == was


@settings(deadline=None, max_examples=40)
@given(before=PROJECTS, agents=AGENTS, added=st.sampled_from(["more\n", "more", "\nmore\r\n"]))
def test_what_a_person_adds_later_stays(before: Before, agents: list[str], added: str) -> None:
    with made(before) as world:
        world.init(*agents)
        blocked = [world.project / name for name in BLOCKED if (world.project / name).exists()]
        for path in blocked:
            path.write_bytes(path.read_bytes() + added.encode())
        world.remove()
        for path in blocked:
            old = before.texts.get(path.name, "").encode()
            # A newline that ends the line of our last mark goes with it.
            assert path.read_bytes().startswith(old) and path.read_bytes().endswith(added.lstrip("\n").encode())
            assert b"harness init" not in path.read_bytes()


def test_every_settings_file_of_the_laws_is_one_that_is_merged() -> None:
    assert all(isinstance(json.loads(text), dict) for text in SETTINGS)
