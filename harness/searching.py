"""The Search step: every due query goes down the ladder of providers until one finds something."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from harness.addresses import distinct
from harness.formats.labels import counted
from harness.formats.text import shortened
from harness.guards.planner import QUERY_LIMIT, UNBROKEN_LIMIT
from harness.model import Attempt, QueryRecord, Raw, RawHead, Source
from harness.patterns import lazy
from harness.ports import Search, SearchResult, Usage
from harness.process import interrupt_all
from harness.words import HAN

SIDE_BY_SIDE = 4  # queries of one round at the same time
SKIPPED = "skipped"
OWN = "folder"  # its documents are the user's: whatever they say is content
US = "harness"  # named where a query went to no provider at all
QUERY_SHOWN = 60  # characters; what came of it must still fit on the line

# Scripts that put no spaces between words: a run of them is a sentence, not a token.
_UNSPACED = f"{HAN}\u3040-\u30ff\u3000-\u303f\uff00-\uffef\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_UNBROKEN = lazy(rf"[^\s{_UNSPACED}]+")
_URL = lazy(r"[a-z]://|www\.\w", re.IGNORECASE)

# A page that stands in for content is short and begins with what it wants; an article on such pages is longer, or has
# the words inside its sentences. CHALLENGES say it all, REFUSALS may be a headline too, SIGNS stand further below.
LONGEST_CHALLENGE = 1_500  # characters; Cloudflare's block page with all its questions has 900
BESIDES = 100  # characters that may stand around one challenge without a further sign, e.g. the name of the site
BESIDES_REFUSAL = 20  # … around one refusal, e.g. `nginx/1.24.0`
_CHALLENGES = (
    r"just a moment ?(?:\.{3}|…)|attention required!? ?\|? ?(?:cloudflare)?|pardon our interruption|robot check"
    r"|(?:please )?enable (?:js|javascript|cookies)(?: (?:and|to)\b[^.\n]{0,60})?"
    r"|you need to enable javascript[^.\n]{0,40}"
    r"|javascript is (?:not available|disabled|required)[^.\n]{0,60}"
    r"|checking (?:your browser|if the site connection is secure)[^\n]{0,80}?|performing security verification"
    r"|(?:please )?(?:verify|verifying|confirm)(?: that)? you(?: are|['’]re) (?:a )?human[^.\n]{0,60}"
    r"|(?:please )?(?:verify|verifying|confirm)(?: that)? you(?: are|['’]re) not a (?:ro)?bot[^.\n]{0,60}"
    r"|please complete the (?:security check|captcha)[^.\n]{0,60}|(?:sorry, )?you have been blocked|are you a robot\?"
    r"|i['’]m not a robot|access to this page has been denied|our systems have detected unusual traffic[^.\n]{0,60}"
    r"|press (?:&|and) hold[^.\n]{0,60}|unfortunately, bots use duckduckgo too|ddos-guard"
    r"|провер(?:ка|яем) (?:вашего |ваш )?браузера?(?: перед[^.\n]{0,60})?|вы не робот\?|я не робот"
    r"|подождите,? (?:пожалуйста,? )?(?:выполняется|ид[её]т) проверка[^.\n]{0,40}"
    r"|подтвердите, что (?:запросы отправляли вы|вы (?:не робот|человек))[^.\n]{0,40}|проверка, что вы не робот"
    r"|(?:пожалуйста, )?включите (?:javascript|cookies|файлы cookie)[^.\n]{0,60}"
    r"|(?:нам очень жаль, но )?запросы с вашего устройства похожи на автоматические"
    r"|正在(?:检查|验证|檢查|驗證)您(?:的浏览器|的瀏覽器|是否是真人)[^。\n]{0,30}"
    r"|(?:请|請)?(?:完成|进行|進行)(?:安全)?(?:验证|驗證)[^。\n]{0,20}"
    r"|百度安全验证|(?:请|請)?(?:确认|確認|验证|驗證)您是真人[^。\n]{0,20}"
    r"|(?:请|請)?(?:启用|啟用|开启) ?javascript[^。\n]{0,20}|您的访问(?:请求)?(?:存在异常|出错了|过于频繁)[^。\n]{0,20}"
)
_REFUSALS = (
    r"access (?:is )?(?:denied|forbidden)|(?:http |error )*40[13](?: -)?(?: \(?(?:forbidden|unauthorized)\)?)?!*1?"
    r"|forbidden|(?:http |error )*429(?: too many requests)?|too many requests"
    r"|(?:your )?request (?:has been |was )?blocked|(?:re|h)?captcha|security check|please wait|one moment(?:, please)?"
    r"|доступ (?:к (?:сайту|странице|ресурсу) )?(?:запрещ[её]н|ограничен|заблокирован)|слишком много запросов|капча"
    r"|подождите|один момент"
    r"|访问被拒绝|拒绝访问|禁止访问|存取被拒|访问过于频繁|请求过于频繁|安全验证|人机验证|验证码|请稍[候等]|請稍候"
)
_SIGNS = lazy(
    r"ray id|reference #|incident id|support id|client ip|your ip\b|security (?:service|solution)|by cloudflare"
    r"|this may take a few seconds|review the security of your connection|(?:have|lack) permission to access"
    r"|unusual traffic|not a robot|are (?:a )?human|enable (?:javascript|cookies)|solve the captcha|ваш ip|не робот"
    r"|smartcaptcha|похожи на автоматические|включите javascript|您的 ?ip|事件 ?id|验证码",
    re.IGNORECASE,
)
_BEFORE = r"(?:\A|(?<=[\n.!?…|。！？]))[\s#*_>|–—.…-]*"
_AFTER = r"(?=[*_ ]*(?:\Z|[\n.!?…|。！？,，]|[A-ZА-ЯЁ]))"
_CHALLENGE = lazy(rf"{_BEFORE}(?i:{_CHALLENGES}){_AFTER}")
_REFUSAL = lazy(rf"{_BEFORE}(?i:{_REFUSALS}){_AFTER}")
_HOST = lazy(r"\A[\s#*]*[\w.-]+\.\w{2,}[ \t]*\n")  # Cloudflare's pages begin with the name of the site
_MARKUP = lazy(r"(?is:<(script|style)\b.*?</\1>)|<[^<>]{0,300}>")


class Searched(NamedTuple):
    """What one query brought."""

    record: QueryRecord
    sources: tuple[Source, ...]
    attempts: tuple[Attempt, ...]  # the rungs that were blocked
    notes: tuple[str, ...]
    asked: tuple[str, ...] = ()  # the providers that got the query, whatever came of it: what a `cap` counts
    used: tuple[tuple[str, Usage], ...] = ()  # by providers that are models


class LeftOut(SearchResult):
    """Blocked, and the provider was not asked."""


def ask_rung(rung: Search, query: str) -> SearchResult:
    """What it found, without pages that are no content; never raises for what a provider may do."""
    try:
        result = rung.search(query)
    except (OSError, ValueError) as error:  # a provider's fault must not end the round of the others
        return SearchResult("blocked", error=f"{type(error).__name__}: {error}")
    return result if rung.name == OWN else _content_only(result, rung.name)


def _content_only(result: SearchResult, provider: str) -> SearchResult:
    """Without pages that tell of no content: blocked if there are no others."""
    faults = [no_content(source) for source in result.sources]
    at_fault = [place for place, fault in enumerate(faults) if fault]
    if not at_fault:
        return result
    first, count = at_fault[0], len(at_fault)
    if count == len(faults):
        return SearchResult("blocked", error=f"no content: {faults[first]}", notes=result.notes, usage=result.usage)
    kept = tuple(source for source, fault in zip(result.sources, faults, strict=True) if not fault)
    named = result.sources[first].url or result.sources[first].title
    note = f"{count} of {len(faults)} sources from {provider} left out, no content: {faults[first]}, e.g. {named}"
    return SearchResult("found", kept, notes=(*result.notes, note), usage=result.usage)


# Down the ladder ---------------------------------------------------------------------------------


def search_all(queries: Sequence[str], ladder: Sequence[Search], allowed: int) -> tuple[Searched, ...]:
    """The first `allowed` queries side by side; the rest are recorded as skipped. In the order of `queries`."""
    taken = list(queries[:allowed])
    with ThreadPoolExecutor(min(SIDE_BY_SIDE, max(len(taken), 1)), thread_name_prefix="search") as pool:
        try:
            done = list(pool.map(lambda query: climb(query, ladder), taken))
        except KeyboardInterrupt:
            interrupt_all()  # only the main thread is interrupted; the programs of the others would be waited for
            raise
    skipped = [Searched(QueryRecord(query, "", SKIPPED), (), (), ()) for query in queries[allowed:]]
    return (*done, *skipped)


def climb(query: str, ladder: Sequence[Search]) -> Searched:
    """Empty or blocked goes to the next rung; empty beats blocked, since somebody looked.

    The record has the query as it was given, even where less of it was sent out: else it would stay due.
    """
    sent, told_of_it = sendable(query)
    notes = list(told_of_it)
    if not sent:
        reason = "nothing is left to search: addresses and long unbroken tokens are not sent out"
        return Searched(QueryRecord(query, US, "blocked"), (), (Attempt(US, reason),), tuple(notes))
    attempts: list[Attempt] = []
    asked: list[str] = []
    used: list[tuple[str, Usage]] = []
    empty = ""
    for rung in ladder:
        result = ask_rung(rung, sent)
        notes += result.notes
        asked += [] if isinstance(result, LeftOut) else [rung.name]
        used += [(rung.name, result.usage)] if result.usage else []
        if result.outcome == "found":
            record = QueryRecord(query, rung.name, "found")
            return Searched(record, result.sources, tuple(attempts), tuple(notes), tuple(asked), tuple(used))
        if result.outcome == "empty":
            empty = empty or rung.name
        else:
            attempts.append(Attempt(rung.name, result.error or "no reason given"))
    last = empty or (ladder[-1].name if ladder else "")
    record = QueryRecord(query, last, "empty" if empty else "blocked")
    return Searched(record, (), tuple(attempts), tuple(notes), tuple(asked), tuple(used))


def sendable(query: str) -> tuple[str, tuple[str, ...]]:
    """What of a query may leave this machine ("": nothing of it), and notices where that is not all.

    A query in a file came by no guard: a person or another agent wrote it.
    """
    bare = _UNBROKEN.sub(lambda run: " " if len(run[0]) > UNBROKEN_LIMIT or _URL.search(run[0]) else run[0], query)
    if bare == query and len(query) <= QUERY_LIMIT:
        return query, ()
    shown, notes = shortened(query, QUERY_SHOWN), []
    if bare != query:
        notes.append(f'addresses and unbroken runs above {UNBROKEN_LIMIT} characters are not sent out: "{shown}"')
    bare = " ".join(bare.split())
    if not any(char.isalnum() for char in bare):
        return "", ()
    if len(bare) > QUERY_LIMIT:
        cut = [run.start() for run in _UNBROKEN.finditer(bare) if run.start() < QUERY_LIMIT < run.end()]
        bare = bare[: cut[0] if cut else QUERY_LIMIT].rstrip()  # no run is longer than UNBROKEN_LIMIT here
        notes.append(f'a query of {len(query)} characters is searched in its first {len(bare)}: "{shown}"')
    return bare, tuple(notes)


# Pages that are no content ----------------------------------------------------------------------


def no_content(source: Source) -> str:
    """Why a source is a challenge, a refusal or nothing at all instead of a page; "" if it may be one."""
    if len(source.text) > 4 * LONGEST_CHALLENGE:  # with all markup
        return ""
    bare = "\n".join(" ".join(line.split()) for line in _MARKUP.sub("\n", source.text).split("\n")).strip()
    if not bare:
        return "no text"
    if len(bare) > LONGEST_CHALLENGE:
        return ""
    text = _HOST.sub("", bare)
    title = " ".join(source.title.split())
    for pattern, besides in ((_CHALLENGE, BESIDES), (_REFUSAL, BESIDES_REFUSAL)):
        titled = pattern.fullmatch(title)
        begun = titled or pattern.match(text)
        if not begun:
            continue
        rest = pattern.sub("", text).strip(" \n.…!|*#")
        more = len(pattern.findall(text)) > (0 if titled else 1) or _CHALLENGE.search(rest) or _SIGNS.search(rest)
        if more or len(rest) <= (BESIDES_REFUSAL if titled else besides):
            said = shortened(begun[0].strip("\n #*"), QUERY_SHOWN)
            return f'a page that says "{said}"'
    return ""


# What came of it ---------------------------------------------------------------------------------


def usage_of(searched: Sequence[Searched]) -> tuple[int, dict[str, object]]:
    """Tokens of the models that searched, and the trace record's part about them; nothing where none did."""
    used = [pair for one in searched for pair in one.used]
    if not used:
        return 0, {}
    by: dict[str, list[int]] = {}
    for name, usage in used:
        into, out = by.get(name, [0, 0])
        by[name] = [into + usage.tokens_in, out + usage.tokens_out]
    costs = [usage.cost for _, usage in used if usage.cost is not None]
    record = {"others": by, "estimated": False, **({"cost": round(sum(costs), 6)} if costs else {})}
    return sum(map(sum, by.values())), record


def as_raw(searched: Sequence[Searched], rationale: str, retrieved: str) -> Raw:
    """One raw of a round: each document once, though several queries found it."""
    attempts = dict.fromkeys(attempt for one in searched for attempt in one.attempts)
    head = RawHead(
        kind="search",
        queries=tuple(one.record for one in searched),
        rationale=rationale,
        retrieved=retrieved,
        attempts=tuple(attempts),
    )
    return Raw(head, distinct(source for one in searched for source in one.sources))


def told(searched: Sequence[Searched]) -> str:
    """For the screen: `"query": found (folder)`; several joined by "; "."""
    done = [
        f'"{shortened(one.record.query, QUERY_SHOWN)}": {_outcome(one)}'
        for one in searched
        if one.record.outcome != SKIPPED
    ]
    skipped = len(searched) - len(done)
    return "; ".join([*done, *([f"{skipped} more skipped"] if skipped else [])])


def _outcome(one: Searched) -> str:
    reasons = ", ".join(f"{attempt.provider} blocked: {attempt.error}" for attempt in one.attempts)
    sources = f"{counted(len(one.sources), 'sources', 'en')} from {one.record.provider}"
    found = sources if one.sources else one.record.outcome
    return f"{found} ({reasons})" if reasons else found
