"""Passages, ranking and the index on disk: the same results from two builds, and a fresh start after any damage."""

from __future__ import annotations

import json
import random
import shutil
import threading
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.lockfile import held
from harness.search.index import Opened, open_index
from harness.search.passages import LEFT_OUT, SIZE, Chosen, cut, join
from harness.search.ranking import best
from harness.search.scan import scan
from harness.search.terms import analyzer, query_terms

FIELDS = (
    "Population",
    "Capital",
    "Area",
    "Exports",
    "Inflation rate",
    "Chief of state",
    "Climate",
    "Terrain",
    "Railways",
)


def profile(country: str, edition: int, filler: int = 60) -> str:
    """A country profile of some 30 kB: the asked lines stand in different sections among many others."""
    sections = []
    for number, field in enumerate(FIELDS):
        lines = [f"- {field}: {field.lower()} of {country} in {edition} is {number + edition}"]
        lines += [f"- {field} detail {i}: {country} and its state and area by {i} of the people" for i in range(filler)]
        sections.append(f"## Section of {field}\n\n" + "\n".join(lines))
    return (
        f"---\ntitle: {country} {edition}\ndate: {edition}-07-01\n---\n# {country}\n\n" + "\n\n".join(sections) + "\n"
    )


def write(root: Path, tree: dict[str, str]) -> None:
    for name, text in tree.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def opened(tmp_path: Path, cache: str = "cache") -> Opened:
    return open_index(tmp_path / cache, scan(tmp_path / "docs").files)


def names(tmp_path: Path, query: str, *, documents: int = 5, cache: str = "cache") -> list[str]:
    found = best(opened(tmp_path, cache).index, query, documents=documents, characters=6_000)
    return [one.card.name for one in found]


@given(
    st.lists(
        st.sampled_from(["# A", "## B", "- key: value", "| a | b |", "| - | - |", "", "word " * 80, "```", "x" * 4_000])
    )
)
@example(["```", "x" * 4_000, *["# A"] * 6, "- key: value", "- key: value", "word " * 80, "x" * 4_000])
def test_passages_together_are_the_text(lines: list[str]) -> None:
    text = "\n".join(lines)
    passages = cut(text)
    whole = join([Chosen(i, one) for i, one in enumerate(passages)], len(passages))
    assert "".join(whole.split()) == "".join(text.split())
    assert all(len(one.text) <= 1.3 * SIZE or "```" in one.text for one in passages)


def test_a_passage_from_the_middle_of_a_table_carries_headings_and_the_table_head() -> None:
    rows = [f"| Country {i} | {i * 1_000} |" for i in range(120)]
    passages = cut("\n".join(["# World", "", "## Area", "", "| Country | Area |", "| --- | --- |", *rows]))
    shown = join([Chosen(1, passages[1])], len(passages))
    assert shown.startswith(f"{LEFT_OUT}\n\n# World\n## Area\n\n| Country | Area |\n| --- | --- |\n| Country ")
    assert shown.endswith("| Country 119 | 119000 |")


def test_no_line_is_torn_and_no_heading_ends_a_passage() -> None:
    text = profile("Chad", 2015)
    passages = cut(text)
    lines = set(text.split("\n"))
    for passage in passages:
        assert set(passage.text.split("\n")) <= lines
        assert not passage.text.split("\n")[-1].startswith("#")
        assert len(passage.text) <= SIZE


