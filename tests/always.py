"""A function that answers the same whatever it is asked, to stand where a test needs no other."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def always(value: T) -> Callable[..., T]:
    """Return a function that takes anything and returns the value."""

    def answer(*_args: object, **_more: object) -> T:
        return value

    return answer
