"""Our hooks inside a project's settings.json: merged, and taken out again; nothing else in it moves."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from harness.patterns import lazy
from harness.scaffold.refused import Refused

# The form that templates/claude/hooks/hooks.json gives each of our commands, whatever the paths.
_OURS = lazy(r"\[ -f (.+) \] && \[ -x (.+) \] && exec \2 -I -S \1 .+; true")
_BOM = "\ufeff"
_INDENTS: tuple[int | str | None, ...] = (2, 4, "\t", 3, 1, 8, None)
_COMPACT = (",", ":")


class _Style(NamedTuple):
    """How a JSON file is laid out, so that it can be written the same way again."""

    indent: int | str | None = 2
    separators: tuple[str, str] | None = None
    ascii: bool = False
    newline: str = "\n"
    mark: str = ""
    tail: str = "\n"

    def render(self, data: Any) -> str:
        text = json.dumps(data, indent=self.indent, separators=self.separators, ensure_ascii=self.ascii)
        return self.mark + text.replace("\n", self.newline) + self.tail


def put_hooks(before: bytes | None, hooks: str) -> bytes:
    """settings.json with `hooks` (the text of a hooks.json) in it. `before` None: no file yet.

    Raises Refused where it cannot be written back as it stands: comments, unusual layout, no object.
    """
    data, style = _read(before) if before is not None else ({}, _Style())
    wanted: Mapping[str, list[Any]] = json.loads(hooks)["hooks"]
    events = _without(data.get("hooks", {}), refilled=wanted)
    for event, groups in wanted.items():
        events[event] = [*events.get(event, []), *groups]
    return style.render({**data, "hooks": events}).encode()


def take_hooks(now: bytes) -> bytes | None:
    """settings.json without our hooks; None where nothing else is in it. Raises as put_hooks."""
    data, style = _read(now)
    if not any(_is_ours(hook) for groups in data.get("hooks", {}).values() for hook in _hooks_of(groups)):
        return now
    events = _without(data["hooks"])
    rest = {key: value for key, value in data.items() if key != "hooks" or events}
    if "hooks" in rest:
        rest["hooks"] = events
    return style.render(rest).encode() if rest else None


def _without(events: Mapping[str, list[Any]], refilled: Iterable[str] = ()) -> dict[str, list[Any]]:
    """The hooks that are not ours; an event or a group goes only if it held nothing else.

    An event that is `refilled` keeps its place among the others.
    """
    kept: dict[str, list[Any]] = {}
    for event, groups in events.items():
        rest = [group for group in map(_others, groups) if group is not None]
        if rest or not groups or event in refilled:
            kept[event] = rest
    return kept


def _others(group: Any) -> Any:
    hooks = list(_hooks_of([group]))
    others = [hook for hook in hooks if not _is_ours(hook)]
    if len(others) == len(hooks):
        return group
    return {**group, "hooks": others} if others else None


def _hooks_of(groups: Any) -> Iterable[Any]:
    for group in groups if isinstance(groups, list) else []:
        if isinstance(group, dict) and isinstance(group.get("hooks"), list):
            yield from group["hooks"]


def _is_ours(hook: Any) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    return isinstance(command, str) and "hook.py" in command and bool(_OURS.fullmatch(command))


def _read(content: bytes) -> tuple[dict[str, Any], _Style]:
    try:
        text = content.decode()
        data = json.loads(text.removeprefix(_BOM), object_pairs_hook=_once)
    except (UnicodeDecodeError, RecursionError):
        raise Refused("it is not JSON in UTF-8") from None
    except json.JSONDecodeError as error:
        raise Refused(f"it is not plain JSON (line {error.lineno}: {error.msg}); comments count as such") from None
    if not isinstance(data, dict) or not isinstance(data.get("hooks", {}), dict):
        raise Refused("its JSON is not what Claude Code reads: no object, or `hooks` is none")
    if not all(isinstance(groups, list) for groups in data.get("hooks", {}).values()):
        raise Refused("its JSON is not what Claude Code reads: an event under `hooks` is no list")
    for style in _styles(text):
        if style.render(data) == text:
            return data, style
    raise Refused("its layout is unusual and would change; format it as JSON with an indent of 2")


def _styles(text: str) -> Iterable[_Style]:
    mark = _BOM if text.startswith(_BOM) else ""
    tail = text[len(text.rstrip()) :]
    newline = "\r\n" if "\r\n" in text else "\n"
    for ascii_only in (False, True):
        for indent in _INDENTS:
            for separators in (None, _COMPACT) if indent is None else (None,):
                yield _Style(indent, separators, ascii_only, newline, mark, tail)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise Refused("a key stands in it twice")
    return dict(pairs)
