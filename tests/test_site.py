"""The pages build as a site, with the reference of every name that users need.

No link leads nowhere, no page is left out, no docstring names anything that does not exist.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from html import unescape
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple, is_typeddict
from urllib.parse import unquote

ROOT = Path(__file__).parents[1]
TOPS = {ROOT / "otf": "otf", ROOT / "adapters": "otf.adapters", ROOT / "models": "otf.models"}


class Public(NamedTuple):
    """A name in the `__all__` of a package."""

    package: str
    name: str

    @property
    def path(self) -> str:
        """Return where users import it from."""
        return f"{self.package}.{self.name}"

    @property
    def value(self) -> Any:  # noqa: ANN401 -- anything may be public
        """Return the object itself."""
        return getattr(import_module(self.package), self.name)


def public() -> Iterator[Public]:
    """Yield every name in every `__all__` of the tree."""
    for top, package in TOPS.items():
        for source in sorted(top.rglob("__init__.py")):
            inner = source.parent.relative_to(top).parts
            yield from (Public(".".join([package, *inner]), name) for name in exported(source))


def exported(source: Path) -> list[str]:
    """Read the `__all__` of a file."""
    body = ast.parse(source.read_text(encoding="utf-8")).body
    assigned = [each for each in body if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "__all__"]
    return [str(name) for each in assigned for name in ast.literal_eval(each.value)]


GUIDES = (*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", *(ROOT / "examples").rglob("*.py"))
BENCHES = tuple((ROOT / "models").rglob("*.py"))


def imported(files: Iterable[Path]) -> Iterator[str]:
    """Yield every name that code of these files imports from otf, by its path."""
    text = "\n".join(each.read_text(encoding="utf-8") for each in files)
    for package, names in re.findall(r"^ *(?:>>> )?from (otf[\w.]*) import (\([^)]*\)|.*)", text, re.MULTILINE):
        yield from (f"{package}.{name}" for name in re.findall(r"\w+", re.sub(r"#.*| as \w+", "", names)))


NAMES = tuple(public())


@cache
def entries(site: Path) -> dict[str, str]:
    """Return the HTML of each entry of the reference, by its path: from its heading to the end of its element."""
    found = dict[str, str]()
    for page in sorted((site / "reference").glob("*.html")):
        text = page.read_text(encoding="utf-8")
        for start in re.finditer(r'<div class="doc doc-object doc-\w+">\s*<h\d id="([^"]+)"', text):
            found.setdefault(start[1], element(text, start.start()))
    return found


def element(text: str, start: int) -> str:
    """Return a `div` with everything in it."""
    depth = 0
    for tag in re.compile(r"<(/?)div\b").finditer(text, start):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return text[start : tag.end()]
    raise AssertionError(f"no end of the element at {start}")


def plain(html: str) -> str:
    """Return the text of HTML, with single spaces."""
    return " ".join(unescape(re.sub(r"<[^>]+>", "", html)).split())


def signature_of(entry: str) -> str:
    """Return the signatures that an entry shows: one, or those of overloads, or none."""
    head = entry.partition("doc-children")[0]
    return plain(
        " ".join(re.findall(r'<div class="language-python doc-signature highlight">(.*?)</div>', head, re.DOTALL))
    )


def lines_of(path: str, site: Path) -> list[ast.arguments]:
    """Return the parameters of each signature that an entry shows, with their lines."""
    own = re.split(r'class="doc doc-contents', entries(site)[path])[0]
    shown = re.findall(r'doc-signature highlight">(.*?)</div>', own, re.DOTALL)
    texts = [unescape(re.sub(r"<[^>]+>", "", each)).strip() for each in shown]
    parsed = [ast.parse(f"def f{re.sub(r'^.*?(?=[(])', '', text)}: ...").body[0] for text in texts if "(" in text]
    return [each.args for each in parsed if isinstance(each, ast.FunctionDef)]


def called(value: object) -> bool:
    """Return whether users call it: a function, or a class but no protocol, exception, enum or typed dictionary."""
    if not inspect.isclass(value):
        return inspect.isroutine(value)
    return not (issubclass(value, BaseException | Enum) or is_protocol(value) or is_typeddict(value))


def is_protocol(value: type) -> bool:
    """Return whether a class has no instances of its own (`typing.is_protocol` is there from Python 3.13 on)."""
    return getattr(value, "_is_protocol", False)


def test_the_site_builds(site: Path) -> None:
    """The pages become a site without a warning."""
    assert 'id="otf.Spec"' in (site / "reference" / "otf.html").read_text(encoding="utf-8")


def listed(site: Path) -> list[Public]:
    """Return the public names in the reference. It leaves out what only otf's own packages import from each other."""
    return [each for each in NAMES if each.path in entries(site)]


