"""A learnt system: its machine with values, states named by what leads to them, timers, and a picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from otf.explore.differences import plain
from otf.learn.answers import CLOSED
from otf.learn.learning import LearntMachine
from otf.learn.symbols import PortOutputs, Symbols
from otf.learn.timers import LearntTimer
from otf.notations import Written, table
from otf.spec import Elapse
from otf.suite.complete import cover

START: Final = "start"
GREETING: Final = "before the greeting"
_LONGEST: Final = 60  # characters of a state's name


@dataclass(frozen=True)
class LearntSystem:
    """The result: `symbols` has the outputs of each answer of the machine, `greeting` those before any input.

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
    timers: Sequence[LearntTimer] = ()
    notes: Sequence[str] = field(default=())

    @property
    def names(self) -> list[str]:
        """Return the names of the states: as many of the last inputs on a shortest way as distinguish them."""
        ways = [[plain(self.inputs[inp]) for inp in word] for word in cover(self.machine.numbered())]
        names = [START] + [""] * (len(ways) - 1)
        for length in range(1, max(map(len, ways), default=0) + 1):
            tried = [", ".join(way[-length:]) for way in ways]
            for state, way in enumerate(ways):
                if not names[state] and (tried.count(tried[state]) == 1 or length >= len(way)):
                    names[state] = f"after {tried[state]}"
        short = [each if len(each) <= _LONGEST else f"{each[: _LONGEST - 1]}…" for each in names]
        return [f"{each} ({at})" if short.count(each) > 1 else each for at, each in enumerate(short)]

    @property
    def masked(self) -> list[Any]:
        """Return the inputs with a part that varies in an answer: states that differ only there are one."""
        columns = zip(*self.machine.out, strict=True)
        return [self.inputs[inp] for inp, column in enumerate(columns) if any(self._varies(out, inp) for out in column)]

    def _varies(self, answer: str, inp: int) -> bool:
        outputs = self.symbols.outputs.get(answer, ())
        return any(self.symbols.hidden(value, inp) for _, value in outputs)

    def rows(self) -> list[tuple[str, int, str, str]]:
        """Return state, input's number, answer and next state of every transition, if the input can be sent."""
        names, machine = self.names, self.machine
        return [
            (names[state], inp, machine.out[state][inp], names[machine.next[state][inp]])
            for state in range(machine.size)
            for inp in range(len(self.inputs))
            if machine.out[state][inp] != CLOSED
        ]

    def spec(self) -> Written:
        """Return the model."""
        rows = [(here, self.inputs[inp], self.items(out, inp), there) for here, inp, out, there in self.rows()]
        greets = [(GREETING, [self.symbols.item(*each) for each in self.greeting], START)] if self.greeting else []
        return table(rows, initial=GREETING if greets else START, spontaneous=greets, name=self.name)

    def items(self, answer: str, inp: int) -> list[Any]:
        """Return the outputs of an answer to an input as a model states them."""
        return [self.symbols.item(*each, inp) for each in self.symbols.outputs[answer]]

    def timer(self, state: int, inp: int) -> LearntTimer | None:
        """Return the timer that expires in a state during an input, if that input is a wait."""
        waits = isinstance(self.inputs[inp], Elapse)
        return next((each for each in self.timers if waits and state in each.states), None)

    def actions(self, state: int, inp: int, *, perhaps: bool = False) -> list[str]:
        """Return the code for what a transition does to timers; with `perhaps`, also for what it may do."""
        then, expired = self.machine.next[state][inp], self.timer(state, inp)
        found = list[str]()
        for each in self.timers:
            runs = state in each.states and each is not expired
            again = each.restarted | each.unsure if perhaps else each.restarted
            if then in each.states and (not runs or (state, inp) in again):
                found.append(each.started)
            elif runs and then not in each.states:
                found.append(f"stop({each.name!r})")
        return found

    def dot(self, known: Iterable[str] = ()) -> str:
        """Return the machine in Graphviz format, which `read_dot` and other learning tools read.

        `known` are sentences about it, which become comments.
        """
        names = self.names
        numbers = {name: at for at, name in enumerate(names)}
        lines = [
            *(f"// {each}" for each in known),
            f"digraph {self.name if self.name.isidentifier() else _quoted(self.name)} {{",
            '  __start0 [label="", shape=none];',
        ]
        lines += [f"  s{at} [label={_quoted(name)}];" for at, name in enumerate(names)]
        lines.append("  __start0 -> s0;")
        for here, inp, out, there in self.rows():
            timer = self.timer(numbers[here], inp)
            label = _quoted(f"{timer or plain(self.inputs[inp])} / {out}")
            lines.append(f"  s{numbers[here]} -> s{numbers[there]} [label={label}];")
        return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\\\n") + '"'
