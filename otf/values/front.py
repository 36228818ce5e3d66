"""All values of a type: the front of the enumeration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, get_origin, overload

from otf.values.classes import is_alias, is_new_type
from otf.values.enumeration import Enumeration, given

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy
from collections.abc import Callable
from typing import Final

from otf.errors import UsageError
from otf.values.asked import Asked
from otf.values.bounds import Bounds
from otf.values.classes import is_class
from otf.values.derived import RecordTiers
from otf.values.forms import FORMS
from otf.values.tiers import Flat, Tiers, everything, filled


class Reader:
    """Reads one type with all that it is made of; `instead` tells the values of a type that has other than usual."""

    def __init__(self, instead: Callable[[object], Enumeration[Any] | None]) -> None:
        self._instead = instead
        self._records: dict[tuple[int, str], tuple[RecordTiers, str, object]] = {}

    def enumeration(self, kind: object, where: str) -> Enumeration[Any]:
        """Return the values of a type. Raises UsageError with the path to the part that cannot be enumerated."""
        tiers = self.read(kind, where)
        having = filled(tiers)
        for record, path, made in reversed(self._records.values()):
            if id(record) not in having:
                self._end(record, path, made)
        return Enumeration(tiers)

    def read(self, kind: object, where: str, bounds: Bounds | None = None) -> Tiers:
        """Return the values of a type, or of a part of it."""
        instead = self._instead(kind) if _hashable(kind) else None
        if instead is not None:
            return instead.tiers
        asked = Asked(kind, where, self, bounds or Bounds())
        for applies, form in FORMS:
            if applies(kind):
                return form(asked)
        name = name_of(kind)
        raise UsageError(
            f"{where}: the values of the type {name} cannot be enumerated; say which there are: "
            f"values={{{name}: [...]}}, Annotated[{name}, Among(...)] or register({name}, ...)"
        )

    def record(self, kind: object, where: str, new: RecordTiers) -> tuple[RecordTiers, bool]:
        """Return the record of a type, and whether it is the new one."""
        # by identity and text: Pair[Literal[1]] and Pair[Literal[True]] are equal for Python
        name = (id(kind) if is_class(kind) else 0, repr(kind))
        known, _, _ = self._records.setdefault(name, (new, where, kind))
        return known, known is new

    def _end(self, record: RecordTiers, where: str, kind: object) -> None:
        """Refuse a record that holds itself for ever; where a part has no values there is nothing to refuse."""
        having = filled(record)
        if all(each.parts or id(each) in having for each in everything(record)):
            raise UsageError(
                f"{where}: a value of {name_of(kind)} would have to hold another one, and so on for ever; "
                "give it an end, such as `| None` or a list"
            )
        record.hold(Flat(()), lambda: None, 0)


def name_of(kind: object) -> str:
    """Return how a type is called."""
    return kind.__name__ if is_class(kind) else str(kind)


def _hashable(kind: object) -> bool:
    try:
        hash(kind)
    except TypeError:
        return False
    return True


REGISTERED: Final[dict[object, Callable[[], Enumeration[Any]]]] = {}


def registered(kind: object) -> Enumeration[Any] | None:
    """Return the values that were registered for a type, if any were."""
    return REGISTERED[kind]() if kind in REGISTERED else None


T = TypeVar("T")
ValueSource: TypeAlias = "type[T] | Iterable[T] | SearchStrategy[T]"
Values: TypeAlias = Mapping[Any, Any]  # what stands instead of the values of a type, by type


@overload
def every(kind: type[T], values: Values | None = None, where: str = "") -> Enumeration[T]: ...
@overload
def every(kind: object, values: Values | None = None, where: str = "") -> Enumeration[Any]: ...
def every(kind: object, values: Values | None = None, where: str = "") -> Enumeration[Any]:
    """Return all values of a type, small before large, none twice; lazily.

    `values` says for some types which values there are. `where` is the path that an error begins with. Raises
    UsageError for a type that cannot be enumerated.

    >>> every(tuple[bool, int]).first(6)
    [(False, 0), (False, 1), (True, 0), (False, -1), (True, 1), (False, 2)]
    >>> list(every(int | None, {int: range(2)}))
    [0, None, 1]
    """
    instead = ready(values or {})
    return Reader(lambda part: instead.get(part) or registered(part)).enumeration(kind, where or name_of(kind))


def enumerated(source: object, values: Values | None = None, where: str = "") -> Enumeration[Any]:
    """Return the enumeration of a type, or of what else gives values: an iterable, a Hypothesis strategy."""
    return every(source, values, where) if is_type(source) else given(source, where or name_of(source))


def is_type(source: object) -> bool:
    """Tell whether something stands for a type."""
    return isinstance(source, type) or get_origin(source) is not None or is_alias(source) or is_new_type(source)


def ready(values: Values) -> dict[object, Enumeration[Any]]:
    """Return values that can be read many times, whatever they are given as."""
    return {kind: enumerated(source, _without(values, kind), name_of(kind)) for kind, source in values.items()}


def _without(values: Values, kind: object) -> Values:
    # a source may name the type that it stands for: {int: Annotated[int, Range(0, 9)]}
    return {other: source for other, source in values.items() if other != kind}
