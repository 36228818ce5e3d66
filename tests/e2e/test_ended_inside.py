"""Code of a bench that ends the process of the tester: whatever status it gives, the command never has status 0."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.command import recorded
from tests.e2e.entities import SECONDS
from tests.e2e.tester import readable, started

pytestmark = pytest.mark.real

BENCH = """
import atexit
import ctypes
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass

from otf import Bench, Spec, goto


@dataclass(frozen=True)
class Go: ...


@dataclass(frozen=True)
class Done: ...


def later():
    for thread in [threading.Timer(0.05, os._exit, (0,))]:
        thread.start()
        thread.join()


breakpoints = [breakpoint]
ENDS = {
    "_exit": lambda: os._exit(0),
    "fails": lambda: os._exit(1),
    "exit of C": lambda: ctypes.CDLL(None).exit(0),
    "exec": lambda: os.execvp("true", ["true"]),
    "timer": later,
    "parent after a fork": lambda: os.fork() and os._exit(0),
    "fork": os.fork,
    "closed": lambda: (os.closerange(0, 100), os._exit(0)),
    "abort": os.abort,
    "segv": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "debug": lambda: breakpoints and breakpoints.pop()(),
    "hang": lambda: (print("hangs", flush=True), time.sleep(600)),
}


def bench(how: str = "_exit", place: str = "system", broken: bool = False):
    def here(at):
        if at == place:
            ENDS[how]()

    def step(count, inp):
        here("model")
        yield goto((count + 1) % 3, *([] if broken else [Done()]))

    def system():
        def act(inp):
            here("system")
            return [Done()]
        here("start")
        return act

    if place == "atexit":
        atexit.register(ENDS[how])
    here("bench")
    return Bench.in_process(Spec(step, initial=0, inputs=[Go()]), system, types=(Done,))
"""
SAYS = "was ended from inside with status "


def end(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    (folder / "ends.py").write_text(BENCH, encoding="utf-8")
    with started(folder, *arguments) as running:
        out, err = running.process.communicate(timeout=SECONDS)
    return subprocess.CompletedProcess((), running.process.returncode, out, err)


def options(**sets: str) -> list[str]:
    """Return parameters of the bench, as options."""
    return [word for key, value in sets.items() for word in ("--set", f"{key}={value}")]


@pytest.mark.parametrize("how", ["_exit", "fails", "exit of C", "exec", "timer", "parent after a fork", "closed"])
def test_a_system_that_ends_the_tester(folder: Path, how: str) -> None:
    """Whichever way it takes and whatever status it gives: nothing is decided, and a sentence says so."""
    done = end(folder, "run", "ends.py", "--out", "out", *options(how=how))
    assert (done.returncode, SAYS in done.stderr) == (3, True)
    assert "PASS" not in done.stdout


def test_a_system_that_forks(folder: Path) -> None:
    """A copy that comes back into the tester ends there, and writes nothing into the trace of the path."""
    done = end(folder, "run", "ends.py", "--traces", 1, "--steps", 3, "--out", "out", *options(how="fork"))
    assert (done.returncode, done.stderr.count("did not end the copy") >= 3) == (0, True)
    trace = recorded(folder / "out" / "path-0001.jsonl")
    assert len([line for line in trace if line["event"] in {"sent", "seen", "end"}]) == 7


@pytest.mark.parametrize("place", ["model", "start", "bench"])
def test_anything_else_that_ends_it(folder: Path, place: str) -> None:
    """The model, what makes a system and the file of a bench can no more than the system."""
    assert end(folder, "run", "ends.py", *options(place=place)).returncode == 3


@pytest.mark.parametrize("command", ["check", "explore", "suite", "mutants", "step"])
def test_any_command_that_loads_a_bench(folder: Path, command: str) -> None:
    """It is judged from outside like `run`."""
    done = end(folder, command, "ends.py", *options(place="bench"))
    assert (done.returncode, SAYS in done.stderr) == (3, True)


@pytest.mark.parametrize("command", ["replay", "rerun", "shrink", "show"])
def test_any_command_that_reads_a_trace(folder: Path, command: str) -> None:
    """So is one that loads the bench of a trace."""
    assert end(folder, "run", "ends.py", "--traces", 1, "--out", "out", *options(place="never")).returncode == 0
    trace = folder / "out" / "path-0001.jsonl"
    done = end(folder, command, trace, "--bench", "ends.py", *options(place="bench"))
    assert (done.returncode, SAYS in done.stderr) == (3, True)


@pytest.mark.parametrize(("broken", "status", "headline"), [("false", 3, "PASS"), ("true", 1, "FAIL")])
def test_a_handler_at_the_exit(folder: Path, broken: str, status: int, headline: str) -> None:
    """One that ends the process turns no failure into a pass, and what ended so did not end well."""
    done = end(folder, "run", "ends.py", *options(place="atexit", broken=broken))
    assert headline in done.stdout
    assert (done.returncode, SAYS in done.stderr) == (status, True)


def test_one_document(folder: Path) -> None:
    """With `--json` the sentence is the document, unless there is one already."""
    killed = json.loads(end(folder, "run", "ends.py", "--json").stdout)
    assert (killed["verdict"], SAYS in killed["error"]) == ("error", True)
    assert json.loads(end(folder, "run", "ends.py", "--json", *options(place="atexit")).stdout)["verdict"] == "pass"


@pytest.mark.parametrize(("how", "number"), [("abort", signal.SIGABRT), ("segv", signal.SIGSEGV)])
def test_a_crash(folder: Path, how: str, number: signal.Signals) -> None:
    """The command dies of the signal, as if it had run alone, and tells which."""
    done = end(folder, "run", "ends.py", *options(how=how))
    assert (done.returncode, f"the command was killed by {number.name}" in done.stderr) == (-number, True)


def hanging(folder: Path) -> list[object]:
    """Return a command whose system hangs."""
    (folder / "ends.py").write_text(BENCH, encoding="utf-8")
    return ["run", "ends.py", "--out", "out", *options(how="hang")]


def child(pid: int) -> int:
    """Return the process in which a command works."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()[0])


