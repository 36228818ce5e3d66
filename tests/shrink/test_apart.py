"""Failures of one kind whose shortest runs differ are several defects."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from otf.core import Model, Monitor, Oracle
from otf.core.macro_step import events as step_events
from otf.shrink.failing_ways import CHANCES, LONGEST_WAY, FailingRun, FailingWay, one_run, told_apart, way_to
from otf.shrink.issue import issue_of
from otf.shrink.shortest_ways import ModelMap
from otf.spec import Spec, Transition, goto

Words = tuple[str, ...]
INPUTS = ("push 1", "push 2", "pop 1", "pop 2", "pop 3", "any 1")


def step(stack: Words, inp: str) -> Iterable[Transition[Words]]:
    """Answer in a stack: one may ask for a number whether it is there."""
    what, number = inp.split()
    if what == "push":
        return [goto((*stack, number))]
    if what == "any":
        return [goto(stack, "no"), goto((*stack, number), "no")]
    return [goto(stack, "yes" if number in stack else "no")]


def oracle() -> Oracle:
    """Return the oracle of an empty stack."""
    return Oracle(Model(Spec(step, (), INPUTS)))


def way(*inputs: str) -> FailingWay | None:
    """Return the shortest way to the failure of a run that fails at its last input."""
    model = oracle()
    told = ((each, () if each.startswith("push") else ("no",)) for each in inputs[:-1])
    events = [event for each in told for event in step_events(model, *each)]
    return way_to(ModelMap(model), model, [*events, *step_events(model, inputs[-1], ("what?",))])


def ways(*runs: str) -> list[FailingWay]:
    """Return the shortest ways to the failures of runs, whose inputs are separated by commas."""
    return [each for run in runs if (each := way(*run.split(", "))) is not None]


def texts(found: FailingWay | None) -> str:
    """Return the inputs of a way."""
    return "" if found is None else ", ".join(str(each.value) for each in found.inputs)


def apart(fails: Callable[[Words], bool], *runs: str) -> list[list[str]]:
    """Return what is told apart from the first of these failures, of a system that fails after such inputs."""
    kind, *others = ways(*runs)
    asking = told_apart(kind, others)
    try:
        run = next(asking)
        while True:
            inputs = tuple(str(each.value) for each in run)
            early = any(fails(inputs[: at + 1]) for at in range(len(inputs) - 1))
            run = asking.send(None if early else fails(inputs) and kind.signature)
    except StopIteration as done:
        found: list[list[FailingWay]] = done.value
        return [[texts(each) for each in defect] for defect in found]


def test_the_way_to_a_failure() -> None:
    """What was not needed to come to the state is left out; where there are several states there is no way."""
    assert texts(way("pop 1", "push 2", "pop 1", "pop 2")) == "push 2, pop 2"
    assert way("any 1", "pop 1") is None
    assert way(*["push 1"] * LONGEST_WAY, "pop 1") is None
    model = oracle()
    assert way_to(ModelMap(model), model, step_events(model, "pop 1", ("no",))) is None


def two_defects(run: Words) -> bool:
    """Fail at 3 always, and at 1 if it was pushed."""
    return run[-1] == "pop 3" or (run[-1] == "pop 1" and "push 1" in run)


def test_two_defects() -> None:
    """Asking for 3 fails always, for 1 if it is there: two defects; the run that needs all its inputs comes first."""
    runs = ("pop 3", "push 2, push 1, pop 1", "push 1, pop 1", "push 1, pop 3")
    assert apart(two_defects, *runs) == [["push 1, pop 1", "push 2, push 1, pop 1"]]


def test_one_defect_at_several_inputs() -> None:
    """If each number fails where one does, it is one defect, whatever the way to the others."""
    assert apart(lambda run: run[-1].startswith("pop"), "pop 3", "push 1, pop 1", "push 2, pop 2") == []
    assert apart(lambda run: run[-1][:3] == "pop" and "push 1" in run, "push 1, pop 1", "push 2, push 1, pop 2") == []


def test_what_the_shortest_way_does_not_show() -> None:
    """A failure that needs more than the state of the model is not looked at: neither the kind's nor another."""

    def forgets(run: Words) -> bool:
        return run[-1] == "pop 1" and run.count("pop 2") > 1

    assert apart(forgets, "pop 1", "push 2, pop 1") == []
    assert apart(lambda run: run[-1] == "pop 3", "pop 3", "push 1, pop 1") == []


def failing(port: str, *inputs: str) -> FailingRun:
    """Return a run that fails at its last input, at a port."""
    model = oracle()
    told = [event for each in inputs[:-1] for event in step_events(model, each, () if "push" in each else ("no",))]
    events = [*told, *step_events(model, inputs[-1], (f"what at {port}?",))]
    monitor = Monitor(model)
    failure = next(filter(None, map(monitor.tell, events))).failure
    assert failure is not None
    return FailingRun(replace(failure, port=port), issue_of(model, events).inputs)


def same(shows: Callable[[int], FailingRun], *runs: FailingRun) -> tuple[dict[int, int], int]:
    """Return which failures the shorter runs show, and after how many runs, if a run fails as another one by turns."""
    asking, asked = one_run(runs), 0
    try:
        next(asking)
        while True:
            asked += 1
            asking.send(shows(asked).failure.signature)
    except StopIteration as done:
        found: dict[int, int] = done.value
        return found, asked


def test_the_shorter_run_shows_what_fails_at_another_port() -> None:
    """A system that answers at two ports fails at whichever comes first: the third run shows the other failure."""
    pad, siren = failing("pad", "push 1", "pop 1"), failing("siren", "push 2", "push 1", "pop 1")
    assert same(lambda asked: siren if asked == 3 else pad, pad, siren) == ({1: 0}, 3)
    assert same(lambda asked: siren if asked == 3 else pad, siren, pad) == ({0: 1}, 3)
    assert same(lambda _: pad, pad, siren) == ({}, CHANCES)


def test_runs_that_cannot_be_one_are_not_driven() -> None:
    """They fail at one port, at different inputs, look alike, or are the same run, which counts as one anyway."""
    pad = failing("pad", "push 1", "pop 1")
    alike = failing("pad", "push 2", "push 1", "pop 1")
    others = (
        alike,
        FailingRun(replace(alike.failure, port="siren"), alike.inputs),
        failing("siren", "pop 2", "pop 1", "any 1"),
        failing("siren", "push 1", "pop 1"),
    )
    assert [same(lambda _: pad, pad, other) for other in others] == [({}, 0)] * 4


def test_a_failure_is_counted_with_one_other() -> None:
    """Once the second counts with the first, neither is compared with it again."""
    runs = failing("pad", "pop 1"), failing("siren", "pop 2", "pop 1"), failing("door", "pop 3", "pop 2", "pop 1")
    assert same(lambda asked: runs[asked], *runs) == ({1: 0, 2: 0}, 2)
