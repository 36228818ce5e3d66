"""`otf step`: walk through a model by hand, alone or together with the live system."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Final, TextIO

from otf.adapter import Bench
from otf.adapter.third_party import watched
from otf.campaign import PathResult, Settings
from otf.campaign.paths import PathRun
from otf.campaign.settings import header
from otf.cli.commands import StepCommand
from otf.cli.model_walk import WALK_HELP, StepWalk, in_time, named, why
from otf.cli.output import columns, fresh, say
from otf.cli.signals import interruptible
from otf.core import Model, Symbol, View
from otf.errors import INCONCLUSIVE, PASS, STATUS_OF
from otf.trace.events import Event, Seen
from otf.trace.explain import explanation
from otf.values import show

LIVE_HELP: Final = (
    "a number or name sends that input, `all` shows the unspecified ones; `back` starts again without the last one, "
    "`why INPUT`, `quit` ends"
)
LONGEST: Final = 100_000  # inputs


def step(asked: StepCommand) -> int:
    """Do what the command asks; return the exit status."""
    loaded = asked.system.load(asked.bench)
    if asked.on_system:
        return _walk_live(loaded, asked)
    with watched():
        walk = StepWalk(Model(loaded.spec, loaded.oracle().model.routes))
        say(WALK_HELP)
        walk.print_state()
        while (line := _read_line()) is not None and line not in {"q", "quit", "exit"}:
            walk.take(line)
    return PASS


def _read_line() -> str | None:
    stdin: TextIO | None = sys.stdin  # None if it was closed
    if stdin is None:
        return None
    if stdin.isatty():
        print("> ", end="", flush=True)
    line = stdin.readline()
    return line.strip() if line else None


class AskingChooser:
    """A chooser that asks a person; `sent` holds the chosen inputs, `again` is set when the person wants to go back."""

    def __init__(self, ask: Callable[[], str | None], before: list[object]) -> None:
        self._ask = ask
        self._before = list(before)
        self.sent: list[object] = []
        self.again: bool = False
        self._seen: list[str] = []

    def event(self, event: Event) -> None:
        """Keep an output, to show it before the next question."""
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
                    if (chosen := _input_picked_by(line, enabled)) is not None:
                        return chosen
        return None

    def _print_state(self, view: View) -> None:
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
        for number, inp in enumerate(inputs, first):
            say(f"  {number:3}  {show(inp.value)}")


def _input_picked_by(line: str, enabled: list[Symbol]) -> Symbol | None:
    if line.isascii() and line.isdecimal() and 1 <= int(line[:9]) <= len(enabled):
        return enabled[int(line) - 1]
    found = named(line, list(enabled))
    if len(found) == 1:
        return enabled[found[0]]
    reason = f"{len(found)} inputs match" if found else f"the numbers are 1 to {len(enabled)}"
    say(f"{show(line)} does not choose an input: {reason}; {LIVE_HELP}")
    return None


def _walk_live(bench: Bench, asked: StepCommand) -> int:
    """Walk through a fresh copy of the system by hand; return the exit status."""
    say(LIVE_HELP)
    before: list[object] = []
    settings = Settings(out=asked.out or fresh("step"), reference=asked.bench, mode="strict")
    for number in range(1, LONGEST):
        asking = AskingChooser(_read_line, before)
        result = _path(bench, settings, number, asking)
        if result is None:
            return INCONCLUSIVE
        if not asking.again:
            say(f"\n{explanation(result.verdict, result.events, columns())}\ntrace: {result.trace}")
            return STATUS_OF[result.verdict.outcome]
        before = asking.sent[:-1]
    return INCONCLUSIVE


def _path(bench: Bench, settings: Settings, number: int, asking: AskingChooser) -> PathResult | None:
    head = header(bench, settings, number, strategy="by hand")
    settings.out.mkdir(parents=True, exist_ok=True)

    async def work() -> PathResult:
        run = PathRun(bench, bench.oracle(), head, settings.out / f"path-{number:04}.jsonl", asking.event)
        return await run.run(asking, LONGEST)

    return interruptible(work).value
