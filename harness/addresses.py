"""Which sources are one document: the same address, DOI or arXiv id, or the same title and text."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from urllib.parse import quote, unquote

from harness.formats.raw import demote
from harness.model import Source
from harness.patterns import lazy

ALSO = "also"  # the detail of a source that holds a further address of it, one a line
LEFT_OUT = "[…]"  # stands between passages of one document, as the folder search writes it
Key = tuple[str, ...]

_WEB = lazy(r"https?://([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.IGNORECASE | re.DOTALL)
_DOTS = ".\u3002\uff0e\uff61"
_DOT = lazy(f"[{_DOTS}]")
_USUAL_PORT = lazy(rf"(?:[{_DOTS}]*:(?:80|443)?)+$")
_PORT = lazy(r":[0-9]+$")
_IPV6 = lazy(r"\[[0-9a-fA-F:.]+\]")
_LABEL = lazy(r"[a-z0-9_-]+")
_MOBILE = ("www", "m")  # www.example.org, m.example.org, en.m.wikipedia.org
# What links are tagged with on their way. Names that mean something on some sites (ref, from, id, source) are not here.
_TRACKING = lazy(
    r"utm_\w+|[gy]clid|ysclid|fbclid|dclid|gclsrc|gad_\w+|[gw]braid|msclkid|t[tw]clid|igshid|igsh|mc_[ce]id|mkt_tok"
    r"|_hs(?:enc|mi)|_openstat|_g[al]|__twitter_impression|srsltid|vero_id|wickedid|oly_(?:anon|enc)_id|s_kwcid"
    r"|yadclid|ymclid|rb_clickid|roistat|spm|scm|ref_src|fb_(?:action_ids|source|ref)|guc(?:counter|e_\w+)|phpsessid"
)
_PIECE = lazy(r"%[0-9A-Fa-f]{2}|.", re.DOTALL)
_UNRESERVED = string.ascii_letters + string.digits + "-._~"
_IN_PATH = _UNRESERVED + "!$&'()*+,;=:@"
_IN_QUERY = _UNRESERVED + "!$'()*,;:@/?"

_DOI = lazy(r"(?<![\w.])10\.[0-9]{4,9}/[^\s?#&\"<>]{3,}")
_DOI_END = lazy(r"(?:[./](?:full|abstract|short|e?pdf|html?|xml|meta|summary|fulltext|references)|[.,;/])+$")
_PREPRINT_VERSION = lazy(r"^(10\.1101/.*[0-9])v[0-9]+$")
_ARXIV_ID = r"([0-9]{4}\.[0-9]{4,5}|[a-z-]+(?:\.[a-z]{2})?/[0-9]{7})(?![0-9])"
_ARXIV = lazy(
    r"(?:(?:arxiv|ar5iv|alphaxiv)\.org|lanl\.gov|huggingface\.co|scirate\.com)"
    rf"/(?:abs|pdf|html|ps|format|e-print|papers|arxiv|overview)/{_ARXIV_ID}|\barxiv[.:]{_ARXIV_ID}"
)
_LEFT_OUT_LINE = lazy(rf"^[ \t]*{re.escape(LEFT_OUT)}[ \t]*$", re.MULTILINE)


# Addresses ---------------------------------------------------------------------------------------


@lru_cache(maxsize=16_384)
def canonical(url: str) -> str:
    """One form for the ways to write a web address; it is for comparing, not for showing. Never raises.

    Anything but http and https, a local path above all, stays as it is. Fragments go, but not those that are routes
    (`#/page`, `#!page`).
    """
    # A lone half of a surrogate pair has no UTF-8.
    clean = url.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").strip()
    web = _WEB.fullmatch(clean)
    host = _host(web[1]) if web else ""
    if not web or not host:
        return url
    path = _encoded(web[2], _IN_PATH, also="/").rstrip("/")
    query = "&".join(sorted(_parameters(web[3] or "")))
    route = _encoded(web[4] or "", _IN_QUERY, also="=&+").rstrip("/")
    route = route if route[:1] in ("/", "!") and route.strip("/!") else ""
    return f"https://{host}{path}" + (f"?{query}" if query else "") + (f"#{route}" if route else "")


def _host(given: str) -> str:
    """Lower case and punycode, without user name, usual port and the prefixes of one site's two faces."""
    bare = "".join(unquote(given).rpartition("@")[2].split())
    host = _USUAL_PORT.sub("", bare.strip(_DOTS))
    port = _PORT.search(host)
    name = host[: port.start()] if port else host
    behind = port[0] if port else ""
    if _IPV6.fullmatch(name):
        return name.lower() + behind
    labels = [_label(label) for label in _DOT.split(name) if label]
    kept = [label for label in labels[:-2] if label not in _MOBILE] + labels[-2:]
    return ".".join(kept) + behind if kept else ""


def _label(label: str) -> str:
    lower = label.lower()
    if not lower.isascii():
        try:
            coded = lower.encode("idna").decode("ascii")
        except UnicodeError:  # no name that a registry would take
            coded = ""
        if _LABEL.fullmatch(coded):
            return coded
    return quote(lower, safe="")


