"""Finds the calls `search(…)`, `answer(…)` and `ask(…)` in what agents and people write, and writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from harness.patterns import lazy

Kind = Literal["search", "answer", "ask"]

NAMES: dict[str, Kind] = {
    "search": "search",
    "поиск": "search",
    "搜索": "search",
    "answer": "answer",
    "ответ": "answer",
    "回答": "answer",
    "ask": "ask",
    "вопрос": "ask",
    "提问": "ask",
}
ACTION_WORDS = ("Action", "Действие", "行动", "动作")
THINK_WORDS = ("Think", "Thought", "Reasoning", "Мысль", "Размышление", "思考")

# What may stand before a call on its line: quote marks, a heading, one list mark, emphasis, a label.
_MARKS = r"[ \t]*+(?:>[ \t]*+)*+(?:\#{2,6}[ \t]++)?+(?:[-*+•–—][ \t]++|\(?+[0-9]{1,3}[.):、][ \t]*+)?+[*_`]*+"
_LABEL = rf"(?P<label>(?:{'|'.join(ACTION_WORDS)})[ \t]*+[0-9]*+[*_`]*+[ \t]*+[:：][*_` \t]*+)?+"
_NAME = rf"(?P<name>{'|'.join(NAMES)})[ \t]*+[(（]"
_LEAD = lazy(rf"^{_MARKS}{_LABEL}{_NAME}", re.IGNORECASE | re.MULTILINE)
# `search("…")` in the middle of a line: only next_query.txt is read so (design.md, section 1).
_INLINE = lazy(rf"(?<!\w)(?P<label>)(?P<name>{'|'.join(NAMES)})[(（](?=[ \t]*[\"'«“„‘`])", re.IGNORECASE)
_THINK = lazy(rf"^[ \t>*_`-]*(?:{'|'.join(THINK_WORDS)})[*_`]*[ \t]*[:：]", re.IGNORECASE)

QUOTES = {
    '"""': '"""',
    '"': '"',
    "'": "'",
    "`": "`",
    "«": "»",
    "“": "”",
    "„": "“”",
    "”": "”",
    "‘": "’",
    "‹": "›",
    "「": "」",
    "『": "』",
}
_CLOSERS = frozenset("".join(QUOTES.values()))
_MARKS_OF_QUOTES = _CLOSERS | frozenset("".join(QUOTES))
_OPENERS = "|".join(re.escape(opener) for opener in QUOTES)
# A named argument or a list, as models write calls they know from elsewhere: search(query="…"), search(["…"]).
_ARGUMENT_NAME = r"(?:[A-Za-z_]+\s*+[=:：]|\"[A-Za-z_]+\"\s*+:|'[A-Za-z_]+'\s*+:)\s*+"
_BEFORE_VALUE = lazy(rf"\s*+[\[{{]?+\s*+(?:{_ARGUMENT_NAME})?(?P<quote>{_OPENERS})")
# Between two calls on one line: `search("a"), search("b")`, `search("a") OR answer("b")`.
_JOINED = rf"(?:[ \t*_`,，;；、|/+&]|\b(?:and|or|then|и|или|затем|或|和)\b)*+(?P<name>{'|'.join(NAMES)})[(（]"
_NEXT_ON_LINE = lazy(_JOINED, re.IGNORECASE)
_AFTER_CALL = lazy(rf"[ \t\r*_`~.;,，。；!]*+(?:\n|\Z)|{_JOINED}", re.IGNORECASE)

_THOUGHT_TAGS = "think|thinking|thought|reasoning"
_THOUGHT_OPEN = lazy(rf"^[ \t>]*+<(?P<tag>{_THOUGHT_TAGS})>", re.IGNORECASE | re.MULTILINE)
_THOUGHT_ANY = lazy(rf"<(?:{_THOUGHT_TAGS})>", re.IGNORECASE)
_THOUGHT_END = lazy(rf"^[ \t]*+</(?:{_THOUGHT_TAGS})>|</(?:{_THOUGHT_TAGS})>[ \t\r]*$", re.IGNORECASE | re.MULTILINE)

_ESCAPE = lazy(r"\\(?:(?P<char>[\\\"'`«»“”„‘’‹›「」『』])|(?P<control>[nt])|u(?P<code>[0-9a-fA-F]{4}))")
_PLACEHOLDER = lazy(r"<[^<>]*>|(?:\.\.\.|…).{0,60}(?:\.\.\.|…)")


class Action(NamedTuple):
    """One call: its values in order, and where it stands, from the first mark on its line to its last bracket.

    `values` is empty where only a placeholder (`search("...")`) stands in the brackets; `finished` is False where
    the call has no end (a reply that was cut off).
    """

    kind: Kind
    values: tuple[str, ...]
    start: int
    end: int
    finished: bool = True


class _Value(NamedTuple):
    text: str
    end: int
    more: bool  # another argument follows


def actions(text: str, *, inline: bool = False, placeholders: bool = False) -> list[Action]:
    """The calls in a text, in their order.

    A call opens its line (after list marks, emphasis or `Action:`) or follows another call on it, so that a call
    told of in a sentence is none. `inline` takes `search("…")` anywhere in a line that is neither a comment nor
    reasoning; `placeholders` keeps the calls without a value.
    """
    return [action for action in _scan(text, inline=inline) if action.values or not action.finished or placeholders]


def render_call(kind: Kind, value: str) -> str:
    """`kind("value")` such that `actions` reads exactly `value` (white space around it aside)."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    escaped = _LEAD.sub(lambda lead: lead.group()[:-1] + f"\\u{ord(lead.group()[-1]):04x}", escaped)
    escaped = _THOUGHT_OPEN.sub(lambda tag: tag.group().replace("<", "\\u003c"), escaped)
    return f'{kind}("{escaped}")'


