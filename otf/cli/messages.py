"""The messages of otf, taken from its code, each with the guide that says more: `otf help WORDS` looks one up."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import otf
from otf.cli.output import say, warn
from otf.errors import PASS, USAGE, near
from otf.trace.verdict import WORDS as KINDS

ENGINE: Final = Path(__file__).parents[1]
DOCS: Final = ENGINE.parent / "docs"  # in a clone
WORDS: Final = 5
"""A shorter message says too little to be looked for."""
SHOWN: Final = 3
READ: Final = 12  # files whose messages are looked through: those that have most of the words
ABOUT: Final = {
    "Ports, addresses and starting the system": ("howto-adapters.md", "adapter", "adapters"),
    "Benches and options of the commands": ("commands.md", "cli", "pytest_plugin"),
    "Models": ("howto-models.md", "spec", "core", "notations", "compose", "channels", "laws"),
    "Inputs and properties of values": ("howto-properties.md", "values", "logic", "temporal"),
    "Exploring and suites": ("howto-choose.md", "explore", "suite", "mutation", "strategy"),
    "Codecs and framing": ("howto-codecs.md", "codec", "framing"),
    "Campaigns and shrinking": ("howto-choose.md", "campaign", "shrink", "runner"),
    "Traces, captures and reports": ("howto-reports.md", "offline", "trace", "report"),
    "Learning": ("howto-learn.md", "learn"),
    "PyModel": ("howto-pymodel.md", "compat"),
}
"""The headings of the messages: the guide of each, and the folders or modules whose messages it has."""


MEANT: Final[Mapping[str, str]] = {
    **dict.fromkeys(("unexpected", "unallowed"), "wrong unasked"),
    **dict.fromkeys(("crash", "crashed", "crashes", "died", "exited", "closed", "disconnected"), "ended"),
    **dict.fromkeys(("hang", "hangs", "silent", "nothing"), "missing"),
    "timeout": "missing late",
    "slow": "late",
    "garbage": "undecodable",
    "endless": "flood",
    **dict.fromkeys(("invariant", "violated"), "property"),
}
"""What users call the kinds of failure."""
FEW: Final = 2  # words: more of them are a message


class KnownText(NamedTuple):
    """A message, and where more is said about it."""

    text: str
    more: str


def explain(words: Sequence[str], commands: Iterable[str]) -> int:
    """Show the messages that have these words, each with the guide that says more; return the exit status."""
    found = looked_up(words)
    for each in found:
        say(f"{each.text}\n  more: {each.more}\n")
    if not found:
        names = [*commands]
        asked = {
            word for each in _questions() for word in re.findall(r"[a-z]{5,}", each.text.partition("\n")[0].lower())
        }
        terms = [name for term, _ in _glossary() for name in term]
        known = [*names, *KINDS, *MEANT, *terms, *sorted(asked), *otf.__all__]
        hint = f"{near(words[0], known)} the commands are {', '.join([*names, 'help'])}".lstrip()
        warn(f"no message has these words: {' '.join(words)}; {hint}")
    return PASS if found else USAGE


def looked_up(words: Sequence[str]) -> list[KnownText]:
    """Return the messages and answered questions that have most of these words, best first.

    >>> looked_up("the codec has no bytes for the input Up()".split())[0].text
    'the codec has no bytes for the input …: …'
    """
    wanted = _pieces(" ".join(words))
    found = sorted({*_messages(wanted), *_questions()}, key=lambda each: (-_share(wanted, each.text), len(each.text)))
    known = [*_kinds([each.lower() for each in words]), *_terms(" ".join(words).lower()), *_public(" ".join(words))]
    return [*known, *(each for each in found[:SHOWN] if _share(wanted, each.text) > 1 / 2)]


def _kinds(words: Sequence[str]) -> Iterator[KnownText]:
    """Yield the kinds of failure that one or two words mean."""
    meant = (
        {kind for word in words[:FEW] for kind in MEANT.get(word, word).split()} if len(words) <= FEW else set[str]()
    )
    for kind, says in KINDS.items():
        if kind in meant:
            yield KnownText(
                f"{kind}, a kind of failure: {says}; `otf show TRACE` shows the step", _page("questions.md")
            )


def _page(name: str, place: str = "trace") -> str:
    """Return where more is said: a page of the clone, or what an installed otf has."""
    if DOCS.is_dir():
        return f"docs/{name}"
    here = "`otf COMMAND --help`" if place == "cli" else f"`python -m pydoc otf.{place}`"
    return f"{here}; a clone of otf has docs/{name}"


def _pieces(text: str) -> set[str]:
    """Return the words of a text, and each two that follow one another."""
    words = re.findall(r"[a-z]{2,}", text.lower())
    return {*words, *map(" ".join, pairwise(words))}


def _share(wanted: set[str], text: str) -> float:
    return len(wanted & _pieces(text)) / (len(wanted) or 1)


def _messages(wanted: set[str]) -> Iterator[KnownText]:
    about = (
        (f"{heading}: {_page(guide, each)}", each) for heading, (guide, *places) in ABOUT.items() for each in places
    )
    files = [(more, file) for more, place in about for file in sources(place)]
    files.sort(key=lambda each: -_share(wanted, each[1].read_text(encoding="utf-8")))
    for more, file in files[:READ]:
        yield from (KnownText(text, more) for text in texts(file))


def _questions() -> Iterator[KnownText]:
    """Yield the sections of the page of questions, if it is there."""
    page = DOCS / "questions.md"
    for section in page.read_text(encoding="utf-8").split("\n## ")[1:] if page.is_file() else ():
        head, _, text = section.partition("\n")
        yield KnownText(f"{head}\n{text.strip()}", "docs/questions.md")


def _terms(wanted: str) -> Iterator[KnownText]:
    """Yield the meaning of a term of the glossary, if it is there."""
    yield from (text for names, text in _glossary() if wanted in names)


def _public(name: str) -> Iterator[KnownText]:
    """Yield what a public name of otf is."""
    if name in otf.__all__:
        says = (inspect.getdoc(getattr(otf, name)) or "").partition("\n\n")[0]
        yield KnownText(f"{name}: {' '.join(says.split())}", f"`python -m pydoc otf.{name}`")


def _glossary() -> Iterator[tuple[set[str], KnownText]]:
    """Yield the terms of the glossary in small letters, and what they mean."""
    page = DOCS / "glossary.md"
    for line in page.read_text(encoding="utf-8").splitlines() if page.is_file() else ():
        cells = re.split(r"\s*(?<!\\)\|\s*", line)[1:-1]
        at = 1 if cells[2:] == [] else 2  # the second table has no column for the field's term
        names, meaning = cells[:at], "".join(cells[at : at + 1])
        says = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", meaning)
        terms = {each.strip(" `*()").lower() for name in names for each in re.split("[,;(]", name)}
        yield terms, KnownText(f"{'; '.join(filter(None, names))}: {says}", "docs/glossary.md")


def sources(place: str) -> list[Path]:
    """Return the files of a folder or module of otf."""
    folder = ENGINE / place
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]


def texts(file: Path) -> Iterator[str]:
    """Yield the messages in a file; … stands for what differs."""
    for text in _printed(ast.parse(file.read_text(encoding="utf-8"))):
        if text.startswith("\b"):
            continue  # what a command prints as its help
        clean = " ".join(text.replace("`", "'").split()).lstrip("…:; ,")
        if len(re.findall(r"[A-Za-z]{2,}", clean)) >= WORDS and not re.search(
            r"[<>{}\\\\]|^[^ ]*=| = |^(from|import) |-src ", clean
        ):
            yield clean


def _printed(node: ast.AST) -> Iterator[str]:
    """Yield the texts of a module that are neither docstrings nor the help of an option."""
    match node:
        case ast.Expr(ast.Constant()) | ast.Call(ast.Name("option" | "argument" | "flag")):
            return
        case ast.Constant(str(text)):
            yield text
        case ast.JoinedStr(parts):
            yield "".join(str(each.value) if isinstance(each, ast.Constant) else "…" for each in parts)
            node = ast.Tuple([each for each in parts if isinstance(each, ast.FormattedValue)])
        case _:
            pass
    for child in ast.iter_child_nodes(node):
        yield from _printed(child)
