"""A key-value store in this process, as a model and with twenty faults: 250 inputs, ids that never recur, timers.

Every value that is stored gets a new id, which counts up; so no state of the model comes again after a value was
stored. `wait` lets the store's time pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeAlias

from otf.adapter import Bench
from otf.spec import Spec, Transition, goto

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


def _step(state: StoreState, inp: StoreInput) -> Iterator[Transition[StoreState]]:
    yield goto(*reply(state, inp))


@dataclass(slots=True)
class Store:
    """A store that replies as a correct one, but for its fault."""

    faulty: Callable[[Store, StoreInput, StoreReply], bool]
    state: StoreState = field(default_factory=StoreState)
    before: StoreState = field(default_factory=StoreState)
    notes: dict[str, int] = field(default_factory=dict[str, int])

    def __call__(self, inp: StoreInput) -> list[StoreReply]:
        """Return the replies to a request."""
        self.before = self.state
        self.state, answer = reply(self.state, inp)
        return [replace(answer, word="wrong")] if self.faulty(self, inp, answer) else [answer]

    def note(self, name: str, *, when: bool, unless: bool = False) -> int:
        """Count under a name, from zero after `unless`; return the count."""
        self.notes[name] = 0 if unless else self.notes.get(name, 0) + when
        return self.notes[name]


@dataclass(frozen=True)
class StoreFault:
    """A fault: what shows it (returns whether the reply is wrong), the fewest inputs that do, and a line of text."""

    shows: Callable[[Store, StoreInput, StoreReply], bool]
    optimum: int
    text: str


def _same_key(store: Store, inp: StoreInput, op: str, need: int, then: str, *, resets: tuple[str, ...] = ()) -> bool:
    """Return whether `then` comes after so many successful `op` of its key, without one of `resets` in between."""
    did = inp.op == op and store.before.entry(inp.key) is not None
    if inp.key:
        store.note(f"{op} {inp.key}", when=did, unless=inp.op in resets)
    return inp.op == then and store.notes.get(f"{op} {inp.key}", 0) >= need


def _appended(store: Store, inp: StoreInput, answer: StoreReply) -> bool:
    known = _same_key(store, inp, "append", 2, "get", resets=("put", "delete", "swap", "write"))
    return known and answer.word == "value"


def _count(store: Store, _inp: StoreInput, answer: StoreReply) -> bool:
    return answer.word == "stored" and store.note("stored", when=True) > 200  # noqa: PLR2004 -- the fault


def _stale(_store: Store, inp: StoreInput, answer: StoreReply) -> bool:
    return inp.op == "swap" and answer.word == "changed"


def _fresh(op: str, need: int) -> Callable[[Store, StoreInput, StoreReply], bool]:
    """Return the fault that shows at the n-th success of an operation."""

    def shows(store: Store, inp: StoreInput, answer: StoreReply) -> bool:
        return inp.op == op and answer.word != "missing" and store.note(op, when=True) >= need

    return shows


def _expired(_store: Store, inp: StoreInput, answer: StoreReply) -> bool:
    return inp.op == "wait" and answer.value == 2  # noqa: PLR2004 -- the fault


def _renewed(store: Store, inp: StoreInput, answer: StoreReply) -> bool:
    """An entry that was to expire is appended to, and expires."""
    entry = store.before.entry(inp.key) if inp.key else None
    store.note(f"renewed {inp.key}", when=inp.op == "append" and entry is not None and entry.expires > 0)
    return inp.op == "wait" and answer.value != 0 and any(store.notes.get(f"renewed {key}") for key in KEYS)


def _older(store: Store, inp: StoreInput, _answer: StoreReply) -> bool:
    return inp.op == "write" and len(store.before.sessions) == SESSIONS and inp.unique == store.before.sessions[0]


def _survivor(store: Store, inp: StoreInput, answer: StoreReply) -> bool:
    return inp.op == "write" and answer.word == "stored" and inp.unique > 1 and len(store.before.sessions) == 1


def _full(store: Store, inp: StoreInput, _answer: StoreReply) -> bool:
    return inp.op == "get" and len(store.state.entries) == len(KEYS)


def _long(_store: Store, inp: StoreInput, answer: StoreReply) -> bool:
    return inp.op == "get" and len(str(answer.value)) >= 5  # noqa: PLR2004 -- the fault


def _carried(store: Store, inp: StoreInput, answer: StoreReply) -> bool:
    entry = store.before.entry(inp.key)
    return inp.op == "add" and entry is not None and len(str(answer.value)) > len(entry.text)


def _again(store: Store, inp: StoreInput, answer: StoreReply) -> bool:
    """A key that was deleted twice with a value is put and read."""
    gone = inp.op == "delete" and answer.word == "deleted"
    if inp.key:
        store.note(f"gone {inp.key}", when=gone)
    return inp.op == "get" and answer.word == "value" and store.notes.get(f"gone {inp.key}", 0) > 1


def _equal(store: Store, inp: StoreInput, answer: StoreReply) -> bool:
    texts = [entry.text for _, entry in store.state.entries]
    return inp.op == "get" and answer.word == "value" and texts.count(str(answer.value)) > 2  # noqa: PLR2004 -- the fault


def _ordered(store: Store, inp: StoreInput, answer: StoreReply) -> bool:
    """Put b, then put a, then delete b, then get a: in that order, whatever lies between."""
    order = (("put", "b"), ("put", "a"), ("delete", "b"), ("get", "a"))
    at = store.notes.get("order", 0)
    store.notes["order"] = at = at + ((inp.op, inp.key) == order[at] and answer.word != "missing")
    done = at == len(order)
    store.notes["order"] = 0 if done else at
    return done


def _swapped(store: Store, inp: StoreInput, answer: StoreReply) -> bool:
    if inp.op == "swap":
        store.note(f"swapped {inp.key}", when=answer.word == "stored")
    return inp.op == "delete" and answer.word == "deleted" and store.notes.get(f"swapped {inp.key}", 0) > 1


def _sixes(store: Store, inp: StoreInput, _answer: StoreReply) -> bool:
    entry, six = store.before.entry(inp.key), 6
    return inp.op == "append" and inp.number == six and entry is not None and entry.text.endswith(str(six))


def _waited(store: Store, inp: StoreInput, answer: StoreReply) -> bool:
    return inp.op == "get" and answer.word == "value" and store.state.now > 30  # noqa: PLR2004 -- the fault


def _three(store: Store, inp: StoreInput, _answer: StoreReply) -> bool:
    """Three keys with a time to live at once, and one of these is read."""
    timed = [name for name, entry in store.state.entries if entry.expires]
    return inp.op == "get" and inp.key in timed and len(timed) > 2  # noqa: PLR2004 -- the fault


FAULTS: Final[Mapping[str, StoreFault]] = {
    "appended": StoreFault(_appended, 4, "a value that was appended to twice is read wrongly"),
    "count": StoreFault(_count, 201, "from the 201st stored value on, the reply is wrong"),
    "stale": StoreFault(_stale, 2, "a swap with an old id"),
    "opened": StoreFault(_fresh("open", 5), 5, "the fifth session"),
    "expiries": StoreFault(_expired, 5, "two values that expire in one wait"),
    "renewed": StoreFault(_renewed, 4, "a value with a time to live that was appended to, when it expires"),
    "older": StoreFault(_older, 3, "a write in the older of two sessions"),
    "survivor": StoreFault(_survivor, 4, "a write in a later session when the other is closed"),
    "full": StoreFault(_full, 6, "a read with all five keys in use"),
    "long": StoreFault(_long, 5, "a read of a value with five digits"),
    "carried": StoreFault(_carried, 2, "an addition that makes a number longer"),
    "again": StoreFault(_again, 6, "a read of a key that was deleted twice"),
    "equal": StoreFault(_equal, 4, "a read of a value that three keys have"),
    "ordered": StoreFault(_ordered, 4, "put b, put a, delete b, get a"),
    "swapped": StoreFault(_swapped, 4, "a delete of a key that was swapped twice"),
    "additions": StoreFault(_fresh("add", 12), 13, "the twelfth addition"),
    "sixes": StoreFault(_sixes, 3, "6 appended to 6"),
    "waited": StoreFault(_waited, 9, "a read after more than 30 seconds"),
    "three": StoreFault(_three, 7, "a read with three keys that expire"),
    "deletes": StoreFault(_fresh("delete", 8), 16, "the eighth delete of a value"),
}


def bench(*, fault: str = "") -> Bench:
    """Return the bench of the store, with a fault from `FAULTS`."""

    def make() -> Callable[[StoreInput], list[StoreReply]]:
        return Store(FAULTS[fault].shows if fault else lambda _store, _inp, _answer: False)

    spec = Spec(_step, StoreState(), partial(inputs), name="store")
    mutants = {name: each.text for name, each in FAULTS.items()}
    return Bench(spec, system=make, types=(StoreReply,), name="store", mutants=mutants)
