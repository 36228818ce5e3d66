"""A shrunk failure as a small Python program: a pytest test that shows it without a campaign.

`Literals` writes values as Python source, with the imports that they need.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from otf.adapter import Bench
from otf.campaign.confidence import rate_interval
from otf.campaign.pace import joined, timed_pauses
from otf.campaign.results import PathResult
from otf.shrink import repeats
from otf.trace.events import Seen, Sent
from otf.trace.record import Header
from otf.trace.result import counted
from otf.trace.title import title
from otf.values.classes import parameters

FILE: Final = "otf_bench_"  # prefix of the names of modules loaded from files
PLAIN: Final = (type(None), bool, int, str, bytes)
BRACKETS: Final[dict[type, str]] = {list: "[{}]", tuple: "({},)", set: "{{{}}}", frozenset: "frozenset({{{}}})"}


class UnwritableError(Exception):
    """A value without Python source."""


class Literals:
    """Writes values as source, and collects the imports that they need."""

    def __init__(self) -> None:
        self._folders = dict[str, None]()
        self._names: dict[str, dict[str, None]] = {"otf.runner.reproduce": {"reproduce": None}}

    def imports(self) -> str:
        """Return the import statements for the values written so far."""
        paths = [f"sys.path.insert(0, {folder!r})  # where the bench lies" for folder in self._folders]
        lines = [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(self._names.items())]
        return "\n".join([*(["import sys", "", *paths] if paths else []), "", *lines, ""])

    def name(self, module: ModuleType, qualified: str) -> str:
        """Return an object's name after importing its module."""
        if "<" in qualified or module.__name__ == "__main__":
            raise UnwritableError(qualified)
        name = module.__name__
        if name.startswith(FILE) and module.__file__:
            file = Path(module.__file__).resolve()
            self._folders[str(file.parent)] = None
            name = file.stem
        if name != "builtins":
            self.need(name, qualified.split(".", maxsplit=1)[0])
        return qualified

    def need(self, module: str, name: str) -> None:
        """Import another name."""
        self._names.setdefault(module, {})[name] = None

    def of(self, value: object) -> str:
        """Return the source of a value. Raises UnwritableError if there is none."""
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

    def _collection(self, value: Any) -> str:  # noqa: ANN401 -- inputs may have any type
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


SHIPPED: Final = "otf.models."


def program(
    bench: Bench, header: Header, failing: PathResult, shown: tuple[int, int] = (1, 1), where: Sequence[str] = ()
) -> str | None:
    """Return the text of the program; None if the bench has no importable name, or a value no Python source.

    `shown` says in how many runs these steps failed, and out of how many. `where` lists addresses of the system, as for
    `otf run --sut`.
    """
    found = _found(header.bench)
    failure = failing.verdict.failure
    if found is None or failure is None:
        return None
    literals = Literals()
    try:
        made = _made(bench, *found, literals, where)
        steps = "".join(f"    ({inp}, [{', '.join(outputs)}]),\n" for inp, outputs in _steps(failing, literals))
    except UnwritableError:
        return None
    together = joined(failing.events) if header.burst > 1 else ()
    tries = _tries(*shown, race=bool(together))
    options: dict[str, object] = {
        "burst": header.burst * (header.burst > 1),
        "together": together,
        "tries": tries * (tries > 1),
    }
    if not together:
        options["pauses"] = tuple(round(pause, 3) for pause in timed_pauses(bench.oracle(), failing.events))
    more = "".join(f", {name}={value}" for name, value in options.items() if value)
    return (
        f'"""{_plain(title(failure))}\n\n'
        f"Shrunk by otf to {counted(failing.steps, 'input')}. {_says(*shown, tries)}\n"
        f'"""\n\nfrom dataclasses import replace\n{literals.imports()}\n'
        f"STEPS = [  # each input, with its outputs when this was written\n{steps}]\n\n\n"
        f"def test_{_name(failure.kind, failure.signature.input)}() -> None:\n"
        f'    """The model allows all outputs after these inputs."""\n'
        f"    reproduce({made}, STEPS{more})\n"
    )


def _tries(failed: int, runs: int, *, race: bool) -> int:
    # few runs say little about a race, and another load may make it rarer, so assume the lowest rate that they allow
    return repeats(rate_interval(failed, runs)[0] if race else failed / runs)


def _says(failed: int, runs: int, tries: int) -> str:
    if tries == 1:
        return "Run it with pytest: it fails as long as the failure is there."
    return (
        f"It depends on chance: it failed in {failed} of {counted(runs, 'run')} when this was written.\n"
        f"Run it with pytest: it tries up to {tries} times, and fails as soon as one run fails.\n"
        "A pass is not proof of a repair: `otf rerun TRACE --confidence 0.99` says how many runs are."
    )


def _found(reference: str) -> tuple[ModuleType, str] | None:
    """Return the module loaded for a bench, and the name of the bench in it."""
    where, _, name = reference.rpartition(":") if ":" in reference else (reference, "", "bench")
    names = (f"{FILE}{Path(where).stem}",) if where.endswith(".py") else (f"{SHIPPED}{where}", where)
    modules = (sys.modules.get(each) for each in names)
    return next(((module, name) for module in modules if module is not None and hasattr(module, name)), None)


def _made(bench: Bench, module: ModuleType, name: str, literals: Literals, where: Sequence[str]) -> str:
    made: Any = getattr(module, name)
    call = literals.name(module, name)
    if not isinstance(made, Bench):
        known = parameters(made)
        if not known.keys() <= bench.parameters.keys():
            raise UnwritableError(name)  # the command line did not make it, so its arguments are unknown
        call += f"({', '.join(f'{key}={literals.of(bench.parameters[key])}' for key in known)})"
    if where:
        call = f"addressed({call}, {literals.of([*where])})"
        literals.need("otf.cli.sut_addresses", "addressed")
    given: dict[str, object] = {"inputs": bench.inputs, "quiescence": bench.quiescence}
    given |= {"latency": bench.latency, "busy": bench.busy}
    given |= {} if bench.silence == "observed" else {"silence": bench.silence}
    return f"replace({call}, {', '.join(f'{key}={value!r}' for key, value in given.items())})"


def _steps(failing: PathResult, literals: Literals) -> Iterator[tuple[str, list[str]]]:
    inp, outputs = "", list[str]()
    for event in failing.events:
        if isinstance(event, Sent):
            if inp:
                yield inp, outputs
            inp, outputs = literals.of(event.input), []
        elif isinstance(event, Seen) and inp:
            outputs.append(literals.of(event.output))
    yield inp, outputs


def _name(*parts: str) -> str:
    return re.sub(r"\W+", "_", "_".join(parts)).strip("_").lower()


def _plain(text: str) -> str:
    # the bench chooses the names of types, which must not end the docstring
    return text.replace("\\", "/").replace('"', "'")
