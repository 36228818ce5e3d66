"""A cached run in strict mode is, by definition, the same as one whose session is told everything, event by event."""

from __future__ import annotations

from random import Random

import pytest

from otf.core import Barrier, Limits, Model, Send, Session
from otf.core.cached_run import LONG, CachedRun
from otf.core.memory import Memory
from otf.core.strict_run import StrictRun
from otf.core.timing import Learnt, Timing
from otf.core.waits import Burst, Eager
from otf.spec import Elapse, Spec, Transition, goto
from otf.strategy import Script
from otf.trace.events import Quiet, Seen, Sent
from otf.trace.verdict import Verdict
from tests.core.cached_running import CODEC, TIMES, Output, Run, Side, World, called_off, conduct, never, quick, same
from tests.core.scripts import PORTS, ROUTES, machine
from tests.core.test_cached_run import answers, compared, words

ECHO = machine("s0 -a/x y-> s0", "s0 -b/z-> s0", "s0 -c-> s0")


def strict(random: Random, model: Model, mode: str, relation: str) -> list[Side]:
    """Return the side without cached runs, and the one with them."""
    timing = random.choice([Timing, Learnt])
    return [
        Side(model, quick, mode, relation, "alternating", strict=True, timing=timing(*TIMES)) for quick in (False, True)
    ]


@pytest.mark.parametrize("seed", range(16))
def test_runs_with_cached_steps_are_runs_without(seed: int) -> None:
    """On random specs and systems, right and wrong: the same choices, events, times and verdicts, the same session."""
    compared(seed, both=strict)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_many_runs_with_cached_steps_are_runs_without(part: int) -> None:
    """The same, for a long list."""
    for seed in range(1000 + 200 * part, 1200 + 200 * part):
        compared(seed, both=strict, paths=8)


def test_cached_steps_are_taken() -> None:
    """Many of the steps that were compared were cached ones: else it would prove nothing."""
    sides = [compared(seed, both=strict) for seed in range(60, 64)]
    assert sum(side.steps for side in sides) > 100
    assert any(side.steps > 2 * side.cached_runs for side in sides)


