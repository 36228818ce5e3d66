"""Outputs as they are observed: two transitions whose outputs are written differently may look the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from otf.explore.naming import output_name
from otf.spec import AnyOrder


def observed(outputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return outputs in one way of writing: bags in one order, a bag of one as that one, empty bags as nothing.

    >>> observed((AnyOrder("b", "a"), AnyOrder("c"), AnyOrder()))
    (AnyOrder(items=('a', 'b')), 'c')
    """
    return tuple(_flat(outputs))


def _flat(outputs: tuple[Any, ...]) -> Iterator[Any]:
    for item in outputs:
        if not isinstance(item, AnyOrder):
            yield item
        elif len(item.items) == 1:
            yield from _flat(item.items)
        elif item.items:
            yield AnyOrder(*sorted(item.items, key=lambda each: repr(output_name(each))))
