"""One cached run in detail: where it begins and ends, and what it remembers."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

import pytest

from otf.core import Barrier, Limits, Model, Send, Session, Symbol, View, pacing
from otf.core.belief import Belief, EventResult
from otf.core.burst import Burst
from otf.core.cached_run import LONG, CachedRun
from otf.core.pacing import Eager, Moment, Strict
from otf.spec import Spec
from otf.strategy import Script
from otf.trace.events import Seen, Sent
from otf.trace.verdict import Verdict
from tests.core.cached_running import (
    CODEC,
    Output,
    Run,
    Side,
    World,
    conduct,
    learn_input,
    learn_output,
    never,
    quick,
    same,
    shot,
)
from tests.core.scripts import PORTS, ROUTES, machine

ECHO: Final = machine("s0 -a/x y-> s0", "s0 -b/z-> s0", "s0 -c-> s0")


def echo(inp: str) -> list[Output]:
    """Follow the model."""
    return {"a": [("P", "x"), ("Q", "y")], "b": [("P", "z")], "c": []}[inp]


def walked(side: Side, inputs: str, answer: Callable[[str], list[Output]] = echo, **more: Any) -> Run:  # noqa: ANN401
    """Conduct a path with these inputs."""
    steps = more.pop("steps", 100)
    session = side.session(Script(inputs), steps, **more)
    return conduct(side, Run(session, World(answer, Random(1)), PORTS.__getitem__))


def warm(spec: Spec[Any, Any] = ECHO, inputs: str = "abcabc") -> Side:
    """Return a side that has seen everything, so that a cached run goes on for as long as it may."""
    side = Side(Model(spec, ROUTES), quick=True)
    for _ in range(3):
        walked(side, inputs)
    side.steps = side.cached_runs = 0
    return side


def begun(side: Side, inputs: str, steps: int = 100, flood: int = 10_000) -> Run:
    """Return a path after its first step: this one follows silence, and is never part of a cached run."""
    run = Run(side.session(Script(inputs), steps, flood), World(echo, Random(1)), PORTS.__getitem__)
    while run.session.monitor.sent == 0 or run.session.monitor.ledger.unproven or run.world.coming:
        assert run.step()
    return run


def taken(run: Run, side: Side) -> CachedRun:
    """Return a cached run with one step, whose end is not reported to the session yet."""
    cached_run = CachedRun.start(run.session, side.codec)
    assert cached_run is not None
    stepped(run, cached_run)
    return cached_run


def stepped(run: Run, cached_run: CachedRun) -> None:
    """Take one step of a cached run."""
    symbol = cached_run.choose()
    assert symbol is not None
    go = cached_run.cached.inputs.get(symbol) or cached_run.cached.learn_input(
        cached_run.oracle, symbol, PORTS[str(symbol.value)], b"?"
    )
    assert go is not None
    cached_run.sent(go, run.world.send(symbol.value, go.port))
    while (seen := run.world.look()) is not None:
        then = cached_run.cached.frames.get((seen.port, str(seen.output).encode()))
        then = then or cached_run.cached.learn_output(
            cached_run.oracle, (seen.port, str(seen.output).encode()), seen.output
        )
        assert then is not None
        cached_run.seen(then, seen)


def test_all_steps_that_were_taken_before_are_one_trip() -> None:
    """All but the first and what is silent by the model: that has to be waited for, or thought about."""
    side = warm()
    run = walked(side, "abab" * 5)
    assert (side.steps, side.cached_runs) == (19, 1)
    assert run.verdict == Verdict("pass")
    side = warm()
    walked(side, "abcabc")
    assert (side.steps, side.cached_runs) == (2, 2)


def test_a_run_has_as_many_steps_as_it_may() -> None:
    """The limit counts the steps of a cached run and those before it; the chooser is not asked for more."""
    side = warm()
    run = begun(side, "abababab", steps=4)
    quick(run, side, never)
    assert side.steps == 3
    assert (run.session.over, run.session.monitor.sent) == (False, 4)
    while run.step():
        pass
    assert run.session.chooser.choose(run.session.view()) is not None
    assert run.verdict == Verdict("pass")


def test_a_chooser_that_has_no_more_ends_the_path() -> None:
    """It is not asked again: after what it was asked for nothing is sent."""
    side, asked = warm(), list[View]()

    class Noting(Script):
        def choose(self, view: View) -> Symbol | None:
            asked.append(view)
            return super().choose(view)

    run = Run(side.session(Noting("aba"), 100), World(echo, Random(1)), PORTS.__getitem__)
    conduct(side, run)
    assert (side.steps, len(asked), run.session.over, run.session.monitor.sent) == (2, 4, True, 3)


def test_a_chooser_sees_what_the_session_would_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same view is made once, for all that need it."""
    side, shown = warm(), list[View]()
    run = begun(side, "aba")
    run.session.monitor.belief.view = None
    cached_run = CachedRun.start(run.session, object())
    assert cached_run is not None
    choose = run.session.chooser.choose

    def noting(view: View) -> Symbol | None:
        shown.append(view)
        return choose(view)

    monkeypatch.setattr(run.session.chooser, "choose", noting)
    assert cached_run.choose() is not None
    assert shown[0] is run.session.view()


