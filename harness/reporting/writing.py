"""Where a report goes: a file that is there is replaced only if it is a report itself."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.reporting.markdown import render_markdown
from harness.reporting.page import render_page
from harness.reporting.telling import GENERATOR, Report

FORMATS = ("html", "md", "json")
NEAR = 2_000  # characters from the start within which a report says that it is one
_FILES = ("question.md", "summary.md", "trace.jsonl")


def render(report: Report, form: str, plain: Any) -> str:
    """`plain` makes values what JSON knows."""
    if form == "html":
        return render_page(report)
    if form == "md":
        return render_markdown(report)
    return json.dumps({"generator": GENERATOR, "schema": 1, **plain(report)}, ensure_ascii=False, indent=1) + "\n"


def write_report(path: Path, text: str, *, force: bool) -> None:
    """Whole or not at all. Raises HarnessError where another file, a link, or a case is in the way."""
    if any((path.parent / name).exists() for name in _FILES):
        raise HarnessError("the report would stand inside a case", str(path), "name another place: -o FILE")
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise HarnessError("a link or a folder stands where the report would go", str(path), "name another: -o FILE")
    if path.exists() and not force and not _is_report(path):
        hint = "name another file with -o FILE, or replace it with --force"
        raise HarnessError("a file that is no report stands there", str(path), hint)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        fresh.write_text(text, encoding="utf-8", newline="\n", errors="replace")
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        hint = "name a file in a folder that you may write: -o FILE"
        raise HarnessError("cannot write the report", f"{path} ({error.strerror})", hint) from None


def _is_report(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace") as file:
        return GENERATOR in file.read(NEAR)
