"""A spec as the oracle uses it: interns states and values, calls each function once for the same arguments."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Sequence
from functools import cached_property, partial
from itertools import islice
from typing import Any, Final, TypeVar

from otf.core.compile import Compiler, Routes, items_of
from otf.core.expectations import Chains
from otf.core.memory import SAMPLED, Memory, Symbol
from otf.core.model_calls import CURRENT
from otf.core.nodes import FEW, ITERATED, KEPT, EnabledInputs, Move, Node, TransitionWindows
from otf.errors import USERS_OWN, ModelError, OtfError
from otf.spec import Elapse, Idle, Spec
from otf.spec.offering import INPUTS, Always, limited
from otf.spec.places import Uncounted, places
from otf.spec.transition import Completed
from otf.values import as_text, key, likeness, show
from otf.values.arguments import brief
from otf.values.identity import weight
from otf.values.raised import blame, own_frames

Answered = TypeVar("Answered")
HEAVY: Final = 8_192  # bytes above which a value is not remembered
AGAIN: Final = 4  # visits after which a long list of inputs is kept with its state
LATELY: Final = 4096  # objects recognised without looking at their contents


class Model:
    """Calls the functions of a `spec`, and remembers what they returned; all paths of a campaign share one `Model`.

    `routes` finds the port of each input and output. `memory` bounds how many results the model remembers. `initial` is
    the node of the initial state. The methods raise ModelError if the spec raises an exception, or returns an invalid
    value.

    >>> from otf.spec import Spec, goto
    >>> model = Model(Spec(lambda lit, inp: [goto(not lit)], False, ["press"]))
    >>> node, press = model.node(False), model.symbol("press")
    >>> [move.target.value for move in model.moves(node, press)], model.spontaneous(node), model.port(press)
    ([True], (), '')
    >>> [each.value for each in model.enabled_inputs(node)], model.specified(node, press)
    (['press'], True)
    """

    def __init__(self, spec: Spec[Any, Any], routes: Routes | None = None, memory: Memory | None = None) -> None:
        self.spec = spec
        # whether the system does nothing without an input
        self.alone: bool = spec.emits is None
        self.routes: Routes = routes or Routes()
        self.memory: Memory = Memory() if memory is None else memory
        self._compiler = Compiler(self.routes, Chains(self.memory), self.node, self.output_symbol)
        self._nodes: dict[Hashable, Node] = {}
        self._symbols: dict[Hashable, Symbol] = {}
        # by identity, together with the value: most inputs and outputs are the same objects again
        self._same: dict[int, tuple[object, Symbol]] = {}
        # whether any move so far had a time window
        self.timed: bool = bool(spec.timers)
        # the requirements implemented by any move so far
        self.requirements: set[str] = set()
        # whether an iterable that is not a sequence gave more inputs than can be drawn
        self.cut: bool = False
        self._fixed: EnabledInputs | None = None
        # asks only the user's part of a completed spec: whatever that leaves open is ignored
        self._completes = isinstance(spec.step, Completed)
        self._step: Callable[..., object] = spec.step.spec.step if isinstance(spec.step, Completed) else spec.step
        self.initial: Node = self.node(spec.initial)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Return the nodes of all states that the model remembers."""
        return tuple(self._nodes.values())

    def node(self, state: object) -> Node:
        """Return the node of a state of the model. Raises ModelError for a state that cannot be compared."""
        try:
            name = key(state)
        except Exception as error:
            raise _incomparable("state", state, error) from error
        known = self._nodes.get(name)
        if known is None:
            node = Node(state, name)
            if self.memory.found % SAMPLED == 0:
                self.memory.weigh(state)
            return self.memory.put(self._nodes, name, node, node)
        self.memory.meet(known)
        return known

    @cached_property
    def places(self) -> Uncounted | None:
        """The function that removes the counters from states; None if states have no counters."""
        found = places(self.spec)
        return found if found.counters else None

    def place(self, node: Node) -> Node:
        """Return the node of a state without its counters; strategies and coverage use this node for the state."""
        if self.places is None:
            # a node that refers to itself would keep a state that never recurs until the collector runs
            return node
        if node.place is None:
            node.place = self.node(self.places.of(node.value))
        return node.place

    def symbol(self, value: object) -> Symbol:
        """Return the `Symbol` of an input or an output; equal values have one symbol. Raises ModelError."""
        same = self._same.get(id(value))
        if same is not None:
            return same[1]
        try:
            name = key(value)
        except Exception as error:
            raise _incomparable("value", value, error) from error
        symbol = self._symbols.get(name)
        if symbol is None:
            symbol = Symbol(value, name)
            # weighs each value only once, since that takes as long as its key
            if weight(value) > HEAVY:
                symbol.heavy = True
                return symbol
            self.memory.put(self._symbols, name, symbol, symbol)
        else:
            self.memory.meet(symbol)
        if len(self._same) >= LATELY:
            self._same.clear()
        self._same[id(value)] = value, symbol
        return symbol

    def port(self, inp: Symbol) -> str:
        """Return the port to which an input goes; "" if the bench names no port, or if the input only waits."""
        if inp.port is None:
            inp.port = self.routes.into(inp.value)
        return inp.port

    def output_symbol(self, output: object) -> Symbol:
        """Return the `Symbol` of an observed output, even of an output without a hash, such as a list."""
        same = self._same.get(id(output))
        if same is not None:
            return same[1]
        try:
            return self.symbol(output)
        except ModelError:
            # not remembered, since the same object may have another value next time
            try:
                return Symbol(output, likeness(output))
            except Exception as error:
                raise _incomparable("value", output, error) from error

    def moves(self, node: Node, inp: Symbol) -> tuple[Move, ...]:
        """Return the transitions that a state allows on an input; empty if the model does not specify the input."""
        moves = node.moves.get(inp)
        if moves is None:
            if isinstance(inp.value, Elapse):
                found = self._elapsing(node, inp.value)
            else:
                found = self._ask(node, "step", self._step, inp.value)
                if self._completes and not found:
                    found = (Move(node, (), (), node),)
            moves = self.memory.put(node.moves, inp, found, node)
        return moves

    def spontaneous(self, node: Node) -> tuple[Move, ...]:
        """Return the transitions that a state allows without an input."""
        if self.spec.emits is None:
            return ()
        moves = node.moves.get(None)
        if moves is None:
            moves = self.memory.put(node.moves, None, self._ask(node, "emits", self.spec.emits), node)
            node.windows = tuple((at, *move.within) for at, move in enumerate(moves) if move.within)
            node.expiring = frozenset(move.after for move in moves if move.after)
        return moves

    def windows(self, node: Node) -> TransitionWindows:
        """Return the time windows of a state's spontaneous transitions, in seconds since the entry into the state."""
        return node.windows if self.spontaneous(node) else ()

    def enabled_inputs(self, node: Node) -> tuple[Symbol, ...]:
        """Return the enabled inputs of a state, each of them once, in the order of the model."""
        if node.enabled_inputs is None:
            fixed = isinstance(self.spec.inputs, Always)
            node.enabled_inputs = self.offered(node).all if fixed else self._each_once(node)
        return node.enabled_inputs

    def offered(self, node: Node) -> EnabledInputs:
        """Return the enabled inputs of a state, from which strategies draw."""
        if node.offered is not None:
            return node.offered
        if isinstance(self.spec.inputs, Always):
            if self._fixed is None:
                self._fixed = EnabledInputs.fixed(self._each_once(node))
            return self._fixed
        found = call_model(lambda: self._drawable(node), self.spec.inputs, "inputs", node.value)
        # a long list is kept if its state comes again and again; otherwise the lists of states that never recur would
        # pile up
        node.asked += 1
        if node.asked >= AGAIN and FEW < len(found) <= KEPT:
            found = EnabledInputs.fixed(map(found.__getitem__, range(len(found))))
        if found.kept:
            node.offered = found
        return found

    def specified(self, node: Node, inp: Symbol) -> bool:
        """Return whether the model specifies an input; false for an input that only `total` added."""
        if self.spec.partial is None or isinstance(inp.value, Elapse):
            return bool(self.moves(node, inp))
        if node.specified is None:
            node.specified = {}
        known = node.specified.get(inp)
        if known is None:
            moves = self._ask(node, "step", self.spec.partial.step, inp.value)
            known = self.memory.put(node.specified, inp, bool(moves), node)
        return known

    def _elapsing(self, node: Node, inp: Elapse) -> tuple[Move, ...]:
        """Return the moves on an input that only waits: those of the model itself, or one that changes nothing."""
        own = self.spec.partial
        # a completed spec would enter the state again, which may restart its timers
        ignored = isinstance(inp, Idle) or (own is not None and not self._ask(node, "step", own.step, inp))
        moves = () if ignored else self._ask(node, "step", self.spec.step, inp)
        return moves or (Move(node, (), (), node, stays=True),)

    def called(self, name: str, function: Callable[..., object], *arguments: object) -> Hashable:
        """Call a function of the user, and return the key of its result; raise ModelError if the function raises."""
        return call_model(lambda: key(function(*arguments)), function, name, *arguments)

    def _each_once(self, node: Node) -> tuple[Symbol, ...]:
        return call_model(
            lambda: tuple(dict.fromkeys(map(self.symbol, limited(self._given(node), INPUTS, "inputs")))),
            self.spec.inputs,
            "inputs",
            node.value,
        )

    def _given(self, node: Node) -> Iterable[object]:
        # up to its length: a sequence that never raises IndexError would be iterated forever
        given = offered(self.spec, node.value)
        return islice(given, len(given)) if isinstance(given, Sequence) else given

    def _drawable(self, node: Node) -> EnabledInputs:
        given = offered(self.spec, node.value)
        values = given if isinstance(given, Sequence) else tuple(islice(given, ITERATED + 1))
        size = len(values)
        if values is not given and size > ITERATED:
            size, self.cut = ITERATED, True
        if size <= FEW:
            return EnabledInputs.fixed(dict.fromkeys(map(self.symbol, islice(values, size))))

        def drawn(at: int) -> Symbol:
            return call_model(lambda: self.symbol(values[at]), self.spec.inputs, "inputs", node.value)

        def every() -> list[Symbol]:
            # up to its length, as in `_given`
            given = islice(values, size) if size <= INPUTS else limited(values, INPUTS, "inputs")
            return call_model(lambda: list(map(self.symbol, given)), self.spec.inputs, "inputs", node.value)

        # a user-defined sequence may raise
        known = values[:size] if isinstance(values, (list, tuple)) else ()
        return EnabledInputs(size, drawn, every=every, values=known)

    def sets_timers(self, move: Move) -> bool:
        """Return whether a move has a time window, or starts a timer."""
        return bool(move.within or move.starts or (isinstance(move.position, Node) and self.windows(move.position)))

    def _ask(self, node: Node, name: str, function: Callable[..., object], *inputs: object) -> tuple[Move, ...]:
        # `total` and the like wrap the user's function, which is where an error is
        own = (self.spec.partial or self.spec).step if inputs else function
        compiled = partial(self._compiler.moves, node, function, *inputs)
        moves = call_model(compiled, own, name, node.value, *inputs)
        for move in moves:
            if move.within or move.starts:
                self.timed = True
            if move.req:
                self.requirements.update(move.req)
        return moves


