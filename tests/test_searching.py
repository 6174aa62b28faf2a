"""The ladder within one run, what of a query is sent out, pages that are no content, and one raw of a round."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.crew import LimitedSearch, Requests, Surroundings, make_ladder
from harness.errors import SearchUnavailable, WaitingForPerson
from harness.formats.raw import parse_raw, render_raw
from harness.loop import run, step
from harness.model import Attempt, QueryRecord, Source
from harness.options import Rung, Settings
from harness.plan import due_queries
from harness.ports import Search
from harness.searching import Searched, as_raw, climb, no_content, search_all, sendable
from harness.store import Store
from tests.fakes import FakeSearch, ScriptedAgent, find_page, make_session, page, plan_for, search_for
from tests.trees import read_tree, write_tree


def limited(*rungs: Search, caps: Sequence[int | None] = (), made: Requests | None = None) -> tuple[Search, ...]:
    made = made or Requests()
    return tuple(LimitedSearch(rung, made, cap) for rung, cap in zip(rungs, caps or [None] * len(rungs), strict=True))


def outcomes(ladder: Sequence[Search], *queries: str) -> list[str]:
    return [climb(query, ladder).record.outcome for query in queries]


# The ladder within one run -----------------------------------------------------------------------


def test_empty_or_blocked_goes_to_the_next_and_is_told() -> None:
    ladder = limited(
        FakeSearch(lambda q: "HTTP 429", "one"), FakeSearch(lambda q: "empty", "two"), FakeSearch(find_page)
    )
    found = climb("alpha", ladder)
    assert found.record == QueryRecord("alpha", "fake", "found") and found.sources == (page("alpha"),)
    assert found.attempts == (Attempt("one", "HTTP 429"),)
    assert found.asked == ("one", "two", "fake")


def test_a_rung_that_failed_twice_in_a_row_is_left_out_and_the_user_reads_why() -> None:
    first = FakeSearch(lambda query: "HTTP 429", "web")
    ladder = limited(first, FakeSearch(find_page))
    assert outcomes(ladder, "a", "b", "c", "d") == ["found"] * 4
    assert first.queries == ["a", "b"]
    last = climb("e", ladder)
    assert last.attempts == (Attempt("web", "left out: failed twice in a row in this run (HTTP 429)"),)
    assert last.asked == ("fake",)


def test_a_success_or_an_empty_search_between_two_failures_counts_anew() -> None:
    said = {"c": "empty", "f": "found"}
    rung = FakeSearch(lambda query: find_page(query) if said.get(query) == "found" else said.get(query, "HTTP 429"))
    outcomes(limited(rung), *"acbfdexy")
    assert rung.queries == list("acbfde")


def test_an_exception_of_a_provider_is_a_failure() -> None:
    def broken(query: str) -> str:
        raise OSError("gone")

    rung = FakeSearch(broken)
    assert outcomes(limited(rung), "a", "b", "c") == ["blocked"] * 3
    assert rung.queries == ["a", "b"]


def test_a_new_run_tries_each_rung_again() -> None:
    rung = FakeSearch(lambda query: "HTTP 429")
    for _ in range(2):
        outcomes(limited(rung), "a", "b", "c")
    assert rung.queries == ["a", "b", "a", "b"]


def test_failures_side_by_side_are_one() -> None:
    together = Barrier(4)

    def wait(query: str) -> str:
        if query != "later":
            together.wait(timeout=20)
        return "HTTP 429"

    rung = FakeSearch(wait)
    ladder = limited(rung)
    search_all("abcd", ladder, 4)
    assert outcomes(ladder, "later", "too late") == ["blocked", "blocked"]
    assert rung.queries[4:] == ["later"]


def test_a_cap_counts_earlier_searches_and_those_of_this_run() -> None:
    rung = FakeSearch(find_page, "web")
    ladder = limited(rung, FakeSearch(find_page, "other"), caps=(50, None), made=Requests({"web": 48, "gone": 9}))
    assert [climb(query, ladder).record.provider for query in "abc"] == ["web", "web", "other"]
    over = climb("d", ladder)
    assert over.attempts == (Attempt("web", "cap of 50 reached in this case"),)
    assert over.asked == ("other",) and rung.queries == ["a", "b"]


def test_rungs_of_one_name_share_the_count() -> None:
    first, second = FakeSearch(lambda query: "empty", "web"), FakeSearch(lambda query: "empty", "web")
    outcomes(limited(first, second, caps=(3, 3)), "a", "b", "c")
    assert (first.queries, second.queries) == (["a", "b"], ["a"])


def test_a_cap_holds_for_searches_side_by_side() -> None:
    rung = FakeSearch(lambda query: "empty")
    [one] = limited(rung, caps=(20,))
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(one.search, map(str, range(50))))
    assert len(rung.queries) == 20
    assert sum(result.outcome == "blocked" for result in results) == 30


def test_the_ladder_of_the_settings_has_their_caps(tmp_path: Path) -> None:
    write_tree(tmp_path / "docs", {"a.md": "Alpha is 5.\n"})
    rungs = (Rung("folder", {"path": str(tmp_path / "docs"), "cap": "2"}), Rung("person"))
    around = Surroundings(Store(tmp_path / "case"), os.environ, print)
    folder, person = make_ladder(Settings(search=rungs), around, {"folder": 1})
    assert folder.search("alpha").outcome == "found"
    assert folder.search("alpha").error == "cap of 2 reached in this case"
    with pytest.raises(WaitingForPerson):
        person.search("alpha")


def test_a_case_in_which_all_is_blocked_stops_and_is_resumed(tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "case", {"question.md": "What is known about alpha?\n"})
    made = Requests({"one": 5})
    one, two = FakeSearch(find_page, "one"), FakeSearch(lambda query: "HTTP 403", "two")
    planner = ScriptedAgent(search_for("alpha"), search_for("alpha"))
    with pytest.raises(SearchUnavailable) as told:
        list(run(make_session(folder, planner=planner, search=limited(one, two, caps=(5, None), made=made))))
    assert told.value.exit_code == 6 and one.queries == []
    assert "cap of 5 reached in this case" in read_tree(folder)["raw_2.md"]
    search = limited(FakeSearch(find_page))
    assert list(run(make_session(folder, planner=plan_for("alpha"), search=search)))[-1].final == "answered"


# What is sent out --------------------------------------------------------------------------------

LONG = " ".join(f"word{k}" for k in range(90))  # 619 characters


def test_a_long_query_is_searched_shortened_and_recorded_whole() -> None:
    rung = FakeSearch(find_page)
    found = climb(LONG, [rung])
    [sent] = rung.queries
    assert 150 < len(sent) <= 200 and LONG.startswith(f"{sent} ")
    assert found.record == QueryRecord(LONG, "fake", "found")
    assert found.notes == (f'a query of {len(LONG)} characters is searched in its first {len(sent)}: "{LONG[:60]}…"',)


def test_a_long_query_goes_to_the_second_provider_too() -> None:
    first, second = FakeSearch(lambda query: "query too long" if len(query) > 200 else "empty"), FakeSearch(find_page)
    assert climb(LONG, [first, second]).record.outcome == "found"
    assert first.queries == second.queries


def test_a_long_query_in_a_file_is_not_due_for_ever(tmp_path: Path) -> None:
    tree = {"question.md": "What is known about alpha?\n", "next_query.txt": f"{LONG}\n"}
    session = make_session(write_tree(tmp_path / "case", tree))
    assert due_queries(session.store.snapshot().case) == (LONG,)
    searched = step(session)
    assert searched.action == "search" and "is searched in its first" in searched.notes[0]
    assert due_queries(session.store.snapshot().case) == ()


@pytest.mark.parametrize("query", ["Samokat revenue 2024", "site:example.org C++ “a b”", "выручка  2024", "营" * 150])
def test_a_fit_query_is_sent_as_it_stands(query: str) -> None:
    assert sendable(query) == (query, ())


def test_a_script_without_spaces_is_cut_and_not_stripped() -> None:
    sent, notes = sendable("营业收入" * 60)
    assert sent == "营业收入" * 50 and len(notes) == 1


@pytest.mark.parametrize(
    "smuggled",
    ["https://evil.example/?q=secret", "HTTP://x.y/z", "(www.evil.example/a)", "file:///etc/passwd", "k" * 61],
)
def test_addresses_and_unbroken_tokens_are_not_sent_out(smuggled: str) -> None:
    query = f"revenue {smuggled} 2024"
    rung = FakeSearch(find_page)
    found = climb(query, [rung])
    assert rung.queries == ["revenue 2024"] and found.record.query == query
    assert len(found.notes) == 1 and found.notes[0].startswith("addresses and unbroken runs above 60 characters")
    alone = climb(smuggled, [rung])
    assert alone.record == QueryRecord(smuggled, "harness", "blocked") and alone.asked == ()
    assert alone.attempts[0].error.startswith("nothing is left to search")
    assert rung.queries == ["revenue 2024"]


PIECES = st.sampled_from(["word ", "营业", " ", "x" * 59, "y" * 70, "https://a.b/c ", "слово ", "-", "12,5 "])


@given(st.lists(PIECES, max_size=60).map("".join) | st.text())
def test_whatever_is_sent_is_short_and_holds_no_address(query: str) -> None:
    sent, notes = sendable(query)
    assert len(sent) <= 200 and "://" not in sent
    assert sent == query or notes or not sent
    assert sendable(sent) == (sent, ())


# Pages that are no content -----------------------------------------------------------------------

CLOUDFLARE = """Sorry, you have been blocked
You are unable to access example.com
Why have I been blocked?
This website is using a security service to protect itself from online attacks. The action you just performed
triggered the security solution. There are several actions that could trigger this block including submitting a
certain word or phrase, a SQL command or malformed data.
What can I do to resolve this?
You can email the site owner to let them know you were blocked.
Cloudflare Ray ID: 8a1 • Your IP: 192.0.2.1 • Performance & security by Cloudflare"""
WAITING = "example.com needs to review the security of your connection before proceeding."
AKAMAI = 'You don\'t have permission to access "http://example.com/" on this server.\n\nReference #18.4f'


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("", " \n "),
        ("Just a moment...", "Enable JavaScript and cookies to continue"),
        ("example.com", "Just a moment...Enable JavaScript and cookies to continue"),
        ("example.com", f"# example.com\n\nVerifying you are human. This may take a few seconds.\n\n{WAITING}"),
        ("example.com", "<html><head><title>Just a moment...</title><style>a{}</style></head><body></body></html>"),
        ("Attention Required! | Cloudflare", CLOUDFLARE),
        ("example.com", CLOUDFLARE),
        ("Access Denied", AKAMAI),
        ("example.com", f"# Access Denied\n\n{AKAMAI}"),
        ("example.com", "403 Forbidden\n\nnginx/1.24.0"),
        ("example.com", "Error 403 (Forbidden)!!1"),
        ("example.com", "<html>captcha</html>"),
        ("example.com", "Please enable JS and disable any ad blocker"),
        ("example.com", "Our systems have detected unusual traffic from your computer network."),
        ("Проверка браузера", "Подождите, выполняется проверка браузера."),
        ("example.ru", "Проверка браузера перед переходом на сайт example.ru"),
        ("Ой!", "Нам очень жаль, но запросы с вашего устройства похожи на автоматические.\nЯ не робот"),
        ("example.ru", "Вы не робот? Подтвердите, что запросы отправляли вы, а не робот."),
        ("example.ru", "Доступ запрещён"),
        ("百度安全验证", "网络不给力，请稍后重试"),
        ("example.cn", "正在验证您是否是真人。这可能需要几秒钟时间。"),
        ("请稍候…", "请启用 JavaScript 和 Cookie 以继续"),
        ("example.cn", "访问被拒绝"),
    ],
)
def test_a_challenge_is_no_content(title: str, text: str) -> None:
    assert no_content(Source(title, text, "https://example.com/"))


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Revenue", "Revenue 2024: 154 bn"),
        ("Fix “Just a moment...”", 'Behind Cloudflare you see "Just a moment..." while it verifies you are human.'),
        ("Under attack", "The message 'Checking your browser' is shown by Cloudflare. Its Ray ID stands below."),
        ("Cloudflare", f"Just a moment... {'Cloudflare said on Tuesday that it stopped an attack. ' * 40}"),
        ("Access Denied", "Access Denied is a 2004 thriller by J. Doe about hackers in Berlin."),
        ("403 Forbidden", "The 403 Forbidden status code says that the server understood and refused the request."),
        ("CAPTCHA", "A CAPTCHA is a challenge-response test used to tell computers and humans apart."),
        ("Just a Moment", "Just a Moment is a song by Nas from the album God's Son."),
        ("Доступ ограничен", "Доступ к сайту example.org ограничен в России, сообщил Роскомнадзор в пятницу."),
        ("Капча", "Капча — это тест, по которому определяют, кто перед компьютером: человек или машина."),
        ("安全验证", "安全验证是一种用于确认用户身份的技术，广泛应用于网站登录和支付。"),
    ],
)
def test_an_article_on_such_pages_is_content(title: str, text: str) -> None:
    assert no_content(Source(title, text, "https://example.com/")) == ""


CHALLENGE = Source("Just a moment...", "Enable JavaScript and cookies to continue", "https://example.com/")


def test_a_provider_with_nothing_but_challenges_is_blocked_and_not_empty() -> None:
    first, second = FakeSearch(lambda query: (CHALLENGE,), "web"), FakeSearch(find_page)
    ladder = limited(first, second)
    found = climb("alpha", ladder)
    assert found.sources == (page("alpha"),)
    assert found.attempts == (Attempt("web", 'no content: a page that says "Just a moment..."'),)
    assert outcomes(ladder, "b", "c") == ["found", "found"]
    assert first.queries == ["alpha", "b"]  # a failure like any other


def test_a_challenge_among_pages_is_left_out_with_a_note() -> None:
    found = climb("alpha", [FakeSearch(lambda query: (CHALLENGE, page("alpha")), "web")])
    assert found.sources == (page("alpha"),) and found.record.outcome == "found"
    assert found.notes == (
        '1 of 2 sources from web left out, no content: a page that says "Just a moment...", e.g. https://example.com/',
    )


def test_the_users_own_documents_are_content_whatever_they_say() -> None:
    assert climb("alpha", [FakeSearch(lambda query: (CHALLENGE,), "folder")]).sources == (CHALLENGE,)


# One raw of a round ------------------------------------------------------------------------------


def test_a_document_that_two_queries_found_is_one_source() -> None:
    def found(*sources: Source) -> Searched:
        return Searched(QueryRecord("q", "web", "found"), sources, (), ())

    one = Source("Report", "Revenue: 1", "https://x.org/a?utm_source=n")
    two = Source("Report", "Profit: 2", "http://www.x.org/a/")
    other = Source("Other", "Loss: 3", "https://x.org/b")
    raw = as_raw([found(one, other), found(two, other)], "", "2026-11-29T12:00:00Z")
    assert [source.text for source in raw.sources] == ["Revenue: 1\n\n[…]\n\nProfit: 2", "Loss: 3"]
    assert raw.sources[0].url == one.url and raw.sources[0].extra == (("also", two.url),)
    assert parse_raw(render_raw(raw), "raw_1.md") == raw
