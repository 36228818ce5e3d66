"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from otf.cli.completion import benches

Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A parameter of the bench (`otf list` shows them), or quiescence, L or R in seconds; repeatable.",
    ),
]
Suts = Annotated[
    list[str] | None,
    typer.Option(
        "--sut",
        metavar="PORT=URL",
        help="Where the system is: /dev/ttyUSB0, tcp://HOST:PORT, udp://HOST:PORT, exec:COMMAND, …; a URL alone where "
        "the bench has one port; repeatable.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="The folder for traces; default: a new one in otf-runs.")
]
BenchName = Annotated[
    str,
    typer.Argument(
        metavar="BENCH",
        help="A shipped bench, package.module[:name], path/to/file.py[:name], or a TOML file.",
        autocompletion=benches,
    ),
]
TraceName = Annotated[
    str, typer.Argument(metavar="TRACE", help="A trace file, as `otf run` writes it; - reads standard input.")
]
FromBench = Annotated[
    str | None,
    typer.Option("--bench", metavar="BENCH", help="The bench of the trace, where it is none of the shipped ones."),
]
Quiescence = Annotated[
    float | None,
    typer.Option("--quiescence", metavar="SECONDS", help="How long silence lasts to be believed; the bench's default."),
]
