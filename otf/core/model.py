"""A spec as the oracle uses it: states and values interned, every question to the spec asked once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any, Final, TypeVar

from otf.core.asking import ASKING
from otf.core.bags import Chains
from otf.core.compile import Compiler, Routes
from otf.core.memory import Memory
from otf.core.places import Move, Place, Windows
from otf.core.symbols import Symbol
from otf.errors import USERS_OWN, ModelError, OtfError
from otf.spec import Spec
from otf.spec.endless import INPUTS, limited
from otf.values import key, likeness, show
from otf.values.weight import weight

Said = TypeVar("Said")
HEAVY: Final = 8_192  # bytes of a value that is not remembered
LATELY: Final = 4096  # objects that are known again without a look at what is in them


class Model:
    """What a spec says, remembered; one model serves all runs of a campaign.

    Raises ModelError wherever the spec raises, or answers with something that it may not.
    """

    def __init__(self, spec: Spec[Any, Any], routes: Routes | None = None, memory: Memory | None = None) -> None:
        self.spec = spec
        self.routes: Routes = routes or Routes()
        self.memory: Memory = Memory() if memory is None else memory
        self._compiler = Compiler(self.routes, Chains(self.memory), self.place, self.heard)
        self._places: dict[Hashable, Place] = {}
        self._symbols: dict[Hashable, Symbol] = {}
        # by the identity of values, which are kept with it: most inputs and outputs come back as the same objects
        self._same: dict[int, tuple[object, Symbol]] = {}
        # whether a time window was met so far
        self.timed: bool = False
        self.initial: Place = self.place(spec.initial)

    @property
    def places(self) -> tuple[Place, ...]:
        """Return the places that are remembered, with what was asked there."""
        return tuple(self._places.values())

    def place(self, state: object) -> Place:
        """Return the place of a state."""
        name = _key("state", state)
        return self._places.get(name) or self.memory.put(self._places, name, Place(state, name))

    def symbol(self, value: object) -> Symbol:
        """Return the symbol of an input or output."""
        same = self._same.get(id(value))
        if same is not None:
            return same[1]
        name = _key("value", value)
        symbol = self._symbols.get(name) or Symbol(value, name)
        if weight(value) > HEAVY:
            symbol.heavy = True
            return symbol
        if name not in self._symbols:
            self.memory.put(self._symbols, name, symbol)
        if len(self._same) >= LATELY:
            self._same.clear()
        self._same[id(value)] = value, symbol
        return symbol

    def heard(self, output: object) -> Symbol:
        """Return the symbol of an output that came; one without a hash, a list for one, is compared all the same."""
        try:
            return self.symbol(output)
        except ModelError:
            # not remembered: the same object may be another value the next time
            return Symbol(output, _key("value", output, likeness))

    def moves(self, place: Place, inp: Symbol) -> tuple[Move, ...]:
        """Return what may happen on an input; empty where the model does not say."""
        moves = place.moves.get(inp)
        if moves is None:
            moves = self.memory.put(place.moves, inp, self._ask(place, "step", self.spec.step, inp.value))
        return moves

    def unasked(self, place: Place) -> tuple[Move, ...]:
        """Return what may happen unasked in a state."""
        if self.spec.emits is None:
            return ()
        moves = place.moves.get(None)
        if moves is None:
            moves = self.memory.put(place.moves, None, self._ask(place, "emits", self.spec.emits))
            place.windows = tuple((at, *move.within) for at, move in enumerate(moves) if move.within)
            place.expiring = frozenset(move.after for move in moves if move.after)
        return moves

    def windows(self, place: Place) -> Windows:
        """Return the windows in which spontaneous transitions are due, counted from when the state was entered."""
        return place.windows if self.unasked(place) else ()

    def offers(self, place: Place) -> tuple[Symbol, ...]:
        """Return the inputs worth trying in a state, each once, in the model's order."""
        if place.offers is None:
            place.offers = _guard(lambda: tuple(dict.fromkeys(self._offered(place.value))), "inputs", place.value)
        return place.offers

    def specified(self, place: Place, inp: Symbol) -> bool:
        """Return whether the model itself, before any completion, says what happens on an input."""
        if self.spec.partial is None:
            return bool(self.moves(place, inp))
        if place.specified is None:
            place.specified = {}
        known = place.specified.get(inp)
        if known is None:
            said = self._ask(place, "step", self.spec.partial.step, inp.value)
            known = self.memory.put(place.specified, inp, bool(said))
        return known

    def independent(self, place: Place, one: Symbol, other: Symbol) -> bool:
        """Return whether two inputs on different ports may be taken in either order with the same result.

        So it is where they bring outputs on different ports only, and lead to the same states both ways.
        """
        if place.independent is None:
            place.independent = {}
        known = place.independent.get((one, other))
        if known is None:
            both = self._after(place, one, other), self._after(place, other, one)
            known = both[0] is not None and both[0] == both[1]
            self.memory.put(place.independent, (one, other), known)
            self.memory.put(place.independent, (other, one), known)
        return known

    def _after(self, place: Place, first: Symbol, second: Symbol) -> frozenset[Hashable] | None:
        """Return what two inputs may lead to; None where their order may matter whatever they lead to."""
        found: set[Hashable] = set()
        moves = self.moves(place, first)
        for one in moves:
            if self._timed(one):
                return None
            then = self.moves(one.spot, second) if isinstance(one.spot, Place) else ()
            if not then:
                return None
            for other in then:
                if not isinstance(other.spot, Place) or one.ports & other.ports or self._timed(other):
                    return None
                owed = frozenset(((first, one.owes), (second, other.owes)))
                found.add((other.spot, owed))
        return frozenset(found) if moves else None

    def _offered(self, state: object) -> Iterator[Symbol]:
        return map(self.symbol, limited(self.spec.inputs(state), INPUTS, "inputs"))

    def _timed(self, move: Move) -> bool:
        return bool(move.within or move.starts or (isinstance(move.spot, Place) and self.windows(move.spot)))

    def _ask(self, place: Place, name: str, function: Callable[..., object], *inputs: object) -> tuple[Move, ...]:
        compiled, state = self._compiler.moves, place.value
        unasked = not inputs
        moves = _guard(lambda: compiled(place, function(state, *inputs), unasked=unasked), name, state, *inputs)
        self.timed = self.timed or any(move.within or move.starts for move in moves)
        return moves


def _guard(call: Callable[[], Said], name: str, *arguments: object) -> Said:
    ASKING.now = name, arguments
    try:
        return call()
    except USERS_OWN:
        raise
    except BaseException as error:  # also what would end the program: of a model it is a defect like any other
        asked = f"{name}({', '.join(map(show, arguments))})"
        raised = "" if isinstance(error, OtfError) else f"the model raised {type(error).__name__}: "
        message = f"{asked}: {raised}{error}"
        raise ModelError(message) from error
    finally:
        ASKING.now = None


def _key(what: str, value: object, naming: Callable[[Any], Hashable] = key) -> Hashable:
    try:
        return naming(value)
    except Exception as error:
        message = f"the {what} {show(value)} cannot be compared: {error}"
        raise ModelError(message) from error
