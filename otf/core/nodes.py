"""The states of a model with their moves and enabled inputs, in the form that the search needs.

Inputs are drawn by index, so no state requires a scan of a long list.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias, cast

from otf.core.expectations import Emitted, texts_of
from otf.core.memory import Symbol
from otf.spec import Accept, TimerStart
from otf.spec.offering import INPUTS, limited
from otf.values import message_of

FEW: Final = 32
"""The most inputs that a strategy compares; if a state enables more, the strategy draws this many of them."""

KEPT: Final = 1_000
"""The longest list of inputs that otf keeps with a state that recurs."""

ITERATED: Final = 10_000
"""The most inputs that otf takes from an iterable that is not a sequence; it never draws those after them."""


class EnabledInputs:
    """A sequence of `size` inputs, which may be very long; `at(index)` creates an input when otf draws its index.

    If a function returns more than `FEW` inputs for a state, otf does not remove duplicates, so otf draws an input that
    occurs twice twice as often. `kept` is true if the sequence is short, or the same for all states, so that keeping it
    in memory is cheap.

    >>> from otf.core import Symbol
    >>> inputs = EnabledInputs(1_000_000, lambda at: Symbol(at, at))
    >>> len(inputs), inputs[999_999].value
    (1000000, 999999)
    """

    def __init__(
        self,
        size: int,
        at: Callable[[int], Symbol],
        *,
        kept: bool = False,
        every: Callable[[], Iterable[Symbol]] | None = None,
        values: Iterable[object] = (),
    ) -> None:
        # read at each step and for each draw: an attribute takes a fifth of the time of `len` or an index
        self.size: int = size
        self.at: Callable[[int], Symbol] = at
        # one call of the model for all: guarding a call takes five times as long as an input
        self._every = every
        self._values = values
        self.kept: bool = kept

    @staticmethod
    def fixed(symbols: Iterable[Symbol]) -> EnabledInputs:
        """Return the sequence of inputs whose symbols exist already."""
        made = tuple(symbols)
        values = (symbol.value for symbol in made)
        return EnabledInputs(len(made), made.__getitem__, kept=True, every=lambda: made, values=values)

    def __len__(self) -> int:
        """Return the number of inputs, counting repetitions."""
        return self.size

    def __getitem__(self, index: int) -> Symbol:
        """Return one input. Raises ModelError if the model's sequence raises."""
        return self.at(index)

    @cached_property
    def all(self) -> tuple[Symbol, ...]:
        """Return every input once, in the model's order. Raises ModelError if there are more than `INPUTS`."""
        return tuple(dict.fromkeys(self.listed()))

    @cached_property
    def kinds(self) -> list[list[int]]:
        """Return the indices of the inputs of each kind; empty if there is only one kind, or too many inputs.

        The kind of a text or a tuple is its first word; that of any other value is its type.
        """
        found: dict[object, list[int]] = {}
        for number, value in enumerate(self._values if self.kept or self.size <= KEPT else ()):
            found.setdefault(_kind(value), []).append(number)
        # if most kinds have fewer than two inputs, none of them is rarely drawn
        return list(found.values()) if 1 < len(found) <= self.size // 2 else []

    def listed(self) -> Iterable[Symbol]:
        """Return every input, with repetitions. Raises ModelError if there are more than `INPUTS` inputs."""
        return map(self.at, limited(range(self.size), INPUTS, "inputs")) if self._every is None else self._every()


def _kind(value: object) -> object:
    first = value = message_of(value)
    if type(value) is tuple and value:
        first = cast("tuple[object, ...]", value)[0]
    return first.partition(" ")[0] if isinstance(first, str) else type(first)


NO_INPUTS: Final = EnabledInputs.fixed(())

TransitionWindows: TypeAlias = tuple[tuple[int, float, float], ...]
"""The time windows of spontaneous transitions: the number of each transition, with its bounds in seconds."""


