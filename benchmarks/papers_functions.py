"""The definitions, examples and results of "Testing with Functions as Specifications", beside otf's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from benchmarks.papers_line import PaperLine, at, line
from benchmarks.shrink_subjects import SYSTEMS
from otf.core import Monitor
from otf.explore import explore
from otf.explore.analysis import general, safety, transitions
from otf.explore.conform import conforms
from otf.explore.finding import Finding
from otf.logic import check, exists, for_all, implies
from otf.models.coffees import C1, C2, C3, C4, fair, solvent
from otf.models.queue import FAULTS as QUEUE_FAULTS
from otf.models.queue import QUEUE, In, New
from otf.models.queue import Queue as Queued
from otf.spec import Spec, total
from otf.values import every


def functions() -> Iterator[PaperLine]:
    """Yield what is in "Testing with Functions as Specifications"."""
    yield PaperLine("2.1", "algorithm `testLogical`", "pass, fail, proof", at(check))
    yield PaperLine("2.2", "operators `⇒`, `∀`, `∃`", "", f"{at(implies)}, {at(for_all)}, {at(exists)}")
    yield PaperLine("2.3", "algorithm `ggen`: all values of a type", "", at(every))
    yield PaperLine("3.2", "definition: a specification is a function", "", at(Spec))
    yield PaperLine("3.4", "definition `conf`", "", at(conforms))
    yield PaperLine("3.4", "algorithm `testConformance`", "pass, fail, proof", at(Monitor))
    yield line("2.1", "order of two arguments", "a u, a v, b u, a w, b v, c u", _order())
    yield line("2.1", "a property that holds of all Booleans", "proof", _outcome(lambda: check(_excluded)))
    yield line("2.1", "a property that holds of all integers", "pass", _outcome(lambda: check(_square)))
    yield line("2.1", "a property that is false for 5", "fail, and a counterexample", _outcome(lambda: check(_small)))
    yield line("2.3", "Booleans", "False, True", _first(bool, 2))
    yield line("2.3", "integers", "0, 1, -1, 2, -2", _first(int, 5))
    yield from _conformance()
    yield from _laws()
    yield from _queue()


def _excluded(value: bool) -> bool:  # noqa: FBT001 -- an argument that is quantified
    return value in {True, False}


def _square(number: int) -> bool:
    return number * number >= 0


def _small(number: int) -> bool:
    return number < 5  # noqa: PLR2004 -- any bound


def _outcome(asked: Callable[[], object]) -> str:
    return str(asked())


def _order() -> str:
    pairs = every(tuple[Literal["a", "b", "c"], Literal["u", "v", "w"]]).first(6)
    return ", ".join(" ".join(pair) for pair in pairs)


def _first(kind: object, number: int) -> str:
    return ", ".join(map(str, every(kind).first(number)))


def _conformance() -> Iterator[PaperLine]:
    machines = {"c1": C1, "c2": C2, "c3": C3, "c4": C4}
    stated = {
        "c2 c1": True,
        "c3 c1": True,
        "c4 c1": True,
        "c3 c2": False,
        "c2 c3": False,
        "c4 c2": False,
        "c4 c3": False,
    }
    for pair, conforming in {**stated, "c3 c4": False}.items():
        one, other = pair.split()
        found = conforms(machines[one], machines[other], limit=200)
        theirs = "yes" if conforming else "no"
        yield line("3.4", f"{one} conforms to {other}", theirs, found, _endless(found, one))


def _endless(found: Finding, name: str) -> str:
    return f"{name} has no end of states: 200 of the product were seen" if str(found.verdict) == "passed" else ""


def _laws() -> Iterator[PaperLine]:
    expected = {"c1": (C1, "counterexample"), "c2": (C2, "proof"), "c3": (C3, "proof"), "c4": (C4, "pass")}
    for law, number in (("deterministic", 0), ("total", 2)):
        for name, (spec, theirs) in expected.items():
            yield line("4.1", f"{name} is {law}", theirs, general(explore(spec, 200))[number])
    fairly = {"c1": "proof", "c2": "counterexample", "c3": "proof", "c4": "pass"}
    for name, theirs in fairly.items():
        yield line("4.1", f"{name} loses no money", theirs, transitions(explore(expected[name][0], 200), fair))
    within = explore(C4, states=_hundred)
    yield line("4.1", "c4 loses no money, from 0 to 100", "proof", transitions(within, fair))
    yield line("4.1", "c1 made input-enabled loses no money", "counterexample", transitions(explore(total(C1)), fair))
    why = "integers have no overflow here"
    for name in ("c1", "c2", "c3"):
        yield line("4.1", f"{name} gives no credit", "proof", transitions(explore(expected[name][0]), solvent))
    yield line("4.1", "c4 gives no credit, from 0 to 100", "proof", transitions(within, solvent))
    yield line("4.1", "c4 gives no credit", "counterexample by overflow", transitions(explore(C4, 200), solvent), why)


def _hundred(paid: int) -> bool:
    return paid <= 100  # noqa: PLR2004 -- as the paper has it


def _queue() -> Iterator[PaperLine]:
    graph = explore(QUEUE, states=_few)
    found = {each.law: each for each in general(graph)}
    yield line("4.2", "the queue is deterministic", "pass", found["deterministic"])
    yield line("4.2", "the queue is total", "counterexample: Q [] and Init", _described(found["total"]))
    yield line("4.2", "In makes it larger by one", "counterexample in New", _described(transitions(graph, _enlarges)))
    yield line("4.2", "the head is the smallest", "pass", safety(graph, _sorted))
    mutants = [subject.fault for subject in SYSTEMS["queue"] if len(subject.issue(0))]
    theirs, ours = "10 of 10 found", f"{len(mutants)} of {len(QUEUE_FAULTS)} found"
    yield PaperLine("4.2", "mutants of the queue", theirs, ours)


def _few(state: object) -> bool:
    return not isinstance(state, Queued) or len(state.elements) < 3  # noqa: PLR2004 -- a small bound


def _described(found: Finding) -> str:
    return f"{found.verdict}: {found.says}"


def _enlarges(state: object, inp: object, after: object, _outputs: object) -> bool:
    return not isinstance(inp, In) or _length(after) == _length(state) + 1


def _length(state: object) -> int:
    return len(state.elements) if isinstance(state, Queued) else 0


def _sorted(state: object) -> bool:
    return isinstance(state, New) or (isinstance(state, Queued) and list(state.elements) == sorted(state.elements))
