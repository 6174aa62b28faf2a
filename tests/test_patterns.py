"""Every lazy pattern of the package compiles, and behaves like a compiled one."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import harness
from harness.patterns import _Lazy, lazy

PACKAGE = Path(harness.__file__).parent
NAMES = [
    ".".join(("harness", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.name != "__main__.py"
]


@pytest.mark.parametrize("name", NAMES)
def test_every_pattern_of_a_module_compiles(name: str) -> None:
    for value in vars(importlib.import_module(name)).values():
        for one in value if isinstance(value, tuple) else value.values() if isinstance(value, dict) else (value,):
            if isinstance(one, _Lazy):
                assert one.pattern


def test_a_lazy_pattern_is_a_pattern() -> None:
    pattern = lazy("(A)b", re.IGNORECASE)
    assert pattern.sub("x", "ab AB") == "x x"
    assert [match[1] for match in pattern.finditer("ab AB")] == ["a", "A"]
    with pytest.raises(re.error):
        lazy("(").search("")
