"""As much of JSON Schema as our own schema uses; a word that it does not know is an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda data: isinstance(data, dict),
    "array": lambda data: isinstance(data, list),
    "string": lambda data: isinstance(data, str),
    "boolean": lambda data: isinstance(data, bool),
    "integer": lambda data: isinstance(data, int) and not isinstance(data, bool),
    "number": lambda data: isinstance(data, int | float) and not isinstance(data, bool),
    "null": lambda data: data is None,
}


def violations(data: Any, schema: Any, root: Any, where: str = "$") -> Iterator[str]:  # noqa: ANN401 -- JSON
    """Yield what is wrong with a document, each with its path."""
    if "type" in schema and not TYPES[schema["type"]](data):
        yield f"{where} is {data!r}, not of the type {schema['type']}"
        return
    for word, says in schema.items():
        yield from RULES[word](data, says, root, where, schema)


def _among(data: Any, says: Any, _root: Any, where: str, _schema: Any) -> Iterator[str]:  # noqa: ANN401
    if data not in says:
        yield f"{where} is {data!r}, not one of {says}"


def _const(data: Any, says: Any, _root: Any, where: str, _schema: Any) -> Iterator[str]:  # noqa: ANN401
    if data != says:
        yield f"{where} is {data!r}, not {says!r}"


def _least(data: Any, says: Any, _root: Any, where: str, _schema: Any) -> Iterator[str]:  # noqa: ANN401
    if data < says:
        yield f"{where} is {data!r}, below {says}"


def _most(data: Any, says: Any, _root: Any, where: str, _schema: Any) -> Iterator[str]:  # noqa: ANN401
    if data > says:
        yield f"{where} is {data!r}, above {says}"


def _same(data: Any, says: Any, root: Any, where: str, _schema: Any) -> Iterator[str]:  # noqa: ANN401
    yield from violations(data, root["$defs"][says.removeprefix("#/$defs/")], root, where)


def _items(data: Any, says: Any, root: Any, where: str, _schema: Any) -> Iterator[str]:  # noqa: ANN401
    for at, item in enumerate(data):
        yield from violations(item, says, root, f"{where}[{at}]")


def _properties(data: Any, says: Any, root: Any, where: str, _schema: Any) -> Iterator[str]:  # noqa: ANN401
    for name in says.keys() & data.keys():
        yield from violations(data[name], says[name], root, f"{where}.{name}")


def _required(data: Any, says: Any, _root: Any, where: str, _schema: Any) -> Iterator[str]:  # noqa: ANN401
    for name in says:
        if name not in data:
            yield f"{where}.{name} is missing"


def _additional(data: Any, says: Any, root: Any, where: str, schema: Any) -> Iterator[str]:  # noqa: ANN401
    for name in data.keys() - schema.get("properties", {}).keys():
        if says is False:
            yield f"{where}.{name} is not known"
        else:
            yield from violations(data[name], says, root, f"{where}.{name}")


def _any_of(data: Any, says: Any, root: Any, where: str, _schema: Any) -> Iterator[str]:  # noqa: ANN401
    tried = [list(violations(data, each, root, where)) for each in says]
    if all(tried):
        yield " or ".join(wrong[0] for wrong in tried)


def _nothing(*_: Any) -> Iterator[str]:  # noqa: ANN401
    return iter(())


RULES: dict[str, Callable[..., Iterator[str]]] = {
    "type": _nothing,  # looked at first of all
    "enum": _among,
    "const": _const,
    "minimum": _least,
    "maximum": _most,
    "items": _items,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional,
    "anyOf": _any_of,
    "$ref": _same,
    "description": _nothing,
}
