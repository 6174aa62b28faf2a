"""A real Chromium, spoken to over its debugging pipe: a page is opened, keys are pressed, a script is asked."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PROGRAM = next((found for name in NAMES if (found := shutil.which(name))), None)
NEEDS_BROWSER = (
    pytest.mark.skipif(PROGRAM is None, reason="no Chromium on this machine (apt-get install chromium)"),
    pytest.mark.real,
)
# The pipe is on 3 and 4, whichever numbers ours have.
_ON_PIPE = 'exec "$0" "$@" 3<&{} 4>&{}'
_FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run", "about:blank")


class Browser:
    """`events`: what the page reported since it was opened."""

    def __init__(self, into: int, out: int) -> None:
        self._into, self._out = os.fdopen(into, "wb", buffering=0), os.fdopen(out, "rb")
        self._number = 0
        self.events: list[dict[str, Any]] = []
        targets = self.call("Target.getTargets", session="")["targetInfos"]
        page = next(one["targetId"] for one in targets if one["type"] == "page")
        self._session = self.call("Target.attachToTarget", session="", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, session: str | None = None, **parameters: object) -> dict[str, Any]:
        self._number += 1
        told: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if session is None:
            told["sessionId"] = self._session
        self._into.write(json.dumps(told).encode() + b"\0")
        while (message := self._next()).get("id") != self._number:
            self.events.append(message)
        assert "error" not in message, message
        found = message["result"]
        assert isinstance(found, dict)
        return found

    def _next(self) -> dict[str, Any]:
        found = bytearray()
        while (one := self._out.read(1)) != b"\0":
            assert one, "the browser went away"
            found += one
        message = json.loads(found)
        assert isinstance(message, dict)
        return message

    def open(self, path: Path) -> None:
        self.events.clear()
        self.call("Page.navigate", url=path.absolute().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def ask(self, script: str) -> Any:
        """The value of an expression. Errors of it are the test's own."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def press(self, key: str, code: int) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def picture(self, path: Path, *, dark: bool) -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self) -> None:
        self._into.close()
        self._out.close()

    def faults(self) -> list[dict[str, Any]]:
        """Console messages, exceptions, refusals by the policy, dialogs."""
        names = (
            "Runtime.consoleAPICalled",
            "Runtime.exceptionThrown",
            "Log.entryAdded",
            "Page.javascriptDialogOpening",
        )
        return [event for event in self.events if event.get("method") in names]

    def requests(self) -> list[str]:
        """All but the page itself and what stands in it."""
        sent = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        urls = [event["params"]["request"]["url"] for event in sent if event["params"]["type"] != "Document"]
        return [url for url in urls if not url.startswith("data:")]


@contextmanager
def browsing(profile: Path) -> Iterator[Browser]:
    assert PROGRAM
    (read_ours, write_ours), (read_its, write_its) = os.pipe(), os.pipe()
    command = ["/bin/bash", "-c", _ON_PIPE.format(read_ours, write_its), PROGRAM, f"--user-data-dir={profile}", *_FLAGS]
    with subprocess.Popen(command, pass_fds=(read_ours, write_its), stderr=subprocess.DEVNULL) as process:
        os.close(read_ours)
        os.close(write_its)
        browser = Browser(write_ours, read_its)
        try:
            yield browser
        finally:
            browser.close()
            process.terminate()
