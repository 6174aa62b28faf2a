"""The shape of the code, measured: import direction, sizes, late imports, one door for errors ."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "harness"
MODULES = sorted(PACKAGE.rglob("*.py"))

# Lower ranks first; a module imports lower ranks, or modules before it in its own row.
RANKS: tuple[tuple[str, ...], ...] = (
    ("errors", "patterns", "model", "options", "ports"),
    (
        "formats",
        "words",
        "addresses",
        "periods",
        "units",
        "amounts",
        "quantities",
        "facts",
        "mojibake",
        "heirs",
        "losses",
        "grounding",
        "contradictions",
        "tokens",
        "cutting",
        "parts",
        "totals",
        "reply",
        "render",
        "plan",
        "guards",
        "sameness",
        "merging",
        "fold",
        "uniting",
        "answering",
        "packet",
        "marks",
        "evidence",
        "check",
        "deltas",
        "versions",
        "changes",
        "edits",
        "passage",
    ),
    (
        "assets",
        "prompts",
        "given",
        "kinds",
        "specs",
        "settings",
        "locate",
        "trust",
        "sheet",
        "config",
        "lockfile",
        "store",
        "caching",
        "vocabulary",
        "counters",
        "calibration",
        "environment",
        "process_tree",
        "process",
        "desk",
        "git",
        "onecommit",
        "unpacking",
        "clipboard",
        "terminal",
        "watch",
        "agents",
        "search",
    ),
    (
        "session",
        "noticing",
        "searching",
        "crew",
        "turn",
        "roles",
        "judging",
        "folding",
        "replies",
        "reducing",
        "mapping",
        "passes",
        "committing",
        "loop",
        "spending",
        "account",
        "status",
        "checking",
        "rereading",
        "gathering",
        "noting",
        "handover",
        "steering",
        "history",
        "journal",
        "comparing",
        "blaming",
        "verifying",
        "textconv",
        "forking",
        "sides",
        "joining",
        "settling",
        "driver",
        "reporting",
        "starting",
        "finding",
        "trusting",
        "trying",
        "sizes",
        "progress",
        "watching",
        "scaffold",
        "inside",
        "doctor",
        "snowball",
    ),
    ("cli", "hook", "__main__"),
)
PLACE = {name: (rank, at) for rank, row in enumerate(RANKS) for at, name in enumerate(row)}
PURE = {"formats", *RANKS[1]}
OUTSIDE = {"os", "pathlib", "subprocess", "socket", "time", "tempfile", "shutil", "io"}
ENTRIES = ("__main__.py", "hook.py")
HEAVY = {"tiktoken", "toktok", "watchdog", "rich", "httpx", "openai", "anthropic", "llm", "trafilatura", "tantivy"}
HEAVY |= {"pypdfium2", "langchain_core"}


def top(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(tree: ast.AST) -> Iterator[tuple[str, ast.stmt]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "harness":
                yield from ((f"harness.{alias.name}", node) for alias in node.names)
            else:
                yield node.module, node


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def in_functions(tree: ast.Module) -> Iterator[ast.stmt]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from (inner for inner in ast.walk(node) if isinstance(inner, (ast.Import, ast.ImportFrom)))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path: Path) -> None:
    mine = top(path)
    if mine == "__init__":
        return
    assert mine in PLACE, f"{mine} has no place in RANKS"
    for name, _ in imports(parsed(path)):
        parts = name.split(".")
        if parts[0] != "harness" or len(parts) == 1 or parts[1] in (mine, "__version__"):
            continue
        assert PLACE[parts[1]] < PLACE[mine], f"{mine} imports {parts[1]}"


@pytest.mark.parametrize("path", [path for path in MODULES if top(path) in PURE], ids=lambda path: path.stem)
def test_the_core_is_pure(path: Path) -> None:
    used = {name.split(".")[0] for name, _ in imports(parsed(path))}
    assert not used & OUTSIDE


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_opens_with_a_sentence_and_stays_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), "no docstring"
    assert text.count("\n") < 300


@pytest.mark.parametrize("path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda path: path.stem)
def test_test_modules_stay_short(path: Path) -> None:
    assert path.read_text(encoding="utf-8").count("\n") < 500


def test_functions_stay_short() -> None:
    lengths = {
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path in MODULES
        for node in ast.walk(parsed(path))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    assert not [name for name, length in lengths.items() if length > 60]
    assert sum(length <= 40 for length in lengths.values()) >= 0.95 * len(lengths)


def test_commands_parse_call_and_print() -> None:
    for path in (PACKAGE / "cli").glob("*.py"):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef) and node.name.endswith("_command"):
                last = node.end_lineno or node.lineno
                assert last - node.body[0].lineno < 12, f"{path.name}: {node.name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_our_own_modules_are_imported_at_the_top_and_heavy_ones_late(path: Path) -> None:
    tree = parsed(path)
    late = list(in_functions(tree))
    for name, node in imports(tree):
        if name.startswith("harness") and path.name != "hook.py":  # it starts the rest only where a call is ours
            assert node not in late, f"line {node.lineno}: {name} inside a function"
        if name.split(".")[0] in HEAVY and node in tree.body:
            pytest.fail(f"line {node.lineno}: {name} at import time")


def test_click_is_known_to_the_commands_only() -> None:
    users = {top(path) for path in MODULES for name, _ in imports(parsed(path)) if name.split(".")[0] == "click"}
    assert users == {"cli", "__main__"}


def test_only_the_door_exits() -> None:
    for path in MODULES:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Attribute) and node.attr == "exit" and isinstance(node.value, ast.Name):
                assert node.value.id != "sys" or path.name in ENTRIES, path


def test_only_the_store_writes_into_a_case() -> None:
    """Writing calls stand in the store, and where the file is none of a case's (trust, desk, cache, --out)."""
    allowed = {
        "store",
        "caching",
        "trust",
        "inside",
        "desk",
        "search",
        "cli",
        "agents",
        "process",
        "process_tree",
        "scaffold",
        "gathering",
        "noting",
        "reporting",
        "__main__",
    }
    for path in MODULES:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Attribute) and node.attr in ("write_text", "write_bytes", "unlink", "mkdir"):
                assert top(path) in allowed, f"{path}:{node.lineno} {node.attr}"


def test_importing_the_commands_does_nothing() -> None:
    code = "import sys, harness.cli.group, harness.cli.look; print(' '.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    unwanted = {"importlib.metadata", "filelock", "asyncio", "http.client", *HEAVY} & set(loaded)
    assert not unwanted, unwanted
