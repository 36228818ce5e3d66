"""The enabled inputs: those that are specified wherever the system may take them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from otf.core import Limits, Model, Oracle, Relation, View
from otf.errors import ModelError
from otf.spec import Accept, Spec, Transition, goto, restrict, total
from tests.core.scripts import ROUTES, machine, oracle, told

FORKED = machine("s0 -a-> s1", "s0 -a-> s2", "s1 -a-> s1", "s1 -c-> s1", "s1 -b-> s1", "s2 -c-> s2", "s2 -b-> s2")
LADDER = machine("s0 -a-> s1", "s1 -c-> s2", "s1 -b-> s1", "s2 -d-> s2", "s2 -b-> s2")


def enabled(judge: Oracle | Spec[str, str], script: str) -> View:
    """Return the enabled inputs after a script."""
    judge = judge if isinstance(judge, Oracle) else oracle(judge)
    return judge.view(told(judge, script).belief)


def specified(judge: Oracle | Spec[str, str], script: str) -> str:
    """Return the inputs that the model specifies wherever they may be taken, as one word."""
    return "".join(str(inp.value) for inp in enabled(judge, script).specified)


def test_what_every_possible_state_specifies_may_be_offered() -> None:
    """After a the system is in s1 or s2; only the first specifies a."""
    assert specified(FORKED, "") == "a"
    assert specified(FORKED, "a? quiet") == "cb"
    assert [inp.value for inp in enabled(FORKED, "a? quiet").others] == ["a"]


def test_by_the_relation_any_one_state_is_enough() -> None:
    """S1 specifies a."""
    assert specified(oracle(FORKED, relation="any"), "a? quiet") == "acb"


@pytest.mark.parametrize(("relation", "allowed"), [("uioco", "cb"), ("any", "acb")])
def test_an_input_that_is_not_listed_may_be_asked_for(relation: Relation, allowed: str) -> None:
    """A spec without enabled inputs specifies inputs all the same: a script may send them."""
    judge = oracle(restrict(FORKED, lambda _state, _inp: False), relation=relation)
    seen = enabled(judge, "a? quiet")
    assert seen.specified == seen.others == ()
    assert "".join(inp for inp in "acbd" if seen.allows(judge.model.symbol(inp))) == allowed


def test_the_completed_spec_allows_all_inputs_and_specifies_those_of_the_model() -> None:
    """The others are tried too, and judged as ignored."""
    judge = oracle(total(FORKED))
    seen = enabled(judge, "a? quiet")
    assert [inp.value for inp in seen.specified] == ["c", "b"]
    assert [inp.value for inp in seen.others] == ["a"]
    assert all(seen.allows(judge.model.symbol(inp)) for inp in "acbd")


def test_an_input_on_the_same_port_is_taken_after_those_in_flight() -> None:
    """C comes after a on the port A: it will be taken in s1."""
    assert specified(LADDER, "a?") == "c"
    assert specified(LADDER, "a? c?") == ""
    assert specified(LADDER, "a? c? quiet") == "bd"


def test_an_input_on_another_port_may_be_taken_before_those_in_flight() -> None:
    """B comes on B, so it may be taken in s0, which does not specify it, although a was sent before."""
    assert not enabled(LADDER, "a?").allows(Model(LADDER, ROUTES).symbol("b"))
    assert specified(LADDER, "a? quiet") == "cb"
    assert [node.value for node in enabled(LADDER, "a? c?").nodes] == ["s2"]


def test_unasked_moves_count() -> None:
    """The system may leave s0 spontaneously, in silence or with an output; s1 and s2 do not specify a."""
    assert specified(machine("s0 -a-> s0", "s0 -c-> s0", "s0 --> s1", "s1 -c-> s1"), "") == "c"
    assert specified(machine("s0 -a-> s0", "s0 -c-> s0", "s0 -/x-> s1", "s1 -c-> s1"), "") == "c"


def test_unasked_moves_count_as_far_as_they_are_followed() -> None:
    """What would take more spontaneous outputs than the cap is a doubt anyway."""
    chain = machine(
        "s0 -/x-> s1", "s1 -/x-> s2", "s0 --> s1", *(f"s{number} -c-> s0" for number in range(3)), "s0 -a-> s0"
    )
    assert [node.value for node in enabled(oracle(chain, limits=Limits(spontaneous=1)), "").nodes] == ["s0", "s1", "s2"]
    assert [node.value for node in enabled(oracle(chain, limits=Limits(spontaneous=0)), "").nodes] == ["s0", "s1"]


def test_internal_steps_without_end_are_a_broken_model() -> None:
    """They are found before the first event, and do not keep the tester for ever."""
    counting = Spec[int, str](lambda state, _inp: [goto(state)], 0, ["a"], emits=lambda state: [goto(state + 1)])
    judge = Oracle(Model(counting))
    with pytest.raises(ModelError, match="more than 1000 internal steps"):
        judge.view(judge.start())


def choosing() -> Spec[str, str]:
    """Return a spec in which the answer to a decides what is possible."""

    def step(state: str, inp: str) -> Iterable[Transition[str] | Accept]:
        yield Accept(lambda seen: [seen[0]], "P") if inp == "a" else goto(state)

    return Spec(step, "new", ["a", "b", "c"])


@pytest.mark.parametrize("script", ["a?", "c? a?", "a? b? y!"])
def test_while_an_accept_is_open_nothing_may_be_offered(script: str) -> None:
    """The next state is not known: whether it specifies anything is not, either."""
    assert specified(choosing(), script) == ""
    assert specified(choosing(), "a? x!") == "abc"


def test_by_the_relation_any_the_states_that_are_known_are_enough() -> None:
    """B may be taken before a is, in a state that specifies it."""
    seen = enabled(oracle(choosing(), relation="any"), "a?")
    assert seen.allows(Model(choosing()).symbol("b"))


def test_an_accept_that_may_come_unasked_does_not_forbid_inputs() -> None:
    """It may come at any time: otherwise no input could ever be enabled."""
    spec = Spec[str, str](
        lambda state, _inp: [goto(state)], "new", ["a"], emits=lambda _state: [Accept(lambda seen: [seen[0]], "P")]
    )
    assert specified(spec, "") == "a"


def test_a_state_of_which_nothing_is_known_offers_nothing() -> None:
    """After an unspecified input there is no more to ask."""
    assert specified(LADDER, "d? quiet") == ""
    assert not enabled(LADDER, "d? quiet").allows(Model(LADDER, ROUTES).symbol("a"))


def test_where_ports_of_inputs_are_not_known_they_may_be_any() -> None:
    """Without a codec's word c is not known to be taken after a."""
    judge = Oracle(Model(LADDER))
    seen = judge.view(told(judge, "a?").belief)
    assert seen.specified == ()


def test_where_an_input_may_lead_is_known() -> None:
    """To each state once, from all that are possible; an Accept tells no state before its outputs."""
    view = enabled(FORKED, "a? quiet")
    assert [node.value for node in view.targets(Model(FORKED).symbol("c"))] == ["s1", "s2"]
    assert view.targets(Model(FORKED).symbol("c")) is view.targets(Model(FORKED).symbol("c"))
    assert enabled(choosing(), "").targets(Model(choosing()).symbol("a")) == ()


def test_a_view_has_its_inputs_and_no_other_names() -> None:
    """The inputs are found when they are first read; what is misspelt is an error."""
    view = enabled(FORKED, "")
    assert "".join(str(inp.value) for inp in view.specified) == "a"
    with pytest.raises(AttributeError, match="enabeld"):
        _ = getattr(view, "enabeld")  # noqa: B009 -- type checkers would refuse the plain form


def test_an_oracle_that_follows_enough_is_asked_itself() -> None:
    """Only for more spontaneous outputs under way than it follows anyway is there another oracle."""
    judge = oracle(FORKED)
    assert judge.following(judge.limits.spontaneous) is judge
    assert judge.following(50) is judge.following(50) is not judge
