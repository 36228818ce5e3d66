"""What bounds the sets of explanations, and what happens at the bounds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from otf.core import Limits, Model, Monitor, Oracle, Routes, lookahead
from otf.core.hypothesis import Hypothesis
from otf.core.model import HEAVY
from otf.core.search import UNDER_WAY
from otf.core.windows import Windows
from otf.errors import ModelError
from otf.spec import Accept, Spec, Transition, goto, on, total
from otf.trace.events import Event, Seen, Sent
from tests.core.scripts import QUIET, events, machine, oracle, outcome, run, seen, spec_of, states, told

TWO = Limits(spontaneous=2)
STEPS = machine("s0 -/y-> s1", "s1 -/y-> s2", "s2 -/y-> s3", "s3 -/x-> s3", "s3 -a/w-> s4", "s4 -a-> s4")
BEATING = machine("s0 -/y-> s0", "s0 -a/x-> s0")


def test_more_unasked_outputs_are_followed_where_few_explain_nothing() -> None:
    """X tells that three y are on their way, though two are followed at first."""
    for judge in (oracle(STEPS), oracle(STEPS, limits=TWO)):
        assert outcome(judge, "x! y! y! y! quiet") == "pass"
        assert outcome(judge, "x! y! y! quiet") == "fail: missing"


def test_no_more_are_followed_than_the_bound_says() -> None:
    """It is an assumption about the system: with two at most, x cannot come before three y."""
    assert outcome(oracle(STEPS, limits=Limits(spontaneous=1, ahead=2)), "x!") == "fail: unasked"


def test_what_no_state_gives_fails_however_many_are_followed() -> None:
    """However many y are on their way, no state gives z."""
    assert outcome(oracle(STEPS, limits=TWO), "z!") == "fail: unasked"
    assert outcome(oracle(BEATING, limits=Limits(spontaneous=0)), "a? z!") == "fail: wrong"
    assert outcome(oracle(BEATING, limits=Limits(spontaneous=0)), "a? x! x!") == "fail: wrong"


def test_unasked_outputs_cost_nothing_where_they_change_no_answer() -> None:
    """Whether y came before a was taken or after it makes no difference: one explanation is enough."""
    judge = oracle(BEATING, limits=TWO)
    assert len(told(judge, "a? x!").belief.hypotheses) == 1
    assert outcome(judge, "a? x! y! quiet z!") == "fail: unasked"


def test_what_follows_more_outputs_than_are_followed_is_judged() -> None:
    """One y is followed at first; two came, and after them w is wrong, and silence is right."""
    judge = oracle(machine("s0 -/y-> s0", "s0 -a/x-> s1"), limits=Limits(spontaneous=1))
    assert outcome(judge, "a? x! y! quiet") == "pass"
    assert outcome(judge, "a? x! y! y! quiet") == "pass"
    assert outcome(judge, "a? x! y! y! w!") == "fail: wrong"
    assert outcome(judge, "a? x! y! w!") == "fail: wrong"


def test_an_answer_behind_many_outputs_is_due() -> None:
    """The w of a comes after an unknown number of y; it must come."""
    judge = oracle(machine("s0 -/y-> s0", "s0 -a/x w-> s1"), limits=Limits(spontaneous=1))
    assert outcome(judge, "a? x! y! y! y! w! quiet") == "pass"
    assert outcome(judge, "a? x! y! y! quiet") == "fail: missing"
    assert outcome(judge, "a? x! y! quiet") == "fail: missing"


def test_an_accept_behind_many_outputs_is_judged() -> None:
    """What it would accept is told from the y before it."""

    def step(_state: object, inp: str) -> Iterable[Transition[object] | Accept]:
        return [Accept(lambda seen: [seen] if "y" not in seen else [], "Q")] if inp == "a" else [goto("end", "x")]

    spec = Spec[object, str](step, "new", ["a", "c"], emits=lambda state: [goto(state, "y")] if state == "new" else [])
    judge = oracle(spec, limits=Limits(spontaneous=1))
    assert outcome(judge, "a? c? x! y! w! quiet") == "pass"
    assert outcome(judge, "a? c? x! y! y! y! w!") == "pass"


def test_outputs_that_came_at_once_are_followed_from_then_on() -> None:
    """Five y came within L of x: so many may be on their way again, and the monitor follows them at first."""
    judge = oracle(machine("s0 -/y-> s0", "s0 -a/x-> s1", "s1 -/y-> s0"), limits=Limits(spontaneous=1))
    monitor = Monitor(judge)
    times: list[Event] = [
        Sent("a", "A", 0.0),
        Seen("x", "P", 0.0),
        *(Seen("y", "Q", 0.0) for _ in range(5)),
        Sent("a", "A", 9.0),
    ]
    assert [monitor.tell(event) for event in times] == [None] * 8
    assert monitor.oracle.limits.spontaneous > judge.limits.spontaneous


def test_what_was_lost_stays_lost_where_more_outputs_are_followed() -> None:
    """Judging again begins after what was lost, and cannot find it: until quiescence, no failure is certain."""
    judge = oracle(machine("s0 -/y-> s0", "s0 -a/x-> s1", "s1 -/y-> s0"), limits=Limits(spontaneous=1))
    monitor = Monitor(judge)
    monitor.lookahead.give_up()
    ys = (Seen("y", "Q", at) for at in (0.0, 0.0, 0.0, 0.0, 0.0, 9.0))
    came: list[Event] = [Sent("a", "A", 0.0), Seen("x", "P", 0.0), *ys]
    assert [monitor.tell(event) for event in came] == [None] * 8
    assert monitor.oracle.limits.spontaneous > judge.limits.spontaneous
    wrong = monitor.tell(Seen("z", "Q", 9.0))
    assert wrong is not None
    assert wrong.outcome == "inconclusive"


def test_a_million_outputs_need_no_more_memory_than_a_thousand(monkeypatch: pytest.MonkeyPatch) -> None:
    """What may have to be judged again is forgotten once the time has passed in which it may matter."""
    monkeypatch.setattr(lookahead, "EVENTS", 50)
    monitor = Monitor(oracle(counting("y"), limits=Limits(spontaneous=1)))
    for number in range(2_000):
        assert monitor.tell(Seen("y", "Q", number / 10)) is None
        assert len(monitor.lookahead.events) <= 50
    assert not monitor.lookahead.lost


def test_where_too_much_would_have_to_be_judged_again_nothing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many events at one time that they are not kept: what fails after them may have an explanation."""
    monkeypatch.setattr(lookahead, "EVENTS", 3)
    judge = oracle(
        machine("s0 -/y-> s1", "s1 -/y-> s2", "s2 -/y-> s0", "s0 -a-> s0", "s1 -a-> s1", "s2 -a/x-> s2"),
        limits=Limits(spontaneous=1),
    )
    assert outcome(judge, "a? y! x! y! y! y! y! y! y! y! z!") == "inconclusive"
    assert "under way" in run(judge, "a? y! x! y! y! y! y! y! y! y! z!").why


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


