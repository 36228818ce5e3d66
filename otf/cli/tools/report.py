"""`otf report`: the result of a campaign as a page, and for continuous integration."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from otf.cli.options import AsJson, FromBench, Sets, flag, guarded, option
from otf.cli.output import document, say, warn
from otf.errors import PASS, UsageError

if TYPE_CHECKING:
    from otf.report import Gathered
    from otf.report.embedded import EmbeddedPath
    from otf.report.path_view import ViewData

STEP = "GITHUB_STEP_SUMMARY"  # the variable with the name of the file that GitHub shows beside a step
HEAD = 200  # bytes of a file that contain the mark of a report
AGAIN = "drive it again"
COMMANDS = {"look at it": "show", "judge it again": "replay", AGAIN: "rerun", "shrink it": "shrink"}
DRIVE = {"rerun", "shrink"}
EXAMPLES = """\b
Examples:
  otf report DIR                       write DIR/report.html
  otf report DIR --junit x.xml         write JUnit XML as well
  otf report DIR --github              annotations and a summary for GitHub
"""


@guarded
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a campaign; `otf run` prints it.")],
    bench: FromBench = None,
    sets: Sets = None,
    out: Annotated[Path | None, option("FILE", "The page; default: report.html in the folder.")] = None,
    junit_xml: Annotated[
        Path | None,
        option("FILE", "Write JUnit XML as well: a test case for the bench and for each failure.", "--junit"),
    ] = None,
    markdown_file: Annotated[Path | None, option("FILE", "Write a summary in Markdown as well.", "--markdown")] = None,
    requirements: Annotated[
        Path | None,
        option(
            "FILE", "Write the status of each requirement as well: .csv, .json (sphinx-needs) or .sdoc (StrictDoc)."
        ),
    ] = None,
    github: Annotated[
        bool, flag("--github", "Print annotations for GitHub Actions, and add a summary to that of the step.")
    ] = False,
    opens: Annotated[bool, flag("--open", "Open the page in a browser.")] = False,
    as_json: AsJson = False,
) -> int:
    """Write one HTML file about a campaign: verdicts, failures with charts, coverage, and inputs that were not tried.

    All traces of the folder are judged again. The page needs no network and opens from disk. The exit status is 0
    whatever the verdict: `otf run` and `otf replay` judge.
    """
    from otf.cli.benches import parsed
    from otf.cli.tools.campaign_folder import gathered
    from otf.report import github as remarks
    from otf.report import junit, markdown, page
    from otf.report.requirements import requirements_file

    found = gathered(folder, bench, parsed(sets), watched)
    file = out or folder / "report.html"
    write_page(file, page(found, _in_the_page(found, folder, bench or found.header.bench), file.parent))
    if junit_xml is not None:
        write_page(junit_xml, junit(found))
    if markdown_file is not None:
        write_page(markdown_file, markdown(found))
    if requirements is not None:
        write_page(requirements, requirements_file(found, requirements))
    if github and (step := os.environ.get(STEP)):
        _append(Path(step), markdown(found))
    if as_json:
        document(_json(found, file))
    else:
        say(remarks(found) if github else _text(found, file))
    if opens:
        open_page(file)
    return PASS


def open_page(file: Path) -> None:
    """Open a page in the user's browser, or say that there is none."""
    import webbrowser

    if not webbrowser.open(file.resolve().as_uri()):
        warn(f"no browser could be started: open {file} yourself")


def report_page(folder: Path, reference: str, sets: Mapping[str, object], file: Path | None = None) -> str:
    """Return the report of a campaign as a page, which is to be this file."""
    from otf.cli.tools.campaign_folder import gathered
    from otf.report import page

    found = gathered(folder, reference, sets)
    return page(found, _in_the_page(found, folder, reference), None if file is None else file.parent)


def _in_the_page(found: Gathered, folder: Path, reference: str) -> list[EmbeddedPath]:
    """Return the paths that the page contains, judged once more: only now it is known which."""
    from otf.cli.benches import is_shipped
    from otf.cli.traces import reading, repeated
    from otf.offline import judge
    from otf.report.embedded import chosen, embedded
    from otf.report.path_view import PathView

    bench = found.bench
    if bench is None:
        raise AssertionError
    named = "" if is_shipped(reference) else f" --bench {shlex.quote(reference)}"
    options = {drives: named + repeated(bench, reference, drives=drives) for drives in (False, True)}

    by_chance = set[Path]()

    def read(file: Path) -> ViewData:
        view = PathView()
        with reading(str(file)) as reader:
            judgement = judge(reader, bench, on_step=view.event)
            if 0 < judgement.header.rate < 1:
                by_chance.add(file)
            return view.data(judgement, reader.aftermath)

    def commands(file: Path) -> Mapping[str, str]:
        found = {
            what: f"otf {command} {shlex.quote(str(file))}{options[command in DRIVE]}"
            for what, command in COMMANDS.items()
        }
        return {**found, "is it repaired": f"{found[AGAIN]} --confidence 0.99"} if file in by_chance else found

    return embedded(chosen(found, folder), read, commands)


def watched(files: list[Path]) -> Iterable[Path]:
    """Show on a terminal how far reading has got: a million steps take a minute."""
    stderr: TextIO | None = sys.stderr  # None where it was closed
    if stderr is None or not stderr.isatty():
        return files
    from rich.console import Console
    from rich.progress import track

    return track(files, "reading traces", console=Console(stderr=True), transient=True)


def write_page(file: Path, content: str) -> None:
    """Write a file of ours, whole or not at all. Raises UsageError for one that exists and is not ours."""
    from otf.runner.writer import put, writing

    advice = "choose another file"
    with writing(file, advice=advice):
        if file.is_file() and not _ours(file):
            message = f"{file}: this file exists already, and `otf report` did not write it; choose another name"
            raise UsageError(message)
        data = content.encode(errors="backslashreplace")
        # a file is replaced whole or not at all; a pipe or a terminal cannot be replaced
        put(file, data, advice) if file.is_file() or not file.exists() else file.write_bytes(data)


def _append(file: Path, content: str) -> None:
    from otf.runner.writer import writing

    with writing(file, advice=f"see {STEP}"), file.open("ab") as summary:
        summary.write(content.encode(errors="backslashreplace"))


def _ours(file: Path) -> bool:
    from otf.report import MARK
    from otf.trace.requirements import HEADER

    with file.open("rb") as begun:
        head = begun.read(HEAD)
    return MARK.encode() in head or head.startswith(HEADER.encode()) or not head


def _text(found: Gathered, file: Path) -> str:
    """Return the result as `otf run` prints it, without the failures."""
    from otf.trace.result import counted

    result = found.result
    lines = [
        f"{result.headline} ({result.totals}, seed {found.header.seed})",
        *([result.tally] if result.mixed else []),
    ]
    lines += [f"known issue ({counted(each.paths, 'path')}): {each.says}" for each in result.known_issues if each.paths]
    lines += [f"inconclusive ({counted(each.paths, 'path')}): {each.why}" for each in result.inconclusive]
    lines += [f"stopped: {result.trouble}"] if result.trouble else []
    return "\n".join([*lines, *result.basis(), *found.worth, *found.mutants, f"report: {file}"])


def _json(found: Gathered, file: Path) -> dict[str, Any]:
    return {
        "report": str(file),
        **found.result.data(),
        "mutants": None if found.mutation is None else found.mutation.counts,
        "visited": found.coverage.data(),
    }
