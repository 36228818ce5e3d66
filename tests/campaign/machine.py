"""A coffee machine with known faults, in the same process, and campaigns on it in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from otf.adapter import Bench, Ending
from otf.adapters.inprocess import Reply, inprocess
from otf.campaign import Budget, Campaign, Listener, PathResult, Settings, Shrinker, Shrunk, Summary
from otf.campaign.paths import PathRun
from otf.campaign.settings import header
from otf.codec import lines
from otf.errors import ContactError
from otf.offline import Judgement, judge
from otf.spec import Spec, Transition, goto
from otf.strategy import Script
from otf.trace.events import Sent
from otf.trace.reading import TraceReader, bounded
from tests.runner.playing import virtually


@dataclass(frozen=True)
class Coin:
    """A coin goes in; it holds three at most."""


@dataclass(frozen=True)
class Button:
    """A coffee is wanted; it costs one coin."""


@dataclass(frozen=True)
class Refund:
    """The money is wanted back."""


@dataclass(frozen=True)
class Coffee:
    """A coffee."""


@dataclass(frozen=True)
class Tea:
    """What is not a coffee."""


@dataclass(frozen=True)
class Money:
    """So many coins."""

    coins: int


MOST = 3


def _step(paid: int, inp: object) -> Iterator[Transition[int]]:
    match inp:
        case Coin() if paid < MOST:
            yield goto(paid + 1)
        case Button() if paid:
            yield goto(paid - 1, Coffee())
        case Refund() if paid:
            yield goto(0, Money(paid))
        case _:
            pass


def fickle() -> Spec[int, object]:
    """Return a spec that allows tea instead of coffee, when it is asked for the first time."""
    asked = set[int]()

    def step(paid: int, inp: object) -> Iterator[Transition[int]]:
        if paid and isinstance(inp, Button) and paid not in asked:
            asked.add(paid)
            yield goto(paid - 1, Tea())
        else:
            yield from _step(paid, inp)

    return Spec(step, 0, [Coin(), Button(), Refund()])


COFFEE = Spec(_step, 0, [Coin(), Button(), Refund()])
CODEC = lines(
    {
        Coin: "coin",
        Button: "button",
        Refund: "refund",
        Coffee: "coffee",
        Tea: "tea",
        Money: "money {coins}",
    }
)
TEA = "tea for the third coin"
THIEF = "keeps two coins"
DIES = "dies of a third coffee"
FAULTS = (TEA, THIEF, DIES)


@dataclass
class Machine:
    """One copy of the machine; it answers after `delay` seconds."""

    faults: Sequence[str] = ()
    delay: float = 0.0
    paid: int = 0
    coffees: int = 0

    def __call__(self, frame: bytes) -> list[Reply]:
        """Take an input."""
        answer = self._answer(frame)
        return [] if answer is None else [(self.delay, answer)]

    def _answer(self, frame: bytes) -> bytes | Ending | None:
        paid = self.paid
        if frame == b"coin" and paid < MOST:
            self.paid += 1
        elif frame == b"button" and paid:
            self.paid -= 1
            self.coffees += 1
            if DIES in self.faults and self.coffees == MOST:
                return Ending("exit status 3")
            return b"tea" if TEA in self.faults and paid == MOST else b"coffee"
        elif frame == b"refund" and paid:
            self.paid = 0
            return None if THIEF in self.faults and paid == MOST - 1 else b"money %d" % paid
        return None


def bench(*faults: str, delay: float = 0.0, **more: Any) -> Bench:  # noqa: ANN401 -- the fields of a bench
    """Return a bench with a machine that has these faults."""
    return made_by(lambda: Machine(faults, delay), **more)


def made_by(make: Callable[[], Callable[[bytes], Any]], **more: Any) -> Bench:  # noqa: ANN401 -- the same
    """Return a bench whose machines come from `make`."""
    given: dict[str, Any] = {"ports": {"m": inprocess(make)}, "name": "machine", "inputs": "mixed", "quiescence": 1.0}
    return Bench(COFFEE, codec=CODEC, **{**given, **more})


@dataclass
class Started:
    """Makes machines; the first `broken` of them, or all after the first `good`, cannot be started."""

    faults: Sequence[str] = ()
    broken: int = 0
    good: float = float("inf")
    starts: int = 0

    def __call__(self) -> Machine:
        """Start one."""
        self.starts += 1
        if self.starts <= self.broken or self.starts > self.good:
            raise ContactError(f"start {self.starts} failed")
        return Machine(self.faults)


def campaign(tested: Bench, out: Path, listener: Listener | None = None, **settings: Any) -> Campaign:  # noqa: ANN401
    """Return a campaign, strict by default."""
    given: dict[str, Any] = {"out": out, "mode": "strict", "aftermath": 0.0}
    return Campaign(tested, Settings(**{**given, **settings}), listener)


def run(tested: Bench, out: Path, listener: Listener | None = None, **settings: Any) -> Summary:  # noqa: ANN401
    """Run a campaign in virtual time."""
    return virtually(campaign(tested, out, listener, **settings).run)


def inputs(trace: Path, tested: Bench | None = None) -> list[object]:
    """Return the inputs of a trace."""
    return [event.input for event in judged(trace, tested).events if isinstance(event, Sent)]


def judged(trace: Path, tested: Bench | None = None) -> Judgement:
    """Judge a trace again, by default against the bench without faults."""
    with trace.open("rb") as file:
        return judge(TraceReader(bounded(file), trace.name), tested or bench(), keep=True)


NOISE = [Button(), Refund(), Coin(), Button(), Coin(), Refund(), Refund()]
LONG = [*NOISE * 10, Coin(), Button(), Coin(), Coin(), Coin(), Coin(), Button(), Coin(), Button()]
"""Ends with the third coin's coffee; before it, there is nothing that matters."""


def failing_path(tested: Bench, out: Path, sent: Sequence[object]) -> PathResult:
    """Drive inputs strictly; return the path."""
    head = header(tested, Settings(out=out, mode="strict"), 1)
    path = PathRun(tested, tested.oracle(), head, out / "path-0001.jsonl")
    return virtually(lambda: path.run(Script(sent), len(sent)))


def shrinker_of(tested: Bench, out: Path, **more: Any) -> Shrinker:  # noqa: ANN401 -- the fields of a shrinker
    """Return a shrinker with all the time in the world."""
    head = header(tested, Settings(out=out, mode="strict"), 1, strategy="script")
    given: dict[str, Any] = {"budget": Budget(seconds=1e9), **more}
    return Shrinker(bench=tested, oracle=tested.oracle(), header=head, **given)


def shrunk_from(tested: Bench, out: Path, sent: Sequence[object], **more: Any) -> Shrunk:  # noqa: ANN401 -- the same
    """Drive inputs that fail, and return the shrunk failure."""
    failing = failing_path(tested, out, sent)
    assert failing.verdict.failed
    return virtually(lambda: shrinker_of(tested, out, **more).run(failing))