def is_reasoning(line: str) -> bool:
    """Whether a line opens with `Think:` or its like in a known language."""
    return bool(_THINK.match(line))


def without_label(line: str) -> str:
    """The line without `Think:` in front."""
    return _THINK.sub("", line, count=1).strip()


def is_placeholder(value: str) -> bool:
    """Whether a value says nothing: no letter or digit, `<query>`, or `…text…` as prompts show it."""
    return not re.search(r"\w", value) or bool(_PLACEHOLDER.fullmatch(value))


def blank_thoughts(text: str) -> str:
    """The text with every closed `<think>…</think>` that opens a line emptied; its line ends stay."""
    kept: list[str] = []
    position = 0
    for start, end in _thoughts(text):
        kept += [text[position:start], "\n" * text.count("\n", start, end)]
        position = end
    return "".join([*kept, text[position:]])


def without_thoughts(text: str) -> str:
    """The text without `<think>…</think>` and its like, also where the opening or the closing tag is missing."""
    text = blank_thoughts(text).strip()
    if _THOUGHT_OPEN.match(text):
        return ""
    opened = _THOUGHT_ANY.search(text)
    ends = [end.end() for end in _THOUGHT_END.finditer(text) if not opened or end.start() < opened.start()]
    return text[ends[-1] :].strip() if ends else text


def _thoughts(text: str) -> Iterator[tuple[int, int]]:
    position = 0
    while opening := _THOUGHT_OPEN.search(text, position):
        closing = re.compile(rf"</{opening['tag']}>", re.IGNORECASE).search(text, opening.end())
        if not closing:
            return
        yield opening.start(), closing.end()
        position = closing.end()


def _scan(text: str, *, inline: bool) -> Iterator[Action]:
    position = 0
    while lead := _next_lead(text, position, inline=inline):
        kind = NAMES[lead["name"].lower()]
        sure = bool(lead["label"]) or (inline and kind == "search")
        position = lead.end()
        for action in _calls_on_line(text, lead):
            if not sure and action.finished and not _AFTER_CALL.match(text, action.end):
                break  # a sentence that begins with a call tells of it
            yield action
            position = max(position, action.end)
            if not action.finished and kind != "search":
                return  # what follows belongs to the text that has no end


def _next_lead(text: str, position: int, *, inline: bool) -> re.Match[str] | None:
    lead = _LEAD.search(text, position)
    if not inline:
        return lead
    for call in _INLINE.finditer(text, position, lead.start() if lead else len(text)):
        line = text[text.rfind("\n", 0, call.start()) + 1 : call.start()]
        if NAMES[call["name"].lower()] == "search" and not re.match(r"\s*#(?:\s|$)", line) and not is_reasoning(line):
            return call
    return lead


def _calls_on_line(text: str, lead: re.Match[str]) -> Iterator[Action]:
    """The call that `lead` opens and those that follow it directly on the same line."""
    match: re.Match[str] | None = lead
    while match:
        action = _read_call(text, match)
        yield action
        match = _NEXT_ON_LINE.match(text, action.end) if action.finished else None


