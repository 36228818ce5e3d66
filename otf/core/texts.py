"""The outputs of a transition as a person reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from inspect import isroutine
from typing import TypeGuard

from otf.core.expectations import Instance, Such
from otf.spec import AnyOrder, On, OneOf, Where
from otf.spec.outputs import Test
from otf.values import show


def texts_of(outputs: Iterable[object]) -> Iterator[str]:
    """Yield the outputs of a transition as a person reads them."""
    for item in outputs:
        match item:
            case AnyOrder(items=()):
                pass
            case AnyOrder():
                yield "in any order: " + ", ".join(texts_of(item.items))
            case OneOf():
                yield " or ".join(texts_of(item.items))
            case On():
                yield f"{', '.join(texts_of((item.item,)))} on {item.port}"
            case Where():
                yield str(Such(item))
            case type():
                yield str(Instance(item))
            case _ if is_test(item):
                yield str(Such(Where(item)))
            case _:
                yield show(item)


def is_test(item: object) -> TypeGuard[Test]:
    """Return whether an item is a test of the model, and no value."""
    # other objects that can be called are values: a dataclass with __call__, for one
    return callable(item) and (isroutine(item) or isinstance(item, partial))
