"""Annotations of GitHub Actions: lines on standard output that become remarks on the run."""

from __future__ import annotations

from collections.abc import Iterator

from otf.report.gather import Gathered
from otf.trace.explain import explanation
from otf.trace.verdict import Verdict

BREAKS = {"%": "%25", "\r": "%0D", "\n": "%0A"}
SEPARATORS = {**BREAKS, ":": "%3A", ",": "%2C"}


def github(gathered: Gathered) -> str:
    """Return an error for each kind of failure, a warning for what was inconclusive, and a notice of the whole."""
    return "\n".join(_lines(gathered))


def _lines(gathered: Gathered) -> Iterator[str]:
    for signature, found in gathered.failures.items():
        told = explanation(Verdict("fail", found.failure), found.events)
        yield _line("error", f"otf: {signature}", f"{told}\npaths with it: {found.count}, trace: {found.file}")
    for path in gathered.paths:
        if path.verdict == "inconclusive":
            yield _line("warning", f"otf: path {path.number} is inconclusive", f"{path.why}\ntrace: {path.file}")
    counts = f"{len(gathered.paths)} paths, {gathered.steps} steps, seed {gathered.header.seed}"
    yield _line("notice", f"otf: {gathered.header.bench}", f"{gathered.verdict}: {counts}")


def _line(kind: str, title: str, message: str) -> str:
    return f"::{kind} title={_escaped(title, SEPARATORS)}::{_escaped(message, BREAKS)}"


def _escaped(text: str, table: dict[str, str]) -> str:
    return "".join(
        table.get(char) or (char if char.isprintable() else char.encode("unicode_escape").decode()) for char in text
    )
