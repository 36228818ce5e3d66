"""The report as one HTML file: it opens from disk, loads nothing, and runs nothing that the system sent."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from math import inf
from pathlib import Path
from typing import Final

from otf.explore.space import CoveredPart
from otf.report.failures import ORDER, EmbeddedPath, address, document, failures, kind_of
from otf.report.gather import Gathered
from otf.report.markup import MARK, Markup, framed, joined, own, scrolled, tag
from otf.report.mutants import mutants_section
from otf.report.reported import PathSummary
from otf.report.requirements import section as requirements_section
from otf.report.states import legend, space_data, walk
from otf.report.times import duration, growth, response_times
from otf.trace.record import Header
from otf.trace.result import counted

ROWS: Final = 2_000  # of a table: a browser is slow with more, and they are too many to read
LOOK: Final = "look at it"
"""What the command does that shows a path in a terminal."""
INPUTS: Final = 40  # types of inputs whose response times to draw


def overview(gathered: Gathered) -> Markup:
    """Return the part of a report with the verdict and the numbers of the campaign."""
    header = gathered.header
    parameters = ", ".join(f"{key}={value}" for key, value in header.parameters.items())
    settings = f"bench {header.bench}{f' ({parameters})' if parameters else ''}, seed {header.seed}, {header.strategy}"
    # in-process systems need no observation of silence
    silence = "" if header.silence in {"", "timed"} else f", silence {header.silence}"
    versions = ", ".join(f"{name} {number}" for name, number in header.versions.items())
    return joined(
        tag(
            "p",
            tag("span", gathered.result.headline, class_=f"verdict {gathered.result.tone}"),
            f" ({gathered.result.totals}{_day(gathered.started)}). {gathered.result.tally}",
        ),
        tag("p", f"{settings}, {header.mode}, inputs {header.inputs}{silence}, {versions}", class_="soft"),
        *([tag("p", f"time: {gathered.time}", class_="soft")] if gathered.time else []),
        *(tag("p", line) for line in gathered.worth),
        *([tag("p", f"stopped: {gathered.trouble}")] if gathered.trouble else []),
        *(tag("p", line) for line in gathered.result.remarks()),
        *(tag("p", f"note: {note}", class_="soft") for note in gathered.notes),
        tag(
            "div",
            *(tag("div", tag("b", value), tag("span", name), class_="card") for name, value in _cards(gathered)),
            class_="cards",
        ),
    )


def _day(started: str) -> str:
    day, _, time = started[:19].partition("T")
    return f", on {day} at {time}" if time else ""


def _cards(gathered: Gathered) -> list[tuple[str, str]]:
    result, coverage = gathered.result, gathered.coverage
    return [
        _count(len(result.failures), "kind", " of failure"),
        _count(result.failed, "path", " that failed"),
        *([_count(result.undecided, "inconclusive path")] if result.undecided else []),
        *([_count(len(result.seen_issues), "known issue")] if result.seen_issues else []),
        _card("states visited", coverage.states),
        _card("inputs tried in their states", coverage.inputs),
        _card("transitions visited", coverage.transitions),
    ]


def _count(number: int, what: str, more: str = "") -> tuple[str, str]:
    shown, _, name = counted(number, what).partition(" ")
    return f"{name}{more}", shown


def _card(name: str, part: CoveredPart) -> tuple[str, str]:
    # the first number belongs on the tile, the rest explains it
    value, _, rest = str(part).partition(", ")
    return f"{name}{', ' if rest else ''}{rest}", value


def paths(gathered: Gathered, paths_in_it: Sequence[EmbeddedPath]) -> Markup:
    """Return the table of all paths: paths that did not pass come first, and a path that is in the page is a link."""
    names = {path.name for path in paths_in_it}
    ordered = sorted(gathered.paths, key=lambda path: (ORDER.index(kind_of(path)[0]), path.number))
    rows = [
        tag(
            "tr",
            tag("td", _link(path, names), class_="number"),
            tag("td", kind_of(path)[0], class_="known" if path.known_issue else path.verdict),
            tag("td", f"{path.steps:,}", class_="number"),
            tag("td", duration(path.seconds), class_="number"),
            tag(
                "td",
                tag(
                    "code",
                    path.title
                    or path.signature
                    or path.why
                    or ("the model specifies no more" if path.truncated else ""),
                ),
            ),
            tag("td", tag("code", path.file)),
            data_verdict=kind_of(path)[0],
        )
        for path in ordered[:ROWS]
    ]
    choices = [tag("option", "all verdicts", value=""), *(tag("option", each, value=each) for each in ORDER)]
    chosen = tag("label", "verdict ", tag("select", *choices))
    heads = [("path", 1), ("verdict", 0), ("steps", 1), ("time", 1), ("what", 0), ("trace", 0)]
    others = _left_out(ordered, paths_in_it, names)
    return joined(others, _more(len(ordered)), _table("paths-table", heads, rows, chosen))


def _left_out(ordered: Sequence[PathSummary], paths_in_it: Sequence[EmbeddedPath], names: Container[str]) -> Markup:
    """Return how to look at the paths that are not in the page, with the command for the first."""
    left = [path.file for path in ordered if path.file and address(Path(path.file)) not in names]
    kept = {path.file for path in ordered}
    known = next((each for each in paths_in_it if Path(each.file).name in kept and LOOK in each.commands), None)
    if not left or known is None:
        return Markup()
    command = known.commands[LOOK].replace(Path(known.file).name, left[0])
    here = f"{len(ordered) - len(left):,} of {counted(len(ordered), 'path')} can be opened here"
    return tag("p", f"{here}; their numbers are links. This shows another: ", tag("code", command))


def _link(path: PathSummary, names: Container[str]) -> object:
    name = address(Path(path.file))
    return tag("a", path.number, href=f"#{name}") if name in names else path.number


def graph(gathered: Gathered, command: str = "") -> Markup:
    """Return the states of the model, marked as visited or not, for the user to click through."""
    failed = {
        (state.state, found.failure.input) for found in gathered.failures.values() for state in found.failure.allowed
    }
    data = space_data(gathered.space, gathered.visits, failed)
    return joined(tag("p", legend()), walk({**data, "command": command}))


def coverage(gathered: Gathered) -> Markup:
    """Return a chart of the visited transitions over the steps."""
    visited = gathered.coverage.transitions
    points = [*gathered.growth, (gathered.steps, gathered.growth[-1][1])]
    caption = f"Transitions of the model that were visited ({visited}), over the steps of all paths."
    if gathered.result.failed or gathered.result.seen_issues:
        caption += " Behind a failure otf guesses the state, so nothing counts there."
    return joined(tag("p", caption), growth(points, visited.explored if visited.is_share else visited.visited))


def times(gathered: Gathered) -> Markup:
    """Return how long the first outputs took, by type of input, and where the time of the paths went."""
    if not gathered.answers:
        return joined(tag("p", "No output came."), _waits(gathered))
    answers = dict(sorted(gathered.answers.items())[:INPUTS])
    heads = [("input", 0), ("answers", 1), ("half within", 1), ("99 of 100 within", 1), ("longest", 1), ("windows", 0)]
    rows = [_times_of(name, sorted(seconds), gathered.windows.get(name, ())) for name, seconds in answers.items()]
    head = tag("tr", *(tag("th", text, scope="col", class_="number" if number else None) for text, number in heads))
    more = len(gathered.answers) - len(answers)
    return joined(
        tag("p", "From an input to the first output after it, by the type of the input; all on one scale."),
        scrolled(
            "response times as bars",
            response_times(answers, _bounds(gathered.header), gathered.windows),
            class_="drawing",
        ),
        scrolled("response times", tag("table", tag("thead", head), tag("tbody", *rows))),
        tag("p", f"… and {counted(more, 'other type')} of input") if more else "",
        _waits(gathered),
    )


def _times_of(name: str, seconds: Sequence[float], windows: Sequence[tuple[float, float]]) -> Markup:
    within = [seconds[min(len(seconds) - 1, int(share * len(seconds)))] for share in (0.5, 0.99)]
    numbers = [f"{len(seconds):,}", *map(duration, within), duration(seconds[-1])]
    allowed = ", ".join(f"{duration(low)} to {duration(high)}" for low, high in windows)
    cells = [tag("td", number, class_="number") for number in numbers]
    return tag("tr", tag("th", tag("code", name), scope="row"), *cells, tag("td", allowed))


def _bounds(header: Header) -> dict[str, float]:
    """Return the bench's bounds that decide when an answer is late; those that are zero do not matter."""
    latency, busy, quiescence = header.latency, header.busy, header.quiescence / header.speed
    bounds = {"L": latency, "R": busy, "2L + R": 2 * latency + busy, "quiescence": quiescence}
    return {name: seconds for name, seconds in bounds.items() if 0 < seconds < inf}


