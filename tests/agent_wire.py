"""The four protocols in which agent programs ask a model: a request read, a scripted reply written."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

Events = list[tuple[str, Any]]


class Call(NamedTuple):
    """A tool that the scripted model calls; a text as input is a freeform call (Codex: apply_patch)."""

    tool: str
    input: dict[str, Any] | str


class Said(NamedTuple):
    """What the scripted model says to one request."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    status: int = 200  # any other: an HTTP error with `text` as its message
    wait: float = 0.0  # seconds before the answer
    tokens: tuple[int, int] = (100, 20)  # in and out
    stop: str = ""  # the stop reason, in the word of the protocol; "": the one that fits


class Asked(NamedTuple):
    """One request of a program to its model, whatever the protocol."""

    api: str  # anthropic, responses, chat or gemini
    system: str
    messages: tuple[tuple[str, str], ...]  # (role, text)
    tools: tuple[str, ...]
    model: str
    replies: int  # turns of the model so far
    body: dict[str, Any]
    headers: Mapping[str, str]  # names in lower case


def api_of(path: str) -> str | None:
    """The protocol spoken at `path`; None: no request to a model."""
    plain = path.partition("?")[0]
    for api, ending in (("anthropic", "/messages"), ("responses", "/responses"), ("chat", "/chat/completions")):
        if plain.endswith(ending):
            return api
    return "gemini" if re.search(r":(stream)?[gG]enerateContent$", plain) else None


def asked_for(api: str, path: str, body: dict[str, Any], headers: Mapping[str, str]) -> Asked:
    model = str(body.get("model", ""))
    if found := re.search(r"/models/([^:/?]+)", path):
        model = found[1]
    system, messages = READERS[api](body)
    replies = sum(1 for role, _ in messages if role == "assistant")
    return Asked(api, system, tuple(messages), tuple(_tools(body)), model, replies, body, headers)


def wants_stream(asked: Asked, path: str) -> bool:
    return "streamGenerateContent" in path if asked.api == "gemini" else bool(asked.body.get("stream"))


# Reading -----------------------------------------------------------------------------------------


def _text(content: Any) -> str:
    """The text in any of the vendors' forms of content, tool results included."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_text(part) for part in content)
    if isinstance(content, dict):
        for key in ("text", "content", "parts", "output", "functionResponse", "response", "result", "error"):
            if key in content:
                return _text(content[key])
    return ""


def _tools(body: Mapping[str, Any]) -> Iterable[str]:
    """Names as the program offers them; a tool of the vendor's own (web search) has a type only."""
    for tool in body.get("tools") or []:
        declared = tool.get("functionDeclarations")
        if declared is not None:
            yield from (each["name"] for each in declared)
        elif "googleSearch" in tool or "urlContext" in tool:
            yield from tool
        else:
            yield str((tool.get("function") or tool).get("name") or tool.get("type"))


def _read_anthropic(body: Mapping[str, Any]) -> tuple[str, list[tuple[str, str]]]:
    return _text(body.get("system")), [(m["role"], _text(m["content"])) for m in body.get("messages", [])]


def _read_responses(body: Mapping[str, Any]) -> tuple[str, list[tuple[str, str]]]:
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given or []
    system = [_text(body.get("instructions"))]
    messages: list[tuple[str, str]] = []
    for item in items:
        kind, role = item.get("type", "message"), item.get("role", "user")
        if kind != "message":
            role = "tool" if kind.endswith("_output") else "assistant"
        if role in ("developer", "system"):
            system.append(_text(item.get("content")))
        elif role == "assistant" and messages and messages[-1][0] == role:  # one turn: text and calls side by side
            messages[-1] = (role, f"{messages[-1][1]}\n{_text(item.get('content', item))}")
        else:
            messages.append((role, _text(item.get("content", item))))
    return "\n".join(system), messages


def _read_chat(body: Mapping[str, Any]) -> tuple[str, list[tuple[str, str]]]:
    said = [(m["role"], _text(m.get("content"))) for m in body.get("messages", [])]
    first = [text for role, text in said if role in ("system", "developer")]
    return "\n".join(first), [(role, text) for role, text in said if role not in ("system", "developer")]


def _read_gemini(body: Mapping[str, Any]) -> tuple[str, list[tuple[str, str]]]:
    turns = [(c.get("role", "user"), _text(c.get("parts"))) for c in body.get("contents", [])]
    system = _text(body.get("systemInstruction"))
    return system, [("assistant" if role == "model" else role, text) for role, text in turns]


READERS: Mapping[str, Callable[[Mapping[str, Any]], tuple[str, list[tuple[str, str]]]]] = {
    "anthropic": _read_anthropic,
    "responses": _read_responses,
    "chat": _read_chat,
    "gemini": _read_gemini,
}


