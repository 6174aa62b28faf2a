"""The restart law on the real loop: no crash changes how a case ends; nothing that people do is lost or done twice."""

from __future__ import annotations

import errno
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from harness.errors import HarnessError
from tests.fakes import FailingDisk, PhotographingDisk
from tests.trees import read_tree, write_tree
from tests.worlds import (
    EVENTS,
    MINE,
    WORLDS,
    Told,
    World,
    before_the_end,
    bury,
    drive,
    drive_without_a_claim,
    facts_of,
    files_of,
    start,
)

DOUBLE_CRASHES = 12  # pairs a world, sampled: all of them are some 10,000
SCHEDULES = 300
# A query changed between pasting a bare raw and its adoption is taken for the pasted one's (design.md, section 2).
UNPASTED = tuple(name for name in WORLDS if not WORLDS[name].pasted)


def audit(folder: Path, world: World, told: Told) -> list[str]:
    """What is wrong with a case that has come to its end (sim2.py's audit, and leftovers)."""
    wrong = [] if told.final == "answered" else [f"ends as {told.final!r}"]
    facts = facts_of(folder)
    for name, text in files_of(folder).items():
        if name.endswith(".tmp"):
            wrong.append(f"a temporary file is left: {name}")
        if name.startswith("raw_"):
            stated = {line.strip() for line in text.splitlines() if line.startswith("fact ")}
            wrong += [f"{name}'s {fact!r} is not in the summary" for fact in stated if fact not in facts]
    lines = facts.splitlines()
    wrong += [f"twice in the summary: {line}" for line, times in Counter(lines).items() if times > 1]
    return wrong


def searched_twice(world: World, told: Told) -> list[str]:
    times = Counter(told.queries)
    return [query for query, often in times.items() if often > (2 if query == world.flaky else 1)]


@pytest.mark.parametrize("name", WORLDS)
def test_undisturbed(name: str, tmp_path: Path) -> None:
    world = WORLDS[name]
    told = drive(start(tmp_path / "case"), world)
    assert audit(tmp_path / "case", world, told) == []
    assert searched_twice(world, told) == []
    assert told.checks <= 1


@pytest.mark.parametrize("name", WORLDS)
def test_killed_before_any_system_call_it_ends_the_same(name: str, tmp_path: Path) -> None:
    """Every k: each state of the disk on the way is one that a killed process leaves, and a new one begins with."""
    world, disk = WORLDS[name], PhotographingDisk(start(tmp_path / "undisturbed"))
    drive(disk.folder, world, last=disk)
    expected = files_of(disk.folder)
    assert len(disk.photographs) > 40
    for number, photograph in enumerate(disk.photographs):
        folder = write_tree(tmp_path / str(number), photograph)
        bury(folder)
        told = drive(folder, world)
        assert files_of(folder) == expected, f"from {sorted(photograph)}: {' > '.join(told.actions)}"


@pytest.mark.parametrize("name", WORLDS)
def test_killed_twice_it_ends_the_same(name: str, tmp_path: Path) -> None:
    world, chance = WORLDS[name], random.Random(name)
    drive(start(tmp_path / "undisturbed"), world)
    expected = files_of(tmp_path / "undisturbed")
    for number in range(DOUBLE_CRASHES):
        deaths = (chance.randint(1, 130), chance.choice([chance.randint(1, 30), chance.randint(1, 130)]))
        folder = start(tmp_path / str(number))
        told = drive(folder, world, deaths=deaths)
        assert files_of(folder) == expected, f"killed before calls {deaths}: {' > '.join(told.actions)}"


@pytest.mark.parametrize("name", ["the self-check finds gamma missing", "two queries a round"])
def test_a_disk_that_refuses_once_stops_the_run_and_the_next_ends_the_same(name: str, tmp_path: Path) -> None:
    world = WORLDS[name]
    drive(start(tmp_path / "undisturbed"), world)
    expected, stopped = files_of(tmp_path / "undisturbed"), 0
    for at in count(1):
        folder, disk = start(tmp_path / str(at)), FailingDisk(at, errno.ENOSPC)
        try:
            drive(folder, world, last=disk)
        except HarnessError as told:
            stopped += 1
            assert "No space left on device" in told.value
            drive(folder, world)
        assert files_of(folder) == expected, f"refused at call {at}"
        if disk.calls < at:
            break
    assert stopped > 60


@pytest.mark.parametrize("name", ["two rounds, check passes", "two queries a round", "blocked, then found"])
def test_two_processes_at_work_end_the_same(name: str, tmp_path: Path) -> None:
    """The claim is a courtesy: without it nothing may go wrong either."""
    world = WORLDS[name]
    drive(start(tmp_path / "undisturbed"), world)
    for number in range(5):
        folder = start(tmp_path / str(number))
        with ThreadPoolExecutor(2) as pool:
            both = [pool.submit(drive_without_a_claim, folder, world) for _ in range(2)]
        assert [done.result() for done in both] == ["answered", "answered"]
        assert files_of(folder) == files_of(tmp_path / "undisturbed")


# People --------------------------------------------------------------------------------------------


def seen_to(folder: Path, told: Told) -> bool:
    """Searched, or recorded for all to see: as skipped where a round may have one query, as what was pasted."""
    recorded = read_tree(folder)["summary.md"]
    return MINE in told.queries or any(f"{MINE} — {outcome}" in recorded for outcome in ("skipped", "pasted"))


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("name", WORLDS)
def test_what_people_do_before_any_pass_is_neither_lost_nor_done_twice(name: str, event: str, tmp_path: Path) -> None:
    world = WORLDS[name]
    for at in count(0):
        folder, happened = start(tmp_path / str(at)), list[str]()
        told = drive(folder, world, events={at: before_the_end(EVENTS[event], happened)})
        wrong = audit(folder, world, told)
        wrong += [f"searched twice: {query}" for query in searched_twice(world, told)]
        if happened and event in ("a query added", "a query replaced") and not seen_to(folder, told):
            wrong.append("the person's query was never searched")
        if told.checks > 1:
            wrong.append(f"{told.checks} self-checks")
        assert wrong == [], f"before pass {at}: {' > '.join(told.actions)}"
        if "PERSON" not in told.actions:
            break


def test_the_question_as_a_person_saved_it_is_left_alone(tmp_path: Path) -> None:
    folder = start(tmp_path / "case")
    drive(folder, WORLDS["two rounds, check passes"], events={3: EVENTS["the question edited"]})
    assert (folder / "question.md").read_bytes().startswith(b"\xef\xbb\xbfWhat")
    assert b"\r\n## Directions\r\n" in (folder / "question.md").read_bytes()
    assert "directions: 1" in read_tree(folder)["summary.md"]


@pytest.mark.parametrize("seed", range(10))
def test_random_schedules_of_crashes_and_people(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    for number in range(SCHEDULES // 10):
        world = WORLDS[chance.choice(UNPASTED)]
        names = {chance.randint(0, 13): chance.choice([*EVENTS]) for _ in range(chance.randint(0, 3))}
        events = {at: before_the_end(EVENTS[event]) for at, event in names.items()}
        deaths = [chance.randint(1, 90) for _ in range(chance.randint(0, 4))]
        folder = start(tmp_path / str(number))
        told = drive(folder, world, deaths=deaths, events=events)
        wrong = audit(folder, world, told)
        assert wrong == [], f"{world}, {names}, killed at {deaths}: {' > '.join(told.actions)}"
