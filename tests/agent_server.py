"""A model server on loopback for the real agent programs: the test's own function answers every request."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from tests.agent_wire import STREAMED, WHOLE, Asked, Call, Said, api_of, asked_for, wants_stream

__all__ = ["AgentServer", "Asked", "Call", "Said"]

Answer = Callable[[Asked], Said]


class AgentServer:
    """A context manager: `url` speaks Anthropic messages, OpenAI responses and chat, and Gemini; `asked` remembers.

    `answer` is called in the thread of its request; what it raises becomes a failure of the test on exit.
    """

    def __init__(self, answer: Answer) -> None:
        self._server = _Server(answer)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @property
    def asked(self) -> list[Asked]:
        """Every request to a model so far, in the order of arrival."""
        with self._server.turn:
            return list(self._server.asked)

    def __enter__(self) -> AgentServer:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        if error is None and self._server.broken:
            raise self._server.broken[0]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.turn = threading.Lock()
        self.asked: list[Asked] = []
        self.broken: list[Exception] = []

    def handle_error(self, request: object, client_address: object) -> None:
        """A program that hangs up is no fault of the test."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._send(200, {})

    def do_GET(self) -> None:
        self._send(200, {"object": "list", "data": [], "models": []})

    def do_POST(self) -> None:
        body = self._body()
        api = api_of(self.path)
        if api is None:
            self._send(200, {"input_tokens": 100, "totalTokens": 100})
            return
        asked = asked_for(api, self.path, body, {name.lower(): value for name, value in self.headers.items()})
        with self.server.turn:
            self.server.asked.append(asked)
        try:
            said = self.server.answer(asked)
        except Exception as error:
            self.server.broken.append(error)
            said = Said("the test's own answer raised an error", status=400)
        time.sleep(said.wait)
        with suppress(OSError):  # the program has gone, which some tests are about
            self._reply(asked, said)

    def _reply(self, asked: Asked, said: Said) -> None:
        if said.status != 200:
            error = {"type": "api_error", "message": said.text or "scripted error", "code": said.status}
            self._send(said.status, {"type": "error", "error": error})
        elif wants_stream(asked, self.path):
            self._stream(STREAMED[asked.api](asked, said))
        else:
            self._send(200, WHOLE[asked.api](asked, said))

    def _body(self) -> dict[str, Any]:
        raw = b"".join(self._chunks())
        if self.headers.get("content-encoding") == "gzip":
            raw = gzip.decompress(raw)
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            return {}
        return body if isinstance(body, dict) else {}

    def _chunks(self) -> list[bytes]:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return [self.rfile.read(int(self.headers.get("content-length") or 0))]
        chunks = []
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return chunks

    def _send(self, code: int, body: Mapping[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, events: list[tuple[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for name, data in events:
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write(f"{f'event: {name}' + chr(10) if name else ''}data: {text}\n\n".encode())
            self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on stderr."""
