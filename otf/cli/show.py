"""`otf show`: traces as tables or charts."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from otf.cli.options import AsJson, FromBench, Sets, WholeValues, flag, guarded, option
from otf.cli.output import columns, document, say, spaced
from otf.errors import PASS

if TYPE_CHECKING:
    from otf.report import Chart

PAGE: Final = 80  # columns of a chart that goes to a file or a pipe
HERE: Final = "  <== here"


class Form(StrEnum):
    """The form in which a trace is shown."""

    TABLE = "table"
    CHART = "chart"
    SVG = "svg"
    MERMAID = "mermaid"
    JSON = "json"


CHARTS: Final = (Form.CHART, Form.SVG, Form.MERMAID)


EXAMPLES = """\b
Examples:
  otf show runs/path-0001.jsonl          each event with its time and bytes
  otf show runs/path-0001.jsonl --chart  as a sequence chart
"""


@guarded
def show(
    traces: Annotated[
        list[str],
        typer.Argument(metavar="TRACE...", help="Trace files of `otf run`, or folders of them; - is standard input."),
    ],
    bench: FromBench = None,
    sets: Sets = None,
    as_chart: Annotated[
        bool, flag("--chart", "A sequence chart: a line for each port, the system in the middle.")
    ] = False,
    form: Annotated[
        Form, option("FORM", "table, or as a sequence chart: chart, svg, mermaid; json is --json.", "--format")
    ] = Form.TABLE,
    whole: WholeValues = False,
    as_json: AsJson = False,
) -> int:
    """Show a trace as a table: what was sent and seen, when, its bytes, and the possible states after each step.

    A state is shown by what changed since the one before. The step that fails is marked; below the table is what the
    model allowed there. The exit status is 0 even for a failing trace: `otf replay` judges.
    """
    from otf.cli.benches import parsed
    from otf.cli.traces import each_trace
    from otf.values import showing

    form = Form.JSON if as_json else Form.CHART if as_chart else form
    names = list(each_trace(traces))
    with showing(whole=whole):
        shown = [_show(name, bench, parsed(sets), form) for name in names]
    if form is Form.JSON:
        document(shown[0] if names == traces and len(names) == 1 else shown)
    return PASS


def _show(trace: str, bench: str | None, sets: dict[str, object], form: Form) -> dict[str, Any]:
    """Print a trace, unless as a document; return that."""
    from otf.campaign.table import TraceRows
    from otf.cli.replay_logs import notes
    from otf.cli.traces import bench_of, reading
    from otf.offline import judge
    from otf.trace.explain import explanation

    rows = TraceRows()
    with reading(trace) as reader:
        loaded = bench_of(reader, bench, sets, drives=False)
        judgement = judge(reader, loaded, keep=form in CHARTS, on_step=rows.add)
    for traced in reader.aftermath:
        rows.add_after(traced)
    if form in CHARTS:
        from otf.report import chart

        _draw(chart(judgement.events, judgement.verdict.failure), form)
    elif form is Form.TABLE:
        header = judgement.header
        shown = [f"{trace}: bench {header.bench}, seed {header.seed}, path {header.path}", *_table(rows.rows)]
        more = [judgement.doubt] if judgement.dropped and judgement.doubt else []
        said = [f"note: {note}" for note in (*more, *notes(judgement))]
        say("\n".join([*shown, explanation(judgement.verdict), *said]))
    return {"trace": trace, "verdict": judgement.verdict.outcome, "events": [_data(row) for row in rows.rows]}


def _data(row: dict[str, Any]) -> dict[str, Any]:
    # documents have whole states
    return {key: value for key, value in row.items() if key not in {"changes", "timers"}}


def _draw(drawn: Chart, form: Form) -> None:
    from otf.report import lifelines, mermaid, standalone

    if form is Form.CHART:
        say(lifelines(drawn, within=columns() or PAGE), exact=True)
    else:
        say({Form.SVG: standalone, Form.MERMAID: mermaid}[form](drawn).rstrip("\n"), exact=True)


def _table(rows: list[dict[str, Any]]) -> Iterator[str]:
    wide = max(6, *(len(row["port"]) for row in rows)) if rows else 6
    yield f"{'seconds':>9}  {'port':{wide}} {'':5} what"
    for row in _merged(sorted(rows, key=itemgetter("at"))):
        raw = f"   [{spaced(bytes.fromhex(row['raw']))}]" if row["raw"] else ""
        mark = HERE if row["failed"] else ""
        yield f"{row['at']:9.4f}  {row['port']:{wide}} {row['kind']:5} {row['what']}{raw}{mark}".rstrip()
        below = [*(f"{{ {state} }}" for state in row.get("changes", ())), *row.get("timers", ())]
        yield from (f"{'':{wide + 18}}{each}" for each in below)


def _merged(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the rows, several stalls of the machine without anything between them as one."""
    for stalls, found in groupby(rows, key=lambda row: row["kind"] == "stall" and not row["failed"]):
        several = list(found)
        if stalls and len(several) > 1:
            seconds = [float(row["what"].strip("( s)")) for row in several]
            yield several[-1] | {"what": f"({len(several):,} times, {sum(seconds):.3f} s in all)"}
        else:
            yield from several
