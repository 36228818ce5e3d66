"""`otf explore`: a graph as text, data, a picture, a page, or a file for another tool."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

from otf.cli.benches import model, named, parsed
from otf.cli.catalogue import FORMATS
from otf.cli.options import one_of
from otf.cli.output import document, say
from otf.cli.tools.check import as_law, explore_model, overview, summary, told
from otf.cli.tools.model_commands import ExploreCommand
from otf.cli.tools.report import open_page, write_page
from otf.compose import compose
from otf.errors import FAIL, PASS, UsageError
from otf.explore import Graph
from otf.explore.analysis import general, known, liveness, safety
from otf.explore.exports import Marks, as_data, aut, dot, graphml, listed, marks, mermaid
from otf.explore.finding import Finding
from otf.explore.refine import drawable, grouped
from otf.report.states import model_page
from otf.spec import Spec
from otf.values import showing

MANY: Final = 400  # states and transitions, each of which takes a line
SECONDS: Final = 60  # for a picture
DRAWN: Final = ("dot", "svg", "png", "mermaid")
PROGRAM: Final = """
import sys, pygraphviz
text, form = sys.stdin.buffer.read().decode(), sys.argv[1]
sys.stdout.buffer.write(pygraphviz.AGraph(text).draw(format=form, prog="dot"))
"""


def explore(asked: ExploreCommand) -> int:
    """Do what the command asks; return the exit status."""
    form, out, page = asked.form, asked.out, asked.page
    if out is not None and form == "text":  # the suffix of a file tells the form
        form = {"": form, ".txt": form, ".html": form}.get(out.suffix, out.suffix[1:])
        page, out = (out, None) if out.suffix == ".html" else (page, out)
    form = "json" if asked.as_json else one_of("--format" if out is None else f"--out {out}: the format", form, FORMATS)
    spec = model(asked.bench, parsed(asked.sets))
    spec = spec if asked.scenario is None else compose(spec, known(spec, asked.scenario))
    graph = explore_model(spec, asked.limit, asked.depth, quiet=asked.as_json)
    safe = getattr(spec, "invariant", None)
    found = [*general(graph), liveness(graph, law="no dead end")]
    required = [found[-1]] if safe is None else [found[-1], safety(graph, safe, law="invariant")]
    found = [*found[:-1], *required]
    fields = asked.by.split(",") if asked.by else []
    small = grouped(graph, fields) if fields else graph
    with showing(whole=asked.whole):
        if page is not None or asked.opens:
            file = _write_page(graph, marks(graph, safe=safe), found, required, fields, page, _walking(asked))
            if asked.opens:
                open_page(file)
        elif (form, out, asked.whole) == ("text", None, False) and len(small.values) + len(small.target) > MANY:
            say(summary(small, found, required, overview(small)))
        else:
            write(small, marks(small, safe=None if fields else safe), form, out, found, required)
    return PASS if all(required) else FAIL


def _walking(asked: ExploreCommand) -> str:
    """Return the command that walks through the model in a terminal; "" if it is no bench, or only a scenario of it."""
    if asked.scenario is not None or isinstance(named(asked.bench), Spec):
        return ""
    return shlex.join(["otf", "step", asked.bench, *(part for each in asked.sets or () for part in ("--set", each))])


def _write_page(
    graph: Graph,
    marked: Marks,
    found: list[Finding],
    required: list[Finding],
    by: list[str],
    file: Path | None,
    command: str,
) -> Path:
    """Write the page for walking through the states; return its file."""
    laws = {told(each, required=each in required): each.state for each in found}
    text = model_page(graph, marked, laws, by, command)
    if file is None:
        with NamedTemporaryFile(prefix="otf-explore-", suffix=".html", delete=False) as made:
            file = Path(made.name)
    write_page(file, text)
    say(summary(graph, found, required))
    say(f"page: {file}")
    return file


def write(
    graph: Graph, marked: Marks, form: str, out: Path | None, found: list[Finding], required: list[Finding]
) -> None:
    """Write a graph and its laws in a form, to a file or to standard output. Raises UsageError."""
    if form == "json":
        data = {**as_data(graph, marked), "laws": [as_law(each) for each in found]}
        document(data) if out is None else _file(out, json.dumps(data, indent=2) + "\n")
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
    if form in {"svg", "png"}:
        return picture(dot(graph, marked), form)
    if form == "aut":
        return aut(graph)
    return {"text": listed, "dot": dot, "mermaid": mermaid, "graphml": graphml}[form](graph, marked)


def picture(dot: str, form: str, seconds: float = SECONDS) -> bytes:
    """Return the picture of a graph in Graphviz format, as `svg` or `png`. Raises UsageError."""
    if find_spec("pygraphviz") is None:
        raise UsageError("pictures need pygraphviz: pip install 'otf[pictures]'; dot and mermaid need nothing")
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


def _file(out: Path, content: str | bytes) -> None:
    try:
        out.write_bytes(content if isinstance(content, bytes) else content.encode())
    except OSError as error:
        raise UsageError(f"--out {out}: it cannot be written ({error.strerror}); choose another file") from error
