"""`otf compare`: two traces, two campaigns or two models side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from otf.cli.options import AsJson, FromBench, Sets, flag, guarded, option
from otf.cli.output import document, say
from otf.errors import FAIL, PASS, UsageError
from otf.trace.result import counted

if TYPE_CHECKING:
    from otf.report import Gathered
    from otf.report.compare import ComparedTrace, Comparison, ConditionPair, TraceComparison
    from otf.report.drift import ResponseDrift

EXAMPLES = """\b
Examples:
  otf compare a.jsonl a.shrunk.jsonl        before and after shrinking
  otf compare old/ new/                     two campaigns, of two versions
  otf compare a.jsonl b.jsonl --page c.html a page with both side by side
  otf compare old/ new/ --exit-code         two folders of `otf learn`, in CI
  otf compare learned.py coffee             a learnt model with another one
"""
Sides: TypeAlias = tuple[str, str]
SHORT: Final = 24  # columns for what two paths are called
WIDE: Final = 40  # columns for the name of what is compared; a longer one has a line of its own
FIGURES: Final = ("verdict", "paths", "steps", "kinds of failure", "states visited", "transitions visited")


@guarded
def compare(
    a: Annotated[
        str, typer.Argument(metavar="A", help="A trace, a folder of a campaign, or a model (a bench, a file).")
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    bench: FromBench = None,
    sets: Sets = None,
    page: Annotated[Path | None, option("FILE", "Write a page with both side by side.")] = None,
    exit_code: Annotated[
        bool, flag("--exit-code", "End with status 1 if they differ; without it the status is 0.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Show the first event at which two traces part, the states there, and what else differs: versions, parameters.

    Of two campaigns also their figures, their response times, and the kinds of failure that only one has. The first
    paths of the same number that part are compared. Both are judged again. Of two models, which are benches, folders of
    `otf learn`, or files (.dot, .aut), every kind of difference in their answers, with a shortest sequence of inputs;
    if both are benches, it is sent to both systems.
    """
    from otf.cli.benches import parsed
    from otf.cli.tools.compare_models import are_models, compare_models
    from otf.cli.tools.report import write_page
    from otf.cli.user_code import near_file
    from otf.report.compare import comparison_page

    given = parsed(sets)
    if are_models(a, b):
        return FAIL if compare_models(a, b, given, as_json=as_json) and exit_code else PASS
    folders = [Path(each).is_dir() for each in (a, b)]
    if missing := [each for each in (a, b) if any(folders) and not Path(each).exists()]:
        raise UsageError(f"{missing[0]}: there is no such folder or trace{near_file(Path(missing[0]))}")
    if any(folders) and not all(folders):
        message = f"{a} and {b}: compare two traces, two folders of campaigns or two models, not one with another"
        raise UsageError(message)
    found = _campaigns(a, b, bench, given) if all(folders) else _two(a, b, bench, given)
    if page is not None:
        write_page(page, comparison_page(found))
    if as_json:
        document(found.data())
    else:
        names = sides(a, b)
        heads = [f"{side}: {name}" for side, name in zip(names, (a, b), strict=True) if side != name]
        say("\n".join([*heads, *_lines(found, names)]))
        if page is not None:
            say(f"page: {page}")
    return FAIL if exit_code and _differ(found) else PASS


def _differ(found: Comparison) -> bool:
    """Return whether runs went differently: conditions and times that differ are no difference of the systems."""
    parted = found.traces is not None and found.traces.event is not None
    return parted or any(pair.a != pair.b for pair in found.kinds)


def _two(a: str, b: str, bench: str | None, sets: Mapping[str, object]) -> Comparison:
    from otf.report.compare import Comparison, conditions

    found = _traces(a, b, bench, sets)
    return Comparison(a, b, found, conditions(found.a.header, found.b.header))


def _traces(a: str, b: str, bench: str | None, sets: Mapping[str, object]) -> TraceComparison:
    from otf.report.compare import compared

    return compared(_judged(a, bench, sets), _judged(b, bench, sets))


def _judged(name: str, bench: str | None, sets: Mapping[str, object]) -> ComparedTrace:
    from otf.cli.traces import bench_of, reading
    from otf.offline import judge
    from otf.report.compare import ComparedTrace

    with reading(name) as reader:
        loaded = bench_of(reader, bench, sets, drives=False)
        found = ComparedTrace(name, reader.header)
        judgement = judge(reader, loaded, on_step=lambda traced, monitor: found.take(traced.event, monitor))
    found.done(judgement.conclusion, judgement.steps)
    return found


