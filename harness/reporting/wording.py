"""The words of a report in a language, from `templates/report/words.yaml`."""

from __future__ import annotations

from collections.abc import Mapping

import yaml

from harness.assets import template


def wording(language: str) -> Mapping[str, str]:
    """The words, and the language itself under `language`; English for one without words."""
    known = yaml.safe_load(template("report/words.yaml"))
    name = language if language in known else "en"
    return {**known[name], "language": name}
