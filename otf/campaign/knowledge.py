"""What paths learn for those after them, as data: visits, silences that were seen, timers that were waited for.

It goes into the journal with each path, so that a campaign that was killed continues as if it had not been. A state or
an input is named by a digest of its key, which is the same in each process; values themselves are never written.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Final, TypeVar

import msgspec

from otf.core import Node, Symbol
from otf.spec import Elapse
from otf.strategy import VisitCounts
from otf.values import key

Key = TypeVar("Key", bound=Hashable)
DIGITS: Final = 12
"""Hexadecimal digits of a digest. Of 50,000 states two have the same with a probability below 10⁻⁵; they then share
their counts, which no verdict depends on."""
NAMED: Final = 100_000  # digests that are remembered


class Knowledge(msgspec.Struct, omit_defaults=True):
    """What one path, or all paths of a lane, learned; states, inputs and silences are digests.

    `visits` counts choices by `STATE INPUT`, `actions` by the kind of input; `quiet` are the transitions after which
    silence was seen, `timers` counts the visits to states with timers; `waits` are the inputs that only wait, in
    seconds.

    >>> first, second = Knowledge({"a b": 1}, quiet=["c"]), Knowledge({"a b": 2, "a d": 1})
    >>> first.add(second)
    >>> first.visits, first.quiet
    ({'a b': 3, 'a d': 1}, ['c'])
    """

    visits: dict[str, int] = {}
    actions: dict[str, int] = {}
    quiet: list[str] = []
    timers: dict[str, int] = {}
    waits: list[float] = []

    def add(self, later: Knowledge) -> None:
        """Add what a later path learned."""
        for ours, theirs in (
            (self.visits, later.visits),
            (self.actions, later.actions),
            (self.timers, later.timers),
        ):
            for name, times in theirs.items():
                ours[name] = ours.get(name, 0) + times
        self.quiet += later.quiet
        self.waits += later.waits

    def by_state(self) -> dict[str, dict[str, int]]:
        """Return the visits of each state: how often each input was chosen there."""
        found: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for name, times in self.visits.items():
            state, _, inp = name.partition(" ")
            found[state][inp] = times
        return found


def digest(name: Hashable) -> str:
    """Return the digest of a key of `otf.values.key`, or of a state or input: the same in each process.

    >>> digest(("a", 1)) == digest(("a", 1)), digest(frozenset("ab")) == digest(frozenset("ba"))
    (True, True)
    """
    return hashlib.blake2b(_text(name).encode("utf-8", "surrogatepass"), digest_size=DIGITS // 2).hexdigest()


def _text(key: Any) -> str:  # noqa: ANN401 -- anything with a hash
    if isinstance(key, Symbol):
        return _text(key.key)
    if isinstance(key, type):
        return f"{key.__module__}.{key.__qualname__}"
    if isinstance(key, tuple):
        return f"({','.join(map(_text, key))})"  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if isinstance(key, frozenset):
        return f"{{{','.join(sorted(map(_text, key)))}}}"  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return repr(key)


class _Recalled(defaultdict[Key, int]):
    """Counts by key; those of an earlier process are looked up by digest when their key comes."""

    def __init__(self, before: Mapping[str, int]) -> None:
        super().__init__(int)
        self._before = before

    def __missing__(self, key: Key) -> int:
        times = self[key] = self._before.get(digest(key), 0)
        return times

    def get(self, key: Key, default: Any = None) -> Any:  # noqa: ANN401 -- as a dict has it
        if key in self:
            return self[key]
        return self._before.get(digest(key), default) if self._before else default

    def copy(self) -> Any:  # noqa: ANN401 -- what is copied needs no digests
        return dict(self)


class _RecalledTables(defaultdict[Node, defaultdict[Symbol, int]]):
    """The same for the tables of states."""

    def __init__(self, before: Mapping[str, Mapping[str, int]]) -> None:
        super().__init__()
        self._before = before

    def __missing__(self, key: Node) -> defaultdict[Symbol, int]:
        table = self[key] = _Recalled(self._before.get(digest(key), {}))
        return table

    def copy(self) -> Any:  # noqa: ANN401 -- as above
        return dict(self)


class _Waited(_Recalled[tuple[Node, ...]]):
    """Visits to states with timers, those of this path alone in `log`."""

    log: list[tuple[Node, ...]]

    def __setitem__(self, key: tuple[Node, ...], times: int) -> None:
        super().__setitem__(key, times)
        self.log.append(key)


class _Quiet(set[Hashable]):
    """Silences that were seen, also those of an earlier process."""

    def __init__(self, before: Iterable[str]) -> None:
        super().__init__()
        self._before = frozenset(before)

    def __contains__(self, key: object) -> bool:
        if super().__contains__(key):
            return True
        if not self._before or digest(key) not in self._before:
            return False
        self.add(key)
        return True


class Learning:
    """The memory of one lane: it begins with what an earlier process knew, and says what each path adds.

    >>> learning = Learning(Knowledge())
    >>> learning.proven.add("a")
    >>> learning.path().quiet == [digest("a")], learning.path()
    (True, Knowledge(visits={}, actions={}, quiet=[], timers={}, waits=[]))
    """

    def __init__(self, before: Knowledge) -> None:
        self.visits: VisitCounts = _visits(before)
        self.proven: set[Hashable] = _Quiet(before.quiet) if before.quiet else set()
        self.waited: dict[tuple[Node, ...], int] = _Waited(before.timers)
        self._log: list[tuple[Node, Symbol]] = []
        self._waits: list[tuple[Node, ...]] = []
        # an input that only waits is its own name
        self.visits.waits.update((Symbol(wait, key(wait)), None) for wait in map(Elapse, before.waits))
        self.visits.log, self.waited.log = self._log, self._waits
        self._actions = dict(before.actions)
        self._said = set[Hashable]()
        self._waits_said = len(self.visits.waits)

    def path(self) -> Knowledge:
        """Return what was learned since the last call."""
        visits, timers = Counter(self._log), Counter(self._waits)
        self._log.clear()
        self._waits.clear()
        used, self._actions = self._actions, dict(self.visits.actions)
        return Knowledge(
            {f"{named(node.key)} {named(inp.key)}": times for (node, inp), times in visits.items()},
            {what: times - used.get(what, 0) for what, times in self._actions.items() if times > used.get(what, 0)},
            self._quiet(),
            {digest(nodes): times for nodes, times in timers.items()},
            self._new_waits(),
        )

    def _new_waits(self) -> list[float]:
        said, self._waits_said = self._waits_said, len(self.visits.waits)
        return [wait.value.seconds for wait in [*self.visits.waits][said:] if isinstance(wait.value, Elapse)]

    def _quiet(self) -> list[str]:
        if len(self.proven) == len(self._said):
            return []
        new = self.proven - self._said
        self._said |= new
        return [digest(key) for key in new]


def _visits(before: Knowledge) -> VisitCounts:
    if not before.visits:
        return VisitCounts()
    inputs = before.by_state()
    states = {state: sum(times.values()) for state, times in inputs.items()}
    return VisitCounts(_Recalled(states), _RecalledTables(inputs), defaultdict(int, before.actions))


_DIGESTS: Final[dict[Hashable, str]] = {}


def named(key: Hashable) -> str:
    """Return the digest of the key of a state or input; most come again."""
    known = _DIGESTS.get(key)
    if known is None:
        if len(_DIGESTS) >= NAMED:
            _DIGESTS.clear()
        known = _DIGESTS[key] = digest(key)
    return known
