"""Errors of the SDKs, of HTTP and of plugins, told as ours: never asked (unreachable), or asked in vain (failed).

The SDKs share no error classes and change their HTTP library between versions, so an error is known by its
`status_code`, by the operating system's error it came from, and by its class name.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

from harness.agents.chat.http import BadBody
from harness.errors import AgentFailed, AgentUnreachable, HarnessError
from harness.formats.text import one_line, shortened
from harness.options import AgentSpec

SAID = 300  # characters of the server's own words; a gateway may send a whole HTML page
# status → what, and what to do. `{name}` is the agent's, `{key}` the variable with its key.
UNREACHABLE = {
    401: ("the key was refused", "Set {key} to a valid key."),
    402: ("the account has no credit", "Top up the account, or name another agent in the role's list."),
    403: ("the key may not use this model", "Check what the key behind {key} is allowed to do."),
    404: ("no such model or address", "Check agents.{name}.model and agents.{name}.base_url."),
    407: ("the proxy wants a login", "Check HTTPS_PROXY."),
    429: ("rate limit or quota reached", "Wait and run it again, or name another agent in the role's list."),
}
REDIRECTED = ("the address redirects, which is not followed", "Set agents.{name}.base_url to the final address.")
BAD_REQUEST = "Check agents.{name}.window and agents.{name}.output against the model's limits."
SERVER_ERROR = "Run it again later, or name another agent in the role's list."
# Raised by the HTTP libraries before anything was sent.
NOT_CONNECTED = ("ConnectError", "ConnectTimeout", "UnsupportedProtocol", "InvalidURL", "ProxyError")
TOO_SLOW = ("ReadTimeout", "WriteTimeout", "APITimeoutError", "TimeIsUp")


def failure(error: Exception, spec: AgentSpec, key_env: str) -> HarnessError:
    """The error to raise for whatever an SDK raised; its text may still hold the key."""
    name, key = spec.name, f"${spec.key_env or key_env}" if spec.key_env or key_env else "the key"
    said = _said(error)
    if isinstance(error, BadBody):
        return AgentFailed(f"{name}: {said}", spec.base_url or spec.model, _hint(_base_url_hint(spec), name, key))
    kinds = {type(cause).__name__ for cause in _causes(error)}
    status = _status(error)
    if status is not None:
        return _by_status(status, said, name, key)
    if kinds.intersection(TOO_SLOW) and not kinds.intersection(NOT_CONNECTED):
        return AgentFailed(f"{name}: no reply in {spec.timeout:g} s", said, f"Raise agents.{name}.timeout.")
    if kinds.intersection(NOT_CONNECTED) or any(_is_refusal(cause) for cause in _causes(error)):
        hint = _hint("Is the network up, and agents.{name}.base_url right?", name, key)
        return AgentUnreachable(f"{name}: no connection", _said(_last(error)) or said, hint)
    if "NeedsKeyException" in kinds:
        return AgentUnreachable(f"{name}: no key", said, "llm keys set NAME")
    if "UnknownModelError" in kinds:
        return AgentUnreachable(f"{name}: no such model", said, "llm models")
    return AgentFailed(f"{name}: the call broke off", said, SERVER_ERROR)


def missing_package(spec: AgentSpec, package: str) -> AgentUnreachable:
    """The SDK, or a package that it needs, is not installed."""
    return AgentUnreachable(f"{spec.name}: package missing", package, f'pip install "research-harness[{spec.api}]"')


def _by_status(status: int, said: str, name: str, key: str) -> HarnessError:
    told = f"HTTP {status}" + (f": {said}" if said else "")
    if status in UNREACHABLE:
        what, hint = UNREACHABLE[status]
        return AgentUnreachable(f"{name}: {what}", told, _hint(hint, name, key))
    if 300 <= status < 400:
        what, hint = REDIRECTED
        return AgentUnreachable(f"{name}: {what}", told, _hint(hint, name, key))
    if status < 500:
        return AgentFailed(f"{name}: the request was refused", told, _hint(BAD_REQUEST, name, key))
    return AgentFailed(f"{name}: the server failed", told, SERVER_ERROR)


def _hint(template: str, name: str, key: str) -> str:
    return template.format(name=name, key=key)


def _base_url_hint(spec: AgentSpec) -> str:
    return "Check that agents.{name}.base_url is the address of the API." if spec.base_url else SERVER_ERROR


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _last(error: Exception) -> BaseException:
    return list(_causes(error))[-1]


def _is_refusal(error: BaseException) -> bool:
    return isinstance(error, (ConnectionRefusedError, socket.gaierror, ssl.SSLCertVerificationError))


def _status(error: Exception) -> int | None:
    for cause in _causes(error):
        status = getattr(cause, "status_code", None)
        if isinstance(status, int):
            return status
    return None


def _said(error: BaseException) -> str:
    """The server's own words where there are any, in one short line."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    told = inner.get("message") if isinstance(inner, dict) else inner
    return shortened(one_line(str(told or error)), SAID)
