"""Laws of a model: verdicts, and the shortest way to see why a law fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import strategies as st

from otf.errors import ModelError, UsageError
from otf.explore import explore
from otf.explore.analysis import (
    allows,
    dead,
    forbids,
    general,
    known,
    liveness,
    minimal,
    reachable,
    safety,
    transitions,
    unsafe,
)
from otf.explore.finding import LawVerdict
from otf.models.coffees import C0, C1, C2, C3, C4, IO, c4, fair, solvent
from otf.models.queue import QUEUE, In, New, Queue
from otf.notations import table
from otf.spec import Accept, Spec, Transition, goto
from otf.suite import suite
from tests.explore.machines import DOOR


def laws(spec: Spec[int, object], limit: int = 1_000) -> dict[str, str]:
    """The verdicts on a coffee machine."""
    graph = explore(spec, limit)
    found = {each.law: str(each.verdict) for each in general(graph)}
    no_loss, no_credit = transitions(graph, fair), transitions(graph, solvent)
    return {**found, "fair": str(no_loss.verdict), "solvent": str(no_credit.verdict)}


@pytest.mark.parametrize(
    ("spec", "deterministic", "total", "no_loss"),
    [
        (C0, "proven", "refuted", "proven"),
        (C1, "refuted", "refuted", "proven"),
        (C2, "proven", "proven", "refuted"),
        (C3, "proven", "proven", "proven"),
        (C4, "passed", "passed", "passed"),
    ],
)
def test_the_coffee_machines_are_as_the_paper_says(
    spec: Spec[int, object], deterministic: str, total: str, no_loss: str
) -> None:
    """Section 4.1 of "Testing with Functions as Specifications"; integers do not overflow, so there is no credit."""
    found = laws(spec)
    assert (found["deterministic"], found["total"], found["fair"]) == (deterministic, total, no_loss)
    assert found["solvent"] == ("passed" if spec is C4 else "proven")


def test_a_machine_without_end_is_proven_within_its_states() -> None:
    """Multiples of five up to a hundred, as in the paper: with the states limited there is nothing beyond them."""

    def step(paid: int, inp: IO) -> list[Transition[int]]:
        return [way for way in c4(paid, inp) if way.state <= 100]

    limited = Spec(step, 0, C4.inputs)
    assert transitions(explore(limited), fair).verdict is LawVerdict.PROVEN
    assert str(safety(explore(C4, states=lambda paid: paid <= 100), lambda paid: paid >= 0)) == (
        "safe: proven within the states given: 21 states, 60 transitions"
    )


def test_what_was_seen_whole_within_bounds_is_proven_within_them() -> None:
    """Bounds on steps, states and values are named; a bound on the number of states proves nothing."""

    def positive(paid: int) -> bool:
        return paid >= 0

    def small(paid: int) -> bool:
        return paid <= 20

    def said(law: Callable[..., Any], *more: object, **bounds: Any) -> str:  # noqa: ANN401 -- bounds
        return str(law(explore(C4, **bounds), *more)).partition(": ")[2].partition(":")[0]

    assert said(safety, positive, depth=3) == "proven within 3 steps"
    assert said(safety, positive, depth=1) == "proven within 1 step"
    assert said(transitions, fair, states=small) == "proven within the states for which small is true"
    assert said(safety, positive, inputs=list(C4.inputs(0))[:1]) == "passed"
    assert said(safety, positive, inputs=[IO.BUTTON]) == "proven within the inputs given"
    assert said(safety, positive, limit=10) == "passed"
    assert said(liveness, positive, depth=3) == "passed"
    found = {each.law: str(each.verdict) for each in general(explore(C4, depth=3))}
    assert (found["deterministic"], found["total"], found["minimal"]) == ("proven within", "proven within", "passed")
    assert general(explore(C4, states=small))[0].verdict is LawVerdict.PASSED


@dataclass(frozen=True)
class Add:
    number: int


def _adds(total: int, inp: Add | bool) -> list[Transition[int]]:
    return [goto((total + inp.number) % 3 if isinstance(inp, Add) else 0, total)]


def test_inputs_without_end_are_named_as_the_sample_that_they_are() -> None:
    """Findings and suites name the sample of an endless type of inputs; finite types need no note."""
    endless = Spec(_adds, 0)
    found = safety(explore(endless), lambda total: total < 3)
    assert (found.verdict, found.says) == (
        LawVerdict.WITHIN,
        "the first 100 inputs of Add: 3 states, 306 transitions",
    )
    told = str(suite(endless, "tour"))
    assert "only the first 100 inputs of Add are sent: nothing is known about others" in told
    bounded = explore(endless, values={int: range(3)})
    assert str(safety(bounded, bool, law="never 0")).startswith("never 0: refuted")
    assert safety(bounded, lambda total: total < 3).says.startswith("the values given for int: 3 states")
    strategy: Any = st.sampled_from([Add(1), Add(2)])
    drawn = Spec(_adds, 0, strategy)
    assert "the first 2 inputs of the given values" in safety(explore(drawn), lambda total: total < 3).says
    assert safety(explore(Spec(_adds, 0, [Add(1), True])), lambda total: total < 3).verdict is LawVerdict.PROVEN


def test_the_queue_is_as_the_paper_says() -> None:
    """Deterministic; not total, since `Init` twice is left open; adding enlarges a queue that was started."""
    graph = explore(QUEUE, states=lambda state: isinstance(state, New) or len(state.elements) < 3)
    found = {each.law: each for each in general(graph)}
    assert found["deterministic"].verdict is LawVerdict.PASSED
    assert found["total"].says == "Init() is not specified in Queue()"

    def size(state: New | Queue) -> int:
        return len(state.elements) if isinstance(state, Queue) else 0

    def enlarges(state: New | Queue, inp: object, after: New | Queue, _outputs: object) -> bool:
        return not isinstance(inp, In) or size(after) == size(state) + 1

    assert [str(step) for step in transitions(graph, enlarges).way] == ["In(element=0) / nothing"]

    def grows(state: New | Queue, inp: object, after: New | Queue, outputs: object) -> bool:
        return isinstance(state, New) or enlarges(state, inp, after, outputs)

    started = transitions(graph, grows)
    assert started.verdict is LawVerdict.WITHIN


def test_what_is_not_safe_is_shown_on_the_shortest_way() -> None:
    """A refuted safety law comes with the two steps that lead to the broken door."""
    graph = explore(DOOR)
    found = safety(graph, lambda state: state != "broken")
    assert str(found).splitlines() == [
        "safe: refuted: not in 'broken'",
        "    1  'lock' / 'clack'",
        "    2  'kick' / nothing",
    ]
    assert {graph.values[number] for number in unsafe(graph, lambda state: state != "broken")} == {"broken"}
    assert safety(graph, bool).verdict is LawVerdict.PROVEN


def test_a_dead_end_may_have_ways_out() -> None:
    """A broken door can be kicked for ever but never closed, so it is dead."""
    graph = explore(DOOR)
    assert {graph.values[number] for number in dead(graph)} == {"broken"}
    assert [step.input for step in liveness(graph).way] == ["lock", "kick"]
    assert liveness(graph, lambda state: state == "broken").verdict is LawVerdict.PROVEN


def test_without_accepting_states_a_dead_end_has_no_way_out() -> None:
    """Without a test of acceptance, a state is dead if it has no transition."""
    assert dead(explore(table([(0, "a", [], 1)]))) == {1}


def test_what_lies_beyond_a_bound_may_be_alive() -> None:
    """A state from which a bound cut something off is not called dead."""
    graph = explore(Spec(lambda state, _inp: [goto(state + 1)], 0, ["a"]), 5)
    assert dead(graph, lambda state: state > 100) == set()
    assert liveness(graph, lambda state: state > 100).verdict is LawVerdict.PASSED


def test_a_goal_is_reached_or_not_or_undecided() -> None:
    """A goal is proven with a way, refuted if all states were seen, and undecided if not."""
    graph = explore(DOOR)
    assert [step.input for step in reachable(graph, lambda state: state == "locked").way] == ["lock"]
    assert reachable(graph, lambda state: state == "gone").verdict is LawVerdict.REFUTED
    cut = explore(DOOR, 2)
    assert reachable(cut, lambda state: state == "gone").verdict is LawVerdict.UNDECIDED
    assert not reachable(cut, lambda state: state == "gone")


def test_several_transitions_with_one_output_are_told_apart_from_those_with_several() -> None:
    """Nondeterministic, but its outputs tell which way it went; and one where they do not."""
    told = table([(0, "a", ["x"], 1), (0, "a", ["y"], 2)])
    untold = table([(0, "a", ["x"], 1), (0, "a", ["x"], 2)])
    for spec, verdict in ((told, LawVerdict.PROVEN), (untold, LawVerdict.REFUTED)):
        found = {each.law: each for each in general(explore(spec))}
        assert (found["deterministic"].verdict, found["output-deterministic"].verdict) == (LawVerdict.REFUTED, verdict)


def test_states_that_nothing_tells_apart_are_named() -> None:
    """The law `minimal` names the second of two states that are alike, with the way to it."""
    twice = table([(0, "a", ["x"], 1), (1, "a", ["x"], 0)])
    assert str(minimal(explore(twice))).splitlines() == [
        "minimal: refuted: nothing tells 0 and 1 apart",
        "    1  'a' / 'x'",
    ]


def test_input_enabled_asks_for_every_input() -> None:
    """A total model specifies the inputs enabled in a state; an input-enabled one those enabled in any state."""

    def inputs(state: int) -> list[str]:
        return ["a"] if state else ["a", "b"]

    graph = explore(Spec(lambda state, inp: [goto(1)] if inp in inputs(state) else [], 0, inputs))
    found = {each.law: each.verdict for each in general(graph)}
    assert (found["total"], found["input-enabled"]) == (LawVerdict.PROVEN, LawVerdict.REFUTED)


def test_where_outputs_decide_nothing_is_proven() -> None:
    """No law is proven of a model with an Accept, since the states after it are not known."""
    graph = explore(Spec(lambda _state, _inp: [Accept(lambda seen: seen)], 0, ["a"]))
    assert str(safety(graph, lambda _state: True)).endswith("not all were seen: outputs that decide the next state")
    assert minimal(graph).verdict is LawVerdict.PASSED


def _broken(_state: object) -> bool:
    raise ZeroDivisionError("oh")


def _refuses(_state: object) -> bool:
    raise UsageError("not so")


def test_what_comes_unasked_is_no_transition_on_an_input() -> None:
    """An invariant of transitions is about inputs; general laws are about inputs, too."""
    ticking = table([(0, "a", [], 1)], spontaneous=[(1, ["tick"], 0), (1, ["tock"], 0)])
    assert transitions(explore(ticking), lambda *parts: parts[0] == 0).verdict is LawVerdict.PROVEN
    assert general(explore(ticking))[0].verdict is LawVerdict.PROVEN


def test_an_error_on_purpose_comes_out_as_it_is() -> None:
    """A ModelError or UsageError of the law's function is passed on unchanged."""
    with pytest.raises(UsageError, match=r"^not so$"):
        safety(explore(DOOR), _refuses)