@pytest.mark.parametrize(
    "series",
    [
        ["- Debt 2024: 3%", "- Debt 2023: 2%", "- Debt 2022: 1%"],
        ["- Users - total: 1,200", "- Users - share: 23% (2009)"],
        ["- Debt 2024: 3%", "", "### Debt - note", "", "central government " * 30],
    ],
)
def test_lines_that_belong_together_stay_in_one_passage(series: list[str]) -> None:
    for size in range(SIZE - 200, SIZE + 1, 7):
        filler = ["# Chad", "", "## Economy", "", *["- Imports: many" for _ in range(size // 16)]]
        (one,) = (passage for passage in cut("\n".join([*filler, *series])) if series[0] in passage.text)
        assert all(line in one.text for line in series)
        assert "# Chad" in f"{one.lead}\n{one.text}" and "note" not in one.lead


def test_a_series_too_long_to_move_is_cut_where_the_passage_is_full() -> None:
    passages = cut("\n".join(f"- Debt {year}: {year}0 of {'gold' * 9}" for year in range(1900, 2026)))
    assert all(SIZE // 2 < len(passage.text) <= SIZE for passage in passages[:-1])


def test_words_of_three_languages_become_stems() -> None:
    assert analyzer().analyze("Выручка выручку Populations 北京") == ["выручк", "выручк", "popul", "北", "京"]
    assert query_terms("the population of Chad") == [("popul",), ("chad",)]
    assert query_terms("拼多多 收入") == [("拼", "多"), ("多", "多"), ("多", "收"), ("收", "入")]
    assert query_terms("of the") == [("of",), ("the",)]


def test_the_documents_named_after_the_subject_come_first_with_newest_and_older(tmp_path: Path) -> None:
    tree = {
        f"{c.lower()}-{year}.md": profile(c, year, 3) for c in ("Chad", "Niger", "Nigeria") for year in (2015, 2025)
    }
    tree["lake.md"] = "# Water\n\n" + "Chad population and Chad and the population of Chad. " * 30
    write(tmp_path / "docs", tree)
    assert set(names(tmp_path, "Chad population", documents=3)[:2]) == {"chad-2015.md", "chad-2025.md"}
    assert set(names(tmp_path, "population of Niger")[:2]) == {"niger-2015.md", "niger-2025.md"}
    assert set(names(tmp_path, "Chad Niger border")[:2]) & {"chad-2015.md", "chad-2025.md"}
    assert set(names(tmp_path, "Chad Niger border")[:2]) & {"niger-2015.md", "niger-2025.md"}


def test_the_newest_of_many_editions_is_among_the_first(tmp_path: Path) -> None:
    write(tmp_path / "docs", {f"chad/{year}.md": profile("Chad", year, 3) for year in range(2000, 2026)})
    write(tmp_path / "docs", {"niger.md": profile("Niger", 2025, 3), "other/mali.md": profile("Mali", 2025, 3)})
    found = names(tmp_path, "Chad population")
    assert len(found) == 5
    assert "chad/2025.md" in found[:3]


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("Chad population", ["Population"]),
        ("Chad chief of state capital area", ["Chief of state", "Capital", "Area"]),
        ("railways and climate of Chad", ["Railways", "Climate"]),
    ],
)
def test_the_lines_asked_about_are_in_the_passages(tmp_path: Path, query: str, fields: list[str]) -> None:
    write(tmp_path / "docs", {f"{c.lower()}.md": profile(c, 2015) for c in ("Chad", "Niger", "Mali", "Libya")})
    assert (tmp_path / "docs/chad.md").stat().st_size > 30_000
    first = best(opened(tmp_path).index, query, documents=2, characters=6_000)[0]
    assert first.card.name == "chad.md"
    assert len(first.text) < 7_000
    for field in fields:
        assert f"- {field}: {field.lower()} of Chad in 2015 is" in first.text
    places = [profile("Chad", 2015).index(line) for line in first.text.split("\n") if line.startswith("- ")]
    assert places == sorted(places)


@pytest.mark.parametrize("line", ["Real output per capita 2024", "Output per capita 2024", "Output - per capita (PPP)"])
def test_a_name_asked_for_is_found_inside_a_longer_one(tmp_path: Path, line: str) -> None:
    other = "".join(f"- Drink per capita per capita {n}: {n}\n- Output of output {n}: {n}\n" for n in range(300))
    docs = {"old.md": "# Chad 2015\n- Output per capita: 1\n", "new.md": f"# Chad\n{other}- {line}: $7\n{other}"}
    write(tmp_path / "docs", docs)
    query = "Chad climate, output per capita"
    shown = {one.card.name: one.text for one in best(opened(tmp_path).index, query, documents=2, characters=6_000)}
    assert f"- {line}: $7" in shown["new.md"]


def test_one_large_document_or_its_copy_does_not_take_the_places_of_others(tmp_path: Path) -> None:
    large = "\n\n".join(
        f"## Part {i}\n\nThe grain harvest of year {i}. " + "Grain and harvest. " * 60 for i in range(700)
    )
    small = {
        f"farm-{i}.md": f"# Farm {i}\n\nIts harvest of grain was {i} tonnes, with notes on weather.\n" for i in range(4)
    }
    write(tmp_path / "docs", {"large.md": large, "copy.md": large, **small})
    found = names(tmp_path, "grain harvest")
    assert set(found) == {"copy.md", *small}


def test_words_that_stand_everywhere_find_nothing(tmp_path: Path) -> None:
    write(
        tmp_path / "docs",
        {"a.md": "The report of the year is on the table and in the house.", "b.md": "Выручка и доля"},
    )
    assert names(tmp_path, "the mission of the Zebra") == []
    assert names(tmp_path, "выручку Самоката") == ["b.md"]
    assert names(tmp_path, '"( AND ] выручка: ~^') == ["b.md"]
    assert names(tmp_path, "?!") == []


def test_yo_and_split_characters_are_one_letter(tmp_path: Path) -> None:
    write(tmp_path / "docs", {"Мёрдок.md": "Йошкар-Ола, отчёт за год", "x.md": "другое"})
    assert names(tmp_path, "Мердок отчет") == ["Мёрдок.md"]
    assert names(tmp_path, "И\u0306ошкар") == ["Мёрдок.md"]


def test_two_builds_and_a_build_in_steps_give_the_same_results(tmp_path: Path) -> None:
    same = {f"{i:03}/note.md": "# Note\n\nThe same words about grain in every note.\n" + f"{i}\n" for i in range(300)}
    order = list(same)
    random.Random(7).shuffle(order)
    for part in (order[:100], order[100:200], order[200:]):
        write(tmp_path / "docs", {name: same[name] for name in part})
        steps = names(tmp_path, "grain in notes", cache="steps")
    assert steps == names(tmp_path, "grain in notes", cache="once") == sorted(same)[:5]


def test_only_what_changed_is_read_again(tmp_path: Path) -> None:
    write(tmp_path / "docs", {"a.md": "alpha", "b.md": "beta"})
    opened(tmp_path)
    done: list[tuple[int, int]] = []

    def again() -> list[tuple[int, int]]:
        done.clear()
        open_index(tmp_path / "cache", scan(tmp_path / "docs").files, progress=lambda *at: done.append(at))
        return done

    assert again() == []
    (tmp_path / "docs/a.md").touch()
    assert again() == [(1, 1)]
    assert again() == []
    write(tmp_path / "docs", {"b.md": "gamma", "c.md": "delta"})
    assert again() == [(1, 2), (2, 2)]
    assert (names(tmp_path, "beta"), names(tmp_path, "gamma"), names(tmp_path, "alpha")) == ([], ["b.md"], ["a.md"])
    (tmp_path / "docs/b.md").unlink()
    assert names(tmp_path, "gamma") == []


def test_a_file_that_vanishes_after_the_scan_is_left_out_and_tried_again(tmp_path: Path) -> None:
    write(tmp_path / "docs", {"a.md": "alpha", "b.md": "alpha"})
    files = scan(tmp_path / "docs").files
    (tmp_path / "docs/b.md").rename(tmp_path / "away.md")
    entry = open_index(tmp_path / "cache", files).entries["b.md"]
    assert (entry.fault, entry.digest) == ("gone while it was read", "")
    (tmp_path / "away.md").rename(tmp_path / "docs/b.md")
    assert open_index(tmp_path / "cache", files).entries["b.md"].fault == ""


def test_nothing_but_headings_is_cut_in_linear_time() -> None:
    assert sum(len(one.text) for one in cut("# h\n" * 50_000)) > 100_000


def _torn_manifest(place: Path) -> None:
    text = (place / "manifest.json").read_text(encoding="utf-8")
    (place / "manifest.json").write_text(text[: len(text) // 2], encoding="utf-8")


def _other_version(place: Path) -> None:
    kept = json.loads((place / "manifest.json").read_text(encoding="utf-8"))
    (place / "manifest.json").write_text(json.dumps({**kept, "version": 0}), encoding="utf-8")


def _unfinished(place: Path) -> None:
    (place / "committing").touch()


def _junk_in_meta(place: Path) -> None:
    (place / "tantivy/meta.json").write_bytes(b"\xff\0junk")


def _no_engine(place: Path) -> None:
    shutil.rmtree(place / "tantivy")
    (place / "tantivy").write_text("a file where the folder was", encoding="utf-8")


@pytest.mark.parametrize("damage", [_torn_manifest, _other_version, _unfinished, _junk_in_meta, _no_engine])
def test_a_damaged_index_is_built_anew_with_a_note(tmp_path: Path, damage: object) -> None:
    assert callable(damage)
    write(tmp_path / "docs", {"a.md": "alpha", "b.md": "beta"})
    opened(tmp_path)
    damage(tmp_path / "cache")
    after = opened(tmp_path)
    assert [one.card.name for one in best(after.index, "beta", documents=5, characters=100)] == ["b.md"]
    assert len(after.notes) == 1
    assert "built anew" in after.notes[0]
    assert opened(tmp_path).notes == ()


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    write(tmp_path / "docs", {"a.md": "alpha"})
    (tmp_path / "file").write_text("", encoding="utf-8")
    found = open_index(tmp_path / "file" / "cache", scan(tmp_path / "docs").files)
    assert [one.card.name for one in best(found.index, "alpha", documents=5, characters=100)] == ["a.md"]
    assert "not kept" in found.notes[0]


def test_two_builds_at_once_give_both_the_same_index(tmp_path: Path) -> None:
    write(tmp_path / "docs", {f"{i}.md": profile("Chad", 2000 + i, 5) for i in range(20)})
    results: list[list[str]] = []
    threads = [threading.Thread(target=lambda: results.append(names(tmp_path, "Chad climate"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(one == results[0] and len(one) == 5 for one in results)


def test_while_another_process_builds_the_old_index_is_read(tmp_path: Path) -> None:
    write(tmp_path / "docs", {"a.md": "alpha"})
    opened(tmp_path)
    write(tmp_path / "docs", {"b.md": "alpha too"})
    files = scan(tmp_path / "docs").files
    with held(tmp_path / "cache/lock", wait=0):
        old = open_index(tmp_path / "cache", files, wait=0)
        fresh = tmp_path / "fresh"
        fresh.mkdir()
        with held(fresh / "lock", wait=0):
            memory = open_index(fresh, files, wait=0)
    assert [one.card.name for one in best(old.index, "alpha", documents=5, characters=100)] == ["a.md"]
    assert len(best(memory.index, "alpha", documents=5, characters=100)) == 2
    assert ("before" in old.notes[0], "memory" in memory.notes[0]) == (True, True)


@pytest.mark.parametrize("line", ["**" * 20_000, "- " + "*" * 20_000 + ":", " " * 20_000 + "x"])
def test_lines_of_one_character_are_cut_at_once(line: str) -> None:
    assert "".join(passage.text for passage in cut(f"# Chad\n{line}\n"))
