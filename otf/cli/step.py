"""`otf step`: step through a spec by hand."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Annotated, TextIO

import typer

from otf.adapter.watchdog import watched
from otf.cli.benches import load, parsed
from otf.cli.ending import guarded, say
from otf.cli.folders import fresh
from otf.cli.live import live
from otf.cli.options import BenchName, Out, Sets
from otf.cli.walking import named, route, ways_of, why
from otf.core import Model, Node, Symbol
from otf.errors import PASS
from otf.values import show

HELP = (
    "a number goes that way; `back` undoes it, `all` shows the inputs that are not specified here, "
    "an input's name goes its way, `goto STATE`, `why INPUT`, `quit` ends"
)


@guarded
def step(
    bench: BenchName,
    on_system: Annotated[
        bool, typer.Option("--live", help="Send the inputs to the system, and judge what comes back.")
    ] = False,
    out: Out = None,
    sets: Sets = None,
) -> int:
    """Walk through a model by hand: see what a state allows, choose what happens, go back.

    Each way on is an input with the outputs that the model expects. Commands are read line by line, so that they may
    come from a pipe: `echo 1 | otf step coffee`. Without --live no system is started.
    """
    loaded = load(bench, parsed(sets))
    if on_system:
        return live(loaded, bench, out or fresh("step"), _asked)
    with watched():
        walk = StepWalk(Model(loaded.spec, loaded.oracle().model.routes))
        say(HELP)
        walk.tell()
        while (line := _asked()) is not None and line not in {"q", "quit", "exit"}:
            walk.take(line)
    return PASS


class StepWalk:
    """A walk through a spec: the states so far, the ways on from the last."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.states: list[Node] = [model.initial]
        self.ways: list[tuple[str, Node | None]] = self._ways()

    def take(self, line: str) -> None:
        """Obey one line."""
        match line:
            case "":
                self.tell()
            case "b" | "back":
                self._back()
            case "a" | "all":
                self._tell_unspecified()
            case "h" | "help" | "?":
                say(HELP)
            case _ if line.isascii() and line.isdecimal() and 1 <= int(line[:9]) <= len(self.ways):
                self._go(self.ways[int(line) - 1][1])
            case _ if line.startswith("goto "):
                self._goto(line.removeprefix("goto ").strip())
            case _ if line.startswith("why "):
                say(why(self.model, [self.states[-1]], line.removeprefix("why ").strip()))
            case _ if len(found := named(line, self._inputs())) == 1:
                self._go(self.ways[found[0]][1])
            case _:
                say(f"{show(line)} is none of these: {self._range()}; {HELP}")

    def tell(self) -> None:
        """Show the state and the ways on."""
        say(f"\nstate: {show(self.states[-1].value)}")
        for number, (text, _) in enumerate(self.ways, 1):
            say(f"  {number:3}  {text}")
        if not self.ways:
            say("  the model says nothing of what may happen here")

    def _range(self) -> str:
        return f"the ways are 1 to {len(self.ways)}" if self.ways else "there is no way on"

    def _go(self, target: Node | None) -> None:
        if target is None:
            say("the next state depends on what the system answers; choose another way")
            return
        self.states.append(target)
        self.ways = self._ways()
        self.tell()

    def _inputs(self) -> list[Symbol | None]:
        return [inp for inp, _ in ways_of(self.model, self.states[-1])]

    def _goto(self, text: str) -> None:
        way = route(self.model, self.states[-1], text)
        if way is None:
            say(f"there is no way from here to a state {show(text)}; states are written as they are shown")
            return
        self.states += way
        self.ways = self._ways()
        self.tell()

    def _back(self) -> None:
        if len(self.states) > 1:
            self.states.pop()
            self.ways = self._ways()
        self.tell()

    def _tell_unspecified(self) -> None:
        inputs = [show(inp.value) for inp in self._unspecified()]
        say("not specified here:" if inputs else "every input is specified here")
        for text in inputs:
            say(f"       {text}")

    def _unspecified(self) -> Iterable[Symbol]:
        node = self.states[-1]
        return [inp for inp in self.model.enabled_inputs(node) if not self.model.moves(node, inp)]

    def _ways(self) -> list[tuple[str, Node | None]]:
        every = [
            ("(unasked)" if inp is None else show(inp.value), move)
            for inp, move in ways_of(self.model, self.states[-1])
        ]
        return [
            (f"{text}  ->  {', '.join(filter(None, move.texts)) or 'no output'}", move.target) for text, move in every
        ]


def _asked() -> str | None:
    stdin: TextIO | None = sys.stdin  # None where it was closed
    if stdin is None:
        return None
    if stdin.isatty():
        print("> ", end="", flush=True)
    line = stdin.readline()
    return line.strip() if line else None
