"""Words as the index sees them: one analyzer for English, Russian and Chinese."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from harness.patterns import lazy
from harness.words import CASE_ENDING

if TYPE_CHECKING:
    import tantivy

ANALYZER = "words"
LONGEST = 64  # characters; longer "words" are hashes and base64
LONGEST_KEY = 4  # words of a name after stop words; Chinese names count by characters
KEYS = "keys"
_BETWEEN = "zqbetween"  # no stemmer changes it
_BESIDE = lazy(r"\([^()]*\)|(?<!\w)\d+(?!\w)")
_SPLIT = lazy(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")


def folded(text: str) -> str:
    """Composed characters (a Mac writes `й` in two), `ё` as `е`, as most people type it, no CASE_ENDING."""
    return CASE_ENDING.sub("", unicodedata.normalize("NFC", text).replace("ё", "е").replace("Ё", "Е"))


def name_words(title: str, name: str) -> str:
    """What a document is called: its title and its path without the suffix, `chad2015` split in two."""
    path = name.rsplit(".", 1)[0].replace("/", " ")
    return folded(_SPLIT.sub(" ", f"{title} {path}".replace("_", " ")))


def analyzer(*, stop_words: bool = True) -> tantivy.TextAnalyzer:
    """Lower case; Snowball stems of Russian and English (neither touches the other's letters); Han one by one.

    `stop_words` False leaves out words such as "of" and «и»: a document that shares only these is not found.
    """
    import tantivy

    words = tantivy.Tokenizer.regex(r"\p{Han}|[\p{L}\p{M}\p{N}--\p{Han}]+")
    chain = tantivy.TextAnalyzerBuilder(words).filter(tantivy.Filter.remove_long(LONGEST))
    chain = chain.filter(tantivy.Filter.lowercase())
    for language in ("russian", "english"):
        if not stop_words:
            chain = chain.filter(tantivy.Filter.stopword(language))
    for language in ("russian", "english"):
        chain = chain.filter(tantivy.Filter.stemmer(language))
    return chain.build()


def key_analyzer() -> tantivy.TextAnalyzer:
    """For text that is cut into words already: see `keys`."""
    import tantivy

    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()


def query_terms(query: str) -> list[tuple[str, ...]]:
    """The distinct terms of a query: one stem each, or two Han characters that stand side by side.

    A query of nothing but stop words keeps them.
    """
    terms: dict[tuple[str, ...], None] = {}
    text = folded(query)
    for stems in (analyzer(stop_words=False).analyze(text), analyzer().analyze(text)):
        for before, stem in zip(["", *stems], stems, strict=False):
            if not _is_han(stem):
                terms[(stem,)] = None
            elif _is_han(before):
                terms.pop((before,), None)
                terms[(before, stem)] = None
            else:
                terms[(stem,)] = None
        if terms:
            break
    return list(terms)


def keys(names: Sequence[str], analyze: Callable[[str], list[str]]) -> str:
    """Whole names of lines and headings as one word each, blank between: `- Chief of state: …` → `chief_state`.

    `analyze` leaves out stop words. A query that says the whole name finds the line although "state" is everywhere.
    """
    # `GDP - per capita (PPP)` and `Public debt 2022` are asked without
    bare = (_BESIDE.sub(" ", name) for name in names if _BESIDE.search(name))
    stems = analyze(folded(f" {_BETWEEN} ".join([*names, *bare])))
    found: dict[str, None] = {}
    key: list[str] = []
    for stem in [*stems, _BETWEEN]:
        if stem != _BETWEEN:
            key.append(stem)
            continue
        if 0 < len(key) <= LONGEST_KEY:
            found["_".join(key)] = None
        key = []
    return " ".join(found)


def query_keys(query: str) -> list[tuple[str, ...]]:
    """The runs of up to LONGEST_KEY words of a query that may be a whole name, the longest first."""
    stems = analyzer(stop_words=False).analyze(folded(query))
    runs = (tuple(stems[at : at + size]) for size in range(LONGEST_KEY, 0, -1) for at in range(len(stems) - size + 1))
    return list(dict.fromkeys(runs))


def _is_han(stem: str) -> bool:
    return len(stem) == 1 and unicodedata.name(stem, "").startswith("CJK ")
