"""Drives an unknown system: a model that allows everything, and a path for each word of inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from anyio import sleep

from otf.adapter import Bench
from otf.adapter.kept import keeping
from otf.campaign.paths import PathRun
from otf.campaign.recorder import reread
from otf.campaign.settings import Settings, header
from otf.codec import PortAction
from otf.codec.malformed import MalformedCodec
from otf.core import Model, Oracle, Routes, Symbol, View
from otf.core.pacing import Strict
from otf.errors import ContactError, TraceError
from otf.learn.answers import Closing
from otf.learn.symbols import PortOutputs, Symbols
from otf.spec import Elapse, Spec, Transition, goto, on
from otf.suite.machine import Word
from otf.trace.events import Closed, Ended, Event, Seen, Sent
from otf.values import key, show

PAUSES: Final = (0.0, 0.1, 0.5, 2.0, 5.0)
"""Seconds before each try of a path that had no result.

The line failed, or the system did not start. Or the system has too many clients, since each path is a new connection.
"""

ENDING: Final = frozenset({PortAction.FINISH, PortAction.CLOSE, PortAction.ABORT})
ON_CONNECTIONS: Final = frozenset({PortAction.FINISH, PortAction.BREAK, PortAction.PULSE_DTR, PortAction.PULSE_RTS})

UNSEEN: Final = 3
"""Paths in a row in which the system's rest could not be observed: to find that out takes seconds on each path."""


def listening(bench: Bench, inputs: Sequence[Any]) -> tuple[Bench, Oracle]:
    """Return a bench of the same system with a model that allows each of these inputs and any output.

    >>> from otf.models.coffee import Button, bench
    >>> bare, _ = listening(bench(), [Button()])
    >>> list(bare.spec.inputs(bare.spec.initial)), [way.state for way in bare.spec.step(frozenset(), Button())]
    ([Button()], [frozenset()])
    """
    ports = bench.oracle().model.routes.outputs

    def step(ended: frozenset[str], inp: object) -> list[Transition[frozenset[str]]]:
        port = "" if isinstance(inp, Elapse) else bench.port(inp)
        return [] if port in ended and not acts(bench, inp) else [goto(after(bench, ended, inp))]

    def emits(ended: frozenset[str]) -> list[Transition[frozenset[str]]]:
        there = [goto(ended, on(port, object)) for port in ports]
        return there + [goto(ended | {port}, on(port, Ended)) for port in ports]

    spec = Spec(step, frozenset[str](), inputs, emits, name=bench.name)
    codec = None if bench.codec is None else MalformedCodec(bench.codec)
    bare = replace(bench, spec=spec, codec=codec, inputs="uioco", requirements=type(bench.requirements)(), malformed=0)
    model = Model(spec, Routes(ports, bare.port))
    return bare, Oracle(model, "uioco", bare.limits, bench.timing)


@dataclass(slots=True)
class Heard:
    """What came on a path: before its first input, and after each."""

    bench: Bench
    greeting: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    inputs: list[Any] = field(default_factory=list[Any])
    outputs: list[list[tuple[str, Any]]] = field(default_factory=list[list[tuple[str, Any]]])
    # when each input was sent, and when its outputs came (seconds since the start)
    times: list[list[float]] = field(default_factory=list[list[float]])
    ended: frozenset[str] = frozenset()
    asked: bool = False
    unopened: set[str] = field(default_factory=set[str])

    def take(self, event: Event) -> None:
        """Take the next event."""
        if isinstance(event, Sent):
            self.inputs.append(event.input)
            self.outputs.append([])
            self.times.append([event.at])
            self.ended = after(self.bench, self.ended, event.input)
        elif isinstance(event, (Seen, Closed)):
            output = event.output
            if isinstance(output, Ended):
                self.ended |= {event.port}
                self.unopened |= set() if self.inputs else {event.port}
            if self.outputs:
                self.outputs[-1].append((event.port, output))
                self.times[-1].append(event.at)
            elif not (self.asked and isinstance(output, Ended)):
                # a port without a connection ends when we send there: that is not a greeting
                self.greeting.append((event.port, output))

    @property
    def last_words(self) -> str:
        """What came on connections that ended before the first input, as the end of a sentence; often the reason."""
        said = ", ".join(show(output) for _, output in self.greeting if not isinstance(output, Ended))
        return f"; it said {said}" if said else ""

    def answers(self) -> list[PortOutputs]:
        """Return the outputs after each input, sorted by port, since ports have no order between them."""
        return [tuple(sorted(each, key=lambda seen: seen[0])) for each in self.outputs]


