"""A model as the system under test, with values for outputs and chance for choices; and its rules.

A mutant that is wrong in one concrete state hardly looks like a programmer's mistake. Such a defect is in a line of
code, and shows in every state and for every input that runs this line. So the places of mutants are classes. Two
questions to the model belong to one rule if they run the same lines, for the same types of state and input, with the
same types of outputs. If no line of the model runs (a table), each entry is a rule.
"""

from __future__ import annotations

import gc
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, TypeAlias, TypeVar

from otf.adapter import Bench
from otf.codec import Codec
from otf.compose.actions import outputs_in
from otf.errors import USERS_OWN, CodecError, ModelError
from otf.mutation.examples import Examples
from otf.mutation.near import attempted
from otf.spec import Accept, AnyOrder, On, OneOf, Spec, Transition
from otf.spec.outputs import vague
from otf.values import as_text, key, show

Ways: TypeAlias = tuple[Transition[Any], ...]
REMEMBERED: Final = 200_000
BESIDE: Final = 200  # inputs of a state to ask about, to find outputs like its others


@dataclass(slots=True)
class ServedModel:
    """The transitions of a model that otf runs as a system, with values for all outputs.

    Where the model only describes an output, the system sends an example. The system leaves out a transition whose
    output has no example; `unserved` lists the descriptions of such outputs.

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
    # the outputs of the state asked about last: its inputs are asked about one after another
    _near: tuple[Hashable, list[object]] | None = None

    def step(self, state: object, inp: object) -> Ways:
        """Return the transitions on an input."""
        return self._remembered((key(state), key(inp)), lambda: self.spec.step(state, inp), state, inp)

    def emits(self, state: object) -> Ways:
        """Return the spontaneous transitions of a state."""
        emits = self.spec.emits
        return () if emits is None else self._remembered(key(state), lambda: emits(state), state, None)

    def serves(self, state: object, inp: object) -> bool:
        """Return whether the system can take an input: the model leaves it open, or an output was found for it."""
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
            message = (
                f"the model raised {type(error).__name__}: {as_text(error)}, asked about {show(inp)} in {show(state)}"
            )
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
                yield from (value for item in items for value, _ in outputs_in(item) if not vague(value))


def sent_by(ways: Iterable[Transition[Any]]) -> Iterator[tuple[Any, str]]:
    """Yield the values that transitions send, each with the port that it names, "" for none."""
    return (each for way in ways for item in way.outputs for each in outputs_in(item))


@dataclass(frozen=True, slots=True)
class CodecWire:
    """Encodes and decodes an output with the bench's codec, and returns what the tester then sees.

    If the bench's codec can encode only inputs, outputs bypass the codec, and `codec` is None.
    """

    bench: Bench
    codec: Codec | None = None

    @staticmethod
    def of(bench: Bench, outputs: Iterable[object]) -> CodecWire:
        """Return the wire of a bench: through its codec, if that encodes these outputs."""
        codec, found = bench.codec, list(outputs)
        if codec is None or not found or any(_encoded(codec, each) is None for each in found):
            return CodecWire(bench)
        return CodecWire(bench, codec)

    def carries(self, output: object, port: str = "") -> bool:
        """Return whether an output can be sent at all: it has a port, and the codec has bytes for it."""
        # a codec need not know the port of a value that the model never gives
        named = port or attempted(lambda: self.bench.port(output), otherwise=None)
        ports = self.bench.outputs or tuple(self.bench.ports)
        is_placed = named is not None and (not ports or named in ports)
        return is_placed and (self.codec is None or self.data(output) is not None)

    def data(self, output: object) -> bytes | None:
        """Return the bytes of an output; None if outputs bypass the codec, or it has none for this one."""
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
    # most codecs encode only inputs
    data: object = attempted(lambda: codec.encode(output), otherwise=None)
    return data if isinstance(data, bytes) else None


CodeLine: TypeAlias = tuple[str, int]
Answer = TypeVar("Answer")
_OTF: Final = str(Path(__file__).parents[1])
_MODELS: Final = f"{_OTF}/models"
_PYTHON: Final = sysconfig.get_path("stdlib")
ENTRIES: Final = 1_000  # entries of tables; of a larger model without lines, entries that are answered alike are one
MEMBERS: Final = 12  # examples of a rule to keep


@dataclass(slots=True, eq=False)
class ModelRule:
    """A rule: its number in the order of discovery, its lines, and examples of questions with their answers."""

    number: int
    kinds: tuple[str, str]
    lines: frozenset[CodeLine]
    members: list[tuple[Any, Any, Ways]] = field(default_factory=list[tuple[Any, Any, Ways]])
    count: int = 0

    @property
    def spontaneous(self) -> bool:
        """Return whether it is a rule of `emits`."""
        return not self.kinds[1]


@dataclass(slots=True)
class ModelRules:
    """The rules of a model; otf finds a rule when it first asks the model for the rule's transitions."""

    served: ServedModel
    known: dict[Hashable, ModelRule] = field(default_factory=dict[Hashable, ModelRule])
    _of: dict[Hashable, ModelRule] = field(default_factory=dict[Hashable, ModelRule])

    def of(self, state: object, inp: object, *, spontaneous: bool = False) -> ModelRule:
        """Return the rule of an input in a state, or of the spontaneous transitions there."""
        name = (key(state), None if spontaneous else (key(inp),))
        known = self._of.get(name)
        if known is None:
            if len(self._of) > REMEMBERED:
                self._of.clear()
            known = self._of[name] = self._found(state, inp, spontaneous=spontaneous)
        return known

    def _found(self, state: object, inp: object, *, spontaneous: bool) -> ModelRule:
        spec, served = self.served.spec, self.served
        # ask for the answer separately: examples run the model's tests, which are not part of the rule
        ways = served.emits(state) if spontaneous else served.step(state, inp)
        raw: Callable[[], Iterable[Any]] = lambda: (  # noqa: E731 -- one of two questions
            (spec.emits(state) if spec.emits else ()) if spontaneous else spec.step(state, inp)
        )
        raw()  # a guard now lists the inputs of the state, and those lines are not part of the rule
        _, lines = watched(lambda: tuple(raw()))
        kinds = (_kind(state), "" if spontaneous else _kind(inp))
        table = not lines and not (spontaneous and spec.emits is None) and len(self.known) < ENTRIES
        entry: Hashable = () if not table else (key(state), None if spontaneous else key(inp))
        shape = frozenset((way.state == state, *map(_kinds, way.outputs)) for way in ways)
        name = (kinds, lines, shape, entry)
        rule = self.known.get(name)
        if rule is None:
            rule = self.known[name] = ModelRule(len(self.known), kinds, lines)
        rule.count += 1
        if len(rule.members) < MEMBERS:
            rule.members.append((state, inp, ways))
        return rule

    def place(self, rule: ModelRule) -> str:
        """Return the line that is most specific to it, as file:line; "" for an entry of a table."""
        if not rule.lines:
            return ""
        used = Counter(line for each in self.known.values() for line in each.lines)
        file, line = min(rule.lines, key=lambda line: (used[line], line[0], -line[1]))
        return f"{_short(file)}:{line}"


