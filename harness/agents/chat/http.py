"""The rules every HTTP call keeps, whichever SDK makes it: where headers go, how much is read, until when."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from harness.agents.chat.completion import Call

RETRIES = 2  # by the SDK: 408, 409, 429, 5xx and lost connections; it keeps Retry-After up to a minute
CONNECT_SECONDS = 10.0
BODY_LIMIT = 16_000_000  # bytes of a reply; the largest output limits of models are below 1 MB of text
# Sent to a host that is not the vendor's. The SDKs add an organisation's id, whatever the vendor's …_CUSTOM_HEADERS
# variable holds (often a gateway's secret), and a description of this machine. The last one is a note that the SDKs
# make to themselves: without it they read the body before we can.
NEUTRAL_HEADERS = frozenset(
    (
        "host",
        "accept",
        "accept-encoding",
        "connection",
        "content-type",
        "content-length",
        "user-agent",
        "x-stainless-raw-response",
    )
)


class BadBody(Exception):
    """A body that is no reply: too long, no JSON, not the API's. The server itself was fine with the request."""


class Body(Protocol):
    """A response whose body is still to be read, as both SDKs' `with_streaming_response` gives it."""

    @property
    def headers(self) -> Mapping[str, str]: ...

    def iter_bytes(self) -> Iterator[bytes]: ...


def client_options(call: Call, auth: Mapping[str, str]) -> dict[str, Any]:
    """For the SDK's own HTTP client. No redirect is followed: a key would travel along to another host."""
    return {
        "follow_redirects": False,
        "event_hooks": {"request": [_rules(call, auth)]},
    }


def read_json(body: Body, call: Call) -> dict[str, Any]:
    """The JSON object of a reply. Raises BadBody, TimeIsUp, or the HTTP library's error if it breaks off."""
    kind = body.headers.get("content-type", "")
    data = bytearray()
    for piece in body.iter_bytes():
        call.deadline.check()
        data += piece
        if len(data) > BODY_LIMIT:
            raise BadBody(f"the reply is longer than {BODY_LIMIT} bytes")
    if "json" not in kind.lower():
        raise BadBody(f"the reply is no JSON but {kind or 'of no named type'}")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise BadBody("the reply is broken JSON") from None
    if not isinstance(value, dict):
        raise BadBody("the reply is no JSON object")
    if value.get("error"):  # some gateways report an error with status 200
        raise BadBody(f"the server said: {_said(value['error'])}")
    return value


def _rules(call: Call, auth: Mapping[str, str]) -> Callable[[Any], None]:
    kept = NEUTRAL_HEADERS | {name.lower() for name in auth}

    def keep(request: Any) -> None:
        call.deadline.check()  # no retry is sent, and paid, for a caller that has gone
        if call.spec.base_url:
            for name in [name for name in request.headers if name.lower() not in kept]:
                del request.headers[name]
        for name, value in auth.items():
            request.headers[name] = value

    return keep


def _said(error: object) -> str:
    return str(error.get("message") or error) if isinstance(error, dict) else str(error)
