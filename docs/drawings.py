"""Drawings become part of their page, so that they follow its theme, and answer to the pointer.

An image in a file of its own knows only the theme of the reader's system, and nothing happens when the pointer is over
an arrow. Graphviz numbers the parts of each drawing from 1, so their names get that of the file. Beside each drawing of
the gallery is a page to walk in, as `otf explore` writes it; below the name of a model, its source can be opened.
"""

from __future__ import annotations

import re
import sys
from html import escape, unescape
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

DOCS = Path(__file__).parent
_IMAGE = re.compile(r'<img alt="(?P<alt>[^"]*)" src="(?P<file>(?:gallery/[\w-]+|pictures/failure)\.svg)" ?/?>')
_BEFORE = re.compile(r"^.*?(?=<svg )", re.DOTALL)  # the XML declaration and comments, which are not for HTML
_WIDTH = re.compile(r'width="(\d+)')
WIDE = 1_200  # points
_NAME = re.compile(r' id="(?=\w)')
_SOURCE = re.compile(r'<p><a href="(?P<file>models/[\w/]+\.py)\.txt">.*?</p>', re.DOTALL)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the drawings and sources of the gallery, and the failure of the first page, into their pages."""
    del config, files
    drawn = _IMAGE.sub(_drawn, html)
    return _SOURCE.sub(_with_source, drawn) if page.file.src_uri == "gallery.md" else drawn


def _with_source(link: re.Match[str]) -> str:
    source = (DOCS.parent / link["file"]).read_text(encoding="utf-8")
    code = highlight(source, PythonLexer(), HtmlFormatter(cssclass="language-python highlight", wrapcode=True))
    return f"{link[0]}<details><summary>The source of {link['file']}</summary>{code}</details>"


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
    walked = f'<a class="walk" href="gallery/{file.stem}.html">walk in it</a>' if file.parent.name == "gallery" else ""
    # it may be wider than a phone, and is then moved inside its frame, also by keys
    return f'<span class="drawing{wide}" role="img" aria-label="{label}" tabindex="0">{named}</span>{walked}'


def on_post_build(config: MkDocsConfig) -> None:
    """Write the pages to walk in, with the models of today."""
    sys.path.insert(0, str(DOCS.parent))
    from benchmarks.gallery import PICTURES
    from otf.explore.analysis import general, liveness
    from otf.explore.exports import marks
    from otf.report.states import model_page

    for name, shown in PICTURES.items():
        graph = shown.graph()
        laws = [str(law) for law in (*general(graph), liveness(graph, law="no dead end"))]
        page = model_page(graph, marks(graph, shown.accepting, shown.safe), laws)
        Path(config.site_dir, "gallery", f"{name}.html").write_text(page, encoding="utf-8")
