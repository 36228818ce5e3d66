"""A learnt system: its machine with the values of inputs and outputs, states named by what leads to them, and files.

The file of Python is a bench with a model as a person would write it, which the system passes.
"""

from __future__ import annotations

import dataclasses
import enum
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from otf.draft.kinds import literal
from otf.errors import UsageError
from otf.learn.answers import CLOSED, PortOutputs, Symbols, form
from otf.learn.learning import LearntMachine
from otf.notations import Written, table
from otf.suite.complete import cover
from otf.trace.events import Ended
from otf.values import show

START: Final = "start"
GREETING: Final = "before the greeting"
_LONGEST: Final = 60  # characters of a state's name


@dataclass(frozen=True)
class LearntSystem:
    """What was learnt: `symbols` has the outputs of each answer of the machine, `greeting` what comes before any input.

    >>> symbols = Symbols()
    >>> machine = LearntMachine([[1], [0]], [[symbols.text((("sut", each),))] for each in ("on", "off")])
    >>> lamp = LearntSystem("lamp", ["press"], machine, symbols)
    >>> lamp.names
    ['start', 'after press']
    >>> print(lamp.dot(), end="")
    digraph lamp {
      __start0 [label="", shape=none];
      s0 [label="start"];
      s1 [label="after press"];
      __start0 -> s0;
      s0 -> s1 [label="press / on"];
      s1 -> s0 [label="press / off"];
    }
    """

    name: str
    inputs: Sequence[Any]
    machine: LearntMachine
    symbols: Symbols
    greeting: PortOutputs = ()
    notes: Sequence[str] = field(default=())

    @property
    def names(self) -> list[str]:
        """Return the names of the states: as many of the last inputs on a shortest way as tell them apart."""
        ways = [[plain(self.inputs[inp]) for inp in word] for word in cover(self.machine.numbered())]
        names = [START] + [""] * (len(ways) - 1)
        for length in range(1, max(map(len, ways), default=0) + 1):
            tried = [", ".join(way[-length:]) for way in ways]
            for state, way in enumerate(ways):
                if not names[state] and (tried.count(tried[state]) == 1 or length >= len(way)):
                    names[state] = f"after {tried[state]}"
        short = [each if len(each) <= _LONGEST else f"{each[: _LONGEST - 1]}…" for each in names]
        return [f"{each} ({at})" if short.count(each) > 1 else each for at, each in enumerate(short)]

    def rows(self) -> list[tuple[str, Any, str, str]]:
        """Return state, input, answer and next state of every transition; what cannot be sent has none."""
        names, machine = self.names, self.machine
        return [
            (names[state], inp, machine.out[state][at], names[machine.next[state][at]])
            for state in range(machine.size)
            for at, inp in enumerate(self.inputs)
            if machine.out[state][at] != CLOSED
        ]

    def spec(self) -> Written:
        """Return the model."""
        rows = [(here, inp, self.items(out), there) for here, inp, out, there in self.rows()]
        greets = [(GREETING, [self.symbols.item(*each) for each in self.greeting], START)] if self.greeting else []
        return table(rows, initial=GREETING if greets else START, spontaneous=greets, name=self.name)

    def items(self, answer: str) -> list[Any]:
        """Return the outputs of an answer as a model has them."""
        return [self.symbols.item(*each) for each in self.symbols.outputs[answer]]

    def dot(self) -> str:
        """Return the machine in the language of Graphviz, which `read_dot` and other tools for learning read."""
        names = self.names
        numbers = {name: at for at, name in enumerate(names)}
        lines = [
            f"digraph {self.name if self.name.isidentifier() else _quoted(self.name)} {{",
            '  __start0 [label="", shape=none];',
        ]
        lines += [f"  s{at} [label={_quoted(name)}];" for at, name in enumerate(names)]
        lines.append("  __start0 -> s0;")
        for here, inp, out, there in self.rows():
            label = _quoted(f"{plain(inp)} / {out}")
            lines.append(f"  s{numbers[here]} -> s{numbers[there]} [label={label}];")
        return "\n".join([*lines, "}", ""])


def plain(inp: object) -> str:
    """Return an input as text: one that is a text as it is."""
    return inp if isinstance(inp, str) and inp and inp.isprintable() else show(inp)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\\\n") + '"'


__all__ = ["LearntSystem"]


_PLAIN: Final = (bool, int, float, str, bytes, type(None))
_PREFIX: Final = "otf_bench_"  # of the modules of files
_WIDEST: Final = 110


