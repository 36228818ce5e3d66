"""The requirements of a campaign: a section of the page, and files for requirements tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain, count
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import msgspec

from otf.errors import UsageError
from otf.report.gather import Gathered
from otf.report.markup import MARK, Markup, joined, scrolled, tag
from otf.trace.requirements import RequirementResult, as_csv, tally

MOST: Final = 2_000  # rows of the table in the page
SHORTEST: Final = 5  # characters of an id of sphinx-needs
Results: TypeAlias = tuple[RequirementResult, ...]


def section(gathered: Gathered) -> Markup:
    """Return the section about requirements: counts by status, and a table of all, the violated ones first.

    >>> from otf.core import Model
    >>> from otf.models.coffee import coffee
    >>> from otf.report.gather import Gathered
    >>> from otf.trace.record import Header
    >>> header = Header("1", "coffee", {}, "", 0, "random", "strict", "uioco", 0.1, 0.002, 0.002)
    >>> section(Gathered.of(header, Model(coffee)))
    ''
    """
    results = gathered.result.requirements
    if not results:
        return Markup()
    first = {"violated": 0, "not decided": 1, "never tried": 2}
    ordered = sorted(results, key=lambda each: first.get(each.status, 3))
    head = tag("tr", *(tag("th", name, scope="col") for name in ("status", "id", "level", "requirement", "trace")))
    table = tag("table", tag("thead", head), tag("tbody", *map(_row, ordered[:MOST])))
    more = tag("p", f"The first {MOST:,} of {len(ordered):,} are listed.") if len(ordered) > MOST else Markup()
    return joined(*(tag("p", line) for line in tally(results)), more, scrolled("requirements", table))


def _row(each: RequirementResult) -> Markup:
    known, kind = each.requirement, {"violated": "fail", "covered": "pass"}.get(each.status)
    return tag(
        "tr",
        tag("td", each.status, class_=kind),
        tag("td", tag("code", known.id)),
        tag("td", known.level),
        tag("td", f"{known.text} ({known.undecided})" if known.undecided else known.text),
        tag("td", tag("code", Path(each.trace).name) if each.trace else ""),
    )


def needs(results: Iterable[RequirementResult], project: str) -> str:
    """Return what a campaign shows about requirements, as a needs.json, which sphinx-needs imports with `needimport`.

    An id in sphinx-needs has five or more capitals, digits and `_`; the table's id becomes the title.
    """
    every: dict[str, dict[str, Any]] = {}
    for each in results:
        known, name = each.requirement, _plain(each.requirement.id)
        # ids that differ only in other characters are still different requirements
        named = chain([name], (f"{name}_{number}" for number in count(2)))
        name = next(free for free in named if free not in every)
        every[name] = {
            "id": name,
            "type": "req",
            "title": known.id,
            "content": _line(known.text),
            "status": each.status,
            "tags": [known.level],
            "links": [],
        }
    version: dict[str, Any] = {"needs": every, "needs_amount": len(every)}
    document = {"creator": MARK, "project": project, "current_version": "1", "versions": {"1": version}}
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def strictdoc(results: Iterable[RequirementResult], project: str) -> str:
    """Return what a campaign shows about requirements, as a StrictDoc document with one requirement for each."""
    parts = [f"[DOCUMENT]\nTITLE: {_line(project)} ({MARK})\n"]
    for each in results:
        known = each.requirement
        parts.append(
            f"[REQUIREMENT]\nUID: {_line(known.id)}\nSTATUS: {each.status}\nTAGS: {known.level}\n"
            f"STATEMENT: >>>\n{_line(known.text).replace('<<<', '< < <')}\n<<<\n"
        )
    return "\n".join(parts)


def _plain(name: str) -> str:
    plain = "".join(char if char.isascii() and char.isalnum() else "_" for char in name).upper()
    return plain if len(plain) >= SHORTEST else f"REQ_{plain}"


def _line(text: str) -> str:
    return " ".join(text.split())


FORMS: Final[Mapping[str, Callable[[Results, str], str]]] = MappingProxyType(
    {
        ".csv": lambda results, _: as_csv(results),
        ".json": needs,
        ".sdoc": strictdoc,
    }
)


def requirements_file(gathered: Gathered, file: Path) -> str:
    """Return the content of a requirements file: .csv, .json (sphinx-needs) or .sdoc (StrictDoc).

    Raises UsageError for another suffix, or if there are no requirements.
    """
    form = FORMS.get(file.suffix)
    if form is None:
        raise UsageError(f"{file}: give a name that ends in .csv, .json (for sphinx-needs) or .sdoc (for StrictDoc)")
    results = gathered.result.requirements
    if not results:
        raise UsageError("the model refers to no requirement: write goto(…, req=…), and give the bench requirements=…")
    return form(results, gathered.header.bench)