def wait_for(pid: int, states: str) -> None:
    """Wait until a process is in one of these states of the kernel; X is one that has gone."""
    until, stat = time.monotonic() + SECONDS, Path(f"/proc/{pid}/stat")
    while (stat.read_text(encoding="utf-8").rpartition(") ")[2][0] if stat.exists() else "X") not in states:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_who_kills_the_command_kills_its_work(folder: Path) -> None:
    """Nothing goes on after kill -9."""
    with started(folder, *hanging(folder)) as running:
        assert running.process.stdout is not None
        assert running.process.stdout.readline() == "hangs\n"
        work = child(running.process.pid)
        running.process.kill()
        wait_for(work, "XZ")


def test_it_can_be_halted(folder: Path) -> None:
    """SIGTSTP halts the work with the command, SIGCONT lets both go on, and SIGTERM still ends it."""
    with started(folder, *hanging(folder)) as running:
        assert running.process.stdout is not None
        assert running.process.stdout.readline() == "hangs\n"
        both = running.process.pid, child(running.process.pid)
        running.process.send_signal(signal.SIGTSTP)
        wait_for(both[1], "T")
        running.process.send_signal(signal.SIGCONT)
        wait_for(both[1], "RS")
        running.ends(signal.SIGTERM, status=143)


LOSES = """
import signal
import sys
import time

from otf import supervisor

came = []


def end(number, frame):
    came.append(number)
    if len(came) > 2:  # the first ones are lost
        supervisor.hear()
        supervisor.decide(3)
        supervisor.sign()
        sys.exit(3)


BEGIN
supervisor.supervise("the program", hears=True)
signal.signal(signal.SIGTERM, end)
print("hangs", flush=True)
while True:
    time.sleep(600)
"""


LATE = """
follow = supervisor._Parent.follow


def follow_late(self, child, *, hears):
    time.sleep(0.5)
    follow(self, child, hears=hears)


supervisor._Parent.follow = follow_late
"""


@pytest.mark.parametrize("begin", ["", LATE], ids=["", "before the parent waits for signals"])
def test_a_signal_that_is_lost(folder: Path, begin: str) -> None:
    """What was to end a program, and did not reach its handler, is sent again until it does."""
    (folder / "loses.py").write_text(LOSES.replace("BEGIN", begin), encoding="utf-8")
    with subprocess.Popen([sys.executable, "loses.py"], cwd=folder, stdout=subprocess.PIPE, text=True) as program:
        try:
            assert program.stdout is not None
            assert program.stdout.readline() == "hangs\n"
            program.send_signal(signal.SIGTERM)
            assert program.wait(SECONDS) == 3
        finally:
            program.kill()


def test_where_no_file_can_be_opened_any_more(folder: Path) -> None:
    """A module that the end needs may not load then: that is no failure of the system, whose status is 1."""
    (folder / "ends.py").write_text(
        "import os, sys\nfrom otf import supervisor\nsys.modules.update(resource=None, json=None)\n"
        "supervisor.supervise('the program', as_json=True)\nos._exit(1)\n",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, "ends.py"], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, SAYS + "1" in done.stderr) == (3, True), done.stderr


class Terminal:
    """A command that has a terminal of its own."""

    def __init__(self, *arguments: object) -> None:
        self.pid, self.end = pty.fork()
        if self.pid == 0:
            os.execv(sys.executable, [sys.executable, "-m", "otf", *map(str, arguments)])  # noqa: S606 -- the tester

    def shows(self, what: bytes) -> bytes:
        """Return what it shows until something comes."""
        shown, until = b"", time.monotonic() + SECONDS
        while what not in shown and time.monotonic() < until and readable(self.end):
            try:
                shown += os.read(self.end, 65536)
            except OSError:  # the command has ended
                break
        return shown

    def status(self) -> int:
        """Return the exit status."""
        self.shows(b"\0")
        os.close(self.end)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_ctrl_c_on_a_terminal(folder: Path) -> None:
    """It interrupts the command once."""
    terminal = Terminal(*hanging(folder))
    terminal.shows(b"hangs")
    os.write(terminal.end, b"\x03")
    assert b"INTERRUPTED" in terminal.shows(b"report:")
    assert terminal.status() == 130


def test_a_terminal_that_goes_away(folder: Path) -> None:
    """Its end reaches the work, which can tell nobody: the status is that of SIGHUP."""
    terminal = Terminal(*hanging(folder))
    terminal.shows(b"hangs")
    os.close(terminal.end)
    assert os.waitstatus_to_exitcode(os.waitpid(terminal.pid, 0)[1]) == 129


def test_a_debugger(folder: Path) -> None:
    """`breakpoint()` in a system takes its commands from standard input."""
    (folder / "ends.py").write_text(BENCH, encoding="utf-8")
    with started(folder, "run", "ends.py", "--traces", 1, "--steps", 1, *options(how="debug")) as running:
        shown, _ = running.process.communicate("p 6 * 7\nc\n", timeout=SECONDS)
    assert ("42" in shown, running.process.returncode) == (True, 0)
