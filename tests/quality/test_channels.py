"""No false alarm behind channels that lose, double and reorder, and sets of explanations that stay small.

`OTF_CHANNELS` is the number of runs on demand (`-m slow`, 2,000 by default).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from random import Random
from statistics import median
from typing import Any

import pytest

from otf.channels import channel
from otf.core import Limits, Monitor, Session
from otf.models.conference.messages import AnswerPDUout, DataPDUout, JoinPDUout
from otf.spec import Accept, AnyOrder, Spec, Transition
from otf.trace.events import Event, Quiet
from tests.core.random_specs import mutated, random_machine
from tests.quality.nets import KINDS, MODES, SHAPE, Line, Path, Subject, altbit_bench, conference_bench, random_bench

RUNS = int(os.environ.get("OTF_CHANNELS", "2000"))
CHUNK = 20
CAP = Limits(hypotheses=500)  # what outgrows it is inconclusive, and takes long
SUBJECTS = ("conference", "altbit", "timed", "random")


def subject_of(kind: str, random: Random) -> Subject:
    """Return a subject of a kind."""
    match kind:
        case "conference":
            return conference_bench()
        case "altbit":
            return altbit_bench()
        case "timed":
            return altbit_bench((0.03, 0.06))
        case _:
            return random_bench(random)


def paths(kind: str, chunk: int) -> Iterator[tuple[str, Path]]:
    """Yield paths of all pacings behind channels of all kinds, the combinators in any order."""
    for number in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        random = Random(f"{kind} {number}")
        subject = subject_of(kind, random)
        kinds = frozenset(random.sample(KINDS, random.randint(1, 3)))
        line = Line(kinds, random.randint(0, 1), random.choice((None, None, 0.2)))
        oracle = subject.oracle(line.over(subject, random.sample(KINDS, 3)), CAP)
        yield f"{kind} {number}", Path(subject, line, oracle, random.choice(list(MODES)), random.randint(3, 12))


def no_false_alarm(kind: str, chunk: int) -> None:
    """Run each path; what is not passed is undecided."""
    outcomes = {name: path.run(name) for name, path in paths(kind, chunk)}
    assert {name: verdict for name, verdict in outcomes.items() if verdict.failed} == {}
    assert sum(verdict.outcome == "pass" for verdict in outcomes.values()) >= 0.9 * CHUNK


@pytest.mark.parametrize("chunk", range(4))
@pytest.mark.parametrize("kind", SUBJECTS)
def test_a_conforming_system_behind_a_channel_is_never_failed(kind: str, chunk: int) -> None:
    """320 runs, by strict, eager and burst pacing, 0 failures."""
    no_false_alarm(kind, chunk)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(4, RUNS // CHUNK // len(SUBJECTS)))
@pytest.mark.parametrize("kind", SUBJECTS)
def test_so_it_is_on_demand(kind: str, chunk: int) -> None:
    """The same for as many runs as are asked for."""
    no_false_alarm(kind, chunk)


@pytest.mark.parametrize("kind", SUBJECTS)
def test_with_the_plain_spec_it_is_failed(kind: str) -> None:
    """The negative control: a tester that does not know of the channel blames the system for it."""
    verdicts = [replace(path.by(path.subject.spec), steps=60).run(name) for name, path in paths(kind, 0)]
    assert sum(verdict.failed for verdict in verdicts) >= 0.3 * CHUNK


# Faults


def wrong(output: object) -> object:
    """Return another output than the right one, of the same type."""
    match output:
        case AnswerPDUout(cpe, nick, conf):
            return AnswerPDUout(cpe, nick, conf + "?")
        case JoinPDUout(cpe, nick, conf):
            return JoinPDUout(cpe, conf, nick)
        case DataPDUout(cpe, text):
            return DataPDUout(cpe, text + "!")
        case AnyOrder(items):
            return AnyOrder(*map(wrong, items))
        case _:
            return output


def twisted(spec: Spec[Any, Any], kind: type) -> Spec[Any, Any]:
    """Return the spec with wrong outputs instead of those of one type."""

    def twist(output: object) -> object:
        if isinstance(output, AnyOrder):
            return AnyOrder(*map(twist, output.items))
        return wrong(output) if isinstance(output, kind) else output

    def step(state: Any, inp: Any) -> Iterable[Transition[Any] | Accept]:  # noqa: ANN401 -- any spec's state and input
        for way in spec.step(state, inp):
            yield replace(way, outputs=tuple(map(twist, way.outputs))) if isinstance(way, Transition) else way

    return Spec(step, spec.initial, spec.inputs)


@pytest.mark.parametrize("kind", [AnswerPDUout, JoinPDUout, DataPDUout])
def test_what_no_channel_can_explain_is_failed(kind: type) -> None:
    """Outputs with a wrong field are found, although every message may be lost, doubled or held up."""
    subject, line = conference_bench(), Line()
    made = twisted(subject.spec, kind)
    path = Path(subject, line, subject.oracle(line.over(subject)), steps=300, made=made)
    verdicts = [path.run(f"{kind} {number}") for number in range(5)]
    assert all(verdict.failed for verdict in verdicts)


# Sizes


def sizes_of(path: Path, name: str) -> tuple[list[int], list[int]]:
    """Return how many explanations there are after quiescence, and in between."""
    quiet, between = list[int](), list[int]()

    def note(session: Session, event: Event) -> None:
        (quiet if isinstance(event, Quiet) else between).append(len(session.monitor.belief.hypotheses))

    assert path.run(name, note).outcome == "pass"
    return quiet, between


def test_sets_stay_small_on_the_conference_bench() -> None:
    """With all three on all ports but the user's: two explanations in the middle, a few dozens at most when quiet."""
    subject, line = conference_bench(), Line()
    path = Path(subject, line, subject.oracle(line.over(subject)), steps=100)
    found = [sizes_of(path, f"sizes {number}") for number in range(5)]
    quiet, between = (sum(part, start=list[int]()) for part in zip(*found, strict=True))
    assert median(quiet) <= 3
    assert max(quiet) <= 50
    assert median(between) <= 4
    assert max(between) <= 500


