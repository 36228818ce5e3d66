"""`otf step`: walk through a model by hand, alone or together with the live system."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TextIO

import typer

from otf.cli.options import BenchName, Out, Pids, Quiescence, Sets, SilenceOption, Suts, fresh
from otf.cli.output import columns, guarded, say
from otf.cli.signals import interruptible
from otf.errors import FAIL, INCONCLUSIVE, PASS

if TYPE_CHECKING:
    from otf.adapter import Bench
    from otf.campaign import Settings
    from otf.campaign.results import PathResult
    from otf.core import Symbol, View
    from otf.trace.events import Event

LIVE_HELP: Final = (
    "a number or name sends that input, `all` shows the unspecified ones; `back` starts again without the last one, "
    "`why INPUT`, `quit` ends"
)
LONGEST: Final = 100_000  # inputs


@guarded
def step(
    bench: BenchName,
    on_system: Annotated[
        bool, typer.Option("--live", help="Send the inputs to the system, and judge what comes back.")
    ] = False,
    sut: Suts = None,
    quiescence: Quiescence = None,
    out: Out = None,
    sets: Sets = None,
    silence: SilenceOption = None,
    pids: Pids = None,
) -> int:
    """Walk through a model by hand: see what a state allows, choose what happens, go back.

    Each way on is an input with the outputs that the model expects. Commands are read line by line, also from a
    pipe: `echo 1 | otf step coffee`. Without --live no system is started.
    """
    from otf.adapter.third_party import watched
    from otf.cli import run_options
    from otf.cli.benches import load, parsed
    from otf.cli.model_walk import WALK_HELP, StepWalk
    from otf.cli.sut_addresses import addressed
    from otf.core import Model

    loaded = addressed(load(bench, parsed(sets, quiescence)), sut)
    if on_system:
        return live(run_options.watched(loaded, silence, pids), bench, out or fresh("step"), _asked)
    with watched():
        walk = StepWalk(Model(loaded.spec, loaded.oracle().model.routes))
        say(WALK_HELP)
        walk.print_state()
        while (line := _asked()) is not None and line not in {"q", "quit", "exit"}:
            walk.take(line)
    return PASS


def _asked() -> str | None:
    stdin: TextIO | None = sys.stdin  # None where it was closed
    if stdin is None:
        return None
    if stdin.isatty():
        print("> ", end="", flush=True)
    line = stdin.readline()
    return line.strip() if line else None


class AskingChooser:
    """A chooser that asks a person; `sent` are the chosen inputs, `again` is set when the person wants to go back."""

    def __init__(self, ask: Callable[[], str | None], before: list[object]) -> None:
        self._ask = ask
        self._before = list(before)
        self.sent: list[object] = []
        self.again: bool = False
        self._seen: list[str] = []

    def event(self, event: Event) -> None:
        """Keep an output, to show it before the next question."""
        from otf.trace.events import Seen
        from otf.values import show

        if isinstance(event, Seen):
            self._seen.append(show(event.output))

    def choose(self, view: View) -> Symbol | None:
        """Return the chosen input; None to end the walk."""
        known = len(self.sent) < len(self._before)
        chosen = view.model.symbol(self._before[len(self.sent)]) if known else self._asked(view)
        if chosen is not None:
            self.sent.append(chosen.value)
        self._seen = []
        return chosen

    def _asked(self, view: View) -> Symbol | None:
        from otf.cli.model_walk import why

        enabled = list(view.specified + view.others)
        self._print_state(view)
        while (line := self._ask()) is not None and line not in {"q", "quit", "exit"}:
            match line.split(maxsplit=1):
                case [] | ["?" | "h" | "help"]:
                    say(LIVE_HELP)
                case ["b" | "back"] if self.sent:
                    self.again = True
                    return None
                case ["a" | "all"]:
                    self._list(view.others, len(view.specified) + 1)
                case ["why", text]:
                    say(why(view.model, view.nodes, text))
                case _:
                    if (chosen := _picked(line, enabled)) is not None:
                        return chosen
        return None

    def _print_state(self, view: View) -> None:
        from otf.cli.model_walk import in_time
        from otf.values import show

        if self.sent:
            say(f"{show(self.sent[-1])}  ->  {', '.join(self._seen) or 'nothing'}")
        say(f"\npossible states: {', '.join(show(node.value) for node in view.nodes)}")
        self._list(view.specified, 1)
        if view.others:
            say(f"       `all` shows {len(view.others)} more, which are not specified here")
        if expected := in_time(view.model, view.nodes):
            say("  timers, windows and spontaneous outputs:")
        for text in expected:
            say(f"       {text}")

    @staticmethod
    def _list(inputs: Iterable[Symbol], first: int) -> None:
        from otf.values import show

        for number, inp in enumerate(inputs, first):
            say(f"  {number:3}  {show(inp.value)}")


def _picked(line: str, enabled: list[Symbol]) -> Symbol | None:
    from otf.cli.model_walk import named
    from otf.values import show

    if line.isascii() and line.isdecimal() and 1 <= int(line[:9]) <= len(enabled):
        return enabled[int(line) - 1]
    found = named(line, list(enabled))
    if len(found) == 1:
        return enabled[found[0]]
    reason = f"{len(found)} inputs match" if found else f"the numbers are 1 to {len(enabled)}"
    say(f"{show(line)} does not choose an input: {reason}; {LIVE_HELP}")
    return None


def live(bench: Bench, reference: str, out: Path, ask: Callable[[], str | None]) -> int:
    """Walk through a fresh copy of the system by hand; return the exit status."""
    from otf.campaign import Settings
    from otf.trace.explain import explanation

    say(LIVE_HELP)
    before: list[object] = []
    for number in range(1, LONGEST):
        asking = AskingChooser(ask, before)
        result = _path(bench, Settings(out=out, reference=reference, mode="strict"), number, asking)
        if result is None:
            return INCONCLUSIVE
        if not asking.again:
            say(f"\n{explanation(result.verdict, result.events, columns())}\ntrace: {result.trace}")
            return {"pass": PASS, "fail": FAIL, "inconclusive": INCONCLUSIVE}[result.verdict.outcome]
        before = asking.sent[:-1]
    return INCONCLUSIVE


def _path(bench: Bench, settings: Settings, number: int, asking: AskingChooser) -> PathResult | None:
    from otf.campaign.paths import PathRun
    from otf.campaign.settings import header

    head = header(bench, settings, number, strategy="by hand")
    settings.out.mkdir(parents=True, exist_ok=True)

    async def work() -> PathResult:
        run = PathRun(bench, bench.oracle(), head, settings.out / f"path-{number:04}.jsonl", asking.event)
        return await run.run(asking, LONGEST)

    return interruptible(work).value
