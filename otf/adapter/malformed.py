"""The model of a system that also gets malformed inputs: by default, any answer may come and the state may reset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, Final

from otf.adapter.socket import CUT_OFF
from otf.codec import Codec, PortAction
from otf.codec.malformed import Malformed, MalformedCodec
from otf.spec import Accept, Elapse, Spec, Transition, goto, on, stop
from otf.spec.redrawing import Within
from otf.spec.transition import is_transition
from otf.trace.events import Ended

ORDERLY: Final = tuple(map(Ended, ("end of stream", "connection reset", "broken pipe", CUT_OFF)))
"""Ends of a connection that a system may choose; the end of its process is not one of them."""


HEARD: Final = 6
"""The most outputs on ports other than that of a malformed input.

Without a limit, the ways to explain one output would be endless, since outputs on several ports may be in flight.
"""


SAMPLE: Final = 100
"""Inputs that show whether a codec can recognise messages."""


def sample_of(spec: Spec[Any, Any], codec: Codec) -> list[object]:
    """Return some inputs that have bytes: of the initial state, or after a port was opened there."""
    inputs = [*islice((each for each in spec.inputs(spec.initial) if not isinstance(each, Elapse)), SAMPLE)]
    messages = [each for each in inputs if not isinstance(codec.encode(each), PortAction)]
    if messages or not inputs:
        return messages
    opened = (way.state for way in spec.step(spec.initial, inputs[0]) if isinstance(way, Transition))
    then = (each for state in islice(opened, 1) for each in spec.inputs(state) if not isinstance(each, Elapse))
    return [each for each in islice(then, SAMPLE) if not isinstance(codec.encode(each), PortAction)] or inputs


@dataclass(frozen=True, slots=True)
class Disturbed:
    """A state after a malformed input on a port ("": the only one), until the next input is taken.

    Any outputs may come there, and some on other ports; `heard` lists the ports that had some.
    """

    state: Any
    port: str = field(default="", repr=False)
    heard: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Anywhere:
    """Any state, after an input that the model does not describe: the system lives, and nothing more is sent to it.

    `fresh`: the system keeps its state per connection, so closing the connection resets it.
    """

    port: str = field(default="", repr=False)
    heard: tuple[str, ...] = field(default=(), repr=False)
    fresh: bool = field(default=False, repr=False)


@dataclass(frozen=True, slots=True)
class HungUp:
    """The system closed the connection after a malformed input: nothing more is sent to it."""

    port: str = field(default="", repr=False)
    heard: tuple[str, ...] = field(default=(), repr=False)


class Hardened:
    """The functions of a spec with malformed inputs.

    After such an input, any outputs may come until the next one, or the connection may end. The system may then be in
    its previous state or in a fresh one. It may also be lenient, and be in the state that the original message leads
    to. What comes later on the path shows which of these it is. A spec may say more with `malformed=`. If an input has
    several frames, the system takes them one by one. After a message that the model does not specify, or that is not
    one of its inputs, the system may be in any state.
    """

    def __init__(self, spec: Spec[Any, Any], codec: MalformedCodec, ports: Sequence[str]) -> None:
        self.spec = spec
        self.codec = codec
        self.ports = ports
        # the names of all timers that were started; none of them runs in a fresh system
        self._timers: set[str] = set()

    def step(self, state: object, inp: object) -> Iterable[Any]:
        """Return what may happen on an input; bytes that are a message of this state are unspecified."""
        if isinstance(state, (HungUp, Anywhere)):
            # sent before the end was seen; if a new connection may follow, the end has to be seen first
            return () if isinstance(state, Anywhere) and state.fresh else (goto(state),)
        known = state.state if isinstance(state, Disturbed) else state
        if isinstance(inp, Malformed):
            return self._malformed(known, inp)
        ways = self._noted(self.spec.step(known, inp))
        # a fault seen now may follow from the malformed input rather than violate the requirements of this one
        return ways if known is state else [replace(way, req=()) for way in ways]

    def emits(self, state: object) -> Iterable[Any]:
        """Return what may happen without an input."""
        own = self.spec.emits
        if not isinstance(state, (Disturbed, Anywhere, HungUp)):
            return () if own is None else self._noted(own(state))
        freed = map(_freed(state), own(state.state)) if own is not None and isinstance(state, Disturbed) else ()
        return [*self._answers(state), *freed]

    def _answers(self, state: Disturbed | Anywhere | HungUp) -> Iterator[Transition[Any]]:
        """Yield what a malformed input may cause: any outputs, or the end of the connection."""
        here = [port for port in self.ports if state.port in {port, ""}]
        kinds = (object, Ended) if isinstance(state, HungUp) else (object,)
        yield from (goto(state, on(port, each)) for port in here for each in kinds)
        if not isinstance(state, HungUp):
            fresh = isinstance(state, Anywhere) and state.fresh
            then = self.spec.initial if fresh else HungUp(state.port, state.heard)
            yield from (goto(then, on(port, end)) for port in here for end in ORDERLY)
        if len(state.heard) < HEARD:
            others = (port for port in self.ports if port not in here)
            yield from (
                goto(replace(state, heard=(*sorted((*state.heard, each)),)), on(each, object)) for each in others
            )

    def inputs(self, state: object) -> Iterable[Any]:
        """Return the inputs to try."""
        if isinstance(state, (HungUp, Anywhere)):
            return ()
        return self.spec.inputs(state.state if isinstance(state, Disturbed) else state)

    def _malformed(self, state: object, inp: Malformed) -> Iterable[Any]:
        frames = self.codec.frames(inp.port, inp.raw)
        meant = [self.codec.message(inp.port, frame) for frame in frames]
        if len(frames) == 1 and meant[0] is not None and self._ways(state, meant[0]):
            return ()
        # a message that is not one of the model's inputs is unknown, unless it was one in another state
        says = self.spec.malformed if None in meant or inp.raw == inp.of else None
        own = None if says is None else says(state, inp)
        return self._one_after_the_other(state, meant, inp) if own is None or len(frames) > 1 else own

    def _one_after_the_other(self, state: object, meant: Sequence[object | None], inp: Malformed) -> list[Any]:
        ways: list[Transition[Any]] = [goto(state)] if meant else []
        for message in meant:
            after = (
                replace(then, timers=way.timers + then.timers)
                for way in ways
                for then in self._after(way.state, message, inp)
            )
            ways = [*dict.fromkeys(after)]  # several lead to the same state
        return [*dict.fromkeys(replace(way, state=_disturbed(way.state, inp.port)) for way in ways)]

    def _after(self, state: object, message: object | None, inp: Malformed) -> Iterator[Transition[Any]]:
        """Yield where a frame leads: a message where the model says, anything else to one of several states."""
        if isinstance(state, Anywhere):
            yield goto(state)
            return
        own = self.spec.malformed(state, inp) if message is None and self.spec.malformed is not None else None
        if message is None and own is None:
            yield goto(state)
            yield goto(self.spec.initial, timers=[*map(stop, sorted(self._timers)), *self.spec.timers])
            message = self.codec.message(inp.port, inp.of)
        ways = [*own] if own is not None else self._ways(state, message) if message is not None else []
        # if the model says nothing, or only after seeing the outputs, the state is unknown
        if not ways or not all(map(is_transition, ways)):
            yield goto(Anywhere())
        for way in filter(is_transition, ways):
            then = way.state.state if isinstance(way.state, Disturbed) else way.state
            yield replace(way, state=then, outputs=(), within=None, after="")

    def _ways(self, state: object, message: object) -> list[Any]:
        """Return what may happen on a message; nothing is known if it is not an input of the model."""
        known = any(message == each for each in chain(self.spec.inputs(state), self.spec.inputs(self.spec.initial)))
        return self._noted(self.spec.step(state, message)) if known else []

    def _noted(self, ways: Iterable[Any]) -> list[Any]:
        found = list(ways)
        self._timers.update(action.name for way in found for action in getattr(way, "timers", ()))
        return found


def _disturbed(state: object, port: str) -> object:
    return Anywhere(port) if isinstance(state, Anywhere) else Disturbed(state, port)


def _freed(state: Disturbed) -> Callable[[Any], Any]:
    """Return the function that makes a transition lead to a disturbed state, at any time."""

    def freed(way: Any) -> Any:  # noqa: ANN401 -- whatever a model yields
        if isinstance(way, Accept):
            return replace(way, within=None, after="")
        if not is_transition(way):
            return way
        return replace(way, state=replace(state, state=way.state), within=None, after="")

    return freed


def hardened(spec: Spec[Any, Any], codec: MalformedCodec, ports: Sequence[str]) -> Spec[Any, Any]:
    """Return the spec of a system that also gets malformed inputs; `ports` are those with outputs.

    >>> from otf.codec import lines
    >>> @dataclass(frozen=True)
    ... class Get: pass
    >>> store = Spec(lambda state, inp: [goto(state)], "empty", [Get()])
    >>> harder = hardened(store, MalformedCodec(lines({Get: "get"})), ["port"])
    >>> [way.state for way in harder.step("empty", Malformed(b"gett", of=b"get"))]
    [Disturbed(state='empty')]
    """
    made = Hardened(spec, codec, ports)
    partial = None if spec.partial is None else hardened(spec.partial, codec, ports)
    named, timers = spec.name, spec.timers
    inputs = Within(made.inputs, spec.inputs, lambda state: state.state if isinstance(state, Disturbed) else state)
    return Spec(made.step, spec.initial, inputs, made.emits, name=named, partial=partial, timers=timers)
