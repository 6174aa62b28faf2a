"""Checks of the agents: which programs are here, in which version, and which keys they find."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePath
from typing import NamedTuple

from harness.agents.chat import APIS
from harness.crew import readiness
from harness.doctor.finding import SECONDS, Around, Finding, passed, skipped, started, warned
from harness.environment import child_environment
from harness.options import AgentSpec
from harness.patterns import lazy

# Program → the version that was tried; "" for one that was not. Only these are asked for theirs: what another program
# does with --version nobody knows.
TRIED: Mapping[str, str] = {
    "claude": "2.1.197",
    "codex": "0.171.0",
    "opencode": "1.18.33",
    "gemini": "0.61.0",
    "aider": "",
    "qwen": "",
    "crush": "",
    "goose": "",
    "llm": "",
}
# Variables that hold a program's key; one is enough. A login of the program's own does as well.
KEYS: Mapping[str, tuple[str, ...]] = {
    "claude": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
    "codex": ("OPENAI_API_KEY", "CODEX_API_KEY"),
    "opencode": ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
}
_VERSION = lazy(r"\d+(?:\.\d+)+")


class Asked(NamedTuple):
    """What a program said of its version; `problem` where it said none."""

    version: str
    problem: str = ""


def agents(around: Around) -> Iterator[Finding]:
    """Every program among the agents; those of a project that is not trusted are left out. No role is started."""
    specs = [spec for spec in around.settings().settings.agents.values() if spec.command]
    found = {spec.name: shutil.which(spec.command[0], path=around.environ.get("PATH")) for spec in specs}
    asked = [spec for spec in specs if found[spec.name] and _program(spec) in TRIED]
    with ThreadPoolExecutor(max_workers=4) as pool:
        answers = pool.map(lambda spec: _version(spec, around), asked)
        said = {spec.name: answer for spec, answer in zip(asked, answers, strict=True)}
    for spec in specs:
        where = found[spec.name]
        if where is None:
            yield skipped(f"agent {spec.name}", f"{spec.command[0]} is not on PATH")
        elif spec.name not in said:
            yield passed(f"agent {spec.name}", f"{where}, an agent of your own: its version is not asked")
        else:
            yield _judged(spec, where, said[spec.name])
    if not any(found.values()):
        yield warned("agents", "no program found", "install one, or use the built-in roles or a model's API")


def _program(spec: AgentSpec) -> str:
    return PurePath(spec.command[0]).stem


def _version(spec: AgentSpec, around: Around) -> Asked:
    environ = child_environment(around.environ, spec.env)
    try:
        ended = started([spec.command[0], "--version"], environ)
    except OSError as error:
        return Asked("", error.strerror or str(error))
    if ended.stopped:
        return Asked("", f"--version gave no answer in {SECONDS:g} s")
    version = _VERSION.search(ended.stdout) or _VERSION.search(ended.stderr_tail)
    return Asked(version[0]) if version and not ended.code else Asked("", f"--version ended with {ended.code}")


def _judged(spec: AgentSpec, where: str, said: Asked) -> Finding:
    what, tried = f"agent {spec.name}", TRIED[_program(spec)]
    if said.problem:
        return warned(what, f"{where}: {said.problem}", f"run {spec.command[0]} --version by hand")
    if said.version == tried:
        return passed(what, f"{said.version}, the version that was tried; {where}")
    if not tried:
        return warned(what, f"{said.version}, untried; {where}", f"try it on a small case: --planner {spec.name}")
    age = "newer" if _numbers(said.version) > _numbers(tried) else "older"
    todo = f"if it misbehaves, use {tried}"
    return warned(what, f"{said.version}, untried: {age} than {tried}; {where}", todo)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number[:9]) for number in re.findall(r"\d+", version))


def keys(around: Around) -> Iterator[Finding]:
    """Names only. Which agents can work with a key that is here, and which need a login of their own."""
    settings = around.settings().settings
    here = {one.name for one in readiness(settings) if not one.missing}
    for spec in settings.agents.values():
        names = _key_names(spec)
        if not names or (spec.command and spec.name not in here):
            continue
        given = {**around.environ, **spec.env}
        present = [name for name in names if given.get(name)]
        if present:
            yield passed(f"key of {spec.name}", ", ".join(present))
        elif spec.command:
            todo = "set one of them, or log in with the program itself"
            yield warned(f"key of {spec.name}", f"none of {', '.join(names)} is set", todo)
        else:
            yield warned(f"key of {spec.name}", f"{names[0]} is not set", "set it: without it the agent cannot work")


def _key_names(spec: AgentSpec) -> tuple[str, ...]:
    if spec.command:
        return KEYS.get(_program(spec), ())
    if spec.key_env or spec.base_url:  # a vendor's key goes to that vendor only
        return (spec.key_env,) if spec.key_env else ()
    return (APIS[spec.api].key_env,) if APIS[spec.api].key_env else ()