def test_each_name_that_users_import_has_an_entry(site: Path) -> None:
    """The reference has every name of `otf`, what guides import, and the public names that shipped benches import."""
    used, guides = {*imported(BENCHES)}, {*imported(GUIDES)}
    wanted = [each.path for each in NAMES if each.package == "otf" or each.path in used]
    wanted += sorted(path for path in guides if not is_module(path))
    assert len(guides) > 150
    assert len(wanted) > 200
    assert [path for path in wanted if path not in entries(site)] == []


def is_module(path: str) -> bool:
    """Return whether an imported name is a module."""
    return inspect.ismodule(resolve_name(path))


def test_each_entry_describes_its_name(site: Path) -> None:
    """An entry says something, and nothing else has its name: no file in the place of a function."""
    kinds = {each.path: kind_of(entries(site)[each.path]) for each in listed(site)}
    assert {path for path, kind in kinds.items() if kind == "module"} == set()


def test_examples_are_code(site: Path) -> None:
    """Every example in a docstring becomes one block of code: no fence is left as text."""
    assert {path for path, entry in entries(site).items() if "```" in entry} == set()


def test_each_signature_has_parameters_with_types_and_defaults(site: Path) -> None:
    """Whatever a user can pass to a function, or to a class with a constructor of its own, is in its signature."""
    shown = {each: signature_of(entries(site)[each.path]) for each in listed(site)}
    assert [f"{each.path}: {name}" for each in shown for name in unsigned(each.value, shown[each])] == []


def unsigned(value: Any, shown: str) -> Iterator[str]:  # noqa: ANN401 -- anything may be public
    """Yield the parameters that a signature leaves out, or shows without their type or default."""
    if not called(value) or (inspect.isclass(value) and "__init__" not in vars(value)):
        return
    for name, parameter in inspect.signature(value).parameters.items():
        if name.startswith("_"):
            continue  # a private field
        default = r"[^=]* = " if parameter.default is not parameter.empty else ""
        if not re.search(rf"[(, *]{name}: {default}", shown):
            yield name


def test_each_parameter_has_a_line_a_type_and_its_default(site: Path) -> None:
    """Of several parameters each stands on a line of its own: of functions, classes, methods and overloads."""
    found = [
        (path, each)
        for path in entries(site)
        if kind_of(entries(site)[path]) != "attribute"
        for each in lines_of(path, site)
    ]
    assert len(found) > 500
    for path, each in found:
        named = [*each.posonlyargs, *each.args, each.vararg, *each.kwonlyargs, each.kwarg]
        lines = [one.lineno for one in named if one]
        assert len(lines) < 2 or (len({*lines}) == len(lines) and min(lines) > 1), path
        assert [one.arg for one in named if one and one.annotation is None] == [], path
        assert [one for one in (*each.defaults, *each.kw_defaults) if one and ast.unparse(one) == "..."] == [], path


def test_each_dataclass_shows_its_fields(site: Path) -> None:
    """Every public field of a dataclass has an entry with its type."""
    shown = entries(site)
    wanted = [
        f"{each.path}.{field.name}"
        for each in listed(site)
        if inspect.isclass(each.value) and is_dataclass(each.value)
        for field in fields(each.value)
        if not field.name.startswith("_")
    ]
    assert len(wanted) > 100
    assert [path for path in wanted if f"{path.rpartition('.')[2]}: " not in signature_of(shown.get(path, ""))] == []


def test_each_attribute_says_what_it_means(site: Path) -> None:
    """Whatever a class or a module has says what it is: in its own text, a sentence of its class, or a comment."""
    attributes = {path: entry for path, entry in entries(site).items() if kind_of(entry) == "attribute"}
    assert len(attributes) > 1_000
    silent = [
        path
        for path, entry in attributes.items()
        if not plain(f"{entry}>".partition("doc-contents")[2].partition(">")[2])
    ]
    assert silent == []


