"""`otf new`: a bench that runs at once, and tests a real system when it gets its address."""

from __future__ import annotations

import importlib.util
import os
import socket
import socketserver
import subprocess
import sys
import threading
import tty
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from otf.cli.new import KINDS
from tests.cli.command import failed, otf

STEPS = ("--seed", 1, "--traces", 3, "--steps", 12)


@pytest.mark.real
@pytest.mark.parametrize("kind", KINDS)
def test_it_runs_at_once(kind: str, folder: Path) -> None:
    """The simulated system passes, and with its fault it fails: nothing has to be edited first."""
    done = otf("new", "lamp", "--kind", kind)
    assert (done.status, done.out.splitlines()[1]) == (0, "  run it:            otf run lamp.py")
    assert otf("run", "lamp.py", *STEPS).status == 0
    broken = otf("run", "lamp.py", *STEPS, "--set", "broken=true", "--stop-first", "--no-shrink")
    assert broken.status == 1
    assert "Level(number=0)" in broken.out
    assert (folder / "lamp.py").read_text(encoding="utf-8").startswith('"""lamp: a lamp with a dimmer, ')


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_well_written(kind: str, folder: Path) -> None:
    """What a beginner starts from has no remark from the linter, no line too long and no placeholder left."""
    otf("new", "lamp", "--kind", kind)
    text = (folder / "lamp.py").read_text(encoding="utf-8")
    assert "$" not in text
    assert max(map(len, text.splitlines())) <= 120
    rules = ["--isolated", "--select", "E,F,I,UP,B,SIM", "--line-length", "120", "--target-version", "py311"]
    done = subprocess.run(
        [Path(sys.executable).with_name("ruff"), "check", *rules, "lamp.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "All checks passed!\n"


def lamp() -> Callable[[bytes], bytes | None]:
    """Make the lamp of the file, which is here behind a real port."""
    spec = importlib.util.spec_from_file_location("lamp", "lamp.py")
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules["lamp"] = module
    spec.loader.exec_module(module)
    take: Callable[[bytes], bytes | None] = module.Lamp(broken=False).take
    return take


@contextmanager
def tcp() -> Generator[str]:
    """Serve a fresh lamp on each connection."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            take = lamp()
            for line in self.rfile:
                answer = take(line.strip())
                if answer is not None:
                    self.wfile.write(answer + b"\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"tcp://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@contextmanager
def udp() -> Generator[str]:
    """Serve a lamp that a new peer finds dark."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def serve() -> None:
            lamps: dict[Any, Callable[[bytes], bytes | None]] = {}
            while (received := server.recvfrom(100))[0]:
                line, peer = received
                answer = lamps.setdefault(peer, lamp())(line)
                if answer is not None:
                    server.sendto(answer, peer)

        thread = threading.Thread(target=serve)
        thread.start()
        host, port = server.getsockname()
        yield f"udp://{host}:{port}"
        server.sendto(b"", (host, port))
        thread.join()


@contextmanager
def serial() -> Generator[str]:
    """Serve a lamp on the other side of a terminal, which stands for a serial line."""
    ours, theirs = os.openpty()
    tty.setraw(theirs)

    def serve() -> None:
        take, rest = lamp(), b""
        while b"end" not in (rest := rest + os.read(ours, 100)):
            *lines, rest = rest.split(b"\n")
            for answer in filter(None, map(take, lines)):
                os.write(ours, answer + b"\n")

    thread = threading.Thread(target=serve)
    thread.start()
    yield os.ttyname(theirs)
    os.write(theirs, b"end")
    thread.join()
    os.close(ours)
    os.close(theirs)


@pytest.mark.real
@pytest.mark.parametrize("serving", [tcp, udp, serial])
def test_it_tests_a_real_system(serving: Callable[[], Any], folder: Path) -> None:
    """The same file, with nothing but an address: a lamp behind a real port passes as well."""
    otf("new", "lamp", "--kind", serving.__name__)
    assert (folder / "lamp.py").is_file()
    with serving() as url:
        done = otf("run", "lamp.py", "--seed", 1, "--traces", 1, "--steps", 8, "--set", f"url={url}", "--json")
    assert (done.data["verdict"], done.data["steps"]) == ("pass", 8)


def test_what_is_there_stays(folder: Path) -> None:
    """A file is never overwritten."""
    (folder / "lamp.py").write_text("mine", encoding="utf-8")
    assert "lamp.py: this file exists already and is not changed" in failed("new", "lamp.py")
    assert (folder / "lamp.py").read_text(encoding="utf-8") == "mine"


def test_what_cannot_be_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An impossible name, an unknown kind, and a folder that cannot be written are errors."""
    assert "the name of a Python file has letters, digits and underscores" in failed("new", "../lamp")
    assert "--kind seriall: did you mean serial? the kinds are udp, tcp, serial" in failed(
        "new", "lamp", "--kind", "seriall"
    )
    assert "--kind x: the kinds are udp" in failed("new", "lamp", "--kind", "x")
    (folder / "gone").mkdir()
    monkeypatch.chdir(folder / "gone")
    (folder / "gone").rmdir()
    assert "lamp.py: it cannot be written" in failed("new", "lamp")
