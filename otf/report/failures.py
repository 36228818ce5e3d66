"""The failures of a report: a card for each kind, with its story in words and as a chart, and what to do next."""

from __future__ import annotations

import os
import re
from collections.abc import Container
from pathlib import Path
from typing import Final
from urllib.parse import quote

from otf.report.embedded import address
from otf.report.gather import Gathered, ReportedFailure
from otf.report.markup import Markup, joined, tag
from otf.trace.explain import explanation, wrapped
from otf.trace.result import KnownIssueResult, counted
from otf.trace.title import title
from otf.trace.verdict import Verdict

KINDS: Final = 30  # failures to draw
PHONE: Final = 46  # characters of a line on a phone: there, too, outputs stand beside inputs
SCREEN: Final = 72  # the same beside a chart
TONES: Final = (
    ("fail", re.compile(r"FAIL\b.*|.*<== here|  (seen|and then): .*")),
    ("pass", re.compile(r" +allows: .*|  (did not come|nearest allowed): .*")),
)
"""The lines of a failure that have a colour, as in a terminal."""


def failures(gathered: Gathered, names: Container[str], folder: Path | None = None) -> Markup:
    """Return each kind of failure with its explanation; one whose path is in the page is drawn when opened.

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
    others = joined(*issues, tag("ul", *(tag("li", each) for each in apart)) if apart else "")
    if not gathered.failures:
        none = "No other failure." if result.seen_issues else f"None. {result.headline}."
        return joined(others, tag("p", none)) if result.seen_issues else joined(tag("p", none), others)
    shown = [*gathered.failures.values()][:KINDS]
    left = len(gathered.failures) - len(shown)
    more = tag("p", f"… and {counted(left, 'other kind')} of failure") if left else ""
    cards = (
        _card(tag("code", title(each.failure)), each, names, folder, opened=not at) for at, each in enumerate(shown)
    )
    return joined(*cards, more, others)


def _card(what: object, found: ReportedFailure, names: Container[str], folder: Path | None, *, opened: bool) -> Markup:
    paths = counted(found.count, "path") if found.count else "a saved failure"
    count = f"{paths}, {'shrunk to ' if found.shrunk else ''}{counted(found.steps, 'step')}"
    early = f"The search was stopped early, since {found.ended}: fewer steps may be enough."
    name = address(Path(found.file))
    view = name in names or None
    words = tag("div", _coloured(found, SCREEN, "screen"), _coloured(found, PHONE, "phone"))
    drawn = _drawing(name) if view else ""
    unshrunk = early if found.ended else "" if found.shrunk else "It was not shrunk."
    return tag(
        "details",
        tag("summary", what, " ", tag("span", f"({count})", class_="soft")),
        tag("div", words, drawn, class_=view and "beside"),
        tag("p", unshrunk) if unshrunk else "",
        _ways(found.file, names, folder, found.chance),
        open="" if opened else None,
    )


def toned(told: str, width: int = SCREEN) -> list[tuple[str, str]]:
    r"""Return the lines of an explanation wrapped to a width, each after the name of its colour.

    >>> toned("FAIL (missing): …\n  step  input")
    [('fail', 'FAIL (missing): …'), ('', '  step  input')]
    """
    tones = ((next((tone for tone, line in TONES if line.match(each)), ""), each) for each in told.split("\n"))
    return [(tone, part) for tone, line in tones for part in wrapped(line, width)]


def _coloured(found: ReportedFailure, width: int, where: str) -> Markup:
    seen = f"\n  its bytes:       {found.bytes}" if found.bytes else ""
    told = toned(explanation(Verdict("fail", found.failure), found.events, width) + seen, width)
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
    return _card(f"known issue: {known.says}", found, names, folder, opened=opened)


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