def test_signatures_have_no_private_names(site: Path) -> None:
    """No parameter, type or default is a private name; a type without an entry leads to its source."""
    shown = {path: re.sub(r"lambda \w+:", "", signature_of(entry)) for path, entry in entries(site).items()}
    private = {path: re.findall(r"(?<![\w.])_[a-zA-Z]\w*", text) for path, text in shown.items()}
    assert {path: names for path, names in private.items() if names} == {}
    pages = [page.read_text(encoding="utf-8") for page in (site / "reference").glob("*.html")]
    assert {name for page in pages for name in re.findall(r'<span title="otf\.[\w.]+\.([A-Z]\w+)">', page)} == set()


def test_errors_are_named(site: Path) -> None:
    """An error that the code of a name raises stands in its entry: in its text, or in the row below its heading."""
    text = (site / "reference" / "otf.html").read_text(encoding="utf-8")
    rows = dict(re.findall(r'<h3 id="otf\.(\w+)".*?</h3>(?:<p class="led">(.*?)</p>)?', text, re.DOTALL))
    assert "raises ModelError, UsageError" in plain(rows["Bench"])


def test_each_entry_has_an_example(site: Path) -> None:
    """Each class, function, value and type alias has an example in its entry, run as a doctest."""
    shown = entries(site)
    classes = {path for path, entry in shown.items() if kind_of(entry) == "class"}
    whole = [path for path in shown if path.rpartition(".")[0] not in classes and kind_of(shown[path]) != "module"]
    assert len(whole) > 450
    assert [path for path in whole if ">>> " not in plain(shown[path])] == []


def test_each_method_leads_to_an_example(site: Path) -> None:
    """A method has an example of its own, or leads to that of a class which calls or defines the method."""
    shown = entries(site)
    functions = {path for path, entry in shown.items() if kind_of(entry) == "function"}
    methods = [path for path in sorted(functions) if kind_of(shown.get(path.rpartition(".")[0], "")) == "class"]
    assert len(methods) > 100
    assert [each for each in methods if not re.search(">>> |Example: ", plain(shown[each]))] == []


def kind_of(entry: str) -> str:
    """Return what an entry describes: a class, a function, an attribute or a module."""
    return entry.partition("doc-object doc-")[2].partition('"')[0]


LED = re.compile(r'<h[23] id="(otf[\w.]+)"(?:(?!</h[23]>).)*</h[23]>(?:<p class="led">(.*?)</p>)?', re.DOTALL)


def led(site: Path) -> dict[str, list[str]]:
    """Return where each public name of the reference leads to: a function, a class, a value, but no part of a class."""
    pages = [page.read_text(encoding="utf-8") for page in sorted((site / "reference").glob("*.html"))]
    rows = {path: row for page in pages for path, row in LED.findall(page)}
    names = [path for path in rows if not path.split(".")[-2][0].isupper() and "doc-module" not in entries(site)[path]]
    return {path: re.findall(r'href="([^"]+)"', rows[path]) for path in names}


def test_each_name_leads_to_a_section_of_a_guide(site: Path) -> None:
    """The first links of a name lead to guides that show it, or that explain what it is for; each section is there."""
    assert len(led(site)) > 350
    for path, links in led(site).items():
        assert re.match(r"\.\./[\w-]+\.html", links[0]), path
        for page, _, anchor in (each.removeprefix("../").partition("#") for each in links if each.startswith("../")):
            text = (site / page).read_text(encoding="utf-8") if page.endswith(".html") else ""
            assert not anchor or f'id="{anchor}"' in text or not text, (path, page, anchor)


def test_each_name_leads_to_its_source(site: Path) -> None:
    """The last link of a name leads to the words with which its definition begins: of values and aliases, too."""
    for path, links in led(site).items():
        file, _, begin = links[-1].removeprefix("../").partition(".txt#:~:text=")
        assert path.rpartition(".")[2] in begin, path
        assert re.search(
            f"^{re.escape(unquote(begin))}", (site / f"{file}.txt").read_text(encoding="utf-8"), re.MULTILINE
        )


def test_the_list_beside_shows_short_names(site: Path) -> None:
    """No name in the list of a page has dots."""
    for page in (site / "reference").glob("*.html"):
        beside = page.read_text(encoding="utf-8").partition('data-md-component="toc"')[2].partition("<article")[0]
        labels = [plain(each) for each in re.findall(r'<span class="md-ellipsis">(.*?)</span>', beside, re.DOTALL)]
        assert len(labels) > 30
        assert [each for each in labels if "." in each] == [], page
