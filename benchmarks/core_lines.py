"""The measurements of `benchmarks.core`, each in a process of its own: `python -P core_lines.py LINE SIZE SECONDS`.

It imports nothing but `otf`, so that the same lines measure another checkout. A line prepares its run, measures CPU
time, and returns figures; `hypotheses` and calls of the model do not depend on the machine.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

from otf.core import Model, Monitor, Oracle, Routes
from otf.core.walk import Walk
from otf.spec import AnyOrder, OneOf, Spec, Transition, goto
from otf.trace.events import Event, Quiet, Seen, Sent, Taken

Figures = dict[str, float]
MEMORY: Final = 4 * 2**30  # bytes that a line may take: more would stop the machine as well
PORTS: Final = ("p", "q", "r", "s")
ROUTES: Final = Routes(PORTS, lambda value: value[0])
PRIME: Final = 10**12 + 39


class Told:
    """A monitor that takes events, with their cost."""

    def __init__(self, spec: Spec[Any, Any], routes: Routes = ROUTES) -> None:
        self.steps = 0
        self._asked = spec.step
        self._oracle = Oracle(Model(Spec(self._step, spec.initial, spec.inputs, spec.emits), routes))
        self.monitor = Monitor(self._oracle)
        self.events = self.hypotheses = 0
        self.longest = self.seconds = 0.0

    def _step(self, state: Any, inp: Any) -> Iterable[Any]:
        self.steps += 1
        return self._asked(state, inp)

    def again(self) -> None:
        """Begin another run."""
        self.monitor = Monitor(self._oracle)

    def tell(self, events: Iterable[Event]) -> None:
        """Pass events to the monitor."""
        start = before = time.process_time()
        for event in list(events):
            self.monitor.tell(event)
            now = time.process_time()
            self.longest, before = max(self.longest, now - before), now
            self.events += 1
            self.hypotheses = max(self.hypotheses, len(self.monitor.belief.hypotheses))
        self.seconds += before - start

    def figures(self, outcome: str = "pass") -> Figures:
        """Return the figures if the verdict is the expected one."""
        verdict = self.monitor.end()
        if verdict.outcome != outcome:
            # not the subject of the line: the parent reports it in the table
            sys.exit(f"{verdict.outcome}: {verdict.why or verdict.failure} (after {self.seconds:.1f} s)")
        return {
            "seconds": self.seconds,
            "events/s": self.events / max(self.seconds, 1e-9),
            "longest ms": 1000 * self.longest,
            "hypotheses": self.hypotheses,
            "step calls": self.steps,
        }


def _once(*outputs: object) -> Spec[str, str]:
    """Return a system that gives these outputs to its first input."""
    return Spec(lambda state, _inp: [goto("done", *outputs)] if state == "new" else [goto(state)], "new", ["pa"])


def _answer(spec: Spec[str, str], outputs: Iterable[tuple[str, str]]) -> Figures:
    told = Told(spec)
    told.tell([Sent("pa", "p", 0.0)])
    told.tell(Seen(output, port, 0.0) for port, output in outputs)
    told.tell([Quiet(0.0)])
    return told.figures()


def long_answer(size: int) -> Figures:
    """`size` exact outputs in one answer, on one port."""
    outputs = [f"p{number}" for number in range(size)]
    return _answer(_once(*outputs), (("p", output) for output in outputs))


def long_walk(size: int) -> Figures:
    """The same in process: a system that returns `size` outputs."""
    outputs = tuple(f"p{number}" for number in range(size))
    walk = Walk(Oracle(Model(_once(*outputs), Routes(("p",)))), lambda _inp: outputs)
    before = time.process_time()
    assert walk.uniform(Random(1), 1).outcome == "pass"
    return {"seconds": time.process_time() - before}


def one_of(size: int) -> Figures:
    """`size` `OneOf` in a row on one port."""
    return _choices(size, "p")


def one_of_alternating(size: int) -> Figures:
    """`size` `OneOf` in a row, on two ports in turn."""
    return _choices(size, "pq")


def _choices(size: int, ports: str) -> Figures:
    names = [f"{ports[number % len(ports)]}{number}" for number in range(size)]
    spec = _once(*(OneOf(f"{name}l", f"{name}r") for name in names))
    random = Random(1)
    return _answer(spec, ((name[0], name + random.choice("lr")) for name in names))


def any_order(size: int) -> Figures:
    """An `AnyOrder` of `size` values that come in another order."""
    outputs = [f"p{number}" for number in range(size)]
    spec = _once(AnyOrder(*outputs))
    Random(1).shuffle(outputs)
    return _answer(spec, (("p", output) for output in outputs))


def any_order_same(size: int) -> Figures:
    """An `AnyOrder` of `size` equal values."""
    return _answer(_once(AnyOrder(*["px"] * size)), (("p", "px") for _ in range(size)))


def _many(states: int) -> Spec[Any, Any]:
    """Return a system that silently chooses one of several states, and echoes every input."""

    def step(state: Any, inp: str) -> list[Transition[Any]]:
        return [goto((number,)) for number in range(states)] if state == "new" else [goto(state, inp)]

    return Spec(step, "new", ["pa"])


def _fresh(size: int) -> Iterator[Event]:
    for number in range(size):
        yield Sent(f"p{number}", "p", 0.0)
        yield Seen(f"p{number}", "p", 0.0)
        yield Quiet(0.0)


def new_values(size: int) -> Figures:
    """Values that never repeat, with `size` possible states."""
    told = Told(_many(size))
    told.tell([Sent("pa", "p", 0.0), Quiet(0.0)])
    told.seconds, told.events = 0.0, 0
    told.tell(_fresh(300 if size > 1 else 5_000))
    return told.figures()


def _in_flight(spec: Spec[Any, Any], size: int, ports: str) -> Figures:
    """Return the cost of runs with several inputs in flight; their values are new each time."""
    told, number = Told(spec), 0
    while told.seconds < 1:
        told.again()
        inputs = [f"{ports[each % len(ports)]}{number + each}" for each in range(size)]
        told.tell([Sent(inp, inp[0], 0.0) for inp in inputs] + [Seen(inp, inp[0], 0.0) for inp in inputs])
        told.tell([Quiet(0.0)])
        number += size
    runs = number / size
    return told.figures() | {"seconds": told.seconds / runs, "step calls": told.steps / runs}


def _mixed(state: int, inp: str) -> int:
    """Return a state that encodes the order in which inputs on different ports were taken."""
    return (3 * state + ord(inp[0])) % 101


def _counting() -> Spec[Any, Any]:
    """Return a system whose inputs commute: it counts them for each port, and echoes each on its port."""

    def step(state: tuple[int, ...], inp: str) -> list[Transition[tuple[int, ...]]]:
        return [goto(tuple(count + (port == inp[0]) for count, port in zip(state, PORTS, strict=True)), inp)]

    return Spec(step, (0,) * len(PORTS), ["pa"])


def commuting(size: int) -> Figures:
    """`size` inputs in flight on four ports, in any order with the same answers and the same final state."""
    return _in_flight(_counting(), size, "pqrs")


def ordered(size: int) -> Figures:
    """`size` inputs in flight on two ports of a system whose final state depends on their order."""
    return _in_flight(Spec(lambda state, inp: [goto(_mixed(state, inp), inp)], 0, ["pa"]), size, "pq")


def one_explanation(size: int) -> Figures:
    """The failure of a step with `size` inputs in flight on four ports, in one of 200 possible states."""

    def step(state: Any, inp: str) -> list[Transition[Any]]:
        if state == "new":
            return [goto((number, 0)) for number in range(200)]
        return [goto((state[0], _mixed(state[1], inp)), inp, "pz")]

    told = Told(Spec(step, "new", ["pa"]))
    told.tell([Sent("pa", "p", 0.0), Quiet(0.0)])
    told.tell(Sent(f"{PORTS[number % 4]}{number}", PORTS[number % 4], 0.0) for number in range(size))
    told.seconds = 0.0
    told.tell([Seen("pw", "p", 0.0)])
    return told.figures(told.monitor.end().outcome)


def one_event(size: int) -> Figures:
    """The longest event while `size` inputs in flight on two ports may have been taken in any order, with choices."""

    def step(state: int, inp: str) -> list[Transition[int]]:
        return [goto((5 * state + ord(inp[0]) + more) % 997, inp) for more in range(3)]

    told = Told(Spec(step, 0, ["pa"]))
    inputs = [f"{PORTS[number % 2]}{number}" for number in range(size)]
    told.tell(Sent(inp, inp[0], 0.0) for inp in inputs)
    told.tell([Seen(inputs[-1], inputs[-1][0], 0.0)])
    told.tell([Quiet(0.0)])
    return told.figures(told.monitor.end().outcome)


def taken_against_quiet(size: int) -> Figures:
    """`Taken` against `Quiet`: `size` inputs on each of two ports, one of which echoes them."""
    found = {name: _proved(size, event) for name, event in (("taken", Taken(2 * size, 0.0)), ("quiet", Quiet(0.0)))}
    return {"seconds": found["taken"], "quiet s": found["quiet"], "ratio": found["taken"] / max(found["quiet"], 1e-9)}


def _proved(size: int, event: Event) -> float:
    spec = Spec(lambda state, inp: [goto(_mixed(state, inp), *([inp] if inp[0] == "q" else []))], 0, ["pa"])
    spent = 0.0
    for _ in range(20):
        told = Told(spec)
        told.tell([Sent(f"{port}{number}", port, 0.0) for number in range(size) for port in "pq"])
        told.tell([Seen(f"q{number}", "q", 0.0) for number in range(size)])
        told.seconds = 0.0
        told.tell([event])
        told.figures()
        spent += told.seconds / 20
    return spent


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


class Number:
    """A system that is never twice in the same state; it measures how long the tester takes between two inputs."""

    def __init__(self) -> None:
        self.number = 0
        self.longest = 0.0
        self.before = time.process_time()

    def act(self, digit: int) -> tuple[int, ...]:
        """Append a digit."""
        now = time.process_time()
        self.longest = max(self.longest, now - self.before)
        self.number = (10 * self.number + digit) % PRIME
        self.before = time.process_time()
        return (self.number,) if digit % 2 else ()


def _appended(number: int, digit: int) -> list[Transition[int]]:
    then = (10 * number + digit) % PRIME
    return [goto(then, then)] if digit % 2 else [goto(then)]


def never_back(size: int) -> Figures:
    """`size` new states in one call of `Walk.uniform`."""
    system, start = Number(), _resident()
    walk = Walk(Oracle(Model(Spec(_appended, 0, range(2)))), system.act)
    before = time.process_time()
    assert walk.uniform(Random(1), size).outcome == "pass"
    seconds = time.process_time() - before
    return {
        "seconds": seconds,
        "events/s": size / seconds,
        "longest ms": 1000 * system.longest,
        "MB more": _resident() - start,
    }


def forgetting(size: int) -> Figures:
    """`size` new states passed to a monitor, which has to forget them on the way: the longest event."""
    told, start = Told(Spec(_appended, 0, range(2)), Routes(("p",), lambda _value: "p")), _resident()
    random, number = Random(1), 0
    for _ in range(size):
        digit = random.randrange(2)
        number = (10 * number + digit) % PRIME
        told.tell([Sent(digit, "p", 0.0), *([Seen(number, "p", 0.0)] if digit % 2 else []), Quiet(0.0)])
    return told.figures() | {"MB more": _resident() - start}


LINES: Final[dict[str, Callable[[int], Figures]]] = {
    each.__name__: each
    for each in (
        *(long_answer, long_walk, one_of, one_of_alternating, any_order, any_order_same),
        *(never_back, forgetting, one_explanation, one_event, taken_against_quiet),
        *(new_values, ordered, commuting),
    )
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure one line, within a limit of CPU time, and print the figures."""
    parser = ArgumentParser(prog="python -m benchmarks.core_lines", description=__doc__)
    parser.add_argument("name", choices=LINES)
    parser.add_argument("size", type=int)
    parser.add_argument("seconds", type=int, help="CPU time after which the line is given up")
    chosen = parser.parse_args(arguments)
    name, size, seconds = chosen.name, chosen.size, chosen.seconds
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    print(json.dumps({"otf": str(Path(sys.modules["otf"].__file__ or "").parent), **LINES[name](size)}))


if __name__ == "__main__":
    main()