def test_what_was_chosen_and_not_sent_is_sent_next() -> None:
    """The chooser is not asked again, and the pacing knows the port."""
    side = warm()
    run = begun(side, "abab")
    cached_run = taken(run, side)
    chosen = cached_run.choose()
    cached_run.finish()
    assert chosen is not None
    assert (run.session.moment.next, run.session.moment.port) == (chosen, "A")
    assert run.session.command() == Send(chosen, "A")
    assert CachedRun.start(run.session, side.codec) is None


def test_a_trip_without_a_step_changes_nothing() -> None:
    """Not even what was counted since the last input."""
    side = warm()
    run = begun(side, "aba")
    before = shot(run.session)
    cached_run = CachedRun.start(run.session, side.codec)
    assert cached_run is not None
    cached_run.finish()
    assert shot(run.session) == before


def test_a_new_input_and_a_new_output_are_for_the_session() -> None:
    """What was never sent here, and what never came here, is not known."""
    side = warm(inputs="aaaa")
    run = begun(side, "ab")
    cached_run = CachedRun.start(run.session, side.codec)
    assert cached_run is not None
    new = cached_run.choose()
    assert new is not None
    assert learn_input(cached_run, new, "B", b"b") is None
    side = warm(inputs="aaaa")
    run = begun(side, "aa")
    cached_run = CachedRun.start(run.session, side.codec)
    assert cached_run is not None
    known = cached_run.choose()
    assert known is not None
    go = learn_input(cached_run, known, "A", b"a")
    assert go is not None
    cached_run.sent(go, run.world.send("a", "A"))
    assert learn_output(cached_run, ("P", b"z"), "z") is None
    assert learn_output(cached_run, ("Q", b"x"), "x") is None


def test_what_is_known_is_known_of_one_codec() -> None:
    """To another codec the same bytes mean something else; the inputs of one are not bytes of another."""
    side = warm()
    first = CachedRun.start(begun(side, "ab").session, side.codec)
    assert first is not None
    assert CachedRun.start(begun(side, "ab").session, side.codec).cached is first.cached  # type: ignore[union-attr]
    other = CachedRun.start(begun(side, "ab").session, object())
    assert other is not None
    assert (bool(first.cached.inputs), bool(other.cached.inputs)) == (True, False)


def test_what_goes_on_for_long_is_no_trip() -> None:
    """Where fewer outputs are a flood than a cached run counts by itself, the session counts them all."""
    side = warm()
    assert CachedRun.start(begun(side, "ab", flood=LONG).session, side.codec) is not None
    assert CachedRun.start(begun(side, "ab", flood=LONG - 1).session, side.codec) is None


def test_an_answer_that_is_longer_than_a_trip_is_told_all_the_same() -> None:
    """After as many events in one step the cached run is over, and the rest is told one by one."""
    outputs = " ".join(["x"] * (LONG + 10))
    spec = machine(f"s0 -a/{outputs}-> s0")
    sides = [Side(Model(spec, ROUTES), quick=each) for each in (False, True)]
    for _ in range(3):
        same(*(walked(side, "aaaa", lambda _inp: [("P", "x")] * (LONG + 10)) for side in sides))
    assert sides[1].steps > 0


# Where there is no cached run


def no_cached_run(run: Run) -> bool:
    """Return whether the session must decide."""
    return CachedRun.start(run.session, CODEC) is None


def test_where_the_next_input_may_not_follow_there_is_no_trip() -> None:
    """After silence, with an input chosen, after a failure, with an input in flight, when the path is over."""
    side = warm()
    fresh = Run(side.session(Script("ab"), 100), World(echo, Random(1)), PORTS.__getitem__)
    assert fresh.session.moment.quiet
    assert no_cached_run(fresh)
    run = begun(side, "abab")
    assert not no_cached_run(run)
    run.session.over = True
    assert no_cached_run(run)
    run = begun(side, "abab")
    run.session.tell(Sent("c", "A", 9.0))
    assert run.session.monitor.ledger.unproven
    assert no_cached_run(run)
    run = begun(side, "abab")
    run.session.tell(Seen("x", "P", 9.0))
    assert run.session.verdict is not None
    assert no_cached_run(run)
    run = begun(side, "abab")
    run.session.tell(Sent("b", "B", 9.0))
    assert no_cached_run(run)


def test_what_was_never_proven_quiet_is_waited_for() -> None:
    """A pacing that has not seen silence after the last transition waits for it, also within a cached run."""
    side = warm()
    run = begun(side, "aba")
    cached_run = taken(run, side)
    side.proven.clear()
    fresh = set[Any]()
    cached_run.proven = fresh
    assert cached_run.choose() is None
    cached_run.finish()
    assert no_cached_run(run)
    assert not isinstance(run.session.command(), Send)


