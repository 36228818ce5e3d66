"""Seeded faults: systems that are wrong in one place, and how soon each way of testing finds them.

Only faults that can be seen count. For untimed specs an exhaustive search of the spec and the faulty system side by
side decides, independent of the oracle: it looks for enabled inputs after which the system does something that the spec
does not allow. In timed specs only faults are seeded that every tester sees if it waits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from random import Random
from typing import Any, Final, TypeAlias

from benchmarks.campaigns import TESTERS, Campaign
from benchmarks.subjects import SUBJECTS, Subject
from otf.simulate import Mutation, faulty
from otf.simulate.system import MutationKind
from otf.spec import AnyOrder, On, OneOf, Spec, Transition
from otf.spec.outputs import vague
from otf.strategy import Strategy

PAIRS: Final = 2_000  # of states that the search looks at; a fault that hides beyond does not count
DEPTH: Final = 5  # steps of the shortest run that shows a fault: a longer one is a matter of luck for a random walk
STATES: Final = 24  # in which faults are seeded
BUDGET: Final = 50_000  # steps in which a fault is to be found: most take a few, and chance chooses the inputs
MODES: Final = ("strict", "eager", "burst 2")
UNTIMED: Final[tuple[MutationKind, ...]] = ("output", "transfer", "missing", "surplus")
TIMED: Final[tuple[MutationKind, ...]] = ("late", "early", "dead")

Seen: TypeAlias = tuple[tuple[str, tuple[object, ...]], ...]  # the outputs of a transition, port by port
States: TypeAlias = frozenset[Any]


@dataclass(frozen=True)
class Seeded:
    """A fault in a subject whose `made` has it."""

    subject: Subject
    fault: Mutation


@dataclass(frozen=True)
class Found:
    """The end of a campaign that looked for a fault: the steps until it failed, None if it never failed."""

    name: str
    kind: MutationKind
    mode: str
    steps: int | None


def hunt(name: str, kind: MutationKind, count: int, seed: int, modes: Sequence[str] = MODES) -> Iterator[Found]:
    """Yield the results of each mode with a number of faults of a kind."""
    for number in range(count):
        random = Random(f"{seed}/{name}/{kind}/{number}")
        seeded = next(each for each in seedings(name, kind, random) if each is not None)
        for mode in modes:
            yield Found(name, kind, mode, _steps(seeded, mode, Random(f"{seed}/{name}/{kind}/{number}/{mode}")))


def _steps(seeded: Seeded, mode: str, random: Random) -> int | None:
    campaign, steps = _campaign(seeded.subject, mode, random), 0
    for number in range(1, BUDGET):
        run = campaign.run(number)
        steps += run.steps
        if run.verdict.failed:
            return steps
        if steps >= BUDGET:
            break
    return None


def _campaign(subject: Subject, mode: str, random: Random) -> Campaign:
    """Return a campaign of long paths that believes silence as soon as it may.

    The tester waits ten times as long before it reports silence as a failure. The missing output may come in that time,
    for example from a sender that repeats a message it never sent; then the fault only shows as a late answer.
    """
    campaign = Campaign(subject, TESTERS[mode], random)
    campaign.steps = 40
    campaign.timing.quiescence = campaign.timing.round_trip(1)
    # this tries the oracle and not the choice of inputs: a strategy that counts its inputs may fall into step with a
    # fault, so that it never sends the one input that would show it
    campaign.strategy = Strategy("random", subject.inputs, random.randrange(10**9))
    return campaign


def seedings(name: str, kind: MutationKind, random: Random) -> Iterator[Seeded | None]:
    """Yield faults that can be seen, drawn one after another, and None for each that cannot."""
    make = SUBJECTS[name]
    while True:
        subject = replace(make(random), otherwise=None)
        fault = _drawn(subject, kind, random)
        if fault is None:
            yield None
            continue
        made = faulty(subject.spec, fault)
        yield Seeded(replace(subject, made=made), fault) if kind in TIMED or visible(subject, made) else None


# ---- drawing a fault ----------------------------------------------------------------------------------------------


def _drawn(subject: Subject, kind: MutationKind, random: Random) -> Mutation | None:
    states = reachable(subject.spec)
    places = [(state, inp) for state in states for inp in (*subject.spec.inputs(state), None)]
    fitting = [place for place in places if _fits(kind, _ways(subject.spec, *place), first=place[0] == states[0])]
    if not fitting:
        return None
    state, inp = random.choice(fitting)
    last = [way.outputs[-1] for way in _ways(subject.spec, state, inp) if way.outputs]
    match kind:
        case "output" | "surplus":
            others = [item for item in _items(subject.spec, states) if kind == "surplus" or item not in last]
            return Mutation(kind, state, inp, random.choice(others)) if others else None
        case "transfer":
            return Mutation(kind, state, inp, random.choice(states))
        case "late" | "early":
            shift = _shift(_ways(subject.spec, state, inp)[0])
            # late it may only be when the system has had time for everything else
            return Mutation(kind, state, inp, -shift if kind == "early" else shift + subject.busy)
        case _:
            return Mutation(kind, state, inp)


def _fits(kind: MutationKind, ways: list[Transition[Any]], *, first: bool) -> bool:
    if kind in TIMED:
        # how long a system has been in its first state is unknown
        return not first and any(way.within for way in ways)
    return any(way.outputs for way in ways) if kind in {"output", "missing"} else bool(ways)


def _shift(way: Transition[Any]) -> float:
    """Return by how much a window has to move so that no delay of the line can hide it."""
    lo, hi = way.within or (0.0, 0.0)
    return lo * 3 / 4 + (hi - lo)


def _ways(spec: Spec[Any, Any], state: object, inp: object) -> list[Transition[Any]]:
    ways = list(spec.step(state, inp)) if inp is not None else list(spec.emits(state)) if spec.emits else []
    return [way for way in ways if isinstance(way, Transition)]


def _items(spec: Spec[Any, Any], states: Iterable[object]) -> list[object]:
    every = (way for state in states for inp in (*spec.inputs(state), None) for way in _ways(spec, state, inp))
    return list(dict.fromkeys(item for way in every for item in way.outputs if not isinstance(item, AnyOrder)))


def reachable(spec: Spec[Any, Any]) -> list[Any]:
    """Return the first states that can be reached, the initial one first."""
    found = {spec.initial: None}
    todo = deque([spec.initial])
    while todo and len(found) < STATES:
        state = todo.popleft()
        ways = (way for inp in (*spec.inputs(state), None) for way in _ways(spec, state, inp))
        fresh = {way.state: None for way in ways if way.state not in found}
        found |= fresh
        todo.extend(fresh)
    return list(found)


# ---- whether it can be seen ---------------------------------------------------------------------------------------


def visible(subject: Subject, made: Spec[Any, Any]) -> bool:
    """Return whether a system made from `made` can visibly do what the subject's spec does not allow."""
    look = Look(subject, made)
    start = (look.rest(frozenset([subject.spec.initial])), made.initial)
    seen, todo = {start}, deque([(start, 0)])
    while todo and len(seen) < PAIRS:
        pair, depth = todo.popleft()
        for then in look.steps(*pair) if depth < DEPTH else ():
            if not then[0]:
                return True
            if then not in seen:
                seen.add(then)
                todo.append((then, depth + 1))
    return False