def test_a_law_that_raises_is_named() -> None:
    """If the law's function raises, the error names the law and the state."""
    with pytest.raises(ModelError, match="mine: it raised ZeroDivisionError on 'closed': oh"):
        safety(explore(DOOR), _broken, "mine")
    with pytest.raises(ModelError, match="accepting: it raised"):
        liveness(explore(DOOR), _broken)


def test_laws_and_goals_cite_their_requirements() -> None:
    """Each finding has the requirements of its law, whether it holds or not."""
    graph, req = explore(C2), ["R1", "R2"]
    findings = [
        safety(graph, _broken_at_five, req=req),
        transitions(graph, fair, req=req),
        liveness(graph, lambda state: state == 0, req=req),
        reachable(graph, lambda state: state == 5, req=req),
        reachable(graph, lambda state: state == 7, req=req),
        allows(C2, "", req=req),
        forbids(C2, "", req=req),
    ]
    assert [each.req for each in findings] == [("R1", "R2")] * len(findings)
    assert "(violates R1, R2)" in str(findings[1])
    assert "(R1, R2)" in str(findings[3])


def _broken_at_five(state: int) -> bool:
    return state != 5


def test_a_scenario_may_name_what_comes_after_an_accept() -> None:
    """The states after it are not known before it was seen, so that no action is one that the model does not have."""

    def emits(state: int) -> Iterator[Accept]:
        if state < 0:
            yield Accept(lambda seen: [len(seen[0])])

    def step(state: int, inp: str) -> Iterator[Transition[int]]:
        yield goto(state, inp)

    spec = Spec(step, -1, lambda state: [] if state < 0 else ["a", "b"], emits)
    assert known(spec, "a b").patterns
    with pytest.raises(UsageError, match="names c, which is not an action of the model; its actions are 'a', 'b'"):
        known(Spec(step, 0, ["a", "b"]), "a c")
