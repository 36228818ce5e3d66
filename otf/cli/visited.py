"""What a campaign that passed visited of the model: its traces are judged once more, where that takes no time."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from otf.adapter import Bench
from otf.campaign import Campaign
from otf.cli.traces import reading
from otf.core import Model, Monitor
from otf.explore.space import VisitedSpace, Walker, space
from otf.offline import judge
from otf.trace.events import Sent
from otf.trace.reading import TracedEvent

PATH: Final = re.compile(r"path-\d+\.jsonl")
FEW: Final = 300  # states that are explored where the user waits: few models take longer than 0.3 s for them
PATIENCE: Final = 1.0  # seconds of computing: a device that speaks all the time is judged more slowly
WALKED: Final = 1_000  # steps that are judged once more where the user waits


def visited(campaign: Campaign) -> str:
    """Return what a campaign that passed visited, as its report has it, and which kinds of inputs it never sent.

    It is "" where it would take the user's time.
    """
    summary, settings, bench = campaign.summary, campaign.settings, campaign.bench
    if summary.verdict != "pass" or summary.steps > WALKED or settings.keep != "all":
        return ""
    visits = VisitedSpace(space(Model(bench.spec, bench.oracle().model.routes), FEW))
    until, sent = time.process_time() + PATIENCE, set[type]()
    try:
        for file in sorted(file for file in settings.out.iterdir() if PATH.fullmatch(file.name)):
            _follow(file, bench, visits, until, sent)
    except TimeoutError:
        return ""
    return "\n".join([str(visits.coverage), *_never_sent(bench, sent)])


def _never_sent(bench: Bench, sent: set[type]) -> Iterator[str]:
    """Yield a line if no path sent a kind of input that the model offers and does not specify: it may be misspelt."""
    spec = bench.spec
    offered: list[object] = [inp for inp in islice(spec.inputs(spec.initial), FEW) if type(inp) not in sent]
    # one that is specified was only not chosen
    chosen = {type(inp) for inp in offered if spec.specifies(spec.initial, inp)}
    if never := [kind.__name__ for kind in dict.fromkeys(map(type, offered)) if kind not in chosen]:
        yield f"never sent: {', '.join(never)}; step() yields nothing for such an input in the initial state"


def _follow(file: Path, bench: Bench, visits: VisitedSpace, until: float, sent: set[type]) -> None:
    walkers = list[Walker]()

    def step(traced: TracedEvent, monitor: Monitor) -> None:
        if time.process_time() > until:
            raise TimeoutError
        if isinstance(traced.event, Sent):
            sent.add(type(traced.event.input))
        if not walkers:
            walkers.append(Walker(visits, monitor.oracle.model))
        walkers[0].event(traced.event, monitor)

    with reading(str(file)) as reader:
        judge(reader, bench, on_step=step)
    for walker in walkers:
        walker.end()
