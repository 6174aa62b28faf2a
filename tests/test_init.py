"""`harness init` file by file: what it lays down, moves aside and refuses, and how it all comes out again."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.assets import template
from harness.errors import BrokenFile, WrongCall
from harness.scaffold.disk import Edit, apply
from harness.scaffold.pieces import known_agents
from harness.scaffold.wiring import NotWired, Wanted, wire
from tests.init_world import World, whole_tree, words
from tests.trees import write_tree

FOREIGN = "---\nname: research\ndescription: mine\n---\nMy own way.\n"
PLUGIN = "plugin research@research-harness"
SKILL = ".agents/skills/research/SKILL.md"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def with_claude(tmp_path: Path) -> World:
    return World(tmp_path, claude=True)


def plugins(world: World) -> dict[str, dict[str, str]]:
    told: dict[str, dict[str, str]] = json.loads((world.home / "plugins.json").read_text(encoding="utf-8"))
    return told


# What is laid down --------------------------------------------------------------------------------


def test_each_agent_gets_the_file_that_it_reads(world: World) -> None:
    lines = world.init(*known_agents(), in_project=True)
    assert set(words(lines).values()) == {"created"}
    for agent in known_agents().values():
        for path in (agent.reads, *agent.files):
            assert (world.project / path).is_file(), agent
        assert "\n## Research over plain files\n" in (world.project / agent.reads).read_text(encoding="utf-8")


def test_the_rest_of_an_instruction_file_stays(world: World) -> None:
    write_tree(world.project, {"AGENTS.md": "# Rules\r\nBe kind.", "CLAUDE.md": "\ufeff# Мои правила\n"})
    assert words(world.init("claude", "cursor"))["AGENTS.md"] == "updated"
    assert (world.project / "AGENTS.md").read_bytes().startswith(b"# Rules\r\nBe kind.\r\n\r\n<!-- harness init ")
    assert (world.project / "CLAUDE.md").read_bytes().startswith("\ufeff# Мои правила\n\n<!-- ".encode())


def test_of_a_link_to_another_instruction_file_the_file_gets_the_block_once(world: World) -> None:
    write_tree(world.project, {"AGENTS.md": "# Rules\n"})
    (world.project / "CLAUDE.md").symlink_to("AGENTS.md")
    was = world.tree()
    lines = world.init("claude", "codex", in_project=True)
    assert [line.what for line in lines if line.what.endswith("S.md")] == ["AGENTS.md"]
    assert (world.project / "AGENTS.md").read_text(encoding="utf-8").count("## Research over plain files") == 1
    assert (world.project / "CLAUDE.md").is_symlink()
    world.remove()
    assert world.tree() == was


def test_a_dry_run_says_the_same_and_changes_nothing(with_claude: World) -> None:
    write_tree(with_claude.project, {SKILL: FOREIGN, "AGENTS.md": "# Rules\n"})
    was = whole_tree(with_claude.project.parent)
    told = with_claude.init("claude", "codex", dry_run=True)
    assert whole_tree(with_claude.project.parent) == was
    assert words(with_claude.init("claude", "codex")) == words(told)
    assert words(with_claude.remove(dry_run=True)) | {PLUGIN: "uninstalled"} == words(with_claude.remove())


# What others have there ---------------------------------------------------------------------------


def test_a_foreign_file_is_moved_aside_and_comes_back(world: World) -> None:
    write_tree(world.project, {SKILL: FOREIGN, f"{SKILL}.before-harness": "taken"})
    (world.project / SKILL).chmod(0o600)
    was = world.tree()
    told = {line.what: line for line in world.init("codex")}
    assert told[SKILL].word == "moved aside" and "SKILL.md.before-harness.2" in told[SKILL].note
    assert (world.project / f"{SKILL}.before-harness.2").read_text(encoding="utf-8") == FOREIGN
    assert "harness step" in (world.project / SKILL).read_text(encoding="utf-8")
    assert words(world.remove())[SKILL] == "restored"
    assert world.tree() == was


def test_what_a_person_changed_in_ours_is_kept_beside(world: World) -> None:
    world.init("codex")
    for path in (world.project / "AGENTS.md", world.project / SKILL):
        changed = path.read_text(encoding="utf-8").replace("harness", "MY harness")
        path.write_text(changed.replace("MY harness init", "harness init"), encoding="utf-8")
    told = {line.what: line for line in world.init("codex")}
    for name in ("AGENTS.md", SKILL):
        assert told[name].word == "updated" and ".edited" in told[name].note
        assert "MY harness" in (world.project / f"{name}.edited").read_text(encoding="utf-8")
        assert "MY harness" not in (world.project / name).read_text(encoding="utf-8")
    assert set(words(world.init("codex")).values()) == {"unchanged"}


def test_a_file_of_ours_that_was_changed_by_hand_outlives_the_removal(world: World) -> None:
    world.init("codex")
    path = world.project / SKILL
    path.write_text(path.read_text(encoding="utf-8") + "And be quick.\n", encoding="utf-8")
    assert words(world.remove()) == {"AGENTS.md": "removed", SKILL: "kept"}
    assert "And be quick." in path.read_text(encoding="utf-8")


def test_a_file_that_a_person_put_in_the_place_of_ours_is_theirs(world: World) -> None:
    world.init("codex")
    (world.project / SKILL).write_text(FOREIGN, encoding="utf-8")
    world.remove()
    assert (world.project / SKILL).read_text(encoding="utf-8") == FOREIGN


def test_utf_16_is_left_alone_and_the_others_are_wired(world: World) -> None:
    write_tree(world.project, {"GEMINI.md": "# Rules\n".encode("utf-16")})
    told = {line.what: line for line in world.init("gemini", "codex")}
    assert told["GEMINI.md"].word == "refused" and "UTF-16" in told["GEMINI.md"].note
    assert told["AGENTS.md"].word == "created"
    assert (world.project / "GEMINI.md").read_bytes() == "# Rules\n".encode("utf-16")
    world.remove()
    assert list(whole_tree(world.project)) == ["GEMINI.md"]


def link_out(project: Path) -> None:
    (project / "AGENTS.md").symlink_to(project.parent / "home" / "AGENTS.md")


def link_into_git(project: Path) -> None:
    write_tree(project, {".git/config": "[core]\n"})
    (project / "AGENTS.md").symlink_to(".git/config")


def folder_link(project: Path) -> None:
    (project / ".agents").symlink_to(project.parent / "home")


def folder(project: Path) -> None:
    (project / "AGENTS.md").mkdir()


def file_for_folder(project: Path) -> None:
    (project / ".agents").write_text("", encoding="utf-8")


def pipe(project: Path) -> None:
    os.mkfifo(project / SKILL.rpartition("/")[0].replace("/", "-"))
    (project / ".agents/skills/research").mkdir(parents=True)
    os.mkfifo(project / SKILL)


def marks(project: Path) -> None:
    write_tree(project, {"AGENTS.md": "<!-- end of harness init -->\n"})


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes and links of POSIX")
@pytest.mark.parametrize(
    ("place", "why"),
    [
        (link_out, "a link stands in its place"),
        (link_into_git, "a link stands in its place"),
        (folder_link, ".agents is a link, not a folder"),
        (folder, "a folder stands in its place"),
        (file_for_folder, ".agents is a file, not a folder"),
        (pipe, "a pipe or device stands in its place"),
        (marks, r"broken \(line 1\)"),
    ],
)
def test_what_cannot_be_changed_without_harm_stops_all(world: World, place: Callable[[Path], None], why: str) -> None:
    place(world.project)
    was = whole_tree(world.project.parent)
    with pytest.raises(NotWired, match=why):
        world.init("codex", "gemini")
    assert whole_tree(world.project.parent) == was
    if place is not marks:
        assert world.remove() == ()


def test_settings_with_comments_stop_all(world: World) -> None:
    write_tree(world.project, {".claude/settings.json": '{\n  // mine\n  "a": 1\n}\n'})
    was = world.tree()
    with pytest.raises(NotWired, match=r"settings\.json: it is not plain JSON \(line 2"):
        world.init("claude", "codex")
    assert world.tree() == was


@pytest.mark.skipif(not hasattr(os, "seteuid") or os.geteuid() != 0, reason="needs to give up root's powers")
def test_a_read_only_folder_stops_all() -> None:
    with tempfile.TemporaryDirectory() as root:  # pytest's own folders let nobody else in
        world = World(Path(root))
        (world.project / ".agents").mkdir(mode=0o755)
        for folder in (Path(root), world.project):
            folder.chmod(0o777)
        world.init("codex", dry_run=True)  # what is imported late may not be readable for somebody else
        os.seteuid(65534)
        try:
            with pytest.raises(NotWired, match=r"\.agents is read-only"):
                world.init("codex")
        finally:
            os.seteuid(0)
        assert list(whole_tree(world.project)) == [".agents"]


def test_a_data_folder_that_cannot_be_made_stops_all(world: World) -> None:
    world.data.write_text("a file", encoding="utf-8")
    with pytest.raises(BrokenFile, match="HARNESS_DATA_DIR"):
        world.init("codex")
    assert whole_tree(world.project) == {}


@pytest.mark.parametrize("reached", range(4))
def test_a_run_that_was_killed_half_way_can_be_taken_out(world: World, reached: int) -> None:
    """The memory is written first: whichever files were not reached, the rest comes out."""
    write_tree(world.project, {SKILL: FOREIGN, "AGENTS.md": "# Rules", "GEMINI.md": "x\n"})
    was = world.tree()
    names = ("AGENTS.md", "GEMINI.md", SKILL, ".gemini/commands/research.toml")
    world.init("codex", "gemini")
    for name in names[reached:]:
        (world.project / name).unlink()
        if f"{name}.before-harness" in world.tree():
            (world.project / f"{name}.before-harness").rename(world.project / name)
        elif name in was:
            write_tree(world.project, {name: (FOREIGN if name == SKILL else str(was[name][1], "utf-8"))})  # type: ignore[call-overload]
    world.remove()
    assert world.tree() == was


def test_what_fails_half_way_is_undone(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a": "old", "b": "aside", "c": "gone"})
    was = whole_tree(tmp_path)
    edits = [
        Edit("a", b"new", beside=("a.edited", b"kept")),
        Edit("b", b"ours", (("b", "b.before-harness"),)),
        Edit("c", None),
        Edit("d", b"made"),
        Edit("e" * 300, b"too long a name"),
    ]
    with pytest.raises(OSError):
        apply(tmp_path, edits)
    assert whole_tree(tmp_path) == was


def test_a_memory_that_cannot_be_read_is_reported(world: World) -> None:
    world.init("codex")
    (memory,) = (world.data / "init").iterdir()
    memory.write_text('{"project": ', encoding="utf-8")
    with pytest.raises(BrokenFile, match="found by their marks"):
        world.remove()
    memory.unlink()
    world.remove()
    assert whole_tree(world.project) == {}


def test_an_unknown_agent_is_named_with_the_nearest(world: World) -> None:
    with pytest.raises(WrongCall, match="did you mean `cursor`") as caught:
        world.init("curser")
    assert "windsurf" in caught.value.hint


def test_a_search_tool_has_the_form_of_one(world: World) -> None:
    with pytest.raises(WrongCall, match="mcp__SERVER__TOOL"):
        wire(world.project, Wanted(("claude",), ("brave",)), environ=world.environ)


# Claude Code's plugin -----------------------------------------------------------------------------


def test_the_plugin_is_installed_once_and_leaves_with_the_last_project(tmp_path: Path) -> None:
    first, second = World(tmp_path, claude=True), World(tmp_path, claude=True)
    second.project = tmp_path / "second"
    second.project.mkdir()
    assert words(first.init("claude")) == {PLUGIN: "installed", "CLAUDE.md": "created"}
    assert words(second.init("claude"))[PLUGIN] == "unchanged"
    assert list(plugins(first)["plugins"]) == ["research@research-harness"]
    assert (first.data / "claude" / "hook.py").is_file()
    assert words(first.remove())[PLUGIN] == "kept"
    assert plugins(first)["plugins"]
    assert words(second.remove())[PLUGIN] == "uninstalled"
    assert plugins(first)["plugins"] == plugins(first)["markets"] == {}
    assert [path for path in first.data.rglob("*") if path.is_file()] == []


def test_a_project_that_was_deleted_holds_no_plugin(tmp_path: Path) -> None:
    first, second = World(tmp_path, claude=True), World(tmp_path, claude=True)
    second.project = tmp_path / "second"
    second.project.mkdir()
    first.init("claude")
    second.init("claude")
    shutil.rmtree(second.project)
    first.remove()
    assert plugins(first)["plugins"] == {}


def test_a_data_folder_that_moved_is_followed(with_claude: World) -> None:
    with_claude.init("claude")
    with_claude.data = with_claude.data.with_name("elsewhere")
    with_claude.environ["HARNESS_DATA_DIR"] = str(with_claude.data)
    assert words(with_claude.init("claude"))[PLUGIN] == "updated"
    assert plugins(with_claude)["markets"] == {"research-harness": str(with_claude.data / "claude" / "marketplace")}


def test_what_is_taken_out_is_forgotten(with_claude: World) -> None:
    (with_claude.home / "FAILS").touch()
    with_claude.init("claude")
    (with_claude.home / "FAILS").unlink()
    with_claude.init("claude")
    (memory,) = (with_claude.data / "init").iterdir()
    told = json.loads(memory.read_text(encoding="utf-8"))
    assert list(told["files"]) == ["CLAUDE.md"] and told["folders"] == [] and told["plugin"] is True


def test_a_block_in_a_file_that_is_no_text_any_more_stays_remembered(world: World) -> None:
    write_tree(world.project, {"AGENTS.md": "# Rules\n"})
    world.init("codex")
    path = world.project / "AGENTS.md"
    path.write_text(path.read_text(encoding="utf-8") + "Правила\n", encoding="cp1251", errors="replace")
    assert words(world.remove())["AGENTS.md"] == "refused"
    path.write_text(path.read_text(encoding="cp1251"), encoding="utf-8")
    assert words(world.remove())["AGENTS.md"] == "restored"
    assert path.read_text(encoding="utf-8") == "# Rules\nПравила\n"


def test_new_files_are_a_new_version_of_the_plugin(with_claude: World) -> None:
    with_claude.init("claude")
    before = plugins(with_claude)["plugins"]
    wanted = Wanted(("claude",), ("mcp__brave__search",))
    assert words(wire(with_claude.project, wanted, environ=with_claude.environ))[PLUGIN] == ("updated")
    assert plugins(with_claude)["plugins"] != before
    assert words(with_claude.init("claude"))[PLUGIN] == "unchanged", "it is remembered"


def test_where_the_plugin_fails_the_project_gets_its_files_until_it_works(with_claude: World) -> None:
    write_tree(with_claude.project, {".claude/settings.json": '{\n  "model": "sonnet"\n}\n'})
    was = with_claude.tree()
    (with_claude.home / "FAILS").touch()
    told = {line.what: line for line in with_claude.init("claude")}
    plugin = told[PLUGIN]
    assert plugin.word == "left out" and "out of order" in plugin.note
    assert told[".claude/settings.json"].word == "updated"
    assert told[".claude/skills/research/SKILL.md"].word == "created"
    (with_claude.home / "FAILS").unlink()
    told = {line.what: line for line in with_claude.init("claude")}
    assert told[PLUGIN].word == "installed"
    assert told[".claude/skills/research/SKILL.md"].word == "removed"
    assert (with_claude.project / ".claude/settings.json").read_bytes() == was[".claude/settings.json"][1]
    with_claude.remove()
    assert with_claude.tree() == was


def test_files_in_the_project_are_remembered_as_a_wish(with_claude: World) -> None:
    with_claude.init("claude", in_project=True)
    assert ".claude/settings.json" in words(with_claude.init("codex"))
    assert not (with_claude.home / "plugins.json").exists()


def test_what_research_means_instead_is_said(with_claude: World) -> None:
    write_tree(with_claude.project, {".claude/skills/research/SKILL.md": FOREIGN})
    note = next(line for line in with_claude.init("claude") if line.word == "note")
    assert ".claude/skills/research/SKILL.md" in note.note and "/research:research" in note.note
    write_tree(with_claude.home, {".claude/commands/research.md": FOREIGN})
    shutil.rmtree(with_claude.project / ".claude")
    assert any("commands/research.md" in line.note for line in with_claude.init("claude"))


def test_a_plugin_that_was_left_half_way_is_cleared(with_claude: World) -> None:
    """Only its marketplace was laid down when the program failed."""
    (with_claude.home / "FAILS").touch()
    with_claude.init("claude")
    (with_claude.home / "FAILS").unlink()
    (with_claude.home / "plugins.json").unlink(missing_ok=True)
    assert PLUGIN not in words(with_claude.remove())
    assert [path for path in with_claude.data.rglob("*") if path.is_file()] == []
    assert with_claude.tree() == {}


def test_hooks_of_ours_that_cannot_be_taken_out_are_told_even_without_a_memory(world: World) -> None:
    world.init("claude", in_project=True)
    shutil.rmtree(world.data)
    path = world.project / ".claude/settings.json"
    path.write_text("// mine\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(NotWired, match="not plain JSON"):
        world.remove()


def test_a_wish_for_files_takes_the_plugin_out(with_claude: World) -> None:
    with_claude.init("claude")
    with_claude.init("claude", in_project=True)
    assert plugins(with_claude)["plugins"] == {}
    assert (with_claude.data / "claude" / "hook.py").is_file(), "the project's hooks run it"


def test_the_hooks_of_the_plugin_and_of_a_project_are_the_same(with_claude: World) -> None:
    with_claude.init("claude")
    by_plugin = (with_claude.data / "claude/marketplace/research/hooks/hooks.json").read_text(encoding="utf-8")
    with_claude.init("claude", in_project=True)
    settings = (with_claude.project / ".claude/settings.json").read_text(encoding="utf-8")
    assert json.loads(settings)["hooks"] == json.loads(by_plugin)["hooks"]


def test_the_block_tells_no_paths_of_this_machine() -> None:
    for name in ("block.md", "agents/skills/research/SKILL.md", "opencode/command/research.md"):
        assert "/" + "home" not in template(f"init/{name}")
