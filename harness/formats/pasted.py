"""A text that somebody pasted as it was: title, address and date as it says them itself."""

from __future__ import annotations

import re

from harness.formats.front import front_value, split_front
from harness.model import FrontMatter, Source
from harness.patterns import lazy

_FIRST = 4_000  # characters of a pasted page in which its address and date are looked for
# With brackets in pairs, as in Wikipedia's addresses; `(https://…)` and `[text](https://…)` end before theirs.
_URL = lazy(r"https?://(?:[^\s<>\"'»”()\[\]]|\([^\s<>\"'»”()\[\]]*\))+")
_DATE_WORDS = "date|published|updated|дата|опубликовано|обновлено|日期|发布"
_DATE_LINE = lazy(rf"^[ \t>*_#-]*+(?:{_DATE_WORDS})[\s*_]*[:：][\s*_\"']*(?P<date>[0-9][0-9./-]+)", re.I | re.M)
_ISO_DATE = lazy(r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?\b")
_DOTTED_DATE = lazy(r"(?P<day>[0-9]{1,2})\.(?P<month>[0-9]{1,2})\.(?P<year>[0-9]{4})\b")


def pasted(text: str) -> Source:
    """One source from a text without structure; title, address and date as its own keys or first lines say."""
    front, body = split_front(text)
    front = front or FrontMatter()
    first = body[:_FIRST]
    url = front_value(front, "url") or front_value(front, "source") or ""
    found = _URL.search(first)
    stated = _DATE_LINE.search(first)
    date = front_value(front, "date") or front_value(front, "published") or (stated["date"] if stated else "")
    return Source(
        title=" ".join((front_value(front, "title") or _title(first)).split()),
        text=text,
        url=url if _URL.fullmatch(url) else found[0].rstrip(".,;:!?") if found else "",
        date=_iso(date),
        origin="pasted",
    )


def _title(first: str) -> str:
    heading = re.search(r"^ {0,3}#{1,6}[ \t]+(.*\S)", first, re.MULTILINE)
    if heading:
        return heading[1].strip(" #")[:200]
    lines = (line.strip(" \t#") for line in first.split("\n"))  # a lone `#` is a heading that is demoted
    told = [line for line in lines if line and not _URL.fullmatch(line) and not _DATE_LINE.match(line)]
    return told[0][:200] if told else ""


def _iso(date: str) -> str:
    """A date as `YYYY-MM-DD` or `YYYY-MM`; "" if it is none that is certain (3/4/2025 is two dates)."""
    found = _ISO_DATE.match(date) or _DOTTED_DATE.match(date)
    if not found:
        return ""
    parts = [found["year"], found["month"].zfill(2), *([found["day"].zfill(2)] if found["day"] else [])]
    return "-".join(parts)
