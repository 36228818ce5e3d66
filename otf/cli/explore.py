"""`otf explore`: the states and transitions of a model, as data or as a picture, and their laws."""

from __future__ import annotations

import subprocess
import sys
import webbrowser
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Any, Final, TextIO, TypeGuard

import typer

from otf.adapter.exits import watched
from otf.cli.benches import load, named, parsed
from otf.cli.options import AsJson, BenchName, Sets
from otf.cli.output import document, guarded, say, warn
from otf.compose import composed
from otf.errors import FAIL, PASS, UsageError
from otf.explore import Graph
from otf.explore import explore as explored
from otf.explore.analysis import general, known, liveness, safety
from otf.explore.exports import as_data, aut, dot, graphml, listed, mermaid
from otf.explore.fields import grouped
from otf.explore.finding import Finding
from otf.explore.marks import Marks, marks
from otf.explore.refine import drawable
from otf.fronts import read_aut, read_dot
from otf.spec import Spec

SECONDS: Final = 60
PROGRAM: Final = """
import sys, pygraphviz
text, form = sys.stdin.buffer.read().decode(), sys.argv[1]
sys.stdout.buffer.write(pygraphviz.AGraph(text).draw(format=form, prog="dot"))
"""


def picture(dot: str, form: str, seconds: float = SECONDS) -> bytes:
    """Return the picture of a graph in the language of Graphviz, as `svg` or `png`. Raises UsageError."""
    if find_spec("pygraphviz") is None:
        message = "pictures need pygraphviz: pip install 'otf[pictures]'; dot and mermaid need nothing"
        raise UsageError(message)
    command = [sys.executable, "-I", "-W", "ignore", "-c", PROGRAM, form]
    try:
        done = subprocess.run(command, input=dot.encode(), capture_output=True, timeout=seconds, check=False)  # noqa: S603 -- as above
    except subprocess.TimeoutExpired as error:
        message = f"Graphviz took longer than {seconds:g} s; draw fewer states (--limit, --depth), or use --format dot"
        raise UsageError(message) from error
    if done.returncode or not done.stdout:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["it printed nothing"]
        raise UsageError(f"Graphviz could not draw it: {last[0]}")
    return done.stdout


FORMATS: Final = ("text", "json", "dot", "svg", "png", "mermaid", "graphml", "aut")
DRAWN: Final = ("dot", "svg", "png", "mermaid")
READERS: Final[dict[str, Callable[[str, str], Spec[Any, Any]]]] = {".aut": read_aut, ".dot": read_dot, ".gv": read_dot}

EXAMPLES = """\b
Examples:
  otf explore coffee                                states and laws
  otf explore coffee --format svg --out coffee.svg  a picture
  otf explore irc --open                            a page to walk on
  otf explore irc --by members                      states that agree are one
  otf explore machine.aut --format mermaid          a file from another tool
  otf explore coffee --scenario 'Coin Coin Button'  only this scenario
"""


@guarded
def explore(
    bench: BenchName,
    form: Annotated[str, typer.Option("--format", metavar="FORM", help=f"One of {', '.join(FORMATS)}.")] = "text",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The file to write; default: standard output.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="NUMBER", help="At most this many states.")] = 10_000,
    depth: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="At most this many steps away from the start.")
    ] = None,
    scenario: Annotated[
        str | None, typer.Option(metavar="ACTIONS", help="Only this scenario: a regular expression over actions.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="FIELDS", help="Group the states that agree in these fields: members or type,members."),
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="Write a page on which the states are walked.")
    ] = None,
    opens: Annotated[bool, typer.Option("--open", help="Open such a page in a browser.")] = False,
    sets: Sets = None,
    as_json: AsJson = False,
) -> int:
    """Show all states and transitions of a model, within bounds, and its laws.

    BENCH may also be an .aut or .dot file. The exit status is 1 if the model has a dead end (a state without a way out,
    or from which no final state can be reached) or if its invariant does not hold.
    """
    form = "json" if as_json else form
    if form not in FORMATS:
        message = f"--format {form}: choose one of {', '.join(FORMATS)}"
        raise UsageError(message)
    spec = model(bench, parsed(sets))
    if scenario is not None:
        spec = composed(spec, known(spec, scenario))
    with bar(quiet=as_json) as progress, watched():
        graph = explored(spec, limit, depth=depth, progress=progress)
    safe = getattr(spec, "invariant", None)
    found = [*general(graph), liveness(graph, law="no dead end")]
    required = [found[-1]] if safe is None else [found[-1], safety(graph, safe, law="invariant")]
    found = [*found[:-1], *required]
    fields = by.split(",") if by else []
    small = grouped(graph, fields) if fields else graph
    if page is not None or opens:
        _page(graph, marks(graph, safe=safe), found, fields, page, opens=opens)
    else:
        _write(small, marks(small, safe=None if fields else safe), form, out, found)
    return PASS if all(required) else FAIL


