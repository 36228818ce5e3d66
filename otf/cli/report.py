"""`otf report`: the result of a campaign as a page, and for continuous integration."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from otf.adapter import Bench
from otf.cli.benches import is_shipped, parsed
from otf.cli.campaign_folder import gathered
from otf.cli.options import AsJson, FromBench, Sets
from otf.cli.output import document, guarded, say
from otf.cli.summary import lists
from otf.cli.traces import bench_of, reading, repeated
from otf.errors import PASS, UsageError
from otf.offline import judge
from otf.report import MARK, Gathered, junit, markdown, page
from otf.report import github as remarks
from otf.report.embedded import EmbeddedPath, chosen, embedded
from otf.report.path_view import Json, PathView
from otf.runner.files import put, writing
from otf.trace.result import counted

STEP = "GITHUB_STEP_SUMMARY"  # the variable with the name of the file that GitHub shows beside a step
HEAD = 200  # bytes of a file that contain the mark of a report
COMMANDS = {"look at it": "show", "judge it again": "replay", "drive it again": "rerun", "shrink it": "shrink"}
EXAMPLES = """\b
Examples:
  otf report DIR                       write DIR/report.html
  otf report DIR --junit x.xml         write JUnit XML as well
  otf report DIR --github              print annotations, and a summary, for GitHub Actions
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
        Path | None,
        typer.Option(
            "--junit", metavar="FILE", help="Write JUnit XML as well: a test case for the bench and for each failure."
        ),
    ] = None,
    markdown_file: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write a summary in Markdown as well.")
    ] = None,
    github: Annotated[
        bool,
        typer.Option("--github", help="Print annotations for GitHub Actions, and add a summary to that of the step."),
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Write one HTML file about a campaign: verdicts, failures with charts, coverage, and inputs that were not tried.

    All traces of the folder are judged again. The page needs no network and opens from disk. The exit status is 0
    whatever the verdict: `otf run` and `otf replay` judge.
    """
    found = gathered(folder, bench, parsed(sets), watched)
    file = out or folder / "report.html"
    _write(file, page(found, _in_the_page(found, folder, bench, parsed(sets))))
    if junit_xml is not None:
        _write(junit_xml, junit(found))
    if markdown_file is not None:
        _write(markdown_file, markdown(found))
    if github and (step := os.environ.get(STEP)):
        _append(Path(step), markdown(found))
    if as_json:
        document(_json(found, file))
    else:
        say(remarks(found) if github else _text(found, file))
    return PASS


def _in_the_page(
    found: Gathered, folder: Path, named: str | None, sets: Mapping[str, object]
) -> Sequence[EmbeddedPath]:
    """Return the paths that the page contains, judged once more: only now it is known which."""
    reference = named or found.header.bench
    loaded: list[Bench] = []

    def read(file: Path) -> Json:
        view = PathView()
        with reading(str(file)) as reader:
            if not loaded:
                loaded.append(bench_of(reader, named, sets, drives=False))
            judgement = judge(reader, loaded[0], on_step=view.event)
            return view.data(judgement, reader.aftermath)

    def commands(file: Path) -> Mapping[str, str]:
        named_bench = "" if is_shipped(reference) else f" --bench {shlex.quote(reference)}"
        calls = {drives: repeated(loaded[0], reference, drives=drives) for drives in (False, True)}
        return {
            what: f"otf {command} {shlex.quote(str(file))}{named_bench}{calls[command in {'rerun', 'shrink'}]}"
            for what, command in COMMANDS.items()
        }

    return embedded(chosen(found, folder), read, commands)


def watched(files: list[Path]) -> Iterable[Path]:
    """Show on a terminal how far reading has got: a million steps take a minute."""
    stderr: TextIO | None = sys.stderr  # None where it was closed
    if stderr is None or not stderr.isatty():
        return files
    from rich.console import Console
    from rich.progress import track

    return track(files, "reading traces", console=Console(stderr=True), transient=True)


def _write(file: Path, content: str) -> None:
    with writing(file, advice="choose another"):
        if file.is_file() and not _ours(file):
            message = f"{file}: this file exists already, and `otf report` did not write it; choose another name"
            raise UsageError(message)
        data = content.encode(errors="backslashreplace")
        # a file is replaced whole or not at all; a pipe or a terminal cannot be replaced
        put(file, data) if file.is_file() or not file.exists() else file.write_bytes(data)


def _append(file: Path, content: str) -> None:
    with writing(file, advice=f"see {STEP}"), file.open("ab") as summary:
        summary.write(content.encode(errors="backslashreplace"))


def _ours(file: Path) -> bool:
    with file.open("rb") as begun:
        head = begun.read(HEAD)
    return MARK.encode() in head or not head


def _text(found: Gathered, file: Path) -> str:
    """Return the result as `otf run` prints it, without the failures."""
    result = found.result
    lines = [
        f"{result.headline} ({result.totals}, seed {found.header.seed})",
        *([result.tally] if result.mixed else []),
    ]
    lines += [f"known issue ({counted(each.paths, 'path')}): {each.says}" for each in result.known_issues if each.paths]
    lines += [f"inconclusive ({counted(each.paths, 'path')}): {each.why}" for each in result.inconclusive]
    return "\n".join([*lines, *result.basis(), f"report: {file}"])


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
        **lists(found.result),
        "silence": found.result.silence,
        "states": len(found.space.states),
        "visited_states": len(found.visits.states & found.space.states.keys()),
        "transitions": len(found.space.edges),
        "visited_transitions": len(found.visits.edges),
        "whole": found.space.whole,
    }