def _read_call(text: str, opening: re.Match[str]) -> Action:
    kind = NAMES[opening["name"].lower()]
    values: list[str] = []
    position, more = opening.end(), True
    while more:
        value = _read_value(text, position, kind)
        if value is None:
            return Action(kind, (), opening.start(), _line_end(text, opening.end()), finished=False)
        values.append(_clean(value.text, kind))
        position, more = value.end, value.more
    kept = tuple(value for value in values if not is_placeholder(value))
    return Action(kind, kept, opening.start(), position)


def _read_value(text: str, position: int, kind: Kind) -> _Value | None:
    before = _BEFORE_VALUE.match(text, position)
    quoted = _read_quoted(text, before.end(), before["quote"], kind) if before else None
    return quoted or _read_bare(text, position, kind)


def _read_quoted(text: str, start: int, opener: str, kind: Kind) -> _Value | None:
    """The value up to the closing quote: the first that ends the call with brackets and quotes inside in pairs.

    Quotes and brackets inside are often not escaped, so a quote closes only before `)` or before another argument;
    if no such place leaves pairs, the last one counts (an apostrophe, a smiley). A query stands on one line.
    """
    closer = re.escape(opener) if len(opener) > 1 else f"[{re.escape(QUOTES[opener])}]"
    token = _closing_tokens(closer)
    limit = _line_end(text, start) if kind == "search" else len(text)
    depth = quotes = 0
    paired: re.Match[str] | None = None  # the first that leaves pairs, with other text behind its bracket
    last: re.Match[str] | None = None
    position = start
    while (found := token.search(text, position)) and found.start() < limit:
        position = found.end()
        if found["open"]:
            depth += 1
        elif found["shut"]:
            depth = max(0, depth - 1)
        elif found["end"] or (found["next"] and kind == "search"):
            last = found
            if depth == 0 and (opener != '"' or quotes % 2 == 0):
                if found["next"] or _AFTER_CALL.match(text, found.end()):
                    return _Value(text[start : found.start()], found.end(), more=bool(found["next"]))
                if not paired:
                    paired = found
                    following = _LEAD.search(text, found.end(), limit)
                    limit = following.start() if following else limit
        if found["end"] or found["next"] or found["quote"]:
            quotes += 1
            position = found.start() + len(opener)
    chosen = paired or last
    if not chosen or (kind != "search" and not paired and _LEAD.search(text, start, chosen.start())):
        return None  # no end at all, or the end of a later call
    return _Value(text[start : chosen.start()], chosen.end(), more=bool(chosen["next"]))


def _closing_tokens(closer: str) -> re.Pattern[str]:
    return re.compile(
        rf"\\.|(?P<end>{closer}\s*+,?+\s*+[\]}}]?+\s*+[)）])|(?P<next>{closer}\s*+[,;，；、]\s*+(?={_OPENERS}))"
        rf"|(?P<quote>{closer})|(?P<open>[(（])|(?P<shut>[)）])",
        re.DOTALL,
    )


def _read_bare(text: str, start: int, kind: Kind) -> _Value | None:
    """A value whose quotes are missing, mixed or torn, up to the line's last bracket: `search(Samokat revenue)`."""
    end = _line_end(text, start)
    line = text[start:end]
    bracket = max(line.rfind(")"), line.rfind("）"))
    value = (line[:bracket] if bracket >= 0 else line).strip()
    opened, closed = value[:1] in QUOTES, value[-1:] in _CLOSERS
    if bracket < 0:
        # Only the bracket is missing.
        return _Value(value[1:-1], end, more=False) if opened and closed and len(value) > 1 else None
    if kind != "search" and ((opened and not closed) or not _AFTER_CALL.match(text, start + bracket + 1)):
        return None  # the first line of a text that goes on
    inner = set(value[1:-1]) & _MARKS_OF_QUOTES
    if opened and not inner:
        value = value[1:-1] if closed else value[1:]
    return _Value(value, start + bracket + 1, more=False)


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _clean(raw: str, kind: Kind) -> str:
    one_line = "\n" not in raw

    def unescape(found: re.Match[str]) -> str:
        if found["char"]:
            return found["char"]
        if found["control"]:
            # A writer who breaks lines does not also write \n: there it is part of a path or a formula.
            return {"n": "\n", "t": "\t"}[found["control"]] if one_line else found.group()
        code = int(found["code"], 16)
        return found.group() if code < 0x20 or 0xD800 <= code <= 0xDFFF else chr(code)

    value = _ESCAPE.sub(unescape, raw)
    return " ".join(value.split()) if kind == "search" else value.strip()