def first_inputs(spec: Spec[Any, Any], most: int) -> tuple[object, ...]:
    """Return the first inputs of the initial state. Raises ModelError if the model fails."""
    return call_model(lambda: tuple(islice(offered(spec, spec.initial), most)), spec.inputs, "inputs", spec.initial)


def offered(spec: Spec[Any, Any], state: object) -> Iterable[Any]:
    """Return the inputs of a state. Raises ModelError if the model gives none of the kind."""
    given: Any = spec.inputs(state)
    if isinstance(given, str | bytes) or not (hasattr(given, "__iter__") or hasattr(given, "__getitem__")):
        raise ModelError(f"it gave {brief(given)}, and no inputs: return a list of them, or yield each")
    return items_of(given) if isinstance(given, Generator) else given  # pyright: ignore[reportUnknownArgumentType] -- any


def call_model(call: Callable[[], Answered], own: Callable[..., object], name: str, *arguments: object) -> Answered:
    """Return what a call returns; an error is a ModelError with `name(arguments)` and the lines of the user's `own`."""
    CURRENT.now, began = (name, arguments), CURRENT.clock()
    try:
        return call()
    except USERS_OWN:
        raise
    except BaseException as error:  # even one that would end the program: in a model it is a defect like any other
        call_text = f"{name}({', '.join(map(show, arguments))})"
        if isinstance(error, OtfError):
            raise ModelError(f"{call_text}: {as_text(error)}{own_frames(error, own)}") from error
        raise blame(f"{call_text}: the model raised", error, own) from error
    finally:
        CURRENT.now = None
        CURRENT.seconds += CURRENT.clock() - began


def _incomparable(what: str, value: object, error: Exception) -> ModelError:
    return ModelError(f"the {what} {show(value)} cannot be compared: {as_text(error)}")
