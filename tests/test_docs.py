"""What the pages say is so: code runs, output is real, links lead somewhere, tables leave nothing out."""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
from code import InteractiveConsole
from codeop import compile_command
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from otf import (
    CodecError,
    ContactError,
    InconclusiveError,
    ModelError,
    OtfError,
    TraceError,
    UsageError,
    errors,
)
from otf.adapter import Bench, Line
from otf.adapter import line as line_module
from otf.adapter.observed_rest.place import Delaying, Placed
from otf.cli.app import COMMANDS, app
from otf.cli.benches import load
from otf.trace.reading import TraceReader

ROOT = Path(__file__).parents[1]
FINDINGS = [*sorted((ROOT / "docs" / "findings").glob("*.md"))]
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md")), *FINDINGS]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
BLOCK = re.compile(
    r"(?:<!-- file: (?P<file>\S+) -->\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
LINK = re.compile(r"(?<!!)\[[^\]]+\]\((?P<target>[^)\s]+)\)")
SHRINKING = re.compile(r"\(by sending (\d+) inputs\)")
VARIES = (
    (re.compile(r"\b\d+\.\d s\b"), "… s"),
    (re.compile(r"\bin \d+\.\d\ds(?: \(\d+:\d\d:\d\d\))?$", re.MULTILINE), "in … s"),  # or above a minute
    (SHRINKING, "(by sending … inputs)"),
    (re.compile(r"^ +\d+\.\d{4} ", re.MULTILINE), " …  "),
    (re.compile(r"^\d+ outputs? came after the quiescence time.*\n", re.MULTILINE), ""),
    # on a busy machine the short campaign of a page counts as slow
    (re.compile(r"^spent: .*\n", re.MULTILINE), ""),
    (re.compile(r"^time: .*\n(?:  to save time: .*\n)?", re.MULTILINE), ""),
    (re.compile(r"^otf: paths: .*\n?", re.MULTILINE), ""),
    # of a model with windows a trace has the stalls of the machine, and its verdict counts what they left open
    (re.compile(r"^ *(?:…|\d+\.\d+)? *stall \(.*\n", re.MULTILINE), ""),
    (re.compile(r"; \d+ events? judged while stalls left times open"), ""),
    # a machine that does not let otf look at processes
    (re.compile(r"^silence: .*$", re.MULTILINE), "silence: …"),
    (re.compile(r"quiet \((observed|timed)\)"), "quiet (…)"),
)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    kind: str
    text: str
    file: str | None


@cache
def text_of(page: Path) -> str:
    """Read a page once."""
    return page.read_text(encoding="utf-8")


def blocks(page: Path) -> list[Block]:
    """Find the fenced blocks of a page."""
    return [Block(found["kind"], found["text"], found["file"]) for found in BLOCK.finditer(text_of(page))]


def everything() -> str:
    """Put all pages into one text."""
    return "\n".join(map(text_of, PAGES))


def table(page: str, first: str) -> list[list[str]]:
    """Return the rows of the table whose first column has that head."""
    lines = iter(text_of(ROOT / page).splitlines())
    for line in lines:
        if cells(line)[:1] == [first]:
            next(lines)
            return [cells(row) for row in rows(lines)]
    raise AssertionError(f"{page} has no table that begins with {first!r}")


def rows(lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines of a table up to its end."""
    for line in lines:
        if not line.startswith("|"):
            return
        yield line


def cells(line: str) -> list[str]:
    """Split a line of a table; a bar with a backslash before it is none."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def code_words(text: str) -> list[str]:
    """Find the words that a text sets as code."""
    return re.findall(r"`([^`]+)`", text)


# Code


@pytest.mark.parametrize("name", NAMES)
def test_python_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example with a prompt gives what the page shows, as under `python -m doctest`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert doctest.testfile(str(ROOT / name), module_relative=False, encoding="utf-8").failed == 0


def test_examples_can_be_typed() -> None:
    """The prompt takes each example to its last line: a blank line in a class would end it there."""
    modules = [file for part in ("otf", "adapters", "models") for file in (ROOT / part).rglob("*.py")]
    assert [f"{file}, line {line}" for file in [*PAGES, *modules] for line in cut_short(file)] == []


def cut_short(file: Path) -> Iterator[int]:
    """Yield the lines of the examples that are complete for the prompt before their last line."""
    for example in doctest.DocTestParser().get_examples(text_of(file)):
        lines = example.source.splitlines()
        blank = [n for n, line in enumerate(lines) if not line.strip()]
        # the last one ends the example, as it ends a class at the prompt
        if any(compile_command("\n".join(lines[: n + 1])) for n in blank if n + 1 < len(lines)):
            yield example.lineno + 1


@pytest.mark.parametrize("name", ["docs/tutorial.md", "docs/tutorial-wires.md"])
def test_a_tutorial_can_be_typed_line_by_line(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever types the lines at the prompts, and no other, meets no SyntaxError: `...` alone ends a class."""
    monkeypatch.chdir(tmp_path)
    console = InteractiveConsole()
    for block in blocks(ROOT / name):
        for line in block.text.splitlines() if block.kind == "pycon" else ():
            if line.startswith((">>>", "...")):
                console.push(line[4:])
    assert "SyntaxError" not in capsys.readouterr().err


def test_the_tutorial_is_not_empty() -> None:
    """The tutorial's code stands at prompts or in files that are run: there is no other."""
    parts = blocks(ROOT / "docs" / "tutorial.md")
    assert sum(part.text.count(">>>") for part in parts) > 40
    assert all(part.kind == "pycon" or part.file for part in parts if part.kind.startswith("py"))


def shown(text: str) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block with the output that the page shows."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def steady(text: str) -> str:
    """Replace what is another number in each run."""
    for pattern, stand_in in VARIES:
        text = pattern.sub(stand_in, text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def typed(command: str, folder: Path) -> str:
    """Run a command as a reader does, and return what is printed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        shlex.split(command), cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.real
@pytest.mark.parametrize("name", [name for name in NAMES if "```console" in text_of(ROOT / name)])
def test_commands_print_what_the_page_shows(name: str, tmp_path: Path) -> None:
    """Each command at a `$`, with the files that the page has, prints the output below it; times may differ."""
    for block in blocks(ROOT / name):
        if block.file:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        for command, output in shown(block.text) if block.kind == "console" else ():
            printed = typed(command, tmp_path)
            assert steady(printed) == steady(output), command
            # what a busy machine decides anew is searched for again: the number is of the size that the page has
            for now, said in zip(SHRINKING.findall(printed), SHRINKING.findall(output), strict=True):
                assert int(now) / 2 <= int(said) <= 2 * int(now), command


def command_lines() -> Iterator[str]:
    """Find every line in the pages that calls otf."""
    for page in PAGES:
        for block in blocks(page):
            if block.kind in {"sh", "console"}:
                yield from re.findall(r"^(?:\$ )?(otf .*)$", block.text, re.MULTILINE)
        yield from re.findall(r"`(otf [^`]*)`", re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL))


@pytest.mark.parametrize("line", sorted(set(command_lines())))
def test_commands_and_options_exist(line: str) -> None:
    """Every command line in the pages names a command that exists and options that it has."""
    words = shlex.split(line.split("|", maxsplit=1)[0].replace("\\", ""))[1:]
    # an option of otf itself, such as --log FILE, may come before the command
    name = next(word for word in words if word in commands() | {"COMMAND", "NAME"})
    for option in [word.partition("=")[0] for word in words if word.startswith("--") and word != "--help"]:
        assert re.search(rf"{option}\b", helped(name) + helped()), option


@cache
def helped(*command: str) -> str:
    """Return the help of a command, or that of otf itself."""
    return CliRunner().invoke(app, [*command, "--help"], terminal_width=200).stdout


@cache
def commands() -> frozenset[str]:
    """List the commands that there are."""
    return frozenset(COMMANDS)


def test_every_command_is_described() -> None:
    """No command is left out of the pages."""
    assert {name for name in commands() if f"`otf {name}" not in everything()} == set()


# Links


def anchors(page: Path) -> set[str]:
    """Name the headings of a page as links do."""
    heads: list[str] = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name: str) -> None:
    """Every relative link leads to a file that exists, and to a heading that it has."""
    page = ROOT / name
    for target in [found["target"] for found in LINK.finditer(text_of(page)) if "://" not in found["target"]]:
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), target


def test_the_index_has_every_page() -> None:
    """The table of contents leads to each page in docs/."""
    index = text_of(ROOT / "docs" / "pages.md")
    pages = {page.name for page in PAGES if page.parent == ROOT / "docs"} - {"index.md", "pages.md"}
    assert {page for page in pages if f"({page})" not in index} == set()


OTHERS = tuple(f"benchmarks/defects/others.py:{each}" for each in ("twisted", "smtp_server", "web", "ws"))
"""Benches without known issues: the departures of their servers are failures."""


def test_findings_have_their_page_and_their_command() -> None:
    """Each row leads to the page of its system, and has one command, whose bench knows the issue it shows."""
    listed = [*table("docs/findings.md", "system")]
    pages = {found["target"] for row in listed for found in LINK.finditer(row[0])}
    assert {f"findings/{page.name}" for page in FINDINGS} == {
        found["target"].partition("#")[0]
        for found in LINK.finditer(text_of(ROOT / "docs" / "findings.md"))
        if "://" not in found["target"]
    }
    assert len(pages) > 20
    for row in listed:
        (command,) = code_words(row[6])
        assert row[7].isdecimal(), row
        assert re.search(r"\d+ Nov: (yes|no)$", row[8]), row
        if module := re.search(r"python -m ([\w.]+)", command):
            assert find_spec(module[1]), command
            continue
        name, *rest = shlex.split(command.partition("otf run ")[2])
        bench = load(name, dict(each.split("=", 1) for each in rest if "=" in each))
        known = bool(bench.known_issues) or "--malformed" in rest or name in {"http", "websocket", "smtp", *OTHERS}
        assert known, command


def test_findings_count_what_they_list() -> None:
    """For how many rows a report by others is known, and how many rows each system has that passed otherwise."""
    listed, observed = table("docs/findings.md", "system"), table("docs/findings.md", "observed system")
    reports = [row[5] for row in listed]
    searched = sum(each.endswith("no report found") for each in reports)
    named = sum(bool(re.match("issues? |pull request |the size", each)) for each in reports)
    assert len(listed) == searched + named
    told = f"Of the {len(listed)} rows, {named} name a report by others."
    told += f" For {searched} rows we searched and found no report."
    assert told in " ".join(text_of(ROOT / "docs" / "findings.md").split())
    for row in table("docs/findings.md", "tested"):
        counts = [sum(each[0].startswith(f"[{row[0]}]") for each in rows) for rows in (listed, observed)]
        assert row[2] == f"{counts[0]}, {counts[1]}", row


# Tables

HOWTO = "docs/reference-bench.md"


def test_exit_statuses_are_those_of_the_errors() -> None:
    """The table has each status once, and each error stands in the row of its own."""
    raised = {row[0]: code_words(row[2]) for row in table(HOWTO, "status")}
    known: tuple[type[OtfError], ...] = (
        UsageError,
        ModelError,
        CodecError,
        TraceError,
        ContactError,
        InconclusiveError,
    )
    assert set(known) == set(OtfError.__subclasses__())
    for error in known:
        assert error.__name__ in raised[str(error.exit_status)], error
    statuses = {str(status) for status in (errors.PASS, errors.FAIL, errors.USAGE, errors.INCONCLUSIVE)}
    assert {status for status in raised if len(status) == 1} == statuses


def test_each_field_of_a_bench_is_described() -> None:
    """The table of fields leaves out only the name, the parameters and the line, which are filled in."""
    described = {word for row in table(HOWTO, "field of `Bench`") for word in code_words(row[0])}
    assert described == {field.name for field in fields(Bench) if field.init} - {"_", "made_at", "name", "parameters"}


def test_each_method_of_a_line_is_described() -> None:
    """Those that a line has to have, and those that it may have."""
    page = "docs/howto-adapter-authors.md"
    required = {
        word.split("(")[0].split()[-1] for row in table(page, "method of `Line`") for word in code_words(row[0])
    }
    optional = {word.split("(")[0].split()[-1] for row in table(page, "method") for word in code_words(row[0])}
    assert required == {name for name in vars(Line) if not name.startswith("_")}
    protocols = (*vars(line_module).values(), Placed, Delaying)
    others = {each for each in protocols if getattr(each, "_is_protocol", False) and each is not Line}
    assert optional == {name for each in others for name in vars(each) if not name.startswith("_")}


def test_each_parameter_of_the_conference_is_described() -> None:
    """The table of parameters is that of the function, with its defaults."""
    described = {word: row[1] for row in table(HOWTO, "parameter") for word in code_words(row[0])}
    from otf.models.conference import bench

    defaults = bench.__kwdefaults__ or {}
    assert set(described) == set(defaults)
    for name, default in defaults.items():
        assert described[name].strip("`") == (f"{default:g}" if isinstance(default, float) else str(default)), name


def test_what_the_glossary_calls_ours_exists() -> None:
    """Each name in code that the glossary calls ours is in the sources: no rename leaves it behind."""
    sources = [file for part in ("otf", "adapters") for file in (ROOT / part).rglob("*.py")]
    names = set(re.findall(r"\w+", "\n".join(map(text_of, sources))))
    ours = [row[1] for row in table("docs/glossary.md", "the field's term")]
    ours += [row[0] for row in table("docs/glossary.md", "word")]
    used = {name for text in ours for word in code_words(text) for name in re.findall(r"[A-Za-z_]\w*", word)}
    assert len(used) > 20
    assert used - names == set()


def keys(row: str) -> set[str]:
    """Return the keys that a row of the table of JSON keys begins its items with."""
    (text,) = [cells[2] for cells in table(HOWTO, "command") if cells[0] == row]
    plain = re.sub(r"\([^)]*\)|: null.*", "", text)
    return set(code_words(plain))


@cache
def failing(folder: Path) -> Path:
    """Make a folder with a failing trace."""
    invoke("run", "coffee", "--set", "fault=free", "--seed", "1", "--out", str(folder))
    return next(folder.glob("*.shrunk.jsonl"))


def invoke(*arguments: str) -> Any:  # noqa: ANN401 -- JSON
    """Run a command with --json and return its document."""
    return json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)


def failures(folder: Path) -> Any:  # noqa: ANN401 -- JSON
    """Run a machine with a fault and return what was found."""
    return invoke("run", "coffee", "--set", "fault=free", "--out", str(folder))["failures"]


JSON: Mapping[str, Callable[[Path], Any]] = {
    "`otf run`": lambda folder: invoke("run", "coffee", "--out", str(folder / "run")),
    "… in `failures`": lambda folder: failures(folder / "failures"),
    "`otf replay`": lambda folder: invoke("replay", str(failing(folder))),
    "`otf rerun`": lambda folder: invoke("rerun", str(failing(folder)), "--out", str(folder / "rerun")),
    "`otf shrink`": lambda folder: invoke("shrink", str(failing(folder))),
    "`otf report`": lambda folder: invoke("report", str(failing(folder).parent)),
    "`otf mutants`": lambda folder: invoke("mutants", "coffee", "--out", str(folder / "mutants")),
    "`otf show`": lambda folder: invoke("show", str(failing(folder))),
    "… in `events`": lambda folder: invoke("show", str(failing(folder)))["events"],
    "`otf list`": lambda _folder: invoke("list"),
}


@pytest.mark.parametrize("row", JSON)
def test_json_keys_are_those_of_the_table(row: str, tmp_path: Path) -> None:
    """Each document has the keys that the table gives it, and it is a list or an object as the table says."""
    document = JSON[row](tmp_path)
    (kind,) = [cells[1] for cells in table(HOWTO, "command") if cells[0] == row]
    assert type(document).__name__ == {"list": "list", "object": "dict"}[kind]
    assert set(document[0] if kind == "list" else document) == keys(row)


def example_lines() -> list[dict[str, Any]]:
    """Return the example lines of the trace format, in their order."""
    return [
        json.loads(line) for block in blocks(ROOT / HOWTO) if block.kind == "json" for line in block.text.splitlines()
    ]


def described(after: str) -> set[str]:
    """Return the keys of the table that follows a sentence, with those that every line has."""
    tail = text_of(ROOT / HOWTO).partition(after)[2]
    lines = iter(tail[tail.index("| key |") :].splitlines()[2:])
    named = {word for row in rows(lines) for word in code_words(cells(row)[0])}
    return named | {"event", "level", "timestamp"}


def test_the_example_trace_can_be_read() -> None:
    """The lines that the page shows are a trace."""
    reader = TraceReader([json.dumps(line).encode() + b"\n" for line in example_lines()], "the page")
    assert reader.header.bench == "coffee"


def test_trace_keys_are_those_of_the_tables(tmp_path: Path) -> None:
    """What a trace holds today is what the tables describe and the example lines show."""
    start, *events, end = [json.loads(line) for line in failing(tmp_path).read_text(encoding="utf-8").splitlines()]
    example = example_lines()
    assert set(start) == set(example[0]) == described("The header says")
    sometimes = {"stalled", "delay", "doubtful", "behind"}  # only where the machine was busy, or the path went on
    assert set(end) - sometimes == set(example[-1]) == described("Last comes the end") - sometimes
    assert {key for event in events for key in event} <= described("Then the events")
    assert kinds(events) <= kinds(example[1:-1])


def kinds(lines: Iterable[dict[str, Any]]) -> set[str]:
    """Name the kinds of events among these lines."""
    return {line["event"] for line in lines}
