"""What a Synthesizer's reply to a raw, or to a part of one, is checked against."""

from __future__ import annotations

from typing import NamedTuple

from harness.formats.summary import lines_of
from harness.guards.lines import FACTUAL, View, known_sources
from harness.guards.synthesizer import check_rewrite
from harness.model import Defect, Packet, Raw, Reply, Rewrite, Source, Summary
from harness.parts import Part
from harness.reply import parse_synthesizer
from harness.session import Session
from harness.store import Snapshot
from harness.store.sources import Sources
from harness.turn import Judge


class Piece(NamedTuple):
    """The part of raw_`number` that a pass reads; `raw` is what it shows, as a value."""

    number: int
    part: Part
    raw: Raw

    @property
    def name(self) -> str:
        where = "" if self.part.whole else f" part {self.part.number} of {self.part.of}"
        return f"raw_{self.number}.md{where}"


def view_of(session: Session, snapshot: Snapshot, packet: Packet, piece: Piece) -> View:
    settings = session.settings
    seen = Seen(snapshot.case.summary, piece, Sources(session.store))
    known = known_sources(snapshot.case.summary) | seen.ids
    return View(snapshot.case, packet, known, seen, settings.summary_tokens, settings.sections)


class Seen:
    """What a citation leads to: of the raw that is read now the part that was shown, with what the summary already
    says of it; of all others their whole sources. So nothing that a pass holds grows with the raw."""

    def __init__(self, summary: Summary, piece: Piece, others: Sources) -> None:
        self._piece = piece
        self._shown = {f"{piece.number}.{k}": source for k, source in enumerate(piece.raw.sources, piece.raw.first)}
        self._lines = [line for kind in FACTUAL for line in lines_of(summary, kind)]
        self._others = others

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(self._shown)

    def __call__(self, id: str) -> Source | None:
        if int(id.partition(".")[0]) != self._piece.number:
            return self._others(id)
        if self._piece.part.whole:
            return self._shown.get(id)
        source = self._shown.get(id, Source("", ""))
        told = [line for line in self._lines if f"[{id}]" in line]
        return source._replace(text="\n".join((source.text, *told)))


def judge_rewrite(view: View) -> Judge[Rewrite]:
    def judge(reply: Reply) -> tuple[Rewrite | None, tuple[Defect, ...]]:
        rewrite, defects = parse_synthesizer(reply)
        return rewrite, defects or (check_rewrite(rewrite, view) if rewrite else ())

    return judge
