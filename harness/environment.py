"""What of this environment a program we start may have, and what of it may never be shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from harness.patterns import lazy

# A coding agent marks the environment of what it starts. A second agent that inherits the marks takes itself for a
# part of that session: it hangs, prints nothing (CLAUDECODE), or talks to the other session's server (…_SSE_PORT).
# HARNESS_* and OLDPWD would tell a role where the case is, and a role sees only its own files.
SESSION_MARKERS = (
    "CLAUDECODE",
    "CLAUDE_CODE_*",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PLUGIN_*",
    "CLAUDE_PROJECT_DIR",
    "CODEX_*",
    "GEMINI_CLI",
    "GEMINI_CLI_*",
    "OPENCODE",
    "OPENCODE_*",
    "HARNESS_*",
    "OLDPWD",
)
# Of the same families, what a person sets: keys, where the configuration lies, switches and limits.
SETTINGS = (
    "*_KEY",
    "*_OAUTH_TOKEN",
    "*_AUTH_TOKEN",
    "CLAUDE_CODE_ACCEPT_*",
    "CLAUDE_CODE_CLIENT_*",
    "CLAUDE_CODE_DISABLE_*",
    "CLAUDE_CODE_EFFORT_LEVEL",
    "CLAUDE_CODE_ENABLE_*",
    "CLAUDE_CODE_GIT_BASH_PATH",
    "CLAUDE_CODE_MAX_*",
    "CLAUDE_CODE_SHELL*",
    "CLAUDE_CODE_SKIP_*",
    "CLAUDE_CODE_SUBAGENT_MODEL",
    "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB",
    "CLAUDE_CODE_TMPDIR",
    "CLAUDE_CODE_USE_*",
    "CODEX_CA_CERTIFICATE",
    "CODEX_HOME",
    "CODEX_SQLITE_HOME",
    "GEMINI_CLI_HOME",
    "GEMINI_CLI_SYSTEM_*",
    "OPENCODE_CONFIG*",
    "OPENCODE_DISABLE_*",
    "OPENCODE_ENABLE_*",
    "OPENCODE_EXPERIMENTAL*",
    "OPENCODE_MODELS_*",
    "OPENCODE_PERMISSION",
)

SECRET_NAME = lazy(r"(?:^|_)(?:\w*KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|PAT)(?:_|$)", re.IGNORECASE)
SHORTEST_SECRET = 8  # characters; a shorter value ("true", "1") stands in ordinary text too
# Vendors repeat a refused key in their message, partly starred out: "Incorrect API key provided: sk-abc***xyz".
ECHOED_KEY = lazy(r"\b(?:sk|pk|rk|gsk|xai|ghp|hf|AIza)[-_][\w*.-]{6,}|\bBearer\s+[\w*.~+/-]{8,}=*")
MASK = "***"


def child_environment(inherited: Mapping[str, str], extra: Mapping[str, str]) -> dict[str, str]:
    """`inherited` without the session markers of other agents, then `extra` (the user's `env:`, never filtered)."""
    kept = {name: value for name, value in inherited.items() if not _is_marker(name)}
    return kept | dict(extra)


def secrets_of(env: Mapping[str, str]) -> tuple[str, ...]:
    """The values of variables that are named like a secret."""
    return tuple(v for name, v in env.items() if len(v) >= SHORTEST_SECRET and SECRET_NAME.search(name))


def mask(text: str, secrets: Iterable[str]) -> str:
    """`text` with every one of `secrets`, and whatever looks like an API key, replaced by `***`."""
    for secret in sorted({s for s in secrets if s}, key=len, reverse=True):  # a key may be a part of another
        text = text.replace(secret, MASK)
    return ECHOED_KEY.sub(MASK, text)


def _is_marker(name: str) -> bool:
    upper = name.upper()  # Windows has no case in names
    if any(fnmatchcase(upper, pattern) for pattern in SETTINGS):
        return False
    return any(fnmatchcase(upper, pattern) for pattern in SESSION_MARKERS)
