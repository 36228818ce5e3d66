"""What bounds the sets of explanations, and what happens at the bounds."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from otf.core import Limits, Routes
from otf.core.model import HEAVY
from otf.errors import ModelError
from otf.spec import Accept, Spec, Transition, goto, on, total
from otf.trace.events import Event, Sent
from tests.core.scripts import QUIET, events, machine, oracle, outcome, run, seen, spec_of, states, told

TWO = Limits(spontaneous=2)
STEPS = machine("s0 -/y-> s1", "s1 -/y-> s2", "s2 -/y-> s3", "s3 -/x-> s3", "s3 -a/w-> s4", "s4 -a-> s4")
BEATING = machine("s0 -/y-> s0", "s0 -a/x-> s0")


def test_unasked_outputs_beyond_the_cap_make_a_run_inconclusive() -> None:
    """X tells that three y are on their way; where two are followed at most, nothing can be said any more."""
    assert outcome(STEPS, "x! y! y! y! quiet") == "pass"
    assert outcome(oracle(STEPS, limits=TWO), "x!") == "inconclusive"
    assert "spontaneous" in run(oracle(STEPS, limits=TWO), "x!").why


def test_they_do_so_only_where_they_would_explain_what_was_seen() -> None:
    """However many y are on their way, no state gives z."""
    assert outcome(oracle(STEPS, limits=TWO), "z!") == "fail: unasked"
    assert outcome(oracle(BEATING, limits=Limits(spontaneous=0)), "a? z!") == "fail: wrong"
    assert outcome(oracle(BEATING, limits=Limits(spontaneous=0)), "a? x! x!") == "fail: wrong"


def test_a_doubt_does_not_outlast_silence() -> None:
    """All the y that would have to be seen first were not seen, so there were not more of them."""
    judge = oracle(BEATING, limits=TWO)
    assert [bool(each.beyond) for each in told(judge, "a? x!").belief.hypotheses] == [False, False, False, True]
    assert [bool(each.beyond) for each in told(judge, "a? x! y! quiet").belief.hypotheses] == [False]
    assert outcome(judge, "a? x! y! quiet z!") == "fail: unasked"


def test_after_the_outputs_that_are_followed_a_doubt_explains_anything_on_their_port() -> None:
    """One y is followed, a second is in doubt; outputs on Q after both are not judged any more."""
    judge = oracle(machine("s0 -/y-> s0", "s0 -a/x-> s1"), limits=Limits(spontaneous=1))
    assert outcome(judge, "a? x! y! quiet") == "pass"
    assert outcome(judge, "a? x! y! y! quiet") == "inconclusive"
    assert outcome(judge, "a? x! y! y! w!") == "inconclusive"
    assert outcome(judge, "a? x! y! w!") == "fail: wrong"


def test_what_an_answer_adds_behind_a_doubt_is_not_followed_either() -> None:
    """The w of a comes after an unknown number of y: neither it nor its absence is a failure."""
    judge = oracle(machine("s0 -/y-> s0", "s0 -a/x w-> s1"), limits=Limits(spontaneous=1))
    assert outcome(judge, "a? x! y! y! y! w! quiet") == "inconclusive"
    assert outcome(judge, "a? x! y! y! quiet") == "inconclusive"
    assert outcome(judge, "a? x! y! quiet") == "fail: missing"


def test_an_accept_behind_a_doubt_leaves_everything_open() -> None:
    """What it would accept cannot be told from the y before it."""

    def step(_state: object, inp: str) -> Iterable[Transition[object] | Accept]:
        return [Accept(lambda seen: [seen] if "y" not in seen else [], "Q")] if inp == "a" else [goto("end", "x")]

    spec = Spec[object, str](step, "new", ["a", "c"], emits=lambda state: [goto(state, "y")] if state == "new" else [])
    judge = oracle(spec, limits=Limits(spontaneous=1))
    assert outcome(judge, "a? c? x! y! w! quiet") == "pass"
    assert outcome(judge, "a? c? x! y! y! y! w!") == "inconclusive"


def test_a_doubt_may_be_taken_from_a_port_by_the_proof_that_an_input_was_taken() -> None:
    """Spontaneous outputs before a was taken were seen, so no y is followed and none is in doubt."""
    judged = told(oracle(BEATING, limits=Limits(spontaneous=0)), "a? taken")
    assert [each.beyond for each in judged.belief.hypotheses] == [()]


def counting(outputs: str) -> Spec[int, str]:
    """Return the spec of a system that counts spontaneously, without end."""
    return Spec(lambda state, _inp: [goto(state)], 0, ["a"], emits=lambda state: [goto(state + 1, *outputs)])


@pytest.mark.parametrize("script", ["x!", "quiet", "a? taken"])
def test_internal_steps_without_end_are_a_broken_model(script: str) -> None:
    """A model that never rests cannot be asked what it does next."""
    with pytest.raises(ModelError, match="more than 1000 internal steps in a row, the last into 1001"):
        run(counting(""), script)


def test_many_internal_steps_are_allowed() -> None:
    """A long way to rest is a way to rest."""
    resting = Spec[int, str](
        lambda state, _inp: [goto(state)],
        0,
        ["a"],
        emits=lambda state: [goto(state + 1)] if state < 999 else [goto(0, "x")],
    )
    assert outcome(resting, "x! x! quiet") == "pass"


def test_unasked_outputs_without_end_are_a_doubt_only() -> None:
    """A counter that tells each number is a good model; how far it is may be unknown."""
    assert outcome(counting("y"), "y! y! quiet y!") == "pass"
    assert outcome(counting("y"), "x!") == "inconclusive"


MERGING = machine("s0 -a-> s1", "s1 -a-> s2", "s2 -a-> s0", "s0 -b/x-> s0", "s1 -b/x x-> s1", "s2 -b/x x x-> s2")


def test_a_set_that_outgrows_its_cap_waits_for_quiescence() -> None:
    """More explanations than the cap are kept while inputs are in flight; after silence they must be few."""
    judge = oracle(MERGING, limits=Limits(hypotheses=4))
    monitor = told(judge, "a? b? a? b? x! x!")
    assert (monitor.crowded, monitor.verdict) == (True, None)
    assert outcome(judge, "a? b? a? b? x! x! x! quiet") == "pass"


def test_a_set_that_is_too_large_after_quiescence_makes_a_run_inconclusive() -> None:
    """No explanation is dropped to save room; the verdict names their number instead."""
    many = Spec[int, str](lambda _state, _inp: [goto(number) for number in range(5)], 0, ["a"])
    assert outcome(oracle(many, limits=Limits(hypotheses=4)), "a? quiet") == "inconclusive"
    assert outcome(oracle(many, limits=Limits(hypotheses=4)), "a? taken") == "inconclusive"
    assert outcome(oracle(many, limits=Limits(hypotheses=5)), "a? quiet") == "pass"
    assert run(oracle(many, limits=Limits(hypotheses=4)), "a? quiet").why.startswith("more than 4 explanations left")


def test_a_set_far_beyond_its_cap_is_not_waited_for() -> None:
    """More than five times the cap ends the run at once."""
    many = Spec[int, str](lambda _state, _inp: [goto(number, "x") for number in range(11)], 0, ["a"])
    assert outcome(oracle(many, limits=Limits(hypotheses=1)), "a? x!") == "inconclusive"


def wandering(width: int) -> Spec[int, str]:
    """Return the spec of a system that changes its state spontaneously, emits y or w meanwhile, and x on a."""

    def emits(state: int) -> Iterable[Transition[int]]:
        return [goto((state + 1) % width, "y"), goto((state * 2) % width, "w")]

    return Spec[int, str](lambda state, _inp: [goto(state), goto((state + 3) % width)], 0, ["a", "b"], emits)


def test_too_much_to_think_of_ends_a_run_soon() -> None:
    """Silent inputs in flight and free moves between them: the search gives up long before it has all explanations."""
    judge = oracle(wandering(50), limits=Limits(hypotheses=2, spontaneous=6))
    monitor = told(judge, "a? b? a? b? a? y!")
    assert monitor.end().outcome == "inconclusive"
    assert monitor.end().why.startswith("more than 10 explanations left")
    assert len(monitor.belief.hypotheses) == 1


def test_too_much_to_think_of_may_be_silence() -> None:
    """`would` answers that silence may be allowed, and the run ends at the event itself."""
    many = Spec[int, str](
        lambda state, _inp: [goto(state)], 0, ["a"], lambda state: [goto(10 * state + turn) for turn in range(10)]
    )
    monitor = told(oracle(many, limits=Limits(hypotheses=10)), "a?")
    assert monitor.would(QUIET)
    assert monitor.tell(QUIET) is not None
    assert monitor.end().outcome == "inconclusive"


def test_a_decided_run_stays_decided() -> None:
    """Events after the verdict are counted and change nothing."""
    monitor = told(machine("s0 -a/x-> s0"), "a? z! x! quiet")
    assert monitor.events == 4
    assert monitor.end() is monitor.verdict
    assert monitor.end().failed


@pytest.mark.parametrize(
    "script",
    [
        "a? x! quiet",  # one input after another
        "a? x!",  # without silence between them
        "a? a? x! x!",  # two in flight
        "d? a? x!",  # one that is never proven taken, while others are
        "a? taken x!",
    ],
)
def test_steps_that_were_seen_before_are_remembered(script: str) -> None:
    """The same again a hundred times makes no new sets, although the inputs' numbers grow."""
    judge = oracle(machine("s0 -a/x-> s1", "s1 -a/x-> s0", "s0 -d-> s0", "s1 -d-> s1"))
    warm = " ".join([script] * (6 if "d?" not in script else 1))
    rest = script.replace("d?", "")
    monitor = told(judge, warm)
    known = [len(judge.beliefs)]
    for _ in range(100):
        for event in events(rest.replace("taken", f"taken{monitor.sent + 1}")):
            monitor.tell(event)
        known.append(len(judge.beliefs))
    assert monitor.verdict is None
    assert known[4] == known[-1]


