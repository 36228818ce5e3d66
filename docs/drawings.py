"""Drawings become part of their page, so that they follow its theme, and answer to the pointer.

An image in a file of its own knows only the theme of the reader's system, and nothing happens when the pointer is over
an arrow. Graphviz numbers the parts of each drawing from 1, so their names get that of the file. Beside each drawing of
the gallery is a page to walk in, as `otf explore` writes it; below the name of a model, its source can be opened.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

if TYPE_CHECKING:
    from otf.explore import Graph

DOCS = Path(__file__).parent
_IMAGE = re.compile(r'<img alt="(?P<alt>[^"]*)" src="(?P<file>(?:gallery/(?!run-)[\w-]+|pictures/failure)\.svg)" ?/?>')
_BEFORE = re.compile(r"^.*?(?=<svg )", re.DOTALL)  # the XML declaration and comments, which are not for HTML
_WIDTH = re.compile(r'width="(\d+)')
WIDE = 1_200  # points
FEW = 100  # states of a real system
_NAME = re.compile(r' id="(?=\w)')
_SOURCE = re.compile(r'<p><a href="(?P<file>models/[\w/]+\.py)\.txt">.*?</p>', re.DOTALL)
_BENCH = re.compile(r'<a href="models/[\w/]+\.py\.txt">(?P<bench>\w+)</a>')
_benches = set[str]()


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the drawings and sources of the gallery, and the failure of the first page, into their pages."""
    del config, files
    if page.file.src_uri == "gallery.md":
        _benches.update(_BENCH.findall(html))
        html = _BENCH.sub(r'\g<0> (<a href="gallery/\g<bench>.html">walk in it</a>)', html)
    drawn = _IMAGE.sub(_drawn, html)
    return _SOURCE.sub(_with_source, drawn) if page.file.src_uri == "gallery.md" else drawn


def _with_source(link: re.Match[str]) -> str:
    source = (DOCS.parent / link["file"]).read_text(encoding="utf-8")
    code = highlight(source, PythonLexer(), HtmlFormatter(cssclass="language-python highlight", wrapcode=True))
    return f"{link[0]}<details><summary>The source of {link['file']}</summary>{code}</details>"


@cache
def _laws(name: str) -> tuple[Graph, dict[str, int | None]]:
    """Return the model of a drawing as it is today, and what holds for it."""
    sys.path.insert(0, str(DOCS.parent))
    from benchmarks.gallery import PICTURES
    from otf.cli.tools.check import REQUIRED, told
    from otf.explore.analysis import general, liveness

    graph = PICTURES[name].graph()
    laws = (*general(graph), liveness(graph, law="no dead end"))
    # a law that need not hold is not refuted: `otf check` and `otf explore` say so, too
    return graph, {told(law, required=law.law in REQUIRED): law.state for law in laws}


def _drawn(image: re.Match[str]) -> str:
    file = DOCS / image["file"]
    svg = _BEFORE.sub("", file.read_text(encoding="utf-8"))
    named = _NAME.sub(f' id="{file.stem}-', svg)
    # on a phone it fits its page; one that would be unreadable then is moved instead
    points = float((_WIDTH.search(svg) or [0, "0"])[1])
    wide = " wide" if points > WIDE else ""
    # below that its labels, of 10 points, would be smaller than 10 pixels
    if file.parent.name == "gallery":
        named = named.replace("<svg ", f'<svg style="min-width: {points:.0f}px" ', 1)
    label = escape(unescape(image["alt"]))
    walked = _results(file.stem) if file.parent.name == "gallery" else ""
    # it may be wider than a phone, and is then moved inside its frame, also by keys
    return f'<span class="drawing{wide}" role="img" aria-label="{label}" tabindex="0">{named}</span>{walked}'


def _results(name: str) -> str:
    """Return what stands below a drawing: where to walk, the picture as a file, and what otf says about the model."""
    graph, laws = _laws(name)
    links = (
        f'<a class="walk" href="gallery/{name}.html">walk in it</a> <a href="gallery/{name}.svg" download>as SVG</a>'
    )
    size = f"{len(graph.values)} states, {len(graph.target)} transitions"
    told = dict[str, list[str]]()  # laws with the same result stand together, and the size stands once
    for law in laws:
        one, _, result = law.split("\n")[0].partition(": ")
        told.setdefault(result.replace(f": {size}", "", 1), []).append(one)
    said = "; ".join((size, *(f"{', '.join(these)}: {result}" for result, these in told.items())))
    return f'{links}<span class="laws">{escape(said)}</span>'


def on_post_build(config: MkDocsConfig) -> None:
    """Write the pages to walk in, with the models of today."""
    sys.path.insert(0, str(DOCS.parent))
    from benchmarks.gallery import PICTURES
    from otf.cli.benches import load
    from otf.cli.tools.check import REQUIRED, told
    from otf.explore import explore
    from otf.explore.analysis import general
    from otf.explore.exports import marks
    from otf.report.states import model_page

    for bench in sorted(_benches):
        graph = explore(load(bench).spec, limit=FEW)
        laws = {told(law, required=law.law in REQUIRED): law.state for law in general(graph)}
        text = model_page(graph, marks(graph), laws, command=f"otf step {bench}")
        Path(config.site_dir, "gallery", f"{bench}.html").write_text(text, encoding="utf-8")
    for name, shown in PICTURES.items():
        graph, laws = _laws(name)
        page = model_page(graph, marks(graph, shown.accepting, shown.safe), laws)
        Path(config.site_dir, "gallery", f"{name}.html").write_text(page, encoding="utf-8")
