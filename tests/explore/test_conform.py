"""Conformance and equivalence of models, proven or refuted by their product."""

from __future__ import annotations

import time
from typing import Any

import pytest

from otf.core import Routes
from otf.errors import UsageError
from otf.explore import explore
from otf.explore.conform import conforms, equivalent
from otf.explore.finding import LawVerdict
from otf.models.altbit import Error, Message, receiver
from otf.models.coffees import C0, C1, C2, C3, C4, MACHINES
from otf.models.conference.figure import figure
from otf.models.conference.spec import Sizes, conference
from otf.models.tea import BANG, CACAO, COFFEE_ONLY, TEA
from otf.notations import table
from otf.spec import Accept, AnyOrder, OneOf, Spec, Transition, goto, on, total

CONFORMS = {
    "c0": "c0 c1",
    "c1": "c1",
    "c2": "c0 c1 c2",
    "c3": "c0 c1 c3",
    "c4": "c0 c1 c4",
}
"""Which machine is an implementation of which; c0 and c1 are none of those that take more inputs than they do."""


def test_the_matrix_of_the_coffee_machines_is_that_of_the_paper() -> None:
    """Section 3.4 of "Testing with Functions as Specifications": all 25 decided by proof, in less than a second."""
    before = time.process_time()
    found = {(system.name, spec.name): conforms(system, spec) for system in MACHINES for spec in MACHINES}
    assert time.process_time() - before < 1
    assert {each.verdict for each in found.values()} == {LawVerdict.PROVEN, LawVerdict.REFUTED}
    assert {
        name: " ".join(spec for (system, spec), each in found.items() if system == name and each) for name in CONFORMS
    } == CONFORMS


@pytest.mark.parametrize(
    ("system", "spec", "steps"),
    [(C3, C2, 2), (C2, C3, 2), (C4, C2, 3), (C4, C3, 2), (C3, C4, 2), (C2, C4, 3), (C1, C0, 2)],
)
def test_each_refutation_has_a_shortest_trace(system: Spec[Any, Any], spec: Spec[Any, Any], steps: int) -> None:
    """A refutation has a shortest trace: two coins too many tell c2, c3 and c4 apart, a second cup takes one more."""
    found = conforms(system, spec)
    assert (found.verdict, len(found.way)) == (LawVerdict.REFUTED, steps)


def test_a_refutation_says_what_was_allowed() -> None:
    """A refutation says what the spec allows, and shows the steps that were taken."""
    assert str(conforms(C3, C2)).splitlines() == [
        "c3 conforms to c2: refuted: the spec allows no output",
        "    1  Nickel / nothing",
        "    2  Dime / Dime",
    ]


def test_what_does_not_take_an_input_is_no_implementation() -> None:
    """As in the paper, c1 is not an implementation: it is not input-enabled."""
    assert conforms(C1, C2).says == "c1 does not accept Button in 0, so it is not an implementation"


def test_a_machine_of_states_without_end_is_not_proven() -> None:
    """Against itself it is, since it is the same; against a copy of itself it passes within the limit."""
    copy = Spec(C4.step, 5, C4.inputs, name="copy")
    assert conforms(C4, C4).says == "it is the spec itself"
    assert (
        conforms(copy, Spec(C4.step, 5, C4.inputs, lambda _state: [], name="c5"), limit=50).verdict is LawVerdict.PASSED
    )


@pytest.mark.parametrize("relation", ["uioco", "any"])
def test_a_nondeterministic_spec_allows_either(relation: Any) -> None:  # noqa: ANN401 -- a relation
    """Tea or coffee: one that makes coffee only conforms, also if it does more when it is hit; cacao does not."""
    assert conforms(COFFEE_ONLY, TEA, relation=relation).verdict is LawVerdict.PROVEN
    assert conforms(BANG, TEA, relation=relation).verdict is LawVerdict.PROVEN
    assert [str(step) for step in conforms(CACAO, TEA, relation=relation).way] == [
        "'Button' / nothing",
        "'Coin' / 'cacao'",
    ]


def ticking(*outputs: str) -> Spec[Any, Any]:
    """Return a machine with these spontaneous outputs, once it is on."""
    return table(
        [("off", "go", [], 0)],
        spontaneous=[(at, [each], at + 1) for at, each in enumerate(outputs)],
        name="ticking",
    )


