"""What paths learn for later ones, as data: visits, silences seen, timers waited for.

The journal gets it with each path, so that a killed campaign continues as if nothing had happened. Digests of keys, the
same in each process, name states and inputs; the values themselves are never written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from typing import Any, Final, cast

import msgspec

from otf.core import Symbol
from otf.values import as_text

DIGITS: Final = 12
"""Hexadecimal digits of a digest. Two of 50,000 states have the same digest with a probability below 10⁻⁵; they then
share their counts, which no verdict depends on."""
NAMED: Final = 100_000  # digests to remember


class Knowledge(msgspec.Struct, omit_defaults=True):
    """What one path, or all paths of a lane, learned; states, inputs and silences are digests.

    `visits` counts choices by `STATE INPUT`, `actions` by the kind of input. `quiet` holds the transitions followed by
    silence, `timers` counts the visits to states with timers, and `waits` holds the inputs that only wait, in seconds.
    `answers` are paths as `otf.strategy.answers.Answered` takes them. `failing` counts the failures of transitions, as
    `visits` does, and `failures` holds their signatures.

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
    answers: list[str] = []
    failing: dict[str, int] = {}
    failures: list[str] = []

    def add(self, later: Knowledge) -> None:
        """Add what a later path learned."""
        for ours, theirs in (
            (self.visits, later.visits),
            (self.actions, later.actions),
            (self.timers, later.timers),
            (self.failing, later.failing),
        ):
            for name, times in theirs.items():
                ours[name] = ours.get(name, 0) + times
        self.quiet += later.quiet
        self.waits += later.waits
        self.answers += later.answers
        self.failures += later.failures


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
    return as_text(key, repr)


_DIGESTS: Final[dict[Hashable, str]] = {}


def named(key: Hashable) -> str:
    """Return the digest of a state, an input or a tuple of them, or of a key; most recur."""
    if isinstance(key, Symbol):
        key = key.key
    elif isinstance(key, tuple):
        # the cache must not keep alive states that the core forgets
        parts = cast("tuple[Hashable, ...]", key)
        key = tuple(part.key if isinstance(part, Symbol) else part for part in parts)
    known = _DIGESTS.get(key)
    if known is None:
        if len(_DIGESTS) >= NAMED:
            _DIGESTS.clear()
        known = _DIGESTS[key] = digest(key)
    return known
