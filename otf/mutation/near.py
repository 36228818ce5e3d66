"""What is near an item of a model: texts, numbers and types from which to make outputs that it may accept."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cache, partial
from itertools import chain, combinations, islice, product
from types import CodeType, FunctionType, UnionType
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from otf.errors import USERS_OWN
from otf.spec import Where

Result = TypeVar("Result")
ROWS: Final = 10_000  # instances of one class
FEW: Final = 8  # numbers to try for parts that are counted
WORDS: Final = 60  # texts, and numbers, near one item
DEPTH: Final = 4  # how deep to look into the fields of a state, and the functions behind a test


def attempted(call: Callable[[], Result], otherwise: Result) -> Result:
    """Return the result of a call into the model or its codec; `otherwise` if it raises: it may expect other values."""
    try:
        return call()
    except USERS_OWN:
        raise
    except Exception:  # noqa: BLE001 -- the user's code may raise anything
        return otherwise


@dataclass(frozen=True, slots=True)
class Near:
    """The texts and numbers near an item."""

    texts: tuple[str, ...]
    numbers: tuple[int, ...]
    constants: frozenset[Any]
    kinds: frozenset[type]
    beside: tuple[Any, ...]

    @staticmethod
    def of(state: object, inp: object, functions: Iterable[object], says: str, beside: Iterable[object]) -> Near:
        """Return what is near an item whose tests are `functions`; `beside` holds outputs in the same state."""
        constants = list(chain.from_iterable(_constants(each, DEPTH) for each in functions))
        plain = [*constants, *leaves(inp), *leaves(state)]
        words = re.split(r"[\s,;]+", says)
        said = [*words, *(" ".join(words[at:]) for at in range(len(words)))]
        texts = [each for each in plain if isinstance(each, str)]
        parts = [part for text in texts for part in text.split()]
        numbers = [each for each in plain if isinstance(each, int) and not isinstance(each, bool)]
        return Near(
            tuple(islice(dict.fromkeys([*texts, *said, *parts, "", "x"]), WORDS)),
            tuple(islice(dict.fromkeys([*numbers, 0, 1, 2, 7]), WORDS)),
            frozenset(each for each in constants if isinstance(each, (str, int))),
            frozenset(each for each in constants if isinstance(each, type)),
            tuple(beside),
        )


def leaves(value: object, depth: int = DEPTH) -> Iterator[Any]:
    """Yield the plain values inside a value."""
    if is_dataclass(value) and not isinstance(value, type):
        parts: Iterable[object] = (getattr(value, each.name) for each in fields(value))
    elif isinstance(value, Mapping):
        parts = chain.from_iterable(value.items())  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
    elif isinstance(value, (tuple, list)):
        parts = list(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    elif isinstance(value, (set, frozenset)):
        parts = sorted(value, key=repr)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    else:
        yield value
        return
    if depth:
        for part in parts:
            yield from leaves(part, depth - 1)


def _constants(function: object, depth: int) -> Iterator[Any]:
    """Yield the constants in a function's code, in what it closes over, and in functions that it names."""
    if isinstance(function, Where):
        yield from _constants(function.test, depth)
    elif isinstance(function, partial):
        for argument in function.args:
            yield from _constants(argument, depth) if callable(argument) else leaves(argument)
        yield from _constants(function.func, depth)
    elif isinstance(function, FunctionType) and depth:
        for cell in function.__closure__ or ():
            inside = cell.cell_contents
            yield from _constants(inside, depth - 1) if callable(inside) else leaves(inside)
        yield from _in_code(function.__code__)
        for name in _names(function.__code__):
            named = function.__globals__.get(name)
            if isinstance(named, FunctionType):
                yield from _constants(named, depth - 1)
            elif isinstance(named, type):
                yield named


def _in_code(code: CodeType) -> Iterator[Any]:
    for each in code.co_consts:
        yield from _in_code(each) if isinstance(each, CodeType) else leaves(each)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):  # of a comprehension, or of a function inside
            yield from _names(each)


def values_of(kind: Any, near: Near, depth: int) -> Iterator[Any]:  # noqa: ANN401, C901 -- one case a kind of type
    """Yield values of a type."""
    origin = get_origin(kind)
    if kind is str:
        yield from near.texts
    elif kind is bool:
        yield from (True, False)
    elif kind is int:
        yield from near.numbers
    elif kind is bytes:
        yield from (text.encode() for text in near.texts)
    elif kind is float:
        yield from map(float, near.numbers)
    elif kind is None or kind is type(None):
        yield None
    elif origin is Literal:
        yield from get_args(kind)
    elif origin in {Union, UnionType}:
        for part in get_args(kind):
            yield from values_of(part, near, depth)
    elif origin is tuple:
        yield ()
        yield from ((each,) for each in islice(values_of(get_args(kind)[0], near, depth - 1), WORDS))
    elif isinstance(kind, type) and issubclass(kind, Enum):
        yield from kind
    elif isinstance(kind, type) and is_dataclass(kind) and depth:
        yield from _instances(kind, near, depth)


def _instances(kind: type[Any], near: Near, depth: int) -> Iterator[Any]:
    try:
        hints = _hints(kind)
    except (NameError, TypeError):
        return
    names = [each.name for each in fields(kind) if each.init]
    choices = [list(islice(values_of(hints[name], near, depth - 1), WORDS)) for name in names]
    if not all(choices):
        return
    # all values of one field, then of two fields at a time, beside the first values of the others
    rows = [[found[0] for found in choices]]
    make: Callable[..., Any] = kind
    for size in (1, 2):
        for places in combinations(range(len(names)), size):
            rows += (_with(rows[0], places, chosen) for chosen in product(*(choices[at] for at in places)))
            if len(rows) > ROWS:
                break
    for row in rows[:ROWS]:
        value = attempted(partial(make, **dict(zip(names, row, strict=True))), None)
        if value is not None:
            yield value


def _with(row: list[Any], places: Iterable[int], chosen: Iterable[Any]) -> list[Any]:
    changed = list(row)
    for at, value in zip(places, chosen, strict=True):
        changed[at] = value
    return changed


def _hints(kind: Any) -> dict[str, Any]:  # noqa: ANN401 -- a class
    return _read(kind)


@cache
def _read(kind: Hashable) -> dict[str, Any]:
    return get_type_hints(kind)


def variants(value: Any, near: Near, *, small: bool) -> Iterator[Any]:  # noqa: ANN401 -- an output
    """Yield a value with one field changed, and with the same field of all its parts numbered.

    `small`: only fields with few values.
    """
    try:
        hints = _hints(type(value))
    except (NameError, TypeError):
        return
    for each in fields(value):
        kind = hints[each.name]
        if small != (get_origin(kind) in {Literal, tuple} or kind is bool):
            continue
        if get_origin(kind) is tuple and is_dataclass(get_args(kind)[0]):
            part, items = get_args(kind)[0], getattr(value, each.name)
            numbered = (_numbered(items, name, start) for name in _countable(part) for start in range(1, FEW))
            yield from (replace(value, **{each.name: row}) for row in numbered)
        else:
            yield from (replace(value, **{each.name: other}) for other in values_of(kind, near, 1))


def _countable(part: type[Any]) -> list[str]:
    hints = _hints(part)
    return [each.name for each in fields(part) if int in {hints[each.name], *get_args(hints[each.name])}]


def _numbered(items: tuple[Any, ...], name: str, start: int) -> tuple[Any, ...]:
    return tuple(replace(item, **{name: start + at}) for at, item in enumerate(items))
