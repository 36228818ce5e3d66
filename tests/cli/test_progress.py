"""The figures of a running campaign, from its events."""

from __future__ import annotations

from pathlib import Path

from otf.campaign import Settings
from otf.cli.progress import Figures
from otf.core import Model, Monitor, Oracle, Routes, View
from otf.spec import Spec, Transition, goto
from otf.trace.events import Quiet, Seen, Sent


def step(state: int, inp: str) -> list[Transition[int]]:
    """Count; a toss may or may not."""
    return [goto(state + 1, "ok")] if inp == "count" else [goto(state), goto(state + 1)]


ORACLE = Oracle(Model(Spec(step, 0, ["count", "toss"]), Routes(("p",), lambda _value: "p")))


def offered(monitor: Monitor) -> View:
    """Return the view of the enabled inputs."""
    return ORACLE.view(monitor.belief)


def figures(**settings: float) -> Figures:
    """Return the figures of a campaign of 2 paths of 5 steps."""
    return Figures(Settings(**{"out": Path("out"), "traces": 2, "steps": 5, **settings}))  # type: ignore[arg-type]


def driven() -> Figures:
    """Return the figures after two inputs, of which the second leaves two states."""
    told, monitor = figures(), Monitor(ORACLE)
    for event in (Sent("count", "p", 1.0), Seen("ok", "p", 1.5), Quiet(3.0), Sent("toss", "p", 3.0), Quiet(5.0)):
        if isinstance(event, Sent):
            told.enabled(1, offered(monitor))
        told.event(1, event)
        assert monitor.tell(event) is None
    told.enabled(1, offered(monitor))
    return told


def test_what_is_counted() -> None:
    """Steps, the share of time spent waiting for quiescence, states, and inputs with the states they were sent in."""
    assert list(driven().lines(10.0)) == [
        "2 steps, 0.2 a second, about 40 s left",
        "waiting for quiescence: 88 % of the time; possible states now: 2",
        "met: 2 states, 2 inputs, 2 pairs of both",
        "0 failures",
    ]


def test_where_the_state_is_not_certain_nothing_is_met() -> None:
    """An input sent in one of two possible states counts for neither."""
    told = driven()
    told.event(1, Sent("count", "p", 5.0))
    assert (told.steps, len(told.pairs), len(told.inputs)) == (3, 2, 2)


def test_a_path_that_ends_early_counts_whole() -> None:
    """The time left is estimated from the share of the campaign that is done."""
    told = driven()
    told.path(1, failed=True)
    assert (told.failures, told.left(7.0)) == (1, 7.0)
    told.event(2, Sent("count", "p", 0.1))
    assert told.left(6.0) == 4.0


def test_nothing_is_known_at_first() -> None:
    """Before the first input the only estimate is the time limit."""
    assert figures().left(3.0) is None
    assert next(figures().lines(0.0)) == "0 steps, 0.0 a second"
    assert figures(time=10.0).left(3.0) == 7.0
    assert figures(time=10.0).left(12.0) == 0.0


def test_the_time_given_ends_it_earlier() -> None:
    """The earlier end counts."""
    told = figures(time=11.0)
    told.event(1, Sent("count", "p", 0.0))
    assert told.left(10.0) == 1.0
