"""Rules for any text of a role: readable, in the question's language, without forged tags and invented addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from harness.model import Defect
from harness.mojibake import is_lost, repaired
from harness.patterns import lazy
from harness.render import FORGED
from harness.words import language_of

ENOUGH = 3  # lines; fewer may be names and figures in any language
URL = lazy(r"https?://[^\s<>\[\]()«»\"'|]+|\bwww\.[\w-]+(?:\.[\w-]+)+[^\s<>\[\]()«»\"'|]*", re.IGNORECASE)
# Names that are free for examples (RFC 2606, RFC 6761), and how small models call a source they do not have.
PLACEHOLDER_HOST = lazy(
    r"(?:^|//|\.)(?:example\.(?:com|org|net)|localhost|(?:your|some|my)?(?:domain|website|site|source|url)\d*\.(?:com|org|net)"
    r"|[\w.-]+\.(?:example|invalid|test|localhost))(?=[/:?#]|$)",
    re.IGNORECASE,
)


def unreadable(lines: Iterable[str]) -> Iterator[Defect]:
    for line in lines:
        meant = repaired(line)
        if meant:
            yield Defect("mojibake", f"text that was read in a wrong code page, meant is «{meant}»", line)
        elif is_lost(line):
            yield Defect("lost-letters", "letters of this line were lost: write it out from the source", line)


def forged_tag(lines: Iterable[str]) -> Iterator[Defect]:
    for line in lines:
        if FORGED.search(line):
            yield Defect("forged-tag", "a tag that programs give a meaning to has no place here", line)


def wrong_language(lines: Iterable[str], language: str, *, settled: str) -> Iterator[Defect]:
    """`settled`: text in the language that the case is written in; where it is another one nothing is asked for."""
    told = list(lines)
    if len(told) < ENOUGH or (settled.strip() and language_of(settled) != language):
        return
    found = language_of("\n".join(told))
    if found != language:
        yield Defect("wrong-language", f"written in {found}, the question is in {language}: write it in {language}")


def invented_address(lines: Iterable[str], known: Iterable[str]) -> Iterator[Defect]:
    """`known`: texts that may be quoted: Sources, and the sources that the lines cite."""
    addresses = [(line, match.group().rstrip(".,;:!?")) for line in lines for match in URL.finditer(line)]
    texts = list(known) if addresses else []
    for line, address in addresses:
        if is_known(address, texts):
            continue
        if PLACEHOLDER_HOST.search(address):
            yield Defect("placeholder-source", f"{address} is an example, no source", line)
        else:
            yield Defect("unknown-address", f"no source has the address {address}", line)


def is_known(address: str, texts: Iterable[str]) -> bool:
    bare = _bare(address)
    return any(bare in text.casefold() for text in texts)


def _bare(address: str) -> str:
    """Without scheme and `www.`, the end slash and the fragment: as far as two writings of one address agree."""
    return (
        re.sub(r"^(?:https?://)?(?:www\.)?", "", address, flags=re.IGNORECASE).partition("#")[0].rstrip("/").casefold()
    )
