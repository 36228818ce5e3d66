"""The Python file of a learnt system: a bench that the system passes, with a model as a person would write it."""

from __future__ import annotations

import dataclasses
import enum
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, cast

from otf.draft.kinds import literal
from otf.errors import UsageError
from otf.learn.answers import CLOSED
from otf.learn.learnt import GREETING, START, LearntSystem
from otf.learn.symbols import BEFORE, SILENT, Symbols, texts
from otf.spec import Elapse
from otf.trace.events import Ended

_PLAIN: Final = (bool, int, float, str, bytes, type(None))
_PREFIX: Final = "otf_bench_"  # for module names of files
_WIDEST: Final = 110


class ValueCode:
    """Values as code; `names` are those that the code has to import, by module."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.names: defaultdict[str, set[str]] = defaultdict(set)

    def of(self, value: object) -> str:
        """Return a value as an expression that is also a pattern. Raises UsageError if it has no such form."""
        kind = type(value)
        if kind in _PLAIN:
            return literal(value)
        if isinstance(value, enum.Enum):
            return f"{self._name(kind)}.{value.name}"
        if kind in {tuple, list}:
            items = list(cast("Iterable[object]", value))
            inner = ", ".join(map(self.of, items))
            return f"[{inner}]" if kind is list else f"({inner}{',' * (len(items) == 1)})"
        if dataclasses.is_dataclass(value):
            fields = [each for each in dataclasses.fields(value) if each.init]
            return f"{self._name(kind)}({self._named(value, [each.name for each in fields])})"
        if names := cast("Sequence[str]", getattr(value, "_fields", ())):
            return f"{self._name(kind)}({self._named(value, names)})"
        message = f"a value of {kind.__name__} cannot be written as code; the picture (.dot) has the whole machine"
        raise UsageError(message)

    def _named(self, value: object, names: Sequence[str]) -> str:
        return ", ".join(f"{name}={self.of(getattr(value, name))}" for name in names)

    def item(self, port: str, value: object, inp: int = BEFORE) -> str:
        """Return an output after an input as source code of a model."""
        if isinstance(value, Ended):
            self.names["otf.trace.events"].add("Ended")
            self.names["otf"].add("on")
            return f"on({literal(port)}, Ended)"
        hidden = self.symbols.hidden(value, inp)
        if not hidden:
            return self.of(value)
        self.names["otf"].add("Where")
        test = self._matching(hidden[""]) if isinstance(value, str) else f"lambda seen: {self._alike(value, hidden)}"
        return f"Where({test}, says={literal(self.symbols.value(value, inp))})"

    def _matching(self, pattern: str) -> str:
        self.names["re"].add("compile as pattern")
        return f"pattern({literal(pattern)}).fullmatch"

    def _alike(self, value: object, hidden: Mapping[str, str]) -> str:
        """Return a test for messages that differ from a value only in what is hidden."""
        tests = [f"isinstance(seen, {self._name(type(value))})"]
        for name in texts(value):
            if name not in hidden:
                tests.append(f"seen.{name} == {self.of(getattr(value, name))}")
            elif hidden[name]:
                self.names["otf.values"].add("show")
                tests.append(f"{self._matching(hidden[name])}(show(seen.{name})) is not None")
        return " and ".join(tests)

    def _name(self, kind: type) -> str:
        outer = kind.__qualname__.partition(".")[0]
        if "<" in kind.__qualname__:
            raise UsageError(f"{kind.__qualname__} is defined inside a function, and no file can import it")
        self.names[kind.__module__].add(outer)
        return kind.__qualname__


def written(learnt: LearntSystem, head: Sequence[str], bench: Sequence[str], imports: Sequence[str] = ()) -> str:
    """Return the file: `head` are lines about it, `bench` those that make the bench, `imports` their imports."""
    code = ValueCode(learnt.symbols)
    model = [*_step(learnt, code), *_rest(learnt, code)]
    known = {
        module: f"from {module} import {', '.join(sorted(names))}"
        for module, names in sorted(code.names.items())
        if module not in {"otf", "builtins"}
    }
    public = sorted({"Spec", "Transition", "goto", *code.names["otf"]})
    lines = [
        f'"""{_plain(learnt.name)}, as it was learnt from the running system.',
        "",
        *map(_plain, head),
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from collections.abc import Iterator",
        *(["from dataclasses import replace"] if any("replace(" in line for line in bench) else []),
        "",
        f"from otf import {', '.join(public)}",
        *(line for module, line in known.items() if not module.startswith(_PREFIX)),
        *imports,
        # the name of the module, once the file is loaded
        *(line for module, line in known.items() if module.startswith(_PREFIX)),
        "",
        *model,
        *bench,
    ]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")