def action(bench: Bench, inp: object) -> PortAction | None:
    """Return the action of an input on its port, None if it sends bytes."""
    if bench.codec is None or isinstance(inp, Elapse):
        return None
    done = bench.codec.encode(inp)
    return done if isinstance(done, PortAction) else None


def acts(bench: Bench, inp: object) -> bool:
    """Return whether an input is an action that needs no connection on its port."""
    return action(bench, inp) not in {None, *ON_CONNECTIONS}


def after(bench: Bench, ended: frozenset[str], inp: object) -> frozenset[str]:
    """Return the ports on which nothing can be sent after an input."""
    done = action(bench, inp)
    if done is None:
        return ended
    port = frozenset([bench.port(inp)])
    return ended | port if done in ENDING else ended - port


class _Chooser:
    """Sends the inputs of a word; `left_out` are the numbers of those whose connection had ended."""

    def __init__(self, inputs: Sequence[Any], heard: Heard) -> None:
        self.left_out: set[int] = set()
        self._inputs = inputs
        self._heard = heard
        self._at = 0

    def choose(self, view: View) -> Symbol | None:
        heard, bench = self._heard, self._heard.bench
        if self._at - len(self.left_out) > len(heard.inputs):
            # its port turned out to have no connection when it was due
            self.left_out.add(self._at - 1)
        heard.asked = True
        while self._at < len(self._inputs):
            inp, number = self._inputs[self._at], self._at
            self._at += 1
            if isinstance(inp, Elapse) or bench.port(inp) not in heard.ended or acts(bench, inp):
                return view.model.symbol(inp)
            self.left_out.add(number)
        return None


class ConnectionEnds(Closing):
    """Which inputs a bench cannot send: those to a port whose connection has ended, unless they open it."""

    def __init__(self, bench: Bench, inputs: Sequence[Any], symbols: Symbols, unopened: AbstractSet[str]) -> None:
        self._bench = bench
        self._inputs = inputs
        self._ports = ["" if isinstance(inp, Elapse) else bench.port(inp) for inp in inputs]
        self._acts = [acts(bench, inp) for inp in inputs]
        self._actions = [action(bench, inp) is not None for inp in inputs]
        self._symbols = symbols
        self._unopened = unopened

    def start(self) -> frozenset[str]:
        """Return the ports that have no connection at the start."""
        return frozenset(self._unopened)

    def after(self, ended: frozenset[str], inp: int, out: str) -> frozenset[str]:
        """Return the ports without a connection after an input and its answer."""
        left = after(self._bench, ended, self._inputs[inp]) if self._actions[inp] else ended
        outputs = self._symbols.outputs.get(out, ())
        return left | {port for port, output in outputs if isinstance(output, Ended)}

    def shut(self, ended: frozenset[str], inp: int) -> bool:
        """Return whether an input cannot be sent."""
        return self._ports[inp] in ended and not self._acts[inp]


