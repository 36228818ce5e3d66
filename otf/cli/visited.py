"""What a passed campaign visited of the model, and what it did not reach."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from textwrap import shorten
from typing import Final

from otf.adapter import Bench
from otf.campaign import Campaign, Summary
from otf.campaign.journal_lines import named
from otf.campaign.settings import UNLIMITED
from otf.cli.traces import reading
from otf.core import Model, Monitor
from otf.explore.space import Space, VisitedSpace, Walker, space
from otf.offline import judge
from otf.strategy.coverage import UPTIME
from otf.strategy.kinds import known
from otf.trace.events import Sent
from otf.trace.reading import TracedEvent
from otf.trace.result import counted
from otf.values import message_of

PATH: Final = re.compile(r"path-\d+\.jsonl")
FEW: Final = 300  # states to explore while the user waits: for few models that takes longer than 0.3 s
PATIENCE: Final = 1.0  # seconds of computing: a device that speaks all the time takes longer to judge
WALKED: Final = 1_000  # steps to judge once more while the user waits
SHOWN: Final = 3  # states or inputs to name
WIDTH: Final = 60  # characters of each


def visited(campaign: Campaign) -> str:
    """Return what a passed campaign visited, and what of the model it did not reach; "" if it did not pass.

    It judges short campaigns once more, as for the report. For longer campaigns it returns the strategy's counts. If
    the strategy has none, it judges as many traces as it can within a second.
    """
    summary, settings, bench = campaign.summary, campaign.settings, campaign.bench
    if summary.verdict != "pass":
        return ""
    model = Model(bench.spec, bench.oracle().model.routes)
    whole, met = space(model, FEW), summary.parts.met
    if met and (summary.steps > WALKED or settings.keep != "all"):
        return "\n".join(_tried(model, whole, met))
    if settings.keep != "all":
        return (
            f"visited: not counted, since {settings.strategy} counts nothing and --keep {settings.keep} kept no trace"
        )
    return "\n".join(_judged(settings.out, bench, whole))


def unreached(campaign: Campaign, until: str | None) -> Iterator[str]:
    """Yield a line if a campaign missed its goal, or its time ran out before all paths were driven."""
    from otf.cli.run_options import duration

    summary, settings = campaign.summary, campaign.settings
    stopped = summary.interrupted or summary.trouble or (settings.stop_first and summary.failures)
    open_ones = summary.requirements.open()
    over = settings.time is not None and summary.paths < settings.traces and not stopped
    if until is not None and until.startswith(UPTIME):
        if summary.uptime < duration(f"--until {UPTIME}", until.partition("=")[2]):
            none = "" if over or stopped else _ended_early(summary)
            yield f"--until {until}: not reached{none}; the longest uptime is {summary.uptime:.1f} s"
    elif until is not None and not (known(settings.strategy).done() or (settings.decides and not open_ones)):
        yield f"--until {until}: not reached" + " when the time was over" * over
    elif over and settings.traces < UNLIMITED:
        yield f"the time was over after {summary.paths:,} of {counted(settings.traces, 'path')}"


def _ended_early(summary: Summary) -> str:
    """Return why no path of a campaign lasted as long as was asked."""
    if not summary.failures:
        return ": path after path ended where the model has no input to send"
    return f": {counted(summary.paths, 'path')} ended before, and no other begins after that time"


@dataclass(frozen=True, slots=True)
class _Met:
    """What was met of a model, by the keys of states and inputs."""

    state: Callable[[Hashable], bool]
    sent: Callable[[Hashable], bool]

    def missing(self, model: Model, whole: Space, states: str) -> Iterator[str]:
        """Yield the inputs that were never sent and, if the whole model is known, the states never reached."""
        inputs = {inp: ways[0].input for (_, inp), ways in whole.pairs.items()}
        never = [text for inp, text in inputs.items() if not self.sent(inp)]
        if never:
            yield f"never sent: {_some(never)}"
        places = {model.place(model.node(whole.values[key])).key: text for key, text in whole.states.items()}
        left = [text for key, text in places.items() if not self.state(key)]
        if left and whole.whole:
            yield f"{states} in {len(left):,} of {counted(len(places), 'state')}: {_some(left)}"


def _some(texts: list[str]) -> str:
    shown = [shorten(text, WIDTH, placeholder="…") for text in texts[:SHOWN]]
    return ", ".join(shown) + f" and {len(texts) - SHOWN:,} more" * (len(texts) > SHOWN)


def _tried(model: Model, whole: Space, met: Iterable[str]) -> Iterator[str]:
    """Yield what the strategy counted: which inputs were sent in which states."""
    pairs = {*met}
    states, inputs = ({each.split(" ")[part] for each in pairs} for part in (0, 1))
    # after a wait, or if the system chooses, the tester may not know the state
    several = ", counting every state that was possible" * bool(model.timed or not model.alone)
    there = {f"{named(model.place(model.node(whole.values[state])).key)} {named(inp)}" for state, inp in whole.pairs}
    places = {each.split(" ")[0] for each in there}
    if whole.whole:
        told = f"{len(pairs & there):,} of {_inputs(len(there))}"
        yield f"tried: {told}, in {len(states & places):,} of {counted(len(places), 'state')}{several}"
    else:
        yield f"tried: {_inputs(len(pairs))}, in {counted(len(states), 'state')}{several}"
    seen = _Met(lambda key: named(key) in states, lambda key: named(key) in inputs)
    yield from seen.missing(model, whole, "no input was sent")


def _inputs(number: int) -> str:
    return "1 input in its state" if number == 1 else f"{number:,} inputs in their states"


def _judged(out: Path, bench: Bench, whole: Space) -> Iterator[str]:
    """Yield what the traces show, as far as a second is enough to judge them."""
    visits, sent, until = VisitedSpace(whole), dict[Hashable, type](), time.process_time() + PATIENCE
    part = "in the first second of judging, "
    with suppress(TimeoutError):
        for file in sorted(file for file in out.iterdir() if PATH.fullmatch(file.name)):
            _follow(file, bench, visits, until, sent)
        part = ""
    yield f"{part}{visits.coverage}"
    model = Model(bench.spec, bench.oracle().model.routes)
    yield from _never_sent(model, whole, {*sent.values()})
    if not part:
        met = _Met(lambda key: key in visits.states, lambda key: key in sent)
        yield from met.missing(model, whole, "never")


def _never_sent(model: Model, whole: Space, sent: set[type]) -> Iterator[str]:
    """Yield a line if no path sent a kind of input that the model offers but never specifies: it may be a typo."""
    spec, specified = model.spec, {inp for _, inp in whole.pairs}
    offered: list[object] = [inp for inp in islice(spec.inputs(spec.initial), FEW) if type(message_of(inp)) not in sent]
    # a specified one merely was not chosen
    chosen = {type(message_of(inp)) for inp in offered if model.symbol(inp).key in specified}
    kinds = dict.fromkeys(type(message_of(inp)) for inp in offered)
    if never := [kind.__name__ for kind in kinds if kind not in chosen]:
        yield f"never sent: {', '.join(never)}; step() yields nothing for such an input in the initial state"


def _follow(file: Path, bench: Bench, visits: VisitedSpace, until: float, sent: dict[Hashable, type]) -> None:
    walkers = list[Walker]()

    def step(traced: TracedEvent, monitor: Monitor) -> None:
        if time.process_time() > until:
            raise TimeoutError
        if isinstance(traced.event, Sent):
            inp = traced.event.input
            sent[monitor.oracle.model.symbol(inp).key] = type(message_of(inp))
        if not walkers:
            walkers.append(Walker(visits, monitor.oracle.model))
        if not monitor.past:  # behind a failure the state is a guess
            walkers[0].event(traced.event, monitor)

    with reading(str(file)) as reader:
        judge(reader, bench, on_step=step)
    for walker in walkers:
        walker.end()
