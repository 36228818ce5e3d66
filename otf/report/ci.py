"""Reports for continuous integration: JUnit XML, a test case for each path, and annotations of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterator

from otf.report.gather import Gathered, PathSummary
from otf.report.markup import Markup, tag
from otf.report.page import MARK
from otf.trace.explain import explanation
from otf.trace.verdict import Verdict


def junit(gathered: Gathered) -> str:
    """Return the report as JUnit XML: a failure has its explanation, an inconclusive path is an error.

    >>> from otf.core import Model
    >>> from otf.models.coffee import coffee
    >>> from otf.report.gather import Gathered
    >>> from otf.trace.record import Header
    >>> header = Header("1", "coffee", {}, "", 0, "random", "strict", "uioco", 0.1, 0.002, 0.002)
    >>> junit(Gathered.of(header, Model(coffee))).splitlines()[1]
    '<!-- otf report -->'
    """
    failed = sum(path.verdict == "fail" for path in gathered.paths)
    errors = sum(path.verdict == "inconclusive" for path in gathered.paths)
    name = f"otf.{gathered.header.bench}"
    suite = tag(
        "testsuite",
        tag("properties", *(tag("property", name=key, value=value) for key, value in _properties(gathered).items())),
        *(_case(path, name, gathered) for path in gathered.paths),
        name=name,
        tests=len(gathered.paths),
        failures=failed,
        errors=errors,
        skipped=0,
        time=f"{sum(path.seconds for path in gathered.paths):.6f}",
        timestamp=gathered.started[:19] or None,
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<!-- {MARK} -->\n{tag("testsuites", suite)}\n'


def _properties(gathered: Gathered) -> dict[str, object]:
    header = gathered.header
    own = {f"parameter.{key}": value for key, value in header.parameters.items()}
    return {"seed": header.seed, "strategy": header.strategy, "mode": header.mode, "steps": gathered.steps, **own}


def _case(path: PathSummary, suite: str, gathered: Gathered) -> Markup:
    return tag(
        "testcase",
        _what(path, gathered),
        tag("system-out", f"trace: {path.file}, {path.steps} steps"),
        classname=suite,
        name=f"path {path.number}",
        time=f"{path.seconds:.6f}",
    )


def _what(path: PathSummary, gathered: Gathered) -> Markup:
    if path.verdict == "inconclusive":
        return tag("error", path.why, message=path.why, type="inconclusive")
    found = gathered.failures.get(path.signature)
    if path.verdict == "pass" or found is None:
        return Markup()
    text = explanation(Verdict("fail", found.failure), found.events)
    return tag("failure", f"{text}\ntrace: {found.file}", message=path.signature, type=found.failure.kind)


BREAKS = {"%": "%25", "\r": "%0D", "\n": "%0A"}
SEPARATORS = {**BREAKS, ":": "%3A", ",": "%2C"}


def github(gathered: Gathered) -> str:
    """Return an error for each kind of failure, a warning for each inconclusive path, and a notice for the campaign.

    >>> from otf.core import Model
    >>> from otf.models.coffee import coffee
    >>> from otf.report.gather import Gathered
    >>> from otf.trace.record import Header
    >>> header = Header("1", "coffee", {}, "", 0, "random", "strict", "uioco", 0.1, 0.002, 0.002)
    >>> github(Gathered.of(header, Model(coffee)))
    '::notice title=otf%3A coffee::pass: 0 paths, 0 steps, seed 0'
    """
    return "\n".join(_lines(gathered))


def _lines(gathered: Gathered) -> Iterator[str]:
    for signature, found in gathered.failures.items():
        text = explanation(Verdict("fail", found.failure), found.events)
        yield _line("error", f"otf: {signature}", f"{text}\npaths with it: {found.count}, trace: {found.file}")
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