@dataclass(frozen=True)
class Look:
    """The spec and the faulty system side by side: the states that are possible by the one, the state of the other."""

    subject: Subject
    made: Spec[Any, Any]

    def steps(self, states: States, state: object) -> Iterator[tuple[States, Any]]:
        """Yield where an enabled input, or a spontaneous transition, leads both; no states: it is not allowed."""
        for inp in self.subject.spec.inputs(next(iter(states))):
            if self._offered(states, inp):
                yield from self._both(_ways(self.made, state, inp) or [Transition(state)], states, inp)
        yield from self._both(_ways(self.made, state, None), states, None)

    def rest(self, states: States, *, outputs: bool = False) -> States:
        """Return the states with those after spontaneous moves: silent ones, or all."""
        found, todo = set(states), list(states)
        while todo:
            ways = _ways(self.subject.spec, todo.pop(), None)
            fresh = {way.state for way in ways if outputs or not way.outputs} - found
            found |= fresh
            todo.extend(fresh)
        return frozenset(found)

    def _offered(self, states: States, inp: object) -> bool:
        return all(_ways(self.subject.spec, each, inp) for each in self.rest(states, outputs=True))

    def _both(self, ways: list[Transition[Any]], states: States, inp: object) -> Iterator[tuple[States, Any]]:
        """Yield where ways of the system lead, with the states that the spec allows then."""
        for way in ways:
            for seen in self._seen(way):
                yield self.rest(self._after(states, inp, seen)), way.state

    def _after(self, states: States, inp: object, seen: Seen) -> States:
        """Return where the spec may be after an input and these outputs.

        Any number of unasked moves may have come before it and after it: two repetitions at once are not a fault where
        each may come at any time.
        """
        todo = [(state, seen, inp is not None) for state in states]
        found, known = set[Any](), set(todo)
        while todo:
            state, left, asked = todo.pop()
            if not left and not asked:
                found.add(state)
            moves = [(way, asked) for way in _ways(self.subject.spec, state, None)]
            moves += [(way, False) for way in _ways(self.subject.spec, state, inp)] if asked else []
            for way, still in moves:
                rests = (_without(left, outputs) for outputs in self._seen(way))
                fresh = {(way.state, rest, still) for rest in rests if rest is not None} - known
                known |= fresh
                todo.extend(fresh)
        return frozenset(found)

    def _seen(self, way: Transition[Any]) -> set[Seen]:
        return {self._by_port(outputs) for outputs in product_of(way.outputs, self.subject.invent)}

    def _by_port(self, outputs: Iterable[tuple[str, object]]) -> Seen:
        ports: dict[str, list[object]] = {}
        for port, output in outputs:
            ports.setdefault(port or self.subject.port(output), []).append(output)
        return tuple((port, tuple(ports[port])) for port in sorted(ports))


