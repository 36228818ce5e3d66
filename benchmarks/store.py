"""A key-value store in this process, and its model: some 230 inputs, ids that never recur, values that expire.

Every value that is stored gets a new id, which counts up; so no state of the model comes again after a value was
stored. `wait` lets the store's time pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from otf.spec import Transition, goto

KEYS: Final = ("a", "b", "c", "d", "e")
VALUES: Final = tuple(range(30))
TAILS: Final = (1, 2, 3, 4, 5, 6)
AMOUNTS: Final = (1, 2, 5, 10)
TIMES: Final = (1, 2, 5)
SESSIONS: Final = 2  # open at a time
LONGEST: Final = 20  # digits of a value that can still be appended to
TARGETS: Final = ("a", "b", "c")


@dataclass(frozen=True, slots=True)
class StoreInput:
    """A request: its operation, the key (or session) and numbers."""

    op: str
    key: str = ""
    number: int = 0
    unique: int = 0


@dataclass(frozen=True, slots=True)
class StoreReply:
    """A reply: a word, and what it is about."""

    word: str
    value: int | str = ""
    unique: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """A value under a key: its text, its id, and when it expires (0: never)."""

    text: str
    unique: int
    expires: int = 0


@dataclass(frozen=True, slots=True)
class StoreState:
    """The entries, sessions that are open, the id given last, the session opened last, and the time."""

    entries: tuple[tuple[str, Entry], ...] = ()
    sessions: tuple[int, ...] = ()
    unique: int = 0
    opened: int = 0
    now: int = 0

    def entry(self, key: str) -> Entry | None:
        """Return the entry under a key, None if there is none."""
        return next((entry for name, entry in self.entries if name == key), None)

    def storing(self, key: str, text: str, expires: int = 0) -> StoreState:
        """Return the state with a value stored under a key, with the next id."""
        entries = {**dict(self.entries), key: Entry(text, self.unique + 1, expires)}
        return replace(self, entries=tuple(sorted(entries.items())), unique=self.unique + 1)

    def without(self, key: str) -> StoreState:
        """Return the state without the entry under a key."""
        return replace(self, entries=tuple(pair for pair in self.entries if pair[0] != key))


Replied: TypeAlias = tuple[StoreState, StoreReply]


def inputs(state: StoreState) -> Iterator[StoreInput]:
    """Yield the inputs of a state: about 250, those of ids and sessions depend on it."""
    for key in KEYS:
        entry = state.entry(key)
        yield from (StoreInput("put", key, value) for value in VALUES)
        if entry is None or len(entry.text) < LONGEST:
            yield from (StoreInput("append", key, tail) for tail in TAILS)
        yield from (StoreInput(op, key) for op in ("get", "delete"))
        yield from (StoreInput("add", key, amount) for amount in AMOUNTS)
        yield from (StoreInput("expire", key, seconds) for seconds in TIMES)
        # the id of the entry, and the one before
        yield from (StoreInput("swap", key, 7, unique) for unique in _ids(entry))
    yield from (StoreInput("wait", number=seconds) for seconds in TIMES)
    if len(state.sessions) < SESSIONS:
        yield StoreInput("open")
    for session in state.sessions:
        yield StoreInput("close", unique=session)
        yield from (StoreInput("write", key, 3, session) for key in TARGETS)


def _ids(entry: Entry | None) -> Iterator[int]:
    if entry is not None:
        yield entry.unique
        yield entry.unique - 1


def reply(state: StoreState, inp: StoreInput) -> Replied:
    """Return what a correct store does."""
    return _OPERATIONS[inp.op](state, inp)


def _put(state: StoreState, inp: StoreInput) -> Replied:
    then = state.storing(inp.key, str(inp.number))
    return then, StoreReply("stored", unique=then.unique)


def _append(state: StoreState, inp: StoreInput) -> Replied:
    entry = state.entry(inp.key)
    if entry is None:
        return state, StoreReply("missing")
    then = state.storing(inp.key, f"{entry.text}{inp.number}", entry.expires)
    return then, StoreReply("stored", unique=then.unique)


def _add(state: StoreState, inp: StoreInput) -> Replied:
    entry = state.entry(inp.key)
    if entry is None:
        return state, StoreReply("missing")
    total = int(entry.text) + inp.number
    return state.storing(inp.key, str(total), entry.expires), StoreReply("number", total)


def _get(state: StoreState, inp: StoreInput) -> Replied:
    entry = state.entry(inp.key)
    return state, StoreReply("missing") if entry is None else StoreReply("value", entry.text, entry.unique)


def _delete(state: StoreState, inp: StoreInput) -> Replied:
    known = state.entry(inp.key) is not None
    return state.without(inp.key), StoreReply("deleted" if known else "missing")


def _expire(state: StoreState, inp: StoreInput) -> Replied:
    entry = state.entry(inp.key)
    if entry is None:
        return state, StoreReply("missing")
    entries = {**dict(state.entries), inp.key: replace(entry, expires=state.now + inp.number)}
    return replace(state, entries=tuple(sorted(entries.items()))), StoreReply("done")


def _wait(state: StoreState, inp: StoreInput) -> Replied:
    now = state.now + inp.number
    left = tuple(pair for pair in state.entries if not 0 < pair[1].expires <= now)
    return replace(state, now=now, entries=left), StoreReply("expired", len(state.entries) - len(left))


def _swap(state: StoreState, inp: StoreInput) -> Replied:
    entry = state.entry(inp.key)
    if entry is None:
        return state, StoreReply("missing")
    if entry.unique != inp.unique:
        return state, StoreReply("changed")
    then = state.storing(inp.key, str(inp.number))
    return then, StoreReply("stored", unique=then.unique)


def _open(state: StoreState, _inp: StoreInput) -> Replied:
    number = state.opened + 1
    return replace(state, sessions=(*state.sessions, number), opened=number), StoreReply("opened", unique=number)


def _close(state: StoreState, inp: StoreInput) -> Replied:
    left = tuple(session for session in state.sessions if session != inp.unique)
    return replace(state, sessions=left), StoreReply("closed" if left != state.sessions else "missing")


def _write(state: StoreState, inp: StoreInput) -> Replied:
    if inp.unique not in state.sessions:
        return state, StoreReply("missing")
    return _put(state, inp)


_OPERATIONS: Final[Mapping[str, Callable[[StoreState, StoreInput], Replied]]] = {
    "put": _put,
    "append": _append,
    "add": _add,
    "get": _get,
    "delete": _delete,
    "expire": _expire,
    "wait": _wait,
    "swap": _swap,
    "open": _open,
    "close": _close,
    "write": _write,
}


def step(state: StoreState, inp: StoreInput) -> Iterator[Transition[StoreState]]:
    """Yield the one transition on a request."""
    yield goto(*reply(state, inp))


@dataclass(slots=True)
class Store:
    """A store that replies as a correct one, except where `wrong` says."""

    wrong: Callable[[Store, StoreInput, StoreReply], bool]
    state: StoreState = field(default_factory=StoreState)
    before: StoreState = field(default_factory=StoreState)
    notes: dict[str, int] = field(default_factory=dict[str, int])

    def __call__(self, inp: StoreInput) -> list[StoreReply]:
        """Return the replies to a request."""
        self.before = self.state
        self.state, answer = reply(self.state, inp)
        return [replace(answer, word="wrong")] if self.wrong(self, inp, answer) else [answer]

    def note(self, name: str, *, when: bool, unless: bool = False) -> int:
        """Count under a name, from zero after `unless`; return the count."""
        self.notes[name] = 0 if unless else self.notes.get(name, 0) + when
        return self.notes[name]
