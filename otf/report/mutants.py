"""The mutants of the model: a section of the page, from the file that `otf mutants` leaves in a campaign's folder.

The file is data from strangers: it is decoded into declared types, and its texts are escaped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from otf.report.markup import Markup, joined, scrolled, tag
from otf.trace.reading import BAD_JSON
from otf.trace.result import counted

FILE: Final = "mutants.json"
LARGEST: Final = 1 << 24
"""Most bytes to read from the file."""
MOST: Final = 2_000  # rows of the table: a browser is slow with more
SHOWN: Final = 12  # inputs of a path
ReportedFate: TypeAlias = Literal["open", "broken", "equivalent", "killed"]
FATES: Final[tuple[ReportedFate, ...]] = ("open", "broken", "equivalent", "killed")
CLASSES: Final = {"open": "fail", "killed": "pass"}


class ReportedMutant(msgspec.Struct, frozen=True):
    """One mutant: what is wrong and where, its fate, and why it survived, if it did."""

    says: str
    place: str
    when: str
    fate: ReportedFate
    why: str | None = None
    reason: str = ""
    path: tuple[str, ...] = ()


class ReportedMutation(msgspec.Struct, frozen=True):
    """What `otf mutants` found about a model; `control` says how the model itself failed on its bench, if it did."""

    model: str
    mode: str
    possible: int
    control: str | None = None
    interrupted: bool = False
    unserved: tuple[str, ...] = ()
    mutants: tuple[ReportedMutant, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Return how many mutants had each fate, the open ones first."""
        found = Counter(each.fate for each in self.mutants)
        return {str(fate): found[fate] for fate in FATES}

    def lines(self) -> Iterator[str]:
        """Yield the result in words."""
        if self.control is not None:
            yield f"mutants: none was tried, since the model itself fails on its own bench ({self.control})"
            return
        counts = self.counts
        fates = ", ".join(f"{counts[fate]} {fate}" for fate in ("killed", "equivalent", "open"))
        broken = f", {counts['broken']} broken" if counts["broken"] else ""
        drawn = f" of {self.possible} possible" if self.possible > len(self.mutants) else ""
        ended = ", interrupted" if self.interrupted else ""
        yield f"mutants: {fates}{broken} ({len(self.mutants)}{drawn}, {self.mode} mode{ended})"
        reasons = Counter(each.why or "unknown" for each in self.mutants if each.fate == "open")
        if reasons:
            yield f"open mutants: {', '.join(f'{number} {why}' for why, number in reasons.most_common())}"


def parsed_mutation(data: bytes) -> ReportedMutation:
    """Return the content of the file that `otf mutants` wrote. Raises ValueError if it is invalid.

    >>> parsed_mutation(b'{"model": "lamp", "mode": "eager", "possible": 0}').model
    'lamp'
    """
    try:
        return msgspec.json.decode(data, type=ReportedMutation)
    except BAD_JSON as error:
        raise ValueError(str(error)) from error


def read_mutation(folder: Path, notes: dict[str, None]) -> ReportedMutation | None:
    """Return what a campaign's folder says about mutants; note a file that cannot be read."""
    file = folder / FILE
    if not file.is_file():  # opening a pipe would block for ever
        return None
    try:
        with file.open("rb") as stream:
            return parsed_mutation(stream.read(LARGEST))
    except (OSError, ValueError) as error:
        notes[f"{file.name} is not a result of `otf mutants` that can be read: {error}"] = None
        return None


def mutants_section(mutation: ReportedMutation | None) -> Markup:
    """Return the section about mutants: how many met each fate, and a table of all; nothing if none were tried."""
    if mutation is None:
        return Markup()
    ordered = sorted(mutation.mutants, key=lambda each: FATES.index(each.fate))
    heads = ("fate", "mistake", "rule", "example", "reason", "inputs")
    head = tag("tr", *(tag("th", name, scope="col") for name in heads))
    table = tag("table", tag("thead", head), tag("tbody", *map(_row, ordered[:MOST])))
    more = tag("p", f"The first {MOST:,} of {len(ordered):,} are listed.") if len(ordered) > MOST else Markup()
    left = [tag("p", f"Not tried: no output was found for {each!r}.", class_="soft") for each in mutation.unserved]
    says = f"A mutant is the model with one mistake, served as the system. {counted(len(ordered), 'mutant')}:"
    shown = scrolled("mutants", table) if ordered else Markup()
    return joined(tag("p", says), *(tag("p", line) for line in mutation.lines()), *left, more, shown)


def _row(each: ReportedMutant) -> Markup:
    reason = f"{each.why}: {each.reason}" if each.why and each.reason else each.why or each.reason
    inputs = "; ".join(each.path[:SHOWN]) + (" …" if len(each.path) > SHOWN else "")
    return tag(
        "tr",
        tag("td", each.fate, class_=CLASSES.get(each.fate)),
        tag("td", each.says),
        tag("td", tag("code", each.place)),
        tag("td", tag("code", each.when)),
        tag("td", reason),
        tag("td", tag("code", inputs)),
    )
