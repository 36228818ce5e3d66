"""The failures of a report: a card for each kind, with its story and what to do next; and the paths in the page."""

from __future__ import annotations

import os
import re
import zlib
from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias
from urllib.parse import quote

import msgspec

from otf.report.gather import Gathered
from otf.report.markup import Markup, joined, tag
from otf.report.path_view import ViewData
from otf.report.reported import PathSummary, ReportedFailure
from otf.trace.explain import explanation, wrapped
from otf.trace.result import KnownIssueResult, counted
from otf.trace.title import title
from otf.trace.verdict import Verdict
from otf.values.text import plain

EACH: Final = 10
"""Paths of each kind: of each failure, each known issue, each reason to be inconclusive, and of those that passed."""

SMALL: Final = (100, 5_000)
"""Paths and steps of a campaign of which all paths are in the page: to judge them once more takes a second."""

_HOW: Final = 40  # of one verdict: there may be as many reasons as paths
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
    """Return what kind of path it is, and its group: its failure, its known issue, or why it is inconclusive."""
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
    small = len(gathered.paths) <= SMALL[0] and gathered.steps <= SMALL[1]
    most, how = (SMALL[0], SMALL[0]) if small else (EACH, _HOW)
    named = [(name, _some(paths, most)) for kind in ORDER for name, paths in [*_of(groups, kind)][:how]]
    for row in zip_longest(*([(name, path) for path in paths] for name, paths in named)):
        yield from (
            ChosenPath(kind, group, folder / path.file, path.title) for (kind, group), path in filter(None, row)
        )


def _of(
    groups: Mapping[tuple[PathKind, str], list[PathSummary]], kind: PathKind
) -> Iterator[tuple[tuple[PathKind, str], list[PathSummary]]]:
    return ((name, paths) for name, paths in groups.items() if name[0] == kind)