def test_other_pacings_barriers_and_timed_models_have_no_trips() -> None:
    """Strict pacing waits each time, a barrier asks, and windows depend on the time."""
    side = warm()
    run = begun(side, "ab")
    for each in (Strict(side.timing), Burst(side.timing, 5)):
        run.session.pacing = each
        assert no_cached_run(run)
    run = begun(side, "ab")
    assert not no_cached_run(run)
    side.model.timed = True
    assert no_cached_run(run)
    side.model.timed = False
    barrier = Barrier({"A": "c"}, lambda _port, _output: False)
    asking = Session(side.oracle, Script("ab"), run.session.pacing, steps=9, barrier=barrier)
    asking.moment = run.session.moment
    assert no_cached_run(Run(asking, run.world, run.ports))


class Hasty(Eager):
    """A pacing that does not look."""

    def ready(self, moment: Moment) -> bool:
        """Say yes."""
        del moment
        return True


def test_in_the_midst_of_an_answer_there_is_no_trip() -> None:
    """Even where a pacing would go on: a cached run begins where the system is silent."""
    side = warm()
    run = begun(side, "ab")
    run.session.pacing = Hasty(side.timing, side.proven)
    assert not no_cached_run(run)
    run.tell(run.world.send("a", "A"))
    seen = run.world.look()
    assert seen is not None
    run.tell(seen)
    assert not run.session.monitor.ledger.unproven
    assert no_cached_run(run)


def on_the_way(side: Side) -> tuple[Run, CachedRun]:
    """Return a cached run on which an input was sent, and nothing came yet."""
    run = begun(side, "aba")
    cached_run = CachedRun.start(run.session, side.codec)
    assert cached_run is not None
    symbol = cached_run.choose()
    assert symbol is not None
    go = cached_run.cached.inputs.get(symbol) or learn_input(cached_run, symbol, "B", b"b")
    assert go is not None
    cached_run.sent(go, run.world.send("b", "B"))
    return run, cached_run


def test_an_output_that_does_not_prove_the_input_taken() -> None:
    """Then the system may be busy with it for as long as ever, and nothing may follow yet."""
    side = warm()
    _, cached_run = on_the_way(side)
    name = ("seen", "Q", side.model.symbol("w"))
    cached_run.cached.belief.after[name] = EventResult(cached_run.cached.belief, (1,))
    assert learn_output(cached_run, ("Q", b"w"), "w") is None
    _, cached_run = on_the_way(side)
    quiescence_predicted, before = cached_run.before.belief, cached_run.cached.belief
    before.after[name] = EventResult(quiescence_predicted, (1,))
    assert learn_output(cached_run, ("Q", b"v"), "w") is None
    in_flight = quiescence_predicted.after["sent", "A", side.model.symbol("c")].belief
    assert in_flight.silent
    before.after[name] = EventResult(in_flight)
    assert learn_output(cached_run, ("Q", b"v"), "w") is None
    before.after[name] = EventResult(quiescence_predicted)
    assert learn_output(cached_run, ("Q", b"v"), "w") is not None
    del before.after[name]


def test_where_a_set_is_too_large_the_session_is_asked() -> None:
    """What is over its cap is for those who end the run; what is known of it counts no more."""
    side = warm()
    run = begun(side, "abab")
    cached_run = CachedRun.start(run.session, side.codec)
    assert cached_run is not None
    symbol = cached_run.choose()
    assert symbol is not None
    cached_run.cached.inputs.clear()
    side.oracle.limits = Limits(hypotheses=0)
    assert learn_input(cached_run, symbol, "B", b"b") is None
    side.oracle.limits = Limits(hypotheses=1)
    assert learn_input(cached_run, symbol, "B", b"b") is not None


# Memory


def test_what_is_known_is_forgotten_with_the_rest() -> None:
    """An input and each output of its answer are remembered as long as there is room, and no longer."""
    side = warm(inputs="abab")
    run = begun(side, "abab")
    cached_run = taken(run, side)
    cached_run.finish()
    held: Belief = run.session.monitor.belief
    known = cached_run.cached
    assert (held.ahead.get(type(known)) is known, len(known.inputs)) == (True, 2)
    side.oracle.model.memory.limit = 1
    side.oracle.model.symbol("new")
    assert (len(held.after), known.inputs, len(side.oracle.beliefs)) == (0, {}, 0)


def test_what_a_pacing_has_forgotten_is_waited_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """It forgets all that was proven when that is too much; a cached run does not go on with what it knew."""
    monkeypatch.setattr(pacing, "REMEMBERED", 2)
    spec = machine("s0 -a/x-> s0", "s0 -b/z-> s0", "s0 -d/w-> s0", "s0 -c/y-> s0")

    def answer(inp: str) -> list[Output]:
        output = {"a": "x", "b": "z", "d": "w", "c": "y"}[inp]
        return [(PORTS[output], output)]

    sides = [Side(Model(spec, ROUTES), quick=each) for each in (False, True)]
    random = Random(1)
    for _ in range(10):
        script = "".join(random.choices("abcd", k=12))
        same(*(walked(side, script, answer) for side in sides))
