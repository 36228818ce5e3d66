"""A model as the system under test: every output a value, every choice one that chance can make, in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final, TypeAlias

from otf.adapter import Bench
from otf.codec import Codec
from otf.errors import USERS_OWN, CodecError, ModelError
from otf.mutation.examples import Examples
from otf.spec import Accept, AnyOrder, On, OneOf, Spec, Transition
from otf.spec.outputs import vague
from otf.values import key, show

Ways: TypeAlias = tuple[Transition[Any], ...]
REMEMBERED: Final = 400_000
BESIDE: Final = 200  # inputs of a state that are asked about, to find outputs like its others


@dataclass(slots=True)
class ServedModel:
    """The transitions of a model in which each output is a value.

    What the model only describes is replaced by examples. A transition without one is left out, and its input is not
    tried where nothing else is left: `unserved` has the descriptions of such items.

    >>> from otf.spec import goto
    >>> lamp = Spec(lambda lit, inp: [goto(not lit, str if lit else "on")], False, ["press"])
    >>> served = ServedModel(lamp, Examples((str,), {"on": "on"}))
    >>> served.step(True, "press")
    (Transition(state=False, outputs=(OneOf(items=('on', '', 'x')),), within=None),)
    """

    spec: Spec[Any, Any]
    examples: Examples
    unserved: dict[str, None] = field(default_factory=dict[str, None])
    _known: dict[Hashable, Ways] = field(default_factory=dict[Hashable, Ways])
    # the outputs of the last state that was looked at: its inputs are asked about one after another
    _near: tuple[Hashable, list[object]] | None = None

    def step(self, state: object, inp: object) -> Ways:
        """Return the transitions on an input."""
        return self._remembered((key(state), key(inp)), lambda: self.spec.step(state, inp), state, inp)

    def emits(self, state: object) -> Ways:
        """Return the spontaneous transitions of a state."""
        emits = self.spec.emits
        return () if emits is None else self._remembered(key(state), lambda: emits(state), state, None)

    def serves(self, state: object, inp: object) -> bool:
        """Return whether the system can take an input: the model leaves it open, or gives an output that was found."""
        return bool(self.step(state, inp)) or not any(True for _ in self.spec.step(state, inp))

    def _remembered(self, name: Hashable, ask: Callable[[], Iterable[Any]], state: object, inp: object) -> Ways:
        known = self._known.get(name)
        if known is None:
            if len(self._known) > REMEMBERED:
                self._known.clear()
            known = self._known[name] = tuple(self._asked(ask, state, inp))
        return known

    def _asked(self, ask: Callable[[], Iterable[Any]], state: object, inp: object) -> Iterator[Transition[Any]]:
        try:
            yields = list(ask())
        except USERS_OWN:
            raise
        except BaseException as error:
            message = f"the model raised {type(error).__name__}: {error}, asked about {show(inp)} in {show(state)}"
            raise ModelError(message) from error
        for way in yields:
            yield from self._served(way, state, inp)

    def _served(self, way: Transition[Any] | Accept, state: object, inp: object) -> Iterator[Transition[Any]]:
        if isinstance(way, Accept):
            found = self.examples.accepted(way, state, inp, self._beside(state))
            if not found:
                self.unserved[way.says or f"outputs accepted on {way.port or 'the port'}"] = None
            for row, states in found:
                row_items = tuple(
                    On(way.port, each) if isinstance(way.port, str) and way.port else each for each in row
                )
                yield from (Transition(then, row_items, way.within, way.timers, way.after) for then in states)
            return
        items = [self._item(item, state, inp) for item in way.outputs]
        if None not in items:
            yield replace(way, outputs=tuple(items)) if tuple(items) != way.outputs else way

    def _item(self, item: Any, state: object, inp: object) -> Any:  # noqa: ANN401 -- an item of outputs, or None
        match item:
            case AnyOrder(items) | OneOf(items):
                parts = [self._item(each, state, inp) for each in items]
                return None if None in parts else type(item)(*parts)
            case On(port, inner):
                found = self._item(inner, state, inp)
                return None if found is None else On(port, found)
            case _ if vague(item):
                found = self.examples.of(item, state, inp, self._beside(state))
                if not found:
                    self.unserved[getattr(item, "says", "") or getattr(item, "__name__", "an output")] = None
                return OneOf(*found) if len(found) > 1 else found[0] if found else None
            case _:
                self.examples.learn(item)
                return item

    def _beside(self, state: object) -> Iterator[object]:
        """Yield the outputs that the model gives as values in a state."""
        name = key(state)
        if self._near is None or self._near[0] != name:
            self._near = name, list(self._values(state))
        yield from self._near[1]

    def _values(self, state: object) -> Iterator[object]:
        for inp in islice(self.spec.inputs(state), BESIDE):
            for way in self.spec.step(state, inp):
                items = () if isinstance(way, Accept) else way.outputs
                yield from (value for item in items for value, _ in plain(item) if not vague(value))


def plain(item: object, port: str = "") -> Iterator[tuple[Any, str]]:
    """Yield the values in an item of outputs, each with the port that it names, "" for none."""
    match item:
        case AnyOrder(items) | OneOf(items):
            for each in items:
                yield from plain(each, port)
        case On(name, inner):
            yield from plain(inner, name)
        case _:
            yield item, port


@dataclass(frozen=True, slots=True)
class CodecWire:
    """The way of an output through the codec of a bench: what the tester sees of it.

    Many codecs encode inputs only. Then outputs bypass the codec, and `codec` is None.
    """

    bench: Bench
    codec: Codec | None = None

    @staticmethod
    def of(bench: Bench, outputs: Iterable[object]) -> CodecWire:
        """Return the wire of a bench: through its codec, if it encodes these outputs."""
        codec, found = bench.codec, list(outputs)
        if codec is None or not found or any(_encoded(codec, each) is None for each in found):
            return CodecWire(bench)
        return CodecWire(bench, codec)

    def carries(self, output: object, port: str = "") -> bool:
        """Return whether an output can be sent at all: it has a port, and the codec has bytes for it."""
        try:
            named = port or self.bench.port(output)
        except USERS_OWN:
            raise
        except Exception:  # noqa: BLE001 -- a codec need not know the port of a value that the model never gives
            return False
        ports = self.bench.outputs or tuple(self.bench.ports)
        return (not ports or named in ports) and (self.codec is None or self.data(output) is not None)

    def data(self, output: object) -> bytes | None:
        """Return the bytes of an output; None if outputs bypass the codec, or if it has none for this one."""
        return None if self.codec is None else _encoded(self.codec, output)

    def seen(self, output: object, port: str) -> object:
        """Return what the tester sees of an output."""
        data = self.data(output)
        if self.codec is None or data is None:
            return output
        try:
            return self.codec.decode(port, data)
        except CodecError:
            return output


def _encoded(codec: Codec, output: object) -> bytes | None:
    try:
        data: object = codec.encode(output)
    except USERS_OWN:
        raise
    except Exception:  # noqa: BLE001 -- most codecs encode inputs only
        return None
    return data if isinstance(data, bytes) else None