def test_unasked_outputs_without_end_hide_nothing() -> None:
    """A counter that tells each number is a good model; x is in none of its states, however far it is."""
    assert outcome(counting("y"), "y! y! quiet y!") == "pass"
    assert outcome(counting("y"), "x!") == "fail: unasked"


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


def test_of_a_set_far_beyond_its_cap_one_explanation_is_followed() -> None:
    """An output is right or wrong all the same; after silence the states are too many."""
    many = Spec[int, str](lambda _state, _inp: [goto(number, "x") for number in range(11)], 0, ["a"])
    judge = oracle(many, limits=Limits(hypotheses=2))
    assert told(judge, "a? x!").crowded
    assert outcome(judge, "a? x!") == "pass"
    assert outcome(judge, "a? x! x!") == "fail: wrong"
    assert outcome(judge, "a? x! quiet") == "inconclusive"


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


def test_an_output_that_nothing_explains_takes_no_longer_where_hundreds_may_be_under_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A move among many outputs with windows counts as several."""
    spontaneous, carried = Windows.spontaneous, 0

    def counted(self: Windows, now: Hypothesis, *arguments: Any, **more: Any) -> Hypothesis:  # noqa: ANN401 -- handed on
        nonlocal carried
        carried += sum(len(outputs) for _, outputs in now.outstanding)
        return spontaneous(self, now, *arguments, **more)

    monkeypatch.setattr(Windows, "spontaneous", counted)
    spec = Spec[int, str](
        lambda state, _: [goto(state, "answer")],
        0,
        ["ask"],
        emits=lambda state: [goto(state, "tick", within=(0, 0.26))],
    )
    limits = Limits(hypotheses=2000)
    monitor = Monitor(Oracle(Model(spec), "uioco", limits))
    monitor.tell(Sent("ask", "sut", 0.1))
    verdict = monitor.tell(Seen("tick", "elsewhere", 0.1))
    assert verdict is not None
    assert verdict.outcome == "fail"
    # the second judging may take as much as two searches, in all its depths
    assert carried < 2 * UNDER_WAY * limits.work
