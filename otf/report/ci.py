"""Reports for continuous integration: JUnit XML, and annotations and a step summary for GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterator

from otf.report.failures import KINDS, as_known
from otf.report.gather import Gathered
from otf.report.markup import MARK, Markup, joined, tag, text
from otf.report.reported import ReportedFailure
from otf.trace.explain import explanation
from otf.trace.result import CampaignResult, KnownIssueResult, counted
from otf.trace.title import title
from otf.trace.verdict import Verdict
from otf.values.text import plain


def junit(gathered: Gathered) -> str:
    """Return the report as JUnit XML: a test case for the bench, for each kind of failure, and for each known issue.

    Each test case keeps its name from campaign to campaign, so that a CI server can show its history. The test case of
    a failure contains the explanation of the failure. The test case of a known issue is "skipped", with the issue's
    description. The test case of the bench is "skipped" if there are failures, and an "error" if the campaign is
    inconclusive. Times are in seconds from the start of the command to the end of the campaign.

    >>> from otf.core import Model
    >>> from otf.models.coffee import coffee
    >>> from otf.report.gather import Gathered
    >>> from otf.trace.record import Header
    >>> header = Header("1", "coffee", {}, "", 0, "random", "strict", "uioco", 0.1, 0.002, 0.002)
    >>> junit(Gathered.of(header, Model(coffee))).splitlines()[1]
    '<!-- otf report -->'
    """
    result, name = gathered.result, f"otf.{gathered.header.bench}"
    known = [each for each in result.known_issues if each.paths]
    suite = tag(
        "testsuite",
        tag("properties", *(tag("property", name=key, value=value) for key, value in _properties(gathered).items())),
        _bench_case(gathered, name),
        *(_failure_case(signature, found, name) for signature, found in gathered.failures.items()),
        *(_known_case(each, gathered.excused.get(each.says), name) for each in result.known_issues),
        name=name,
        tests=1 + len(gathered.failures) + len(result.known_issues),
        failures=len(gathered.failures),
        errors=int(result.verdict == "inconclusive"),
        skipped=len(known) + (result.verdict == "fail"),
        time=_seconds(result),
        timestamp=gathered.started[:19] or None,
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<!-- {MARK} -->\n{tag("testsuites", suite)}\n'


def _properties(gathered: Gathered) -> dict[str, object]:
    header = gathered.header
    own = {f"parameter.{key}": value for key, value in header.parameters.items()}
    required = {f"requirement.{each.requirement.id}": each.status for each in gathered.result.requirements}
    run = {"seed": header.seed, "strategy": header.strategy, "mode": header.mode, "steps": gathered.steps}
    return {"verdict": gathered.result.ruling, **run, **own, **required}


def _seconds(result: CampaignResult) -> str | None:
    return f"{result.seconds:.6f}" if result.parts else None


def _bench_case(gathered: Gathered, suite: str) -> Markup:
    result, details = gathered.result, "\n".join(_details(gathered))
    # each kind of failure has its own case: a failing bench would count it twice
    verdict = {"fail": "skipped", "inconclusive": "error", "pass": ""}[result.verdict]
    return tag(
        "testcase",
        tag(verdict, details, message=result.headline, type=result.verdict) if verdict else "",
        tag("system-out", details),
        classname=suite,
        name=gathered.header.bench,
        time=_seconds(result),
    )


def _details(gathered: Gathered) -> Iterator[str]:
    """Yield the counts, and what does not fail: known issues, inconclusive paths, and the basis of the verdict."""
    result = gathered.result
    yield f"{result.totals}, seed {gathered.header.seed}"
    yield result.tally
    for known in result.known_issues:
        if known.paths:
            yield f"known issue ({counted(known.paths, 'path')}): {known.says}; trace: {known.trace}"
    for undecided in result.inconclusive:
        yield f"inconclusive ({counted(undecided.paths, 'path')}): {undecided.why}; trace: {undecided.trace}"
    if result.trouble:
        yield f"stopped: {result.trouble}"
    yield from gathered.mutants
    yield from result.basis()


def _failure_case(signature: str, found: ReportedFailure, suite: str) -> Markup:
    return tag(
        "testcase",
        tag("failure", _explained(found), message=title(found.failure), type=found.failure.kind),
        classname=suite,
        name=signature,
        time="0",
    )


def _explained(found: ReportedFailure) -> str:
    told = explanation(Verdict("fail", found.failure), found.events)
    chance = f"\n{found.chance}" if found.chance else ""
    return f"{told}{chance}\nshown by: {found.shown_by}, trace: {found.file}"


def _known_case(known: KnownIssueResult, found: ReportedFailure | None, suite: str) -> Markup:
    shown = f"known issue ({counted(known.paths, 'path')}): {known.says}"
    return tag(
        "testcase",
        tag("skipped", message=shown) if known.paths else "",
        tag("system-out", "the known issue did not occur" if found is None else as_known(_explained(found))),
        classname=suite,
        name=f"known issue: {known.says}",
        time="0",
    )


BREAKS = {"%": "%25", "\r": "%0D", "\n": "%0A"}
SEPARATORS = {**BREAKS, ":": "%3A", ",": "%2C"}


def github(gathered: Gathered) -> str:
    """Return annotations for GitHub: errors for kinds of failure, warnings for inconclusive paths, and a notice.

    GitHub shows one warning for each reason why paths are inconclusive. The notice has everything else in the report.
    Each annotation points at the model's function, if the function's file lies below the current folder.

    >>> from otf.core import Model
    >>> from otf.models.coffee import coffee
    >>> from otf.report.gather import Gathered
    >>> from otf.trace.record import Header
    >>> header = Header("1", "coffee", {}, "", 0, "random", "strict", "uioco", 0.1, 0.002, 0.002)
    >>> github(Gathered.of(header, Model(coffee))).split("%0A")[1:]
    ['paths: none']
    """
    return "\n".join(_annotations(gathered))


def _annotations(gathered: Gathered) -> Iterator[str]:
    result, header = gathered.result, gathered.header
    at = {} if gathered.source is None else {"file": gathered.source[0], "line": str(gathered.source[1])}
    for found in gathered.failures.values():
        yield _annotation("error", f"otf: {title(found.failure)}", _explained(found), at)
    for each in result.inconclusive:
        what = f"otf: {counted(each.paths, 'path')} inconclusive"
        yield _annotation("warning", what, f"{each.why}\ntrace: {each.trace}", at)
    said, *details = _details(gathered)
    message = "\n".join([f"{result.headline} ({said})", *details])
    yield _annotation("notice", f"otf: {header.bench}", message, at)


def _annotation(kind: str, title: str, message: str, at: dict[str, str]) -> str:
    properties = ",".join(f"{key}={_escaped(value, SEPARATORS)}" for key, value in {**at, "title": title}.items())
    return f"::{kind} {properties}::{_escaped(message, BREAKS)}"


def _escaped(value: str, table: dict[str, str]) -> str:
    return "".join(table.get(char) or plain(char) for char in value)


def markdown(gathered: Gathered) -> str:
    """Return the report as Markdown for a step summary of GitHub Actions.

    The Markdown consists of HTML elements, in which otf can escape every text that the system sent.

    >>> from otf.core import Model
    >>> from otf.models.coffee import coffee
    >>> from otf.report.gather import Gathered
    >>> from otf.trace.record import Header
    >>> header = Header("1", "coffee", {}, "", 0, "random", "strict", "uioco", 0.1, 0.002, 0.002)
    >>> print(markdown(Gathered.of(header, Model(coffee))).splitlines()[1])
    <h3>coffee: PASS: no output was seen, which the model allows; is the system there?</h3>
    """
    shown, known = [*gathered.failures.items()][:KINDS], [*gathered.excused.items()][:KINDS]
    left = len(gathered.failures) - len(shown)
    blocks = [
        Markup(f"<!-- {MARK} -->"),
        tag("h3", _line(f"{gathered.header.bench}: {gathered.result.headline}")),
        *(
            block
            for _, found in shown
            for block in _failure_blocks(tag("code", _line(title(found.failure))), found, _explained(found))
        ),
        *(
            block
            for says, found in known
            for block in _failure_blocks(_line(f"known issue: {says}"), found, as_known(_explained(found)))
        ),
        *([tag("p", f"… and {counted(left, 'other kind')} of failure")] if left else []),
        tag("ul", *(tag("li", _line(each)) for each in _details(gathered))),
    ]
    # an empty line ends a block of HTML, so the next one begins a new block
    head, *rest = blocks
    return "\n".join([head, "\n\n".join(rest), ""])


def _failure_blocks(what: Markup, found: ReportedFailure, told: str) -> Iterator[Markup]:
    count = f"({found.shown_by}, {counted(found.steps, 'step')})"
    summary = tag("summary", what, f" {count}")
    yield joined(Markup("<details>"), summary)
    yield tag("pre", told)
    yield Markup("</details>")


def _line(value: str) -> Markup:
    return Markup(" ".join(text(value).split()))
