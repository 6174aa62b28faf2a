"""A person with only an editor: whatever way they save the files, the case arrives at an answer and loses nothing."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.agents.person import PersonAgent
from harness.errors import AgentFailed
from harness.formats.raw import parse_raw
from harness.formats.text import decode
from harness.loop import step
from harness.store import Store
from tests.fakes import ScriptedAgent, make_session, search_for
from tests.program import DOCUMENTS, harness
from tests.trees import read_tree, write_tree

CASE = Path("research")


class Words(NamedTuple):
    """What one person writes, in their language."""

    question: str
    query: str
    page: str
    note: str
    fact: str
    own: str
    answer: str


WORDS = {
    "en": Words(
        question="Which revenue had Samokat in 2024?\n",
        query="Samokat revenue 2024\n",
        page="Infoline: ranking\n\nIn 2024 the revenue of Samokat was 154.0 bn roubles.\n- - -\n© 2025\n",
        note="My notes: the ranking does not count wholesale.\n",
        fact="## Confirmed\n- Samokat had a revenue of 154.0 bn roubles in 2024 [1.1]\n",
        own="- Samokat belongs to Sber [person] [pinned]\n",
        answer="Samokat had 154.0 bn roubles in 2024 [1.1].\n",
    ),
    "ru": Words(
        question="Какая выручка была у «Самоката» в 2024 году?\n",
        query="Самокат выручка 2024\n",
        page="Инфолайн: рейтинг\n\nВ 2024 году выручка «Самоката» составила 154,0 млрд рублей.\n---\n© 2025\n",
        note="Мои заметки: рейтинг не учитывает опт.\n",
        fact="## Подтверждено\n- Выручка «Самоката» в 2024 году — 154,0 млрд рублей [1.1]\n",
        own="- «Самокат» принадлежит Сберу [person] [pinned]\n",
        answer="Выручка «Самоката» в 2024 году — 154,0 млрд рублей [1.1].\n",
    ),
}
# Notepad, a Windows shell, an old editor, a Mac of the last century.
SAVED: Mapping[str, Callable[[str], bytes]] = {
    "plain": str.encode,
    "CRLF and BOM": lambda text: text.replace("\n", "\r\n").encode("utf-8-sig"),
    "UTF-16": lambda text: text.replace("\n", "\r\n").encode("utf-16"),
    "UTF-16 BE": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "CR": lambda text: text.replace("\n", "\r").encode(),
}


def due() -> str:
    ran = harness("status")
    assert ran.code == 0 and ran.err == "", ran.err
    assert "note:" not in ran.out, ran.out
    return ran.out.rpartition("  due: ")[2].strip()


def stepped() -> str:
    ran = harness("step")
    assert ran.code == 0, ran.err
    return ran.out.strip()


def texts() -> dict[str, str]:
    """The case's files as the harness reads them."""
    return {path.name: decode(path.read_bytes()).text for path in CASE.glob("*.*") if path.is_file()}


@pytest.mark.parametrize("language", WORDS)
@pytest.mark.parametrize("style", SAVED)
def test_a_person_with_an_editor_arrives_at_an_answer(language: str, style: str) -> None:
    words, saved = WORDS[language], SAVED[style]
    write_tree(CASE, {"question.md": saved(words.question)})
    assert due().startswith("the Planner writes a query")

    write_tree(CASE, {"next_query.txt": saved(words.query)})
    assert due() == f"a search for raw_1.md: {words.query.strip()} (harness search)"

    write_tree(CASE, {"raw_1.md": saved(words.page)})
    assert due().startswith("raw_1.md, which a person pasted, is taken in")
    assert stepped() == f"adopt: raw_1.md adopted as the result of {words.query.strip()}"
    raw = parse_raw((CASE / "raw_1.md").read_bytes().decode().replace("\r\n", "\n"), "raw_1.md")
    assert [(record.query, record.outcome) for record in raw.head.queries] == [(words.query.strip(), "pasted")]
    assert len(raw.sources) == 1 and "154" in raw.sources[0].text and "© 2025" in raw.sources[0].text

    assert due().startswith("the Synthesizer folds raw_1.md")
    write_tree(CASE, {"summary.md": saved(words.fact + words.own)})
    assert due().startswith("the Planner writes a query"), "citing raw_1.md means that it is read"

    write_tree(CASE, {"answer.md": saved(words.answer)})
    assert due().startswith("nothing: answer.md stands")
    ran = harness("run")
    assert ran.code == 0 and ran.out == words.answer and "complete: written by a person" in ran.err
    assert (CASE / "answer.md").read_bytes() == saved(words.answer)
    assert (CASE / "question.md").read_bytes() == saved(words.question)


