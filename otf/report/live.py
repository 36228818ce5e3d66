"""The page about a running campaign: its figures, its failures, and the growth of coverage."""

from __future__ import annotations

from json import dumps
from typing import Any, Final

from otf.report.markup import Markup, framed, own, tag

MARK: Final = "otf report of a running campaign"
_CARDS: Final = {
    "paths": "paths",
    "steps": "steps",
    "rate": "steps a second",
    "passed": "time so far",
    "left": "time left",
    "met": "states met",
    "failed": "paths that failed",
    "kinds": "kinds of failure",
    "known": "known issues",
    "undecided": "inconclusive paths",
}
STOP: Final = (
    "Press Ctrl-C in its terminal. The paths that ended count, the trace of one under way is kept, a failure keeps the "
    "shortest run found so far, and this page becomes the report."
)


def live_page(title: str, state: dict[str, Any] | None = None) -> str:
    """Return the page of a running campaign: it shows a `state` and reloads itself; without one it asks its server.

    >>> live_page("coffee", {"steps": 0})[:15]
    '<!DOCTYPE html>'
    """
    name = f"otf run: {title}"
    cards = [tag("div", tag("b", id=each), " ", tag("span", text), class_="card") for each, text in _CARDS.items()]
    top = tag(
        "header",
        tag("h1", name),
        tag("p", "verdict so far: ", tag("span", id="verdict"), role="status"),
        tag("p", id="now"),
        tag("nav", tag("button", "light or dark", id="theme", type="button")),
    )
    main = tag(
        "main",
        tag("div", *cards, class_="cards"),
        tag("h2", "Failures"),
        tag(
            "div",
            tag("div", tag("p", "none so far", id="none"), tag("div", id="failures")),
            tag("figure", tag("figcaption", "states met over the steps"), _curve(), id="chart"),
            class_="beside live",
        ),
        tag(
            "div",
            tag("div", tag("h2", "Last events"), tag("pre", id="events")),
            tag("div", tag("h2", "Possible states now"), tag("ul", id="possible")),
            id="path",
            class_="beside",
        ),
        tag("h2", "To stop it"),
        tag("p", STOP),
        tag("div", id="commands"),
        id="content",
    )
    inside = [] if state is None else [tag("script", _json(state), type="application/json", id="live-data")]
    scripts = "\n".join(map(own, ("widgets.js", "page.js", "live.js")))
    return framed(
        name, own("page.css"), scripts, top, main, *inside, mark=MARK, connects="'self'" if state is None else "'none'"
    )


def _json(state: dict[str, Any]) -> Markup:
    # no text in it can end the element
    return Markup(dumps(state).replace("<", "\\u003c"))


def _curve() -> Markup:
    return tag(
        "svg",
        tag("path", d="M40 20V150H630", class_="axis"),
        tag("text", id="most", x=34, y=24, text_anchor="end"),
        tag("text", id="last", x=630, y=172, text_anchor="end"),
        tag("polyline", id="curve", points="", class_="curve"),
        class_="numbers",
        viewBox="0 0 640 180",
        role="img",
        aria_label="states met over the steps",
    )
