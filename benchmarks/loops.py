"""A walk written by hand: checked or not, or with one turn of the event loop a step."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from otf.spec import Spec

Machine = Callable[[], Any]
States = frozenset[Any]


class Loop:
    """A hand-written checker: the possible states, and a cache of the states after each input and its outputs."""

    def __init__(self, spec: Spec[Any, Any], inputs: Sequence[Any], machine: Machine) -> None:
        self.spec = spec
        self.inputs = inputs
        self.machine = machine
        self.random = Random(1)
        self.after: dict[States, dict[tuple[Any, Any], States]] = {}

    def bare(self, walks: int, steps: int) -> int:
        """Walk without any checking."""
        choice, inputs = self.random.choice, self.inputs
        for _ in range(walks):
            step = self.machine().step
            for _ in range(steps):
                step(choice(inputs))
        return walks * steps

    def checked(self, walks: int, steps: int) -> int:
        """Walk and check every output against the possible states."""
        choice, inputs, after = self.random.choice, self.inputs, self.after
        start = frozenset([self.spec.initial])
        for _ in range(walks):
            step, states = self.machine().step, start
            for _ in range(steps):
                inp = choice(inputs)
                outputs = step(inp)
                known = after.get(states)
                if known is None:
                    known = after[states] = {}
                then = known.get((inp, outputs))
                if then is None:
                    then = known[inp, outputs] = self._next(states, inp, outputs)
                states = then
        return walks * steps

    def turning(self, walks: int, steps: int) -> int:
        """Do the same as an async function with one turn of the event loop a step."""
        return asyncio.run(self._turning(walks, steps))

    async def _turning(self, walks: int, steps: int) -> int:
        choice, inputs, after = self.random.choice, self.inputs, self.after
        start = frozenset([self.spec.initial])
        for _ in range(walks):
            step, states = self.machine().step, start
            for _ in range(steps):
                inp = choice(inputs)
                outputs = step(inp)
                await asyncio.sleep(0)
                known = after.get(states)
                if known is None:
                    known = after[states] = {}
                then = known.get((inp, outputs))
                if then is None:
                    then = known[inp, outputs] = self._next(states, inp, outputs)
                states = then
        return walks * steps

    def _next(self, states: States, inp: Any, outputs: Sequence[Any]) -> States:
        ways: list[Any] = [way for state in states for way in self.spec.step(state, inp)]
        then = frozenset(way.state for way in ways if fits(way, outputs))
        assert then, (states, inp, outputs)
        return then


def fits(way: Any, outputs: Sequence[Any]) -> bool:
    """Return whether these are the outputs of a transition; an `AnyOrder` allows any order."""
    wanted = [part for item in way.outputs for part in getattr(item, "items", (item,))]
    if len(wanted) != len(outputs):
        return False
    return all(_is(want, seen) for want, seen in zip(wanted, sorted(outputs, key=_cpe), strict=True))


def _is(want: Any, seen: Any) -> bool:
    return isinstance(seen, want) if isinstance(want, type) else bool(want == seen)


def _cpe(output: Any) -> int:
    return getattr(output, "cpe", 0)
