"""`otf report`: the result of a campaign as a page, and for continuous integration."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from otf.cli.options import AsJson, FromBench, Sets
from otf.cli.output import document, guarded, say
from otf.errors import PASS, UsageError

if TYPE_CHECKING:
    from otf.report import Gathered

HEAD = 200  # bytes of a file that contain the mark of a report
EXAMPLES = """\b
Examples:
  otf report DIR                       write DIR/report.html
  otf report DIR --junit x.xml         write JUnit XML as well
  otf report DIR --github              print annotations for GitHub Actions
"""


@guarded
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a campaign; `otf run` prints it.")],
    bench: FromBench = None,
    sets: Sets = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The page; default: report.html in the folder.")
    ] = None,
    junit_xml: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML as well, a test case for each path.")
    ] = None,
    github: Annotated[bool, typer.Option("--github", help="Print annotations for GitHub Actions.")] = False,
    as_json: AsJson = False,
) -> int:
    """Write one HTML file about a campaign: verdicts, failures with charts, coverage, and inputs that were not tried.

    All traces of the folder are judged again. The page needs no network and opens from disk. The exit status is 0
    whatever the verdict: `otf run` and `otf replay` judge.
    """
    from otf.cli.benches import parsed
    from otf.cli.campaign_folder import gathered, paths
    from otf.report import github as remarks
    from otf.report import junit, page

    files = paths(folder)
    found = gathered(watched(files), files[0], bench, parsed(sets))
    file = out or folder / "report.html"
    _write(file, page(found))
    if junit_xml is not None:
        _write(junit_xml, junit(found))
    if as_json:
        document(_json(found, file))
    else:
        say(remarks(found) if github else _counts(found, file))
    return PASS


def watched(files: list[Path]) -> Iterable[Path]:
    """Show on a terminal how far reading has got: a million steps take a minute."""
    stderr: TextIO | None = sys.stderr  # None where it was closed
    if stderr is None or not stderr.isatty():
        return files
    from rich.console import Console
    from rich.progress import track

    return track(files, "reading traces", console=Console(stderr=True), transient=True)


def _write(file: Path, content: str) -> None:
    from otf.runner.files import put, writing

    with writing(file, advice="choose another"):
        if file.is_file() and not _ours(file):
            message = f"{file}: this file exists already, and `otf report` did not write it; choose another name"
            raise UsageError(message)
        data = content.encode(errors="backslashreplace")
        # a file is replaced whole or not at all; a pipe or a terminal cannot be replaced
        put(file, data) if file.is_file() or not file.exists() else file.write_bytes(data)


def _ours(file: Path) -> bool:
    from otf.report import MARK

    with file.open("rb") as begun:
        head = begun.read(HEAD)
    return MARK.encode() in head or not head


def _counts(found: Gathered, file: Path) -> str:
    from otf.cli.summary import counted

    numbers = (len(found.paths), "path"), (found.steps, "step"), (len(found.failures), "kind")
    counts = ", ".join(counted(number, what) for number, what in numbers)
    return f"{found.verdict}: {counts} of failure\nreport: {file}"


def _json(found: Gathered, file: Path) -> dict[str, Any]:
    return {
        "report": str(file),
        "verdict": found.verdict,
        "paths": len(found.paths),
        "steps": found.steps,
        "failures": [
            {"signature": name, "count": each.count, "trace": each.file, "steps": each.steps}
            for name, each in found.failures.items()
        ],
        "states": len(found.space.states),
        "visited_states": len(found.visits.states & found.space.states.keys()),
        "transitions": len(found.space.edges),
        "visited_transitions": len(found.visits.edges),
        "whole": found.space.whole,
    }
