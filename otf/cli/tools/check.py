"""`otf check`, and the laws of a model and its size, as text and as data."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TextIO

from otf.adapter.third_party import watched
from otf.campaign.journal_lines import JOURNAL
from otf.cli.benches import load, model, named, parsed
from otf.cli.catalogue import LAWS, LIVE, REQUIRED
from otf.cli.output import document, say
from otf.cli.tools.folder_check import check_folder
from otf.cli.tools.model_commands import CheckCommand
from otf.errors import FAIL, PASS, UsageError
from otf.explore import Graph, explore
from otf.explore.analysis import ask_twice, general, liveness, safety
from otf.explore.expiring import expiring, temporal
from otf.explore.finding import Finding, LawVerdict
from otf.logic import Formula
from otf.spec import Spec
from otf.trace.verdict import Citation
from otf.values import show


def check(asked: CheckCommand) -> int:
    """Do what the command asks; return the exit status."""
    if (Path(asked.bench) / JOURNAL).exists():
        return check_folder(Path(asked.bench), as_json=asked.as_json)
    required = _required(asked.laws)
    spec = model(asked.bench, parsed(asked.sets))
    graph = explore_model(spec, asked.limit, asked.depth, quiet=asked.as_json)
    with watched():
        ask_twice(spec, graph)
        timers = expiring(spec, asked.limit)
    given = (
        *invariant_findings(graph, asked.invariants or ()),
        *property_findings(graph, asked.bench, asked.sets, asked.properties or ()),
    )
    found = [*general(graph), liveness(graph, law=LIVE), *timers, *given]
    must = [each for each in found if each.law in required or each.law not in LAWS]
    data = {"name": graph.name, "whole": graph.whole, "laws": [as_law(each) for each in found]}
    if asked.as_json:
        document(data)
    else:
        say("\n".join([summary(graph, found, must), *cited_sentences(asked.bench, asked.sets, found)]))
    return FAIL if any(each.verdict is LawVerdict.REFUTED for each in must) else PASS


def _required(laws: list[str] | None) -> Sequence[str]:
    unknown = [law for law in laws or () if law not in LAWS]
    if unknown:
        raise UsageError(f"--law {unknown[0]}: choose among {', '.join(LAWS)}")
    return laws or REQUIRED


KINDS: Final = 12  # states or inputs to list
MEANINGS: Final = {
    "deterministic": "in each state, an input has one outcome",
    "output-deterministic": "in each state, the outputs show which outcome an input had",
    "total": "each state specifies every input that is enabled in it",
    "input-enabled": "each state specifies every input of the model",
    "minimal": "any two states differ in their outputs, now or later",
    "no dead end": "every state has a way on, and if some states are final, a way to one of them",
    "no lost timer": "a timer expires only where the model has a transition for it",
    "no unknown timer": "each timer that a transition waits for is started somewhere",
    "invariant": "the model's own invariant holds in every state",
}


def summary(graph: Graph, found: list[Finding], required: list[Finding], overview: Iterable[str] = ()) -> str:
    """Return the size of a graph and its laws, each explained; a failing law is *refuted* only if `required`."""
    size = f"{graph.name}: {graph.size}"
    return "\n".join([size + _cut(graph), *overview, *(_law(each, required=each in required) for each in found)])


def _law(finding: Finding, *, required: bool) -> str:
    head, *way = str(finding).split("\n")
    meaning = MEANINGS.get(finding.law, "")
    if not finding and not required:
        # the way to a state only helps if something is wrong
        head, way = head.replace(f"{finding.law}: refuted", f"{finding.law}: no", 1), []
        meaning += "; it need not be so"
    return "\n".join([head, *([f"      {meaning}"] if meaning else []), *way])


def overview(graph: Graph) -> Iterator[str]:
    """Yield what a large model consists of, and how to see its states."""
    states = Counter(type(value).__name__ for value in graph.values)
    inputs = Counter(type(value).__name__ for value in graph.inputs)
    if graph.parent:  # groups of states have no types, and no ways lead to them
        far = len(graph.way(len(graph.values) - 1))
        yield f"states:   {_counted(states)}; the farthest is {far} steps from the start"
    yield f"inputs:   {_counted(inputs)}"
    yield f"too many to list: --whole lists all states, --depth 2 those near {show(graph.values[0])}"


def _counted(kinds: Counter[str]) -> str:
    return ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common(KINDS))


def _cut(graph: Graph) -> str:
    if graph.edge:
        return f"; not whole, cut at {len(graph.edge):,} states by {', '.join(graph.cuts)}"
    behind = "some outputs decide the next state, and what is behind them is not decided here, but by a campaign"
    return "" if graph.whole else f"; not whole: {behind}"


def as_law(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON data."""
    return {
        "law": finding.law,
        "verdict": str(finding.verdict),
        "says": finding.says,
        "way": list(map(str, finding.way)),
        **({"requirements": list(finding.req)} if finding.req else {}),
    }


def cited_sentences(bench: str, sets: list[str] | None, found: Iterable[Finding]) -> Iterator[str]:
    """Yield the requirements that refuted laws state, with their sentences if the bench has a table."""
    broken = [name for each in found if each.verdict is LawVerdict.REFUTED for name in each.req]
    table = None
    with suppress(UsageError):  # a file of another tool, or a bare model, has no table
        table = load(bench, parsed(sets)).requirements if broken else None
    for name in broken:
        known = table.get(name) if table else None
        if known is not None:
            yield f"violates: {Citation(name, f'{known.level}: {known.text}')}"


def invariant_findings(graph: Graph, places: Iterable[str]) -> Iterable[Finding]:
    """Yield whether the state functions at these places hold."""
    for given in places:
        place, _, req = given.partition("=")
        holds = named(place)
        if not callable(holds):
            raise UsageError(f"--invariant {place}: this is not a function of a state")
        yield safety(graph, holds, f"always {place.rpartition(':')[2]}", req.split(",") if req else ())


def property_findings(graph: Graph, bench: str, sets: list[str] | None, places: Iterable[str]) -> Iterator[Finding]:
    """Yield whether the properties of a bench, and those at these places, hold."""
    known: dict[str, object] = {}
    with suppress(UsageError):  # a file of another tool, or a bare model, has no properties
        known = dict(load(bench, parsed(sets)).properties)
    for name, what in formulas(known, places).items():
        yield temporal(graph, name, what)


def formulas(known: Mapping[str, object], places: Iterable[str]) -> dict[str, Formula]:
    """Return the known properties, and those at these places. Raises UsageError for anything else."""
    found = dict[str, Formula]()
    for name, what in ({**known} | {place.rpartition(":")[2]: named(place) for place in places}).items():
        if not isinstance(what, Formula):
            is_what = "there is nothing of that name" if what is None else "this is not a temporal property"
            raise UsageError(f"--property {name}: {is_what}; write always(…), never(…) or within(n, …)")
        found[name] = what
    return found


def explore_model(spec: Spec[Any, Any], limit: int, depth: int | None, *, quiet: bool) -> Graph:
    """Return the graph of a model; show the progress on a terminal."""
    with _bar(quiet=quiet) as progress, watched():
        graph = explore(spec, limit, depth=depth, progress=progress)
    return graph  # noqa: RET504 -- as far as mypy knows, a context manager may swallow errors


@contextmanager
def _bar(*, quiet: bool) -> Generator[Callable[[int, int], None] | None]:
    """Yield a function that shows the progress of an exploration; None if standard error is not a terminal."""
    stderr: TextIO | None = sys.stderr
    if quiet or stderr is None or not stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("states", total=1)
        yield lambda done, total: bars.update(task, completed=done, total=total)
