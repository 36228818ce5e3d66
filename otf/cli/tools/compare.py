"""`otf compare`: two traces, two campaigns or two models side by side."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from otf.cli.benches import is_shipped, parsed
from otf.cli.catalogue import BENCHES, installed, sources
from otf.cli.output import document, say
from otf.cli.tools.campaign_folder import gathered, paths
from otf.cli.tools.commands import CompareCommand
from otf.cli.tools.compare_models import FILES, LEARNED, are_models, compare_models
from otf.cli.tools.report import watched, write_page
from otf.cli.traces import bench_of, reading
from otf.cli.user_code import near_file
from otf.errors import FAIL, PASS, UsageError, near, refuse
from otf.offline import judge
from otf.report import Gathered
from otf.report.aligned import ConditionPair, TraceRow
from otf.report.compare import (
    KNOWN,
    VERDICT,
    ComparedTrace,
    Comparison,
    Sides,
    TraceComparison,
    compared,
    conditions,
    difference,
    parting,
    seeds_differ,
    sides,
)
from otf.report.compare_page import comparison_page
from otf.report.failures import kind_of
from otf.report.times import ResponseDrift, drifts
from otf.trace.result import counted

POSSIBLE: Final = (
    "give two folders of campaigns (`otf run` prints its folder), two traces in such folders (path-0001.jsonl), or two "
    "models (`otf list` shows the shipped benches; package.module, file.py, file.dot)"
)
WIDE: Final = 40  # columns for the name of what is compared; a longer one gets its own line
FIGURES: Final = (VERDICT, "paths", "steps", "kinds of failure", KNOWN, "states visited", "transitions visited")


def compare(asked: CompareCommand) -> int:
    """Do what the command asks; return the exit status."""
    given = parsed(asked.sets)
    _check_there((asked.a, asked.b))
    if are_models(asked.a, asked.b):
        differ = compare_models(asked.a, asked.b, given, asked.page, as_json=asked.as_json)
        return FAIL if differ and asked.exit_code else PASS
    folders = [Path(each).is_dir() for each in (asked.a, asked.b)]
    _check_sorts((asked.a, asked.b))
    found = (
        _compare_campaigns(asked.a, asked.b, asked.bench, given)
        if all(folders)
        else _compare_traces(asked.a, asked.b, asked.bench, given)
    )
    if asked.page is not None:
        write_page(asked.page, comparison_page(found))
    if asked.as_json:
        document(found.data())
    else:
        names = sides(asked.a, asked.b)
        heads = [f"{side}: {name}" for side, name in zip(names, (asked.a, asked.b), strict=True) if side != name]
        say("\n".join([found.headline(names), *heads, *_lines(found, names)]))
        if asked.page is not None:
            say(f"page: {asked.page}")
    return FAIL if asked.exit_code and found.differ else PASS


def _check_there(sides: Sides) -> None:
    """Raise UsageError that tells all that are not there."""
    missing = [each for each in sides if not _sort(each)]
    hints = [near(each, sources()) or near_file(Path(each)).removeprefix("; ") for each in missing]
    if missing and not all(hints):
        hints[-1] = f"{hints[-1]} {POSSIBLE}".lstrip()
    told = zip(missing, hints, strict=True)
    refuse("", [f"{each}: there is no such folder, trace or model; {hint}".rstrip("; ") for each, hint in told])


def _check_sorts(sides: Sides) -> None:
    """Raise UsageError unless both are traces or both are folders."""
    sorts = [_sort(each) for each in sides]
    if sorts[0] != sorts[1]:
        told = " and ".join(f"{each} is a {sort}" for each, sort in zip(sides, sorts, strict=True))
        raise UsageError(f"{told}: compare two traces, two folders of campaigns or two models, not one with another")


def _sort(name: str) -> str:
    path = Path(name)
    if path.is_dir():
        return "folder"
    if path.suffix in {".py", ".toml", *FILES}:
        return "model"
    if name == "-" or path.exists():
        return "trace"
    # a name with a colon or dots is one of Python's, for which Python's own error is best
    dotted = "." in name and path.suffix != ".jsonl" and all(each.isidentifier() for each in name.split("."))
    return "model" if dotted or ":" in name or is_shipped(name) or name in installed(BENCHES) else ""


def _compare_traces(a: str, b: str, bench: str | None, sets: Mapping[str, object]) -> Comparison:
    found = _traces(a, b, bench, sets)
    return Comparison(a, b, found, conditions(found.a.header, found.b.header))


def _traces(a: str, b: str, bench: str | None, sets: Mapping[str, object]) -> TraceComparison:
    return compared(_judge(a, bench, sets), _judge(b, bench, sets))


def _judge(name: str, bench: str | None, sets: Mapping[str, object]) -> ComparedTrace:
    with reading(name) as reader:
        loaded = bench_of(reader, bench, sets, drives=False)
        found = ComparedTrace(name, reader.header)
        judgement = judge(reader, loaded, on_step=lambda traced, monitor: found.take(traced.event, monitor))
    found.done(judgement.conclusion, judgement.steps)
    return found


def _compare_campaigns(a: str, b: str, bench: str | None, sets: Mapping[str, object]) -> Comparison:
    one, other = (_gather(Path(each), bench, sets) for each in (a, b))
    for name, side in ((a, one), (b, other)):
        if side.header.strategy == "learn":
            raise UsageError(_no_campaign(name))
    figures = [ConditionPair(name, *pair) for name, *pair in zip(FIGURES, _figures(one), _figures(other), strict=True)]
    kinds = [
        ConditionPair(
            (one if name in one.failures else other).titled(name),
            *(str(side.failures[name].count if name in side.failures else 0) for side in (one, other)),
        )
        for name in dict.fromkeys([*one.failures, *other.failures])
    ]
    parted = next(_parting_paths(Path(a), Path(b), bench, sets), None)
    times = drifts(one.answers, other.answers, sides(a, b))
    return Comparison(a, b, parted, conditions(one.header, other.header), figures, kinds, times, _otherwise(one, other))


def _otherwise(one: Gathered, other: Gathered) -> tuple[int, int]:
    """Return how many paths of the same number have another verdict or failure, and of how many."""
    ends, others = ({each.number: kind_of(each) for each in side.paths} for side in (one, other))
    both = ends.keys() & others.keys()
    return sum(ends[number] != others[number] for number in both), len(both)


def _no_campaign(name: str) -> str:
    if (Path(name) / LEARNED).is_file():
        return f"{name}: this is a folder of `otf learn`; compare it with another one, with a bench or with a file"
    return (
        f"{name}: `otf learn` has left no {LEARNED} in it, and its traces are not a campaign; learn again, with --out"
    )


def _parting_paths(a: Path, b: Path, bench: str | None, sets: Mapping[str, object]) -> Iterator[TraceComparison]:
    """Yield a comparison for each pair of paths with the same number that part."""
    others = {file.name for file in paths(b)}
    for file in paths(a):
        if file.name in others:
            found = _traces(str(file), str(b / file.name), bench, sets)
            if found.event is not None:
                yield found


def _gather(folder: Path, bench: str | None, sets: Mapping[str, object]) -> Gathered:
    return gathered(folder, bench, sets, watched)


def _figures(found: Gathered) -> Iterator[str]:
    yield found.result.ruling
    yield f"{len(found.paths):,}"
    yield f"{found.steps:,}"
    yield f"{len(found.failures):,}"
    yield f"{len(found.result.seen_issues):,}"
    yield str(found.coverage.states)
    yield str(found.coverage.transitions)


def _lines(found: Comparison, names: Sides) -> Iterator[str]:
    yield from _figure_lines(found, names)
    yield from _table("kinds of failure, with their paths", found.kinds, names)
    yield from _table("they differ in", found.conditions, names)
    yield from _times(found.times, names)
    if not found.conditions:
        yield "they were recorded under the same conditions"
    if found.traces is None:
        yield "no two paths of the same number part"
    else:
        other_seed = seeds_differ(found.conditions)
        yield from _trace_lines(found.traces, names, named=bool(found.figures), other_seed=other_seed)


def _figure_lines(found: Comparison, names: Sides) -> Iterator[str]:
    """Yield the figures of two campaigns as columns, headed by the names of their folders."""
    rows = [(*pair, difference(pair.a, pair.b)) for pair in found.figures]
    if rows:
        rows.insert(0, ("", *names, "difference"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(f"{cell:{wide}}" for cell, wide in zip(row, widths, strict=True)).rstrip()


def _table(title: str, pairs: Sequence[ConditionPair], names: Sides) -> Iterator[str]:
    if pairs and title:
        yield f"{title}:"
    wide = max((len(pair.what) for pair in pairs), default=0)
    for pair in pairs:
        a, b = (f"{side} {value or '(none)'}" for side, value in zip(_even(names, ":"), (pair.a, pair.b), strict=True))
        # a signature of a failure may be as long as a line
        yield from (
            (f"  {pair.what}", f"    {a}", f"    {b}")
            if wide > WIDE
            else (f"  {pair.what:{wide}}  {a}", f"  {'':{wide}}  {b}")
        )


def _even(names: Sides, end: str = "") -> Sides:
    """Return both names padded to the width of the longer one."""
    wide = max(map(len, names)) + len(end)
    return f"{names[0] + end:{wide}}", f"{names[1] + end:{wide}}"


def _times(times: Sequence[ResponseDrift], names: Sides) -> Iterator[str]:
    if times:
        yield "times from an input to its first output:"

    yield from _table("", [ConditionPair(each.what, each.a, each.b) for each in times], names)
    drifted = [f"  {each.what}: {each.drift}" for each in times if each.drift]
    if drifted:
        yield "times that drifted (a busy machine may be the reason):"
        yield from drifted


def _trace_lines(found: TraceComparison, names: Sides, *, named: bool, other_seed: bool) -> Iterator[str]:
    a, b = _even(names)
    for side, trace in zip(names, (found.a, found.b), strict=True):
        yield f"{side}{f', {trace.name}' if named else ''}: {trace.outcome}, {counted(trace.steps, 'step')}"
    yield parting(found, other_seed=other_seed)
    if found.event is None or (other_seed and named):
        return
    if named:
        yield found.tally(names)
    states = found.states
    possible = (("possible there", states[0]), (f"possible in {names[1]}", states[1]))
    for side, listed in possible[: 1 if states[0] == states[1] else 2]:
        yield from (f"  {side if not at else '':15} {state}" for at, state in enumerate(listed))
    for row in found.rows:
        yield from _row_lines(row, (a, b), names)
    if found.rows[-1].mark == "…":
        yield from (f"  look at all:  otf show {shlex.quote(trace.name)}" for trace in (found.a, found.b))


def _row_lines(row: TraceRow, even: Sides, names: Sides) -> Iterator[str]:
    """Yield two events below one another, and the parts in which they differ."""
    if row.mark in "=…":
        yield f"  {'':{len(even[0])}}   {f'… {row.a or row.b}' if row.mark == '…' else row.a}"
        return
    yield from (f"  {side}   {text}" for side, text in zip(even, (row.a, row.b), strict=True) if text)
    for each in row.fields:
        yield f"  {'':{len(even[0])}}   differs in {each.what}: {each.a} in {names[0]}, {each.b} in {names[1]}"
