"""What `otf suite` runs: a generated suite or one from a file, of lists of inputs or of adaptive tests.

A file contains only what to send: reading it computes again what a pass guarantees.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Hashable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from otf.adapter import Bench
from otf.cli.catalogue import ADAPTIVE, RUNS
from otf.cli.tools.model_commands import SuiteCommand
from otf.cli.user_code import near_file
from otf.errors import UsageError
from otf.explore import Graph, explore
from otf.spec import Spec, fingerprint
from otf.strategy import script
from otf.strategy.kinds import Maker, StrategyKind
from otf.suite import METHODS, AdaptiveSuite, Suite, adaptive, suite
from otf.suite.adaptive import Deciding
from otf.suite.observable import Decisions
from otf.trace.record import Mode
from otf.trace.result import counted
from otf.trace.tagged import Registry, encode
from otf.values import key, show

LARGEST: Final = 500_000_000  # bytes of a suite file
TIMES: Final = frozenset({"quiescence", "L", "R"})  # parameters that do not change the system
CHANGED: Final = "the model has changed since the suite was written"


class PlannedSuite(NamedTuple):
    """What will run: the description, the paths, the inputs in the longest path, and how inputs are chosen."""

    data: dict[str, Any]
    paths: int
    longest: int
    kind: Callable[[], StrategyKind]
    mode: Mode = "eager"


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

    def fingerprint(self, built: Suite | AdaptiveSuite) -> str:
        """Return a text that identifies the model and the machine behind a suite.

        The source code covers the outputs, the machine covers models made from data: tables, files, arguments.
        """
        inputs = [show(inp) for inp in built.machine.inputs]
        if isinstance(built, Suite):
            machine = repr((inputs, built.machine.next, built.machine.out))
        else:
            machine = repr((inputs, built.machine.ends, sorted(built.machine.same)))
        return f"{fingerprint(self.spec)}-{hashlib.sha256(machine.encode()).hexdigest()[:16]}"

    def write(self, path: Path, built: Suite | AdaptiveSuite, extra: int) -> None:
        """Write a suite's inputs, and how it was made, to a file. Raises UsageError if that fails."""
        made = {"model": built.name, "method": built.method, "extra": extra, "limit": self.limit}
        sent = {"inputs": [[encode(inp) for inp in each] for each in built.paths]} if isinstance(built, Suite) else {}
        data = {**made, "parameters": self.texts(), "fingerprint": self.fingerprint(built), **sent}
        if isinstance(built, AdaptiveSuite):
            data |= _decisions(built)
        try:
            path.write_text(json.dumps(data) + "\n", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"--write {path}: it cannot be written ({error.strerror}); choose another file") from error


def _decisions(built: AdaptiveSuite) -> dict[str, Any]:
    machine = built.machine
    return {
        "runs": built.runs,
        "states": [show(state) for state in machine.states],
        "inputs": [encode(inp) for inp in machine.inputs],
        # an input, and for each next state the number of the next decision; all numbers count from 0
        "decisions": [[row.input, list(row.then)] for row in built.decisions.rows],
        "tests": built.tests,
    }


def plan_suite(origin: SuiteOrigin, asked: SuiteCommand) -> PlannedSuite:
    """Return a generated suite, written to a file if asked. Raises UsageError."""
    if asked.method not in ADAPTIVE:
        _refuse_runs(asked.runs)
    graph = origin.graph()
    built: Suite | AdaptiveSuite
    if asked.method in ADAPTIVE:
        built = adaptive(graph, asked.method, asked.extra, RUNS if asked.runs is None else asked.runs)
    else:
        built = suite(graph, asked.method, asked.extra, reset_cost=asked.reset_cost)
    if asked.write is not None:
        origin.write(asked.write, built, asked.extra)
    if isinstance(built, AdaptiveSuite):
        return _plan_tests(built, graph)
    data = {"guarantee": built.guarantee, "notes": [*built.notes], "ignores": built.ignores, "says": str(built)}
    return _plan_paths(built.paths, built.name, built.method, data)


def read_suite(path: Path, bench: Bench, runs: int | None) -> PlannedSuite:
    """Return the suite of a file. Raises UsageError."""
    with _as_suite(path):
        if path.stat().st_size > LARGEST:
            raise UsageError(f"--read {path}: it is larger than {LARGEST:,} bytes")
        data = dict(json.loads(path.read_text(encoding="utf-8")))
        found = _StoredSuite.of(data, bench)
    if "decisions" in data:
        return _plan_tests(*_tests_of(path, data, found, runs))
    _refuse_runs(runs)
    with _as_suite(path):
        registry = Registry(bench.known_types, bench.made_at)
        paths = [[registry.decode(inp) for inp in each] for each in data["inputs"]]
    return _plan_paths(paths, bench.spec.name, found.method, _weigh(paths, found))


class _StoredSuite(NamedTuple):
    """How the suite in a file was made; `origin` is the current model."""

    method: str
    extra: int
    fingerprint: str
    parameters: Mapping[str, str]
    origin: SuiteOrigin

    @classmethod
    def of(cls, data: Mapping[str, Any], bench: Bench) -> _StoredSuite:
        origin = SuiteOrigin(bench.spec, bench.parameters, int(data["limit"]))
        before = {str(name): str(value) for name, value in data["parameters"].items()}
        return cls(str(data["method"]), int(data["extra"]), str(data["fingerprint"]), before, origin)

    def notes(self) -> list[str]:
        """Return a note if the suite was written with other parameters."""
        before, now = self.parameters, self.origin.texts()
        names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
        changes = ", ".join(f"{name} is {show(now.get(name))} and was {show(before.get(name))}" for name in names)
        return [f"the parameters have changed since the suite was written: {changes}"] if names else []


