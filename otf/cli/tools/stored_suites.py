"""Suites in files, which contain only inputs: what a pass guarantees is computed again when they are read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Hashable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from otf.adapter import Bench
from otf.errors import UsageError
from otf.explore import Graph, explore
from otf.spec import Spec, fingerprint
from otf.suite import METHODS, AdaptiveSuite, Suite
from otf.suite import suite as made
from otf.trace.result import counted
from otf.trace.tagged import Registry, encode
from otf.values import key, show

LARGEST: Final = 500_000_000  # bytes of a file of a suite
TIMES: Final = frozenset({"quiescence", "L", "R"})  # parameters that do not change the system
Paths = list[list[Any]]


@dataclass(frozen=True)
class SuiteOrigin:
    """The source of a suite: a model with its parameters, explored within `limit` states."""

    spec: Spec[Any, Any]
    parameters: Mapping[str, object]
    limit: int

    def graph(self) -> Graph:
        """Return the graph of the model."""
        return explore(self.spec, self.limit)

    def texts(self) -> dict[str, str]:
        """Return the parameters as texts, without those that do not change the system."""
        return {name: str(value) for name, value in self.parameters.items() if name not in TIMES}

    def head(self, built: Suite | AdaptiveSuite, extra: int) -> dict[str, Any]:
        """Return the part of a file that records how its suite was made."""
        made_by = {"model": built.name, "method": built.method, "extra": extra}
        return {**made_by, "limit": self.limit, "parameters": self.texts()}


def as_data(built: Suite) -> dict[str, Any]:
    """Return the description of a suite."""
    return {
        "model": built.name,
        "method": built.method,
        "paths": len(built.words),
        "steps": built.steps,
        "guarantee": built.guarantee,
        "notes": list(built.notes),
        "ignores": built.ignores,
        "says": str(built),
    }


def write(path: Path, built: Suite, extra: int, origin: SuiteOrigin) -> None:
    """Write the inputs of a suite and its source to a file."""
    inputs = [[encode(inp) for inp in each] for each in built.paths]
    save(path, {**origin.head(built, extra), "fingerprint": _fingerprint(origin.spec, built), "inputs": inputs})


def save(path: Path, data: Mapping[str, Any]) -> None:
    """Write the file of a suite. Raises UsageError if it cannot be written."""
    try:
        path.write_text(json.dumps(data) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--write {path}: {error.strerror}") from error


def content(path: Path) -> dict[str, Any]:
    """Return the content of a suite's file, unchecked."""
    with understood(path):
        if path.stat().st_size > LARGEST:
            message = f"--read {path}: it is larger than {LARGEST:,} bytes"
            raise UsageError(message)
        return dict(json.loads(path.read_text(encoding="utf-8")))


@contextmanager
def understood(path: Path) -> Generator[None]:
    """Raise UsageError if the content of a file is not that of a suite."""
    try:
        yield
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        message = f"--read {path}: it is not a suite that --write has written: {error!r}"
        raise UsageError(message) from error


def read(path: Path, data: Mapping[str, Any], bench: Bench) -> tuple[Paths, dict[str, Any]]:
    """Return the paths of a file, and what a pass guarantees by the current model."""
    with understood(path):
        registry = Registry(bench.known_types)
        paths = [[registry.decode(inp) for inp in each] for each in data["inputs"]]
        method, extra, limit = str(data["method"]), int(data["extra"]), int(data["limit"])
        recorded = str(data["fingerprint"]), {str(name): str(value) for name, value in data["parameters"].items()}
    return paths, _weighed(paths, method, extra, SuiteOrigin(bench.spec, bench.parameters, limit), recorded)


def _weighed(
    paths: Paths, method: str, extra: int, origin: SuiteOrigin, recorded: tuple[str, Mapping[str, str]]
) -> dict[str, Any]:
    name, known = origin.spec.name, METHODS.get(method)
    steps = sum(map(len, paths))
    notes = parameters(recorded[1], origin.texts())
    guarantee, ignores = "", known is None or known.base != "specified"
    try:
        built = made(origin.graph(), method, extra)
    except UsageError as error:
        guarantee = f"what a pass guarantees is unknown: {error}"
    else:
        notes += [*_changed(recorded[0], origin.spec, built), *built.notes]
        missing = _missing(built, paths)
        guarantee = built.guarantee if not missing else withheld(missing, len(built.words), built.method)
    says = (
        f"{name}: {counted(len(paths), 'path')}, {counted(steps, 'step')}, written by the method {show(method)[1:-1]}"
    )
    return {
        "model": name,
        "method": method,
        "paths": len(paths),
        "steps": steps,
        "guarantee": guarantee,
        "notes": notes,
        "ignores": ignores,
        "says": "\n".join([says, *notes, guarantee]),
    }


def _missing(built: Suite, paths: Paths) -> int:
    """Return how many paths of a suite are neither among these nor a prefix of one."""
    there = set[Hashable]()
    for path in paths:
        named = tuple(map(key, path))
        there |= {named[:length] for length in range(1, len(named) + 1)}
    return sum(tuple(map(key, path)) not in there for path in built.paths)


def withheld(missing: int, number: int, method: str) -> str:
    """Return what a pass guarantees if some of `number` paths are missing."""
    return (
        f"{missing:,} of the {number:,} paths that the method {method} generates from this model are not in "
        "the file: a pass guarantees only that the system answers correctly on the paths in the file"
    )


def _changed(before: str, spec: Spec[Any, Any], built: Suite) -> list[str]:
    if before == _fingerprint(spec, built):
        return []
    return ["the model has changed since the suite was written; the current model judges"]


def parameters(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return a note if the suite was written with other parameters."""
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    changes = ", ".join(f"{name} is {show(now.get(name))} and was {show(before.get(name))}" for name in names)
    return [f"the parameters have changed since the suite was written: {changes}"] if names else []


def _fingerprint(spec: Spec[Any, Any], built: Suite) -> str:
    # the source code covers the outputs, the machine covers models made from data: tables, files, arguments
    machine = built.machine
    return mark(spec, repr(([show(inp) for inp in machine.inputs], machine.next, machine.out)))


def mark(spec: Spec[Any, Any], machine: str) -> str:
    """Return the fingerprint of a model and its machine (as a text), from which a suite was made."""
    return f"{fingerprint(spec)}-{hashlib.sha256(machine.encode()).hexdigest()[:16]}"
