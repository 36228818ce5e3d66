"""A spec as the oracle uses it: states and values interned, every question to the spec asked once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar

from otf.core.compile import Routes, compile_all
from otf.core.places import Move, Place
from otf.core.symbols import Symbol
from otf.errors import ModelError, OtfError
from otf.spec import Spec
from otf.values import key, likeness, show

Answer = TypeVar("Answer")
REMEMBERED: Final = 200_000  # states, values and answers
LATELY: Final = 4096  # objects that are known again without a look at what is in them


class Model:
    """What a spec says, remembered; one model serves all runs of a campaign.

    Raises ModelError wherever the spec raises, or answers with something that it may not.
    """

    def __init__(self, spec: Spec[Any, Any], routes: Routes | None = None) -> None:
        self.spec = spec
        self.routes: Routes = routes or Routes()
        self._places: dict[Hashable, Place] = {}
        self._symbols: dict[Hashable, Symbol] = {}
        # by the identity of values, which are kept with it: most inputs and outputs come back as the same objects
        self._same: dict[int, tuple[object, Symbol]] = {}
        self._remembered = 0
        # whether a time window was met so far
        self.timed: bool = False
        self.initial: Place = self.place(spec.initial)

    def place(self, state: object) -> Place:
        """Return the place of a state."""
        name = _key("state", state)
        place = self._places.get(name)
        if place is None:
            self._make_room()
            place = self._places[name] = Place(state, name)
        return place

    def symbol(self, value: object) -> Symbol:
        """Return the symbol of an input or output."""
        same = self._same.get(id(value))
        if same is not None:
            return same[1]
        name = _key("value", value)
        symbol = self._symbols.get(name)
        if symbol is None:
            self._make_room()
            symbol = self._symbols[name] = Symbol(value, name)
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
            self._make_room()
            moves = place.moves[inp] = self._step(self.spec, place, inp)
        return moves

    def unasked(self, place: Place) -> tuple[Move, ...]:
        """Return what may happen unasked in a state."""
        if place.unasked is None:
            emits = self.spec.emits
            place.unasked = () if emits is None else self._ask("emits", emits, place.value)
            place.must = min((move.within[1] for move in place.unasked if move.within), default=None)
        return place.unasked

    def must(self, place: Place) -> float | None:
        """Return the seconds after which something must have come unasked, None where nothing must."""
        self.unasked(place)
        return place.must

    def offers(self, place: Place) -> tuple[Symbol, ...]:
        """Return the inputs worth trying in a state, each once, in the model's order."""
        if place.offers is None:
            asked = f"inputs({show(place.value)})"
            place.offers = _guard(asked, lambda: tuple(dict.fromkeys(map(self.symbol, self.spec.inputs(place.value)))))
        return place.offers

    def specified(self, place: Place, inp: Symbol) -> bool:
        """Tell whether the model itself, before any completion, says what happens on an input."""
        if self.spec.partial is None:
            return bool(self.moves(place, inp))
        known = place.specified.get(inp)
        if known is None:
            self._make_room()
            known = place.specified[inp] = bool(self._step(self.spec.partial, place, inp))
        return known

    def _step(self, spec: Spec[Any, Any], place: Place, inp: Symbol) -> tuple[Move, ...]:
        return self._ask("step", spec.step, place.value, inp.value)

    def _ask(self, name: str, function: Callable[..., object], *arguments: object) -> tuple[Move, ...]:
        asked = f"{name}({', '.join(map(show, arguments))})"
        moves = _guard(asked, lambda: compile_all(function(*arguments), self.routes, self.place))
        self.timed = self.timed or any(move.within for move in moves)
        return moves

    def _make_room(self) -> None:
        # what was forgotten is asked again, and what is made anew equals the old: this costs time, never a verdict
        self._remembered += 1
        if self._remembered > REMEMBERED:
            self._remembered = 0
            for place in self._places.values():
                place.forget()
            self._places.clear()
            self._symbols.clear()
            self._same.clear()
            # every run begins here: what it leads to would be kept for ever, were it not forgotten the next time
            self._places[self.initial.key] = self.initial


def _guard(asked: str, call: Callable[[], Answer]) -> Answer:
    try:
        return call()
    except OtfError as error:
        message = f"{asked}: {error}"
        raise ModelError(message) from error
    except Exception as error:
        message = f"{asked}: the model raised {type(error).__name__}: {error}"
        raise ModelError(message) from error


def _key(what: str, value: object, naming: Callable[[Any], Hashable] = key) -> Hashable:
    try:
        return naming(value)
    except Exception as error:
        message = f"the {what} {show(value)} cannot be compared: {error}"
        raise ModelError(message) from error