def _waits(gathered: Gathered) -> Markup:
    whole = sum(gathered.waits.values())
    if not whole:
        return Markup()
    ordered = sorted(gathered.waits.items(), key=lambda each: -each[1])
    rows = [
        tag("tr", tag("th", what, scope="row"), tag("td", duration(seconds)), tag("td", _share(seconds / whole)))
        for what, seconds in ordered
    ]
    caption = tag("caption", f"Where the time went: {duration(whole)} of all paths, from the first input to the end")
    return scrolled("where the time went", tag("table", caption, tag("tbody", *rows)))


def _share(share: float) -> Markup:
    # a bar beside its number; the page's policy forbids inline styles
    bar = tag("rect", width=f"{100 * share:.1f}", height=10)
    drawn = tag("svg", bar, class_="share", viewBox="0 0 100 10", width=100, height=10, aria_hidden="true")
    return joined(f"{share:.0%} ", drawn)


def untried(gathered: Gathered) -> Markup:
    """Return the inputs never sent in a state where the model specifies them."""
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
    states = (
        "a state" if gathered.space.whole else f"one of the {counted(len(gathered.space.values), 'explored state')}"
    )
    caption = f"{len(left):,} of {pairs:,} inputs were never sent in {states} where the model specifies them."
    return joined(
        tag("p", caption), _more(len(left)), _table("untried-table", [("state", 0), ("input", 0), ("allows", 0)], rows)
    )


