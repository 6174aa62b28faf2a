"""What a role replied → a value, or the defects that a repair turn names.

| code                  | role        | the reply …                                                              |
|-----------------------|-------------|--------------------------------------------------------------------------|
| empty-reply           | all         | has no text (thoughts in `<think>` are none)                             |
| echoed-prompt         | all         | repeats the prompt: its tags, its placeholders, a raw's source headings  |
| no-action             | Planner     | has neither a query nor an answer nor a question                         |
| two-actions           | Planner     | has more than one of them, or two answers, or two questions              |
|                       | Synthesizer | has both sections and `Nothing new:`                                     |
| unfinished-action     | Planner     | has a call without its closing quote and bracket: it was cut off         |
| no-reason             | Synthesizer | says `Nothing new` and not why                                           |
| no-sections           | Synthesizer | has none of Confirmed, Contradictions, Not found                         |
| repeated-section      | Synthesizer | has one of them twice                                                    |
| malformed-total       | Synthesizer | has a line under `Totals:` that is not `name: field — number`            |
| no-verdict            | Checker     | has no JSON object with `complete`: true or false                        |
| no-missing            | Checker     | says that the answer is incomplete and names nothing that is missing     |
| contradictory-verdict | Checker     | says that the answer is complete and names what is missing               |
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from harness.formats.answer import parse_answer
from harness.formats.calls import (
    Action,
    actions,
    blank_thoughts,
    is_placeholder,
    is_reasoning,
    without_label,
    without_thoughts,
)
from harness.formats.front import split_front
from harness.formats.headings import heading_of
from harness.formats.labels import section_kind
from harness.formats.queries import distinct, parse_next_query
from harness.formats.removals import opens_removals, parse_removals
from harness.formats.summary import split_sections
from harness.formats.text import clean
from harness.model import Decision, Defect, Reply, Rewrite, Section, SectionKind, Verdict
from harness.patterns import lazy
from harness.totals import cut_totals, parse_totals

Defects = tuple[Defect, ...]

FACTUAL = (SectionKind.CONFIRMED, SectionKind.CONTRADICTIONS, SectionKind.NOT_FOUND)
NOT_A_ROLES = (SectionKind.SEARCHES, SectionKind.SOURCES, SectionKind.STRUCK)  # the harness and people write these

# The tags that prompts put around what a role reads. A model that repeats one goes on with what stood inside.
_ECHO = lazy(
    r"^[ \t]*<(?:question|decision|raw_results|draft_answer|reply|вопрос|решение|результаты|问题|决定)\b[^>\n]*>",
    re.M | re.I,
)
_SUMMARY_TAG = lazy(r"^[ \t]*</?(?:summary|сводка|摘要)>[ \t]*$", re.M | re.I)
_RAW_ECHO = lazy(r"^#{1,6} [0-9]{1,6}\. .*\n\s*[-*] (?:url|date|origin):", re.M)
_FENCE = lazy(r"\s*(?:```|~~~)[\w-]*\s*")

_EMPHASIS = r"[ \t>*_#]*+"
_SUMMARY_LABEL = lazy(
    rf"{_EMPHASIS}(?:Summary|Сводка|摘要|总结)[*_\s]*[:：][*_\s]*|[*_#]+\s*(?:Summary|Сводка|摘要|总结)[*_\s]*", re.I
)
_NOTHING_NEW = lazy(
    rf"^{_EMPHASIS}(?:Nothing new|Ничего нового|没有新内容)[*_\s]*(?:[:：.—–-][*_\s]*(?P<why>.*))?$", re.M | re.I
)
_NO_WHY = lazy(r"[\W_]*+(?:and |и )?(?:why|почему|为什么)?[\W_]*+", re.I)  # the prompt's own words
_BULLET = lazy(r"\s*(?:[-*+•–—]|[0-9]{1,2}[.)])(?:\s+|$)")
_NONE = lazy(r"[\W_]*+(?:none|nothing|n/a|нет|ничего|无|没有)?[\W_]*+", re.I)
_CITED = lazy(r"\[[0-9]+\.[0-9]+|\[person\]|\[pinned\]")

_OBJECTS_TRIED = 50  # a page of braces is no verdict
_TRUTH = {True: True, False: False, "true": True, "false": False, "yes": True, "no": False}


def parse_planner(reply: Reply) -> tuple[Decision | None, Defects]:
    """A Planner's reply: exactly one of queries, answer and question. A permitted file that changed goes first."""
    written = {name: text for name, text in reply.files.items() if text.strip()}
    if len(written) > 1 and _has_action(written.get("next_query.txt", "")):
        return _defect("two-actions", "both next_query.txt and answer.md were written; write one of them")
    if "answer.md" in written:
        answer = parse_answer(_normal(written["answer.md"])).text.strip()
        return (Decision(answer=answer), ()) if answer else _defect("empty-reply", "answer.md has no text")
    if "next_query.txt" in written:
        return _from_file(written["next_query.txt"])
    text = _normal(reply.text)
    if not text:
        return _defect("empty-reply", "the reply has no text")
    if _ECHO.search(text):
        return _defect("echoed-prompt", "the reply repeats the prompt")
    found = actions(text, placeholders=True)
    think = _think(text[: found[0].start] if found else text)
    return _decide(found, think)