def model(reference: str, sets: dict[str, object]) -> Spec[Any, Any]:
    """Return the spec of a bench, or of a file from another tool."""
    return modelled(reference, sets)[0]


def modelled(reference: str, sets: dict[str, object]) -> tuple[Spec[Any, Any], dict[str, object]]:
    """Return the spec of a bench with the bench's parameters; a file or a bare model has none."""
    path = Path(reference)
    reader = READERS.get(path.suffix)
    if reader is None:
        found = named(reference)
        if _is_spec(found):
            return found, {}
        bench = load(reference, sets)
        return bench.spec, dict(bench.parameters)
    try:
        return reader(path.read_text(encoding="utf-8"), path.name), {}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{reference}: {error}") from error


def _is_spec(found: object) -> TypeGuard[Spec[Any, Any]]:
    return isinstance(found, Spec)


def _page(graph: Graph, marked: Marks, found: list[Finding], by: list[str], file: Path | None, *, opens: bool) -> None:
    """Write the page on which the states are walked, and open it."""
    from otf.cli.report import write_page
    from otf.report.states import model_page

    text = model_page(graph, marked, list(map(str, found)), by)
    if file is None:
        with NamedTemporaryFile(prefix="otf-explore-", suffix=".html", delete=False) as made:
            file = Path(made.name)
    write_page(file, text)
    say(summary(graph, found))
    say(f"page: {file}")
    if opens and not webbrowser.open(file.resolve().as_uri()):
        warn(f"no browser could be started: open {file} yourself")


def _write(graph: Graph, marked: Marks, form: str, out: Path | None, found: list[Finding]) -> None:
    if form == "json":
        data = {**as_data(graph, marked), "laws": [as_law(each) for each in found]}
        document(data) if out is None else _file(out, _dumped(data))
        return
    drawn, done = drawable(graph) if form in DRAWN else (graph, "")
    whole = drawn is graph
    content = _content(drawn, marked if whole else marks(drawn), form)
    if out is not None:
        _file(out, content)
    elif isinstance(content, bytes):
        sys.stdout.buffer.write(content)
    else:
        say(content.rstrip("\n"))
    if out is not None or form == "text":
        say(summary(graph, found))
    if done:
        print(f"otf: {done}", file=sys.stderr)


def _content(graph: Graph, marked: Marks, form: str) -> str | bytes:
    if form in {"svg", "png"}:
        return picture(dot(graph, marked), form)
    if form == "aut":
        return aut(graph)
    return {"text": listed, "dot": dot, "mermaid": mermaid, "graphml": graphml}[form](graph, marked)


def summary(graph: Graph, found: list[Finding]) -> str:
    """Return the size of a graph and its laws."""
    size = f"{graph.name}: {len(graph.values):,} states, {len(graph.target):,} transitions"
    return "\n".join([size + _cut(graph), *map(str, found)])


def _cut(graph: Graph) -> str:
    if graph.edge:
        return f"; not whole, cut at {len(graph.edge):,} states by {', '.join(graph.cuts)}"
    return "" if graph.whole else "; not whole: some outputs decide the next state"


def as_law(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON data."""
    return {
        "law": finding.law,
        "verdict": str(finding.verdict),
        "says": finding.says,
        "way": list(map(str, finding.way)),
    }


def _dumped(data: dict[str, Any]) -> str:
    import json

    return json.dumps(data, indent=2) + "\n"


def _file(out: Path, content: str | bytes) -> None:
    try:
        out.write_bytes(content if isinstance(content, bytes) else content.encode())
    except OSError as error:
        raise UsageError(f"--out {out}: {error.strerror}") from error


@contextmanager
def bar(*, quiet: bool) -> Generator[Callable[[int, int], None] | None]:
    """Yield a function that shows the progress of an exploration; None if standard error is not a terminal."""
    stderr: TextIO | None = sys.stderr
    if quiet or stderr is None or not stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("states", total=1)
        yield lambda done, total: bars.update(task, completed=done, total=total)
