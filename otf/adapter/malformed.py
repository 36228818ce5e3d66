"""The model of a system that also gets malformed inputs: by default any answer, and the state as it was, or fresh."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeGuard

from otf.codec.malformed import Malformed, MalformedCodec
from otf.spec import Accept, Spec, Transition, goto, on, stop
from otf.trace.events import Ended

ORDERLY: Final = tuple(map(Ended, ("end of stream", "connection reset", "broken pipe")))
"""Ends of a connection that a system may choose; the end of its process is none of them."""


@dataclass(frozen=True, slots=True)
class Disturbed:
    """A state after a malformed input: any output may come until the next input is taken."""

    state: Any


@dataclass(frozen=True, slots=True)
class Anywhere:
    """Any state, after an input of which the model says nothing: the system lives, and nothing more is sent to it."""


@dataclass(frozen=True, slots=True)
class HungUp:
    """The system closed a connection after a malformed input: nothing more is sent to it."""


class Hardened:
    """The functions of a spec with malformed inputs.

    After such an input any outputs may come until the next one, or the end of the connection. The system is then in
    the state that it was in, or in a fresh one, or where the message that the input was made of leads: a system may
    be lenient. Which of these it is shows when the path goes on. A spec may say more with `malformed=`. If an input has
    several frames, the system takes one after the other. After a message that the model does not specify the system
    may be in any state.
    """

    def __init__(self, spec: Spec[Any, Any], codec: MalformedCodec, ports: Sequence[str]) -> None:
        self.spec = spec
        self.codec = codec
        self.ports = ports
        # the names of all timers that were started: a fresh system has none of them
        self._timers: set[str] = set()

    def step(self, state: object, inp: object) -> Iterable[Any]:
        """Return what may happen on an input; bytes that are a message of this state are unspecified."""
        if isinstance(state, (HungUp, Anywhere)):
            # sent before the end was seen
            return (goto(state),)
        known = state.state if isinstance(state, Disturbed) else state
        return self._malformed(known, inp) if isinstance(inp, Malformed) else self._noted(self.spec.step(known, inp))

    def emits(self, state: object) -> Iterable[Any]:
        """Return what may happen without an input."""
        own = self.spec.emits
        if isinstance(state, HungUp):
            return [goto(state, on(port, each)) for port in self.ports for each in (object, Ended)]
        if not isinstance(state, (Disturbed, Anywhere)):
            return () if own is None else self._noted(own(state))
        ends = [goto(HungUp(), on(port, end)) for port in self.ports for end in ORDERLY]
        answers = [goto(state, on(port, object)) for port in self.ports]
        if own is None or isinstance(state, Anywhere):
            return [*answers, *ends]
        return [*answers, *ends, *map(_freed, own(state.state))]

    def inputs(self, state: object) -> Iterable[Any]:
        """Return the inputs to try."""
        if isinstance(state, (HungUp, Anywhere)):
            return ()
        return self.spec.inputs(state.state if isinstance(state, Disturbed) else state)

    def _malformed(self, state: object, inp: Malformed) -> Iterable[Any]:
        frames = self.codec.frames(inp.port, inp.raw)
        meant = [self.codec.message(inp.port, frame) for frame in frames]
        if len(frames) == 1 and meant[0] is not None and any(True for _ in self.spec.step(state, meant[0])):
            return ()
        own = self.spec.malformed
        if own is None or (len(frames) > 1 and None not in meant):
            return self._one_after_the_other(state, meant, inp)
        return own(state, inp) if len(frames) == 1 else ()

    def _one_after_the_other(self, state: object, meant: Sequence[object | None], inp: Malformed) -> list[Any]:
        ways: list[Transition[Any]] = [goto(state)] if meant else []
        for message in meant:
            after = (
                replace(then, timers=way.timers + then.timers)
                for way in ways
                for then in self._after(way.state, message, inp)
            )
            ways = [*dict.fromkeys(after)]  # several lead to the same state
        return [*dict.fromkeys(replace(way, state=_disturbed(way.state)) for way in ways)]

    def _after(self, state: object, message: object | None, inp: Malformed) -> Iterator[Transition[Any]]:
        """Yield where a frame leads: a message to where the model says, any other to one of several states."""
        if isinstance(state, Anywhere):
            yield goto(state)
            return
        if message is None:
            yield goto(state)
            yield goto(self.spec.initial, timers=[stop(name) for name in sorted(self._timers)])
            message = self.codec.message(inp.port, inp.of)
        ways = self._noted(self.spec.step(state, message)) if message is not None else []
        # where the model says nothing, or only after it has seen the outputs, the state is unknown
        if not ways or not all(map(_is_transition, ways)):
            yield goto(Anywhere())
        yield from (replace(way, outputs=(), within=None, after="") for way in ways if _is_transition(way))

    def _noted(self, ways: Iterable[Any]) -> list[Any]:
        found = list(ways)
        self._timers.update(action.name for way in found for action in getattr(way, "timers", ()))
        return found


def _disturbed(state: object) -> object:
    return state if isinstance(state, Anywhere) else Disturbed(state)


def _freed(way: Any) -> Any:  # noqa: ANN401 -- whatever a model yields
    """Return a transition into a disturbed state, at any time."""
    if isinstance(way, Accept):
        return replace(way, within=None, after="")
    return replace(way, state=Disturbed(way.state), within=None, after="") if _is_transition(way) else way


def _is_transition(way: object) -> TypeGuard[Transition[Any]]:
    return isinstance(way, Transition)


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
    return Spec(made.step, spec.initial, made.inputs, made.emits, name=spec.name, partial=partial)
