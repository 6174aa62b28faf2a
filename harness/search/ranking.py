"""Which documents answer a query, and which passages of them: the documents named after its subject come first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from harness.search.engine import Stored, panics_as_errors, stored_in
from harness.search.passages import SIZE, Chosen, Passage, join
from harness.search.terms import analyzer, folded, name_words, query_keys, query_terms

if TYPE_CHECKING:
    import tantivy

# A hit in a heading, a line's name or the title says more about a passage than one in running text.
BOOSTS = {"name": 1.0, "label": 2.0, "body": 1.0}
KEY_BOOST = 3.0  # a line or section whose whole name the query says
CARDS = 200  # documents looked at by name
PASSAGES = 100  # passages looked at by content, a round; several rounds if few documents hold them all
ROUNDS = 4
LOOKED_AT = 4  # documents compared for each one returned
TIE = 4  # decimals of a score that count; equal ones are ordered by path, so two builds give one order
SUBJECT_SHARE = 0.4  # of the rarest term's weight: below it a word of the query names no subject
KEPT_SHARE = 0.5  # of the best document's share of the query: what matches less is noise


class Term(NamedTuple):
    """`stems`: one, or two Han characters side by side. `weight` is its rarity (idf) among all passages."""

    stems: tuple[str, ...]
    weight: float
    names: int  # documents that are called by it


@dataclass(frozen=True)
class Candidate:
    """A document with what it has of the query."""

    card: Stored
    matched: frozenset[tuple[str, ...]]  # terms in its name, or, found by content, in its best passage
    named: float = 0.0  # weight of the query's terms in its name
    coverage: float = 0.0  # the share of its name, by rarity, that these terms make up
    score: float = 0.0  # of its best passage


class Found(NamedTuple):
    """One document for the caller: `text` holds the chosen passages in the document's order."""

    card: Stored
    text: str


def best(index: tantivy.Index, query: str, *, documents: int, characters: int) -> tuple[Found, ...]:
    """At most `documents` documents with at most about `characters` each, the best first. ValueError: damaged index."""
    with panics_as_errors():
        return _Ranking(index, query).best(documents, characters)


