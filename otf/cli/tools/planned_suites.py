"""What `otf suite` runs: a suite that is generated or of a file; adaptive ones with their files, and how they run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from otf.adapter import Bench
from otf.campaign.settings import Mode
from otf.cli.option_values import ADAPTIVE, RUNS
from otf.cli.tools import stored_suites
from otf.cli.tools.stored_suites import SuiteOrigin, mark, parameters, save, understood, withheld
from otf.errors import UsageError
from otf.explore import Graph
from otf.spec import Spec
from otf.strategy import script
from otf.strategy.kinds import Maker, StrategyKind
from otf.suite import AdaptiveSuite, adaptive, suite
from otf.suite.adaptive import Deciding
from otf.suite.observable import Decisions
from otf.trace.tagged import encode
from otf.values import show


def _as_data(built: AdaptiveSuite) -> dict[str, Any]:
    """Return the description of an adaptive suite; `steps` is the largest number of inputs that it sends."""
    return {
        "model": built.name,
        "method": built.method,
        "paths": len(built.tests) * built.runs,
        "steps": built.steps * built.runs,
        "runs": built.runs,
        "guarantee": built.guarantee,
        "notes": list(built.notes),
        "ignores": False,
        "says": str(built),
    }


def _kind(built: AdaptiveSuite, graph: Graph) -> StrategyKind:
    """Return the strategy that sends the inputs that the tests decide on, one test on each path."""
    numbers = {state: number for number, state in enumerate(graph.states)}

    def maker(test: int) -> Maker:
        return lambda _pool, _visits: Deciding(built, numbers, test)

    return StrategyKind(f"suite {built.method}", "inputs that depend on the outputs", tuple(map(maker, built.tests)))


def _write(path: Path, built: AdaptiveSuite, extra: int, origin: SuiteOrigin) -> None:
    """Write the decisions of a suite and its source to a file."""
    machine, rows = built.machine, built.decisions.rows
    made = {
        "runs": built.runs,
        "states": [show(state) for state in machine.states],
        "inputs": [encode(inp) for inp in machine.inputs],
        # an input, and for each next state the number of the following decision; all numbers count from 0
        "decisions": [[row.input, list(row.then)] for row in rows],
        "tests": built.tests,
    }
    save(path, {**origin.head(built, extra), "fingerprint": _fingerprint(origin.spec, built), **made})


def _read(path: Path, data: Mapping[str, Any], bench: Bench, runs: int | None) -> tuple[AdaptiveSuite, Graph]:
    """Return the suite of a file, with what a pass guarantees; another number of runs replaces the file's.

    Raises UsageError if the model has changed since it was written: its states may be different then.
    """
    with understood(path):
        origin = SuiteOrigin(bench.spec, bench.parameters, int(data["limit"]))
        before = {str(name): str(value) for name, value in data["parameters"].items()}
        how = str(data["method"]), int(data["extra"]), int(data["runs"]) if runs is None else runs
        recorded = str(data["fingerprint"])
    graph = origin.graph()
    built = adaptive(graph, *how)
    if recorded != _fingerprint(origin.spec, built):
        message = f"--read {path}: the model has changed since the suite was written; write it again"
        raise UsageError(message)
    with understood(path):
        # both take the numbers of their decisions from one table, so that equal decisions have equal numbers
        tests = _tests(data, built.decisions, range(len(built.machine.inputs)))
    missing = len(set(built.tests).difference(tests))
    guarantee = withheld(missing, len(built.tests), built.method) if missing else built.guarantee
    notes = (*parameters(before, origin.texts()), *built.notes)
    return replace(built, tests=tests, notes=notes, guarantee=guarantee), graph


def _tests(data: Mapping[str, Any], table: Decisions, inputs: range) -> list[int]:
    numbers: list[int] = []
    for inp, then in data["decisions"]:
        # only earlier decisions have a number, so that no test is endless
        numbers.append(table.add(inputs[_index(inp)], [(_index(state), numbers[_index(at)]) for state, at in then]))
    return [numbers[_index(test)] for test in data["tests"]]


def _index(number: Any) -> int:  # noqa: ANN401 -- JSON
    if not isinstance(number, int) or number < 0:
        message = f"{number!r} is not a number from 0"
        raise ValueError(message)
    return number


def _fingerprint(spec: Spec[Any, Any], built: AdaptiveSuite) -> str:
    machine = built.machine
    return mark(spec, repr(([show(inp) for inp in machine.inputs], machine.ends, sorted(machine.same))))


class PlannedSuite(NamedTuple):
    """What will run: the description, the paths, the inputs in the longest path, and how inputs are chosen."""

    data: dict[str, Any]
    paths: int
    longest: int
    kind: Callable[[], StrategyKind]
    mode: Mode = "eager"


def generated(
    origin: SuiteOrigin,
    method: str,
    extra: int,
    runs: int | None,
    write: Path | None,
    reset_cost: float,
) -> PlannedSuite:
    """Return a suite that is generated, and perhaps written. Raises UsageError."""
    if method in ADAPTIVE:
        graph = origin.graph()
        tests = adaptive(graph, method, extra, RUNS if runs is None else runs)
        if write is not None:
            _write(write, tests, extra, origin)
        return _adaptive(tests, graph)
    _no_runs(runs)
    built = suite(origin.graph(), method, extra, reset_cost=reset_cost)
    if write is not None:
        stored_suites.write(write, built, extra, origin)
    return _fixed(built.paths, stored_suites.as_data(built))


def stored(path: Path, bench: Bench, runs: int | None) -> PlannedSuite:
    """Return the suite of a file. Raises UsageError."""
    content = stored_suites.content(path)
    if "decisions" in content:
        return _adaptive(*_read(path, content, bench, runs))
    _no_runs(runs)
    return _fixed(*stored_suites.read(path, content, bench))


def _no_runs(runs: int | None) -> None:
    if runs is not None:
        raise UsageError("--runs: only adaptive tests are run several times; leave it out, or use an adaptive method")


def _fixed(paths: list[list[Any]], data: dict[str, Any]) -> PlannedSuite:
    name = f"suite {data['method']}"
    return PlannedSuite(data, len(paths), max(map(len, paths), default=0), lambda: replace(script(*paths), name=name))


def _adaptive(tests: AdaptiveSuite, graph: Graph) -> PlannedSuite:
    data, kind = _as_data(tests), partial(_kind, tests, graph)
    # the state of the model is known only at quiescence
    return PlannedSuite(data, data["paths"], tests.longest, kind, "strict")
