"""Outputs that can change: lists, sets, dicts, and objects that only know when they are equal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from threading import Lock
from typing import Any

import pytest

from otf import Bench, Spec, Transition, Where, goto
from otf.campaign import Summary
from otf.core.walk import Walk
from otf.explore import explore
from otf.notations import Command, Commands, Result
from otf.suite import suite
from tests.campaign.machine import judged, run


def _says(state: int, _inp: str) -> list[Transition[int]]:
    return [goto((state + 1) % 3, [state, {"a": {state}}])]


COUNTING: Spec[int, str] = Spec(_says, 0, ["go"], name="counting")


def _counter(wrong: object = 2) -> Callable[[Any], tuple[object, ...]]:
    """A system that always answers with the same list, in which it changes something each time."""
    answer: list[Any] = [-1, {}]

    def act(_inp: Any) -> tuple[object, ...]:  # noqa: ANN401 -- an input
        answer[0] = (answer[0] + 1) % 3
        answer[1] = {"a": {answer[0] if answer[0] != 2 else wrong}}
        return (answer,)

    return act


def _run(spec: Spec[Any, Any], system: Callable[[], Any], tmp_path: Path, *types: type) -> Summary:
    bench = Bench(spec, system=system, types=types)
    return run(bench, tmp_path, None, traces=2, steps=20, seed=1)


def test_a_list_is_an_output(tmp_path: Path) -> None:
    """Equal lists are the same output, whatever else happens to their objects later."""
    assert _run(COUNTING, _counter, tmp_path).verdict == "pass"


@pytest.mark.parametrize("wrong", [7, 2.0, None])
def test_a_wrong_list_is_found(tmp_path: Path, wrong: object) -> None:
    """A value in a set in a dict in a list is wrong: it is shrunk, and its trace is judged again."""
    summary = _run(COUNTING, lambda: _counter(wrong), tmp_path, str)
    (group,) = summary.failures.values()
    assert group.shrunk is not None
    assert group.shrunk.steps == 3
    read = judged(group.shrunk.trace, Bench(COUNTING, system=_counter))
    assert (read.recorded, read.verdict.outcome) == ("fail", "fail")


@dataclass(frozen=True)
class Keys(Command):
    """Asks for all keys."""

    def run(self, system: Any) -> Any:  # noqa: ANN401 -- a dict
        """Return them."""
        return sorted(system)

    def postcondition(self, state: Any, result: Any) -> bool:  # noqa: ANN401 -- a list
        """Return whether these are the right ones."""
        del state
        return bool(result == ["a", "b"])


@pytest.mark.parametrize(("keys", "verdict"), [("ab", "pass"), ("a", "fail")])
def test_a_command_may_return_a_collection(tmp_path: Path, keys: str, verdict: str) -> None:
    """As those of kiri-check do."""
    commands = Commands(0, [Keys()], lambda: dict.fromkeys(keys))
    assert _run(commands.spec, commands.system, tmp_path, Keys, Result).verdict == verdict


@dataclass
class Box:
    """Has no hash."""

    content: int


class Compares:
    """Knows when it is equal, and has no hash."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, number: float) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Compares) and self.number == other.number


class Odd(Compares):
    """Does not know, as an array does not, and cannot be copied either."""

    def __init__(self) -> None:
        super().__init__(0)
        self.lock = Lock()

    def __eq__(self, other: object) -> bool:
        raise ValueError

    __hash__ = None


@pytest.mark.parametrize(
    ("answer", "expected", "outcome"),
    [
        (Box(1), Box(1), "pass"),
        (Box(1), Box(2), "fail"),
        (Compares(1), Compares(1), "pass"),
        (Compares(1), Compares(2), "fail"),
        ([Compares(1)], [Compares(1)], "pass"),
        (Compares(1), [1], "fail"),
        (Odd(), Odd(), "fail"),
        (Odd(), Where(lambda value: isinstance(value, Odd)), "pass"),
        (bytearray(b"a"), bytearray(b"a"), "pass"),
    ],
)
def test_what_cannot_be_hashed_is_compared(answer: object, expected: object, outcome: str) -> None:
    """Values of one class compare by their own equality; a value without one equals nothing else."""
    bench = Bench(Spec[int, str](lambda state, _inp: [goto(state, expected)], 0, ["go"]), system=lambda: lambda _: ())
    walk = Walk(bench.oracle(), lambda _inp: (answer,))
    assert walk.uniform(Random(1), 3).outcome == outcome


def test_models_with_lists_as_outputs_are_explored() -> None:
    """And suites are made of them."""
    graph = explore(COUNTING)
    assert (len(graph.values), len(graph.outputs), graph.whole) == (3, 3, True)
    assert suite(graph, "hsi").steps == 4
