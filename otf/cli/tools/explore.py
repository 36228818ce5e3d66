"""`otf explore`: the states and transitions of a model, as data or as a picture, and their laws."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Annotated, Any, Final, TextIO, TypeGuard

from otf.cli.option_values import FORMATS, among
from otf.cli.options import AsJson, BenchName, Depth, Sets, StateLimit, WholeValues, flag, guarded, option
from otf.cli.output import say
from otf.errors import FAIL, PASS, UsageError

if TYPE_CHECKING:
    from otf.explore import Graph
    from otf.explore.exports import Marks
    from otf.explore.finding import Finding
    from otf.spec import Spec

MANY: Final = 400  # states and transitions, each of which takes a line
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
        str, option("FORM", f"One of {', '.join(FORMATS)}.", "--format", autocompletion=among(*FORMATS))
    ] = "text",
    out: Annotated[Path | None, option("FILE", "The file to write; default: standard output.")] = None,
    limit: StateLimit = 10_000,
    depth: Depth = None,
    scenario: Annotated[str | None, option("ACTIONS", "Only this scenario: a regular expression over actions.")] = None,
    by: Annotated[
        str | None, option("FIELDS", "Group the states that agree in these fields: members or type,members.")
    ] = None,
    page: Annotated[Path | None, option("FILE", "Write a page on which the states are walked.")] = None,
    opens: Annotated[bool, flag("--open", "Open such a page in a browser.")] = False,
    whole: WholeValues = False,
    sets: Sets = None,
    as_json: AsJson = False,
) -> int:
    """Show all states and transitions of a model, within bounds, and its laws; of a large model a summary.

    BENCH may also be an .aut or .dot file. The exit status is 1 if the model has a dead end (a state without a way out,
    or from which no final state can be reached) or if its invariant does not hold.
    """
    from otf.cli.benches import parsed
    from otf.cli.tools.graph_files import write
    from otf.cli.tools.laws import overview, summary
    from otf.explore.analysis import general, liveness, safety
    from otf.explore.exports import marks
    from otf.explore.refine import grouped
    from otf.values import showing

    form = "json" if as_json else _known(form)
    spec = _under(model(bench, parsed(sets)), scenario)
    graph = _explore_with_bar(spec, limit, depth, quiet=as_json)
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
            say(summary(small, found, required, overview(small)))
        else:
            write(small, marks(small, safe=None if fields else safe), form, out, found, required)
    return PASS if all(required) else FAIL


def _under(spec: Spec[Any, Any], scenario: str | None) -> Spec[Any, Any]:
    from otf.compose import compose
    from otf.explore.analysis import known

    return spec if scenario is None else compose(spec, known(spec, scenario))


def _explore_with_bar(spec: Spec[Any, Any], limit: int, depth: int | None, *, quiet: bool) -> Graph:
    from otf.adapter.third_party import watched
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

    found = named(reference)
    if _is_spec(found):
        return found, {}
    bench = load(reference, sets)
    return bench.spec, dict(bench.parameters)


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
    from otf.cli.tools.laws import summary
    from otf.cli.tools.report import open_page, write_page
    from otf.report.states import model_page

    text = model_page(graph, marked, list(map(str, found)), by)
    if file is None:
        with NamedTemporaryFile(prefix="otf-explore-", suffix=".html", delete=False) as made:
            file = Path(made.name)
    write_page(file, text)
    say(summary(graph, found, required))
    say(f"page: {file}")
    if opens:
        open_page(file)


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
