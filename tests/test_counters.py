"""Vocabularies without network, from every place they can be in; counters made of them."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.counters import ESTIMATE, Counter, counter_for
from harness.specs import ENCODINGS
from harness.tokens import estimate
from harness.vocabulary import FOLDER, PINS, tiktoken_encoding, vocabulary, vocabulary_file
from tests.token_texts import TEXTS

NAMES = tuple(PINS)
LONG = 1_000_000
PATHOLOGICAL = {
    "spaces": " " * LONG,
    "spaces before a word": "x" + " " * LONG + "x",
    "tabs": "\t" * LONG,
    "lines": "\n" * LONG,
    "lines and spaces": ("!\n\n" + " " * 300_000 + "\r\n" + " " * LONG + "x") * 2,
    "letters": "a" * LONG,
    "base64": hashlib.shake_128(b"").hexdigest(300_000),
    "Chinese": "的" * LONG,
    "marks": "<|endoftext|>" * 10_000,
}
# A folder with a `toktok` that does not load, first on the path: a machine for which there is no wheel.
NO_WHEEL = "raise ImportError('no wheel')"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def without_wheel(tmp_path: Path, code: str, **environ: str) -> str:
    """What a process prints in which toktok-rs cannot be imported."""
    (tmp_path / "site").mkdir(exist_ok=True)
    (tmp_path / "site/toktok.py").write_text(NO_WHEEL, encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": f"{tmp_path / 'site'}:{Path(__file__).parent.parent}", **environ}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


def test_the_settings_know_every_vocabulary() -> None:
    assert set(ENCODINGS) == {*PINS, ESTIMATE.name}


@pytest.mark.parametrize("name", NAMES)
def test_a_vocabulary_is_rebuilt_into_our_cache_once(tmp_path: Path, name: str) -> None:
    elsewhere = {"TIKTOKEN_CACHE_DIR": str(tmp_path / "none")}
    found = vocabulary_file(name, tmp_path, elsewhere)
    ours = tmp_path / FOLDER / PINS[name].file
    assert found is not None and found.source == str(ours)
    assert hashlib.sha256(ours.read_bytes()).hexdigest() == PINS[name].sha256
    assert [path.name for path in ours.parent.iterdir()] == [PINS[name].file]
    assert vocabulary_file(name, tmp_path, elsewhere) == found


def test_the_cache_of_tiktoken_comes_first_if_it_is_right(tmp_path: Path, cache: Path) -> None:
    right = vocabulary_file("cl100k_base", cache, {"TIKTOKEN_CACHE_DIR": ""})
    assert right is not None
    theirs = tmp_path / PINS["cl100k_base"].file
    theirs.write_bytes(right.data)
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        found = vocabulary_file("cl100k_base", cache, {variable: str(tmp_path)})
        assert found is not None and found.source == str(theirs)
    theirs.write_bytes(right.data[:-1])
    found = vocabulary_file("cl100k_base", cache, {"TIKTOKEN_CACHE_DIR": str(tmp_path)})
    assert found == right and theirs.exists()  # it is not ours to remove


def broken_file(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"YQ== 0\n")


def folder_there(path: Path) -> None:
    path.mkdir(parents=True)


def pipe_there(path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path)


def no_folder(path: Path) -> None:
    path.parent.write_text("", encoding="utf-8")


@pytest.mark.parametrize("spoil", [broken_file, folder_there, pipe_there, no_folder])
def test_a_spoilt_cache_does_no_harm(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    spoil(tmp_path / FOLDER / PINS["cl100k_base"].file)
    found = vocabulary_file("cl100k_base", tmp_path, {"TIKTOKEN_CACHE_DIR": ""})
    assert found is not None and hashlib.sha256(found.data).hexdigest() == PINS["cl100k_base"].sha256


def test_many_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: vocabulary_file("cl100k_base", tmp_path, {}), range(4)))
    assert len({one.data for one in found if one}) == 1
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] in ([], [PINS["cl100k_base"].file])


@pytest.mark.parametrize("name", NAMES)
def test_both_libraries_count_alike(name: str, cache: Path) -> None:
    quick, encoding = counter_for(name, 1.0, cache), tiktoken_encoding(name, cache, {"TIKTOKEN_CACHE_DIR": ""})
    assert quick.exact and quick.source.startswith("toktok-rs") and encoding is not None
    texts = [text for text in TEXTS.values() if len(text) < 100_000]
    assert quick.many(texts) == [len(encoding.encode_ordinary(text)) for text in texts]
    assert quick.many(texts) == [quick(text) for text in texts]


@pytest.mark.parametrize("name", NAMES)
def test_without_the_quick_one_tiktoken_counts_the_same(tmp_path: Path, cache: Path, name: str) -> None:
    vocabulary_file(name, cache, {"TIKTOKEN_CACHE_DIR": ""})
    code = (
        "from pathlib import Path; from harness.counters import counter_for\n"
        "from tests.test_counters import PATHOLOGICAL\n"
        f"counter = counter_for({name!r}, 1.0, Path({str(cache)!r}))\n"
        "print(counter.source.partition(' ')[0], counter.many(list(PATHOLOGICAL.values())))"
    )
    counted = counter_for(name, 1.0, cache).many(list(PATHOLOGICAL.values()))
    assert without_wheel(tmp_path, code, TIKTOKEN_CACHE_DIR="") == f"tiktoken {counted}\n"


def test_without_any_vocabulary_it_is_the_estimate_and_says_so(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from harness.counters import counter_for\n"
        "counter = counter_for('o200k_base', 1.2, Path('cache')); print(counter.name, counter.exact, counter('x' * 99))"
    )
    told = without_wheel(tmp_path, code, TIKTOKEN_CACHE_DIR="")
    assert told == f"estimate × 1.2 False {counter_for('estimate', 1.2, tmp_path)('x' * 99)}\n"


def test_special_tokens_count_as_the_text_they_are(cache: Path) -> None:
    for name in NAMES:
        found = vocabulary(name, cache)
        assert found is not None and found.count_many(["<|endoftext|>"]) == [7]


def test_a_counter_says_what_it_is(cache: Path) -> None:
    assert counter_for("cl100k_base", 1.2, cache).name == "cl100k_base × 1.2"
    assert counter_for("o200k_base", 1.0, cache).name == "o200k_base"
    assert (ESTIMATE.name, ESTIMATE.exact, ESTIMATE("abc")) == ("estimate", False, 3)
    with pytest.raises(KeyError):
        counter_for("gpt2", 1.0, cache)


@given(st.integers(0, 10**9), st.floats(1.0, 3.0))
def test_safety_is_rounded_up_and_no_further(number: int, safety: float) -> None:
    counter = Counter("x", exact=True, safety=safety, _count=lambda texts: [number])
    assert number * safety - 1e-6 <= counter("") < number * safety + 1
    assert Counter("x", exact=True, safety=1.2, _count=lambda texts: [10])("") == 12


@given(st.text(), st.sampled_from(NAMES))
def test_any_text_is_counted(text: str, name: str) -> None:
    assert counter_for(name, 1.0, Path("unused"))(text + "\ud800") >= 1


@given(st.sampled_from(sorted(TEXTS)), st.data())
def test_two_pieces_are_no_less_than_the_whole(name: str, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(TEXTS[name])))
    text = TEXTS[name][begin : begin + 3_000]
    cut = data.draw(st.integers(0, len(text)))
    for encoding in NAMES:
        first, second, whole = counter_for(encoding, 1.2, Path("unused")).many([text[:cut], text[cut:], text])
        assert first + second + 1 >= whole


def test_threads_may_share_a_counter(cache: Path) -> None:
    counter = counter_for("o200k_base", 1.0, cache)
    texts = [text[:2_000] for text in TEXTS.values()]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(counter, texts)) == counter.many(texts)


def test_a_panic_in_compiled_code_costs_one_estimate() -> None:
    class PanicException(BaseException):  # pyo3's, by its name
        pass

    def panics(texts: Sequence[str]) -> list[int]:
        raise PanicException

    def stops(texts: Sequence[str]) -> list[int]:
        raise KeyboardInterrupt

    assert Counter("x", exact=True, _count=panics)("word " * 50) == estimate("word " * 50)
    with pytest.raises(KeyboardInterrupt):
        Counter("x", exact=True, _count=stops)("word")
