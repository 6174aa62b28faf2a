"""The messages API through the `anthropic` SDK: the vendor itself, or a compatible server at `base_url`.

To try it by hand: export ANTHROPIC_API_KEY=… and run the line in the docstring of `harness.agents.chat` with
`api="anthropic"`.
"""

from __future__ import annotations

from typing import Any

from harness.agents.chat.completion import Call, Completion, whole_number
from harness.agents.chat.http import CONNECT_SECONDS, RETRIES, BadBody, client_options, read_json

VENDOR = "https://api.anthropic.com"  # named here: ANTHROPIC_BASE_URL must not carry the key elsewhere
STOPS = {"max_tokens": "length", "model_context_window_exceeded": "window", "refusal": "refused"}
INPUT_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def ask(call: Call) -> Completion:
    """One user message, one reply, not streamed. Raises BadBody or the SDK's errors."""
    import anthropic

    spec = call.spec
    timeout = anthropic.Timeout(spec.timeout, connect=min(CONNECT_SECONDS, spec.timeout))
    auth = {"X-Api-Key": call.key, "anthropic-version": "2023-06-01"}
    with (
        anthropic.Anthropic(
            api_key=call.key,
            base_url=spec.base_url or VENDOR,
            max_retries=RETRIES,
            http_client=anthropic.DefaultHttpxClient(**client_options(call, auth)),
        ) as client,
        client.messages.with_streaming_response.create(
            model=spec.model,
            max_tokens=spec.output,
            messages=[{"role": "user", "content": call.prompt}],
            timeout=timeout,  # here: without it the SDK refuses a large `max_tokens` unless streamed
        ) as response,
    ):
        body = read_json(response, call)
    return _completion(body)


def _completion(body: dict[str, Any]) -> Completion:
    blocks = body.get("content")
    if not isinstance(blocks, list):
        raise BadBody("the reply is not a message")
    usage = body.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    counts = [count for name in INPUT_COUNTS if (count := whole_number(usage.get(name))) is not None]
    reason = str(body.get("stop_reason") or "")
    return Completion(
        text="".join(str(b.get("text") or "") for b in blocks if isinstance(b, dict) and b.get("type") == "text"),
        stop=STOPS.get(reason, ""),
        detail=f"stop_reason {reason}" if reason != "end_turn" else "",
        tokens_in=sum(counts) if counts else None,
        tokens_out=whole_number(usage.get("output_tokens")),
    )
