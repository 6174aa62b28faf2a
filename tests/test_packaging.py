"""The wheel holds what runs, and what it installs works without the repository beside it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import harness


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = Path(__file__).parent.parent
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(root)]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = out.glob("*.whl")
    return built


def test_the_wheel_holds_templates_and_modules(wheel: Path, repository: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, prefix in ((repository / "harness", "harness"), (repository / "templates", "harness/templates")):
        for path in folder.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert f"{prefix}/{path.relative_to(folder).as_posix()}" in names
    assert any(name.endswith("entry_points.txt") for name in names)


def test_what_is_installed_finds_its_templates(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    code = "from harness.assets import template; print(template('prompts/ru/planner.md')[:3])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path / "site", capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "---"


def test_one_version(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == harness.__version__
