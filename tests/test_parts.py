"""The laws of a raw in parts: every character once, and each part reads like a raw whose sources are the whole's."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.formats.raw import adopt, outline, parse_raw, render_raw
from harness.model import QueryRecord, Raw, RawHead, Source
from harness.parts import Budget, Part, Room, budget_of, fits, parts_of, shown
from harness.store.rawtext import WholeText
from harness.tokens import estimate
from tests.test_cutting_laws import bodies, characters, words

untimed = settings(deadline=None, max_examples=25)
DATES = st.sampled_from(["", "2025-01-01", "2024-12"])
LONGEST_TITLE = 300  # characters that a part repeats of a title

# An opening of half a part gives way: what is so long stands in no raw, and parts have 2,000 tokens at least.
titles = st.sampled_from(["Title", "Рынок 2024", "很长" * 20, "2. A number", "# Hash", "x" * 60])
urls = st.sampled_from(["https://e.org/1", "docs/a b.md", "https://e.org/" + "x" * 60])
sources = st.tuples(titles, bodies, urls, DATES).map(lambda told: Source(*told))
QUERY = QueryRecord("выручка", "web", "found")
heads = st.sampled_from(
    [
        RawHead("note"),
        RawHead("search", (QUERY,), "It is open.", "2025-01-01T00:00:00Z"),
        RawHead("search", (QUERY, QUERY), "so long " * 400),
    ]
)
ours = st.builds(lambda head, found: render_raw(Raw(head, tuple(found))), heads, st.lists(sources, max_size=4))
strayed = st.builds(
    lambda head, stray, found: (
        render_raw(Raw(head))
        + f"stray text {stray}\n"
        + render_raw(Raw(RawHead("note"), tuple(found))).split("---\n", 2)[2]
    ),
    heads,
    bodies,
    st.lists(sources, max_size=3),
)
pasted = st.builds(lambda body, head: adopt(f"# The page\n\nDate: 2025-01-01\n\n{body}", head), bodies, heads)
raws = st.one_of(ours, ours, strayed, pasted)
budgets = st.builds(
    Budget,
    st.sampled_from([700, 1_500, 4_000]),
    st.sampled_from([0, 0, 40]),
    st.sampled_from([characters, estimate, words]),
)


def cut(text: str, budget: Budget, *stretches: tuple[int, int | None]) -> list[Part]:
    whole = WholeText(text)
    return [shown(part, whole, budget) for part in parts_of(whole, budget, *(stretches or ((0, None),)))]


@untimed
@given(raws, budgets)
def test_every_character_is_in_one_part_and_is_shown(text: str, budget: Budget) -> None:
    parts = cut(text, budget)
    assert "".join(text[part.start : part.end] for part in parts) == text
    assert [part.number for part in parts] == list(range(1, len(parts) + 1))
    assert all((part.of, part.total) == (len(parts), len(text)) for part in parts)
    layout = outline(text)
    for part in parts:
        own = text[max(part.start, layout.body) : part.end]
        assert part.text.endswith(own) or layout.adopted
        assert part.text.replace("#", "").endswith(own.replace("#", ""))


@untimed
@given(raws, budgets)
def test_no_part_is_over_the_budget(text: str, budget: Budget) -> None:
    for part in cut(text, budget):
        assert budget.count(part.text) <= budget.tokens
        assert not budget.lines or part.text.count("\n") <= budget.lines + 1


@untimed
@given(raws, budgets)
def test_each_part_reads_like_a_raw_with_the_sources_of_the_whole(text: str, budget: Budget) -> None:
    whole = parse_raw(text, "raw_1.md")
    told = dict(enumerate(whole.sources, whole.first))
    seen: set[int] = set()
    for part in cut(text, budget):
        raw = parse_raw(part.text, "raw_1.md")
        assert not raw.problems and raw.head.kind == whole.head.kind
        for k, source in enumerate(raw.sources, raw.first):
            seen.add(k)
            assert source.title[:LONGEST_TITLE] == told[k].title[:LONGEST_TITLE]
            assert source.url[:400] == told[k].url[:400] and source.date == told[k].date
    assert seen == set(told)


@untimed
@given(raws, budgets, budgets, st.data())
def test_from_any_place_the_parts_are_exactly_the_rest(
    text: str, first: Budget, second: Budget, data: st.DataObject
) -> None:
    """The raw was read to `start` by one agent's budget, and goes on by another's."""
    body = outline(text).body
    ends = [part.end for part in cut(text, first) if part.end >= body]
    start = data.draw(st.sampled_from(ends) | st.integers(min(body + 1, len(text)), len(text)))
    start = 0 if start <= body else start  # the front matter is read with what follows it
    rest = cut(text, second, (start, None))
    assert "".join(text[part.start : part.end] for part in rest) == text[start:]
    end = data.draw(st.integers(max(start, body), len(text)))
    stretch = cut(text, second, (start, end))
    assert "".join(text[part.start : part.end] for part in stretch) == text[start:end]
    assert all(second.count(part.text) <= second.tokens for part in (*rest, *stretch))


@untimed
@given(ours | pasted, budgets)
def test_what_fits_is_one_part(text: str, budget: Budget) -> None:
    least = budget._replace(tokens=budget.tokens - 300, lines=0)  # a part says more of itself than the raw does
    if fits(text, least):
        (part,) = cut(text, budget._replace(lines=0))
        assert part.whole and part.last


@given(st.integers(1_000, 10**6), st.integers(0, 10**5), st.integers(0, 10**5), st.integers(0, 10**5))
def test_the_rest_of_a_packet_and_the_reply_have_their_room(window: int, output: int, fixed: int, most: int) -> None:
    budget = budget_of(Room(window, output, part_tokens=most), fixed)
    assert budget.tokens + fixed + max(output, window // 5) <= window
    assert not most or budget.tokens <= most
    assert budget_of(Room(None, part_tokens=2_000), fixed).tokens == 2_000