def test_what_comes_unasked_is_judged_too() -> None:
    """Spontaneous outputs may come but need not: fewer conform, others do not."""
    assert conforms(ticking("tick"), ticking("tick", "tock")).verdict is LawVerdict.PROVEN
    found = conforms(ticking("tick", "tack"), ticking("tick", "tock"))
    assert [str(step) for step in found.way] == ["'go' / nothing", "(spontaneous) / 'tick'", "(spontaneous) / 'tack'"]
    assert found.says == "the spec allows 'tock'"


def test_outputs_in_any_order_and_alternatives() -> None:
    """An implementation may fix what the spec leaves open, and not the other way round."""
    bag = table([(0, "a", [AnyOrder("x", "y")], 0)], name="bag")
    row = table([(0, "a", ["y", "x"], 0)], name="row")
    either = table([(0, "a", [OneOf("x", "y")], 0)], name="either")
    one = table([(0, "a", ["x"], 0)], name="one")
    text = table([(0, "a", [str], 0)], name="text")
    for system, spec, verdict in [
        (row, bag, LawVerdict.PROVEN),
        (bag, row, LawVerdict.REFUTED),
        (one, either, LawVerdict.PROVEN),
        (either, one, LawVerdict.REFUTED),
        (one, text, LawVerdict.PROVEN),
    ]:
        assert conforms(system, spec).verdict is verdict
    for odd in (
        text,
        table([(0, "a", [AnyOrder(*range(7))], 0)]),
        Spec(lambda _s, _i: [Accept(lambda seen: seen)], 0, ["a"]),
    ):
        with pytest.raises(UsageError, match=r"as values|too many orders"):
            conforms(odd, Spec(lambda _state, _inp: [goto(0)], 0, ["a"]))


def test_ports_have_no_order_among_each_other() -> None:
    """The receiver of the alternating-bit protocol hands over and acknowledges, in whichever order."""
    spec = receiver()

    def other(bit: int, inp: Message | Error) -> list[Transition[int]]:
        ways = [way for way in spec.step(bit, inp) if isinstance(way, Transition)]
        return [goto(way.state, *reversed(way.outputs)) for way in ways]

    routes = Routes(("net", "user"), lambda value: "user" if type(value).__name__ == "Deliver" else "net")
    assert conforms(Spec(other, 0, spec.inputs, name="other"), spec, routes=routes).verdict is LawVerdict.PROVEN


def test_completing_is_not_the_same_for_both() -> None:
    """`enableInput` of the paper: of c0 it gives c2, of c1 it does not."""
    assert equivalent(total(C0), C2).verdict is LawVerdict.PROVEN
    found = equivalent(total(C1), C2)
    assert (found.says, str(found.way[-1])) == ("only c1 does that", "Button / nothing")


def test_the_table_and_the_function_of_the_conference_are_equivalent() -> None:
    """Figure 8.1 and the function, for entities, nicknames, conferences and messages."""
    for sizes in ((1, 1, 1, 1), (2, 2, 2, 2), (3, 2, 1, 1)):
        written = explore(figure(Sizes(*sizes)))
        assert equivalent(written, conference(Sizes(*sizes))).verdict is LawVerdict.PROVEN


def test_equivalence_within_bounds_is_passed() -> None:
    """Within bounds equivalence is passed, not proven; a model with an Accept is refused."""
    assert equivalent(explore(C4, 10), explore(C4, 10)).verdict is LawVerdict.PASSED
    with pytest.raises(UsageError, match="equivalence cannot be decided"):
        equivalent(Spec(lambda _state, _inp: [Accept(lambda seen: seen)], 0, ["a"]), C0)


def test_two_that_choose_alike_are_equivalent() -> None:
    """Only traces count, not the names of states, nor the moment of a choice."""
    early = table([(0, "a", [], 1), (0, "a", [], 2), (1, "b", ["x"], 0), (2, "b", ["y"], 0)])
    late = table([("s", "a", [], "t"), ("t", "b", ["x"], "s"), ("t", "b", ["y"], "s")])
    assert equivalent(early, late).verdict is LawVerdict.PROVEN


def test_on_a_port_is_the_value() -> None:
    """Where there is one port only, naming it changes nothing for the implementation."""
    assert conforms(table([(0, "a", [on("sut", "x")], 0)]), table([(0, "a", ["x"], 0)])).verdict is LawVerdict.PROVEN