def test_runs_share_what_is_remembered() -> None:
    """A second run on the same oracle makes no new sets; another order of events may."""
    judge = oracle(MERGING)
    told(judge, "a? b? x! quiet")
    known = len(judge.beliefs)
    told(judge, "a? b? x! quiet")
    assert len(judge.beliefs) == known


def adding(number: int) -> list[Event]:
    """Return a step in which a number is added to zero, with the sum as its answer."""
    return [Sent(number, "A", 0), seen(number), QUIET]


def test_what_is_remembered_is_bounded() -> None:
    """With next to no memory the verdicts are the same, and little is kept."""
    partial = Spec[int, int](lambda _state, inp: [goto(0, on("P", inp))] if inp else [], 0, [1, 2, 3])
    judge = oracle(total(partial), routes=Routes(("P",), lambda _value: "A"))
    judge.model.memory.limit = 10
    script = [event for number in range(1, 100) for event in adding(number)]
    assert outcome(judge, *script) == "pass"
    assert outcome(judge, *script, seen(1)) == "fail: unasked"
    assert len(judge.beliefs) <= 10
    beliefs = [told(judge, *adding(number)).belief for number in range(1, 20)]
    assert {len(judge.view(each).specified) for each in beliefs} == {3}


def test_the_states_that_are_possible_are_known() -> None:
    """Before silence those that events have asked for, afterwards all in which the system may rest."""
    judge = machine("s0 -a/x-> s1", "s0 -a/x-> s2", "s2 --> s3")
    assert states(judge, "a?") == {"s0"}
    assert states(judge, "a? x!") == {"s1", "s2"}
    assert states(judge, "a? x! quiet") == {"s1", "s2", "s3"}


def test_large_values_are_judged_and_not_remembered() -> None:
    """They hardly ever come twice: a night of large answers would fill the memory."""
    judge = oracle(spec_of(goto("new", on("P", str))))
    large, short = "x" * HEAVY, "x"
    first, again = judge.model.symbol(large), judge.model.symbol(large)
    assert first == again
    assert first is not again
    assert judge.model.symbol(short) is judge.model.symbol(short)
    for output in (large, short):
        assert outcome(judge, "a?", seen(output), "quiet") == "pass"
    taken = judge.start().after["sent", "A", judge.model.symbol("a")].belief
    assert [*taken.after] == [("seen", "P", judge.model.symbol(short))]
