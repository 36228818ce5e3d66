"""Systems made from specs: chance decides between the choices of the spec, and a mutation makes one step wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from random import Random
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from otf.core.walk import Act
from otf.errors import ModelError
from otf.spec import Accept, AnyOrder, On, OneOf, Spec, TimerAction, TimerStop, Transition, start
from otf.spec.outputs import vague
from otf.values import show

PortChoice = Callable[[Any], str]
SystemMove: TypeAlias = Transition[Any] | Accept


class Emission(NamedTuple):
    """One output of a simulated system: the `output` itself, and the `port` on which it comes.

    >>> Emission("click", "sut").port
    'sut'
    """

    output: object
    port: str


class Happening(NamedTuple):
    """What one move of a simulated system does.

    The move leads to the next `state`, and the system sends the `outputs` in order. The time window of the outputs is
    `within`, in seconds after the move. The `timers` are those that the move starts and stops.

    >>> Happening(True, (Emission("click", "sut"),), None).state
    True
    """

    state: object
    outputs: tuple[Emission, ...]
    within: tuple[float, float] | None
    timers: tuple[TimerAction, ...] = ()


class SimulatedSystem(Protocol):
    """The interface of a system in a simulated world, whether the system is made from a spec or written by hand.

    >>> class Echo:
    ...     state, timers = None, ()
    ...     def take(self, inp): return Happening(None, (Emission(inp, "line"),), None)
    ...     def spontaneous(self): return ()
    ...     def do(self, way): raise NotImplementedError
    >>> system: SimulatedSystem = Echo()
    >>> system.take("hello").outputs
    (Emission(output='hello', port='line'),)
    """

    @property
    def state(self) -> object:
        """Return the state of the system; a world uses the state only to see whether an input has changed it."""
        ...

    def take(self, inp: Any) -> Happening:  # noqa: ANN401 -- an input of any system
        """Take an input, and return what the system does."""
        ...

    @property
    def timers(self) -> Sequence[TimerAction]:
        """Return the timers that run when the system starts."""
        ...

    def spontaneous(self) -> Sequence[SystemMove]:
        """Return the system's spontaneous transitions, each with its time window from now on, or with its timer."""
        ...

    def do(self, way: SystemMove, /) -> Happening:
        """Make one of the spontaneous transitions, and return what the system does."""
        ...


@dataclass(slots=True)
class System:
    """A simulated system that conforms to a spec: the system takes any input, and does what the spec allows.

    The `spec` is the model of the system, and `state` is its current state. Where the spec allows several transitions,
    `random` chooses one. `port` returns the port of an output that does not name its port. If the spec describes an
    output only by a class or a test, `invent` returns the value to send. For an `Accept`, `invent` returns a tuple of
    outputs, or a dict with a tuple of outputs for each port. `otherwise` returns the possible transitions on an input
    that the spec does not specify. The system ignores an unspecified input for which `otherwise` returns no
    transitions.

    >>> from random import Random
    >>> from otf.spec import Spec, goto
    >>> lamp = Spec(lambda lit, inp: [goto(not lit, "click")], False, ["press"])
    >>> system = System(lamp, lambda output: "sut", Random(1))
    >>> system.take("press").outputs, system.state
    ((Emission(output='click', port='sut'),), True)
    >>> system.spontaneous(), system.do(goto(False, "off")).outputs
    ([], (Emission(output='off', port='sut'),))
    """

    spec: Spec[Any, Any]
    port: PortChoice
    random: Random
    invent: Callable[[Any], Any] | None = None
    otherwise: Callable[[Any, Any], Iterable[SystemMove]] | None = None
    state: object = None

    def __post_init__(self) -> None:
        """Start in the initial state."""
        self.state = self.spec.initial

    @property
    def timers(self) -> tuple[TimerAction, ...]:
        """Return the timers that run when the system starts."""
        return self.spec.timers

    def take(self, inp: object) -> Happening:
        """Take an input, and make one of the transitions that the spec allows."""
        ways = list(self.spec.step(self.state, inp))
        if not ways and self.otherwise is not None:
            ways = list(self.otherwise(self.state, inp))
        return self._make(ways) if ways else Happening(self.state, (), None)

    def spontaneous(self) -> list[SystemMove]:
        """Return the transitions that the system may now make without an input."""
        return list(self.spec.emits(self.state)) if self.spec.emits is not None else []

    def do(self, way: SystemMove) -> Happening:
        """Make the given transition, and return what the system does."""
        return self._make([way])

    def _make(self, ways: Sequence[SystemMove]) -> Happening:
        way = ways[0] if len(ways) == 1 else self.random.choice(ways)
        if isinstance(way, Accept):
            seen, emitted = self._accepted(way)
            self.state = self.random.choice(list(way.then(seen)))
            return Happening(self.state, emitted, way.within, way.timers)
        self.state = way.state
        emitted = tuple(each for item in way.outputs for each in self._emitted(item, ""))
        return Happening(way.state, emitted, way.within, way.timers)

    def _accepted(self, way: Accept) -> tuple[Any, tuple[Emission, ...]]:
        """Return outputs that an `Accept` takes, as arguments of its functions and in the order of emission."""
        found = self._invented(way)
        if isinstance(way.port, tuple):
            seen = {port: tuple(found[port]) for port in way.port}
            return seen, tuple(Emission(each, port) for port, outputs in seen.items() for each in outputs)
        outputs: tuple[Any, ...] = tuple(found)
        return outputs, tuple(Emission(each, way.port or self.port(each)) for each in outputs)

    def _emitted(self, item: object, port: str) -> Iterator[Emission]:
        match item:
            case AnyOrder(items):
                for part in self.random.sample(items, len(items)):
                    yield from self._emitted(part, port)
            case OneOf(items):
                yield from self._emitted(self.random.choice(items), port)
            case On(name, inner):
                yield from self._emitted(inner, name)
            case _:
                value = self._invented(item) if vague(item) else item
                yield Emission(value, port or self.port(value))

    def _invented(self, item: object) -> Any:  # noqa: ANN401 -- any value of the model
        if self.invent is None:
            message = f"a system made from a spec has no value for {show(item)}: pass `invent`"
            raise ModelError(message)
        return self.invent(item)