def _more(number: int) -> Markup:
    return tag("p", f"The first {ROWS:,} of {number:,} are listed.") if number > ROWS else Markup()


def _table(name: str, heads: Sequence[tuple[str, int]], rows: Iterable[Markup], more: Markup | str = "") -> Markup:
    search = tag("label", "search ", tag("input", type="search", autocomplete="off"))
    tools = tag("div", search, more, tag("output", class_="soft", aria_live="polite"), class_="tools", data_rows=name)
    head = tag("tr", *(tag("th", text, scope="col", class_="number" if number else None) for text, number in heads))
    return joined(tools, scrolled(name, tag("table", tag("thead", head), tag("tbody", *rows), id=name)))


SCRIPTS: Final = ("widgets.js", "chart.js", "timeline.js", "viewer.js", "page.js", "drawing.js", "states.js")
STYLES: Final = ("page.css", "states.css")


def page(
    gathered: Gathered, paths_in_it: Sequence[EmbeddedPath] = (), folder: Path | None = None, command: str = ""
) -> str:
    """Return the report of a campaign as an HTML page, with links to all traces.

    The page shows every event of the paths in `paths_in_it`. The links on the page are relative to `folder`, where the
    page will lie. `command` is the command that walks through the model in a terminal, or "".

    >>> from otf.core import Model
    >>> from otf.models.coffee import coffee
    >>> from otf.report.gather import Gathered
    >>> from otf.trace.record import Header
    >>> header = Header("1", "coffee", {}, "", 0, "random", "strict", "uioco", 0.1, 0.002, 0.002)
    >>> page(Gathered.of(header, Model(coffee)))[:15]
    '<!DOCTYPE html>'
    """
    title = f"otf report: {gathered.header.bench}"
    sections = _sections(gathered, paths_in_it, folder, command)
    links = [tag("a", name, href=f"#{key}") for key, (name, _) in sections.items()]
    top = tag(
        "header",
        tag("a", "to the content", href="#content", class_="skip"),
        tag("h1", title),
        tag("div", overview(gathered), class_="overview"),
        tag("nav", *links, tag("button", "light or dark", id="theme", type="button"), aria_label="sections"),
    )
    body = [tag("section", tag("h2", name), content, id=key) for key, (name, content) in sections.items()]
    viewer = tag("main", id="viewer", hidden="", aria_label="viewer")
    data = tag("script", Markup(document(paths_in_it)), type="application/json", id="paths-data")
    style, script = ("\n".join(map(own, names)) for names in (STYLES, SCRIPTS))
    return framed(title, style, script, top, viewer, tag("main", *body, id="content"), data, mark=MARK)


def _sections(
    gathered: Gathered, paths_in_it: Sequence[EmbeddedPath], folder: Path | None, command: str
) -> dict[str, tuple[str, Markup]]:
    required, mutants = requirements_section(gathered), mutants_section(gathered.mutation)
    return {
        "failures": ("Failures", failures(gathered, {path.name for path in paths_in_it}, folder)),
        **({"requirements": ("Requirements", required)} if required else {}),
        **({"mutants": ("Mutants", mutants)} if mutants else {}),
        "paths": ("Paths", paths(gathered, paths_in_it)),
        "states": ("States", graph(gathered, command)),
        "coverage": ("Coverage", coverage(gathered)),
        "times": ("Response times", times(gathered)),
        "untried": ("Not tried", untried(gathered)),
    }
