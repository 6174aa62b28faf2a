"""What agent programs print: the reply, what it took, and the error, out of each program's own JSON.

Seen with Claude Code 2.1.197, Codex 0.171.0, OpenCode 1.18.33, Gemini CLI 0.61.0 and Qwen Code 0.15.10 (which prints
Claude's form); `tests/data/agents/` holds what they printed. Lines that are not understood are read over.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from harness.formats.text import clean, one_line
from harness.patterns import lazy

Record = Mapping[str, Any]
ERROR_CODE = 144  # of Gemini CLI: from here on it is the HTTP status, of which the shell keeps eight bits (400 & 255)
CODES = {41: "no login or API key", 52: "its settings are broken", 53: "the limit of turns was reached"}
API_ERROR = lazy(r"\[API Error: (?P<told>[^\n]*?)\]?\s*\Z")
ADDRESS = lazy(r"https?://[^\s<>\"'\\)\]}]+")


class Printed(NamedTuple):
    """What one run came to. Counts and cost (USD) are None where the program does not say."""

    text: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    error: str = ""
    status: int | None = None  # HTTP, of the model's server
    seen: frozenset[str] | None = None  # addresses in the output of its tools; None: it does not show that


def read_printed(form: str, stdout: str, stderr: str, code: int) -> Printed:
    """`stdout` and the last of `stderr` of a program that ended with `code`. Never raises."""
    return FORMS[form](stdout, stderr, code)


def _text(stdout: str, stderr: str, code: int) -> Printed:
    return Printed(clean(stdout))


def _claude(stdout: str, stderr: str, code: int) -> Printed:
    """One object, one a line, or a list of them; the last one of type `result` counts, also where it is an error."""
    records = list(_records(stdout))
    result = next((one for one in reversed(records) if one.get("type") == "result"), None)
    if result is None:
        return Printed(error="printed no result" if stdout.strip() and not code else "")
    into, out = _claude_tokens(result)
    cost = _amount(result.get("total_cost_usd"))
    text = clean(_str(result.get("result")))
    error = ""
    if result.get("is_error") or _str(result.get("subtype")).startswith("error"):
        told = [_str(line) for line in _list(result.get("errors"))] or [_message(result.get("error")) or text]
        error = "; ".join(filter(None, told)) or _str(result.get("subtype")) or "an error without a message"
    elif failed := API_ERROR.match(text):  # Qwen Code tells it as if it were the reply, exit code 0
        error, text = failed["told"], ""
    elif not text.strip():
        denied = ", ".join(_str(_map(one).get("tool_name")) for one in _list(result.get("permission_denials")))
        error = f"permission denied for {denied}" if denied else ""
    status = _count(result.get("api_error_status")) or (int(error[:3]) if error[:3].isdecimal() else None)
    return Printed(text, into, out, cost, error, status, _seen_by_claude(records))


def _claude_tokens(result: Record) -> tuple[int | None, int | None]:
    """Of all models that took part: `usage` is 0 where a limit ended the run."""
    models = [_map(one) for one in _map(result.get("modelUsage")).values()]
    if models:
        keys = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
        return _sum(models, *keys), _sum(models, "outputTokens")
    usage = [_map(result.get("usage"))]
    cached = ("cache_read_input_tokens", "cache_creation_input_tokens")
    return _sum(usage, "input_tokens", *cached), _sum(usage, "output_tokens")


def _seen_by_claude(records: list[Record]) -> frozenset[str] | None:
    """Addresses in tool results; the server's own search puts them into content blocks of the answer."""
    if len(records) < 2:
        return None
    blocks = [_map(b) for one in records for b in _list(_map(one.get("message")).get("content"))]
    return addresses_in(b for b in blocks if _str(b.get("type")).endswith("tool_result"))


def _codex(stdout: str, stderr: str, code: int) -> Printed:
    """Events, one a line; what it says while it works is a message too, so the last one is the reply."""
    records = list(_records(stdout))
    items = [_map(one.get("item")) for one in records if one.get("type") == "item.completed"]
    texts = [_str(item.get("text")) for item in items if item.get("type") == "agent_message"]
    usage = [_map(one.get("usage")) for one in records if one.get("type") == "turn.completed"]
    failed = [_message(one.get("error")) for one in records if one.get("type") == "turn.failed"]
    told = [_message(one) for one in records if one.get("type") == "error"]
    error = (failed or ([] if usage else told) or [""])[-1]
    seen = addresses_in(item for item in items if item.get("type") not in ("agent_message", "reasoning", "web_search"))
    return Printed(
        clean(texts[-1]) if texts else "",
        _sum(usage, "input_tokens"),  # the cached ones are among them
        _sum(usage, "output_tokens"),
        error=error,
        seen=seen or None,  # its web search does not show what came back
    )


