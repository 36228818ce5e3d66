"""When the next input is sent: strictly, eagerly, in bursts."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import product
from random import Random

import pytest

from otf.core import Model, Oracle, Session, Symbol, Timing, View
from otf.core.burst import Burst
from otf.core.pacing import MOST, Eager, Strict
from otf.errors import ModelError
from otf.simulate import System, TimeBounds, World, conduct
from otf.spec import Spec, goto
from otf.strategy import Script
from otf.trace.events import Quiet, Seen, Taken
from tests.always import always
from tests.core.scripts import PORTS, ROUTES, machine, oracle
from tests.core.test_session import answer, sends, sent, session, silent, stops, waits

TIMING = Timing(quiescence=1.0, latency=0.125, busy=0.25)
BUSY = Timing(quiescence=0.01, latency=0.125, busy=8.0)
ECHO = machine("s0 -a/x-> s0", "s0 -b/y-> s0", "s0 -c-> s0", "s0 -d-> s0")


def eagerly(run: Session, *, at: float = 0.0) -> None:
    """Go through one step of ECHO so that silence was seen after a."""
    sent(run, at)
    answer(run, "x", at)
    assert silent(run) == Quiet(at + 1.0)


def test_eager_waits_once_for_silence_after_each_transition() -> None:
    """The first time after a in s0; from then on the x is enough, until the end of the path."""
    run = session(ECHO, "aaa", Eager(TIMING))
    eagerly(run)
    for at in (1.0, 1.25):
        sent(run, at)
        assert waits(run.command()) == at + 1.0
        answer(run, "x", at)
    assert silent(run) == Quiet(2.25)
    assert stops(run.command()).outcome == "pass"


def test_eager_keeps_over_paths_what_it_has_seen_quiet() -> None:
    """A second path with the same pacing waits for the end only."""
    pacing, judge = Eager(TIMING), oracle(ECHO)
    eagerly(session(judge, "a", pacing))
    run = session(judge, "aa", pacing)
    sent(run, 0.0)
    answer(run, "x", 0.0)
    assert sends(run.command()) == "a"


def growing(silence_key: Callable[[int, str], Hashable]) -> Oracle:
    """Return an oracle of a model that counts, so that no state comes again."""
    spec = Spec[int, str](lambda state, inp: [goto(state + 1, "x" if inp == "a" else "z")], 0, ["a", "b"])
    return Oracle(Model(spec, ROUTES), timing=TIMING, silence_key=silence_key)


def test_a_bench_may_say_what_a_silence_is_remembered_under() -> None:
    """By the class of input: a is waited for in the state 0, b in the state 2, and neither in a state after that."""
    run = session(growing(lambda _state, inp: inp), "aabab", Eager(TIMING))
    eagerly(run)
    sent(run, 1.0)
    answer(run, "x", 1.0)
    assert sends(run.command()) == "b"
    sent(run, 1.0)
    answer(run, "z", 1.0)
    assert silent(run) == Quiet(2.0)
    for inp, output in (("a", "x"), ("b", "z")):
        assert sends(run.command()) == inp
        sent(run, 2.0)
        answer(run, output, 2.0)
    assert silent(run) == Quiet(3.0)


def test_a_silence_key_that_raises_is_named() -> None:
    """With the state and the input that it was called for."""

    def broken(state: int, _inp: str) -> int:
        return 1 // state

    run = session(growing(broken), "a", Eager(TIMING))
    sent(run, 0.0)
    answer(run, "x", 0.0)
    with pytest.raises(ModelError, match=r"silence_key\(0, 'a'\): the model raised ZeroDivisionError"):
        silent(run)


def test_eager_waits_where_something_may_still_come() -> None:
    """A state that emits is not silent, whatever was seen before."""
    ticking = machine("s0 -a/x-> s0", "s0 -/z-> s0")
    run = session(ticking, "aa", Eager(TIMING))
    silent(run)
    eagerly(run, at=1.0)
    sent(run, 2.0)
    answer(run, "x", 2.0)
    assert waits(run.command()) == 3.0


def test_eager_sends_silent_inputs_to_one_port_without_pause() -> None:
    """C gives nothing: once that was seen quiet, one c after another is in flight."""
    run = session(ECHO, "cccc", Eager(TIMING))
    sent(run, 0.0)
    silent(run)
    for at in (1.0, 1.1, 1.2):
        sent(run, at)
    assert run.monitor.ledger.unproven == 3
    assert silent(run) == Quiet(2.2)
    assert stops(run.command()).outcome == "pass"


def test_eager_lets_a_system_catch_up() -> None:
    """After so many silent inputs on one port it waits until they must have been taken."""
    run = session(ECHO, "c" * (MOST + 2), Eager(TIMING))
    sent(run, 0.0)
    silent(run)
    for _ in range(MOST):
        sent(run, 1.0)
    assert silent(run) == Taken(MOST + 1, run.monitor.ledger.taken_by)
    assert run.monitor.ledger.unproven == 0
    assert sends(run.command()) == "c"


def test_eager_waits_before_it_changes_ports_until_what_is_in_flight_was_taken() -> None:
    """Two c are on their way on A: d on B must not overtake them; the second is taken when the first is dealt with."""
    run = session(ECHO, "cdccd", Eager(TIMING))
    for at in (0.0, 1.0):
        sent(run, at)
        silent(run)
    sent(run, 2.0)
    sent(run, 2.1)
    assert waits(run.command()) == 2.0 + 0.125 + 0.25
    assert silent(run) == Taken(4, 2.375)
    sent(run, 2.75)
    assert silent(run) == Quiet(3.75)


def test_eager_need_not_wait_where_an_output_proves_that_all_was_taken() -> None:
    """X tells that a was taken, so d may follow on B at once."""
    run = session(ECHO, "acad", Eager(TIMING))
    eagerly(run)
    sent(run, 1.0)
    silent(run)
    sent(run, 2.0)
    answer(run, "x", 2.0)
    assert sends(run.command()) == "d"


def test_eager_waits_where_the_model_may_leave_an_input_open() -> None:
    """A may have led to s2, where c is unspecified: after that anything may come, however often silence came before."""
    judge = oracle(machine("s0 -a-> s0", "s0 -a-> s2", "s0 -c-> s0", "s2 -a-> s2"))
    pacing = Eager(TIMING)
    for _ in range(2):
        run = session(judge, "ac", pacing)
        sent(run, 0.0)
        if not pacing.proven:
            silent(run)
        sent(run, 1.0)
        assert waits(run.command()) == 2.0
        assert silent(run) == Quiet(2.0)


def test_eager_waits_for_an_answer_of_several_outputs() -> None:
    """After x the z is outstanding."""
    run = session(machine("s0 -a/x z-> s0"), "aa", Eager(TIMING))
    sent(run, 0.0)
    answer(run, "xz", 0.0)
    silent(run)
    sent(run, 1.0)
    answer(run, "x", 1.0)
    assert waits(run.command()) == 2.0
    run.tell(Seen("z", "P", 1.5))
    assert waits(run.command()) == 2.5


def test_an_answer_does_not_prove_that_the_system_is_ready_for_the_next_input() -> None:
    """X came, and the system may be busy with its a for another R before it takes the next: 2L + 2R, not 2L + R."""
    run = session(ECHO, "aab", Eager(BUSY))
    sent(run, 0.0)
    answer(run, "x", 0.5)
    assert silent(run) == Quiet(8.25)
    sent(run, 10.0)
    assert waits(run.command()) == 18.25
    answer(run, "x", 10.5)
    sent(run, 10.5)
    assert waits(run.command()) == 26.75


def test_with_any_relation_of_latency_and_busy_time_a_conforming_system_passes() -> None:
    """Its a may be answered or not: if silence is believed too early, the answer counts as unexpected."""
    spec = machine("s0 -b/y-> s0", "s0 -a/x-> s0", "s0 -a-> s0")
    for seed, (latency, busy) in product(range(20), [(0.001, 0.05), (0.05, 0.001), (0.01, 0.01)]):
        random = Random(seed)
        run = session(spec, "".join(random.choices("ab", k=20)), Eager(Timing(0.0, latency, busy)))
        system = System(spec, PORTS.__getitem__, random)
        verdict = conduct(run, World(system, TimeBounds(latency, busy), random), PORTS.__getitem__)
        assert verdict.outcome == "pass", (seed, latency, busy)


def test_a_burst_sends_several_inputs_and_then_waits() -> None:
    """Two at once, then everything that follows, then the rest."""
    run = session(ECHO, "abc", Burst(TIMING, 2))
    sent(run, 0.0)
    sent(run, 0.0)
    assert waits(run.command()) == 1.0
    answer(run, "yx", 0.5)
    assert silent(run) == Quiet(1.5)
    sent(run, 1.5)
    assert silent(run) == Quiet(2.5)
    assert stops(run.command()).outcome == "pass"


def test_a_burst_is_judged_by_every_order() -> None:
    """X before y and y before x conform, whichever was sent first; a second x does not."""
    for outputs, failed in (("xy", False), ("yx", False), ("xx", True)):
        run = session(ECHO, "ab", Burst(TIMING, 2))
        sent(run, 0.0)
        sent(run, 0.0)
        answer(run, outputs, 0.5)
        assert bool(run.verdict) == failed


class Drawing:
    """Chooses one of the enabled inputs."""

    def __init__(self, inputs: str) -> None:
        self._inputs, self._random = inputs, Random(3)

    def choose(self, view: View) -> Symbol | None:
        """Return an input, None if there is none."""
        found = [each for each in view.enabled.all if str(each.value) in self._inputs]
        return self._random.choice(found) if found else None


def test_of_several_clients_each_sends_one_input_of_a_burst() -> None:
    """A and B are clients: B's input joins A's, and a second one of A waits; what no client sends goes alone."""
    run = Session(oracle(ECHO), Drawing("ab"), Burst(TIMING, 3, clients=frozenset({"A", "B"})), steps=9)
    for at in (0.0, 1.0, 2.0):
        first = sends(run.command())
        assert first == sends(run.command())
        sent(run, at)
        assert {first, sends(run.command())} == {"a", "b"}
        sent(run, at)
        answer(run, "xy", at)
        assert silent(run) == Quiet(at + 1.0)
    run = Session(oracle(ECHO), Drawing("a"), Burst(TIMING, 3, clients=frozenset({"B", "C"})), steps=9)
    sent(run, 0.0)
    assert waits(run.command())


GATE = machine("s0 -a/x-> s1", "s1 -b/y-> s0", "s0 -c-> s0", "s1 -c-> s1")


def is_third(number: int, *_inputs: object) -> bool:
    """Return whether it is the third input that would join."""
    return number == 3


def test_a_script_waits_where_an_input_must_not_join() -> None:
    """The model says nothing of b before a is taken: it is sent after the answer, and not skipped."""
    run = Session(oracle(GATE), Script("abc"), Burst(TIMING, 3, joins=always(value=True)), steps=9)
    sent(run, 0.0)
    assert waits(run.command())
    answer(run, "x", 0.0)
    assert silent(run) == Quiet(1.0)
    assert sends(run.command()) == "b"
    run = Session(oracle(ECHO), Script("abc"), Burst(TIMING, 3, joins=is_third), steps=9)
    sent(run, 0.0)
    answer(run, "x", 0.0)
    assert silent(run) == Quiet(1.0)
    sent(run, 1.0)
    assert sends(run.command()) == "c"


def test_strict_learns_nothing_from_silence() -> None:
    """Each step waits for it anew."""
    run = session(ECHO, "aa", Strict(TIMING))
    for at in (0.0, 1.0):
        eagerly(run, at=at)
    assert stops(run.command()).outcome == "pass"
