"""Driving a system of which nothing is known: a model that allows everything, and a path for each word of inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from otf.adapter import Bench
from otf.campaign.paths import PathRun
from otf.campaign.recorder import reread
from otf.campaign.settings import Settings, header
from otf.codec import PortAction
from otf.codec.malformed import MalformedCodec
from otf.core import Model, Oracle, Routes, Symbol, View
from otf.core.waits import Strict
from otf.errors import ContactError, TraceError
from otf.learn.answers import Closing
from otf.learn.symbols import PortOutputs, Symbols
from otf.spec import Elapse, Spec, Transition, goto, on
from otf.suite.machine import Word
from otf.trace.events import Closed, Ended, Event, Seen, Sent
from otf.values import key, show

TRIES: Final = 5  # of a path that comes to no end: the line was at fault, or the system could not be started


def listening(bench: Bench, inputs: Sequence[Any]) -> tuple[Bench, Oracle]:
    """Return a bench with its system and no more: each of these inputs may be sent, and any output may come.

    >>> from otf.models.coffee import Button, bench
    >>> listener, oracle = listening(bench(), [Button()])
    >>> [symbol.value for symbol in oracle.view(oracle.start()).specified]
    [Button()]
    """
    ports = bench.oracle().model.routes.outputs
    ways = [goto(None, on(port, kind)) for port in ports for kind in (object, Ended)]

    def step(state: None, _inp: object) -> list[Transition[None]]:
        return [goto(state)]

    spec = Spec(step, None, inputs, lambda _: ways, name=bench.name)
    codec = None if bench.codec is None else MalformedCodec(bench.codec)
    bare = replace(bench, spec=spec, codec=codec, inputs="uioco", requirements=type(bench.requirements)(), malformed=0)
    model = Model(spec, Routes(ports, bare.port))
    return bare, Oracle(model, "uioco", bare.limits, bench.timing)


@dataclass(slots=True)
class Heard:
    """What came in a path: before its first input, and after each."""

    bench: Bench
    greeting: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    inputs: list[Any] = field(default_factory=list[Any])
    outputs: list[list[tuple[str, Any]]] = field(default_factory=list[list[tuple[str, Any]]])
    ended: set[str] = field(default_factory=set[str])

    def take(self, event: Event) -> None:
        """Take the next event."""
        if isinstance(event, Sent):
            self.inputs.append(event.input)
            self.outputs.append([])
            if opens(self.bench, event.input):
                self.ended.discard(event.port)
        elif isinstance(event, (Seen, Closed)):
            output = event.output if isinstance(event, Seen) else Ended(event.reason)
            (self.outputs[-1] if self.outputs else self.greeting).append((event.port, output))
            if isinstance(output, Ended):
                self.ended.add(event.port)

    def answers(self) -> list[PortOutputs]:
        """Return the outputs after each input; those on several ports, which have no order, by port."""
        return [tuple(sorted(each, key=lambda seen: seen[0])) for each in self.outputs]


def opens(bench: Bench, inp: object) -> bool:
    """Return whether an input acts on its port, which may open it again."""
    codec = bench.codec
    return codec is not None and not isinstance(inp, Elapse) and isinstance(codec.encode(inp), PortAction)


class _Chooser:
    """Sends the inputs of a word; `left_out` are the numbers of those whose connection has ended."""

    def __init__(self, inputs: Sequence[Any], heard: Heard) -> None:
        self.left_out: set[int] = set()
        self._inputs = inputs
        self._heard = heard
        self._at = 0

    def choose(self, view: View) -> Symbol | None:
        while self._at < len(self._inputs):
            inp, number = self._inputs[self._at], self._at
            self._at += 1
            if (
                isinstance(inp, Elapse)
                or self._heard.bench.port(inp) not in self._heard.ended
                or opens(self._heard.bench, inp)
            ):
                return view.model.symbol(inp)
            self.left_out.add(number)
        return None


class ConnectionEnds(Closing):
    """Which inputs cannot be sent on a bench: those to a port whose connection has ended, if they do not open it."""

    def __init__(self, bench: Bench, inputs: Sequence[Any], symbols: Symbols) -> None:
        self._ports = ["" if isinstance(inp, Elapse) else bench.port(inp) for inp in inputs]
        self._opens = [opens(bench, inp) for inp in inputs]
        self._symbols = symbols

    def after(self, ended: frozenset[str], inp: int, out: str) -> frozenset[str]:
        """Return the ports that have ended after an input and its answer."""
        left = ended - {self._ports[inp]} if self._opens[inp] else ended
        return left | {port for port, output in self._symbols.outputs.get(out, ()) if isinstance(output, Ended)}

    def shut(self, ended: frozenset[str], inp: int) -> bool:
        """Return whether an input cannot be sent."""
        return self._ports[inp] in ended and not self._opens[inp]


class PathDriver:
    """Drives paths on a bench and returns what came; each leaves a trace in the folder, of which the bench is judge.

    `greetings` counts what came before the first input of a path. `inputs_sent` counts inputs.
    """

    def __init__(self, bench: Bench, inputs: Sequence[Any], folder: Path, reference: str = "") -> None:
        self.inputs = inputs
        self.bench = bench
        self.inputs_sent: int = 0
        self.silence: str = ""
        self.greetings: dict[PortOutputs, int] = {}
        self._settings = Settings(out=folder, reference=reference, mode="strict")
        self._folder = folder
        self._bare, self._oracle = listening(bench, inputs)
        self._number = 0

    def stored(self) -> Iterator[tuple[Word, list[PortOutputs]]]:
        """Yield the paths that are in the folder already; those that came to no end are left out."""
        numbers = {key(inp): number for number, inp in enumerate(self.inputs)}
        for trace in sorted(self._folder.glob("path-*.jsonl")):
            self._number = max(self._number, int(trace.stem.removeprefix("path-")))
            heard = Heard(self.bench)
            try:
                for event in reread(trace, self._bare):
                    heard.take(event)
            except TraceError:
                continue
            word = tuple(numbers.get(key(inp), -1) for inp in heard.inputs)
            if -1 not in word and b'"verdict":"pass"' in trace.read_bytes().rpartition(b'{"event":"end"')[2]:
                self._greeted(heard)
                yield word, heard.answers()

    async def drive(self, word: Word) -> list[PortOutputs | None]:
        """Drive a path; return the outputs after each input, None where it could not be sent. Raises ContactError."""
        why = ""
        for _ in range(TRIES):
            self._number += 1
            heard = Heard(self.bench)
            head = header(self.bench, self._settings, self._number, strategy="learn")
            trace = self._folder / f"path-{self._number:06}.jsonl"
            run = PathRun(self._bare, self._oracle, head, trace, heard.take)
            chooser = _Chooser([self.inputs[inp] for inp in word], heard)
            result = await run.run(chooser, len(word), Strict(self.bench.timing))
            self.inputs_sent += len(heard.inputs)
            self.silence = run.silence
            if result.verdict.outcome == "pass":
                self._greeted(heard)
                came = iter(heard.answers())
                return [None if at in chooser.left_out else next(came, None) for at in range(len(word))]
            why = result.verdict.why or (str(result.verdict.failure.seen) if result.verdict.failure else "")
        shown = ", ".join(show(self.inputs[inp]) for inp in word)
        raise ContactError(f"after {shown or 'the start'} nothing could be decided in {TRIES} paths: {why}")

    def _greeted(self, heard: Heard) -> None:
        greeting = tuple(sorted(heard.greeting, key=lambda seen: seen[0]))
        self.greetings[greeting] = self.greetings.get(greeting, 0) + 1
