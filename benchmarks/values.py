"""Values per CPU second: enumerations of otf and of LeanCheck, of the same types in the same run.

`python -m benchmarks.values`: medians of seven rounds, both in turn, each from a fresh enumeration on.
LeanCheck comes with the extra `benchmarks`. Types that it enumerates in another order are left out, and so are
those on which it is quadratic (a tuple with a finite part, sets and dicts).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Annotated, Any, Final

from benchmarks.measure import Contender, command, rates, save, table
from otf.values import Range, every

NUMBER: Final = 300_000
SMALL: Final = Annotated[int, Range(0, 9)]
BOTH: Final[dict[str, Any]] = {
    "tuple[int, int]": tuple[int, int],
    "tuple[int, int, int]": tuple[int, int, int],
    "tuple of 4 ints": tuple[int, int, int, int],
    "tuple of 6 ints": tuple[int, int, int, int, int, int],
    "tuple of tuples": tuple[tuple[int, int], tuple[int, int]],
    "list[int]": list[int],
    "list[tuple[int, int]]": list[tuple[int, int]],
    "str": str,
    "int": int,
}
ALONE: Final[dict[str, Any]] = {
    "tuple of 6 digits": tuple[SMALL, SMALL, SMALL, SMALL, SMALL, SMALL],
    "tuple[bool, int]": tuple[bool, int],
    "int | bool | None": int | bool | None,
    "float": float,
    "set[int]": set[int],
    "dict[int, bool]": dict[int, bool],
}


def taking(make: Callable[[Any], Iterable[Any]], kind: Any) -> Contender:
    """Return a function that takes the first values of a type and keeps none."""

    def take() -> int:
        deque(islice(make(kind), NUMBER), maxlen=0)
        return NUMBER

    return take


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all types, print a table for each and, if asked to, write them as JSON."""
    chosen = command("values", __doc__).parse_args(arguments)
    from leancheck import Enumerator

    found: dict[str, dict[str, float]] = {}
    for name, kind in BOTH.items():
        found[name] = rates({"leancheck": taking(Enumerator, kind), "otf": taking(every, kind)}, runs=7)
        table(name, found[name], "leancheck")
    for name, kind in ALONE.items():
        found[name] = rates({"otf": taking(every, kind)}, runs=7)
        table(name, found[name], "otf")
    save(found, chosen.json)


if __name__ == "__main__":
    main()
