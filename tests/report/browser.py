"""Chromium without a window, as far as the tests of the page need it: open a file, ask it, look at its console."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from base64 import b64decode
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from tests.debian import browser_program

CHROMIUM = browser_program()
WAIT = 60.0
"""Seconds in which the browser answers, also on a busy machine: a test fails then, instead of hanging."""
OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
ARROWS = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36, **ARROWS}
# the browser wants its pipe at the descriptors 3 and 4, which may be anything here
PLACED = """
import os, sys
from fcntl import F_DUPFD, fcntl
to, come = (fcntl(int(each), F_DUPFD, 10) for each in sys.argv[1:3])
os.dup2(to, 3)
os.dup2(come, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """One page in a browser, spoken to over its debugging pipe: JSON with a zero byte after each message."""

    def __init__(self, to: BinaryIO, come: BinaryIO) -> None:
        self._to, self._come = to, come
        self._number = 0
        self._rest = b""
        self._session: str | None = None
        self.console: list[str] = []
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: object) -> Any:  # noqa: ANN401 -- JSON
        """Give a command and return its result; what else is told meanwhile is noted."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        message |= {} if self._session is None else {"sessionId": self._session}
        self._to.write(json.dumps(message).encode() + b"\0")
        self._to.flush()
        while (answer := self._next()).get("id") != self._number:
            self._note(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def open(self, page: Path, fragment: str = "", drawn: str = "true") -> float:
        """Open a file, wait until it is loaded and `drawn` is true, and return how many seconds that took."""
        self.call("Page.navigate", url="about:blank")
        self.console.clear()
        self.requests.clear()
        began = time.monotonic()
        self.call("Page.navigate", url=page.as_uri() + fragment)
        self.until(f"document.readyState === 'complete' && ({drawn})")
        self.ask("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return time.monotonic() - began

    def until(self, expression: str) -> None:
        """Wait until an expression is true in the page, for as long as the browser may take."""
        late = time.monotonic() + WAIT
        while not self.ask(f"Boolean({expression})"):
            assert time.monotonic() < late, (expression, self.console)
            time.sleep(0.01)

    def ask(self, expression: str) -> Any:  # noqa: ANN401 -- JSON
        """Return what a JavaScript expression is in the page."""
        found = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def size(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """Give the window another size, and the theme that the user prefers."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[theme])

    def key(self, name: str) -> None:
        """Press a key."""
        code = KEYS.get(name) or ord(name.upper())
        text = {"text": "\r"} if name == "Enter" else {"text": name} if len(name) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, code=name, windowsVirtualKeyCode=code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, code=name, windowsVirtualKeyCode=code)

    def picture(self, file: Path, width: int, height: int, top: float = 0) -> None:
        """Take a picture of the page, from `top` downwards."""
        clip = {"x": 0, "y": top, "width": width, "height": height, "scale": 1}
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        file.write_bytes(b64decode(shot["data"]))

    def _next(self) -> Any:  # noqa: ANN401 -- JSON
        while b"\0" not in self._rest:
            if not select.select([self._come], [], [], WAIT)[0]:
                raise TimeoutError(f"the browser was silent for {WAIT:g} s")
            data = os.read(self._come.fileno(), 1 << 16)
            if not data:
                raise ConnectionResetError("the browser has ended")
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _note(self, message: Any) -> None:  # noqa: ANN401 -- JSON
        match message:
            case {"method": "Runtime.exceptionThrown" | "Runtime.consoleAPICalled", "params": said}:
                self.console.append(json.dumps(said))
            case {"method": "Log.entryAdded", "params": {"entry": {"text": text}}}:
                self.console.append(text)
            case {"method": "Network.requestWillBeSent", "params": {"request": {"url": url}}}:
                self.requests.append(url)
            case _:
                pass


@contextmanager
def browser(profile: Path) -> Generator[Browser]:
    """Start a browser with a profile of its own, and stop it; skip the test if no browser starts on this machine."""
    assert CHROMIUM is not None
    to_read, to_write = os.pipe()
    come_read, come_write = os.pipe()
    options = [*OPTIONS, f"--user-data-dir={profile}", "--remote-debugging-pipe"]
    command = [sys.executable, "-c", PLACED, str(to_read), str(come_write), CHROMIUM, *options]
    null = subprocess.DEVNULL
    child = subprocess.Popen(command, pass_fds=(to_read, come_write), start_new_session=True, stdout=null, stderr=null)
    os.close(to_read)
    os.close(come_write)
    with os.fdopen(to_write, "wb") as to, os.fdopen(come_read, "rb") as come:
        try:
            yield _started(to, come)
        finally:
            _stop(child)


def _started(to: BinaryIO, come: BinaryIO) -> Browser:
    # an empty page says nothing about otf: a container may forbid what a browser needs
    try:
        return Browser(to, come)
    except OSError as problem:
        pytest.skip(f"Chromium does not start: {problem}")


def _stop(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)  # it leads a session of its own, with all its helpers
        child.wait(10)
