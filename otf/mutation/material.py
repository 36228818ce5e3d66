"""Values of a model from which wrong ones are taken: a wrong value is one that is right elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from typing import Any, Final

from otf.mutation.served import Ways, plain
from otf.values import key

KEPT: Final = 50  # different values of a field that are kept


@dataclass(slots=True)
class Material:
    """The values of a model, from which wrong ones are taken: a wrong value is one that is right elsewhere."""

    initial: Any
    slack: float
    port: Callable[[Any], str]
    states: dict[Any, Any] = field(default_factory=dict[Any, Any])
    outputs: dict[Any, tuple[Any, str]] = field(default_factory=dict[Any, tuple[Any, str]])
    _fields: dict[tuple[str, type, str], dict[Any, Any]] = field(
        default_factory=dict[tuple[str, type, str], dict[Any, Any]]
    )

    def learn(self, state: object, inp: object, ways: Ways) -> None:
        """Remember the values of a transition."""
        self._note("state", state)
        self._note("input", inp)
        if len(self.states) < KEPT * KEPT:
            self.states.setdefault(key(state), state)
        for way in ways:
            for value, port in (each for item in way.outputs for each in plain(item)):
                self._note("output", value)
                self.outputs.setdefault(key((value, port)), (value, port))

    def _note(self, what: str, value: Any) -> None:  # noqa: ANN401 -- a value of the model
        parts = {each.name: getattr(value, each.name) for each in fields(value)} if is_dataclass(value) else {}
        for name, part in {**parts, "": value}.items():
            found = self._fields.setdefault((what, kind_of(value), name), {})
            if len(found) < KEPT:
                found.setdefault(key(part), part)

    def values(self, what: str, kind: type, name: str = "") -> list[Any]:
        """Return the values of a field of a kind of state, input or output; without a name, whole ones."""
        return list(self._fields.get((what, kind, name), {}).values())

    def other(self, what: str, whole: Any, name: str) -> Any:  # noqa: ANN401 -- any value
        """Return a state, input or output with another value of a field, or another whole one, if there is one."""
        value = getattr(whole, name) if name else whole
        found = _next(value, self.values(what, kind_of(whole), name))
        return (replace(whole, **{name: found}) if name else found) if found is not value else whole


def kind_of(value: Any) -> type[Any]:  # noqa: ANN401 -- any value
    """Return the class of a value."""
    return type(value)  # pyright: ignore[reportUnknownVariableType]


def _next(value: Any, known: list[Any]) -> Any:  # noqa: ANN401, PLR0911 -- one case a kind of value
    names = [key(each) for each in known]
    if len(known) > 1:
        at = names.index(key(value)) if key(value) in names else -1
        return known[(at + 1) % len(known)]
    match value:
        case bool():
            return not value
        case Enum():
            every = list(type(value))
            return every[(every.index(value) + 1) % len(every)]
        case int() | float():
            return value + 1
        case str():
            return f"{value}x"
        case bytes():
            return value + b"\0"
        case tuple() if value:
            return value[:-1]  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value
