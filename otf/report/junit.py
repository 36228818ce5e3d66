"""JUnit XML, which every CI reads: a test case for each path."""

from __future__ import annotations

from otf.report.gather import Gathered, PathSummary
from otf.report.markup import Markup, tag
from otf.report.page import MARK
from otf.trace.explain import explanation
from otf.trace.verdict import Verdict


def junit(gathered: Gathered) -> str:
    """Return the report as JUnit XML: a failure has its explanation, what was inconclusive is an error."""
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
    told = explanation(Verdict("fail", found.failure), found.events)
    return tag("failure", f"{told}\ntrace: {found.file}", message=path.signature, type=found.failure.kind)
