"""`otf show`: traces as tables or charts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from otf.campaign.table import TraceRows
from otf.cli.benches import parsed
from otf.cli.commands import Form, ShowCommand
from otf.cli.output import columns, document, say, spaced
from otf.cli.replay_logs import notes
from otf.cli.traces import bench_of, each_trace, reading
from otf.errors import PASS
from otf.offline import Judgement, judge
from otf.trace.explain import explanation
from otf.trace.verdict import Verdict
from otf.values import showing

PAGE: Final = 80  # columns of a chart written to a file or a pipe
HERE: Final = "  <== here"


CHARTS: Final = (Form.CHART, Form.SVG, Form.MERMAID)


def show(asked: ShowCommand) -> int:
    """Do what the command asks; return the exit status."""
    form = Form.JSON if asked.as_json else Form.CHART if asked.as_chart else asked.form
    names = list(each_trace(asked.traces))
    with showing(whole=asked.whole):
        shown = [_show(name, asked.bench, parsed(asked.sets), form) for name in names]
    if form is Form.JSON:
        document(shown[0] if names == asked.traces and len(names) == 1 else shown)
    return PASS


def _show(trace: str, bench: str | None, sets: dict[str, object], form: Form) -> dict[str, Any]:
    """Print a trace, unless a document is wanted; return the document."""
    rows = TraceRows()
    with reading(trace) as reader:
        loaded = bench_of(reader, bench, sets, drives=False)
        judgement = judge(reader, loaded, keep=form in CHARTS, on_step=rows.add)
    verdict = Verdict("inconclusive", why=judgement.doubt) if judgement.doubt else judgement.verdict
    for traced in reader.aftermath:
        rows.add_after(traced)
    if form in CHARTS:
        _draw(judgement, form)
    elif form is Form.TABLE:
        header = judgement.header
        shown = [f"{trace}: bench {header.bench}, seed {header.seed}, path {header.path}", *_table(rows.rows)]
        said = [f"note: {note}" for note in notes(judgement)]
        say("\n".join([*shown, explanation(verdict), *said]))
    # documents have whole states
    events = [{key: value for key, value in row.items() if key not in {"changes", "timers"}} for row in rows.rows]
    return {"trace": trace, "verdict": verdict.outcome, "events": events}


def _draw(judgement: Judgement, form: Form) -> None:
    from otf.report import chart, lifelines, mermaid, standalone  # a tool: the rest of the command works without it

    drawn = chart(judgement.events, judgement.verdict.failure)
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
    """Yield the rows, merging several stalls of the machine in a row into one."""
    for stalls, found in groupby(rows, key=lambda row: row["kind"] == "stall" and not row["failed"]):
        several = list(found)
        if stalls and len(several) > 1:
            seconds = [float(row["what"].strip("( s)")) for row in several]
            yield several[-1] | {"what": f"({len(several):,} times, {sum(seconds):.3f} s in all)"}
        else:
            yield from several
