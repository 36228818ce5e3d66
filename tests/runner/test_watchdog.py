"""A model that hangs says so."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from otf import Bench, run
from otf.adapter.third_party import LOOKS, PATIENCE, ClockCheck, warn, watch, watched
from otf.core import Model
from otf.core.model_calls import CURRENT
from otf.errors import INCONCLUSIVE
from otf.explore import explore
from otf.spec import Accept, Spec, Transition, Where, goto, on
from otf.trace.events import Seen, Sent
from tests.always import always
from tests.core.scripts import oracle, told


class Hanging:
    """Code of a model that hangs until the watchdog has reported this question."""

    def __init__(self, asked: str) -> None:
        self._expected = f"the model has been at work for 0.02 s: {asked}; Ctrl-C breaks out of it"
        self._heard = threading.Event()

    def hear(self, text: str) -> None:
        """Take a report of the watchdog; on a busy machine other questions may take long too."""
        if text == self._expected:
            self._heard.set()

    def hang(self, *_given: object) -> bool:
        """Hang."""
        return self._heard.wait(10)

    def told(self, call: Callable[[], object]) -> bool:
        """Return whether it was reported while the action runs."""
        with watched(self.hear, patience=0.02):
            call()
        return self._heard.is_set()


def _spec(hanging: Hanging, where: str) -> Spec[int, str]:
    """Return a spec of which one function hangs."""

    def step(state: int, inp: str) -> Iterable[Transition[int] | Accept]:
        if where == "step" and hanging.hang():
            yield goto(state)
        elif where == "Accept":
            yield Accept(lambda seen: [len(seen)] if hanging.hang() else [], "P")
        elif where == "test":
            yield goto(state, on("P", Where(hanging.hang, says="a large one")))
        else:
            yield goto(len(inp), "x")

    def inputs(_state: int) -> list[str]:
        return ["a"] if where != "inputs" or hanging.hang() else []

    def emits(_state: int) -> list[Transition[int]]:
        return [goto(0)] if where == "emits" and not hanging.hang() else []

    return Spec(step, 0, inputs, emits)


@pytest.mark.parametrize(
    ("where", "asked"),
    [
        ("step", "step(0, 'a')"),
        ("emits", "emits(0)"),
        ("inputs", "inputs(0)"),
        ("Accept", "Accept('x')"),
        ("test", "a large one('x')"),
    ],
)
def test_a_function_that_hangs_is_named(where: str, asked: str) -> None:
    """The error has the state and the input, or the outputs that the model is asked about."""
    hanging = Hanging(asked)
    judge = oracle(_spec(hanging, where))

    def asking() -> None:
        judge.model.enabled_inputs(judge.model.initial)
        told(judge, Sent("a", "A", 0), Seen("x", "P", 0), "quiet")

    assert hanging.told(asking)


@pytest.mark.parametrize(("where", "asked"), [("step", "step(0, 'a')"), ("emits", "emits(0)"), ("inputs", "inputs(0)")])
def test_a_function_that_hangs_in_an_exploration_is_named(where: str, asked: str) -> None:
    """Exploration asks by itself, and is watched as well."""
    hanging = Hanging(asked)
    assert hanging.told(lambda: explore(_spec(hanging, where)))


def test_one_watchdog_is_enough() -> None:
    """Where one watches already, another says nothing; afterwards the next one may."""
    hanging, other = Hanging("emits(0)"), list[str]()
    model = Model(_spec(hanging, "emits"))

    def asking() -> None:
        with watched(other.append, patience=0.001):
            model.spontaneous(model.initial)

    assert hanging.told(asking)
    assert not other
    again = Hanging("step(0, 'a')")
    assert again.told(lambda: explore(_spec(again, "step")))


class Looks(threading.Event):
    """Ends after so many looks; before each the model is asked the same as before, or the like of it."""

    def __init__(self, number: int, *, new: bool) -> None:
        super().__init__()
        self.left = number
        self._new = new

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for no time at all."""
        assert timeout == 0.25
        if self._new or CURRENT.now is None:
            CURRENT.now = "step", (self.left, "a")
        self.left -= 1
        return self.left < 0