def _campaigns(a: str, b: str, bench: str | None, sets: Mapping[str, object]) -> Comparison:
    from otf.report.compare import Comparison, ConditionPair, conditions
    from otf.report.drift import drifts

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
    times = drifts(one.answers, other.answers)
    return Comparison(a, b, parted, conditions(one.header, other.header), figures, kinds, times)


def _no_campaign(name: str) -> str:
    from otf.cli.tools.compare_models import LEARNED

    if (Path(name) / LEARNED).is_file():
        return f"{name}: this is a folder of `otf learn`; compare it with another one, with a bench or with a file"
    return f"{name}: `otf learn` has left no {LEARNED} in it, and its traces are no campaign; learn again, with --out"


def _parting_paths(a: Path, b: Path, bench: str | None, sets: Mapping[str, object]) -> Iterator[TraceComparison]:
    """Yield the comparisons of paths of the same number that part."""
    from otf.cli.tools.campaign_folder import paths

    others = {file.name for file in paths(b)}
    for file in paths(a):
        if file.name in others:
            found = _traces(str(file), str(b / file.name), bench, sets)
            if found.event is not None:
                yield found


def _gather(folder: Path, bench: str | None, sets: Mapping[str, object]) -> Gathered:
    from otf.cli.tools.campaign_folder import gathered
    from otf.cli.tools.report import watched

    return gathered(folder, bench, sets, watched)


def _figures(found: Gathered) -> Iterator[str]:
    yield found.result.ruling
    yield f"{len(found.paths):,}"
    yield f"{found.steps:,}"
    yield f"{len(found.failures):,}"
    yield str(found.coverage.states)
    yield str(found.coverage.transitions)


def sides(a: str, b: str) -> Sides:
    """Return short names for two paths: the parts in which they differ, or A and B if those are long.

    >>> sides("old/path-0001.jsonl", "new/path-0001.jsonl"), sides("old/", "new/"), sides("x" * 30, "y")
    (('old', 'new'), ('old', 'new'), ('A', 'B'))
    """
    one, other = list(Path(a).parts), list(Path(b).parts)
    for end in (0, -1):
        while len(one) > 1 and len(other) > 1 and one[end] == other[end]:
            one.pop(end)
            other.pop(end)
    names = "/".join(one), "/".join(other)
    short = names[0] != names[1] and all(0 < len(name) <= SHORT for name in names)
    return names if short else ("A", "B")


def _lines(found: Comparison, names: Sides) -> Iterator[str]:
    from otf.report.compare import seeds_differ

    yield from _figure_lines(found)
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


def _figure_lines(found: Comparison) -> Iterator[str]:
    """Yield the figures of two campaigns as columns, under the names of their folders."""
    from otf.report.compare import difference

    rows = [(*pair, difference(pair.a, pair.b)) for pair in found.figures]
    if rows:
        rows.insert(0, ("", found.a, found.b, "difference"))
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
    """Return both names in the width of the longer."""
    wide = max(map(len, names)) + len(end)
    return f"{names[0] + end:{wide}}", f"{names[1] + end:{wide}}"


def _times(times: Sequence[ResponseDrift], names: Sides) -> Iterator[str]:
    if times:
        yield "times from an input to its first output:"
    from otf.report.compare import ConditionPair

    yield from _table("", [ConditionPair(each.what, each.a, each.b) for each in times], names)
    drifted = [f"  {each.what}: {each.drift}" for each in times if each.drift]
    if drifted:
        yield "times that drifted (a busy machine may be the reason):"
        yield from drifted


def _trace_lines(found: TraceComparison, names: Sides, *, named: bool, other_seed: bool) -> Iterator[str]:
    from otf.report.compare import parting

    a, b = _even(names)
    for side, trace in zip(names, (found.a, found.b), strict=True):
        yield f"{side}{f', {trace.name}' if named else ''}: {trace.outcome}, {counted(trace.steps, 'step')}"
    yield parting(found, other_seed=other_seed)
    if found.event is None or (other_seed and named):
        return
    same = list(found.states_a) == list(found.states_b)
    possible = (("possible there", found.states_a), (f"possible in {names[1]}", found.states_b))
    for side, states in possible[: 1 if same else 2]:
        yield from (f"  {side if not at else '':15} {state}" for at, state in enumerate(states))
    for row in found.rows:
        if row.mark == "=":
            yield f"  {'':{len(a)}}   {row.a}"
        yield from (f"  {side}   {text}" for side, text in ((a, row.a), (b, row.b)) if text and row.mark != "=")
