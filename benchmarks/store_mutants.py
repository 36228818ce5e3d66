"""Twenty mutants of the key-value store, each with the fewest inputs that show it, known by construction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from benchmarks.store import KEYS, SESSIONS, Store, StoreInput, StoreReply, StoreState, inputs, step
from otf.adapter import Bench
from otf.spec import Spec


@dataclass(frozen=True)
class StoreMutant:
    """A mutant: what shows it (returns whether the reply is wrong), the fewest inputs that do, and a line of text."""

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
    return answer.word == "stored" and store.note("stored", when=True) > 200  # noqa: PLR2004 -- of the mutant


def _stale(_store: Store, inp: StoreInput, answer: StoreReply) -> bool:
    return inp.op == "swap" and answer.word == "changed"


def _fresh(op: str, need: int) -> Callable[[Store, StoreInput, StoreReply], bool]:
    """Return the mutant that shows at the n-th success of an operation."""

    def shows(store: Store, inp: StoreInput, answer: StoreReply) -> bool:
        return inp.op == op and answer.word != "missing" and store.note(op, when=True) >= need

    return shows


def _expired(_store: Store, inp: StoreInput, answer: StoreReply) -> bool:
    return inp.op == "wait" and answer.value == 2  # noqa: PLR2004 -- of the mutant


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
    return inp.op == "get" and len(str(answer.value)) >= 5  # noqa: PLR2004 -- of the mutant


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
    return inp.op == "get" and answer.word == "value" and texts.count(str(answer.value)) > 2  # noqa: PLR2004 -- of the mutant


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
    return inp.op == "get" and answer.word == "value" and store.state.now > 30  # noqa: PLR2004 -- of the mutant


def _three(store: Store, inp: StoreInput, _answer: StoreReply) -> bool:
    """Three keys with a time to live at once, and one of these is read."""
    timed = [name for name, entry in store.state.entries if entry.expires]
    return inp.op == "get" and inp.key in timed and len(timed) > 2  # noqa: PLR2004 -- of the mutant


MUTANTS: Final[Mapping[str, StoreMutant]] = {
    "appended": StoreMutant(_appended, 4, "a value that was appended to twice is read wrongly"),
    "count": StoreMutant(_count, 201, "from the 201st stored value on, the reply is wrong"),
    "stale": StoreMutant(_stale, 2, "a swap with an old id"),
    "opened": StoreMutant(_fresh("open", 5), 5, "the fifth session"),
    "expiries": StoreMutant(_expired, 5, "two values that expire in one wait"),
    "renewed": StoreMutant(_renewed, 4, "a value with a time to live that was appended to, when it expires"),
    "older": StoreMutant(_older, 3, "a write in the older of two sessions"),
    "survivor": StoreMutant(_survivor, 4, "a write in a later session when the other is closed"),
    "full": StoreMutant(_full, 6, "a read with all five keys in use"),
    "long": StoreMutant(_long, 5, "a read of a value with five digits"),
    "carried": StoreMutant(_carried, 2, "an addition that makes a number longer"),
    "again": StoreMutant(_again, 6, "a read of a key that was deleted twice"),
    "equal": StoreMutant(_equal, 4, "a read of a value that three keys have"),
    "ordered": StoreMutant(_ordered, 4, "put b, put a, delete b, get a"),
    "swapped": StoreMutant(_swapped, 4, "a delete of a key that was swapped twice"),
    "additions": StoreMutant(_fresh("add", 12), 13, "the twelfth addition"),
    "sixes": StoreMutant(_sixes, 3, "6 appended to 6"),
    "waited": StoreMutant(_waited, 9, "a read after more than 30 seconds"),
    "three": StoreMutant(_three, 7, "a read with three keys that expire"),
    "deletes": StoreMutant(_fresh("delete", 8), 16, "the eighth delete of a value"),
}


def bench(*, fault: str = "") -> Bench:
    """Return the bench of the store, or of the mutant of that name."""

    def make() -> Callable[[StoreInput], list[StoreReply]]:
        return Store(MUTANTS[fault].shows if fault else lambda _store, _inp, _answer: False)

    spec = Spec(step, StoreState(), partial(inputs), name="store")
    mutants = {name: each.text for name, each in MUTANTS.items()}
    return Bench.in_process(spec, make, types=(StoreReply,), name="store", mutants=mutants)
