"""Values as Python source, with the imports that it needs."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any, Final

FILE: Final = "otf_bench_"  # begins the name of a module that was loaded from a file
PLAIN: Final = (type(None), bool, int, str, bytes)
BRACKETS: Final[dict[type, str]] = {list: "[{}]", tuple: "({},)", set: "{{{}}}", frozenset: "frozenset({{{}}})"}


class UnwritableError(Exception):
    """A value of which there is no source that makes it."""


class Literals:
    """Writes values, and notes what has to be imported for them."""

    def __init__(self) -> None:
        self._folders = dict[str, None]()
        self._names: dict[str, dict[str, None]] = {"otf.runner.reproduce": {"reproduce": None}}

    def imports(self) -> str:
        """Return the import statements for what was written so far."""
        paths = [f"sys.path.insert(0, {folder!r})  # where the bench lies" for folder in self._folders]
        lines = [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(self._names.items())]
        return "\n".join([*(["import sys", "", *paths] if paths else []), "", *lines, ""])

    def name(self, module: ModuleType, qualified: str) -> str:
        """Return how something in a module is named once it is imported."""
        if "<" in qualified or module.__name__ == "__main__":
            raise UnwritableError(qualified)
        name = module.__name__
        if name.startswith(FILE) and module.__file__:
            file = Path(module.__file__).resolve()
            self._folders[str(file.parent)] = None
            name = file.stem
        if name != "builtins":
            self._names.setdefault(name, {})[qualified.split(".", maxsplit=1)[0]] = None
        return qualified

    def of(self, value: object) -> str:
        """Return the source of a value. Raises UnwritableError where there is none."""
        if type(value) in PLAIN:
            return repr(value)
        if isinstance(value, float):
            return repr(value) if value - value == 0 else f"float({str(value)!r})"
        if isinstance(value, Enum) and value.name in type(value).__members__:
            return f"{self._type(value)}.{value.name}"
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = [field.name for field in dataclasses.fields(value) if field.init]
            return self._made(value, fields)
        named: Iterable[str] | None = getattr(value, "_fields", None)
        return self._collection(value) if named is None else self._made(value, named)

    def _made(self, value: object, fields: Iterable[str]) -> str:
        return f"{self._type(value)}({', '.join(f'{name}={self.of(getattr(value, name))}' for name in fields)})"

    def _collection(self, value: Any) -> str:  # noqa: ANN401 -- whatever a bench has for inputs
        if type(value) not in BRACKETS:
            raise UnwritableError(repr(value))
        inner = ", ".join(map(self.of, value))
        return BRACKETS[type(value)].format(inner) if inner else f"{type(value).__name__}()"

    def _type(self, value: object) -> str:
        kind = type(value)
        module = sys.modules.get(kind.__module__)
        if module is None:
            raise UnwritableError(kind.__qualname__)
        return self.name(module, kind.__qualname__)
