"""The chat completions API through the `openai` SDK: the vendor itself, or any compatible server at `base_url`.

To try it by hand: export OPENAI_API_KEY=… and run the line in the docstring of `harness.agents.chat`; for a local
server add `base_url="http://localhost:11434/v1"` to the AgentSpec, no key needed.
"""

from __future__ import annotations

from typing import Any

from harness.agents.chat.completion import Call, Completion, whole_number
from harness.agents.chat.http import CONNECT_SECONDS, RETRIES, BadBody, client_options, read_json

VENDOR = "https://api.openai.com/v1"  # named here: OPENAI_BASE_URL must not carry the key elsewhere
STOPS = {"length": "length", "content_filter": "refused"}


def ask(call: Call) -> Completion:
    """One user message, one reply, not streamed. Raises BadBody or the SDK's errors."""
    import openai

    spec = call.spec
    auth = {"Authorization": f"Bearer {call.key}"}
    # The vendor's newer models refuse `max_tokens`; older compatible servers know nothing else.
    limit: dict[str, Any] = {"max_tokens" if spec.base_url else "max_completion_tokens": spec.output}
    with (
        openai.OpenAI(
            api_key=call.key,
            base_url=spec.base_url or VENDOR,
            timeout=openai.Timeout(spec.timeout, connect=min(CONNECT_SECONDS, spec.timeout)),
            max_retries=RETRIES,
            http_client=openai.DefaultHttpxClient(**client_options(call, auth)),
        ) as client,
        client.chat.completions.with_streaming_response.create(
            model=spec.model, messages=[{"role": "user", "content": call.prompt}], **limit
        ) as response,
    ):
        body = read_json(response, call)
    return _completion(body)


def _completion(body: dict[str, Any]) -> Completion:
    try:
        choice = body["choices"][0]
        message = choice["message"]
        text = _text(message.get("content"))
        refusal = str(message.get("refusal") or "")
        reason = str(choice.get("finish_reason") or "")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise BadBody("the reply is not a chat completion") from None
    usage = body.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Completion(
        text=text,
        stop="refused" if refusal else STOPS.get(reason, ""),
        detail=refusal or (f"finish_reason {reason}" if reason != "stop" else ""),
        tokens_in=whole_number(usage.get("prompt_tokens")),
        tokens_out=whole_number(usage.get("completion_tokens")),
    )


def _text(content: object) -> str:
    """A string, or with some servers a list of parts of which the text ones count."""
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(str(part.get("text") or "") for part in parts)
    return content if isinstance(content, str) else ""