def _some(paths: list[PathSummary], most: int) -> list[PathSummary]:
    """Return at most `most` paths, spread evenly over all of them."""
    return [paths[at * len(paths) // most] for at in range(most)] if len(paths) > most else paths


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


KINDS: Final = 30  # failures to draw
PHONE: Final = 46  # characters of a line on a phone: there, too, outputs stand beside inputs
SCREEN: Final = 72  # the same beside a chart
TONES: Final = (
    ("fail", re.compile(r"(FAIL|known issue)\b.*|.*<== here|  (seen|and then): .*")),
    ("pass", re.compile(r" +allows: .*|  (did not come|nearest allowed): .*")),
)
"""The lines of a failure that have a colour, as in a terminal."""


def failures(gathered: Gathered, names: Container[str], folder: Path | None = None) -> Markup:
    """Return a card for each kind of failure, with its explanation; if its path is in the page, a reader can open it.

    Links to traces are relative to a page in this `folder`.
    """
    result = gathered.result
    # those that occurred come first; if nothing else failed, the first of them is what the user came to see
    known = sorted(result.known_issues, key=lambda each: not each.paths)
    issues = (
        _known_issue(each, gathered.excused.get(each.says), names, folder, opened=at == 0 and not gathered.failures)
        for at, each in enumerate(known)
    )
    apart = [f"inconclusive ({counted(each.paths, 'path')}): {each.why}" for each in result.inconclusive]
    apart += [f"{each}" for each in result.guessed]
    others = joined(
        tag("ul", *(tag("li", each) for each in apart)) if apart else "",
        tag("h2", "Known issues") if known else "",
        *issues,
    )
    if not gathered.failures:
        none = "None, except for known issues." if result.seen_issues else f"None. {result.headline}."
        return joined(tag("p", none), others)
    shown = [*gathered.failures.values()][:KINDS]
    left = len(gathered.failures) - len(shown)
    more = tag("p", f"… and {counted(left, 'other kind')} of failure") if left else ""
    cards = (
        _card(tag("code", title(each.failure)), each, names, folder, opened=not at) for at, each in enumerate(shown)
    )
    return joined(*cards, more, others)


def _card(  # noqa: PLR0913 -- what a card shows of a failure
    what: object,
    found: ReportedFailure,
    names: Container[str],
    folder: Path | None,
    *,
    opened: bool,
    excused: bool = False,
) -> Markup:
    count = f"{found.shown_by}, {'shrunk to ' if found.shrunk else ''}{counted(found.steps, 'step')}"
    early = f"The search was stopped early, since {found.ended}: fewer steps may be enough."
    name = address(Path(found.file))
    view = name in names or None
    widths = ((SCREEN, "screen"), (PHONE, "phone"))
    words = tag("div", *(_coloured(found, width, where, excused=excused) for width, where in widths))
    drawn = _drawing(name) if view else ""
    unshrunk = early if found.ended and found.steps > 1 else "" if found.shrunk else "It was not shrunk."
    return tag(
        "details",
        tag("summary", what, " ", tag("span", f"({count})", class_="soft")),
        tag("div", words, drawn, class_=view and "beside"),
        tag("p", unshrunk) if unshrunk else "",
        _ways(found.file, names, folder, found.chance),
        open="" if opened else None,
    )


def as_known(told: str) -> str:
    """Return the explanation of a failure as that of a known issue, which fails no campaign.

    >>> as_known("FAIL (missing): …")
    'known issue (missing): …'
    """
    return told.replace("FAIL", "known issue", 1)


def toned(told: str, width: int = SCREEN, *, excused: bool = False) -> list[tuple[str, str]]:
    r"""Return the lines of an explanation, wrapped to a width, as pairs of the name of a colour and the line.

    A failure that is `excused` is a known issue, and has its colour.

    >>> toned("FAIL (missing): …\n  step  input")
    [('fail', 'FAIL (missing): …'), ('', '  step  input')]
    """
    tones = ((next((tone for tone, line in TONES if line.match(each)), ""), each) for each in told.split("\n"))
    return [
        ("known" if excused and tone == "fail" else tone, part) for tone, line in tones for part in wrapped(line, width)
    ]


def _coloured(found: ReportedFailure, width: int, where: str, *, excused: bool) -> Markup:
    seen = f"\n  its bytes:       {found.bytes}" if found.bytes else ""
    said = explanation(Verdict("fail", found.failure), found.events, width) + seen
    told = toned(as_known(said) if excused else said, width, excused=excused)
    shown = (tag("span", f"{each}\n", class_=tone) if tone else f"{each}\n" for tone, each in told)
    label = f"failure {address(Path(found.file))} in words"
    return tag("pre", *shown, class_=where, tabindex=0, role="region", aria_label=label)


def _known_issue(
    known: KnownIssueResult,
    found: ReportedFailure | None,
    names: Container[str],
    folder: Path | None,
    *,
    opened: bool,
) -> Markup:
    if found is None:
        return tag("p", f"known issue that did not occur: {known.says}")
    return _card(f"known issue: {known.says}", found, names, folder, opened=opened, excused=True)


def _drawing(name: str) -> Markup:
    return tag("div", class_="drawing", tabindex=0, role="region", aria_label=f"chart of {name}", data_path=name)


def _ways(trace: str, names: Container[str], folder: Path | None, chance: str) -> Markup:
    """Return the ways to a trace: how often its steps failed, then the viewer, the file, and the commands.

    The link is relative to the page, so a copied folder keeps its links.
    """
    name = address(Path(trace))
    view = [tag("a", "Open it in the viewer", href=f"#{name}"), "; "] if name in names else []
    shown: object = tag("code", trace)
    if folder is not None:
        shown = tag("a", shown, href=quote(Path(os.path.relpath(trace, folder)).as_posix()))
    rate = f"{chance}. " if chance else ""
    return joined(tag("p", rate, *view, "trace: ", shown), tag("div", data_commands=name) if view else "")
