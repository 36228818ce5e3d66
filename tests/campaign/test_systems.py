"""Systems that are Python objects: no ports, no bytes, no waiting; campaigns, traces and shrinking are the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otf.adapter import Bench
from otf.campaign import Settings, rerun
from otf.campaign.paths import TURN
from otf.errors import UsageError
from otf.spec import Spec, Transition, goto
from otf.strategy import Coverage
from otf.trace.events import Event, Sent
from tests.campaign.machine import (
    COFFEE,
    DIES,
    FAULTS,
    MOST,
    TEA,
    THIEF,
    Button,
    Coffee,
    Coin,
    Money,
    Refund,
    Tea,
    campaign,
    inputs,
    judged,
    run,
)
from tests.campaign.test_campaign import Told
from tests.runner.playing import virtually


def _machine(*faults: str) -> Callable[[object], list[object]]:
    """Return a machine with these faults, as a function."""
    paid = coffees = 0

    def act(inp: object) -> list[object]:
        nonlocal paid, coffees
        before = paid
        match inp:
            case Coin() if paid < MOST:
                paid += 1
            case Button() if paid:
                paid, coffees = paid - 1, coffees + 1
                if DIES in faults and coffees == MOST:
                    raise OSError("no water")
                return [Tea() if TEA in faults and before == MOST else Coffee()]
            case Refund() if paid:
                paid = 0
                return [] if THIEF in faults and before == MOST - 1 else [Money(before)]
            case _:
                pass
        return []

    return act


def _bench(*faults: str) -> Bench:
    return Bench(COFFEE, system=lambda: _machine(*faults), types=(Coffee, Tea, Money), inputs="mixed", name="machine")


def test_a_right_machine(tmp_path: Path) -> None:
    """Ten paths pass, with all that was sent and seen in their traces."""
    summary = run(_bench(), tmp_path)
    assert (summary.verdict, summary.paths, summary.steps) == ("pass", 10, 500)
    judgement = judged(tmp_path / "path-0001.jsonl", _bench())
    assert (judgement.recorded, judgement.steps) == ("pass", 50)


@pytest.mark.parametrize(
    ("fault", "kind", "shortest"),
    [
        (TEA, "wrong", [Coin(), Coin(), Coin(), Button()]),
        (THIEF, "missing", [Coin(), Coin(), Refund()]),
        (DIES, "ended", None),
    ],
)
def test_a_fault_is_found_and_shrunk(tmp_path: Path, fault: str, kind: str, shortest: list[object] | None) -> None:
    """Failures are grouped and shrunk as over a wire, and the shrunk trace fails again on a fresh machine."""
    summary = run(_bench(fault), tmp_path, traces=20)
    [group] = summary.failures.values()
    assert group.signature.kind == kind
    assert group.shrunk is not None
    sent = inputs(group.shrunk.trace, _bench())
    assert sent == shortest if shortest else len(sent) == 6
    again = virtually(lambda: rerun(_bench(fault), judged(group.shrunk.trace, _bench()).events, Settings(out=tmp_path)))  # type: ignore[union-attr]
    assert again.verdict.failure is not None
    assert again.verdict.failure.signature == group.signature


def test_what_a_machine_dies_of(tmp_path: Path) -> None:
    """A function that raises has ended: that is a failure of it, not of the tester."""
    summary = run(_bench(DIES), tmp_path)
    [group] = summary.failures.values()
    assert group.first.verdict.failure is not None
    assert "raised OSError: no water" in group.first.verdict.failure.seen


@given(seed=st.integers(0, 10**6), faults=st.sets(st.sampled_from(FAULTS)).map(tuple))
@settings(max_examples=25)
def test_replay_agrees(tmp_path_factory: pytest.TempPathFactory, seed: int, faults: tuple[str, ...]) -> None:
    """Offline the verdict is the same, to the number of the failing event."""
    folder = tmp_path_factory.mktemp("replay")
    run(_bench(*faults), folder, seed=seed, traces=3, steps=150, shrink=False)
    for trace in folder.glob("path-*"):
        end = json.loads(trace.read_bytes().splitlines()[-1])
        judgement = judged(trace, _bench())
        assert judgement.verdict.outcome == end["verdict"]
        failure = judgement.verdict.failure
        assert (None if failure is None else json.loads(json.dumps(asdict(failure)))) == end["reason"]


def test_the_same_inputs_as_over_a_wire(tmp_path: Path) -> None:
    """The same seed gives the same inputs twice."""
    for name in ("a", "b"):
        run(_bench(), tmp_path / name, seed=7, traces=2)
    assert inputs(tmp_path / "a" / "path-0002.jsonl", _bench()) == inputs(tmp_path / "b" / "path-0002.jsonl", _bench())


@pytest.mark.parametrize("steps", [1, TURN - 1, TURN, TURN + 1, 5 * TURN])
def test_as_many_steps_as_asked(tmp_path: Path, steps: int) -> None:
    """A path has the given number of inputs, however many go between two turns of the event loop."""
    told = Told()
    summary = run(_bench(), tmp_path, told, traces=1, steps=steps)
    assert summary.steps == sum(isinstance(event, Sent) for event in told.events) == steps


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_an_interruption_is_heard(tmp_path: Path, loop: str) -> None:
    """Although such a system never waits, an interruption comes through, and the trace is whole."""
    machines = campaign(_bench(), tmp_path, traces=1, steps=10_000_000)

    class Impatient(Told):
        """Interrupts after so many events."""

        def event(self, number: int, event: Event) -> None:
            super().event(number, event)
            if len(self.events) == 3 * TURN:
                scopes[0].cancel()

    machines.listener, scopes = Impatient(), list[anyio.CancelScope]()

    async def interrupted() -> None:
        with anyio.CancelScope() as scope:
            scopes.append(scope)
            await machines.run()

    anyio.run(interrupted, backend=loop)
    judgement = judged(tmp_path / "path-0001.jsonl", _bench())
    assert judgement.recorded == "inconclusive"
    assert judgement.steps < 10 * TURN


def test_a_bench_without_a_system() -> None:
    """A bench needs a codec and ports, or a system."""
    with pytest.raises(UsageError, match="a bench needs a codec and ports, or a system in this process"):
        Bench(COFFEE)


def test_coverage_that_cannot_be_read(tmp_path: Path) -> None:
    """Traces with types that the bench does not name show no coverage: that is an error, and not a goal reached."""

    def made(*types: type) -> Bench:
        return Bench.in_process(Spec(answers, 0, ["again"]), lambda: lambda _inp: [Coffee()], types=types)

    def answers(state: int, _inp: object) -> Iterator[Transition[int]]:
        yield goto(state, Coffee())

    covered = Coverage()
    assert run(made(Coffee), tmp_path / "a", traces=1, covers=covered).verdict == "pass"
    assert covered.seen == 3
    with pytest.raises(UsageError, match=r"cover .* 'Coffee' is not known .* give the bench types=\(Coffee,\) \(File"):
        run(made(), tmp_path / "b", traces=1, covers=Coverage())


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (dict, "^dict must make a function .*; it is {}, not a function"),
        (lambda: lambda: None, r"it takes \(\), not \(input\)\n  File .*, in <lambda>"),
    ],
)
def test_no_function_of_an_input_is_a_mistake_of_the_bench(tmp_path: Path, make: Callable[[], Any], why: str) -> None:
    """And no system that dies: the error has the line of the bench."""
    bench = Bench.in_process(Spec(lambda state, _inp: [goto(state)], 0, ["go"]), make)
    with pytest.raises(UsageError, match=f"{why}\n  File .*, in test_no_function"):
        run(bench, tmp_path)
