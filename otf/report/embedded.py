"""The paths embedded in the page: which ones, compressed, and the commands that read or drive them again."""

from __future__ import annotations

import re
import zlib
from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from otf.report.gather import Gathered, PathSummary
from otf.report.markup import plain
from otf.report.path_view import ViewData
from otf.trace.title import title

EACH: Final = 10
"""Paths of each kind: of each failure, each known issue, each reason to be inconclusive, and of those that passed."""

KINDS: Final = 40  # of one verdict: there may be as many reasons as paths
BUDGET: Final = 6_000_000
"""Bytes of all paths in the page. A path of 1,000 steps takes about 30,000."""

PathKind: TypeAlias = Literal["fail", "known issue", "inconclusive", "pass"]
ORDER: Final[tuple[PathKind, ...]] = ("fail", "known issue", "inconclusive", "pass")


class ChosenPath(NamedTuple):
    """A trace to embed in the page; `group` is its failure, its known issue, or why it is inconclusive."""

    kind: PathKind
    group: str
    file: Path
    title: str = ""


@dataclass(frozen=True, slots=True)
class EmbeddedPath:
    """A path in the page: `name` is its address there, `packed` its data, compressed and in base64.

    `commands` maps what each command does to its command line.
    """

    name: str
    kind: PathKind
    group: str
    file: str
    steps: int
    commands: Mapping[str, str]
    packed: str


def kind_of(path: PathSummary) -> tuple[PathKind, str]:
    """Return the kind of a path, and its group."""
    if path.known_issue:
        return "known issue", path.known_issue
    return path.verdict, path.signature or path.why


def chosen(gathered: Gathered, folder: Path) -> Iterator[ChosenPath]:
    """Yield the traces to embed, the most important first, since a full page leaves out the rest.

    The shortest trace of each failure and known issue comes first, then the kinds take turns, one path each.
    """
    for signature, found in gathered.failures.items():
        yield ChosenPath("fail", signature, Path(found.file), title(found.failure))
    for says, found in gathered.excused.items():
        yield ChosenPath("known issue", says, Path(found.file))
    groups = defaultdict[tuple[PathKind, str], list[PathSummary]](list)
    for path in gathered.paths:
        if not path.file:
            continue  # its trace was not kept
        groups[kind_of(path)].append(path)
    named = [(name, _some(paths)) for kind in ORDER for name, paths in [*_of(groups, kind)][:KINDS]]
    for row in zip_longest(*([(name, path) for path in paths] for name, paths in named)):
        yield from (
            ChosenPath(kind, group, folder / path.file, path.title) for (kind, group), path in filter(None, row)
        )


def _of(
    groups: Mapping[tuple[PathKind, str], list[PathSummary]], kind: PathKind
) -> Iterator[tuple[tuple[PathKind, str], list[PathSummary]]]:
    return ((name, paths) for name, paths in groups.items() if name[0] == kind)


def _some(paths: list[PathSummary]) -> list[PathSummary]:
    """Return at most `EACH` paths, spread evenly over all of them."""
    return [paths[at * len(paths) // EACH] for at in range(EACH)] if len(paths) > EACH else paths


def embedded(
    paths: Iterable[ChosenPath], read: Callable[[Path], ViewData], commands: Callable[[Path], Mapping[str, str]]
) -> list[EmbeddedPath]:
    """Return paths as parts of the page until it is full; `read` judges a trace and returns it as data."""
    found: dict[str, EmbeddedPath] = {}
    left = BUDGET
    for path in paths:
        name = address(path.file)
        if name in found:
            continue
        data = read(path.file)
        packed = b64encode(zlib.compress(msgspec.json.encode(data), 9)).decode()
        left -= len(packed)
        if left < 0:
            break
        found[name] = EmbeddedPath(
            name,
            path.kind,
            plain(path.title or path.group),
            plain(str(path.file)),
            data["steps"],
            {what: plain(command) for what, command in commands(path.file).items()},
            packed,
        )
    return [*found.values()]


def address(file: Path) -> str:
    """Return the name of a trace in the addresses of the page.

    >>> address(Path("out/path-0003.strict.jsonl"))
    'path-3.strict'
    """
    name = re.sub(r"[^\w.-]", "_", file.name.removesuffix(".jsonl"), flags=re.ASCII)
    return re.sub(r"-0+(?=\d)", "-", name)


def document(paths: Iterable[EmbeddedPath]) -> str:
    r"""Return the paths as JSON in which no markup can begin or end.

    >>> document([EmbeddedPath("path-1", "pass", "</script>", "x", 1, {}, "")])[:49]
    '[{"name":"path-1","kind":"pass","group":"\\u003c/s'
    """
    text = msgspec.json.encode([asdict(path) for path in paths]).decode()
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
