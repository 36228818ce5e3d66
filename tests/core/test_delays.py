"""What fails at any times, and what a delay of any length explains."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.compose import cyclic
from otf.core import Model, Oracle
from otf.core.undelayed import is_undelayed
from otf.spec import Elapse, Spec, Transition, goto
from otf.trace.events import Event, Quiet, Seen, Sent


def _step(count: int, inp: object) -> Iterator[Transition[int]]:
    if inp == "read":
        yield goto(count, count)
    elif isinstance(inp, Elapse):
        yield goto(0)
    else:
        yield goto(count + 1)


COUNTER: Spec[Any, Any] = Spec(_step, 0, ["read", "add", Elapse(1.0)], name="counter")


def _beat(_state: int, number: int) -> str:
    return f"beat {number}"


NODE = cyclic(COUNTER, "beat", _beat, every=0.1, jitter=0.01, wraps=16)


def _oracle(spec: Spec[Any, Any]) -> Oracle:
    return Oracle(Model(spec))


def _beats(*numbers: int, every: float = 0.1) -> list[Event]:
    return [Seen(f"beat {number}", "sut", every * (at + 1)) for at, number in enumerate(numbers)]


def _asked(answer: int, *between: Event) -> list[Event]:
    return [Sent("read", "", 0.0), *between, Seen(answer, "sut", 1.0)]


@pytest.mark.parametrize("every", [0.1, 0.05, 0.2])
def test_a_counter_that_skips(every: float) -> None:
    """A number that was left out is wrong, be the messages in time, early or late."""
    assert is_undelayed(_oracle(NODE), _beats(0, 1, 2, 4, every=every))


@given(st.lists(st.tuples(st.sampled_from(["beat", "read", "answer", "quiet"]), st.floats(0.0, 100.0)), max_size=8))
def test_times_alone_are_a_delay(run: list[tuple[str, float]]) -> None:
    """Messages in the order of their numbers, and answers after their inputs, are explained at whatever times."""
    beats, asked, events = count(), 0, list[Event]()
    for (what, _), at in zip(run, accumulate(gap for _, gap in run), strict=True):
        if what == "beat":
            events.append(Seen(f"beat {next(beats) % 16}", "sut", at))
        elif what == "read":
            events.append(Sent("read", "", at))
        elif what == "quiet":
            events.append(Quiet(at, by="timed"))
        elif asked:
            events.append(Seen(0, "sut", at))
        asked += (what == "read") - (what == "answer" and asked > 0)
    assert not is_undelayed(_oracle(NODE), events)


def test_a_wrong_answer() -> None:
    """A value is wrong, but one that comes after timed silence is late, and one that does not come may still come."""
    oracle = _oracle(COUNTER)
    assert is_undelayed(oracle, _asked(1))
    assert not is_undelayed(oracle, _asked(0, Quiet(0.5, by="timed")))
    assert not is_undelayed(oracle, [Sent("read", "", 0.0), Quiet(0.5, by="timed")])


def test_the_seconds_of_an_elapse() -> None:
    """Where they have an effect, a stall makes them more: nothing is said."""
    passed = [Sent("add", "", 0.0), Sent(Elapse(1.0), "", 0.1)]
    assert not is_undelayed(_oracle(COUNTER), [*passed, *_asked(7)])
    plain = Spec(lambda state, inp: () if isinstance(inp, Elapse) else _step(state, inp), 0, COUNTER.inputs)
    assert is_undelayed(_oracle(plain), [*passed, *_asked(7)])