def _parameters(query: str) -> Iterable[str]:
    for given in query.split("&"):
        parameter = _encoded(given.replace("+", "%20"), _IN_QUERY, also="=")
        if parameter.strip("=") and not _TRACKING.fullmatch(parameter.partition("=")[0].lower()):
            yield parameter


def _encoded(text: str, plain: str, *, also: str) -> str:
    """Percent-encoding in one form: none for the characters of `plain`; `also` may stand, but is not decoded."""

    def one(found: re.Match[str]) -> str:
        piece = found[0]
        if len(piece) == 1:
            return piece if piece in plain or piece in also else quote(piece, safe="")
        meant = chr(int(piece[1:], 16))
        return meant if meant in plain else piece.upper()

    return _PIECE.sub(one, text)


@lru_cache(maxsize=16_384)
def _address_keys(url: str) -> tuple[Key, ...]:
    """Of a web address: its canonical form and the ids in it. None for anything else."""
    address = canonical(url)
    if not _WEB.fullmatch(address):
        return ()
    spelled = unquote(address).lower()
    if found := _ARXIV.search(spelled):
        return (("address", address), ("arxiv", found[1] or found[2]))
    if found := _DOI.search(spelled):
        doi = _DOI_END.sub("", found[0])
        return (("address", address), ("doi", _PREPRINT_VERSION.sub(r"\1", doi)))
    return (("address", address),)


# Documents ---------------------------------------------------------------------------------------


def same_document(a: Source, b: Source) -> bool:
    """Whether two sources are one document as far as each of them tells."""
    return a == b or not set(_keys(a)).isdisjoint(_keys(b))


def distinct(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Each document once, in the order of the first of its sources, which gets what only the others have.

    Their addresses are kept as `also`; passages that it lacks are added to its text, below a `[…]`.
    """
    listed = list(dict.fromkeys(sources))
    members: dict[int, list[Source]] = {}
    for source, first in zip(listed, _firsts([_keys(source) for source in listed]), strict=True):
        members.setdefault(first, []).append(source)
    merged = tuple(_merged(same) if len(same) > 1 else same[0] for same in members.values())
    return merged if len(merged) == len(listed) else distinct(merged)  # two parts joined may be a third source's text


def groups(documents: Mapping[str, Source]) -> Mapping[str, str]:
    """For each id (`N.k`) the first id of the same document, its own where it is the first.

    Of a line of Sources only title and address are known: `Source(line.title, "", line.url)`.
    """
    ids = list(documents)
    firsts = _firsts([_keys(source) for source in documents.values()])
    return {id: ids[first] for id, first in zip(ids, firsts, strict=True)}


def _keys(source: Source) -> tuple[Key, ...]:
    """Two sources that share a key are one document."""
    title, text = _folded(source.title), _folded(source.text)
    keys: list[Key] = []
    for url in (source.url, *_further(source)):
        # Two folders may hold files of one relative path: the title has to agree too.
        keys += _address_keys(url) or ((("path", url, title),) if url.strip() else ())
    return (*keys, ("text", title, text)) if text else tuple(keys)


def _further(source: Source) -> tuple[str, ...]:
    return tuple(value for key, value in source.extra if key == ALSO)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _firsts(keys: Sequence[tuple[Key, ...]]) -> list[int]:
    """For each place the first place of its group: those that share a key, directly or over others (union-find)."""
    parent = list(range(len(keys)))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    seen: dict[Key, int] = {}
    for at, own in enumerate(keys):
        for key in own:
            one, other = root(seen.setdefault(key, at)), root(at)
            parent[max(one, other)] = min(one, other)
    return [root(at) for at in range(len(keys))]


def _merged(same: Sequence[Source]) -> Source:
    first = same[0]
    known = {key for key, _ in first.extra}
    details = [detail for source in same[1:] for detail in source.extra if detail[0] not in (*known, ALSO)]
    url = next((source.url for source in same if source.url.strip()), "")
    given = (" ".join(address.split()) for source in same for address in (source.url, *_further(source)))
    addresses = [address for address in dict.fromkeys(given) if address and address != " ".join(url.split())]
    return first._replace(
        title=next((source.title for source in same if source.title.strip()), ""),
        text=_joined([source.text for source in same]),
        url=url,
        date=next((source.date for source in same if source.date.strip()), ""),
        extra=(
            *(detail for detail in first.extra if detail[0] != ALSO),
            *dict.fromkeys(details),
            *((ALSO, address) for address in addresses),
        ),
    )


def _joined(texts: Sequence[str]) -> str:
    """The first text (or one that holds all of it), then the passages of the others that are not in it."""
    whole = max((text for text in texts if _holds(text, texts[0])), key=len)
    known = {_folded(whole)}
    for text in texts:
        for passage in () if _folded(text) in known else _LEFT_OUT_LINE.split(text):
            if not _holds(whole, passage):
                whole = f"{whole.rstrip().removesuffix(LEFT_OUT).rstrip()}\n\n{LEFT_OUT}\n\n{passage.strip(chr(10))}"
        known.add(_folded(text))
    return whole if whole in texts else demote(whole)


def _holds(text: str, passage: str) -> bool:
    """Word for word, with its capitals (mW, MW) and to the end of its last number."""
    return f" {' '.join(passage.split())} " in f" {' '.join(text.split())} " or not passage.strip()
