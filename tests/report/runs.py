"""Campaigns whose folders are reported, and events for charts."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from otf.core import Model
from otf.report import Gathered, ReportedFailure
from otf.report import PathSummary as Walked
from otf.spec import Spec, goto
from otf.trace.events import Closed, Event, Quiet, Seen, Sent, Taken
from otf.trace.record import Header
from otf.trace.verdict import Allowed, Failure, Signature
from tests.cli.command import otf

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\x1b[31m\x00&"
EVENTS: list[Event] = [
    Sent("coin", "slot", 0.0),
    Quiet(0.1),
    Sent("button", "slot", 0.25),
    Seen("tea", "tray", 0.3),
    Taken(2, 0.4),
    Closed("tray", "exit status 3", 0.5),
]


def failure(event: int = 4, seen: str = "tea", why: str = "wrong") -> Failure:
    """A failure at an event."""
    signature = Signature("wrong", "int", "str", "str", why)
    allowed = (Allowed("1", ((("coffee",), "0"),)),)
    return Failure(signature, event, 2, "button", seen, "tray", (), allowed)


def parsed(text: str) -> ET.Element:
    """Read XML."""
    return ET.fromstring(text)  # noqa: S314 -- it is our own, and whether it is well-formed is the question


def header(**more: Any) -> Header:  # noqa: ANN401 -- the fields of a header
    """A header of the coffee machine."""
    given: dict[str, Any] = {"run": "1", "bench": "coffee", "parameters": {"fault": "free"}, "fingerprint": "0"}
    given |= {"seed": 7, "strategy": "random", "mode": "eager", "inputs": "mixed"}
    given |= {"quiescence": 0.0, "latency": 0.0, "busy": 0.0, "versions": {"otf": "0"}}
    return Header(**{**given, **more})


def step(paid: int, inp: object) -> Any:  # noqa: ANN401 -- transitions
    """A machine that gives coffee for two coins."""
    if inp == "coin" and paid < 2:
        return [goto(paid + 1)]
    return [goto(0, "coffee")] if inp == "button" and paid else []


def gathered(*paths: Walked, found: ReportedFailure | None = None, **more: Any) -> Gathered:  # noqa: ANN401 -- the same
    """The results of these paths."""
    made = Gathered.of(header(**more), Model(Spec(step, initial=0, inputs=["coin", "button"])))
    if found is not None:
        made.failed(found)
    made.heard = True
    for path in paths:
        made.done(path)
    return made


def campaign(folder: Path, *more: object, bench: str = "coffee") -> Path:
    """Run a campaign from the command line, and return its folder."""
    otf("run", bench, "--seed", 1, "--traces", 5, "--out", folder, *more)
    return folder
