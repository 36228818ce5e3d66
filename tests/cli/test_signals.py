"""Work that is not interrupted: what it returns and raises comes out as it is."""

import gc
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

import pytest

from otf.cli.signals import Done, Signals, interruptible
from otf.errors import ModelError


def test_a_value_comes_out() -> None:
    """Work that ends returns its value, and the command has the status that it wants."""

    async def work() -> str:
        return "done"

    done = interruptible(work)
    assert done == Done("done", 0)
    assert done.status(3) == 3
    assert Done(None, 15).status(3) == 143


def test_an_error_comes_out_alone() -> None:
    """Errors of tasks come in groups, and those in groups again; a message that says what to do must not hide there."""

    async def work() -> None:
        one = BaseExceptionGroup("tasks", [ModelError("the model raised")])
        raise BaseExceptionGroup("tasks", [one, KeyError("another")])

    with pytest.raises(ModelError, match="the model raised"):
        interruptible(work)


def test_a_signal_between_two_works_stops_the_second() -> None:
    """A signal after the first result was reported, while the next event loop starts, is not lost."""
    signals, stopped = Signals(), list[str]()
    with signals.stopping(lambda: stopped.append("first")):
        pass
    signals.handle(signal.SIGINT)
    with signals.stopping(lambda: stopped.append("second")):
        signals.reached()
    assert stopped == ["second"]


def test_the_first_of_two_signals_that_come_at_once_counts() -> None:
    """A second signal interrupts the handler of the first before its first line: the status is still of the first."""
    signals, told = Signals(), list[int]()

    def at_its_first_line(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_qualname == "Signals._ending" and not told:
            told.append(signal.SIGTERM)
            signal.raise_signal(signal.SIGTERM)

    with _as_before(), signals.stopping(lambda: None):
        signals.install()
        sys.settrace(at_its_first_line)
        signal.raise_signal(signal.SIGINT)
    assert (told, signals.number) == ([signal.SIGTERM], signal.SIGINT)


@contextmanager
def _as_before() -> Generator[None]:
    """Give handlers of signals and the trace function back."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
    handlers, trace = [signal.getsignal(number) for number in numbers], sys.gettrace()
    try:
        yield
    finally:
        sys.settrace(trace)
        for number, handler in zip(numbers, handlers, strict=True):
            signal.signal(number, handler)
        gc.enable()


ENDING = """
import atexit, gc, os, signal, sys
import otf.cli
from otf.cli.signals import SIGNALS

class Remembered:
    def __del__(self):
        sys.stdout.write("freed ")

def called(arguments):
    SIGNALS.reporting()
    os.kill(os.getpid(), signal.SIGTERM)
    sys.stdout.write("searched " if gc.isenabled() else "reported ")
    return 143

atexit.register(sys.stdout.write, "at exit ")
remembered, otf.cli.called = Remembered(), called
otf.cli.main()
"""


def test_after_a_signal_nothing_is_freed_one_by_one() -> None:
    """What a long run remembers takes seconds to search for garbage and to free: after a signal neither is done."""
    done = subprocess.run([sys.executable, "-c", ENDING], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (143, "reported at exit ", "")


def test_what_cannot_be_written_after_a_signal() -> None:
    """Where standard output is closed, the interpreter reports it as after any command."""
    with subprocess.Popen([sys.executable, "-c", ENDING], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdout.close()
        assert b"Broken pipe" in child.stderr.read()
    assert child.returncode != 0


def test_the_time_of_a_command_counts_from_its_start() -> None:
    """Python's own start counts, but not what a shell did before it became the command; otherwise there is none."""
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    main = "import otf.cli as c; c.called = lambda _: print(c.SIGNALS.spent) or 0; print(c.SIGNALS.spent); c.main()"
    script = f"sleep 0.3; date +%s.%N; exec '{sys.executable}' -c '{busy}\n{main}\n'"
    done = subprocess.run(["/bin/sh", "-c", script], check=True, capture_output=True, text=True)
    passed = time.time()
    began, before, spent = map(float, done.stdout.split())
    assert before == 0.0
    assert 0.3 <= spent <= passed - began
