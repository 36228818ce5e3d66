"""What `otf explore` writes: a graph in the language of another tool, as data, as a picture or as text."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from otf.cli.output import document, say
from otf.cli.tools.laws import as_law, summary
from otf.errors import UsageError
from otf.explore import Graph
from otf.explore.exports import Marks, as_data, aut, dot, graphml, listed, marks, mermaid
from otf.explore.finding import Finding
from otf.explore.refine import drawable

SECONDS: Final = 60
DRAWN: Final = ("dot", "svg", "png", "mermaid")

PROGRAM: Final = """
import sys, pygraphviz
text, form = sys.stdin.buffer.read().decode(), sys.argv[1]
sys.stdout.buffer.write(pygraphviz.AGraph(text).draw(format=form, prog="dot"))
"""


def write(
    graph: Graph, marked: Marks, form: str, out: Path | None, found: list[Finding], required: list[Finding]
) -> None:
    """Write a graph in a form, to a file or to standard output, and below it its laws. Raises UsageError."""
    if form == "json":
        data = {**as_data(graph, marked), "laws": [as_law(each) for each in found]}
        document(data) if out is None else _file(out, _json_text(data))
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


def _json_text(data: dict[str, Any]) -> str:
    import json

    return json.dumps(data, indent=2) + "\n"


def _file(out: Path, content: str | bytes) -> None:
    try:
        out.write_bytes(content if isinstance(content, bytes) else content.encode())
    except OSError as error:
        raise UsageError(f"--out {out}: {error.strerror}") from error
