"""Walks in which every step is a turn of the event loop, for systems that live in it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from random import Random

from anyio.lowlevel import checkpoint

from otf.core import Oracle
from otf.core.macro_step import MacroSteps, follow
from otf.core.walk import Act, Walk, WalkStep
from otf.strategy import Script
from otf.trace.verdict import Verdict


async def turns(oracle: Oracle, act: Act, random: Random, steps: int) -> Verdict:
    """Walk with inputs drawn uniformly from the specified ones; the event loop goes round once in each step."""
    ways, history, turn = MacroSteps.start(oracle), list[WalkStep](), _turn()
    for _ in range(steps):
        if ways.size < 1 and not ways.specified():
            break
        inp, table = ways.inputs[int(random.random() * ways.size)]
        outputs = tuple(act(inp))
        await turn()
        history.append((inp, outputs))
        following = follow(oracle, ways, inp, table, outputs)
        if following is None:
            return _judged(oracle, history)
        ways = following
    return ways.verdict


def _judged(oracle: Oracle, history: list[WalkStep]) -> Verdict:
    """Return the failure, by walking the same way again through the recorded answers."""
    answers = iter(history)
    walk = Walk(oracle, lambda _inp: next(answers)[1])
    return walk.chosen(Script(inp for inp, _ in history), len(history)) or walk.end()


def _turn() -> Callable[[], Awaitable[None]]:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return checkpoint
    # as anyio's checkpoint does on asyncio, without the question at each step which loop is running
    return partial(asyncio.sleep, 0)
