"""A model behind an API that takes a role: one user message, one text back, nothing kept between two calls.

Keys come from the environment only, and a vendor's key goes only to that vendor's host: with `base_url` set, the key
is the variable named by `key_env`, or none. To try an API by hand, with its key set:
    python -c 'from harness.agents.chat import *; print(ChatAgent(AgentSpec("try", api="openai", model="NAME")).take(
        Packet(Role.PLANNER, "", 1, "Reply with the one word: ready", {}, ())))'
It prints the word with the tokens used, or what is missing.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Mapping
from typing import NamedTuple

from harness.agents.chat import anthropic_api, llm_api, openai_api
from harness.agents.chat.completion import Call, Completion
from harness.agents.chat.deadline import Deadline, TimeIsUp
from harness.agents.chat.failures import failure, missing_package
from harness.environment import mask, secrets_of
from harness.errors import AgentFailed, AgentUnreachable, HarnessError, WrongCall
from harness.formats.text import clean
from harness.model import Packet, Reply, Role
from harness.options import AgentSpec

__all__ = ["APIS", "AgentSpec", "ChatAgent", "Packet", "Role"]  # all that the try above needs

NO_KEY = "none"  # local servers want some key and look at none


class Api(NamedTuple):
    """`package`, also the extra that brings it; `key_env`, the vendor's usual variable, "" = a store of its own."""

    package: str
    key_env: str
    ask: Callable[[Call], Completion]
    stored_keys: Callable[[], tuple[str, ...]] = tuple


APIS: Mapping[str, Api] = {
    "openai": Api("openai", "OPENAI_API_KEY", openai_api.ask),
    "anthropic": Api("anthropic", "ANTHROPIC_API_KEY", anthropic_api.ask),
    "llm": Api("llm", "", llm_api.ask, llm_api.stored_keys),
}


class ChatAgent:
    """ports.Agent over one of APIS. Raises WrongCall for a spec that cannot work."""

    def __init__(self, spec: AgentSpec) -> None:
        where = f"agents.{spec.name}"
        if spec.api not in APIS:
            raise WrongCall("unknown api", spec.api, f"Set {where}.api to {', '.join(APIS)}.")
        if not spec.model and spec.api != "llm":  # llm has a default model of its own
            raise WrongCall("no model named", spec.name, f"Set {where}.model.")
        if spec.base_url and spec.api == "llm":
            hint = "Name the server in llm's extra-openai-models.yaml, or set api to openai."
            raise WrongCall("base_url does not go with api llm", spec.base_url, hint)
        self._spec = spec

    @property
    def name(self) -> str:
        return self._spec.name

    @property
    def window(self) -> int | None:
        """Tokens left for a prompt: the reply needs its part of the window too."""
        return self._spec.window - self._spec.output

    def obstacle(self) -> AgentUnreachable | None:
        """Why the API cannot be asked from here, found out without asking it; None = nothing in the way."""
        api = APIS[self._spec.api]
        if importlib.util.find_spec(api.package) is None:
            return missing_package(self._spec, api.package)
        try:
            _key(self._spec, api)
        except AgentUnreachable as error:
            return error
        return None

    def take(self, packet: Packet) -> Reply:
        """Send one packet's prompt and wait for the reply, at most `timeout` seconds, retries included.

        Raises AgentUnreachable (no package, no key, refused, not found, rate limit) or AgentFailed (broken off,
        server error, empty, refused by the model, too long, time-out).
        """
        spec, api = self._spec, APIS[self._spec.api]
        key = _key(spec, api)
        try:
            importlib.import_module(api.package)  # up to two seconds, once, that are not the model's
        except ImportError as error:
            raise missing_package(spec, error.name or api.package) from None
        deadline = Deadline(spec.timeout)
        try:
            completion = deadline.run(lambda: api.ask(Call(spec, key, packet.prompt, deadline)))
        except TimeIsUp:
            hint = f"Raise agents.{spec.name}.timeout, or name a faster model."
            raise AgentFailed(f"{spec.name}: no reply in {spec.timeout:g} s", spec.model, hint) from None
        except Exception as error:  # whatever an SDK or a plugin raises, under whichever name
            raise _masked(failure(error, spec, api.key_env), (key, *api.stored_keys())) from None
        return Reply(
            text=clean(completion.text_or_raise(spec)),
            tokens_in=completion.tokens_in,
            tokens_out=completion.tokens_out,
        )


def _key(spec: AgentSpec, api: Api) -> str:
    """The key for this call, "" if the SDK finds its own (llm's key store)."""
    if not spec.key_env and spec.base_url:
        return NO_KEY
    name = spec.key_env or api.key_env
    if not name:
        return ""
    key = os.environ.get(name, "").strip()
    if not key:
        raise AgentUnreachable(f"{spec.name}: no key", f"${name} is not set", f"export {name}=…")
    if not (key.isascii() and key.isprintable()):
        hint = f"Set {name} again: copy the key only."
        raise AgentUnreachable(f"{spec.name}: the key holds characters that no key has", f"${name}", hint)
    return key


def _masked(error: HarnessError, keys: tuple[str, ...]) -> HarnessError:
    secrets = (*(key for key in keys if key != NO_KEY), *secrets_of(os.environ))
    return type(error)(mask(error.what, secrets), mask(error.value, secrets), error.hint)
