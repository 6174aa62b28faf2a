"""Tripwires for every test: no network beyond loopback, no home, no settings of the machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

LOOPBACK = ("127.", "::1", "localhost", "0.0.0.0")


def _stay_here(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook: raises where a test would reach another machine."""
    if event not in ("socket.connect", "socket.getaddrinfo"):
        return
    target = arguments[1] if event == "socket.connect" else arguments[0]
    host = target[0] if isinstance(target, tuple) else target
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if isinstance(host, str) and host and not host.startswith((*LOOPBACK, "/")):
        raise AssertionError(f"a test reaches for the network: {host}")


sys.addaudithook(_stay_here)


# `.ci/run` sets it: there the real counterparts are installed, so a skipped one is a fault.
REAL_REQUIRED = bool(os.environ.get("HARNESS_REAL_REQUIRED"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if REAL_REQUIRED and report.skipped and item.get_closest_marker("real"):
        report.outcome = "failed"
    return report


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--renew", action="store_true", help="Write the golden files anew.")


@pytest.fixture(autouse=True)
def quiet_surroundings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """HOME, the working folder and the user's folders are temporary; HARNESS_* and API keys are gone."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(("HARNESS_", "XDG_")) or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    for name in ("CONFIG", "DATA", "CACHE"):
        monkeypatch.setenv(f"HARNESS_{name}_DIR", str(home / name.lower()))
    work = home / "work"
    work.mkdir()
    monkeypatch.chdir(work)


@pytest.fixture
def renew(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--renew"))


@pytest.fixture(scope="session")
def repository() -> Path:
    return Path(__file__).parent.parent