def _step(learnt: LearntSystem, code: ValueCode) -> Iterator[str]:
    yield from ("", "def step(state: str, inp: object) -> Iterator[Transition[str]]:", "    match state, inp:")
    everywhere = _everywhere(learnt)
    for inp, answer in everywhere.items():
        # states first, since a pattern for any state would hide later ones
        learnt_input = learnt.inputs[inp]
        yield f"        case _, {code.of(learnt_input)}:"
        yield f"            yield goto({', '.join(['state', *_items(learnt, answer, inp, code)])})"
    names = learnt.names
    for state in range(len(names)):
        yield from _state(learnt, state, names, set(everywhere), code)
    yield ""


def _everywhere(learnt: LearntSystem) -> dict[int, str]:
    """Return the inputs that every state answers in the same way without changing, with the answer."""
    machine, found = learnt.machine, dict[int, str]()
    if machine.size == 1:
        return found
    restarting = {inp for timer in learnt.timers for _, inp in timer.restarted | timer.unsure}
    for inp in range(len(learnt.inputs)):
        if inp in restarting:
            continue
        answers = {row[inp] for row in machine.out}
        if len(answers) == 1 and CLOSED not in answers and all(row[inp] == at for at, row in enumerate(machine.next)):
            found[inp] = answers.pop()
    return found


def _state(learnt: LearntSystem, state: int, names: list[str], done: set[int], code: ValueCode) -> Iterator[str]:
    groups = defaultdict[tuple[tuple[str, ...], int, tuple[tuple[str, ...], ...]], list[int]](list)
    for inp, (out, then) in enumerate(zip(learnt.machine.out[state], learnt.machine.next[state], strict=True)):
        waits = isinstance(learnt.inputs[inp], Elapse) and (
            learnt.timer(state, inp) or (out == SILENT and then == state)
        )
        if inp not in done and out != CLOSED and not waits:
            either = (tuple(learnt.actions(state, inp, perhaps=perhaps)) for perhaps in (False, True))
            items = tuple(_items(learnt, out, inp, code))
            groups[items, then, tuple(dict.fromkeys(either))].append(inp)
    for (items, then, ways), inputs in groups.items():
        target = "state" if then == state else literal(names[then])
        yield from _case(literal(names[state]), [code.of(learnt.inputs[inp]) for inp in inputs])
        for actions in ways:
            yield f"            yield goto({', '.join([target, *items, *_timers(actions, code)])})"


def _timers(actions: Sequence[str], code: ValueCode) -> list[str]:
    code.names["otf"] |= {each.partition("(")[0] for each in actions}
    return [f"timers=[{', '.join(actions)}]"] if actions else []


def _case(state: str, patterns: list[str]) -> Iterator[str]:
    line = f"        case {state}, {' | '.join(patterns)}:"
    if len(line) <= _WIDEST:
        yield line
        return
    yield f"        case {state}, ("
    yield from (f"            {'| ' * (at > 0)}{each}" for at, each in enumerate(patterns))
    yield "        ):"


def _items(learnt: LearntSystem, answer: str, inp: int, code: ValueCode) -> list[str]:
    return [code.item(*each, inp) for each in learnt.symbols.outputs[answer]]


def _rest(learnt: LearntSystem, code: ValueCode) -> Iterator[str]:
    running = [each.started for each in learnt.timers if 0 in each.states]
    emits = [*_greets(learnt, running, code), *_expiries(learnt, code)]
    if emits:
        yield from ("", "def emits(state: str) -> Iterator[Transition[str]]:", *emits, "")
    yield from ("", "INPUTS = [", *(f"    {code.of(inp)}," for inp in learnt.inputs), "]")
    initial = GREETING if learnt.greeting else START
    more = (", emits=emits" if emits else "") + (
        f", {_timers(running, code)[0]}" if running and not learnt.greeting else ""
    )
    yield f"spec = Spec(step, initial={literal(initial)}, inputs=INPUTS{more}, name={literal(learnt.name)})"


def _greets(learnt: LearntSystem, running: Sequence[str], code: ValueCode) -> Iterator[str]:
    if learnt.greeting:
        outputs = [code.item(*each) for each in learnt.greeting]
        yield f"    if state == {literal(GREETING)}:"
        yield f"        yield goto({', '.join([literal(START), *outputs, *_timers(running, code)])})"


def _expiries(learnt: LearntSystem, code: ValueCode) -> Iterator[str]:
    """Yield the transitions of timers that expire."""
    for inp, waits in enumerate(learnt.inputs):
        for state, name in enumerate(learnt.names) if isinstance(waits, Elapse) else ():
            timer = learnt.timer(state, inp)
            if timer is not None:
                target = literal(learnt.names[learnt.machine.next[state][inp]])
                items = _items(learnt, learnt.machine.out[state][inp], inp, code)
                actions = _timers(learnt.actions(state, inp), code)
                yield f"    if state == {literal(name)}:"
                yield f"        yield goto({', '.join([target, *items, f'after={timer.name!r}', *actions])})"
