"""An unreliable channel between a simulated system and its ports: messages are lost, doubled and delayed by chance."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, TypeAlias

from otf.simulate.system import Emission
from otf.simulate.world import Callback, World

Direction: TypeAlias = Literal["in", "out"]


@dataclass(frozen=True, slots=True)
class Net:
    """What a channel does to the inputs and outputs on these ports, each with a probability.

    `lose`, `copy`, `hold`: a message is lost, comes twice, is delayed. A delayed message, or a copy, comes within
    `delay` seconds and before more than `late` further inputs are taken; without `hold` also before the next message on
    its port.

    >>> Net(outputs=frozenset({"radio"}), lose=0.1).lose
    0.1
    """

    inputs: frozenset[str] = frozenset()
    outputs: frozenset[str] = frozenset()
    lose: float = 0.0
    copy: float = 0.0
    hold: float = 0.0
    late: int = 1
    delay: float = 0.05


@dataclass(slots=True, eq=False)
class Stray:
    """A delayed message: its delivery, and the number of inputs that may still be taken before it."""

    direction: Direction
    port: str
    come: Callback
    left: int

    def before(self, direction: Direction, port: str) -> bool:
        """Return whether it precedes a message of this direction and port."""
        return (self.direction, self.port) == (direction, port)


@dataclass(kw_only=True)
class UnreliableWorld(World):
    """A world in which a channel lies between the system and its ports.

    >>> from random import Random
    >>> from otf.simulate import System, TimeBounds
    >>> from otf.spec import Spec, goto
    >>> lamp = Spec(lambda lit, inp: [goto(not lit, "click")], False, ["press"])
    >>> net = Net(inputs=frozenset({"sut"}), lose=1.0)
    >>> world = UnreliableWorld(System(lamp, lambda output: "sut", Random(1)), TimeBounds(), Random(1), net=net)
    >>> world.send("press", "sut")
    >>> world.advance(1.0)
    >>> world.arrived
    []
    """

    net: Net
    _ready: deque[object] = field(default_factory=deque[object])
    _strays: list[Stray] = field(default_factory=list[Stray])

    def _serve(self) -> None:
        # a message out of the channel is taken before the next input goes into it: so `late` is kept
        while self._waiting and not self._ready and self._free <= self.now:
            head = self._head()
            self._overdue(head[0])
            if not self._ready:
                self._waiting.remove(head)
                self._enter(*head)
        if self._ready and self._free <= self.now:
            self._take(self._ready.popleft())
            self._at(self._free, self._serve)

    def _overdue(self, port: str) -> None:
        self._come(lambda stray: not stray.left or (not self.net.hold and stray.before("in", port)))

    def _enter(self, port: str, inp: object) -> None:
        for stray in self._strays:
            stray.left -= 1
        self._pass("in", port, partial(self._ready.append, inp), self.now)

    def _emit(self, outputs: Sequence[Emission], moment: float) -> None:
        for emission in outputs:
            self._pass("out", emission.port, partial(self._emitted, emission, moment), moment)

    def _emitted(self, emission: Emission, moment: float) -> None:
        super()._emit([emission], max(moment, self.now))

    def _pass(self, direction: Direction, port: str, come: Callback, moment: float) -> None:
        """Deliver a message, once, twice or not at all."""
        net = self.net
        if port not in (net.inputs if direction == "in" else net.outputs):
            come()
            return
        if not net.hold:
            self._come(lambda stray: stray.before(direction, port))
        for copy in range(1 + self._by_chance(net.copy)):
            if self._by_chance(net.lose):
                continue
            if self._by_chance(net.hold) or (copy and self._by_chance(0.5)):
                self._hold(Stray(direction, port, come, net.late), moment)
            else:
                come()

    def _hold(self, stray: Stray, moment: float) -> None:
        self._strays.append(stray)
        self._at(max(moment, self.now) + self._between(0.0, self.net.delay), partial(self._release, stray))

    def _release(self, stray: Stray) -> None:
        self._come(lambda each: each is stray)
        self._serve()

    def _come(self, which: Callable[[Stray], bool]) -> None:
        due = [stray for stray in self._strays if which(stray)]
        self._strays = [stray for stray in self._strays if stray not in due]
        for stray in due:
            stray.come()

    def _by_chance(self, probability: float) -> bool:
        return self.random.random() < probability