class PathDriver:
    """Drives paths on a bench and returns what came; each leaves a trace in the folder, which the bench can judge.

    `greetings` counts what came before the first input of a path. `inputs_sent` counts inputs, `paths` paths.
    """

    def __init__(
        self, bench: Bench, inputs: Sequence[Any], folder: Path, reference: str = "", *, begin: int = 0
    ) -> None:
        self.inputs = inputs
        self.bench = bench
        self.inputs_sent: int = 0
        self.silence: str = ""
        self._unseen = 0
        # of the last path: when it sent each input, and when the outputs came
        self.times: list[list[float]] = []
        self.unopened: set[str] = set()
        self._opened: set[str] = set()  # ports that took the first input of a path
        # a pause before each path, for a system that takes time to clean up after a connection
        self.settle: float = 0.0
        self.greetings: dict[PortOutputs, int] = {}
        self._settings = Settings(out=folder, reference=reference, mode="strict")
        self._folder = folder
        self.bare, self._oracle = listening(bench, inputs)
        self.paths: int = begin

    def stored(self) -> Iterator[tuple[Word, list[PortOutputs]]]:
        """Yield the paths already in the folder, without unfinished ones."""
        numbers = {key(inp): number for number, inp in enumerate(self.inputs)}
        for trace in sorted(self._folder.glob("path-*.jsonl")):
            self.paths = max(self.paths, int(trace.stem.removeprefix("path-")))
            heard = Heard(self.bench)
            try:
                for event in reread(trace, self.bare):
                    heard.take(event)
            except TraceError:
                continue
            word = tuple(numbers.get(key(inp), -1) for inp in heard.inputs)
            if -1 not in word and b'"verdict":"pass"' in trace.read_bytes().rpartition(b'{"event":"end"')[2]:
                self._greeted(heard)
                yield word, heard.answers()

    async def drive(self, word: Word) -> list[PortOutputs | None]:
        """Drive a path; return the outputs after each input, None if it could not be sent. Raises ContactError."""
        why, early, lost = "", set[str](), False
        for pause in PAUSES:
            heard = Heard(self.bench)
            run = self._path(heard)  # its number is taken now, since other paths begin while this one settles
            await sleep(max(self.settle, pause if early or lost else 0.0))
            chooser = _Chooser([self.inputs[inp] for inp in word], heard)
            try:
                result = await run.run(chooser, len(word), Strict(self.bench.timing))
            except ContactError as error:
                if not self.greetings:
                    raise  # no path has reached the system
                lost, why = True, str(error)
                continue
            self.inputs_sent += len(heard.inputs)
            self.heed(run.silence or "")
            before, early = early, heard.unopened - self.unopened
            if early and (early != before or not self._can_stay_closed(early)):
                # once proves nothing: a server may close at once if it is busy, or has not forgotten the last
                # connection
                why = f"a connection ended before its first input{heard.last_words}"
                continue
            self.unopened |= early
            self.times = heard.times
            if result.verdict.outcome == "pass":
                return self._taken(heard, chooser.left_out, len(word))
            why = result.verdict.why or (str(result.verdict.failure.seen) if result.verdict.failure else "")
        shown = ", ".join(show(self.inputs[inp]) for inp in word)
        raise ContactError(f"after {shown or 'the start'} nothing could be decided in {len(PAUSES)} paths: {why}")

    def _path(self, heard: Heard) -> PathRun:
        self.paths += 1
        head = header(self.bench, self._settings, self.paths, strategy="learn")
        return PathRun(self.bare, self._oracle, head, self._folder / f"path-{self.paths:06}.jsonl", observe=heard.take)

    def _taken(self, heard: Heard, left_out: AbstractSet[int], length: int) -> list[PortOutputs | None]:
        self._greeted(heard)
        came = iter(heard.answers())
        return [None if at in left_out else next(came, None) for at in range(length)]

    def heed(self, silence: str) -> None:
        """Note how the silences of a path were known; if no rest can be observed, do not try again."""
        if self._unseen >= UNSEEN:
            return
        self.silence = silence
        self._unseen = self._unseen + 1 if silence.startswith("timed") else 0
        if self._unseen >= UNSEEN:
            self.bare = replace(self.bare, silence="timed")

    def _can_stay_closed(self, ports: set[str]) -> bool:
        """Return whether none of these ports ever accepted a first input, and other ports can still be used."""
        without = self.unopened | ports
        return not ports & self._opened and any(
            isinstance(inp, Elapse) or acts(self.bench, inp) or self.bench.port(inp) not in without
            for inp in self.inputs
        )

    def forget(self) -> None:
        """Set aside the paths that gave the system no time to settle: their answers may not be those after a reset."""
        for trace in self._folder.glob("path-*.jsonl"):
            trace.replace(trace.with_name(f"hasty-{trace.name}"))
        self.greetings.clear()

    def _greeted(self, heard: Heard) -> None:
        if heard.inputs and not isinstance(heard.inputs[0], Elapse) and not acts(self.bench, heard.inputs[0]):
            self._opened.add(self.bench.port(heard.inputs[0]))
        greeting = tuple(sorted(heard.greeting, key=lambda seen: seen[0]))
        self.greetings[greeting] = self.greetings.get(greeting, 0) + 1


async def answers_to(bench: Bench, inputs: Sequence[Any]) -> list[PortOutputs | None]:
    """Return the system's answers to each of these inputs on one path; None for those that cannot be sent."""
    with TemporaryDirectory() as folder:
        driver = PathDriver(bench, inputs, Path(folder), bench.name)
        async with keeping():
            return await driver.drive(tuple(range(len(inputs))))
