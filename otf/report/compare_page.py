"""Two traces, two campaigns or two models side by side, as a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from otf.report.aligned import TraceRow
from otf.report.compare import Comparison, TraceComparison, difference, parting, seeds_differ, sides
from otf.report.markup import Markup, framed, joined, own, scrolled, tag
from otf.trace.result import counted

MARK: Final = "otf report of a comparison"


def comparison_page(found: Comparison) -> str:
    """Return a page with two traces or campaigns side by side."""
    heads = sides(found.a, found.b)
    called = zip(heads, (found.a, found.b), strict=True)
    names = (tag("p", f"{head}: ", tag("code", name)) for head, name in called if head != name)
    titles: dict[str, Sequence[Sequence[str]]] = {
        "Figures": found.figures,
        "Paths of each kind of failure": found.kinds,
        "Conditions": found.conditions,
        "Response times": found.times,
    }
    more = {"Response times": ("drift",), "Figures": ("difference",)}
    rows = {title: pairs for title, pairs in titles.items() if pairs}
    if found.figures:
        rows["Figures"] = [(*pair, difference(pair.a, pair.b)) for pair in found.figures]
    if found.times:
        rows["Response times"] = [
            (each.what, each.a, each.b, ", ".join(filter(None, (each.drift, each.few))) or "none is certain")
            for each in found.times
        ]
    parts = [
        part
        for title, pairs in rows.items()
        for part in (tag("h2", title), _table(title, ("what", *heads, *more.get(title, ())), pairs))
    ]
    if not found.conditions:
        parts.append(tag("p", "They were recorded under the same conditions."))
    events = (
        _events(found.traces, heads, other_seed=seeds_differ(found.conditions), campaigns=bool(found.figures))
        if found.traces
        else tag("p", "No two paths of the same number part.")
    )
    return _framed([_headline(found.headline(heads)), *names], [*parts, tag("h2", "Events"), events])


def text_page(head: Sequence[str], differences: Sequence[Sequence[str]]) -> str:
    """Return a page with the differences of two models, each as lines of text."""
    parts = [tag("pre", "\n".join(lines), tabindex=0, aria_label=lines[0], role="region") for lines in differences]
    return _framed(
        [_headline(head[0]), *(tag("p", line) for line in head[1:])],
        [tag("h2", "Differences"), *(parts or [tag("p", "None.")])],
    )


def _framed(head: Sequence[Markup], parts: Sequence[Markup]) -> str:
    top = tag(
        "header",
        tag("a", "to the content", href="#content", class_="skip"),
        tag("h1", "otf compare"),
        *head,
        tag("nav", tag("button", "light or dark", id="theme", type="button")),
    )
    main = tag("main", *parts, id="content")
    return framed("otf compare", own("page.css") + own("states.css"), own("page.js"), top, main, mark=MARK)


def _headline(says: str) -> Markup:
    tone = "inconclusive" if says.startswith("they differ") else "pass"  # a difference is no failure
    return tag("p", _sentence(says), role="status", class_=f"verdict {tone}")


def _sentence(says: str) -> str:
    return says[:1].upper() + says[1:]


def _events(found: TraceComparison, heads: Sequence[str], *, other_seed: bool, campaigns: bool) -> Markup:
    sides = [(side.name, side.outcome, counted(side.steps, "step")) for side in (found.a, found.b)]
    states = ("possible before it", "\n".join(found.states[0]), "\n".join(found.states[1]))
    traces = _table("traces", ["trace", "verdict", "size"], sides)
    parted = tag("p", parting(found, other_seed=other_seed))
    if other_seed and campaigns:
        return joined(traces, parted)
    return joined(
        traces,
        parted,
        tag("p", _sentence(found.tally(heads))) if campaigns else "",
        _table("possible states", ("states", *heads), [states]) if any(found.states) else "",
        _table("events", ("same or not", *heads, "in which parts"), [*map(_cells, found.rows)]),
    )


def _cells(row: TraceRow) -> tuple[str, ...]:
    return row.mark, row.a, row.b, "\n".join(f"{each.what}: {each.a} / {each.b}" for each in row.fields)


def _table(label: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    head = tag("tr", *(tag("th", each, scope="col") for each in heads))
    body = [
        tag("tr", *(tag("td", tag("code", each)) for each in row), class_="differs" if row[0] in set("<>|") else None)
        for row in rows
    ]
    # figures take the room that they need; events stand side by side
    kind = "wide figures" if heads[0] == "what" else "wide compared"
    return scrolled(label, tag("table", tag("thead", head), tag("tbody", *body)), class_=kind)