def _has_action(text: str) -> bool:
    parsed = parse_next_query(text)
    return bool(parsed.queries) or parsed.answer is not None or parsed.ask is not None


def _from_file(text: str) -> tuple[Decision | None, Defects]:
    text = blank_thoughts(clean(text))
    if _ECHO.search(text):
        return _defect("echoed-prompt", "next_query.txt repeats the prompt")
    found = actions(text, inline=True, placeholders=True)
    parsed = parse_next_query(text)
    think = "\n".join(parsed.reasoning)
    if not found and parsed.queries:
        return Decision(think, parsed.queries), ()
    decision, defects = _decide(found, think)
    return (decision._replace(queries=parsed.queries) if decision and decision.queries else decision), defects


def _decide(found: Sequence[Action], think: str) -> tuple[Decision | None, Defects]:
    if cut := next((action for action in found if not action.finished), None):
        return _defect("unfinished-action", "a call has no end: close it with a quote and a bracket", f"{cut.kind}(")
    calls = [action for action in found if action.values]
    if not calls and found:
        return _defect("echoed-prompt", "the call holds a placeholder instead of a text", f"{found[0].kind}(…)")
    if not calls:
        return _defect("no-action", "the reply has no Action: search(…), answer(…) or ask(…)")
    kinds = {action.kind for action in calls}
    values = tuple(dict.fromkeys(value for action in calls for value in action.values))
    if len(kinds) > 1 or (kinds != {"search"} and len(values) > 1):
        return _defect("two-actions", "the reply has more than one action; write exactly one", ", ".join(sorted(kinds)))
    if kinds == {"search"}:
        return Decision(think, queries=distinct(values)), ()
    if kinds == {"answer"}:
        return Decision(think, answer=values[0]), ()
    return Decision(think, ask=values[0]), ()


def parse_synthesizer(reply: Reply) -> tuple[Rewrite | None, Defects]:
    """A Synthesizer's reply: the sections a role may write and what it removed, or why nothing was new; and totals.

    Also a whole summary.md, with front matter or in a fence. Sections that are not a role's are left out.
    """
    text = _normal(reply.files.get("summary.md", "")) or _normal(reply.text)
    if not text:
        return _defect("empty-reply", "the reply has no text")
    if _ECHO.search(text) or _RAW_ECHO.search(text):
        return _defect("echoed-prompt", "the reply repeats the prompt")
    lines = _unfenced(_SUMMARY_TAG.sub("", text).split("\n"))
    lines, listed = cut_totals(lines)
    totals, unread = parse_totals(listed)
    if unread:
        return _defect("malformed-total", "a line under Totals is written: name: field — number", unread[0])
    before, body, after = _cut(lines)
    sections = split_sections(body)[1]
    nothing = _NOTHING_NEW.search(text)
    if nothing:
        rewrite, defects = _nothing_new(nothing, sections)
        return (rewrite._replace(totals=totals) if rewrite else None), defects
    known = Counter(section.kind for section in sections if section.kind in FACTUAL)
    if not known:
        return _defect("no-sections", "the reply has none of the sections Confirmed, Contradictions and Not found")
    if twice := [section.title for section in sections if known[section.kind] > 1]:
        return _defect("repeated-section", "a section stands twice; write each once", twice[0])
    bullets = [line for section in sections if section.kind in FACTUAL for line in section.lines if line.strip()]
    if bullets and all(_is_unfilled(line) for line in bullets):
        return _defect("echoed-prompt", "the sections hold placeholders instead of facts", bullets[0].strip())
    kept = tuple(_tidy(section) for section in sections if section.kind not in NOT_A_ROLES)
    return Rewrite(_think("\n".join(before)), kept, parse_removals(after), totals=totals), ()


def _nothing_new(found: re.Match[str], sections: Sequence[Section]) -> tuple[Rewrite | None, Defects]:
    if any(section.kind in FACTUAL for section in sections):
        return _defect("two-actions", "the reply has sections and says that nothing is new; write one of them")
    why = (found["why"] or "").strip(" *_")
    if _NO_WHY.fullmatch(why):
        return _defect("no-reason", "say in one line why nothing is new", found.group().strip())
    return Rewrite(nothing_new=why), ()


