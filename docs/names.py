"""Leads from each public name of the reference to the guides that show it, to its source, and to the names in its text.

A link leads to the section that uses the name most. A name that no guide uses leads to the guide of its task. A type
without an entry leads to its source. An error that the code of a name raises stands there, too, if its text does not
name it.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from functools import cache
from html import escape
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

DOCS = Path(__file__).parent
sys.path.append(str(DOCS))  # mkdocs imports each hook by itself

from guides import Section, sections  # noqa: E402
from sources import ROOT, SOURCES, Place, definitions, file_of, place  # noqa: E402
from tasks import GUIDES, guide_of  # noqa: E402

USING = re.compile(r"howto-|tutorial|topics-(?!evaluation|papers)|reference-bench")
_RANKS = ((re.compile("tutorial|howto-first"), 2.0), (re.compile("howto-(?:switch|fuzzers|boards)|topics-tools"), 0.5))
"""What a use counts more in, because users begin there, and less, because these pages are for users of other tools."""
MOST = 3  # guides of one name
_HEADING = re.compile(
    r'<h(?P<level>[23]) id="(?P<path>otf(?:\.\w+)+)" class="doc doc-heading">.*?</h(?P=level)>', re.DOTALL
)
_MENTIONED = re.compile(r"(?<!\">)<code>([A-Z]\w+)</code>")
_UNRESOLVED = re.compile(r'<span title="otf\.(?P<module>[\w.]+)\.(?P<name>\w+)">(?P=name)</span>')
_PACKAGE = re.compile(r"^::: (otf[\w.]*)$", re.MULTILINE)


class Guide(NamedTuple):
    """A page with its sections."""

    url: str
    title: str
    sections: list[Section]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the code, as text, which a browser shows."""
    for folder in SOURCES:
        for source in sorted((ROOT / folder).rglob("*.py")):
            name = f"{source.relative_to(ROOT).as_posix()}.txt"
            files.append(File.generated(config, name, abs_src_path=str(source)))
    return files


def on_env(env: Environment, config: MkDocsConfig, files: Files) -> Environment:
    """Put the links under the heading of each name, when all guides are there."""
    del config
    pages = [each.page for each in files.documentation_pages() if each.page and each.page.content]
    known = defaultdict[str, set[Place]](set)
    reference = [each for each in pages if each.file.src_uri.startswith("reference/")]
    for path in (found["path"] for page in reference for found in _HEADING.finditer(page.content or "")):
        if at := _place(path):
            known[at.name].add(at)
    guides = [
        Guide(page.file.url, str(page.title), [*sections(page.content or "", known)])
        for page in pages
        if USING.match(page.file.src_uri) or page.file.src_uri == "gallery.md"
    ]
    for page in reference:
        led = _HEADING.sub(lambda found: found[0] + _links(found["path"], guides), page.content or "")
        page.content = _MENTIONED.sub(lambda found: _mentioned(found[1]), led)
    return env


def on_post_page(html: str, page: Page, config: MkDocsConfig) -> str:
    """Let a type in a signature lead to its source, if it has no entry."""
    del config
    return _UNRESOLVED.sub(_to_source, html) if page.file.src_uri.startswith("reference/") else html


def _to_source(found: re.Match[str]) -> str:
    at = place(f"otf.{found['module']}", found["name"])
    return f'<a href="{at.link}">{found["name"]}</a>' if at else found[0]


def _mentioned(name: str) -> str:
    """Return a class that a text mentions, with a link to its entry."""
    code = f"<code>{name}</code>"
    return f'<a href="{entries()[name]}">{code}</a>' if name in entries() else code


@cache
def entries() -> dict[str, str]:
    """Return where the entry of each public name is; of one that several packages export, the first."""
    pages = reversed(_pages().items())
    return {
        name: f"{page}#{package}.{name}"
        for package, page in pages
        for name in getattr(import_module(package), "__all__", ())
    }


def _place(path: str) -> Place | None:
    """Return where a name is defined, but for a module, or a part of a class."""
    package, _, name = path.rpartition(".")
    return place(package, name) if file_of(package) else None


def _links(path: str, guides: list[Guide]) -> str:
    at = _place(path)
    if at is None:
        return ""
    links = [
        f'<a href="../{guide.url}{section.anchor}">{escape(_titled(guide, section))}</a>'
        for guide, section in _shown_in(path, at, guides)
    ]
    if errors := _raised(at):
        links.append(
            "raises " + ", ".join(f'<a href="{entries()[error]}"><code>{error}</code></a>' for error in errors)
        )
    links.append(f'<a href="{at.link}">source</a>')
    return f'<p class="led">{" · ".join(links)}</p>'


def _shown_in(path: str, at: Place, guides: list[Guide]) -> list[tuple[Guide, Section]]:
    """Return the section about a name itself, and those that use it most, one of each guide; or that of its task."""
    using = [guide for guide in guides if USING.match(guide.url)]
    most = [(guide, max(guide.sections, key=lambda each: each.uses[at])) for guide in using]
    most.sort(key=lambda each: -each[1].uses[at] * next((rank for of, rank in _RANKS if of.match(each[0].url)), 1))
    own = _wanted().get(at)
    first = [_section(own, guides)] if own else []
    found = [each for each in most if each[1].uses[at] and each[0].url != (own or "").partition("#")[0]]
    return [*first, *found][:MOST] or [_section(guide_of(path), guides)]


def _section(wanted: str, guides: list[Guide]) -> tuple[Guide, Section]:
    for guide in guides:
        for section in guide.sections:
            if guide.url + section.anchor == wanted:
                return guide, section
    raise ValueError(f"docs/tasks.py: no guide has the section {wanted!r}")


@cache
def _wanted() -> dict[Place, str]:
    found = {_place(path): guide for path, guide in GUIDES.items() if ":" not in path}
    return {at: guide for at, guide in found.items() if at}


def _titled(guide: Guide, section: Section) -> str:
    return f"{guide.title}: {section.title}" if section.title else guide.title


def _raised(at: Place) -> list[str]:
    """Return the errors that the code of a name raises in its file, without those that its text names."""
    defined = definitions(at.file)
    said = ast.get_docstring(defined[at.name]) or "" if at.name in defined else ""
    found, left, seen = set[str](), [at.name], set[str]()
    while left:
        seen.add(name := left.pop())
        nodes = [node for part in _called(defined.get(name), own=name == at.name) for node in ast.walk(part)]
        found |= {
            getattr(each.exc.func, "id", "")
            for each in nodes
            if isinstance(each, ast.Raise) and isinstance(each.exc, ast.Call)
        }
        left += {each.id for each in nodes if isinstance(each, ast.Name)} - seen
    return sorted(each for each in found & entries().keys() if each not in said and each != at.name)


def _called(defined: ast.stmt | None, *, own: bool) -> list[ast.stmt]:
    """Return what runs when code names a definition: of a class that is not the entry's own, what makes it."""
    if isinstance(defined, ast.ClassDef) and not own:
        return [each for each in defined.body if getattr(each, "name", "") in ("__init__", "__post_init__")]
    return [defined] if defined else []


@cache
def _pages() -> dict[str, str]:
    """Return the page of the reference that has a package."""
    pages = sorted((DOCS / "reference").glob("*.md"))
    return {name: f"{page.stem}.html" for page in pages for name in _PACKAGE.findall(page.read_text(encoding="utf-8"))}