def _opencode(stdout: str, stderr: str, code: int) -> Printed:
    """Events, one a line; the texts of the last message that has any are the reply."""
    records = list(_records(stdout))
    parts = [_map(one.get("part")) for one in records]
    texts = [part for part in parts if part.get("type") == "text" and _str(part.get("text")).strip()]
    last = [_str(part.get("text")) for part in texts if part.get("messageID") == texts[-1].get("messageID")]
    steps = [part for part in parts if part.get("type") == "step-finish"]
    tokens = [_map(step.get("tokens")) for step in steps]
    cached = [_map(each.get("cache")) for each in tokens]
    cost = sum(_amount(step.get("cost")) or 0.0 for step in steps)
    tools = [(_str(part.get("tool")), _map(part.get("state"))) for part in parts if part.get("type") == "tool"]
    error, status = _opencode_error(records, steps, tools)
    return Printed(
        clean("\n".join(last)),
        _plus(_sum(tokens, "input"), _sum(cached, "read", "write")),
        _sum(tokens, "output", "reasoning"),
        cost or None,  # 0: it does not know the model's price
        error,
        status,
        addresses_in({"output": state.get("output")} for _, state in tools),
    )


def _opencode_error(
    records: list[Record], steps: list[Record], tools: list[tuple[str, Record]]
) -> tuple[str, int | None]:
    """A permission that nobody is there to give ends the run with exit code 0, in the middle of the work."""
    for one in records:
        if one.get("type") == "error":
            error = _map(one.get("error"))
            data = _map(error.get("data"))
            return _message(data) or _str(error.get("name")) or "an error", _count(data.get("statusCode"))
    refused = [name for name, state in tools if "rejected permission" in _str(state.get("error"))]
    if refused and steps and steps[-1].get("reason") == "tool-calls":
        return f"permission denied for {', '.join(refused)}", None
    return "", None


def _gemini(stdout: str, stderr: str, code: int) -> Printed:
    """One object on stdout (events with `stream-json`); errors come on stderr, some by the exit code alone."""
    records = list(_records(stdout)) or list(_records(stderr))
    whole = next((one for one in reversed(records) if "response" in one or "stats" in one or "error" in one), {})
    stats = _map(whole.get("stats"))
    models = [_map(_map(one).get("tokens")) for one in _map(stats.get("models")).values()]
    used = max((at for at, one in enumerate(records) if one.get("type") == "tool_result"), default=-1)
    said = [_str(one.get("content")) for one in records[used + 1 :] if one.get("role") == "assistant"]
    looked = addresses_in(one for one in records if one.get("type") == "tool_result")
    coded = _count(_map(whole.get("error")).get("code")) or 0
    status = coded if coded >= 400 else 256 + code if code >= ERROR_CODE else None
    error = _message(whole.get("error")) or CODES.get(code, "") or (f"HTTP {status}" if status else "")
    return Printed(
        clean(_str(whole.get("response")) or "".join(said)),
        _sum([*models, stats], "prompt", "input_tokens"),
        _sum([*models, stats], "candidates", "thoughts", "output_tokens"),
        error=error,
        status=status,
        seen=looked or None,  # its web search does not show what came back
    )


FORMS: Mapping[str, Callable[[str, str, int], Printed]] = {
    "text": _text,
    "claude": _claude,
    "codex": _codex,
    "opencode": _opencode,
    "gemini": _gemini,
}


# JSON of which nothing is certain -----------------------------------------------------------------


def _records(text: str) -> Iterator[Record]:
    """Every object: of the whole text, of a list, else one a line or from a line `{` on."""
    whole = _json(text)
    if whole is not None:
        yield from (one for one in (whole if isinstance(whole, list) else [whole]) if isinstance(one, dict))
        return
    rest = ""
    for line in text.splitlines():
        rest = line if line.startswith("{") else f"{rest}\n{line}" if rest else ""
        if rest and line.rstrip().endswith("}") and isinstance(one := _json(rest), dict):
            yield one
            rest = ""


def _json(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _message(value: Any) -> str:
    """The message of an error, which may be JSON in JSON in JSON."""
    for _ in range(6):
        if isinstance(value, str) and value.lstrip().startswith("{"):
            value = _json(value) or {"text": value}
        if not isinstance(value, dict):
            break
        value = next((value[key] for key in ("message", "error", "text") if value.get(key)), "")
    return one_line(_str(value))


def addresses_in(records: Any) -> frozenset[str]:
    """The web addresses in what tools returned, JSON of any form."""
    text = "\n".join(json.dumps(one, ensure_ascii=False) for one in records)
    return frozenset(found.rstrip(".,;:") for found in ADDRESS.findall(text))


def _str(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _map(value: Any) -> Record:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _amount(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) and 0 <= value < 1e6 else None


def _sum(maps: list[Record], *keys: str) -> int | None:
    """None where not one of the counts is there."""
    found = [number for one in maps for key in keys if (number := _count(one.get(key))) is not None]
    return sum(found) if found else None


def _plus(first: int | None, second: int | None) -> int | None:
    return None if first is None else first + (second or 0)
