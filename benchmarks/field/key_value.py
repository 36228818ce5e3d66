"""A key with a value, as clients of Maelstrom's workload `lin-kv` may see it, and what the network does meanwhile.

An operation takes effect once, at some moment between its call and its answer. A client that calls again waits no
longer for what it called before: that may take effect at any later moment, or never. Each client calls the node of its
number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, NamedTuple, TypeAlias

from otf.spec import Accept, Spec, Transition, goto

VALUES: Final = (1, 2, 3)
DOUBTFUL: Final = 4  # operations that were given up and may still take effect; each doubles what is possible
NOTHING: Final = None  # the value of a key that was never written


@dataclass(frozen=True, slots=True)
class Read:
    """A client reads the key."""

    client: int


@dataclass(frozen=True, slots=True)
class Write:
    """A client writes the key."""

    client: int
    value: int


@dataclass(frozen=True, slots=True)
class Cas:
    """A client sets the key to a value if it has another one."""

    client: int
    old: int
    new: int


@dataclass(frozen=True, slots=True)
class Pass:
    """Time passes."""

    milliseconds: int


@dataclass(frozen=True, slots=True)
class Cut:
    """These nodes and the others do not reach each other from now on; none: all reach all."""

    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Weather:
    """From now on a message between nodes takes so many milliseconds, from and to, and is lost with this chance."""

    fast: int
    slow: int
    loss: float


@dataclass(frozen=True, slots=True)
class Answer:
    """A client hears: the value that it read, "ok", "differs", "no value"; or "failed", for what took no effect."""

    client: int
    says: int | str


@dataclass(frozen=True, slots=True)
class Heard:
    """What clients heard while time passed, in this order."""

    answers: tuple[Answer, ...]


Call: TypeAlias = Read | Write | Cas
Input: TypeAlias = Call | Pass | Cut | Weather


class Open(NamedTuple):
    """A call that has not changed the value, and its answers if it never does: one by each value since then."""

    call: Call
    answers: frozenset[Answer]


class State(NamedTuple):
    """The value; of each client the call that is open, or the answer under way to it; and what was given up.

    What was given up may still take effect.
    """

    value: int | None = NOTHING
    called: tuple[Open | Answer | None, ...] = ()
    doubtful: tuple[Write | Cas, ...] = ()


def effect(value: int | None, call: Call) -> tuple[int | None, Answer]:
    """Return the value after an operation, and its answer."""
    match call:
        case Write(client, new):
            return new, Answer(client, "ok")
        case Cas(client, old, new) if value == old:
            return new, Answer(client, "ok")
        case Cas(client) if value is not NOTHING:
            return value, Answer(client, "differs")
        case _:
            return value, Answer(call.client, "no value" if value is NOTHING else value)


def step(state: State, inp: Input) -> Iterator[Transition[State] | Accept]:
    """Yield what follows an input; only while time passes, clients hear answers."""
    if isinstance(inp, Read | Write | Cas):
        yield goto(_called(_given_up(state, inp.client), inp.client, _seen(Open(inp, frozenset()), state.value)))
    elif isinstance(inp, Pass):
        yield Accept(lambda seen: heard(state, seen[0]), says="answers that are linearizable")
    else:
        yield goto(state)


def heard(state: State, output: Heard) -> Iterable[State]:
    """Return the states that explain these answers, in their order; none if they are not linearizable."""
    states = {state: None}  # no set: its order, and by that the inputs chosen next, would differ from run to run
    for answer in output.answers:
        states = {then: None for each in states for then in answered(each, answer)}
    return states


def answered(state: State, answer: Answer) -> Iterator[State]:
    """Yield the states that explain an answer: effects are made as late as can be, just before the answer."""
    todo, known = [state], {state}
    while todo:
        now = todo.pop()
        called = now.called[answer.client]
        explained = called == answer or (isinstance(called, Open) and (answer in called.answers or _is_failed(answer)))
        if explained:
            yield _called(now, answer.client, None)
        # an effect before the answer matters if the operation may still have its own after that
        if isinstance(called, Open) and not (explained and (isinstance(called.call, Read) or _is_failed(answer))):
            more = [each for each in dict.fromkeys(effects(now)) if each not in known]
            known.update(more)
            todo += more


def _is_failed(answer: Answer) -> bool:
    return answer.says == "failed"


def effects(state: State) -> Iterator[State]:
    """Yield the states after one effect that changes the value, of what is called or was given up."""
    for client, called in enumerate(state.called):
        if isinstance(called, Open) and not isinstance(called.call, Read):
            value, answer = effect(state.value, called.call)
            if value != state.value:
                yield _changed(_called(state, client, answer), value)
    for at, call in enumerate(state.doubtful):
        value, _ = effect(state.value, call)
        if value != state.value:  # else it is as good as never
            yield _changed(state, value)._replace(doubtful=state.doubtful[:at] + state.doubtful[at + 1 :])


def _given_up(state: State, client: int) -> State:
    """Return the state once a client waits no longer for what it called."""
    match state.called[client]:
        case Open(Write() | Cas() as call):
            return state._replace(doubtful=tuple(sorted((*state.doubtful, call), key=repr)))
        case _:
            return state


def _changed(state: State, value: int | None) -> State:
    return state._replace(value=value, called=tuple(_seen(each, value) for each in state.called))


def _seen(called: Any, value: int | None) -> Any:
    """Return what is open at a client, once the value was this: if that leaves it, so is the answer possible."""
    if not isinstance(called, Open):
        return called
    after, answer = effect(value, called.call)
    return called._replace(answers=called.answers | {answer}) if after == value else called


def _called(state: State, client: int, called: Open | Answer | None) -> State:
    return state._replace(called=(*state.called[:client], called, *state.called[client + 1 :]))


def key_value(clients: int) -> Spec[Any, Any]:
    """Return the model of one key, with a client for each node."""
    some = range(clients)
    calls: list[list[Input]] = [
        [Read(each), *(Write(each, value) for value in VALUES), *(Cas(each, old, old % 3 + 1) for old in VALUES)]
        for each in some
    ]
    cuts = [Cut(few) for count in range(clients // 2 + 1) for few in combinations(some, count)]
    around: list[Input] = [
        Pass(200),
        Pass(1000),
        Pass(4000),
        *cuts,
        Weather(10, 100, 0),
        Weather(10, 1500, 0),
        Weather(10, 100, 0.2),
    ]

    def inputs(state: State) -> Iterable[Input]:
        for client, call in enumerate(state.called):
            if call is None or len(state.doubtful) < DOUBTFUL:
                yield from calls[client]
        yield from around

    return Spec(step, State(called=(None,) * clients), inputs, name="key_value")
