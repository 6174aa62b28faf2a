"""Regular expressions that are compiled when they are first used: all of ours at once take longer than `status`."""

from __future__ import annotations

import re
from typing import Any, cast


class _Lazy:
    """Stands for a re.Pattern; its methods are kept after the first use, so a later call costs nothing more."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._written = pattern, flags

    def __getattr__(self, name: str) -> Any:
        pattern, flags = self._written
        value = getattr(re.compile(pattern, flags), name)
        setattr(self, name, value)
        return value


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern for a constant at the top of a module. A mistake in it shows at its first use, not at import."""
    return cast("re.Pattern[str]", _Lazy(pattern, flags))
