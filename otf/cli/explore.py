"""`otf explore`: the states and transitions of a model, as data or as a picture, and their laws."""

from __future__ import annotations

import subprocess
import sys
import webbrowser
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Annotated, Any, Final, TextIO, TypeGuard

import typer

from otf.cli.choices import FORMATS, among
from otf.cli.options import AsJson, BenchName, Sets, WholeValues
from otf.cli.output import document, guarded, say, warn
from otf.errors import FAIL, PASS, UsageError

if TYPE_CHECKING:
    from otf.explore import Graph
    from otf.explore.finding import Finding
    from otf.explore.marks import Marks
    from otf.spec import Spec

SECONDS: Final = 60
MODEL_FILES: Final = (".aut", ".dot", ".gv")
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


MANY: Final = 400  # states and transitions, each of which takes a line
KINDS: Final = 12  # of states or inputs that are counted
MEANINGS: Final = {
    "deterministic": "in each state, an input has one outcome",
    "output-deterministic": "in each state, the outputs show which outcome an input had",
    "total": "each state specifies every input that is enabled in it",
    "input-enabled": "each state specifies every input of the model",
    "minimal": "any two states differ in their outputs, now or later",
    "no dead end": "every state has a way on, and if some states are final, a way to one of them",
    "no lost timer": "a timer expires only where the model has a transition for it",
    "no unknown timer": "each timer that a transition waits for is started somewhere",
    "invariant": "the model's own invariant holds in every state",
}
DRAWN: Final = ("dot", "svg", "png", "mermaid")

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
    form: Annotated[
        str,
        typer.Option("--format", metavar="FORM", help=f"One of {', '.join(FORMATS)}.", autocompletion=among(*FORMATS)),
    ] = "text",
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
    whole: WholeValues = False,
    sets: Sets = None,
    as_json: AsJson = False,
) -> int:
    """Show all states and transitions of a model, within bounds, and its laws; of a large model a summary.

    BENCH may also be an .aut or .dot file. The exit status is 1 if the model has a dead end (a state without a way out,
    or from which no final state can be reached) or if its invariant does not hold.
    """
    from otf.cli.benches import parsed
    from otf.explore.analysis import general, liveness, safety
    from otf.explore.fields import grouped
    from otf.explore.marks import marks
    from otf.values import showing

    form = "json" if as_json else _known(form)
    spec = _under(model(bench, parsed(sets)), scenario)
    graph = _explored(spec, limit, depth, quiet=as_json)
    safe = getattr(spec, "invariant", None)
    found = [*general(graph), liveness(graph, law="no dead end")]
    required = [found[-1]] if safe is None else [found[-1], safety(graph, safe, law="invariant")]
    found = [*found[:-1], *required]
    fields = by.split(",") if by else []
    small = grouped(graph, fields) if fields else graph
    with showing(whole=whole):
        if page is not None or opens:
            _page(graph, marks(graph, safe=safe), found, required, fields, page, opens=opens)
        elif form == "text" and out is None and not whole and len(small.values) + len(small.target) > MANY:
            say(summary(small, found, required, _overview(small)))
        else:
            _write(small, marks(small, safe=None if fields else safe), form, out, found, required)
    return PASS if all(required) else FAIL


def _under(spec: Spec[Any, Any], scenario: str | None) -> Spec[Any, Any]:
    from otf.compose import composed
    from otf.explore.analysis import known

    return spec if scenario is None else composed(spec, known(spec, scenario))


def _explored(spec: Spec[Any, Any], limit: int, depth: int | None, *, quiet: bool) -> Graph:
    from otf.adapter.exits import watched
    from otf.explore import explore as explored

    with bar(quiet=quiet) as progress, watched():
        graph = explored(spec, limit, depth=depth, progress=progress)
    return graph  # noqa: RET504 -- as far as mypy knows, a context manager may swallow errors


def _known(form: str) -> str:
    if form not in FORMATS:
        message = f"--format {form}: choose one of {', '.join(FORMATS)}"
        raise UsageError(message)
    return form


