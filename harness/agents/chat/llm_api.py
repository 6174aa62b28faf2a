"""Any model that the `llm` tool knows: its plugins, its aliases, its key store, its default model.

To try it by hand: `llm -m NAME 'Reply with the one word: ready'` (names: `llm models`, keys: `llm keys set NAME`);
when that prints the word, run the line in the docstring of `harness.agents.chat` with `api="llm"`.
"""

from __future__ import annotations

from typing import Any

from harness.agents.chat.completion import Call, Completion, whole_number

# Plugins hand on what their vendor said under different names.
STOPS = {
    "length": "length",
    "max_tokens": "length",
    "MAX_TOKENS": "length",
    "content_filter": "refused",
    "refusal": "refused",
    "SAFETY": "refused",
}
STOP_KEYS = ("finish_reason", "stop_reason", "finishReason", "done_reason")


def ask(call: Call) -> Completion:
    """One prompt, one reply, logged nowhere. Raises whatever llm or the plugin raises."""
    import llm

    model = llm.get_model(call.spec.model or None)
    options: dict[str, Any] = {}
    if "max_tokens" in model.Options.model_fields:  # an option is each plugin's own; an unknown one is an error
        options["max_tokens"] = call.spec.output
    if call.key:
        options["key"] = call.key
    response = model.prompt(call.prompt, stream=False, **options)
    text = response.text()
    usage = response.usage()
    reason = _stop_reason(response.response_json)
    return Completion(
        text=text,
        stop=STOPS.get(reason, ""),
        detail=f"stopped by {reason}" if reason else "",
        tokens_in=whole_number(usage.input),
        tokens_out=whole_number(usage.output),
    )


def stored_keys() -> tuple[str, ...]:
    """The keys in llm's own store, so that they can be kept out of messages."""
    import llm

    return tuple(str(key) for key in llm.load_keys().values())  # type: ignore[no-untyped-call]


def _stop_reason(answer: object) -> str:
    """The reason in the vendor's own answer: at the top, or in its first choice or candidate."""
    if not isinstance(answer, dict):
        return ""
    for key in STOP_KEYS:
        if isinstance(answer.get(key), str):
            return str(answer[key])
    for key in ("choices", "candidates"):
        first = answer.get(key)
        if isinstance(first, list) and first:
            return _stop_reason(first[0])
    return ""
