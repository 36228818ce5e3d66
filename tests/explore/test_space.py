"""Which transitions a run visited, as far as its outputs show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from otf.core import Model, Monitor, Oracle
from otf.core.compile import Routes
from otf.explore.space import VisitedSpace, Walker, space
from otf.spec import Accept, Idle, Spec, Transition, goto, total
from otf.trace.events import Event, Quiet, Seen, Sent
from tests.report.runs import gathered, step

COFFEE = Spec(step, initial=0, inputs=["coin", "button"])


Walked = tuple[set[str], set[str], set[str]]


def walked(spec: Spec[Any, Any], *events: Event, judged: Spec[Any, Any] | None = None) -> Walked:
    """Return the states, the inputs tried and the transitions of a run, in words."""
    routes = Routes(("p",), lambda _: "p")
    found = space(Model(spec, routes))
    visits = VisitedSpace(found)
    monitor = Monitor(Oracle(Model(judged or spec, routes)))
    walker = Walker(visits, monitor.oracle.model)
    for event in events:
        monitor.tell(event)
        walker.event(event, monitor)
    walker.end()
    ways = [found.edges[edge] for edge in visits.edges]
    tried = [found.pairs[pair][0] for pair in visits.pairs]
    return (
        {found.states[key] for key in visits.states},
        {f"{way.source} {way.input}" for way in tried},
        {f"{way.source} {way.input} {way.target}" for way in ways},
    )


def sent(*inputs: str) -> list[Event]:
    """Inputs, each with the silence after it."""
    return [event for at, inp in enumerate(inputs) for event in (Sent(inp, "p", at), Quiet(at + 0.5))]


def test_step_by_step() -> None:
    """Each step is settled before the next: there is no doubt."""
    states, pairs, edges = walked(COFFEE, *sent("coin", "coin"))
    assert (states, pairs) == ({"0", "1", "2"}, {"0 'coin'", "1 'coin'"})
    assert edges == {"0 'coin' 1", "1 'coin' 2"}


def test_several_inputs_before_anything_is_settled() -> None:
    """Eager mode does not wait: what the inputs led to is known when something comes."""
    events: list[Event] = [
        Sent("coin", "p", 0),
        Sent("coin", "p", 0.1),
        Sent("button", "p", 0.2),
        Seen("coffee", "p", 0.3),
        Quiet(1),
    ]
    assert walked(COFFEE, *events)[2] == {"0 'coin' 1", "1 'coin' 2", "2 'button' 0"}


def test_what_was_sent_last_was_tried() -> None:
    """Where it led is unknown, so no transition counts."""
    states, pairs, edges = walked(COFFEE, *sent("coin"), Sent("button", "p", 2))
    assert states == {"0", "1"}
    assert pairs == {"0 'coin'", "1 'button'"}
    assert edges == {"0 'coin' 1"}


def choosing(state: int, inp: str) -> list[Transition[int]]:
    """The system chooses, and only `ask` tells what it chose."""
    if inp == "choose" and state == 0:
        return [goto(1), goto(2)]
    return [goto(state, str(state))] if inp == "ask" else []


CHOICE = Spec(choosing, initial=0, inputs=["choose", "ask"])


def test_what_the_system_chose_is_not_known_at_once() -> None:
    """Until it is, each explanation counts."""
    assert walked(CHOICE, *sent("choose"))[2] == {"0 'choose' 1", "0 'choose' 2"}


def test_what_comes_later_tells_what_was_chosen() -> None:
    """If both were sent together, the answer shows the choice."""
    events: list[Event] = [Sent("choose", "p", 0), Sent("ask", "p", 0.1), Seen("2", "p", 0.2), Quiet(1)]
    assert walked(CHOICE, *events)[2] == {"0 'choose' 2", "2 'ask' 2"}


def test_spontaneous_moves_are_followed() -> None:
    """Between two inputs the system may have moved by itself; only transitions on inputs count."""
    timer = Spec(step, initial=0, inputs=["coin", "button"], emits=lambda paid: [goto(0, "refund")] if paid else [])
    events: list[Event] = [Sent("coin", "p", 0), Seen("refund", "p", 0.1), Quiet(0.5), *sent("coin")]
    states, _, edges = walked(timer, *events)
    assert states == {"0", "1"}
    assert edges == {"0 'coin' 1"}


def test_what_a_completed_model_adds_does_not_count() -> None:
    """An unspecified input is ignored: that is not a transition of the model."""
    assert walked(COFFEE, *sent("button", "coin"), judged=total(COFFEE)) == ({"0", "1"}, {"0 'coin'"}, {"0 'coin' 1"})


def test_a_wait_of_the_tester_does_not_count() -> None:
    """A wait that the tester adds by itself is no transition of the model, also before an input."""
    events: list[Event] = [*sent("coin"), Sent(Idle(0.5), "p", 1), Sent("coin", "p", 1.5), Quiet(2)]
    assert walked(COFFEE, *events)[1:] == ({"0 'coin'", "1 'coin'"}, {"0 'coin' 1", "1 'coin' 2"})


def drawn(state: str, inp: str) -> list[Transition[str] | Accept]:
    """The system draws the state."""
    return [Accept(lambda seen: [seen[0]])] if inp == "draw" else [goto("", "closed")] if state else []


def test_what_the_outputs_choose_is_known_when_they_have_come() -> None:
    """An input with an Accept was sent, and led to the state that its output chose."""
    model = Model(Spec(drawn, initial="", inputs=["draw", "close"]), Routes(("p",), lambda _: "p"))
    visits = VisitedSpace(space(model))
    monitor = Monitor(Oracle(model))
    walker = Walker(visits, monitor.oracle.model)
    events: list[Event] = [Sent("draw", "p", 0), Seen("a", "p", 0.1), Quiet(1), *sent("close")[:1]]
    draws: list[Event] = [Seen("closed", "p", 1.1), Sent("draw", "p", 2), Sent("close", "p", 2.1), Seen("b", "p", 2.2)]
    for event in (*events, *draws, Seen("closed", "p", 2.3), Quiet(4)):
        monitor.tell(event)
        walker.event(event, monitor)
    walker.end()
    assert monitor.verdict is None
    # draw in "", close in a; where the second draw led, nothing tells once close was sent behind it
    assert len(visits.pairs) == len(visits.edges) == 2
    assert {model.symbol(each).key for each in ("draw", "close")} == visits.inputs


def test_a_failure_ends_it() -> None:
    """What follows a failure is unknown."""
    events: list[Event] = [*sent("coin"), Sent("button", "p", 2), Seen("tea", "p", 3), *sent("coin")]
    assert walked(COFFEE, *events)[2] == {"0 'coin' 1"}


def test_response_times_are_those_of_first_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes after the first output may have waited for something else; so many are kept as a picture needs."""
    monkeypatch.setattr("otf.report.gather.ANSWERS", 2)
    made = gathered()
    monitor = Monitor(Oracle(Model(COFFEE)))
    for at in range(3):
        made.follow(Sent("coin", "p", at), monitor)
        made.follow(Seen("coffee", "p", at + 0.25), monitor)
        made.follow(Seen("coffee", "p", at + 0.5), monitor)
    assert made.answers == {"str": [0.25, 0.25]}


def test_a_heartbeat_that_counts_leads_to_new_states_for_ever() -> None:
    """Between two moments in which the state is known, only the nearest of its states are looked at."""

    def answer(state: int, inp: str) -> Iterator[Transition[int]]:
        yield goto(state, f"{inp}!")

    def tick(state: int) -> Iterator[Transition[int]]:
        yield goto(state + 1, state)

    events: list[Event] = [Sent("a", "p", 0.0), Seen(0, "p", 0.1), Seen("a!", "p", 0.2), Seen(1, "p", 0.3), Quiet(1.0)]
    states, pairs, edges = walked(Spec(answer, 0, ["a"], tick), *events)
    assert states == {"0", "1", "2"}
    assert "1 'a'" in pairs
    assert "1 'a' 1" in edges


def test_a_search_that_ends_at_its_bound_of_pairs_is_not_whole() -> None:
    """A page that is to open at once asks for few pairs, and then there may be more states."""
    lamp = Model(Spec(lambda lit, _: [goto(1 - lit)], 0, ["press"]), Routes(("p",), lambda _: "p"))
    assert (space(lamp).whole, space(lamp, pairs=1).whole) == (True, False)