@contextmanager
def _as_suite(path: Path) -> Generator[None]:
    """Raise UsageError if the content of a file is not a suite."""
    try:
        yield
    except OSError as error:
        hint = near_file(path, "; `otf suite BENCH --write FILE` writes one")
        raise UsageError(f"--read {path}: {error.strerror}{hint}") from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        why = f"the field {error} is missing" if isinstance(error, KeyError) else error
        raise UsageError(f"--read {path}: it is not a suite that --write has written: {why}") from error


def _refuse_runs(runs: int | None) -> None:
    if runs is not None:
        raise UsageError("--runs: only adaptive tests are run several times; leave it out, or use an adaptive method")


def _withheld(missing: int, number: int, method: str) -> str:
    """Return what a pass guarantees if some of `number` paths are missing."""
    return (
        f"{missing:,} of the {number:,} paths that the method {method} generates from this model are not in "
        "the file: a pass guarantees only that the system answers correctly on the paths in the file"
    )


# ---- lists of inputs -----------------------------------------------------------------------------------------------


def _plan_paths(paths: list[list[Any]], model: str, method: str, more: dict[str, Any]) -> PlannedSuite:
    steps, longest, name = sum(map(len, paths)), max(map(len, paths), default=0), f"suite {method}"
    data = {"model": model, "method": method, "paths": len(paths), "steps": steps, **more}
    return PlannedSuite(data, len(paths), longest, lambda: replace(script(*paths), name=name))


def _weigh(paths: list[list[Any]], found: _StoredSuite) -> dict[str, Any]:
    """Return what a pass on the paths of a file guarantees under the current model."""
    origin, known, notes = found.origin, METHODS.get(found.method), found.notes()
    try:
        built = suite(origin.graph(), found.method, found.extra)
    except UsageError as error:
        guarantee = f"what a pass guarantees is unknown: {error}"
    else:
        changed = found.fingerprint != origin.fingerprint(built)
        notes += [*([f"{CHANGED}; the current model judges"] if changed else []), *built.notes]
        missing = _missing(built, paths)
        guarantee = _withheld(missing, len(built.words), built.method) if missing else built.guarantee
    size = f"{counted(len(paths), 'path')}, {counted(sum(map(len, paths)), 'step')}"
    head = f"{origin.spec.name}: {size}, written by the method {show(found.method)[1:-1]}"
    ignores = known is None or known.base != "specified"
    return {"guarantee": guarantee, "notes": notes, "ignores": ignores, "says": "\n".join([head, *notes, guarantee])}


def _missing(built: Suite, paths: list[list[Any]]) -> int:
    """Return how many paths of a suite are neither among these nor a prefix of one."""
    there = set[Hashable]()
    for path in paths:
        named = tuple(map(key, path))
        there |= {named[:length] for length in range(1, len(named) + 1)}
    return sum(tuple(map(key, path)) not in there for path in built.paths)


# ---- adaptive tests ------------------------------------------------------------------------------------------------


def _plan_tests(built: AdaptiveSuite, graph: Graph) -> PlannedSuite:
    """Return adaptive tests, one per path; the `steps` of the description are the most that they send."""
    numbers = {state: number for number, state in enumerate(graph.states)}

    def maker(test: int) -> Maker:
        return lambda _pool, _visits: Deciding(built, numbers, test)

    def kind() -> StrategyKind:
        makers = tuple(map(maker, built.tests))
        return StrategyKind(f"suite {built.method}", "inputs that depend on the outputs", makers)

    paths, said = len(built.tests) * built.runs, {"guarantee": built.guarantee, "notes": list(built.notes)}
    size = {"paths": paths, "steps": built.steps * built.runs, "runs": built.runs}
    data = {"model": built.name, "method": built.method, **size, **said, "ignores": False, "says": str(built)}
    # the state of the model is only known at quiescence
    return PlannedSuite(data, paths, built.longest, kind, "strict")


def _tests_of(
    path: Path, data: Mapping[str, Any], found: _StoredSuite, runs: int | None
) -> tuple[AdaptiveSuite, Graph]:
    """Return the tests of a file, with what a pass guarantees; a given number of runs replaces the file's.

    Raises UsageError if the model has changed since the suite was written, since its states may differ.
    """
    with _as_suite(path):
        runs = int(data["runs"]) if runs is None else runs
    graph = found.origin.graph()
    built = adaptive(graph, found.method, found.extra, runs)
    if found.fingerprint != found.origin.fingerprint(built):
        raise UsageError(f"--read {path}: {CHANGED}; write it again")
    with _as_suite(path):
        # both number their decisions from one table, so that equal decisions have equal numbers
        tests = _numbers(data, built.decisions, range(len(built.machine.inputs)))
    missing = len(set(built.tests).difference(tests))
    guarantee = _withheld(missing, len(built.tests), built.method) if missing else built.guarantee
    return replace(built, tests=tests, notes=(*found.notes(), *built.notes), guarantee=guarantee), graph


def _numbers(data: Mapping[str, Any], table: Decisions, inputs: range) -> list[int]:
    numbers: list[int] = []
    for inp, then in data["decisions"]:
        # only earlier decisions have numbers, so that no test is endless
        numbers.append(table.add(inputs[_index(inp)], [(_index(state), numbers[_index(at)]) for state, at in then]))
    return [numbers[_index(test)] for test in data["tests"]]


def _index(number: Any) -> int:  # noqa: ANN401 -- JSON
    if not isinstance(number, int) or number < 0:
        raise ValueError(f"{number!r} is not a number from 0")
    return number
