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

from otf.cli.tools.commands import NewCommand
from otf.cli.tools.new import ask_wishes
from otf.cli.tools.starters import FRAMINGS, KINDS, STREAMS, bench_text
from otf.errors import UsageError
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
    assert ("seen HttpResponse(status=204)" if kind == "http" else "Level(number=0)") in broken.out
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
    hides = "queue: a file queue.py would hide Python's module of that name; choose another: otf new my_queue"
    assert hides in failed("new", "queue.py")
    assert "--kind seriall: did you mean serial? the kinds are udp, tcp, serial" in failed(
        "new", "lamp", "--kind", "seriall"
    )
    assert "--kind x: the kinds are udp" in failed("new", "lamp", "--kind", "x")
    assert "--framing slib: did you mean slip? " in failed("new", "lamp", "--framing", "slib")
    assert "only a stream needs one (tcp, serial, process), not udp" in failed(
        "new", "lamp", "--kind", "udp", "--framing", "slip"
    )
    assert "name the system: otf new my_system" in failed("new")
    assert "lamp.log: it cannot be read (No such file or directory); --from names a capture or a log" in failed(
        "new", "lamp", "--from", "lamp.log"
    )
    (folder / "gone").mkdir()
    monkeypatch.chdir(folder / "gone")
    (folder / "gone").rmdir()
    assert "lamp.py: it cannot be written" in failed("new", "lamp")


def test_a_draft_takes_no_framing(folder: Path) -> None:
    """It was ignored, and the draft spoke with other line ends than asked for."""
    (folder / "some.log").write_text("> on\n< OK\n", encoding="utf-8")
    told = failed("new", "lamp", "--from", "some.log", "--framing", "crlf")
    assert "--framing crlf: a draft from a recording has the framing of the recording; leave --framing out" in told


@pytest.mark.parametrize("framing", list(FRAMINGS)[1:])
@pytest.mark.parametrize("kind", STREAMS)
def test_each_stream_has_each_framing(kind: str, framing: str, folder: Path) -> None:
    """The file can be imported, and opens its port with the framing."""
    assert FRAMINGS[framing] in bench_text(kind, "lamp", "lamp.py", framing)
    otf("new", "lamp", "--kind", kind, "--framing", framing)
    assert otf("explore", "lamp.py").status == 0
    assert (folder / "lamp.py").is_file()


def answering(*answers: str) -> Callable[[str], str]:
    """A person who gives these answers, and then goes away."""
    left = list(answers)

    def ask(question: str) -> str:
        assert question.endswith((" ", ": "))
        if not left:
            raise EOFError
        return left.pop(0)

    return ask


@pytest.mark.usefixtures("folder")
def test_it_asks() -> None:
    """An answer may be the default, or be wrong at first; with a recording there are fewer questions."""
    assert ask_wishes(answering("lamp", "", "serial", "crlf", "/dev/ttyUSB0")) == NewCommand(
        name="lamp", kind="serial", framing="crlf", url="/dev/ttyUSB0"
    )
    assert ask_wishes(answering("", "", "", "", "")) == NewCommand(name="my_system")
    assert ask_wishes(answering("../x", "lamp", "gone.log", "", "cereal", "object")) == NewCommand(
        name="lamp", kind="object"
    )
    Path("lamp.log").write_text("> ask\n< level 0\n", encoding="utf-8")
    assert ask_wishes(answering("lamp", "lamp.log", "")) == NewCommand(name="lamp", source="lamp.log")
    for answers in (("lamp", "", "x", "y", "z"), ("lamp",)):
        with pytest.raises(UsageError, match="otf new NAME --kind KIND asks none"):
            ask_wishes(answering(*answers))


@pytest.mark.usefixtures("folder")
def test_an_address_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a terminal it asks; the address that was given is part of the last line, ready to be typed."""
    monkeypatch.setattr("otf.cli.tools.new._asks", lambda: True)
    done = otf("new", stdin=b"lamp\n\nprocess\n\n./lamp --quiet\n")
    assert done.out.splitlines()[-1] == "  your own system:   otf run lamp.py --set program='./lamp --quiet'"


@pytest.mark.real
def test_a_recording_becomes_a_bench(folder: Path) -> None:
    """A draft from a log runs against a program, and fails against a wrong one."""
    (folder / "lamp.log").write_text("> up\n> ask\n< level 1\n> down\n> ask\n< level 0\n", encoding="utf-8")
    otf("new", "lamp", "--kind", "process")
    program = f"{sys.executable} lamp.py"
    done = otf("new", "drafted", "--from", "lamp.log", "--url", f"exec:{program}")
    assert done.out.splitlines()[0] == f"drafted.py: a draft of exec:{program}; kinds of messages: 3 in, 1 out"
    text = (folder / "drafted.py").read_text(encoding="utf-8")
    (folder / "drafted.py").write_text(text.replace("ready=None", 'ready="ready"'), encoding="utf-8")
    assert otf("run", "drafted.py", *STEPS).status == 0
    dumb = f"{sys.executable} -c 'print(\"ready\", flush=True); input()'"
    assert otf("run", "drafted.py", *STEPS, "--set", f"url=exec:{dumb}", "--stop-first", "--no-shrink").status == 1
