"""`otf report`: the result of a campaign as a page, and for continuous integration."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from errno import EACCES, EISDIR, ENOENT
from pathlib import Path
from typing import Any

from otf.adapter import Bench
from otf.cli.benches import is_shipped, parsed
from otf.cli.output import document, is_terminal, say, warn
from otf.cli.tools.campaign_folder import gathered
from otf.cli.tools.commands import ReportCommand
from otf.cli.traces import reading, repeated, walking
from otf.errors import PASS, UsageError
from otf.offline import judge
from otf.report import MARK, Gathered, junit, markdown, page
from otf.report import github as remarks
from otf.report.failures import EmbeddedPath, chosen, embedded
from otf.report.page import LOOK
from otf.report.path_view import PathView, ViewData
from otf.report.requirements import requirements_file
from otf.runner.writer import put, writing
from otf.trace.requirements import HEADER
from otf.trace.result import counted
from otf.values.text import plain

STEP = "GITHUB_STEP_SUMMARY"  # the variable that names GitHub's file for the summary of a step
ANOTHER = "choose another file"
HEAD = 200  # bytes at the start of a file that contain the mark of a report
AGAIN = "drive it again"
SHRUNK = ".shrunk.jsonl"
COMMANDS = {LOOK: "show", "judge it again": "replay", AGAIN: "rerun", "shrink it": "shrink"}
DRIVE = {"rerun", "shrink"}


def report(asked: ReportCommand) -> int:
    """Do what the command asks; return the exit status."""
    found = gathered(asked.folder, asked.bench, parsed(asked.sets), watched)
    file = asked.out or asked.folder / "report.html"
    write_page(file, _page(found, asked.folder, asked.bench or found.header.bench, file.parent))
    if asked.junit_xml is not None:
        write_page(asked.junit_xml, junit(found))
    if asked.markdown_file is not None:
        write_page(asked.markdown_file, markdown(found))
    if asked.requirements is not None:
        write_page(asked.requirements, requirements_file(found, asked.requirements))
    if asked.github and (step := os.environ.get(STEP)):
        _append(Path(step), markdown(found))
    if asked.as_json:
        document(_json(found, file))
    else:
        say(remarks(found) if asked.github else _text(found, file))
    if asked.opens:
        open_page(file)
    return PASS


def open_page(file: Path) -> None:
    """Open a page in the user's browser, or say that there is none."""
    import webbrowser

    if not webbrowser.open(file.resolve().as_uri()):
        warn(f"no browser could be started: open {file} yourself")


def report_page(folder: Path, reference: str, sets: Mapping[str, object], file: Path | None = None) -> str:
    """Return the report of a campaign as a page, to be written to this file."""
    return _page(gathered(folder, reference, sets), folder, reference, None if file is None else file.parent)


def _page(found: Gathered, folder: Path, reference: str, beside: Path | None) -> str:
    bench = found.bench
    if bench is None:
        raise AssertionError
    return page(found, _in_the_page(found, bench, folder, reference), beside, plain(walking(bench, reference)))


def _in_the_page(found: Gathered, bench: Bench, folder: Path, reference: str) -> list[EmbeddedPath]:
    """Return the paths that the page contains, judged once more: only now is it known which."""
    named = "" if is_shipped(reference) else f" --bench {shlex.quote(reference)}"
    options = {drives: named + repeated(bench, reference, drives=drives) for drives in (False, True)}

    by_chance = {Path(each.file) for each in found.failures.values() if each.tries > 1}

    def read(file: Path) -> ViewData:
        view = PathView()
        with reading(str(file)) as reader:
            judgement = judge(reader, bench, on_step=view.event)
            if 0 < judgement.header.rate < 1 or judgement.verdict.raced:
                by_chance.add(file)
            return view.data(judgement, reader.aftermath)

    def commands(file: Path) -> Mapping[str, str]:
        found = {
            what: f"otf {command} {shlex.quote(str(file))}{options[command in DRIVE]}"
            for what, command in COMMANDS.items()
            if command != "shrink" or not file.name.endswith(SHRUNK)
        }
        if (test := file.with_name(re.sub(r"\W+", "_", file.stem) + ".py")).is_file():
            found["as a test"] = f"pytest {shlex.quote(str(test))}"
        return {**found, "is it repaired": f"{found[AGAIN]} --confidence 0.99"} if file in by_chance else found

    return embedded(chosen(found, folder), read, commands)


def watched(files: list[Path]) -> Iterable[Path]:
    """Show on a terminal how far reading has got: a million steps take a minute."""
    if not is_terminal(sys.stderr):
        return files
    from rich.console import Console
    from rich.progress import track

    return track(files, "reading traces", console=Console(stderr=True), transient=True)


def check_page(file: Path, made: Path) -> None:
    """Raise an error now if a page could not be written later; the folder `made` will exist by then."""
    folder = file.parent
    with writing(file, advice=ANOTHER):
        if file.is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        if not folder.is_dir() and folder.absolute() != made.absolute():
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT))
        # a pipe or a terminal is written to; any other file is made anew in its folder
        if _replaced(file) and folder.is_dir() and not os.access(folder, os.W_OK):
            raise PermissionError(EACCES, os.strerror(EACCES))
        if file.is_file() and not _ours(file):
            message = f"{file}: this file exists already, and is not a page that otf wrote; choose another name"
            raise UsageError(message)


def write_page(file: Path, content: str) -> None:
    """Write a file of ours, whole or not at all. Raises UsageError if it exists and is not ours."""
    check_page(file, file.parent)
    with writing(file, advice=ANOTHER):
        data = content.encode(errors="backslashreplace")
        put(file, data, ANOTHER) if _replaced(file) else file.write_bytes(data)


def _replaced(file: Path) -> bool:
    return file.is_file() or not file.exists()


def _append(file: Path, content: str) -> None:
    with writing(file, advice=f"see {STEP}"), file.open("ab") as summary:
        summary.write(content.encode(errors="backslashreplace"))


def _ours(file: Path) -> bool:
    with file.open("rb") as begun:
        head = begun.read(HEAD)
    return MARK.encode() in head or head.startswith(HEADER.encode()) or not head


def _text(found: Gathered, file: Path) -> str:
    """Return the result as `otf run` prints it, without the failures."""
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