class ValueCode:
    """Values as code; `names` are those that the code needs, by module."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.names: defaultdict[str, set[str]] = defaultdict(set)

    def of(self, value: object) -> str:
        """Return a value as an expression, which is a pattern too. Raises UsageError for one that has no such form."""
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

    def item(self, port: str, value: object) -> str:
        """Return an output as code of a model."""
        if isinstance(value, Ended):
            self.names["otf.trace.events"].add("Ended")
            self.names["otf"].add("on")
            return f"on({literal(port)}, Ended)"
        hidden = self.symbols.hidden(value)
        if not hidden:
            return self.of(value)
        self.names["otf"].add("Where")
        if isinstance(value, str):
            self.names["re"].add("compile as pattern")
            test = f"pattern({literal(self.symbols.pattern(value))}).fullmatch"
            return f"Where({test}, says={literal(self.symbols.value(value))})"
        names = [name for at, name in enumerate(form(value).names) if at not in hidden]
        tests = [
            f"isinstance(seen, {self._name(type(value))})",
            *(f"seen.{name} == {self.of(getattr(value, name))}" for name in names),
        ]
        return f"Where(lambda seen: {' and '.join(tests)}, says={literal(self.symbols.value(value))})"

    def _name(self, kind: type) -> str:
        outer = kind.__qualname__.partition(".")[0]
        if "<" in kind.__qualname__:
            raise UsageError(f"{kind.__qualname__} is defined inside a function, and no file can import it")
        self.names[kind.__module__].add(outer)
        return kind.__qualname__


def written(learnt: LearntSystem, head: Sequence[str], bench: Sequence[str], imports: Sequence[str] = ()) -> str:
    """Return the file; `head` are lines about it, `bench` those that make the bench, `imports` what these need."""
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
        # the module of a file has its name once the file is loaded
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
        # first the states, since a pattern for any state would hide what follows it
        learnt_input = learnt.inputs[inp]
        yield f"        case _, {code.of(learnt_input)}:"
        yield f"            yield goto({', '.join(['state', *_items(learnt, answer, code)])})"
    names = learnt.names
    for state in range(len(names)):
        yield from _state(learnt, state, names, set(everywhere), code)
    yield ""


def _everywhere(learnt: LearntSystem) -> dict[int, str]:
    """Return the inputs that each state answers in the same way without changing, with the answer."""
    machine, found = learnt.machine, dict[int, str]()
    if machine.size == 1:
        return found
    for inp in range(len(learnt.inputs)):
        answers = {row[inp] for row in machine.out}
        if len(answers) == 1 and CLOSED not in answers and all(row[inp] == at for at, row in enumerate(machine.next)):
            found[inp] = answers.pop()
    return found


def _state(learnt: LearntSystem, state: int, names: list[str], done: set[int], code: ValueCode) -> Iterator[str]:
    groups = defaultdict[tuple[str, int], list[int]](list)
    for inp, (out, then) in enumerate(zip(learnt.machine.out[state], learnt.machine.next[state], strict=True)):
        if inp not in done and out != CLOSED:
            groups[out, then].append(inp)
    for (out, then), inputs in groups.items():
        target = "state" if then == state else literal(names[then])
        yield from _case(literal(names[state]), [code.of(learnt.inputs[inp]) for inp in inputs])
        yield f"            yield goto({', '.join([target, *_items(learnt, out, code)])})"


def _case(state: str, patterns: list[str]) -> Iterator[str]:
    line = f"        case {state}, {' | '.join(patterns)}:"
    if len(line) <= _WIDEST:
        yield line
        return
    yield f"        case {state}, ("
    yield from (f"            {'| ' * (at > 0)}{each}" for at, each in enumerate(patterns))
    yield "        ):"


def _items(learnt: LearntSystem, answer: str, code: ValueCode) -> list[str]:
    return [code.item(*each) for each in learnt.symbols.outputs[answer]]


def _rest(learnt: LearntSystem, code: ValueCode) -> Iterator[str]:
    if learnt.greeting:
        outputs = [code.item(*each) for each in learnt.greeting]
        yield from ("", "def emits(state: str) -> Iterator[Transition[str]]:", f"    if state == {literal(GREETING)}:")
        yield from (f"        yield goto({', '.join([literal(START), *outputs])})", "")
    yield from ("", "INPUTS = [", *(f"    {code.of(inp)}," for inp in learnt.inputs), "]")
    initial, emits = (GREETING, ", emits=emits") if learnt.greeting else (START, "")
    yield f"spec = Spec(step, initial={literal(initial)}, inputs=INPUTS{emits}, name={literal(learnt.name)})"
