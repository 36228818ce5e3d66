"""The moves of a system in a hypothesis. All code that looks ahead uses these and no others.

A system takes the input at the head of a queue, or makes a spontaneous move. The search makes moves only if an event
requires them: a hypothesis includes everything that the system may still do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final, Literal, NamedTuple, cast

from otf.core.hypothesis import AWAKE, PLAIN, Asleep, Hypothesis, QueuedInput, move_on, queue, take_input
from otf.core.model import Model
from otf.core.nodes import UNCONSTRAINED, Midway, Move, Node
from otf.core.windows import SPONTANEOUS, Windows
from otf.errors import ModelError, refuse
from otf.values import show
from otf.values.arguments import misfits

Relation = Literal["uioco", "any", "guess"]
"""The states by which otf judges an input: all possible ones, those that specify it, or as a guess of the state."""
INTERNAL: Final = 1_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on the work of a monitor: how many possible states and how many outputs in flight it follows.

    `hypotheses` is how many possible states the monitor keeps. Until the next quiescence, the monitor keeps up to
    `most` states (five times `hypotheses`), because quiescence may rule out many of them. At first, the monitor assumes
    at most `spontaneous` spontaneous outputs in flight on each port. If that assumption does not explain what came, the
    monitor assumes up to `ahead` outputs, and never more. `work` is how many moves one search considers at most; the
    default takes less than half a second of CPU.

    >>> Limits(spontaneous=1).hypotheses
    2000
    """

    hypotheses: int = 2_000
    spontaneous: int = 3
    ahead: int = 1_000
    most: int = field(init=False, repr=False)
    work: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Set the derived limits: fields rather than properties, since every search reads them. Raises UsageError."""
        given = {name: getattr(self, name) for name in ("hypotheses", "spontaneous", "ahead")}
        refuse("Limits: ", misfits(Limits, given.items()))
        object.__setattr__(self, "most", 5 * self.hypotheses)
        object.__setattr__(self, "work", 2 * self.most)


_AT_ONCE: Final = attrgetter("at_once")


class Next(NamedTuple):
    """A hypothesis after a move. `in_flight` is the input taken, `move` the move of the model, if any.

    From there, the inputs on the ports `asleep` need not be taken.
    """

    then: Hypothesis
    move: Move | None = None
    in_flight: QueuedInput | None = None
    port: str = ""
    asleep: Asleep = AWAKE


_THEN: Final = attrgetter("then")
LIMITS: Final = Limits()
# ten times as fast as `set[int]`, and every search makes four
_NUMBERS: Final = cast("Callable[[], set[int]]", set)
_TEXTS: Final = cast("Callable[[], set[str]]", set)


@dataclass(slots=True)
class Moves:
    """The moves of a model; without `windows`, time does not restrict them.

    `free` are the numbers of the inputs that no possible state specifies. `specified` and `unspecified` collect the
    inputs that some state specifies, or does not. `cut` collects the ports with one spontaneous output too many. Moves
    that implement the requirement `without` are left out; `requirements` collects those of all moves considered.
    """

    model: Model
    relation: Relation = "uioco"
    limits: Limits = LIMITS
    windows: Windows | None = None
    free: frozenset[int] = frozenset()
    without: str = ""
    requirements: set[str] = field(default_factory=_TEXTS)
    specified: set[int] = field(default_factory=_NUMBERS)
    unspecified: set[int] = field(default_factory=_NUMBERS)
    cut: set[str] = field(default_factory=_TEXTS)

    def of(self, now: Hypothesis) -> list[Next]:
        """Return the moves of a hypothesis in the model's order, those on inputs first."""
        steps: list[Next] = []
        for port, in_flight in now.flight:
            steps += self.taking(now, port, in_flight[0])
        if self.model.alone and not now.timers and now.position.__class__ is Node:
            return steps
        return steps + self.spontaneous(now)

    def takings(self, starts: Iterable[Hypothesis]) -> Iterator[Hypothesis]:
        """Yield every hypothesis reached by taking inputs in flight in any order, each once, including the starts."""
        seen, stack = set[Hypothesis](), list(starts)
        while stack:
            now = stack.pop()
            if now not in seen:
                seen.add(now)
                yield now
                for port, in_flight in now.flight:
                    stack += map(_THEN, self.taking(now, port, in_flight[0]))

    def taking(self, now: Hypothesis, port: str, in_flight: QueuedInput, loose: int = 0) -> list[Next]:
        """Return the moves that take the first input in flight on a port; those up to `loose` may come before it."""
        position, windows = now.position, self.windows
        if position is UNCONSTRAINED:
            return [Next(take_input(now, port), None, in_flight, port)]
        if not isinstance(position, Node) or not (windows is None or not now.timers or windows.in_time(now, in_flight)):
            return []
        moves, number = self.model.moves(position, in_flight.symbol), in_flight.number
        if moves:
            self.specified.add(number)
            if self.model.requirements:
                moves = self._kept(moves)
            after = take_input(now, port)
            untimed = self.model.alone and not after.timers and not loose and all(map(_AT_ONCE, moves))
            if untimed or not moves or moves[0].stays or windows is None:
                return [Next(move_on(after, move), move, in_flight, port) for move in moves]
            return [Next(windows.after_input(after, move, number, loose), move, in_flight, port) for move in moves]
        self.unspecified.add(number)
        if self.relation == "any" and number not in self.free:
            return []
        then = take_input(now, port)
        # in a guessed state the system ignores it: if anything were allowed, no failure could be found after a guess
        return [
            Next(
                then if self.relation == "guess" else then._replace(position=UNCONSTRAINED, timers=()),
                None,
                in_flight,
                port,
            )
        ]

    def spontaneous(self, now: Hypothesis) -> list[Next]:
        """Return the spontaneous moves of the system."""
        position = now.position
        if isinstance(position, Midway):
            # the transition has been made already, and its requirements noted
            return [Next(self._midway(now, move, spontaneous=position.spontaneous), move) for move in position.moves]
        if not isinstance(position, Node) or (self.model.alone and not now.timers):
            return []
        if self.windows is None:
            return [
                Next(move_on(now, move, SPONTANEOUS), move) for move in self._kept(self.model.spontaneous(position))
            ]
        return list(self._timely(now, position, self.windows))

    def _timely(self, now: Hypothesis, node: Node, windows: Windows) -> Iterator[Next]:
        timers = {each.name: each for each in now.timers}
        for at, move in enumerate(self.model.spontaneous(node)):
            timer = timers.get(move.after or at)
            if (timer is None and move.after) or (timer and not windows.open(now, timer.window)):
                continue
            if self._crowded(now, move) or (move.req and not self._kept((move,))):
                continue
            yield Next(windows.spontaneous(now, move, timer), move)
        for timer in now.timers:
            if isinstance(timer.name, str) and timer.name not in node.expiring and windows.open(now, timer.window):
                yield Next(windows.expired(now, timer))

    def _kept(self, moves: tuple[Move, ...]) -> tuple[Move, ...]:
        """Return the moves that may be made, after noting their requirements."""
        self.requirements.update(name for move in moves for name in move.req)
        return tuple(move for move in moves if self.without not in move.req) if self.without else moves

    def _midway(self, now: Hypothesis, move: Move, *, spontaneous: bool) -> Hypothesis:
        if self.windows is None:
            return move_on(now, move, SPONTANEOUS if spontaneous else PLAIN)
        return self.windows.spontaneous(now, move, None, spontaneous=spontaneous)

    def _crowded(self, now: Hypothesis, move: Move) -> bool:
        """Return whether a port of a spontaneous move already has as many unseen ones as are followed."""
        full = [
            port
            for port in move.ports
            if sum(each.spontaneous for each in queue(now.outstanding, port)) >= self.limits.spontaneous
        ]
        self.cut.update(full)
        return bool(full)


def endless(then: Hypothesis) -> ModelError:
    """Return the error for a model whose internal steps do not end."""
    where = show(getattr(then.position, "value", None))
    return ModelError(f"more than {INTERNAL} internal steps in a row, the last into {where}")
