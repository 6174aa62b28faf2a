"""A server on loopback that speaks OpenAI chat completions and Anthropic messages, and misbehaves on request."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple

Answer = Callable[["Handler"], None]


class Seen(NamedTuple):
    path: str
    headers: Mapping[str, str]  # names in lower case
    body: dict[str, Any]
    at: float  # monotonic seconds


class Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.seen.append(Seen(self.path, headers, body, time.monotonic()))
        try:
            answer = self.server.script.pop(0)
        except IndexError:
            self.server.unexpected += 1
            answer = status(400, "the script of the test has run out")
        with suppress(OSError):  # the client has gone, which some tests are about
            answer(self)

    def send(self, code: int, body: bytes, headers: Mapping[str, str], *, length: int | None = None) -> None:
        self.send_response(code)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on stderr."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script: list[Answer]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script
        self.seen: list[Seen] = []
        self.unexpected = 0


class ModelServer:
    """A context manager; `script` holds one answer a request, and both too few and too many requests are errors."""

    def __init__(self, *script: Answer) -> None:
        self._server = _Server(list(script))
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @property
    def seen(self) -> list[Seen]:
        return self._server.seen

    def __enter__(self) -> ModelServer:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        if error is None:
            assert not self._server.script, f"{len(self._server.script)} answers were never asked for"
            assert not self._server.unexpected, f"{self._server.unexpected} requests too many"


def says(
    text: str | None, *, stop: str = "", usage: bool = True, message: Mapping[str, object] | None = None
) -> Answer:
    """A complete reply in the protocol that was asked; `stop` is the finish or stop reason."""

    def answer(handler: Handler) -> None:
        handler.send(200, _reply(handler.path, text, stop, usage=usage, message=message or {}), {})

    return answer


def status(code: int, message: str, **headers: str) -> Answer:
    """An error as both vendors word it. `headers` have `_` for `-`; retries come at once unless they say otherwise."""
    body = json.dumps({"type": "error", "error": {"type": "some_error", "message": message}}).encode()
    named = {"retry-after-ms": "1", **{name.replace("_", "-"): value for name, value in headers.items()}}
    if "retry-after" in named:
        del named["retry-after-ms"]
    return lambda handler: handler.send(code, body, named)


def sends(body: bytes, content_type: str = "application/json") -> Answer:
    """Status 200 and any body."""
    return lambda handler: handler.send(200, body, {"content-type": content_type})


def breaks_off(text: str) -> Answer:
    """A reply of which only the first half arrives."""

    def answer(handler: Handler) -> None:
        body = _reply(handler.path, text, "", usage=True, message={})
        handler.send(200, body[: len(body) // 2], {}, length=len(body))

    return answer


def waits(seconds: float) -> Answer:
    """No answer at all, for `seconds`."""
    return lambda handler: time.sleep(seconds)


def drips(seconds: float) -> Answer:
    """A byte every 50 ms: no single read ever times out."""

    def answer(handler: Handler) -> None:
        handler.send(200, b"{", {}, length=1_000_000)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            handler.wfile.write(b" ")
            time.sleep(0.05)

    return answer


def floods(limit: int) -> Answer:
    """A body without end, or rather of `limit` bytes."""

    def answer(handler: Handler) -> None:
        handler.send(200, b'{"choices": "', {}, length=limit)
        for _ in range(limit // 1_000_000):
            handler.wfile.write(b"x" * 1_000_000)

    return answer


def _reply(path: str, text: str | None, stop: str, *, usage: bool, message: Mapping[str, object]) -> bytes:
    if path.endswith("/chat/completions"):
        said = {"role": "assistant", "content": text, **message}
        reply: dict[str, Any] = {
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "message": said, "finish_reason": stop or "stop"}],
        }
        counts = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    elif path.endswith("/v1/messages"):
        blocks = [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": text}]
        reply = {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": blocks if text is not None else [],
            "stop_reason": stop or "end_turn",
            "stop_sequence": None,
        }
        counts = {"input_tokens": 5, "cache_read_input_tokens": 6, "output_tokens": 7}
    else:
        raise AssertionError(f"no API at {path}")
    return json.dumps(reply | ({"usage": counts} if usage else {}), ensure_ascii=False).encode()
