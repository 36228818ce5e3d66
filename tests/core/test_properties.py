"""Properties beside the model: the monitor cuts a run into steps, and of steps in flight together nothing is known."""

from otf.core import Model, Monitor, Oracle
from otf.core.properties import formulas, listed
from otf.logic import Formula, always, implies, never, now, then
from otf.spec import Requirements, Spec, Transition, goto
from otf.trace.events import Event, Quiet, Seen, Sent


def kettle(_state: int, inp: str) -> list[Transition[int]]:
    """Allow each answer that a kettle may give, and silence."""
    return [goto(0), goto(0, "warm"), goto(0, "hot")] if inp == "heat" else [goto(0)]


def judge(what: Formula, *events: Event) -> Monitor:
    """Return the monitor of a kettle with one property, after these events."""
    model = Model(Spec(kettle, 0, ["heat", "look"]))
    monitor = Monitor(Oracle(model, properties={"safe": what}))
    for event in events:
        monitor.tell(event)
    return monitor


def sent(inp: str, *outputs: str, at: float = 0.0) -> list[Event]:
    """Return a step that ends with quiescence."""
    return [Sent(inp, "sut", at), *(Seen(output, "sut", at) for output in outputs), Quiet(at + 1)]


def test_violated() -> None:
    """What the model allows and a property forbids is a failure of the kind `property`, at the end of its step."""
    monitor = judge(never("hot"), *sent("heat", "warm"), *sent("heat", "hot", at=2))
    assert monitor.verdict is not None
    failure = monitor.verdict.failure
    assert failure is not None
    assert (failure.kind, failure.event, failure.step, failure.before) == ("property", 6, 2, ("'hot'",))
    assert str(failure.signature) == "property: safe"
    assert [each.id for each in failure.violates] == ["safe"]


def test_left_open() -> None:
    """What a property promised and the end of the run leaves open is not a failure, and not shown."""
    served = always(implies(now("heat"), then("warm")))
    monitor = judge(served, *sent("heat"))
    assert monitor.end().outcome == "pass"
    assert monitor.properties is not None
    assert not [*monitor.properties.shown()]
    assert [*monitor.properties.tried()] == ["safe"]
    kept = judge(served, *sent("heat"), *sent("look", at=2))
    assert kept.end().failed


def test_in_flight_together() -> None:
    """Which of two inputs in flight brought an output is not known: a property that depends on it is open."""
    both: list[Event] = [Sent("heat", "sut", 0), Sent("heat", "sut", 0), Seen("hot", "sut", 1), Quiet(2)]
    one_each = always(implies(now("heat"), now("hot")))
    assert judge(one_each, *both).end().outcome == "pass"
    assert judge(one_each, *both, *sent("heat", at=3)).end().failed  # this step alone decides
    watched = judge(one_each, *both).properties
    assert watched is not None
    assert not [*watched.shown()]


def test_silent_steps_in_a_row() -> None:
    """Where nothing can be outstanding, the next input ends a step without quiescence."""
    twice = never(now("look") & then("look"))
    assert judge(twice, Sent("look", "sut", 0), Sent("look", "sut", 0), Sent("look", "sut", 0)).verdict is not None


def test_unasked_output() -> None:
    """What a system says by itself is a step without an input."""
    model = Model(Spec(kettle, 0, ["heat"], lambda state: [goto(state, "click")]))
    by_itself = never(lambda step: step.input is None and "click" in step.outputs)
    monitor = Monitor(Oracle(model, properties=formulas({"still": by_itself})))
    for event in (Quiet(1), Seen("click", "sut", 2), Quiet(3)):
        monitor.tell(event)
    assert monitor.verdict is not None


def test_listed_once() -> None:
    """A property is listed among the requirements, once however often a bench is made anew."""
    table = listed(Requirements(), {"safe": never("hot")})
    assert list(listed(table, {"safe": never("hot")})) == ["safe"]