class Node(Symbol):
    """A state of the model, with the transitions on each input; otf calls the spec only once for each state and input.

    `value` is the state itself. `moves[input]` contains the state's transitions on an input, and `moves[None]` contains
    the spontaneous transitions. `specified[input]` is true if the model specifies the input. `independent` contains
    pairs of inputs whose order makes no difference. `indifferent` contains pairs of a spontaneous transition and an
    input whose order makes no difference. `enabled_inputs` contains all enabled inputs, or is None until the model has
    listed them. `expiring` contains the names of the timers that cause spontaneous transitions.

    >>> from otf.spec import Spec, goto
    >>> from otf.core import Model
    >>> node = Model(Spec(lambda lit, inp: [goto(not lit)], False, ["press"])).node(False)
    >>> node.value
    False
    """

    __slots__ = (
        "asked",
        "enabled_inputs",
        "expiring",
        "independent",
        "indifferent",
        "moves",
        "offered",
        "place",
        "specified",
        "windows",
    )

    def __init__(self, value: object, key: Hashable) -> None:
        super().__init__(value, key)
        self.moves: dict[Symbol | None, tuple[Move, ...]] = {}
        # tables that few nodes need
        self.specified: dict[Symbol, bool] | None = None
        self.independent: dict[tuple[Symbol, Symbol], bool] | None = None
        self.indifferent: dict[tuple[Move, Symbol, bool], bool] | None = None
        # the windows of its spontaneous moves, once known, and the timers that cause them
        self.windows: TransitionWindows = ()
        self.expiring: frozenset[str] = frozenset()
        self.enabled_inputs: tuple[Symbol, ...] | None = None
        # the inputs to draw from, if kept, and how often they were asked for
        self.offered: EnabledInputs | None = None
        self.asked: int = 0  # how often
        # the node of the state without its counters, once asked for
        self.place: Node | None = None


class Unconstrained:
    """The position of a system that took an unspecified input: from there, anything is allowed."""

    __slots__ = ()


class Unknown:
    """The position of a system whose state depends on outstanding outputs of an `Accept`."""

    __slots__ = ()


class Midway:
    """The position in the middle of a transition that has made some of its outputs: one of these moves comes next."""

    __slots__ = ("moves", "origin", "spontaneous")

    def __init__(self, origin: Node, moves: tuple[Move, ...], *, spontaneous: bool) -> None:
        self.origin: Node = origin
        self.moves: tuple[Move, ...] = moves
        self.spontaneous: bool = spontaneous


UNCONSTRAINED: Final = Unconstrained()
UNKNOWN: Final = Unknown()
Position: TypeAlias = Node | Unconstrained | Unknown | Midway


class OpenAccept(NamedTuple):
    """An `Accept` with the ports of its outputs, and the state that it starts from."""

    accept: Accept
    ports: tuple[str, ...]
    origin: Node

    @property
    def ends(self) -> bool:
        """Return whether the model limits the number of its outputs."""
        return isinstance(self.accept.until, int)

    def arguments(self, got: tuple[tuple[str, Symbol], ...]) -> object:
        """Return the outputs so far as arguments for the model's functions: of one port, or of each."""
        seen = {port: tuple(each.value for name, each in got if name == port) for port in self.ports}
        return seen if isinstance(self.accept.port, tuple) else seen[self.ports[0]]


@dataclass(slots=True, eq=False)
class Move:
    """A compiled transition: the next position, and the outputs on each port.

    `target` is the final state, or None if an `Accept` decides; `position` is where the system is right after the move.
    The move starts the timers `starts`, stops the timers `stops`, and is caused by the timer `after`. `req` are the
    requirements that it implements. A move that `stays` changes nothing: the state is not entered again, and all timers
    run on. A move that is `at_once` has no window and no `Accept`.
    """

    position: Position
    emitted: Emitted
    shown: tuple[object, ...] | str
    target: Node | None
    within: tuple[float, float] | None = None
    opening: OpenAccept | None = None
    starts: tuple[TimerStart, ...] = ()
    stops: frozenset[str] = frozenset()
    after: str = ""
    stays: bool = False
    req: tuple[str, ...] = ()
    at_once: bool = True
    _texts: tuple[str, ...] | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """Return its outputs as text, created only when something is shown: ways to a failure share moves."""
        if self._texts is None:
            self._texts = (self.shown,) if isinstance(self.shown, str) else tuple(texts_of(self.shown))
        return self._texts

    @property
    def silent(self) -> bool:
        """Return whether it has no output."""
        return not self.emitted and isinstance(self.position, Node)

    @property
    def ports(self) -> set[str]:
        """Return the ports on which its outputs appear."""
        found = {port for port, _ in self.emitted}
        return found.union(self.opening.ports) if self.opening else found