def _kind(value: object) -> str:
    return type(value).__name__


def _kinds(item: object) -> tuple[str, ...]:
    return tuple(sorted({_kind(value) for value, _ in outputs_in(item)}))


def _short(file: str) -> str:
    path = Path(file)
    for base in (_MODELS, str(Path.cwd())):
        if path.is_relative_to(base):
            return str(path.relative_to(base))
    return path.name


def watched(call: Callable[[], Answer]) -> tuple[Answer, frozenset[CodeLine]]:
    """Return the result of a call, and the lines of the user's code that ran, without those of Python or otf."""
    lines = set[CodeLine]()
    own: dict[CodeType, bool] = {}

    def line(frame: FrameType, event: str, _argument: object) -> object:
        if event == "line":
            lines.add((frame.f_code.co_filename, frame.f_lineno))
        return line

    def called(frame: FrameType, _event: str, _argument: object) -> object:
        code = frame.f_code
        if code not in own:
            own[code] = _is_users(code.co_filename)
        return line if own[code] else None

    before, collects = sys.gettrace(), gc.isenabled()
    # a collection would run finalizers of other code, whose lines would make another rule
    gc.disable()
    sys.settrace(called)  # type: ignore[arg-type]
    try:
        return call(), frozenset(lines)
    finally:
        sys.settrace(before)
        if collects:
            gc.enable()


def _is_users(file: str) -> bool:
    # what a dataclass generates has no file; what is typed at a prompt has none either, but is the user's
    if file.startswith(("<string>", "<frozen")) or (file.startswith(_PYTHON) and "site-packages" not in file):
        return False
    return not file.startswith(f"{_OTF}/") or file.startswith(f"{_MODELS}/")
