"""The report as one HTML file: it opens from disk, loads nothing, and runs nothing that the system sent."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import Final

from otf.report.gather import Gathered
from otf.report.markup import Markup, joined, tag
from otf.report.sections import coverage, failures, graph, overview, paths, times, untried

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
    """Return the whole page."""
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
