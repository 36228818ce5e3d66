"""Requirements are decided by what was seen: a run that the model without them allows says nothing about them."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest

from otf.core import Monitor, Oracle, RequirementEvidence
from otf.errors import ModelError
from otf.spec import Accept, OneOf, Spec, Transition, goto, on, start
from otf.trace.events import Event, Quiet, Seen, Sent
from tests.core.random_specs import Machine, random_events, random_machine
from tests.core.scripts import events, oracle, spec_of


def followed(judge: Oracle, *script: str | Event) -> RequirementEvidence:
    """Return the evidence of one run."""
    return runs(judge, script)


def runs(judge: Oracle, *scripts: Iterable[str | Event]) -> RequirementEvidence:
    """Return the evidence of some runs."""
    evidence = RequirementEvidence()
    for script in scripts:
        monitor = Monitor(judge)
        for event in events(*script):
            monitor.tell(event)
            evidence.follow(event, monitor)
        evidence.end()
    return evidence


def test_the_only_explanation_decides() -> None:
    """An output that one transition alone explains decides its requirements."""
    judge = oracle(spec_of(goto("s1", "x", req=["R1", "R2"]), goto("s2", "z", req="R3")))
    evidence = followed(judge, "a? x!")
    assert (evidence.reached, evidence.decided) == ({"R1", "R2", "R3"}, {"R1", "R2"})


def test_an_accepted_output_decides_a_list_of_requirements() -> None:
    """An `Accept` may have a list of them as well, and can be remembered then as any other."""
    several = Accept(lambda _: ["s1"], "P", req=["R1", "R2"])
    assert {several: several.req} == {several: ("R1", "R2")}
    assert followed(oracle(spec_of(several)), "a? x!").decided == {"R1", "R2"}


def test_two_explanations_decide_nothing() -> None:
    """An output that two transitions explain, of which one has the requirement, does not decide it."""
    judge = oracle(spec_of(goto("s1", "x", req="R1"), goto("s2", "x")))
    evidence = followed(judge, "a? x!")
    assert (evidence.reached, evidence.decided) == ({"R1"}, set())


def test_a_later_output_decides() -> None:
    """Which of two transitions was taken may be seen later only; then it is decided."""

    def step(state: str, inp: str) -> Iterable[Transition[str]]:
        if state == "new":
            yield goto("kept", req="R1")
            yield goto("lost")
        elif inp == "b":
            yield goto(state, "y" if state == "kept" else "w")

    judge = oracle(Spec(step, "new", ["a", "b"]))
    assert followed(judge, "a? quiet").decided == set()
    assert followed(judge, "a? quiet b? y!").decided == {"R1"}
    assert followed(judge, "a? quiet b? w!").decided == set()


def test_silence_decides() -> None:
    """A transition without an output is decided by silence, when the others have outputs."""
    judge = oracle(spec_of(goto("s1", req="ignored"), goto("s2", "x")))
    assert followed(judge, "a?").decided == set()
    assert followed(judge, "a? quiet").decided == {"ignored"}


def test_requirement_of_all_moves_on_an_input() -> None:
    """Without its only transition an input is not unspecified, which would allow anything: it cannot be explained."""
    assert followed(oracle(spec_of(goto("s1", req="R1"))), "a? quiet").decided == {"R1"}


def test_spontaneous_and_accepted_outputs_decide() -> None:
    """Spontaneous transitions and an Accept have requirements as well."""
    spec = spec_of(Accept(lambda seen: [seen], "P", req="id"))
    assert followed(oracle(spec), "a? x! quiet").decided == {"id"}

    def emits(state: str) -> Iterable[Transition[str]]:
        if state == "new":
            yield goto("rung", "x", req="bell")

    ringing = oracle(Spec(lambda state, _: [goto(state)], "new", ["a"], emits))
    assert followed(ringing, "x! quiet").decided == {"bell"}
    assert followed(ringing, "quiet").reached == {"bell"}


def test_alternatives_on_different_ports_have_the_requirement() -> None:
    """The outputs of a transition with a choice between ports are one transition, with its requirement."""
    judge = oracle(spec_of(goto("s1", OneOf(on("P", "x"), on("Q", "y")), "z", req="R1"), goto("s2", "x")))
    assert followed(judge, "a? y! z! quiet").decided == {"R1"}
    assert followed(judge, "a? x! quiet").decided == set()
    assert followed(judge, "a? x! z!").decided == {"R1"}


def test_time_decides() -> None:
    """A timer that expired decides its requirement where the system could have answered without it only later."""

    def step(_state: str, _inp: str) -> Iterable[Transition[str]]:
        yield goto("open", timers=[start("session", 1, 2)])

    def emits(state: str) -> Iterable[Transition[str]]:
        if state == "open":
            yield goto("closed", "x", after="session", req="expiry")
            yield goto("closed", "x", within=(5, 9))

    judge = oracle(Spec(step, "new", ["a"], emits))
    assert followed(judge, Sent("a", "A", 0), Quiet(0.5), Seen("x", "P", 1.5)).decided == {"expiry"}


def test_runs_are_separate() -> None:
    """What one run leaves open, another decides; a run that fails decides what came before its failure."""
    judge = oracle(spec_of(goto("s1", "x", req="R1"), goto("s2", req="R2")))
    assert runs(judge, ["a?"], ["a? quiet"], ["a? x! z!"]).decided == {"R1", "R2"}


@pytest.mark.parametrize("req", ["", ["R1", ""], [1], ["a\nb"]])
def test_a_requirement_is_a_name(req: object) -> None:
    """What is not an id of a requirement is refused where it is written."""
    with pytest.raises(ModelError, match="give the id of a requirement"):
        goto("s1", req=req or [""])  # type: ignore[arg-type]


NEVER = "an output that never comes"


def tagged(spec: Spec[str, str], *, without: bool) -> Spec[str, str]:
    """Return a spec with the requirement R on every second transition, or without these transitions."""

    def chosen(ways: Iterable[Transition[str] | Accept]) -> list[Transition[str] | Accept]:
        found = list(ways)
        marked = [each for each in found if _marked(each)]
        if not without:
            return [_with_requirement(each) if each in marked else each for each in found]
        return [each for each in found if each not in marked] or ([goto("nowhere", on("P", NEVER))] if found else [])

    def emits(state: str) -> list[Transition[str] | Accept]:
        assert spec.emits is not None
        kept = chosen(spec.emits(state))
        return [each for each in kept if not (isinstance(each, Transition) and each.state == "nowhere")]

    def step(state: str, inp: str) -> list[Transition[str] | Accept]:
        # nothing comes from nowhere: an unspecified input would allow anything
        return [goto("nowhere")] if state == "nowhere" else chosen(spec.step(state, inp))

    return Spec(
        step,
        spec.initial,
        list(spec.inputs(spec.initial)),
        emits if spec.emits else None,
    )


def _marked(way: Transition[str] | Accept) -> bool:
    return isinstance(way, Transition) and hash_of(way) % 2 == 0


def hash_of(way: Transition[str]) -> int:
    """Return a number of a transition that is the same in every process."""
    return sum(map(ord, f"{way.state}{way.outputs}"))


def _with_requirement(way: Transition[str] | Accept) -> Transition[str] | Accept:
    assert isinstance(way, Transition)
    return Transition(way.state, way.outputs, req=("R",))


def _explained(machine: Machine, script: list[Event]) -> bool:
    monitor = Monitor(oracle(tagged(machine.spec(), without=True), routes=machine.routes()))
    allowed = all(monitor.tell(event) is None for event in script)
    # nowhere it would still owe the output that never comes
    return allowed and any(getattr(each.position, "value", "") != "nowhere" for each in monitor.belief.hypotheses)


@pytest.mark.parametrize("machines", [100, pytest.param(400, marks=pytest.mark.slow)])
def test_decided_is_what_the_model_without_it_does_not_allow(machines: int) -> None:
    """On random machines a requirement is decided exactly where the model without its transitions fails."""
    decided = undecided = 0
    for seed in range(machines):
        random = Random(seed)
        machine = random_machine(random)
        script = random_events(random, machine, 12)
        judge = oracle(tagged(machine.spec(), without=False), routes=machine.routes())
        if Monitor(judge).end().failed or any(verdict is not None for verdict in map(Monitor(judge).tell, script)):
            continue
        found = "R" in followed(judge, *script).decided
        assert found is not _explained(machine, script), seed
        decided += found
        undecided += not found
    assert decided > machines // 8
    assert undecided > machines // 8
