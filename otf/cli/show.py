"""`otf show`: a trace as a table."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from otf.cli.options import AsJson, FromBench, Sets, TraceName
from otf.cli.output import document, guarded, say
from otf.errors import PASS

if TYPE_CHECKING:
    from otf.core import Monitor
    from otf.trace.events import Event
    from otf.trace.reading import TracedEvent

LONGEST: Final = 60  # bytes of a frame that are shown
HERE: Final = "  <== here"


class Form(StrEnum):
    """The form in which a trace is shown."""

    TABLE = "table"
    CHART = "chart"
    SVG = "svg"
    MERMAID = "mermaid"
    JSON = "json"


CHARTS: Final = (Form.CHART, Form.SVG, Form.MERMAID)


@guarded
def show(
    trace: TraceName,
    bench: FromBench = None,
    sets: Sets = None,
    as_chart: Annotated[
        bool, typer.Option("--chart", help="A sequence chart: a line for each port, the system in the middle.")
    ] = False,
    form: Annotated[
        Form,
        typer.Option(
            "--format", metavar="FORM", help="table, or as a sequence chart: chart, svg, mermaid; json is --json."
        ),
    ] = Form.TABLE,
    as_json: AsJson = False,
) -> int:
    """Show a trace as a table: what was sent and seen, when, its bytes, and the possible states after each step.

    The step that fails is marked; below the table is what the model allowed there. The exit status is 0 even for a
    failing trace: `otf replay` judges.
    """
    from otf.cli.benches import parsed
    from otf.cli.replay import notes
    from otf.cli.traces import bench_of, reading
    from otf.offline import judge
    from otf.report import chart, lifelines, mermaid, standalone
    from otf.trace.explain import explanation

    form = Form.CHART if as_chart else form
    rows: list[dict[str, Any]] = []
    with reading(trace) as reader:
        loaded = bench_of(reader, bench, parsed(sets), drives=False)
        judgement = judge(
            reader, loaded, keep=form in CHARTS, on_step=lambda traced, monitor: rows.append(_row(traced, monitor))
        )
    rows += [_after(each) for each in reader.aftermath]
    if as_json or form is Form.JSON:
        document({"trace": trace, "verdict": judgement.verdict.outcome, "events": rows})
        return PASS
    if form in CHARTS:
        drawn = {Form.CHART: lifelines, Form.SVG: standalone, Form.MERMAID: mermaid}[form]
        say(drawn(chart(judgement.events, judgement.verdict.failure)).rstrip("\n"))
        return PASS
    header = judgement.header
    lines = [f"{trace}: bench {header.bench}, seed {header.seed}, path {header.path}", *_table(rows)]
    say("\n".join([*lines, explanation(judgement.verdict), *(f"note: {note}" for note in notes(judgement))]))
    return PASS


def _row(traced: TracedEvent, monitor: Monitor) -> dict[str, Any]:
    from otf.trace.events import Quiet
    from otf.values import show as text

    event, failure = traced.event, monitor.verdict.failure if monitor.verdict is not None else None
    kind, what = _described(event)
    settled = isinstance(event, Quiet) and failure is None
    return {
        "line": traced.line,
        "at": event.at,
        "kind": kind,
        "port": getattr(event, "port", ""),
        "what": what,
        "states": [text(node.value) for node in monitor.states] if settled else [],
        "raw": traced.raw.hex(" ") if traced.raw is not None else "",
        "failed": failure is not None and failure.event == monitor.events,
    }


def _after(traced: TracedEvent) -> dict[str, Any]:
    """Return the row of an event after the failure, which was not judged."""
    kind, what = _described(traced.event)
    row = {"line": traced.line, "at": traced.event.at, "kind": kind, "port": getattr(traced.event, "port", "")}
    raw = traced.raw.hex(" ") if traced.raw is not None else ""
    return {**row, "what": f"{what}  (afterwards)", "states": [], "raw": raw, "failed": False}


def _described(event: Event) -> tuple[str, str]:
    from otf.trace.events import Closed, Quiet, Seen, Sent
    from otf.values import show as text

    match event:
        case Sent(value):
            return "->", text(value)
        case Seen(value):
            return "<-", text(value)
        case Closed(_, reason):
            return "<-", f"the port ended: {reason}"
        case Quiet(by=by):
            return "quiet", f"({by})" if by else ""
        case _:
            return "taken", ""


def _table(rows: list[dict[str, Any]]) -> Iterator[str]:
    yield f"{'seconds':>9}  {'port':6} {'':5} what"
    for row in rows:
        raw = f"   [{_shortened(row['raw'])}]" if row["raw"] else ""
        mark = HERE if row["failed"] else ""
        yield f"{row['at']:9.4f}  {row['port']:6} {row['kind']:5} {row['what']}{raw}{mark}".rstrip()
        yield from (f"{'':24}{{ {state} }}" for state in row["states"])


def _shortened(raw: str) -> str:
    longest = 3 * LONGEST - 1  # two digits and a blank a byte
    return raw if len(raw) <= longest else f"{raw[:longest]} …"