def parse_checker(reply: Reply) -> tuple[Verdict | None, Defects]:
    """A Checker's reply: the first JSON object with `complete` in it, whatever stands around."""
    text = next((_normal(file) for file in reply.files.values() if file.strip()), "") or _normal(reply.text)
    if not text:
        return _defect("empty-reply", "the reply has no text")
    verdict = next((found for found in _objects(text) if _truth(found.get("complete")) is not None), None)
    if verdict is None and _ECHO.search(text):
        return _defect("echoed-prompt", "the reply repeats the prompt")
    if verdict is None:
        return _defect("no-verdict", 'reply with JSON like {"complete": true, "missing": []}')
    complete, named = bool(_truth(verdict["complete"])), verdict.get("missing", [])
    items = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    texts = (" ".join(item.split()) for item in items if isinstance(item, str))
    missing = tuple(dict.fromkeys(item for item in texts if not _NONE.fullmatch(item) and not is_placeholder(item)))
    if complete and missing:
        return _defect("contradictory-verdict", "complete is true, and something is missing", missing[0])
    if not complete and not missing:
        return _defect("no-missing", "name in `missing` what the answer lacks, or write complete: true")
    return Verdict(complete, missing), ()


def _defect(code: str, what: str, value: str = "") -> tuple[None, Defects]:
    return None, (Defect(code, what, value),)


def _normal(text: str) -> str:
    """A reply as it will be read once it is written: whatever the agent, no control characters."""
    return without_thoughts(clean(text).strip())


def _think(text: str) -> str:
    """The reasoning: from the line `Think:` on if there is one, else all of it, without fences."""
    lines = [line for line in text.split("\n") if not _FENCE.fullmatch(line)]
    start = next((at for at, line in enumerate(lines) if is_reasoning(line)), 0)
    return "\n".join(without_label(line) for line in lines[start:]).strip()


def _is_heading(line: str) -> bool:
    heading = heading_of(line)
    return heading is not None and section_kind(heading.title) is not SectionKind.OTHER


def _unfenced(lines: list[str]) -> list[str]:
    """The lines without the first fence that has a section's heading inside."""
    fences = [at for at, line in enumerate(lines) if _FENCE.fullmatch(line)]
    for place, start in enumerate(fences[::2]):
        end = fences[2 * place + 1] if 2 * place + 1 < len(fences) else len(lines)
        if any(map(_is_heading, lines[start:end])):
            return [*lines[:start], *lines[start + 1 : end], *lines[end + 1 :]]
    return lines


def _cut(lines: list[str]) -> tuple[list[str], list[str], list[str]]:
    """What stands before the summary, the summary, and what stands under `Removed:`."""
    front, body = split_front("\n".join(lines).lstrip("\n"))
    lines = body.split("\n") if front else lines
    first = next((at for at, line in enumerate(lines) if _is_heading(line)), len(lines))
    labels = [at for at, line in enumerate(lines[:first]) if _SUMMARY_LABEL.fullmatch(line)]
    start = labels[-1] if labels else first
    removed = next((at for at in range(first, len(lines)) if opens_removals(lines[at])), len(lines))
    following = (at for at in range(removed + 1, len(lines)) if (found := heading_of(lines[at])) and found.certain)
    resumed = next(following, len(lines))
    body_lines = [line for line in lines[start + bool(labels) : removed] if not _SUMMARY_LABEL.fullmatch(line)]
    return lines[:start], [*body_lines, *lines[resumed:]], lines[removed:resumed]


def _is_unfilled(line: str) -> bool:
    return bool(re.search(r"\.\.\.|…", line)) and is_placeholder(_BULLET.sub("", line, count=1).strip())


def _tidy(section: Section) -> Section:
    """A section without `- none`, placeholders, outer blank lines and the talk that follows its last bullet."""
    lines = list(section.lines)
    if section.kind in FACTUAL:
        # Dots among the facts stand for lines left out: they stay, and the guards refuse them.
        kept = ("",) if section.kind is SectionKind.NOT_FOUND else ("", "...", "…")
        said = ((line, _BULLET.sub("", line, count=1).strip()) for line in lines)
        lines = [line for line, text in said if text in kept or not _NONE.fullmatch(text)]
        if any(map(_BULLET.match, lines)):
            lines = list(_without_talk(lines))
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return section._replace(lines=tuple(lines))


def _without_talk(lines: Sequence[str]) -> Iterator[str]:
    """Below a blank line only bullets, sub-headings and lines with a citation belong to a section of facts."""
    blank = False
    for line in lines:
        blank = blank and not _BULLET.match(line)
        if not blank or not line.strip() or line[0] in " \t#|" or _CITED.search(line):
            yield line
        blank = blank or not line.strip()


def _objects(text: str) -> Iterator[dict[str, object]]:
    # `["a", ...]` is how prompts and small models shorten a list.
    text = re.sub(r",\s*(?:\.\.\.|…)\s*(?=\])", "", text)
    decoder = json.JSONDecoder()
    for opening, _ in zip(re.finditer(r"\{", text), range(_OBJECTS_TRIED), strict=False):
        try:
            found, _ = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            continue
        yield {str(key).lower(): value for key, value in found.items()}


def _truth(value: object) -> bool | None:
    if isinstance(value, str):
        return _TRUTH.get(value.strip().lower())
    return value if isinstance(value, bool) else None
