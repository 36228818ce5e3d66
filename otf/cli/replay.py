"""`otf replay`: judge recorded traces again, offline."""

from __future__ import annotations

from typing import Annotated

import typer

from otf.cli.options import AsJson, FromBench, Sets, Suts, flag, guarded, option
from otf.cli.output import document
from otf.errors import FAIL, INCONCLUSIVE, PASS, USAGE

WORST = (FAIL, USAGE, INCONCLUSIVE, PASS)  # the status of several traces: a failure counts whatever else there is


EXAMPLES = """\b
Examples:
  otf replay runs                           every trace of a folder
  otf replay dump.pcap --bench my_bench.py  a capture of another program
"""


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
    follow: Annotated[bool, flag("--follow", "The capture or log still grows: judge it while it does.")] = False,
    lost_start: Annotated[
        bool, flag("--lost-start", "Its start is lost: the system may be in any state of the spec.")
    ] = False,
    ended: Annotated[
        bool, flag("--ended", "There was silence after its end: outstanding outputs are missing.")
    ] = False,
    log_format: Annotated[
        str,
        option(
            "FORMAT",
            "The format of a log of another tool, where it is not plain: candump, script:TYPESCRIPT, sigrok:BAUD, "
            "text, raw, …; a wrong one lists all.",
            "--format",
        ),
    ] = "",
    port: Annotated[str, option("PORT", "The port that such a log is of, if the bench has several.")] = "",
    nodes: Annotated[
        str, option("PLACE", "The logs are those of several nodes: judge them together, as this NodeLogs says.")
    ] = "",
    sets: Sets = None,
    as_json: AsJson = False,
) -> int:
    """Judge recorded traces against the current model, without a system under test.

    Captures and logs of other programs need --bench, which decodes them; --sut PORT=URL gives the address of a port.
    Logs of several nodes need --nodes, and are judged together.
    The exit status is that of the worst: 1 if one fails, 2 if one cannot be read. A trace that tests nothing, such as
    one whose only input the model does not specify, is inconclusive, but decides nothing beside others that pass.
    """
    from otf.cli.benches import parsed
    from otf.cli.replay_logs import How, TraceSource, as_data, judged, report, status_of
    from otf.cli.traces import each_trace
    from otf.offline.formats import named

    if nodes:
        from otf.cli.node_logs import replay_nodes

        return replay_nodes(traces, nodes, log_format, as_json=as_json)
    form, choice = named(log_format) if log_format else ("", "")
    source = TraceSource(bench, suts, parsed(sets), How(follow, lost_start, ended, form, choice, port))
    found = {name: judged(name, source) for name in each_trace(traces)}
    if as_json:
        document([as_data(name, judgement) for name, judgement in found.items()])
    else:
        for name, judgement in found.items():
            report(name, judgement)
    statuses = {status_of(each) for each in found.values() if not getattr(each, "untested", "")} or {INCONCLUSIVE}
    return next(status for status in WORST if status in statuses)
