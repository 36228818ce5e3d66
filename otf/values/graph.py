"""What is true of tiers with all that they are made of.

A type may hold itself, and a dozen classes each other: a part is looked at once, and not once for each way to it.
"""

from __future__ import annotations

from collections.abc import Callable

from otf.values.tiers import Tiers


def everything(tiers: Tiers) -> list[Tiers]:
    """Return tiers and all that they are made of, each once."""
    found: dict[int, Tiers] = {}
    left = [tiers]
    while left:
        each = left.pop()
        if id(each) not in found:
            found[id(each)] = each
            left += each.parts
    return list(found.values())


def is_fixed(tiers: Tiers) -> bool:
    """Tell whether values cannot change, so that one object may serve many times."""
    return all(each.fixed for each in everything(tiers))


def is_anew(tiers: Tiers) -> bool:
    """Tell whether nobody else can change a value that `make` hands out: it cannot change, or it was made for that."""
    if tiers.passes_on:
        return all(map(is_anew, tiers.parts))
    return all(map(is_fixed, tiers.parts)) and (tiers.fixed or tiers.builds)


def is_complete(tiers: Tiers) -> bool:
    """Tell whether there is no other value when they have ended."""
    return all(each.complete for each in everything(tiers))


def is_finite(tiers: Tiers) -> bool:
    """Tell whether they are known to end; what holds itself does not."""
    ending = _least(tiers, lambda each, known: not each.endless and all(map(known, each.parts)))
    return id(tiers) in ending


def filled(tiers: Tiers) -> set[int]:
    """Return the ids of all parts that have a value: one that can be finished without another of the same type."""
    return _least(tiers, lambda each, known: each.has_value(known))


def _least(tiers: Tiers, rule: Callable[[Tiers, Callable[[Tiers], bool]], bool]) -> set[int]:
    """Return the ids of the parts for which a rule holds that asks about their own parts, if only these are known."""
    found = set[int]()
    before = -1
    parts = list(reversed(everything(tiers)))
    while len(found) > before:
        before = len(found)
        found.update(id(each) for each in parts if rule(each, lambda part: id(part) in found))
    return found