@pytest.mark.parametrize("room", [3, 30])
def test_forgetting_does_not_change_a_run(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    """However little is remembered, in the midst of a cached run as well."""
    monkeypatch.setattr(Memory.__init__, "__defaults__", (room,))
    compared(100, both=strict, paths=3)


@pytest.mark.parametrize("script", ["abcd" * 3, "aabbccdd" * 2, "badc" * 4])
@pytest.mark.parametrize("luck", [3, 11])
@pytest.mark.parametrize("breaks", [[], [4, 9, 23]])
def test_each_word_of_a_model_is_judged_the_same(script: str, luck: int, breaks: list[int]) -> None:
    """Choices, bags, guards, Accept and silence: wherever a cached run is called off, and with a wrong answer."""
    spec = Spec(words, 0, ["a", "b", "c", "d"])
    model, sent = Model(spec, ROUTES), [0]
    sides = [Side(model, each, strict=True) for each in (False, True)]

    def world(wrong: int) -> World:
        state = [0, luck]

        def answer(inp: str) -> list[Output]:
            sent[0] += 1
            right = answers("words", inp, state)
            return [("Q", "w")] if sent[0] == wrong else right

        return World(answer, Random(luck))

    for path in range(3):
        runs = list[Run]()
        for side in sides:
            sent[0] = 0
            run = Run(side.session(Script(script), 100), world(9 if path == 2 else 0), PORTS.__getitem__)
            runs.append(conduct(side, run, called_off(breaks)))
        same(*runs)
    assert sides[1].steps > 0


# Where it begins and ends


def echo(inp: str) -> list[Output]:
    """Follow the model."""
    return {"a": [("P", "x"), ("Q", "y")], "b": [("P", "z")], "c": []}[inp]


def warm(inputs: str = "abcabc") -> Side:
    """Return a side that has seen everything."""
    side = Side(Model(ECHO, ROUTES), quick=True, strict=True)
    for _ in range(2):
        conduct(side, Run(side.session(Script(inputs), 100), World(echo, Random(1)), PORTS.__getitem__))
    side.steps = side.cached_runs = 0
    return side


def begun(side: Side, inputs: str, flood: int = 10_000) -> Run:
    """Return a path at its start."""
    return Run(side.session(Script(inputs), 100, flood), World(echo, Random(1)), PORTS.__getitem__)


def started(run: Run) -> bool:
    """Return whether a cached run may begin."""
    return StrictRun.start(run.session, CODEC) is not None


def test_all_steps_that_were_taken_before_are_one_cached_run() -> None:
    """From the first to the last, those without an answer too."""
    side = warm()
    run = conduct(side, begun(side, "abc" * 5))
    assert (side.steps, side.cached_runs) == (15, 1)
    assert run.verdict == Verdict("pass")


def test_new_events_are_for_the_session() -> None:
    """An input that was never sent here, an output and a silence that were never seen here."""
    side = warm("aaaa")
    cached_run = StrictRun.start(begun(side, "ba").session, CODEC)
    assert cached_run is not None
    new = cached_run.choose()
    known = cached_run.choose()
    assert new is not None
    assert known is not None
    assert cached_run.learn_input(new, "B", b"b") is None
    go = cached_run.learn_input(known, "A", b"a")
    assert go is not None
    assert not go.unanswered
    cached_run.sent(go, Sent("a", "A", 0.0))
    assert cached_run.learn_output(("P", b"z"), "z") is None
    assert cached_run.after_quiet() is None


def test_a_cached_run_begins_after_quiescence() -> None:
    """Not within a step, with an input chosen, after a failure, or when the path is over."""
    side = warm()
    run = begun(side, "abab")
    assert started(run)
    assert isinstance(run.session.command(), Send)
    assert not started(run)
    run = begun(side, "abab")
    run.session.tell(Sent("b", "B", 9.0))
    assert not started(run)
    run = begun(side, "abab")
    run.session.tell(Seen("x", "P", 9.0))
    assert run.session.verdict is not None
    assert not started(run)
    run = begun(side, "abab")
    run.session.over = True
    assert not started(run)
    assert started(begun(side, "ab", flood=LONG))
    assert not started(begun(side, "ab", flood=LONG - 1))


def test_other_pacings_barriers_and_timed_models_have_none() -> None:
    """Eager and burst mode do not wait for each silence, a barrier asks, and windows depend on the time."""
    side = warm()
    run = begun(side, "ab")
    for pacing in (Eager(side.timing), Burst(side.timing, 5)):
        run.session.pacing = pacing
        assert not started(run)
    run = begun(side, "ab")
    side.model.timed = True
    assert not started(run)
    side.model.timed = False
    assert started(run)
    barrier = Barrier({"A": "c"}, lambda _port, _output: False)
    asking = Session(side.oracle, Script("ab"), run.session.pacing, steps=9, barrier=barrier)
    assert StrictRun.start(asking, CODEC) is None


def test_what_is_learnt_from_replies_needs_a_model_without_spontaneous_outputs() -> None:
    """A spontaneous output is no reply, and only the session can distinguish the two."""

    def beats(state: int) -> list[Transition[int]]:
        return [goto(0, "x")] if state else []

    def step(_state: int, _inp: str) -> list[Transition[int]]:
        return [goto(1)]

    for timing, may in ((Timing(*TIMES), True), (Learnt(*TIMES), False)):
        side = Side(Model(Spec(step, 0, ["a"], beats), ROUTES), quick=True, strict=True, timing=timing)
        run = begun(side, "aa")
        run.session.tell(Sent("a", "A", 0.0))
        run.session.tell(Quiet(9.0))
        assert run.session.moment.quiet
        assert started(run) is may


@pytest.mark.parametrize("strict", [False, True])
def test_an_input_that_only_waits_is_waited_out(strict: bool) -> None:
    """An output in the middle of the wait, and silence after it, do not let the next input be sent."""
    wait = Elapse(0.5)

    def step(state: int, _inp: object) -> list[Transition[int]]:
        return [goto(state, "x")]

    side = Side(Model(Spec(step, 0, ["a", wait]), ROUTES), quick=True, strict=strict)
    for _ in range(2):
        run = begun(side, "")
        run.session.chooser = Script([wait, "a"])
        assert isinstance(run.session.command(), Send)
        run.session.tell(Sent(wait, "", 0.0))
        run.session.tell(Seen("x", "P", 0.1))
        assert CachedRun.start(run.session, CODEC) is None
        run.session.tell(Quiet(0.3))
        assert not started(run)
        run.session.tell(Quiet(1.0))
        assert started(run) is strict


def test_a_silence_that_is_not_allowed_is_for_the_session() -> None:
    """An answer is missing: the session waits once more before it believes that."""
    side = warm()
    runs = [begun(side, "abab") for _ in range(2)]
    for run in runs:
        run.world.answer = lambda inp: [] if inp == "b" else echo(inp)
    side.quick = False
    conduct(side, runs[0])
    side.quick = True
    conduct(side, runs[1])
    same(*runs)
    assert runs[1].verdict is not None
    assert runs[1].verdict.failed


def test_what_is_remembered_is_forgotten_with_the_rest() -> None:
    """The quiescence after a step too."""
    side = warm()
    run = begun(side, "abab")
    quick(run, side, never)
    cached = StrictRun.start(run.session, CODEC)
    belief = run.session.monitor.belief
    side.oracle.model.memory.limit = 1
    side.oracle.model.symbol("new")
    assert cached is None or not cached.cached.quiet
    assert not belief.after


def test_where_a_set_is_too_large_the_session_is_asked() -> None:
    """A set above its cap ends the run: nothing that is known of it counts."""
    side = warm()
    cached_run = StrictRun.start(begun(side, "abab").session, CODEC)
    assert cached_run is not None
    symbol = cached_run.choose()
    assert symbol is not None
    cached_run.cached.inputs.clear()
    side.oracle.limits = Limits(hypotheses=0)
    assert cached_run.learn_input(symbol, "A", b"a") is None
