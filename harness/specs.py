"""The two settings with a form of their own: the `agents:` mapping and the search ladder."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness import kinds
from harness.given import Given, SettingsFile
from harness.options import AgentSpec, Rung
from harness.patterns import lazy

# Role-takers that need no entry under `agents:`.
BUILT_IN_AGENTS = ("extractive", "person")
APIS = ("openai", "anthropic", "llm")
ENCODINGS = ("cl100k_base", "o200k_base", "estimate")
FORMS = ("text", "claude", "codex", "opencode", "gemini")
MOST_SAFETY = 3.0  # no model has three times the tokens of these vocabularies
LONGEST = 86_400.0  # seconds: a day is more than any one call takes

# The option that `- provider: setting` means.
MAIN_OPTION = {"folder": "path", "agent": "name", "command": "command"}

# Those that are nothing without it.
NEEDED_OPTION = {"agent": "name", "command": "command"}

_NAME = lazy(r"[\w][\w.-]{0,63}")
_SHORTHAND = lazy(rf"({'|'.join(APIS)}):(\S+)")
# Of OpenAI's models only these are older than o200k_base: gpt-4o, gpt-4.1 and what came later have it.
_OLDER = lazy(r"gpt-3\.5.*|gpt-4(?:-(?:turbo|32k|vision|\d).*)?")
_OPENAI = lazy(r"gpt-[345].*|chatgpt-.*|o[134](?:-.*)?")
_VARIABLE = lazy(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_URL = lazy(r"https?://[^\s@]+")


def agents(given: Given) -> Mapping[str, AgentSpec]:
    """`name: {command: …}` or `name: {api: …, model: …}` for each agent."""
    entries = kinds.mapping(given, "a mapping of names, like {mine: {command: [my-agent]}}")
    return {name: _agent(name, entry) for name, entry in entries.items()}


def preset(name: str, file: SettingsFile) -> AgentSpec:
    """The one agent that a file of `templates/agents/` holds."""
    return _agent(name, Given(f"agents.{name}", file.entries, name, Path()))


def shorthand(name: str) -> AgentSpec | None:
    """The agent that `openai:MODEL`, `anthropic:MODEL` or `llm:MODEL` stands for."""
    match = _SHORTHAND.fullmatch(name)
    return AgentSpec(name=name, api=match[1], model=match[2], **_counting(match[1], match[2])) if match else None


def ladder(given: Given) -> tuple[Rung, ...]:
    """`tavily`, `folder: docs`, `tavily: {cap: 50}` or `mine: {command: […]}`, one a rung; at least one."""
    rungs = tuple(_rung(item) for item in given.items())
    if not rungs:
        raise given.refused("at least one search provider, like [folder]")
    return rungs


def _agent(name: str, given: Given) -> AgentSpec:
    if name in BUILT_IN_AGENTS:
        raise given.problem(f"`{name}` is a built-in agent", "Give yours another name.")
    if not _NAME.fullmatch(name):
        raise given.problem(f"`{name}` is no name for an agent", "Use letters, digits, `.`, `-` and `_`.")
    entry = kinds.mapping(given, "keys like {command: [my-agent], timeout: 300}")
    values: dict[str, Any] = {}
    for key, child in entry.items():
        if key in ("key", "api_key"):
            hint = "Put it into an environment variable and write its name: key_env: MY_KEY"
            raise child.problem("an API key does not belong into a file", hint)
        kinds.known_key(child, AGENT_KEYS, of=f"the agent `{name}`")
        if not child.empty:
            values[key] = AGENT_KEYS[key](child)
    known = {} if values.get("base_url") else _counting(values.get("api", ""), values.get("model", ""))
    return _coherent(AgentSpec(name=name, **{**known, **values}), given)


def _counting(api: str, model: str) -> dict[str, Any]:
    """`encoding` and `safety` of a model whose vocabulary is published; nothing for others, which keep the defaults.

    A server with a `base_url` may call its models as it likes.
    """
    if api != "openai" and not (api == "llm" and _OPENAI.fullmatch(model)):
        return {}
    return {"encoding": "cl100k_base" if _OLDER.fullmatch(model) else "o200k_base", "safety": 1.0}


def _coherent(spec: AgentSpec, given: Given) -> AgentSpec:
    """The spec itself, if its keys fit together."""
    if bool(spec.command) == bool(spec.api):
        hint = "Give either command: [my-agent] or api: openai with model: NAME."
        raise given.problem(f"the agent `{spec.name}` needs one of `command` and `api`", hint)
    if spec.api and not spec.model:
        raise given.problem(f"the agent `{spec.name}` has no model", "Add model: NAME.")
    if spec.api and spec.files:
        raise given.problem(f"the agent `{spec.name}` is no program", "`files` goes with `command` only.")
    if spec.api and spec != spec._replace(form="text", sandbox="none", search_command=()):
        hint = "`form`, `sandbox` and `search_command` go with `command` only."
        raise given.problem(f"the agent `{spec.name}` is no program", hint)
    if spec.base_url and not spec.api:
        raise given.problem(f"the agent `{spec.name}` has a base_url without api", "Add api: openai.")
    if spec.output >= spec.window:
        hint = "`output` is the part of `window` kept for the reply; make it smaller."
        raise given.problem(f"the agent `{spec.name}` has no room for a prompt", hint)
    return spec


def _reply(given: Given) -> str:
    value = kinds.text(given)
    if not _NAME.fullmatch(value):
        raise given.refused("stdout or the plain name of a file at the agent's desk")
    return value


def _variable(given: Given) -> str:
    # The value is not shown: people put the key itself here.
    if not isinstance(given.value, str) or not _VARIABLE.fullmatch(given.value):
        hint = f"`{given.name}` takes the name of an environment variable, like MY_KEY."
        raise given.problem(f"`{given.name}` is no name of a variable", hint)
    return given.value


def _environment(given: Given) -> Mapping[str, str]:
    entries = kinds.mapping(given, "a mapping of variables, like {MY_AGENT_QUIET: 1}")
    for name, child in entries.items():
        if not _VARIABLE.fullmatch(name) or not isinstance(child.value, str):
            raise child.problem(f"`{given.name}` holds no plain variable", "Write NAME: value for each variable.")
    return {name: kinds.argument(child, str(child.value)) for name, child in entries.items()}


def _safety(given: Given) -> float:
    value = kinds.number(MOST_SAFETY, "times the count")(given)
    if value < 1:
        raise given.refused(f"a number from 1 to {MOST_SAFETY:g}; below 1 a prompt would not fit")
    return value


def _url(given: Given) -> str:
    value = kinds.text(given)
    if not _URL.fullmatch(value):
        # Not shown either: `https://user:password@host` is how secrets get into messages.
        hint = f"`{given.name}` takes an address like http://127.0.0.1:8080/v1, without a user name."
        raise given.problem(f"`{given.name}` is no address", hint)
    return value


AGENT_KEYS: Mapping[str, Callable[[Given], object]] = {
    "command": kinds.command,
    "prompt": kinds.choice("stdin", "argument", "file"),
    "reply": _reply,
    "form": kinds.choice(*FORMS),
    "files": kinds.yes_no,
    "sandbox": kinds.choice("none", "bwrap"),
    "search_command": kinds.command,
    "api": kinds.choice(*APIS),
    "model": kinds.text,
    "base_url": _url,
    "key_env": _variable,
    "env": _environment,
    "timeout": kinds.number(LONGEST, "seconds"),
    "window": kinds.whole(1_000, 100_000_000),
    "output": kinds.whole(100, 10_000_000),
    "parallel": kinds.whole(1, 64),
    "encoding": kinds.choice(*ENCODINGS),
    "safety": _safety,
}


def _rung(given: Given) -> Rung:
    if isinstance(given.value, tuple):
        raise given.refused("one provider a rung, like - folder: docs")
    if isinstance(given.value, str):
        # `folder:docs` is how a ladder is written in an environment variable, and in YAML by mistake.
        provider, _, setting = (part.strip() for part in given.value.partition(":"))
        child = Given(f"search.{provider}", setting, given.where, given.base, given.in_file)
    else:
        if len(given.value) != 1:
            raise given.refused("one provider a rung, like - folder: docs")
        ((provider, child),) = given.value.items()
    if not _NAME.fullmatch(provider):
        raise given.refused("names of search providers, like [folder, person]")
    options = _options(provider, child)
    if provider in NEEDED_OPTION and NEEDED_OPTION[provider] not in options:
        raise given.problem(
            f"the search `{provider}` needs its setting", f"Write - {provider}: …, as docs/settings.md shows."
        )
    return Rung(provider, options)


def _options(provider: str, given: Given) -> Mapping[str, str]:
    if given.empty:
        return {}
    if isinstance(given.value, Mapping):
        entries = given.value
    elif provider in MAIN_OPTION:
        entries = {MAIN_OPTION[provider]: given}
    else:
        hint = f"Write the settings with their names, like - {provider}: {{cap: 50}}"
        raise given.problem(f"`{provider}` takes no single setting", hint)
    return {key: _option(key, child) for key, child in entries.items() if not child.empty}


def _option(key: str, given: Given) -> str:
    """A rung's options stay text: each provider knows its own. The shared ones are checked here."""
    match key:
        case "command":
            return shlex.join(kinds.command(given))
        case "path":
            return kinds.path(given)
        case "cap":
            return str(kinds.whole(1, 1_000_000)(given))
        case "timeout":
            return f"{kinds.number(LONGEST, 'seconds')(given):g}"
        case _:
            return kinds.text(given)