@pytest.mark.parametrize("language", WORDS)
@pytest.mark.parametrize("style", SAVED)
def test_a_note_is_folded_into_a_summary_that_a_person_wrote(language: str, style: str) -> None:
    words, saved = WORDS[language], SAVED[style]
    title = words.fact.splitlines()[0]
    write_tree(CASE, {"question.md": saved(words.question), "summary.md": saved(f"{title}\n{words.own}")})
    write_tree(CASE, {"raw_1.md": saved(words.note)})
    assert stepped() == "adopt: raw_1.md adopted as a note"
    assert stepped().startswith("fold: raw_1.md folded")
    summary = texts()["summary.md"].splitlines()
    assert words.own.strip() in summary and title in summary and "round: 1" in summary


def test_a_fold_after_one_by_hand_may_keep_its_citations() -> None:
    words = WORDS["ru"]
    write_tree(CASE, {"question.md": words.question, "raw_1.md": words.page, "summary.md": words.fact})
    write_tree(CASE, {"raw_2.md": words.note})
    assert stepped() == "adopt: raw_2.md adopted as a note"
    assert stepped().startswith("fold: raw_2.md folded")


@pytest.mark.parametrize("style", SAVED)
def test_an_answer_written_into_next_query_becomes_the_answer(style: str) -> None:
    write_tree(CASE, {"question.md": "What?\n", "next_query.txt": SAVED[style]('answer("It is so.")\n')})
    assert due().startswith("the answer in next_query.txt becomes answer.md")
    assert stepped().startswith("answer: answer.md: ")
    assert "It is so." in texts()["answer.md"]


@pytest.mark.parametrize("style", SAVED)
def test_a_direction_is_added_to_a_question_in_the_style_it_was_saved_in(style: str) -> None:
    saved = SAVED[style](WORDS["ru"].question)
    write_tree(CASE, {"question.md": saved})
    assert harness("steer", "без цен").code == 0
    assert (CASE / "question.md").read_bytes().startswith(saved)
    prompt = harness("next").out
    assert "без цен" in prompt and WORDS["ru"].question.strip() in prompt


def test_the_built_in_roles_go_on_from_what_a_person_left() -> None:
    write_tree(Path(), DOCUMENTS)
    write_tree(CASE, {"question.md": SAVED["CRLF and BOM"](WORDS["en"].question)})
    write_tree(CASE, {"next_query.txt": SAVED["UTF-16"]("Samokat revenue\n")})
    write_tree(CASE, {"summary.md": SAVED["CR"]("## Confirmed\n- Samokat belongs to Sber [person] [pinned]\n")})
    ran = harness("run", "--in", "docs")
    assert ran.code == 0 and "154.0" in ran.out
    assert "- Samokat belongs to Sber [person] [pinned]" in texts()["summary.md"].splitlines()


# The person as an agent ----------------------------------------------------------------------------------------