@pytest.fixture
def free() -> Iterator[None]:
    """Leave nothing asked behind."""
    yield
    CURRENT.now = None


@pytest.mark.usefixtures("free")
def test_a_model_that_works_is_no_news() -> None:
    """Many short questions are not one long one."""
    told_of = list[str]()
    watch(Looks(500, new=True), told_of.append, PATIENCE)
    assert told_of == []


@pytest.mark.usefixtures("free")
def test_it_is_told_again_when_ten_times_as_long_has_passed() -> None:
    """And then again; four looks are a second."""
    told_of = list[str]()
    watch(Looks(500, new=False), told_of.append, PATIENCE)
    asked = "step(500, 'a'); Ctrl-C breaks out of it"
    assert told_of == [f"the model has been at work for {seconds} s: {asked}" for seconds in (1, 10, 100)]


def test_it_is_told_on_standard_error(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one, nothing is reported."""
    warn("the model hangs")
    assert capsys.readouterr().err == "otf: the model hangs\n"
    monkeypatch.setattr("sys.stderr", None)
    warn("the model hangs")


@pytest.mark.real
def test_a_run_tells_after_a_second(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A campaign is watched by itself."""

    def step(state: int, inp: str) -> list[Transition[int]]:
        del inp
        threading.Event().wait(1.5 * PATIENCE)
        return [goto(state, "x")]

    def act(_inp: str) -> list[str]:
        return ["x"]

    run(Bench(Spec(step, 0, ["a"]), system=lambda: act, types=(str,)), out=tmp_path, traces=1, steps=1)
    assert capsys.readouterr().err == "otf: the model has been at work for 1 s: step(0, 'a'); Ctrl-C breaks out of it\n"


@pytest.mark.parametrize(
    ("moments", "interrupted", "says"),
    [
        ([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0, 0),
        ([0, 3600, 3601, 3602], 0, 0),
        ([5] * 9, 1, 1),
        ([5] * 11, 3, 1),
        ([3600, 0, 1, 2], 3, 1),
        ([0, *[1] * 7, 2, *[2] * 6], 0, 0),
    ],
    ids=["goes on", "an hour ahead", "stands still", "stays so", "an hour back", "a busy machine"],
)
def test_a_clock_that_does_not_go_on_ends_the_wait(
    monkeypatch: pytest.MonkeyPatch, moments: list[float], interrupted: int, says: int
) -> None:
    """Who waits for a moment that never comes is interrupted, each second, and told why once."""
    now, kills, told_of = iter(moments), list[int](), list[str]()
    monkeypatch.setattr("otf.adapter.third_party.time.monotonic", lambda: next(now))

    def kill(_pid: int, number: int) -> None:
        kills.append(number)

    monkeypatch.setattr("otf.adapter.third_party.os.kill", kill)
    monkeypatch.setattr("otf.adapter.third_party.select.select", always(None))
    clock = ClockCheck(Looks(len(moments), new=False), told_of.append)
    for _ in moments[1:]:
        assert not clock.wait(PATIENCE / LOOKS)
    assert (kills, len(told_of)) == ([signal.SIGINT] * interrupted, says)


def test_a_program_that_cannot_be_interrupted_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the clock stands still, no bounded end comes either: the process ends, and nothing is decided."""
    ends = list[int]()
    monkeypatch.setattr("otf.adapter.third_party.time.monotonic", lambda: 5)
    monkeypatch.setattr("otf.adapter.third_party.os.kill", always(None))
    monkeypatch.setattr("otf.adapter.third_party.os._exit", ends.append)
    monkeypatch.setattr("otf.adapter.third_party.select.select", always(None))
    clock = ClockCheck(Looks(500, new=False), lambda _: None)
    for _ in range(11):
        clock.wait(PATIENCE / LOOKS)
    assert ends == [INCONCLUSIVE]
