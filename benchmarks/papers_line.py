"""A line of the tables about papers: a statement of a paper, beside otf's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from otf.explore.finding import Finding


@dataclass(frozen=True)
class PaperLine:
    """A statement of a paper: its section, its subject, the paper's result, otf's, and the reason for a difference."""

    where: str
    what: str
    theirs: str
    ours: str
    why: str = ""


def line(where: str, what: str, theirs: str, found: Finding | str, why: str = "") -> PaperLine:
    """Return a line with a finding of otf."""
    return PaperLine(where, what, theirs, found if isinstance(found, str) else str(found.verdict), why)


def at(thing: Any) -> str:
    """Return the full name of a class or function of otf."""
    return f"`{thing.__module__}.{thing.__qualname__}`"


def line_of(line: PaperLine) -> str:
    """Return a line as a row of a table in Markdown."""
    return f"| {line.where} | {line.what} | {line.theirs} | {line.ours} | {line.why} |"
