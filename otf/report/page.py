"""The report as one HTML file: it opens from disk, loads nothing, and runs nothing that the system sent."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Final

from otf.report.curves import duration, growth, histogram
from otf.report.gather import Gathered, ReportedFailure
from otf.report.markup import Markup, joined, tag
from otf.report.sequence import chart
from otf.report.sequence_svg import sequence
from otf.report.states import DRAWN, legend, states
from otf.trace.explain import explanation
from otf.trace.result import counted
from otf.trace.verdict import Verdict

ROWS: Final = 2_000  # of a table: a browser is slow with more, and no one reads them
KINDS: Final = 30  # failures that are drawn


def overview(gathered: Gathered) -> Markup:
    """Return the verdict and the numbers of the campaign."""
    header = gathered.header
    parameters = ", ".join(f"{key}={value}" for key, value in header.parameters.items())
    settings = f"bench {header.bench}{f' ({parameters})' if parameters else ''}, seed {header.seed}, {header.strategy}"
    # in-process systems need no silence to be observed
    silence = "" if header.silence == "timed" else f", silence {header.silence}"
    versions = ", ".join(f"{name} {number}" for name, number in header.versions.items())
    return joined(
        tag("p", "verdict: ", tag("span", gathered.verdict, class_=f"verdict {gathered.verdict}")),
        tag("p", f"{gathered.result.headline}. {gathered.result.tally}"),
        tag(
            "p",
            f"{settings}, {header.mode}, inputs {header.inputs}{silence}, {versions}, started {gathered.started[:19]}",
            class_="soft",
        ),
        *(tag("p", f"note: {note}", class_="soft") for note in gathered.notes),
        tag(
            "div",
            *(tag("div", tag("b", value), tag("span", name), class_="card") for name, value in _cards(gathered)),
            class_="cards",
        ),
    )


def _cards(gathered: Gathered) -> list[tuple[str, str]]:
    pairs, edges = len(gathered.space.pairs), len(gathered.space.edges)
    more = "" if gathered.space.whole else "+"
    return [
        ("paths", f"{len(gathered.paths):,}"),
        ("steps", f"{gathered.steps:,}"),
        ("kinds of failure", f"{len(gathered.failures)}"),
        ("paths that failed", f"{sum(path.verdict == 'fail' for path in gathered.paths):,}"),
        (
            "states visited",
            f"{len(gathered.visits.states & gathered.space.states.keys()):,} of {len(gathered.space.states):,}{more}",
        ),
        ("inputs tried in their states", f"{len(gathered.visits.pairs):,} of {pairs:,}{more}"),
        ("transitions visited", f"{len(gathered.visits.edges):,} of {edges:,}{more}"),
    ]


def failures(gathered: Gathered) -> Markup:
    """Return each kind of failure with its explanation and its sequence chart."""
    apart = [
        *(f"known issue ({counted(each.paths, 'path')}): {each.says}" for each in gathered.result.known_issues),
        *(f"inconclusive ({counted(each.paths, 'path')}): {each.why}" for each in gathered.result.inconclusive),
    ]
    others = tag("ul", *(tag("li", each) for each in apart)) if apart else Markup()
    if not gathered.failures:
        return joined(tag("p", f"None. {gathered.result.headline}."), others)
    shown = [*gathered.failures.items()][:KINDS]
    left = len(gathered.failures) - len(shown)
    more = tag("p", f"… and {left} other kinds of failure") if left else ""
    return joined(*(_failure(at, name, found) for at, (name, found) in enumerate(shown)), more, others)


def _failure(at: int, signature: str, found: ReportedFailure) -> Markup:
    even, scaled = (sequence(chart(found.events, found.failure), to_scale=to_scale) for to_scale in (False, True))
    name = f"chart-{at}"
    paths = counted(found.count, "path") if found.count else "a saved failure"
    count = f"{paths}, {'shrunk to ' if found.shrunk else ''}{counted(found.steps, 'step')}"
    early = f"The search was stopped early, since {found.ended}: fewer steps may be enough."
    return tag(
        "details",
        tag("summary", tag("code", signature), " ", tag("span", f"({count})", class_="soft")),
        tag("pre", explanation(Verdict("fail", found.failure), found.events)),
        tag("p", early if found.ended else "" if found.shrunk else "It was not shrunk."),
        tag("p", "trace: ", tag("code", found.file)),
        tag(
            "div", tag("button", "time to scale", type="button", data_scale=name, aria_pressed="false"), class_="tools"
        ),
        tag(
            "div",
            tag("div", even, class_="drawing", tabindex=0),
            tag("div", scaled, class_="drawing", hidden="", tabindex=0),
            id=name,
        ),
        open="" if at == 0 else None,
    )


def paths(gathered: Gathered) -> Markup:
    """Return the table of all paths; those that did not pass come first."""
    order = {"fail": 0, "inconclusive": 1, "pass": 2}
    ordered = sorted(gathered.paths, key=lambda path: (order[path.verdict], path.number))
    rows = [
        tag(
            "tr",
            tag("td", path.number, class_="number"),
            tag("td", path.verdict, class_=path.verdict),
            tag("td", f"{path.steps:,}", class_="number"),
            tag("td", duration(path.seconds), class_="number"),
            tag(
                "td",
                tag("code", path.signature or path.why or ("the model specifies no more" if path.truncated else "")),
            ),
            tag("td", tag("code", path.file)),
            data_verdict=path.verdict,
        )
        for path in ordered[:ROWS]
    ]
    choices = [tag("option", "all verdicts", value=""), *(tag("option", each, value=each) for each in order)]
    chosen = tag("label", "verdict ", tag("select", *choices))
    heads = [("path", 1), ("verdict", 0), ("steps", 1), ("time", 1), ("what", 0), ("trace", 0)]
    return joined(_more(len(ordered)), _table("paths-table", heads, rows, chosen))


def graph(gathered: Gathered) -> Markup:
    """Return the drawing of the states, if there are few enough."""
    failed = {
        (state.state, found.failure.input) for found in gathered.failures.values() for state in found.failure.allowed
    }
    drawing = states(gathered.space, gathered.visits, failed)
    if drawing is None:
        number = f"{len(gathered.space.states):,}{'' if gathered.space.whole else ' and more'}"
        return tag(
            "p", f"The model has {number} states; up to {DRAWN} are drawn. Inputs that were not tried are listed below."
        )
    return joined(tag("p", legend()), tag("div", drawing, class_="drawing", tabindex=0))


def coverage(gathered: Gathered) -> Markup:
    """Return how many transitions had been visited after how many steps."""
    edges = len(gathered.space.edges)
    points = [*gathered.growth, (gathered.steps, gathered.growth[-1][1])]
    caption = f"Transitions of the model that were visited, of {edges:,}, over the steps of all paths."
    return joined(tag("p", caption), growth(points, edges))


def times(gathered: Gathered) -> Markup:
    """Return for each type of input how long the first output took."""
    if not gathered.answers:
        return tag("p", "No output came.")
    parts: list[Markup] = []
    for name, seconds in sorted(gathered.answers.items()):
        ordered = sorted(seconds)
        middle, late = ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
        numbers = f"{len(ordered):,} answers, half within {duration(middle)}, 99 of 100 within {duration(late)}, "
        parts += [
            tag("h3", name),
            tag("p", f"{numbers}longest {duration(ordered[-1])}", class_="soft"),
            histogram(ordered),
        ]
    return joined(tag("p", "From an input to the first output after it, by the type of the input."), *parts)


def untried(gathered: Gathered) -> Markup:
    """Return the inputs that were never sent in a state where the model specifies them."""
    left = [ways for pair, ways in gathered.space.pairs.items() if pair not in gathered.visits.pairs]
    if not left:
        return tag("p", "Every input was tried in every state that specifies it.")
    rows = [
        tag(
            "tr",
            *(
                tag("td", tag("code", text))
                for text in (ways[0].source, ways[0].input, " or ".join(dict.fromkeys(way.outputs for way in ways)))
            ),
        )
        for ways in left[:ROWS]
    ]
    pairs = len(gathered.space.pairs)
    caption = f"{len(left):,} of {pairs:,} inputs were never sent in a state where the model specifies them."
    return joined(
        tag("p", caption), _more(len(left)), _table("untried-table", [("state", 0), ("input", 0), ("allows", 0)], rows)
    )


def _more(number: int) -> Markup:
    return tag("p", f"The first {ROWS:,} of {number:,} are listed.") if number > ROWS else Markup()


def _table(name: str, heads: Sequence[tuple[str, int]], rows: Iterable[Markup], more: Markup | str = "") -> Markup:
    search = tag("label", "search ", tag("input", type="search", autocomplete="off"))
    tools = tag("div", search, more, tag("output", class_="soft", aria_live="polite"), class_="tools", data_rows=name)
    head = tag("tr", *(tag("th", text, scope="col", class_="number" if number else None) for text, number in heads))
    return joined(
        tools, tag("div", tag("table", tag("thead", head), tag("tbody", *rows), id=name), class_="wide", tabindex=0)
    )


MARK: Final = "otf report"
"""Identifies a file as a report: `otf report` overwrites no other file."""

SECTIONS: Final = {
    "failures": ("Failures", failures),
    "paths": ("Paths", paths),
    "states": ("States", graph),
    "coverage": ("Coverage", coverage),
    "times": ("Response times", times),
    "untried": ("Not tried", untried),
}


def page(gathered: Gathered) -> str:
    """Return the whole page.

    >>> from otf.core import Model
    >>> from otf.models.coffee import coffee
    >>> from otf.report.gather import Gathered
    >>> from otf.trace.record import Header
    >>> header = Header("1", "coffee", {}, "", 0, "random", "strict", "uioco", 0.1, 0.002, 0.002)
    >>> page(Gathered.of(header, Model(coffee)))[:15]
    '<!DOCTYPE html>'
    """
    title = f"otf report: {gathered.header.bench}"
    style, script = _own("page.css"), _own("page.js")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="generator", content=MARK),
        # whatever an output of the system contains: nothing is loaded, and only this script runs
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", style),
    )
    links = [tag("a", name, href=f"#{key}") for key, (name, _) in SECTIONS.items()]
    top = tag(
        "header",
        tag("a", "to the content", href="#content", class_="skip"),
        tag("h1", title),
        overview(gathered),
        tag("nav", *links, tag("button", "light or dark", id="theme", type="button"), aria_label="sections"),
    )
    body = [tag("section", tag("h2", name), make(gathered), id=key) for key, (name, make) in SECTIONS.items()]
    whole = tag("html", head, tag("body", top, tag("main", *body, id="content"), tag("script", script)), lang="en")
    return f"<!DOCTYPE html>\n{whole}\n"


def _policy(style: str, script: str) -> str:
    return f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'"


def _hash(content: str) -> str:
    return f"sha256-{b64encode(sha256(content.encode()).digest()).decode()}"


def _own(name: str) -> Markup:
    return joined(Markup(files("otf.report").joinpath(name).read_text(encoding="utf-8")))