def verdict_of(spec: Spec[Any, Any], subject: Subject, events: list[Event]) -> tuple[str, int, int]:
    """Return the verdict on events, when it was reached, and how many explanations there were."""
    monitor = Monitor(subject.oracle(spec, Limits(hypotheses=3000, spontaneous=4)))
    for event in events:
        if monitor.tell(event) is not None:
            break
    return monitor.end().outcome, monitor.events, len(monitor.belief.hypotheses)


def heard(events: list[Event], _session: Session, event: Event) -> None:
    """Write an event down."""
    events.append(event)


def cases(count: int) -> Iterator[tuple[Subject, Line, list[Event]]]:
    """Yield short runs behind channels, each as it was and tampered with."""
    for number in range(count):
        name = f"cases {number}"
        subject, machine, random = random_bench(Random(name)), random_machine(Random(name), SHAPE), Random(name)
        line = Line(frozenset(random.sample(KINDS, random.randint(1, 3))), random.randint(0, 1))
        path = Path(subject, line, subject.oracle(line.over(subject), CAP), random.choice(list(MODES)), steps=3)
        events = list[Event]()
        path.run(name, partial(heard, events))
        for tampered in (events[:12], mutated(random, machine, events[:12]), mutated(random, machine, events[:12])):
            yield subject, line, tampered


def all_ways(ways: list[object], _origin: object = None) -> list[object]:
    """Return all ways, where `fewest` leaves out those that nobody can tell from others."""
    return ways


def as_it_is(net: object, _moves: object) -> object:
    """Return the state of a net, where `full` adds what may come at any time."""
    return net


def test_what_is_left_out_makes_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdicts are those of the same net with all its states, each run and each event alike."""
    found = list(cases(50))
    few = [verdict_of(line.over(subject), subject, events) for subject, line, events in found]
    monkeypatch.setattr(channel, "fewest", all_ways)
    monkeypatch.setattr(channel, "full", as_it_is)
    all_ = [verdict_of(line.over(subject), subject, events) for subject, line, events in found]
    decided = [(one, other) for one, other in zip(few, all_, strict=True) if "inconclusive" not in (one[0], other[0])]
    assert len(decided) >= 140
    assert all(one[:2] == other[:2] for one, other in decided)
    assert {one[0] for one, _ in decided} == {"pass", "fail"}
    assert sum(one[2] for one, _ in decided) < sum(other[2] for _, other in decided)
