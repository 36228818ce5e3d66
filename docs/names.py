"""Leads from each public name of the reference to its source, and to the guides that use it most."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from functools import cache
from html import escape
from importlib import import_module
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

DOCS = Path(__file__).parent
ROOT = DOCS.parent
SOURCES = ("otf", "adapters", "models")
GUIDES = re.compile(r"howto-|tutorial|topics-(?!evaluation|papers)|reference-bench")
MOST = 3  # guides of one name
_HEADING = re.compile(r'<h3 id="(?P<path>otf(?:\.\w+)+)" class="doc doc-heading">.*?</h3>', re.DOTALL)
_CODE = re.compile(r"```.*?```|`[^`]+`", re.DOTALL)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the code, as text, which a browser shows."""
    for folder in SOURCES:
        for source in sorted((ROOT / folder).rglob("*.py")):
            name = f"{source.relative_to(ROOT).as_posix()}.txt"
            files.append(File.generated(config, name, abs_src_path=str(source)))
    return files


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the links under the heading of each name."""
    del config, files
    reference = page.file.src_uri.startswith("reference/")
    return _HEADING.sub(lambda found: found[0] + _links(found["path"]), html) if reference else html


def _links(path: str) -> str:
    package, _, name = path.rpartition(".")
    try:
        found = getattr(import_module(package), name)
    except ImportError:
        return ""  # a part of a class
    links = [f'<a href="../{page}">{escape(title)}</a>' for page, title in _guides(name)]
    try:
        file = Path(inspect.getsourcefile(inspect.unwrap(found)) or "").resolve().relative_to(ROOT).as_posix()
        start = "class" if inspect.isclass(found) else "def"
        links.append(f'<a href="../{file}.txt#:~:text={start}%20{name}">source</a>')
    except (TypeError, ValueError):
        pass  # a value or an alias has no file
    return f'<p class="led">{", ".join(links)}</p>' if links else ""


def _guides(name: str) -> list[tuple[str, str]]:
    counts = {page: words[name] for page, (_, words) in _words().items()}
    most = sorted((page for page in counts if counts[page]), key=lambda page: -counts[page])[:MOST]
    return [(f"{page}.html", _words()[page][0]) for page in most]


@cache
def _words() -> dict[str, tuple[str, Counter[str]]]:
    """Return the title of each guide, and how often its code has each word."""
    found = dict[str, tuple[str, Counter[str]]]()
    for page in sorted(DOCS.glob("*.md")):
        if GUIDES.match(page.name):
            text = page.read_text(encoding="utf-8")
            words = Counter(re.findall(r"\w+", " ".join(_CODE.findall(text))))
            found[page.stem] = (_TITLE.findall(text)[0], words)
    return found
