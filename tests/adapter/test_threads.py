"""A thread or task of a system in this process that dies of an exception has ended the system; no other has."""

from __future__ import annotations

import _thread
import asyncio
import ctypes
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from otf import Bench, InconclusiveError, NonconformanceError, Spec, Summary, Transition, goto, lines, run
from otf.adapter import Life
from otf.adapter.threads import ThreadWatch
from otf.adapters import inprocess
from otf.trace import Ended


@dataclass(frozen=True)
class Go: ...


@dataclass(frozen=True)
class Done: ...


def breaks(*_: object) -> int:
    """Die."""
    raise ValueError("it broke")


async def breaks_later() -> None:
    """The same as a task."""
    breaks()


def threaded(function: Callable[..., object] = breaks) -> None:
    """Run it in a thread, to its end."""
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def timed() -> None:
    """Run it in a timer."""
    timer = threading.Timer(0.01, breaks)
    timer.start()
    timer.join()


def raw() -> None:
    """Run it in a thread of the lowest kind."""
    _thread.start_new_thread(breaks, ())
    time.sleep(0.05)


def looped() -> None:
    """Run it as a task of an event loop of the system's own."""

    async def serve() -> None:
        task = asyncio.create_task(breaks_later())
        await asyncio.sleep(0.01)
        del task

    asyncio.run(serve())


def called_back() -> None:
    """Run it as a callback of a library in C."""
    numbers = (ctypes.c_int * 2)(1, 2)
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(breaks)
    ctypes.CDLL(None).qsort(numbers, 2, 4, compare)


DEATHS: Mapping[str, Callable[[], object]] = {
    "thread": threaded,
    "timer": timed,
    "thread of a thread": lambda: threaded(threaded),
    "raw thread": raw,
    "task of its own loop": lambda: threaded(looped),
    "callback of C": called_back,
    "task": lambda: keep(asyncio.get_running_loop().create_task(breaks_later())),
    "callback": lambda: keep(asyncio.get_running_loop().call_soon(breaks)),
    "step": breaks,
}
ALIVE: Mapping[str, Callable[[], object]] = {
    "thread that returns": lambda: threaded(list),
    "thread that exits": lambda: threaded(sys.exit),
    "task": lambda: keep(asyncio.get_running_loop().create_task(asyncio.sleep(0))),
}


def keep(_: object) -> None:
    """Return nothing."""


def system(act: Callable[[], object], at: int = 3) -> Callable[[], Callable[[object], list[Done]]]:
    """What makes a system that does something at one of its steps."""

    def make() -> Callable[[object], list[Done]]:
        count = 0

        def step(_inp: object) -> list[Done]:
            nonlocal count
            count += 1
            if count == at:
                act()
            return [Done()]

        return step

    return make


def step(count: int, _inp: Go) -> Generator[Transition[int]]:
    """Answer to each input."""
    yield goto((count + 1) % 5, Done())


SPEC = Spec(step, initial=0, inputs=[Go()])
CODEC = lines({Go: "go", Done: "done"})


def of_object(act: Callable[[], object]) -> Bench:
    """The bench of a Python object."""
    return Bench.in_process(SPEC, system(act), types=(Done,))


def of_function(act: Callable[[], object]) -> Bench:
    """The bench of a function behind a port."""

    def make() -> Callable[[bytes], bytes]:
        take = system(act)()
        return lambda data: (take(data), b"done")[1]

    return Bench(SPEC, ports={"line": inprocess(make)}, codec=CODEC, quiescence=0.01, latency=0.01, busy=0.01)


BENCHES = pytest.mark.parametrize("bench", [of_object, of_function])


def driven(bench: Bench, folder: Path) -> Summary:
    """Drive it along one path."""
    return run(bench, traces=1, steps=6, seed=1, out=folder, shrink=False)


@BENCHES
@pytest.mark.parametrize("how", DEATHS)
def test_a_death_is_an_end(bench: Callable[[Callable[[], object]], Bench], how: str, tmp_path: Path) -> None:
    """However a thread, a task or a callback dies of an exception, the system ends, at a line of its own code."""
    with pytest.raises(NonconformanceError) as raised:
        driven(bench(DEATHS[how]), tmp_path)
    assert "the port ended: raised ValueError: it broke" in str(raised.value)
    line = breaks.__code__.co_firstlineno + 2
    assert f'File "{__file__}", line {line}, in breaks' in str(raised.value)


@BENCHES
@pytest.mark.parametrize("how", ALIVE)
def test_an_end_without_an_exception(bench: Callable[[Callable[[], object]], Bench], how: str, tmp_path: Path) -> None:
    """A thread or task that has done its work raises no alarm."""
    assert driven(bench(ALIVE[how]), tmp_path).steps == 6


@BENCHES
def test_others(bench: Callable[[Callable[[], object]], Bench], tmp_path: Path) -> None:
    """The death of a thread that the system did not start is Python's to tell, also if it comes amid a path."""
    go, gone, told = threading.Event(), threading.Event(), list[object]()

    def tell(_: object) -> None:
        told.append(sys.exc_info()[1])

    def dies() -> None:
        go.wait()
        breaks()

    def wait() -> None:
        go.set()
        other.join()
        gone.set()

    other = threading.Thread(target=dies)
    other.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading, "excepthook", tell)
        assert driven(bench(wait), tmp_path).steps == 6
    assert (gone.is_set(), len(told)) == (True, 1)


def test_a_death_after_the_last_step(tmp_path: Path) -> None:
    """It is the end, too, and the trace has it."""
    last = system(lambda: keep(asyncio.get_running_loop().call_soon(breaks)), at=6)
    with pytest.raises(NonconformanceError, match="raised ValueError: it broke") as raised:
        driven(Bench.in_process(SPEC, last, types=(Done,)), tmp_path)
    assert raised.value.summary.steps == 6
    assert b"raised ValueError: it broke" in (tmp_path / "path-0001.jsonl").read_bytes()


def test_a_model_may_allow_it(tmp_path: Path) -> None:
    """It is an output like the end of any port."""

    def mortal(count: int, _inp: Go) -> Generator[Transition[int]]:
        yield goto(count + 1, Ended("raised ValueError: it broke") if count == 2 else Done())

    bench = Bench.in_process(Spec(mortal, initial=0, inputs=[Go()]), system(threaded), types=(Done,))
    assert run(bench, traces=1, steps=3, seed=1, out=tmp_path).steps == 3


def test_a_thread_of_a_hook(tmp_path: Path) -> None:
    """It may be a part of the system or of what leads to it: nothing is decided."""

    async def start() -> None:
        threaded()

    ports = {"line": inprocess(lambda: lambda _: b"done")}
    bench = Bench(SPEC, ports=ports, codec=CODEC, life=Life(reset=start), quiescence=0.01, latency=0.01, busy=0.01)
    with pytest.raises(InconclusiveError, match=r"that the bench started died .* ValueError: it broke"):
        driven(bench, tmp_path)


def test_what_python_calls_is_as_before() -> None:
    """Nothing stays replaced, and what others have replaced meanwhile stays theirs."""
    before = threading.Thread.start, threading.excepthook, sys.unraisablehook, _thread.start_new_thread
    with ThreadWatch(keep), ThreadWatch(keep):
        assert threading.Thread.start is not before[0]
    assert (threading.Thread.start, threading.excepthook, sys.unraisablehook, _thread.start_new_thread) == before
    with ThreadWatch(keep):
        threading.excepthook = keep
    assert threading.excepthook is keep
    threading.excepthook = before[1]