class _Ranking:
    """One query on one snapshot of the index."""

    def __init__(self, index: tantivy.Index, query: str) -> None:
        self.schema = index.schema
        self.searcher = index.searcher()
        self.analyze: Callable[[str], list[str]] = analyzer().analyze
        terms = (self._term(stems) for stems in query_terms(query))
        self.terms = sorted((t for t in terms if t.weight), key=lambda t: (-t.weight, t.stems))
        self.keys = [key for key in query_keys(query) if self.searcher.doc_freq("key", "_".join(key))]
        self.name_weights: dict[str, float] = {}

    def best(self, documents: int, characters: int) -> tuple[Found, ...]:
        if not self.terms:
            return ()
        by_content = self._by_content(documents)
        groups = self._by_name({c.card.name: c.score for c in by_content}, documents)
        best_share = max((self._share(c) for c in by_content), default=0.0)
        rest = _with_newest([c for c in by_content if self._share(c) >= KEPT_SHARE * best_share], documents)
        subjects = frozenset[tuple[str, ...]]().union(*(c.matched for group in groups for c in group))
        if self.terms[0].stems in subjects:
            # Places are kept for others that have every word of the query in one passage: a table of all subjects.
            whole = sum(term.weight for term in self.terms)
            full = [c for c in rest if round(self._share(c), TIE) >= round(whole, TIE)][: documents * 2 // 5]
            named = list(_in_turns(groups))
            order = [*named[: documents - len(full)], *full, *named, *rest]
        else:  # the rarest word is in no name: then names alone do not tell what is asked about
            order = [*_in_turns([*groups, rest]), *rest]
        picked: dict[str, Candidate] = {}
        for candidate in order:
            if len(picked) == documents:
                break
            picked.setdefault(candidate.card.digest, candidate)  # one text under two names takes one place
        return tuple(Found(c.card, self._text(c.card, characters)) for c in picked.values())

    def _term(self, stems: tuple[str, ...]) -> Term:
        def frequency(field: str) -> int:
            return min(self.searcher.doc_freq(field, stem) for stem in stems)

        names = frequency("card")
        frequent = max(frequency("body"), frequency("label"), names)
        return Term(stems, _rarity(frequent, self.searcher.num_docs) if frequent else 0.0, names)

    def _matches(self, term: Term, fields: dict[str, float]) -> Iterator[tuple[tantivy.Occur, tantivy.Query]]:
        import tantivy

        for field, boost in fields.items():
            if len(term.stems) == 1:
                one = tantivy.Query.term_query(self.schema, field, term.stems[0])
            else:
                one = tantivy.Query.phrase_query(self.schema, field, list(term.stems))
            yield tantivy.Occur.Should, tantivy.Query.boost_query(one, boost)

    def _named_line(self, key: tuple[str, ...]) -> tantivy.Query:
        import tantivy

        return tantivy.Query.boost_query(tantivy.Query.term_query(self.schema, "key", "_".join(key)), KEY_BOOST)

    def _in_name(self, key: tuple[str, ...]) -> tantivy.Query:
        """The words of a name side by side in a longer one: `Real GDP per capita` is asked for as GDP per capita."""
        import tantivy

        if len(key) == 1:  # a word of its own is looked for as a term
            return tantivy.Query.empty_query()
        return tantivy.Query.phrase_query(self.schema, "label", list(key))

    def _content(self) -> tantivy.Query:
        """Any term in any field; more for lines that are called by words of the query."""
        import tantivy

        should = [(tantivy.Occur.Should, self._named_line(key)) for key in self.keys]
        return tantivy.Query.boolean_query([(tantivy.Occur.Should, self._any(self.terms, BOOSTS)), *should])

    def _any(self, terms: Sequence[Term], fields: dict[str, float]) -> tantivy.Query:
        import tantivy

        return tantivy.Query.boolean_query([match for term in terms for match in self._matches(term, fields)])

    def _hits(self, query: tantivy.Query, limit: int) -> list[tuple[float, Stored]]:
        """The best hits, ties ordered by path and place. Ties that reach over the limit are an arbitrary choice of the
        engine's: they are left out, or, if all are tied, more are fetched."""
        found = self.searcher.search(query, limit, count=False).hits
        if len(found) == limit and round(found[0][0], TIE) == round(found[-1][0], TIE):
            found = self.searcher.search(query, 16 * limit, count=False).hits
        elif len(found) == limit:
            found = [hit for hit in found if round(hit[0], TIE) > round(found[-1][0], TIE)]
        hits = [(round(score, TIE), stored_in(self.searcher.doc(address))) for score, address in found]
        return sorted(hits, key=lambda hit: (-hit[0], hit[1].name, hit[1].ordinal))

    def _by_content(self, documents: int) -> list[Candidate]:
        """Documents by their best passage. One large document that fills the hits is set aside for the next round."""
        import tantivy

        anywhere = self._content()
        found: dict[str, Candidate] = {}
        for _ in range(ROUNDS):
            known = [(tantivy.Occur.MustNot, tantivy.Query.term_set_query(self.schema, "path", list(found)))]
            query = tantivy.Query.boolean_query([(tantivy.Occur.Must, anywhere), *(known if found else [])])
            hits = self._hits(query, PASSAGES)
            for score, stored in hits:
                found.setdefault(stored.name, Candidate(stored, frozenset(), score=score))
            if len(found) > LOOKED_AT * documents or len(hits) < PASSAGES // 2:
                break
        newest_first = sorted(found.values(), key=lambda c: c.card.date, reverse=True)  # among equals, then by path
        looked_at = sorted(newest_first, key=lambda c: -c.score)[: LOOKED_AT * documents]
        return [replace(candidate, matched=self._terms_in(candidate.card)) for candidate in looked_at]

    def _terms_in(self, stored: Stored) -> frozenset[tuple[str, ...]]:
        text = f"{name_words(stored.title, stored.name)}\n{stored.lead}\n{stored.text}"
        return self._matched(self.analyze(folded(text)))

    def _matched(self, stems: list[str]) -> frozenset[tuple[str, ...]]:
        single, pairs = set(stems), set(pairwise(stems))
        return frozenset(
            t.stems for t in self.terms if t.stems in pairs or (len(t.stems) == 1 and t.stems[0] in single)
        )

    def _share(self, candidate: Candidate) -> float:
        return sum(t.weight for t in self.terms if t.stems in candidate.matched)

    def _by_name(self, scores: dict[str, float], documents: int) -> list[list[Candidate]]:
        """The documents called after the query's subjects: one group for each subject, the best first in each."""
        floor = SUBJECT_SHARE * self.terms[0].weight
        subjects = [t for t in self.terms if t.names and t.weight >= floor and not "".join(t.stems).isdigit()]
        if not subjects:
            return []
        named = [self._named(card) for _, card in self._hits(self._any(subjects, {"card": 1.0}), CARDS)]
        named = [replace(c, score=scores.get(c.card.name, 0.0)) for c in named if c.matched]
        named.sort(key=lambda c: (-round(c.named, TIE), -round(c.coverage, 2), -c.score, c.card.name))
        groups: list[list[Candidate]] = []
        open_subjects = {t.stems for t in subjects}
        while named and (first := next((c for c in named if c.matched & open_subjects), None)):
            of_first = first.matched & open_subjects
            group = [c for c in named if of_first <= c.matched and c.coverage >= KEPT_SHARE * first.coverage]
            named = [c for c in named if c not in group]
            open_subjects -= of_first
            groups.append(_with_newest(group, documents))
        return groups

    def _named(self, card: Stored) -> Candidate:
        stems = self.analyze(name_words(card.title, card.name))
        matched = self._matched(stems)
        whole = sum(self._name_weight(stem) for stem in set(stems))
        ours = sum(self._name_weight(stem) for stem in {stem for term in matched for stem in term})
        named = sum(t.weight for t in self.terms if t.stems in matched)
        return Candidate(card, matched, named, ours / whole if whole else 0.0)

    def _name_weight(self, stem: str) -> float:
        if stem not in self.name_weights:
            cards = max(self.searcher.num_docs // 2, 1)  # an upper bound: each document has a card and a passage
            self.name_weights[stem] = _rarity(self.searcher.doc_freq("card", stem), cards)
        return self.name_weights[stem]

    def _text(self, card: Stored, characters: int) -> str:
        """The passages of one document: the best for each name that the query says, for each other term, of all.

        Those that the query asks for by name may take twice the room: a query with three fields needs three of them.
        """
        if card.characters <= characters:
            chosen = self._passages(card, None, limit=max(card.count, 1))
            return join([_chosen(one) for one in chosen], card.count)
        picked: dict[int, Stored] = {}
        taken = 0
        others = self._passages(card, self._content(), limit=2 * characters // SIZE)
        for room, passages in ((2 * characters, self._wanted(card)), (characters, others)):
            for one in passages:
                size = len(one.text) + len(one.lead)
                if one.ordinal not in picked and (not picked or taken + size <= room):
                    picked[one.ordinal] = one
                    taken += size
        return join([_chosen(one) for one in picked.values()], card.count)

    def _wanted(self, card: Stored) -> Iterator[Stored]:
        import tantivy

        # Words of its name stand all over the document: they pick no passage, unless the query has no others.
        covered = set(self.analyze(name_words(card.title, card.name)))
        if covered.issuperset(stem for term in self.terms for stem in term.stems):
            covered = set()
        for key in self.keys:
            if covered.issuperset(key):
                continue
            for named in (self._named_line(key), self._in_name(key)):
                query = [(tantivy.Occur.Must, named), (tantivy.Occur.Should, self._any(self.terms, BOOSTS))]
                if found := self._passages(card, tantivy.Query.boolean_query(query), limit=1):
                    covered.update(key)
                    yield from found
                    break
        for term in self.terms:
            if not covered.issuperset(term.stems):
                yield from self._passages(card, self._any([term], BOOSTS), limit=1)

    def _passages(self, card: Stored, query: tantivy.Query | None, *, limit: int) -> list[Stored]:
        """Passages of one document, the best first; all of them if `query` is None."""
        import tantivy

        of_document = tantivy.Query.term_query(self.schema, "path", card.name)
        scoreless = tantivy.Query.const_score_query(of_document, 0.0)
        parts = [(tantivy.Occur.Must, scoreless)]
        if query is not None:
            parts.append((tantivy.Occur.Must, query))
        found = self.searcher.search(tantivy.Query.boolean_query(parts), limit + 1, count=False).hits
        stored = [(round(score, TIE), stored_in(self.searcher.doc(address))) for score, address in found]
        passages = [(score, one) for score, one in stored if one.ordinal >= 0]
        return [one for _, one in sorted(passages, key=lambda hit: (-hit[0], hit[1].ordinal))][:limit]


def _chosen(one: Stored) -> Chosen:
    return Chosen(one.ordinal, Passage(one.lead, one.text))


def _rarity(frequent: int, among: int) -> float:
    return math.log(1 + max(among - frequent + 0.5, 0.5) / (frequent + 0.5))


def _with_newest(group: list[Candidate], documents: int) -> list[Candidate]:
    """The newest dated document is among the first two even if older ones fit the words better: figures change."""
    newest = max(group, key=lambda c: c.card.date, default=None)
    place = min(documents, 2) - 1
    if newest is None or not newest.card.date or newest in group[: place + 1]:
        return group
    others = [c for c in group if c is not newest]
    return [*others[:place], newest, *others[place:]]


def _in_turns(groups: Sequence[Sequence[Candidate]]) -> Iterator[Candidate]:
    for place in range(max(map(len, groups), default=0)):
        yield from (group[place] for group in groups if place < len(group))
