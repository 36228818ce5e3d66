"""A barrier replaces the wait for silence: what a ping's answer proves is believed at once."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from otf.core import Barrier, Limits, Model, Monitor, Oracle, Ping, Routes, Session, Timing
from otf.core.commands import Pings
from otf.core.pacing import Eager, Strict
from otf.errors import UsageError
from otf.simulate import System, TimeBounds, World, conduct
from otf.spec import Spec, Transition, goto, on
from otf.strategy import Script
from otf.trace.events import Event, KnownBy, Quiet, Seen, Sent

TIMING = Timing(quiescence=1.0, latency=0.125, busy=0.25)
BARRIER = Barrier({"A": "ping A", "B": "ping B"}, lambda port, output: output == f"pong {port}")
ROUTES = Routes(("A", "B"), lambda value: str(value)[-1])


def _chat(state: int, inp: str) -> Iterator[Transition[int]]:
    """Return the spec of a chat server: a message on A is passed on to B."""
    if inp == "say A":
        yield goto(state + 1, "said B")
    elif inp == "mute B":
        yield goto(-1)


def _server(state: int, inp: str) -> Iterator[Transition[int]]:
    """Return the same with pings, which the model does not know."""
    if inp.startswith("ping"):
        yield goto(state, on(inp[-1], f"pong {inp[-1]}"))
    else:
        yield from _chat(state, inp)


CHAT: Spec[int, str] = Spec(_chat, initial=0, inputs=["say A", "mute B"])


def _session(*inputs: str, pacing: Any = None) -> Session:  # noqa: ANN401 -- either pacing
    oracle = Oracle(Model(CHAT, ROUTES), timing=TIMING)
    return Session(oracle, Script(inputs), pacing or Strict(TIMING), steps=100, barrier=BARRIER)


def test_several_ports_with_inputs_in_flight_are_pinged_twice() -> None:
    """B may answer before A's input is taken, and what that brings to B comes after: only a second answer proves it."""
    pings = Pings(BARRIER)
    for port in ("A", "B"):
        assert pings.next(["A", "B"]) == Ping(port, f"ping {port}")
        pings.sent(port)
    for port in ("B", "A"):
        assert pings.next(["A", "B"]) is None
        assert pings.answered(Seen(f"pong {port}", port, 0.1))
    for port in ("A", "B"):
        assert not pings.done
        assert pings.next(["A", "B"]) == Ping(port, f"ping {port}")
        pings.sent(port)
        assert pings.answered(Seen(f"pong {port}", port, 0.2))
    assert pings.done


def test_the_port_with_inputs_in_flight_is_pinged_first() -> None:
    """Only when A has answered is B asked: what A's input brought to B was emitted before that."""
    run = _session("say A")
    run.command()
    run.tell(Sent("say A", "A", 0.0))
    assert run.command() == Ping("A", "ping A")
    run.pinged("A", 0.0)
    assert not isinstance(run.command(), Ping)
    assert run.tell(Seen("said B", "B", 0.1)) is None
    assert run.pong(Seen("pong A", "A", 0.2))
    assert run.proven(0.2) is None
    assert run.command() == Ping("B", "ping B")
    run.pinged("B", 0.2)
    assert run.pong(Seen("pong B", "B", 0.3))
    assert run.proven(0.3) == Quiet(0.3)


def test_a_missing_output_is_failed_without_a_wait() -> None:
    """Both ports have answered, and nothing was heard on B: it will not come any more."""
    run = _session("say A")
    run.command()
    run.tell(Sent("say A", "A", 0.0))
    for port in ("A", "B"):
        run.command()
        run.pinged(port, 0.0)
        assert run.pong(Seen(f"pong {port}", port, 0.1))
        run.proven(0.1)
    assert run.verdict is not None
    assert run.verdict.failure is not None
    assert run.verdict.failure.kind == "missing"


def test_an_answer_that_nobody_waits_for_is_an_output() -> None:
    """A pong without a ping is judged like anything else."""
    run = _session("say A")
    assert not run.pong(Seen("pong A", "A", 0.0))
    assert run.tell(Seen("pong A", "A", 0.0)) is not None


def test_a_system_that_does_not_answer_is_waited_for() -> None:
    """Without an answer silence decides as it always does."""
    run = _session("mute B")
    run.command()
    run.tell(Sent("mute B", "B", 0.0))
    while isinstance(command := run.command(), Ping):
        run.pinged(command.port, 0.0)
    assert run.silence(1.0) == Quiet(1.0)


def test_a_conforming_system_passes_and_no_time_is_lost() -> None:
    """Over random latencies nothing fails, in either mode, and a step takes a few latencies instead of the window."""
    for seed in range(50):
        for pacing in (Strict(TIMING), Eager(TIMING)):
            random, told = Random(seed), list[Event]()
            world = World(
                System(Spec(_server, 0, ["say A"]), lambda v: str(v)[-1], random), TimeBounds(0.125, 0.25), random
            )
            verdict = conduct(
                _session(*["say A", "mute B"] * 10, pacing=pacing), world, lambda v: str(v)[-1], told.append
            )
            assert verdict.outcome == "pass", (seed, told)
            assert not any(isinstance(event, Seen) and "pong" in str(event.output) for event in told)
            assert world.now < 20 * 6 * 0.5


def test_a_ping_whose_time_is_over_changes_nothing() -> None:
    """An input goes out before the ping is reported as sent: its answer is still known as one."""
    run = _session("say A", "say A")
    run.command()
    run.tell(Sent("say A", "A", 0.0))
    assert run.command() == Ping("A", "ping A")
    run.tell(Quiet(1.0))
    run.pinged("A", 1.0)
    assert run.pong(Seen("pong A", "A", 1.1))
    assert run.proven(1.1) is None


@pytest.mark.parametrize(
    ("by", "at", "judged"), [("barrier", 4.3, "pass"), ("timed", 4.3, "fail"), ("barrier", 4.4, "fail")]
)
def test_a_system_may_be_busy_with_its_last_ping(by: KnownBy, at: float, judged: str) -> None:
    """For R from its answer on: an input sent then is taken that much later, and answered so much later."""
    slow: Spec[int, str] = Spec(lambda state, _inp: [goto(state, "said B", within=(2, 3))], 0, ["say A"])
    monitor = Monitor(Oracle(Model(slow, ROUTES), timing=TIMING))
    for event in (Quiet(1.0, by=by), Sent("say A", "A", 1.0), Seen("said B", "B", at)):
        monitor.tell(event)
    assert monitor.end().outcome == judged


def test_what_a_barrier_and_limits_refuse() -> None:
    """Pings that are no dict and a pong that is no function; a bound that is no number."""
    wrong: Any = "x"
    with pytest.raises(UsageError, match=r"^Barrier: 2 mistakes\n  pings='x': a dict .*\n  pong='x': a function is"):
        Barrier(wrong, wrong)
    with pytest.raises(UsageError, match=r"^Limits: spontaneous='x': a whole number is needed$"):
        Limits(spontaneous=wrong)
