"""`otf check`, of a model: its laws and its size; of a campaign's folder: whether it is as its journal says."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from otf.adapter.third_party import watched
from otf.campaign.believed import OF_PATHS, TraceFile, same_campaign
from otf.campaign.journal_lines import JOURNAL
from otf.cli.benches import load, model, parsed, placed
from otf.cli.catalogue import LAWS, LIVE, REQUIRED
from otf.cli.output import document, is_terminal, say
from otf.cli.tools.model_commands import CheckCommand
from otf.errors import FAIL, INCONCLUSIVE, PASS, TraceError, UsageError, choose
from otf.explore import Graph, explore
from otf.explore.analysis import ask_twice, general, liveness, safety
from otf.explore.expiring import expiring, temporal
from otf.explore.finding import Finding, LawVerdict
from otf.logic import Formula
from otf.spec import Spec
from otf.trace.reading import BAD_JSON, bounded
from otf.trace.record import LineChain
from otf.trace.verdict import Citation
from otf.values import show

WHOLE, TORN, EDITED, MIXED, MISSING = "whole", "torn", "edited", "mixed", "missing"
WRONG: Final = (EDITED, MIXED, MISSING)
UNKNOWN: Final = "the journal has no digest of it"


class Found(NamedTuple):
    """A file of a folder, or a line of its journal, and its state."""

    name: str
    state: str
    why: str = ""


class _Line(msgspec.Struct):
    """The fields read from any line of a journal."""

    event: str
    digests: dict[str, str] = {}
    trace: str = ""
    verdict: str = ""
    about: dict[str, Any] | None = None


def check_folder(folder: Path, *, as_json: bool) -> int:
    """Say which parts of a folder are whole; return the exit status."""
    found = [*_found(folder)]
    states = {state: sum(each.state == state for each in found) for state in (WHOLE, TORN, *WRONG)}
    status = FAIL if any(states[state] for state in WRONG) else INCONCLUSIVE if states[TORN] else PASS
    if as_json:
        document({"folder": str(folder), **states, "files": [each._asdict() for each in found]})
        return status
    for each in found:
        if each.state != WHOLE or each.why:
            say(f"{each.state}: {each.name}{each.why and f': {each.why}'}")
    say(f"{folder}: {', '.join(f'{number:,} {state}' for state, number in states.items() if number)}")
    return status


def _found(folder: Path) -> Iterator[Found]:
    try:
        with (folder / JOURNAL).open("rb") as file:
            known, lines = _journal(bounded(file))
    except OSError as error:
        message = f"{folder / JOURNAL}: {error.strerror}; give the folder of a campaign (`otf run` prints it)"
        raise TraceError(message) from error
    yield from lines or [Found(JOURNAL, WHOLE)]
    about = next((line.about for line in reversed(known) if line.about is not None), dict[str, Any]())
    digests = {name: digest for line in known for name, digest in line.digests.items()}
    options: Any = about.get("options")
    keeps_failures = bool(isinstance(options, dict) and options.get("keep") == "failures")  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] -- JSON
    dropped = {line.trace for line in known if line.verdict == "pass" and keeps_failures}
    names = {file.name for file in folder.glob("*.jsonl")} - {JOURNAL}
    for name in sorted(names | digests.keys()):
        if name in names or name not in dropped:
            yield _trace(folder / name, digests.get(name), about.get("header"))


def _journal(lines: Iterable[bytes]) -> tuple[list[_Line], list[Found]]:
    """Return the readable lines of a journal, and what is wrong with the others."""
    chain, known, found = LineChain(), list[_Line](), list[Found]()
    bad = 0  # the previous line, if it is not JSON
    for number, line in enumerate(lines, 1):
        follows = chain.take(line)
        name = f"{JOURNAL}, line {number - 1}"
        if bad:
            found.append(Found(name, TORN if follows else EDITED, "" if follows else "it is not a line of a journal"))
        elif follows is False:
            found.append(
                Found(name, EDITED, f"line {number} has another digest of it, or lines between them are missing")
            )
        bad = 0
        try:
            known.append(msgspec.json.decode(line, type=_Line))
        except BAD_JSON:
            bad = number
    if bad:
        found.append(Found(f"{JOURNAL}, line {bad}", TORN if chain.torn else EDITED, "it is the last one"))
    return known, found


def _trace(file: Path, digest: str | None, header: Any) -> Found:  # noqa: ANN401 -- JSON
    try:
        found = TraceFile.read(file)
    except FileNotFoundError:
        return Found(file.name, MISSING, "its path counts, and its trace has gone")
    except OSError as error:
        return Found(file.name, EDITED, f"it cannot be read ({error.strerror or 'it is not a file'})")
    if isinstance(header, dict) and OF_PATHS.fullmatch(file.name) and not same_campaign(found.header, header):  # pyright: ignore[reportUnknownArgumentType] -- JSON
        return Found(file.name, MIXED if found.header else EDITED, "by its header it is of another campaign")
    if digest is not None:
        changed = found.digest != digest
        return Found(file.name, EDITED if changed else WHOLE, "the journal has another digest of it" if changed else "")
    return Found(file.name, WHOLE if found.whole else TORN, UNKNOWN if found.whole else "it has no end")


def check(asked: CheckCommand) -> int:
    """Do what the command asks; return the exit status."""
    if (Path(asked.bench) / JOURNAL).exists():
        options = {"--law": asked.laws, "--invariant": asked.invariants, "--property": asked.properties}
        refused = [name for name, each in options.items() if each]
        if refused:
            raise UsageError(f"{refused[0]} is for models, and {asked.bench} is the folder of a campaign: give a bench")
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
        raise UsageError(f"--law {unknown[0]}: {choose(unknown[0], LAWS, 'choose among')}")
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
    return "\n".join([size + _cut(graph), *overview, *(told(each, required=each in required) for each in found)])


def told(finding: Finding, *, required: bool) -> str:
    """Return a law with its meaning and, if it matters, the way to a state that breaks it."""
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
        return f"; {graph.beyond}"
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
        holds = placed("--invariant", place)
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
    for name, what in ({**known} | {place.rpartition(":")[2]: placed("--property", place) for place in places}).items():
        if not isinstance(what, Formula):
            raise UsageError(
                f"--property {name}: this is not a temporal property; write always(…), never(…) or within(n, …)"
            )
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
    if quiet or not is_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("states", total=1)
        yield lambda done, total: bars.update(task, completed=done, total=total)
