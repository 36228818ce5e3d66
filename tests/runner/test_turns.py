"""Walks that share the event loop: a step a turn, and the same verdicts as without a loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from random import Random

import anyio
import anyio.lowlevel
import pytest

from otf.core import Model, Oracle
from otf.runner.turns import turns
from otf.simulate import Walk
from otf.spec import Spec, Transition, goto
from otf.trace.verdict import Verdict

LOOPS = pytest.mark.parametrize("loop", ["asyncio", "trio"])


def _lamp(on: int, inp: str) -> Iterator[Transition[int]]:
    if inp == "press":
        yield goto(1 - on)
    elif inp == "look":
        yield goto(on, "on" if on else "off")
    elif inp == "break" and on:
        yield goto(2)


def _oracle(*inputs: str) -> Oracle:
    return Oracle(Model(Spec(_lamp, 0, list(inputs))))


def _burns_out(presses: int, kind: Callable[[Iterable[str]], Iterable[str]] = tuple) -> Callable[[str], Iterable[str]]:
    """Return a lamp that stays dark after so many presses; `kind` is what it puts its outputs into."""
    pressed = 0

    def act(inp: str) -> Iterable[str]:
        nonlocal pressed
        pressed += inp == "press"
        lit = pressed % 2 == 1 and pressed < presses
        return kind(["on" if lit else "off"] if inp == "look" else [])

    return act


def _walked(loop: str, oracle: Oracle, act: Callable[[str], Iterable[object]], steps: int, seed: int = 1) -> Verdict:
    return anyio.run(lambda: turns(oracle, act, Random(seed), steps), backend=loop)


@LOOPS
@pytest.mark.parametrize("kind", [tuple, list, iter])
def test_a_right_system(loop: str, kind: Callable[[Iterable[str]], Iterable[str]]) -> None:
    """A system passes, whatever it puts its outputs into."""
    assert _walked(loop, _oracle("press", "look"), _burns_out(10**9, kind), 300) == Verdict("pass")


@LOOPS
@pytest.mark.parametrize("seed", range(5))
def test_the_same_verdict_as_without_a_loop(loop: str, seed: int) -> None:
    """A failure is the one that a walk without a loop finds with the same chance, to the number of its event."""
    shared = _walked(loop, _oracle("press", "look"), _burns_out(5), 300, seed)
    alone = Walk(_oracle("press", "look"), _burns_out(5)).uniform(Random(seed), 300)
    assert shared == alone
    assert shared.failure is not None


@LOOPS
def test_where_nothing_may_be_sent_the_walk_ends(loop: str) -> None:
    """A state without a specified input is the end of the walk: it passes as far as it went."""
    assert _walked(loop, _oracle("break"), _burns_out(1), 10) == Verdict("pass")


@LOOPS
def test_others_have_their_turn(loop: str) -> None:
    """After each step the loop goes round once: who waits for a turn has had as many as there were steps."""

    async def both() -> int:
        rounds = [0]

        async def other() -> None:
            while True:
                rounds[0] += 1
                await anyio.lowlevel.checkpoint()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(other)
            await anyio.lowlevel.checkpoint()
            rounds[0] = 0
            await turns(_oracle("press"), _burns_out(10**9), Random(1), 50)
            tasks.cancel_scope.cancel()
            return rounds[0]
        raise AssertionError

    assert anyio.run(both, backend=loop) >= 45


@LOOPS
def test_what_the_system_raises_comes_out(loop: str) -> None:
    """A system that raises is for its caller to judge."""

    def act(inp: str) -> list[str]:
        raise OSError(inp)

    with pytest.raises(OSError, match="press"):
        _walked(loop, _oracle("press"), act, 3)
