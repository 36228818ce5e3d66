"""The rules of a model: classes of transitions that come from the same lines of it.

A mutant that is wrong in one concrete state hardly looks like a mistake of a programmer, whose mistakes are in a line:
they show in every state and for every input for which that line runs. So the places of mutants are classes: two
questions to the model belong to one rule if they run the same lines of it, for the same types of state and input, and
are answered with the same types of outputs. If no line of the model runs (a table), each entry is a rule.
"""

from __future__ import annotations

import gc
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, TypeAlias, TypeVar

from otf.mutation.served import REMEMBERED, ServedModel, Ways, plain
from otf.values import key

CodeLine: TypeAlias = tuple[str, int]
Answer = TypeVar("Answer")
_OTF: Final = str(Path(__file__).parents[1])
_MODELS: Final = f"{_OTF}/models"
_PYTHON: Final = sysconfig.get_path("stdlib")
ENTRIES: Final = 1_000  # entries of tables; of a larger model without lines, entries that are answered alike are one
MEMBERS: Final = 12  # examples of a rule that are kept


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
    """The rules of a served model, found as it is asked."""

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
        # the answer itself is asked for apart: examples run the model's tests, which are no part of the rule
        ways = served.emits(state) if spontaneous else served.step(state, inp)
        raw: Callable[[], Iterable[Any]] = lambda: (  # noqa: E731 -- one of two questions
            (spec.emits(state) if spec.emits else ()) if spontaneous else spec.step(state, inp)
        )
        raw()  # a guard lists the inputs of the state now, whose lines are no part of the rule
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
        """Return the line that is most its own, as file:line; "" for an entry of a table."""
        if not rule.lines:
            return ""
        used = Counter(line for each in self.known.values() for line in each.lines)
        file, line = min(rule.lines, key=lambda line: (used[line], line[0], -line[1]))
        return f"{_short(file)}:{line}"


def _kind(value: object) -> str:
    return type(value).__name__


def _kinds(item: object) -> tuple[str, ...]:
    return tuple(sorted({_kind(value) for value, _ in plain(item)}))


def _short(file: str) -> str:
    path = Path(file)
    for base in (_MODELS, str(Path.cwd())):
        if path.is_relative_to(base):
            return str(path.relative_to(base))
    return path.name


def watched(call: Callable[[], Answer]) -> tuple[Answer, frozenset[CodeLine]]:
    """Return the result of a call, and the lines of the user's code that ran: not those of Python or of otf itself."""
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
    # a collection would run what other code has left to be finalized, and its lines would make another rule
    gc.disable()
    sys.settrace(called)  # type: ignore[arg-type]
    try:
        return call(), frozenset(lines)
    finally:
        sys.settrace(before)
        if collects:
            gc.enable()


def _is_users(file: str) -> bool:
    # what a dataclass makes for itself has no file; what is typed at a prompt has none either, and is the user's
    if file.startswith(("<string>", "<frozen")) or (file.startswith(_PYTHON) and "site-packages" not in file):
        return False
    return not file.startswith(f"{_OTF}/") or file.startswith(f"{_MODELS}/")
