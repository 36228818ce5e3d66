"""Leads from each public name of the reference to its source, its most frequent guides, and the names in its text.

A name that no guide uses leads to the names whose code uses it, or to a file that does. A type without an entry leads
to its source. An error that the code of a name raises stands there, too, if its text does not name it.
"""

from __future__ import annotations

import ast
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
_HEADING = re.compile(
    r'<h(?P<level>[23]) id="(?P<path>otf(?:\.\w+)+)" class="doc doc-heading">.*?</h(?P=level)>', re.DOTALL
)
_MENTIONED = re.compile(r"(?<!\">)<code>([A-Z]\w+)</code>")
_UNRESOLVED = re.compile(r'<span title="otf\.(?P<module>[\w.]+)\.(?P<name>\w+)">(?P=name)</span>')
_CODE = re.compile(r"```.*?```|`[^`]+`", re.DOTALL)
_PACKAGE = re.compile(r"^::: (otf[\w.]*)$", re.MULTILINE)
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
    if not reference:
        return html
    led = _HEADING.sub(lambda found: found[0] + _links(found["path"]), html)
    return _MENTIONED.sub(lambda found: _mentioned(found[1]), led)


def on_post_page(html: str, page: Page, config: MkDocsConfig) -> str:
    """Let a type in a signature lead to its source, if it has no entry."""
    del config
    return _UNRESOLVED.sub(_to_source, html) if page.file.src_uri.startswith("reference/") else html


def _to_source(found: re.Match[str]) -> str:
    path = re.sub(r"^otf/(?=adapters|models)", "", f"otf/{found['module'].replace('.', '/')}")
    file = next((each for each in (f"{path}.py", f"{path}/__init__.py") if (ROOT / each).is_file()), "")
    if not file:
        return found[0]
    start = "class%20" if f"class {found['name']}" in (ROOT / file).read_text(encoding="utf-8") else ""
    return f'<a href="../{file}.txt#:~:text={start}{found["name"]}">{found["name"]}</a>'


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


def _links(path: str) -> str:
    package, _, name = path.rpartition(".")
    try:
        found = getattr(import_module(package), name)
    except ImportError:
        return ""  # a part of a class
    if inspect.ismodule(found):
        return ""
    links = [
        f'<a href="../{page}">{escape(title)}</a>'
        for page, title in _guides(package.rpartition(".")[2] if name == "bench" else name)
    ]
    if not links and (users := _users(path, name)):
        links = ["used by " + ", ".join(f'<a href="{page}"><code>{user}</code></a>' for page, user in users)]
    elif not links:
        links = [f'used in <a href="../{file}.txt">{file}</a>' for file in _files(name)]
    if errors := _raised(found, name):
        links.append(
            "raises " + ", ".join(f'<a href="{entries()[error]}"><code>{error}</code></a>' for error in errors)
        )
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


def _users(path: str, name: str) -> list[tuple[str, str]]:
    """Return the other public names whose code has this one, those of its own package first."""
    package = path.rpartition(".")[0]
    named = {other.rpartition(".")[2]: other for other, words in _code().items() if name in words}
    found = [other for short, other in named.items() if short != name]
    found.sort(key=lambda other: other.rpartition(".")[0] != package)
    return [(f"{_pages()[other.rpartition('.')[0]]}#{other}", other.rpartition(".")[2]) for other in found[:MOST]]


def _raised(value: object, name: str) -> list[str]:
    """Return the errors that the code of a name raises in its file, without those that its text names."""
    try:
        defined = _definitions(inspect.getsourcefile(inspect.unwrap(value)) or "")  # type: ignore[arg-type]
    except TypeError:
        return []
    found, left, seen = set[str](), [name], set[str]()
    while left:
        seen.add(at := left.pop())
        nodes = [node for part in _called(defined.get(at), own=at == name) for node in ast.walk(part)]
        found |= {
            getattr(each.exc.func, "id", "")
            for each in nodes
            if isinstance(each, ast.Raise) and isinstance(each.exc, ast.Call)
        }
        left += {each.id for each in nodes if isinstance(each, ast.Name)} - seen
    return sorted(
        each for each in found & entries().keys() if each not in (inspect.getdoc(value) or "") and each != name
    )


def _called(defined: ast.stmt | None, *, own: bool) -> list[ast.stmt]:
    """Return what runs when code names a definition: of a class that is not the entry's own, what makes it."""
    if isinstance(defined, ast.ClassDef) and not own:
        return [each for each in defined.body if getattr(each, "name", "") in ("__init__", "__post_init__")]
    return [defined] if defined else []


def _files(name: str) -> list[str]:
    """Return the first file that imports a name from elsewhere, but for those that only export it."""
    imported = re.compile(rf"^from .* import [^#]*?\b{name}\b", re.MULTILINE)
    return [file for file, text in _texts().items() if name in text and imported.search(text)][:1]


@cache
def _texts() -> dict[str, str]:
    files = (file for folder in SOURCES for file in sorted((ROOT / folder).rglob("*.py")) if file.stem != "__init__")
    return {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}


@cache
def _pages() -> dict[str, str]:
    """Return the page of the reference that has a package."""
    pages = sorted((DOCS / "reference").glob("*.md"))
    return {name: f"{page.stem}.html" for page in pages for name in _PACKAGE.findall(page.read_text(encoding="utf-8"))}


@cache
def _code() -> dict[str, frozenset[str]]:
    """Return the names in the code of each public name that has code of its own."""
    found = dict[str, frozenset[str]]()
    for package in _pages():
        module = import_module(package)
        for name in getattr(module, "__all__", ()):
            try:
                source = inspect.getsourcefile(inspect.unwrap(getattr(module, name)))
            except TypeError:
                continue  # a value or an alias
            node = _definitions(source or "").get(name)
            if node is not None:
                parts = (getattr(each, "id", "") or getattr(each, "attr", "") for each in ast.walk(node))
                found[f"{package}.{name}"] = frozenset(parts)
    return found


@cache
def _definitions(source: str) -> dict[str, ast.stmt]:
    body = ast.parse(Path(source).read_text(encoding="utf-8")).body if source else []
    return {each.name: each for each in body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}


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