def _without(left: Seen, outputs: Seen) -> Seen | None:
    """Return the outputs left on each port after these outputs; None if other outputs came first."""
    ports = dict(left)
    for port, said in outputs:
        if ports.get(port, ())[: len(said)] != said:
            return None
        ports[port] = ports[port][len(said) :]
    return tuple((port, rest) for port, rest in ports.items() if rest)


def product_of(items: Iterable[object], invent: Callable[[Any], Any] | None) -> Iterator[list[tuple[str, object]]]:
    """Yield each sequence of outputs, with their ports, that items allow."""
    for chosen in product(*(list(_sequences(item, "", invent)) for item in items)):
        yield [output for outputs in chosen for output in outputs]


def _sequences(item: object, port: str, invent: Callable[[Any], Any] | None) -> Iterator[list[tuple[str, object]]]:
    match item:
        case AnyOrder(items):
            for order in permutations(items):
                yield from product_of(order, invent)
        case OneOf(items):
            for each in items:
                yield from _sequences(each, port, invent)
        case On(name, inner):
            yield from _sequences(inner, name, invent)
        case _:
            yield [(port, invent(item) if invent is not None and vague(item) else item)]


FIELDS: Final[tuple[tuple[str, tuple[MutationKind, ...]], ...]] = (
    ("conference", UNTIMED),
    ("vending", UNTIMED),
    ("absolute", UNTIMED),
    ("altbit", UNTIMED),
    ("altbit, lossy", ("output", "transfer", "surplus")),
    ("random, deterministic", UNTIMED),
    ("random, open", UNTIMED),
    ("random, restless", UNTIMED),
    ("altbit, timed", TIMED),
    ("random, clocked", TIMED),
)
"""The subjects, and the kinds of faults seeded in them. A lossy net may lose any output, so none is missing."""