def in_place(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data[: len(data) // 2])
        file.flush()
        threading.Event().wait(0.02)
        file.write(data[len(data) // 2 :])


def atomic_rename(path: Path, data: bytes) -> None:
    other = path.with_name(".goutputstream-X1")
    other.write_bytes(data)
    other.replace(path)


def like_vim(path: Path, data: bytes) -> None:
    backup = path.with_name(f"{path.name}~")
    if path.exists():
        path.rename(backup)
    in_place(path, data)
    backup.unlink(missing_ok=True)


def moved_in(path: Path, data: bytes) -> None:
    elsewhere = path.parent.parent / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    (elsewhere / path.name).write_bytes(data)
    shutil.move(elsewhere / path.name, path)


Save = Callable[[Path, bytes], None]
SAVES: tuple[Save, ...] = (in_place, atomic_rename, like_vim, moved_in)


def person(folder: Path, *saves: Callable[[], None], said: list[str] | None = None) -> PersonAgent:
    """Someone who watches this terminal: each time it is their turn, the next of `saves` is done by another thread."""
    waiting = list(saves)

    def say(text: str) -> None:
        if said is not None:
            said.append(text)
        if "Your turn" in text:
            threading.Thread(target=waiting.pop(0)).start()

    return PersonAgent(Store(folder), attended=True, say=say)


@pytest.fixture
def folder() -> Path:
    return write_tree(Path.cwd() / "research", {"question.md": "What is alpha?\n"})


@pytest.mark.parametrize("save", SAVES)
@pytest.mark.parametrize("style", ["CRLF and BOM", "UTF-16"])
def test_a_saved_file_is_taken_however_it_was_saved(folder: Path, save: Save, style: str) -> None:
    target, said = folder / "next_query.txt", list[str]()
    agent = person(folder, lambda: save(target, SAVED[style]('search("alpha 2024")\n')), said=said)
    done = step(make_session(folder, planner=agent))
    assert (done.action, done.line) == ("ask", "alpha 2024")
    assert any(str(target) in text and str(folder / ".harness/prompt.md") in text for text in said)
    assert read_tree(folder)["next_query.txt"] == "# round: 1\nalpha 2024\n"


@pytest.mark.parametrize("save", SAVES)
def test_a_file_that_stood_there_before_is_taken_once_it_changes(folder: Path, save: Save) -> None:
    raw = "---\nkind: note\n---\n## 1. A\n- date: 2025\n\nfact alpha\n"
    write_tree(folder, {"summary.md": "## Confirmed\n- fact beta [person]\n", "raw_1.md": raw})
    text = "## Confirmed\n- fact beta [person]\n- fact alpha [1.1]\n## Contradictions\n## Not found\n"
    agent = person(folder, lambda: save(folder / "summary.md", text.encode()))
    assert step(make_session(folder, synthesizer=agent)).action == "fold"
    assert "- fact alpha [1.1]" in read_tree(folder)["summary.md"]


def test_what_is_wrong_is_said_and_the_next_save_is_taken(folder: Path) -> None:
    said: list[str] = []
    target = folder / "next_query.txt"
    agent = person(
        folder,
        lambda: in_place(target, b'search("https://example.org/page")\n'),
        lambda: in_place(target, b'search("alpha")\n'),
        said=said,
    )
    assert step(make_session(folder, planner=agent)).line == "alpha"
    assert any(text.startswith("  not yet: ") for text in said)


def test_a_person_may_answer_in_place_of_a_query(folder: Path) -> None:
    script = ScriptedAgent(search_for("alpha"))
    for _ in range(3):
        step(make_session(folder, planner=script))
    agent = person(folder, lambda: in_place(folder / "answer.md", b"It is known: fact alpha [1.1]\n"))
    assert step(make_session(folder, planner=agent)).action == "answer"
    assert "It is known: fact alpha [1.1]" in read_tree(folder)["answer.md"]


def test_stop_ends_the_wait(folder: Path) -> None:
    def stop() -> None:
        Store(folder).put_helper("stop", "stop\n")

    other = ScriptedAgent(search_for("alpha"))
    step(make_session(folder, planner=other))
    with pytest.raises(AgentFailed, match="stopped while it was your turn"):
        person(folder, stop).take(other.packets[0])


def test_where_nobody_watches_the_run_ends_with_exit_5_and_says_what_to_do() -> None:
    write_tree(CASE, {"question.md": "What?\n"})
    ran = harness("run", "--planner", "person")
    assert ran.code == 5 and ran.out == ""
    assert f"you are the planner of round 1: {CASE.absolute()}/next_query.txt" in ran.err
    assert "harness next shows the prompt, harness take takes your reply" in ran.err
    assert "What?" in (CASE / ".harness/prompt.md").read_text(encoding="utf-8")


# The person as a search provider -------------------------------------------------------------------------------


def test_a_person_searches_and_what_they_paste_counts_as_pasted() -> None:
    write_tree(CASE, {"question.md": "What is alpha?\n", "next_query.txt": "alpha 2024\n"})
    for command in (("run",), ("search",), ("step",)):
        ran = harness(*command, HARNESS_SEARCH="person")
        assert ran.code == 5 and ran.out == ""
        assert "a search is due from you: alpha 2024" in ran.err
        assert f"paste what you find as raw_1.md in {CASE.absolute()}" in ran.err
    write_tree(CASE, {"raw_1.md": SAVED["UTF-16"]("Alpha is 7 in 2024.\n")})
    ran = harness("run", HARNESS_SEARCH="person")
    assert ran.code in (4, 5) and "adopt" in ran.err
    assert "1 · alpha 2024 — pasted" in texts()["summary.md"]


def test_the_person_is_asked_when_the_rungs_before_find_nothing() -> None:
    write_tree(CASE, {"question.md": "What is alpha?\n", "next_query.txt": "alpha 2024\n"})
    write_tree(Path(), {"docs/a.md": "Nothing of use.\n", "harness.yaml": "search:\n- folder: docs\n- person\n"})
    ran = harness("search")
    assert ran.code == 5 and "alpha 2024" in ran.err
