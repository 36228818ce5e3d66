"""Timers of a learnt system, measured in virtual time: bounds, and which inputs start a timer again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from otf.learn.learning import LearntMachine
from otf.learn.learnt import LearntSystem
from otf.learn.model_code import written
from otf.learn.symbols import PortOutputs, Symbols
from otf.learn.timers import LearntTimer, TimerMeasurement
from otf.models.coffee import bench
from otf.spec import Elapse

INPUTS = ["open", "ping", "look", Elapse(1.0)]
LATE = [0.0, 0.3, 0.0, 0.1, 0.0]


class Session:
    """A session of 0.6 s, which `open` and `ping` start again; its end is told, or silent. The machine may be late."""

    def __init__(self, late: Sequence[float], *, silent: bool) -> None:
        self.silent, self.late, self.paths = silent, late, 0

    def drive(self, inputs: Sequence[Any]) -> tuple[list[PortOutputs | None], list[list[float]]]:
        """Return the outputs of a path, and when each input was sent and its outputs came."""
        now, ends, found, times = 0.1, float("inf"), list[PortOutputs | None](), list[list[float]]()
        self.paths += 1
        for inp in inputs:
            outputs, moments = list[tuple[str, str]](), [now]
            seconds = inp.seconds if isinstance(inp, Elapse) else 0.01 + self.late[self.paths % len(self.late)]
            if inp == "open" or (inp == "ping" and now < ends < float("inf")):
                outputs, ends = [("net", "hello")], now + 0.6
            elif not isinstance(inp, Elapse):
                outputs = [("net", "open" if now < ends < float("inf") else "closed")]
            moments += [now] * len(outputs)
            now += seconds
            if ends <= now:
                if not self.silent:
                    outputs, moments = [*outputs, ("net", "bye")], [*moments, ends]
                ends = float("inf")
            found.append(tuple(outputs))
            times.append(moments)
        return found, times


def measured(tmp_path: Path, session: Session) -> TimerMeasurement:
    """A measurement of the learnt machine of a session."""
    end = "nothing" if session.silent else "bye"
    out = [["hello", "closed", "closed", "nothing"], ["hello", "hello", "open", end]]
    symbols = Symbols()
    for text in ("hello", "closed", "open", "bye"):
        symbols.text((("net", text),))
    made = TimerMeasurement(bench(), INPUTS, LearntMachine([[1, 0, 0, 0], [1, 1, 1, 0]], out), symbols, tmp_path)

    async def drive(word: Sequence[int], more: Sequence[Elapse] = ()) -> Any:  # noqa: ANN401 -- what is replaced has its type
        return session.drive([[*INPUTS, *more][inp] for inp in word])

    made._drive = drive  # type: ignore[method-assign] # noqa: SLF001 -- the paths of a system in virtual time
    return made


@pytest.mark.anyio
@pytest.mark.parametrize("late", [[0.0], LATE], ids=["in time", "late"])
@pytest.mark.parametrize("silent", [False, True], ids=["told", "silent"])
async def test_a_timer_has_bounds_and_the_inputs_that_start_it_again(
    tmp_path: Path, late: Sequence[float], silent: bool
) -> None:
    """0.6 s are within the bounds; `ping` starts it again and `look` does not, however late the machine is."""
    made = measured(tmp_path, Session(late, silent=silent))
    await made.run()
    (timer,) = made.timers
    assert timer.lo <= 0.6 <= timer.hi
    assert timer.hi - timer.lo < (0.45 if silent and len(late) > 1 else 0.25)
    assert timer.states == {1}
    assert timer.restarted == {(1, 0), (1, 1)}
    assert made.notes == []


@pytest.mark.anyio
async def test_outputs_of_several_moments_are_no_timer(tmp_path: Path) -> None:
    """A heartbeat that comes twice in a wait: what to do is said, and the wait stays an input of the model."""
    made = measured(tmp_path, Session([0.0], silent=False))

    async def drive(word: Sequence[int], more: Sequence[Elapse] = ()) -> Any:  # noqa: ANN401 -- as above
        del word, more
        return [(("net", "bye"),) * 2] * 2, [[0.0], [0.1, 0.3, 0.9]]

    made._drive = drive  # type: ignore[method-assign] # noqa: SLF001 -- as above
    await made.run()
    assert made.timers == []
    assert made.notes == ["After 'open' a wait has outputs of several moments: a shorter --wait tells them apart."]


def test_the_code_of_timers() -> None:
    """Transitions start, keep and stop a timer, the greeting starts one, and its end is a transition of its own."""
    symbols = Symbols()
    texts = [symbols.text((("", text),)) for text in ("hello", "bye")]
    machine = LearntMachine([[1, 0, 0], [1, 0, 0]], [[texts[0], "nothing", "nothing"], [texts[0], "nothing", texts[1]]])
    timer = LearntTimer("timer 1", 0.5, 0.7, "bye", {1}, {(1, 0)})
    first = LearntTimer("timer 2", 2, 3, "nothing", {0})
    made = LearntSystem("lamp", ["open", "stop", Elapse(1.0)], machine, symbols, (("", "hi"),), [timer, first])
    code = written(made, [], [])
    started, again = "start('timer 1', 0.5, 0.7)", "start('timer 2', 2, 3)"
    for line in (
        f"""goto("after open", "hello", timers=[{started}, stop('timer 2')])""",
        f"""goto(state, "hello", timers=[{started}])""",
        f"""goto("start", timers=[stop('timer 1'), {again}])""",
        f"""goto("start", "hi", timers=[{again}])""",
        f"""goto("start", "bye", after='timer 1', timers=[{again}])""",
    ):
        assert line in code
    timer.restarted, timer.unsure = set(), {(1, 0)}
    assert f"""goto(state, "hello")\n            yield goto(state, "hello", timers=[{started}])""" in written(
        made, [], []
    )
    assert 'label="timer 1: 0.5 to 0.7 s / bye"' in made.dot()
    compile(code, "learned.py", "exec")
