"""`otf replay`: judge recorded traces again, offline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from otf.cli.options import AsJson, FromBench, Sets, Suts
from otf.cli.output import document, error_document, guarded, report_error, say, show_traceback
from otf.errors import FAIL, INCONCLUSIVE, PASS, STATUS_OF, USAGE, OtfError, TraceError, UsageError

if TYPE_CHECKING:
    from otf.adapter import Bench
    from otf.cli.replay_logs import How
    from otf.offline import Judgement
    from otf.offline.logs import Opinion

WORST = (FAIL, USAGE, INCONCLUSIVE, PASS)  # the status of several traces: a failure counts whatever else there is


@guarded
def replay(
    traces: Annotated[
        list[str],
        typer.Argument(
            metavar="TRACE...",
            help="Trace files, or folders of them; captures; logs of other programs; - is standard input.",
        ),
    ],
    bench: FromBench = None,
    suts: Suts = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="The capture or log still grows: judge it while it does.")
    ] = False,
    lost_start: Annotated[
        bool, typer.Option("--lost-start", help="Its start is lost: the system may be in any state of the spec.")
    ] = False,
    ended: Annotated[
        bool, typer.Option("--ended", help="There was silence after its end: outstanding outputs are missing.")
    ] = False,
    log_format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="The format of a log of another tool, where it is not plain: candump, script:TYPESCRIPT, sigrok:BAUD, "
            "text, raw, …; a wrong one lists all.",
        ),
    ] = "",
    port: Annotated[
        str, typer.Option("--port", metavar="PORT", help="The port that such a log is of, if the bench has several.")
    ] = "",
    nodes: Annotated[
        str,
        typer.Option(
            "--nodes",
            metavar="PLACE",
            help="The logs are those of several nodes: judge them together, as this NodeLogs says.",
        ),
    ] = "",
    sets: Sets = None,
    as_json: AsJson = False,
) -> int:
    """Judge recorded traces against the current model, without a system under test.

    Captures and logs of other programs need --bench, which decodes them; --sut PORT=URL gives the address of a port.
    Logs of several nodes need --nodes, and are judged together.
    The exit status is that of the worst: 1 if one fails, 2 if one cannot be read.
    """
    from otf.cli.benches import parsed
    from otf.cli.replay_logs import How
    from otf.offline.formats import named

    if nodes:
        from otf.cli.node_logs import replay_nodes

        return replay_nodes(traces, nodes, log_format, as_json=as_json)
    form, choice = named(log_format) if log_format else ("", "")
    source = TraceSource(bench, suts, parsed(sets), How(follow, lost_start, ended, form, choice, port))
    judged = {name: _judged(name, source) for name in each_trace(traces)}
    if as_json:
        document([_json(name, judgement) for name, judgement in judged.items()])
    else:
        for name, judgement in judged.items():
            _report(name, judgement)
    statuses = {_status(judgement) for judgement in judged.values()}
    return next(status for status in WORST if status in statuses)


def each_trace(names: list[str]) -> Iterator[str]:
    """Yield the names of traces; for a folder those of the traces in it. Raises TraceError if it has none."""
    for name in names:
        if Path(name).is_dir():
            yield from map(str, _inside(Path(name)))
        else:
            yield name


def _inside(folder: Path) -> list[Path]:
    from otf.campaign.journal_lines import JOURNAL
    from otf.cli.traces import ordinary

    found = sorted(path for path in folder.glob("*.jsonl") if path.name != JOURNAL)
    if not found:
        message = f"{folder}: there is no trace in this folder (their names end in .jsonl)"
        raise TraceError(message)
    return [ordinary(path) for path in found]


@dataclass(frozen=True, slots=True)
class TraceSource:
    """What the command line specifies for the traces: bench, addresses, parameters, and how to read them."""

    bench: str | None
    suts: list[str] | None
    sets: Mapping[str, object]
    how: How

    def named(self, name: str) -> Bench:
        """Return the bench that a foreign log needs. Raises UsageError if none was named."""
        from otf.cli.benches import load
        from otf.cli.sut_addresses import addressed

        if self.bench is None:
            message = f"{name}: this is not a trace of otf; name its bench with --bench BENCH"
            raise UsageError(message)
        return addressed(load(self.bench, self.sets), self.suts)


def _judged(name: str, source: TraceSource) -> Judgement | Opinion | OtfError:
    # a trace that cannot be read must not hide failures in the others
    from otf.cli.replay_logs import form_of, opinion
    from otf.cli.traces import bench_of, opened
    from otf.offline import judge
    from otf.trace.reading import TraceReader, bounded
    from otf.trace.verdict import Verdict

    try:
        with opened(name) as file:
            if form := form_of(name, file, source.how, source.named if source.bench is not None else None):
                return _seen(opinion(name, file, source.named(name), replace(source.how, form=form)))
            reader = TraceReader(bounded(file), "standard input" if name == "-" else name)
            judgement = judge(reader, bench_of(reader, source.bench, source.sets, drives=False))
            if judgement.doubt:
                judgement = replace(judgement, verdict=Verdict("inconclusive", why=judgement.doubt))
            return judgement
    except OtfError as error:
        return error


def _seen(found: Opinion) -> Opinion:
    """Return an opinion, which is none without an event of the system."""
    from otf.trace.verdict import Verdict

    if found.events or found.verdict.outcome != "pass":
        return found
    why = f"there is no event of the bench in it, {found.strange:,} messages of others: nothing was tested"
    return replace(found, verdict=Verdict("inconclusive", why=why))


def _status(judgement: Judgement | Opinion | OtfError) -> int:
    return judgement.exit_status if isinstance(judgement, OtfError) else STATUS_OF[judgement.verdict.outcome]


def _json(name: str, judgement: Judgement | Opinion | OtfError) -> dict[str, Any]:
    from otf.offline.logs import Opinion

    if isinstance(judgement, OtfError):
        show_traceback(judgement)
        return {"trace": name, **error_document(str(judgement))}
    failure = judgement.verdict.failure
    if isinstance(judgement, Opinion):
        return {
            "trace": name,
            "verdict": judgement.verdict.outcome,
            "steps": judgement.steps,
            "signature": str(failure.signature) if failure else None,
            "place": judgement.place,
            "skipped": judgement.skipped,
            "strange": judgement.strange,
            "cut": judgement.cut,
            "why": judgement.verdict.why,
        }
    return {
        "trace": name,
        "verdict": judgement.verdict.outcome,
        "recorded": judgement.recorded,
        "steps": judgement.steps,
        "signature": str(failure.signature) if failure else None,
        "event": failure.event if failure else None,
        "cut": judgement.cut,
        "changed": judgement.changed,
    }


def _report(name: str, judgement: Judgement | Opinion | OtfError) -> None:
    from otf.cli.replay_logs import position
    from otf.offline.logs import Opinion
    from otf.trace.explain import explanation
    from otf.trace.result import counted

    if isinstance(judgement, OtfError):
        report_error(judgement)
        return
    say(f"{name}: {counted(judgement.steps, 'step')}")
    say(explanation(judgement.verdict))
    if isinstance(judgement, Opinion):
        say(f"note: {position(judgement)}")
        return
    for note in notes(judgement):
        say(f"note: {note}")


def notes(judgement: Judgement) -> Iterator[str]:
    """Yield what a person should know about a judgement besides its verdict."""
    if judgement.cut:
        yield "the trace was cut: it was judged up to its last whole line"
    if judgement.changed:
        yield "the model has changed since this trace was recorded; it was judged against the current model"
    if judgement.recorded not in (None, judgement.verdict.outcome):
        yield f"the recorded verdict is {judgement.recorded}"
    if judgement.header.faults:
        yield f"faults were injected on the ports, only these: {', '.join(judgement.header.faults)}"
