"""Walks in which every step is a turn of the event loop, for systems that live in it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from random import Random
from typing import Any

from anyio.lowlevel import checkpoint

from otf.core import Oracle
from otf.core.macro_step import MacroSteps, follow
from otf.simulate.walk import Act, Walk, WalkStep, copied
from otf.strategy import Script
from otf.trace.verdict import Verdict
from otf.values.identity import shape


async def turns(oracle: Oracle, act: Act, random: Random, steps: int) -> Verdict:
    """Walk with inputs drawn uniformly from those specified; every step lets the event loop go round once.

    The asynchronous twin of `Walk.uniform`, and raises as that does.
    """
    ways, history, chance, turn = MacroSteps.start(oracle), list[WalkStep](), random.random, _turn()
    for _ in range(steps):
        if not ways.size:
            break
        inp, table = ways.inputs[int(chance() * ways.size)]
        outputs: Any = act(inp)
        await turn()
        if outputs.__class__ is not tuple:
            outputs = tuple(outputs)
        try:
            then = table.get(outputs)
        except TypeError:
            outputs, then = copied(outputs), None
        history.append((inp, outputs))
        if then is None or (then.shape is not None and then.shape != shape(outputs)):
            following = follow(oracle, ways, inp, table, outputs)
            if following is None:
                return _judged(oracle, history)
            ways = following
        else:
            ways = then.ways
    return ways.verdict


def _judged(oracle: Oracle, history: list[WalkStep]) -> Verdict:
    """Return the failure, by walking the same way again through the answers that were seen."""
    answers = iter(history)
    walk = Walk(oracle, lambda _inp: next(answers)[1])
    return walk.chosen(Script(inp for inp, _ in history), len(history)) or walk.end()


def _turn() -> Callable[[], Awaitable[None]]:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return checkpoint
    # what anyio's checkpoint does there, without asking which loop it is at every step
    return partial(asyncio.sleep, 0)