# Writing -----------------------------------------------------------------------------------------


def _new(prefix: str) -> str:
    return f"{prefix}_{uuid.uuid4().hex[:20]}"


def _whole_anthropic(asked: Asked, said: Said) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": said.text}] if said.text or not said.calls else []
    blocks += [{"type": "tool_use", "id": _new("toolu"), "name": c.tool, "input": c.input} for c in said.calls]
    return {
        "id": _new("msg"),
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": blocks,
        "stop_reason": said.stop or ("tool_use" if said.calls else "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": said.tokens[0], "output_tokens": said.tokens[1]},
    }


def _stream_anthropic(asked: Asked, said: Said) -> Events:
    whole = _whole_anthropic(asked, said)
    start = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            empty = {**block, "input": {}}
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ended, "usage": whole["usage"]})
    events.append({"type": "message_stop"})
    return [(event["type"], event) for event in events]


def _whole_responses(asked: Asked, said: Said) -> dict[str, Any]:
    items: list[dict[str, Any]] = []
    if said.text or not said.calls:
        content = [{"type": "output_text", "text": said.text, "annotations": []}]
        items.append(
            {"type": "message", "id": _new("msg"), "role": "assistant", "status": "completed", "content": content}
        )
    for call in said.calls:
        item = {"id": _new("fc"), "call_id": _new("call"), "name": call.tool, "status": "completed"}
        if isinstance(call.input, str):
            items.append({"type": "custom_tool_call", "input": call.input, **item})
        else:
            items.append({"type": "function_call", "arguments": json.dumps(call.input), **item})
    into, out = said.tokens
    usage = {"input_tokens": into, "output_tokens": out, "total_tokens": into + out}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": _new("resp"),
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": asked.model,
        "output": items,
        "usage": {**usage, **details},
    }


def _stream_responses(asked: Asked, said: Said) -> Events:
    whole = _whole_responses(asked, said)
    under_way = {**whole, "status": "in_progress", "output": [], "usage": None}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": under_way}]
    for index, item in enumerate(whole["output"]):
        events.append({"type": "response.output_item.added", "output_index": index, "item": item})
        if item["type"] == "message":
            at = {"item_id": item["id"], "output_index": index, "content_index": 0}
            events.append({"type": "response.output_text.delta", "delta": said.text, **at})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": whole})
    return [(event["type"], {**event, "sequence_number": number}) for number, event in enumerate(events)]


def _whole_chat(asked: Asked, said: Said) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": said.text or None}
    if said.calls:
        message["tool_calls"] = [
            {
                "index": index,
                "id": _new("call"),
                "type": "function",
                "function": {"name": call.tool, "arguments": json.dumps(call.input)},
            }
            for index, call in enumerate(said.calls)
        ]
    ended = said.stop or ("tool_calls" if said.calls else "stop")
    into, out = said.tokens
    return {
        "id": _new("chatcmpl"),
        "object": "chat.completion",
        "created": 1,
        "model": asked.model,
        "choices": [{"index": 0, "message": message, "finish_reason": ended}],
        "usage": {"prompt_tokens": into, "completion_tokens": out, "total_tokens": into + out},
    }


def _stream_chat(asked: Asked, said: Said) -> Events:
    whole = _whole_chat(asked, said)
    choice = whole["choices"][0]
    piece = {**whole, "object": "chat.completion.chunk"}
    usage = piece.pop("usage")
    deltas = [{**choice["message"], "content": said.text}, {}]
    ends = [None, choice["finish_reason"]]
    events: Events = [
        ("", {**piece, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]})
        for delta, end in zip(deltas, ends, strict=True)
    ]
    return [*events, ("", {**piece, "choices": [], "usage": usage}), ("", "[DONE]")]


def _whole_gemini(asked: Asked, said: Said) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": said.text}] if said.text or not said.calls else []
    parts += [{"functionCall": {"name": call.tool, "args": call.input}} for call in said.calls]
    into, out = said.tokens
    content = {"role": "model", "parts": parts}
    return {
        "candidates": [{"content": content, "finishReason": said.stop or "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": into, "candidatesTokenCount": out, "totalTokenCount": into + out},
        "modelVersion": asked.model,
        "responseId": _new("r"),
    }


def _stream_gemini(asked: Asked, said: Said) -> Events:
    return [("", _whole_gemini(asked, said))]


WHOLE: Mapping[str, Callable[[Asked, Said], dict[str, Any]]] = {
    "anthropic": _whole_anthropic,
    "responses": _whole_responses,
    "chat": _whole_chat,
    "gemini": _whole_gemini,
}
STREAMED: Mapping[str, Callable[[Asked, Said], Events]] = {
    "anthropic": _stream_anthropic,
    "responses": _stream_responses,
    "chat": _stream_chat,
    "gemini": _stream_gemini,
}