def model(reference: str, sets: dict[str, object]) -> Spec[Any, Any]:
    """Return the spec of a bench, or of a file from another tool."""
    return modelled(reference, sets)[0]


def modelled(reference: str, sets: dict[str, object]) -> tuple[Spec[Any, Any], dict[str, object]]:
    """Return the spec of a bench with the bench's parameters; a file or a bare model has none."""
    from otf.cli.benches import load, named
    from otf.fronts import read_aut, read_dot

    path = Path(reference)
    readers = {".aut": read_aut, ".dot": read_dot, ".gv": read_dot}
    reader = readers.get(path.suffix)
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
    from otf.spec import Spec

    return isinstance(found, Spec)


def _page(
    graph: Graph,
    marked: Marks,
    found: list[Finding],
    required: list[Finding],
    by: list[str],
    file: Path | None,
    *,
    opens: bool,
) -> None:
    """Write the page on which the states are walked, and open it."""
    from otf.cli.report import write_page
    from otf.report.states import model_page

    text = model_page(graph, marked, list(map(str, found)), by)
    if file is None:
        with NamedTemporaryFile(prefix="otf-explore-", suffix=".html", delete=False) as made:
            file = Path(made.name)
    write_page(file, text)
    say(summary(graph, found, required))
    say(f"page: {file}")
    if opens and not webbrowser.open(file.resolve().as_uri()):
        warn(f"no browser could be started: open {file} yourself")


def _write(
    graph: Graph, marked: Marks, form: str, out: Path | None, found: list[Finding], required: list[Finding]
) -> None:
    from otf.explore.exports import as_data
    from otf.explore.marks import marks
    from otf.explore.refine import drawable

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
        say(content.rstrip("\n"), exact=form != "text")
    if out is not None or form == "text":
        say(summary(graph, found, required))
    if done:
        print(f"otf: {done}", file=sys.stderr)


def _content(graph: Graph, marked: Marks, form: str) -> str | bytes:
    from otf.explore.exports import aut, dot, graphml, listed, mermaid

    if form in {"svg", "png"}:
        return picture(dot(graph, marked), form)
    if form == "aut":
        return aut(graph)
    return {"text": listed, "dot": dot, "mermaid": mermaid, "graphml": graphml}[form](graph, marked)


def summary(graph: Graph, found: list[Finding], required: list[Finding], overview: Iterable[str] = ()) -> str:
    """Return the size of a graph and its laws, each explained; only a `required` one is refuted, others are just no."""
    size = f"{graph.name}: {len(graph.values):,} states, {len(graph.target):,} transitions"
    return "\n".join([size + _cut(graph), *overview, *(_law(each, required=each in required) for each in found)])


def _law(finding: Finding, *, required: bool) -> str:
    head, *way = str(finding).split("\n")
    meaning = MEANINGS.get(finding.law, "")
    if not finding and not required:
        # a way to a state is of use where something is wrong
        head, way = head.replace(f"{finding.law}: refuted", f"{finding.law}: no", 1), []
        meaning += "; it need not be so"
    return "\n".join([head, *([f"      {meaning}"] if meaning else []), *way])


def _overview(graph: Graph) -> Iterator[str]:
    """Yield what a large model consists of, and how to see its states."""
    from otf.values import show

    states = Counter(type(value).__name__ for value in graph.values)
    inputs = Counter(type(value).__name__ for value in graph.inputs)
    if graph.parent:  # groups of states have no types, and no ways to them
        far = len(graph.way(len(graph.values) - 1))
        yield f"states:   {_counted(states)}; the farthest is {far} steps from the start"
    yield f"inputs:   {_counted(inputs)}"
    yield f"too many to list: --whole lists all states, --depth 2 those near {show(graph.values[0])}"


def _counted(kinds: Counter[str]) -> str:
    return ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common(KINDS))


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
        **({"requirements": list(finding.req)} if finding.req else {}),
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