MutationKind = Literal["output", "transfer", "missing", "surplus", "late", "early", "dead"]


@dataclass(frozen=True, slots=True)
class Mutation:
    """One wrong transition of a system, in the given `state` on the given `input` (None: a spontaneous transition).

    The `kind` says what is wrong, for example a missing output. `instead` is the wrong output or the wrong next state.
    With the kinds `late` and `early`, `instead` is the number of seconds by which otf moves the transition's time
    window, or the expiry of the timers that the transition starts. With the kind `dead`, the transition never happens,
    as if a timer did not expire.

    >>> Mutation("output", False, "press", instead="clack").instead
    'clack'
    """

    kind: MutationKind
    state: object
    input: object
    instead: Any = None


def faulty(spec: Spec[Any, Any], fault: Mutation) -> Spec[Any, Any]:
    """Return a spec with one wrong transition; a system made from that spec does not conform to the given spec.

    >>> from otf.spec import Spec, goto
    >>> lamp = Spec(lambda lit, inp: [goto(not lit, "click")], False, ["press"])
    >>> wrong = faulty(lamp, Mutation("output", False, "press", instead="clack"))
    >>> list(wrong.step(False, "press"))
    [Transition(state=True, outputs=('clack',), within=None)]
    """

    def step(state: Any, inp: Any) -> Iterable[Transition[Any] | Accept]:  # noqa: ANN401 -- any spec's state and input
        ways = list(spec.step(state, inp))
        return _wrong(ways, fault) if (state, inp) == (fault.state, fault.input) else ways

    def emits(state: Any) -> Iterable[Transition[Any] | Accept]:  # noqa: ANN401 -- as above
        ways = list(spec.emits(state)) if spec.emits is not None else []
        return _wrong(ways, fault) if fault.input is None and state == fault.state else ways

    return spec.remade(step, spec.initial, spec.inputs, emits if spec.emits is not None else None)


def _wrong(ways: Sequence[Transition[Any] | Accept], fault: Mutation) -> list[Transition[Any] | Accept]:
    if fault.kind == "dead":
        return []
    return [_changed(way, fault) if isinstance(way, Transition) else way for way in ways]


def _changed(way: Transition[Any], fault: Mutation) -> Transition[Any]:
    match fault.kind:
        case "output":
            return replace(way, outputs=(*way.outputs[:-1], fault.instead))
        case "transfer":
            return replace(way, state=fault.instead)
        case "missing":
            return replace(way, outputs=way.outputs[:-1])
        case "surplus":
            return replace(way, outputs=(*way.outputs, fault.instead))
        case _ if way.timers and way.within is None:
            return replace(way, timers=tuple(_moved(each, fault.instead) for each in way.timers))
        case _:
            lo, hi = way.within or (0.0, 0.0)
            return replace(way, within=(max(0.0, lo + fault.instead), hi + fault.instead))


def _moved(timer: TimerAction, seconds: float) -> TimerAction:
    if isinstance(timer, TimerStop):
        return timer
    return start(timer.name, max(0.0, timer.lo + seconds), timer.hi + seconds)


def acting(
    spec: Spec[Any, Any],
    fault: Mutation | None = None,
    *,
    seed: int = 0,
    invent: Callable[[Any], Any] | None = None,
) -> Callable[[], Act]:
    """Return a function that makes a system from a spec for each path: `Bench(spec, system=acting(spec), types=(…))`.

    Where the spec allows several transitions, the system chooses at random, anew on each path. The system sends no
    spontaneous outputs, because it only answers inputs. The system ignores inputs that the spec does not specify. If
    the spec describes an output only by a class or a test, `invent` returns the value to send.
    """
    wrong = spec if fault is None else faulty(spec, fault)
    numbers = count(1)

    def make() -> Act:
        system = System(wrong, lambda _value: "", Random(f"{seed}/{next(numbers)}"), invent or _invented)

        def act(inp: Any) -> Iterable[object]:  # noqa: ANN401 -- any input
            return tuple(each.output for each in system.take(inp).outputs)

        return act

    return make


def _invented(item: Any) -> Any:  # noqa: ANN401 -- what a spec gives instead of a value
    if isinstance(item, type):
        return item()
    message = f"a system made from a spec has no value for {show(item)}: pass `invent`"
    raise ModelError(message)
