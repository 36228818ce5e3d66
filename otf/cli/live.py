"""Stepping through a live system: each input is chosen by hand, sent, and what comes back is judged at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from otf.adapter import Bench
from otf.campaign import Settings
from otf.campaign.paths import PathRun
from otf.campaign.results import PathResult
from otf.campaign.settings import header
from otf.cli.ending import say
from otf.cli.interrupt import interruptible
from otf.cli.walking import named, why
from otf.core import Symbol, View
from otf.errors import FAIL, INCONCLUSIVE, PASS
from otf.trace.events import Event, Seen
from otf.trace.explain import explanation
from otf.values import show

HELP: Final = "a number or name sends that input; `back` starts anew without the last one, `why INPUT`, `quit` ends"
LONGEST: Final = 100_000  # inputs


class AskingChooser:
    """A chooser that asks a person; `sent` is what was chosen, `again` tells that he wants to go back."""

    def __init__(self, ask: Callable[[], str | None], before: list[object]) -> None:
        self._ask = ask
        self._before = list(before)
        self.sent: list[object] = []
        self.again: bool = False
        self._seen: list[str] = []

    def event(self, event: Event) -> None:
        """Take what comes back, to be told before the next question."""
        if isinstance(event, Seen):
            self._seen.append(show(event.output))

    def choose(self, view: View) -> Symbol | None:
        """Return the input that was asked for, None where the walk is to end."""
        known = len(self.sent) < len(self._before)
        chosen = view.model.symbol(self._before[len(self.sent)]) if known else self._asked(view)
        if chosen is not None:
            self.sent.append(chosen.value)
        self._seen = []
        return chosen

    def _asked(self, view: View) -> Symbol | None:
        offered = list(view.specified + view.others)
        self._tell(view, offered)
        while (line := self._ask()) is not None and line not in {"q", "quit", "exit"}:
            match line.split(maxsplit=1):
                case [] | ["?" | "h" | "help"]:
                    say(HELP)
                case ["b" | "back"] if self.sent:
                    self.again = True
                    return None
                case ["why", text]:
                    say(why(view.model, view.nodes, text))
                case _:
                    if (chosen := _picked(line, offered)) is not None:
                        return chosen
        return None

    def _tell(self, view: View, offered: list[Symbol]) -> None:
        if self.sent:
            say(f"{show(self.sent[-1])}  ->  {', '.join(self._seen) or 'nothing'}")
        say(f"\npossible states: {', '.join(show(node.value) for node in view.nodes)}")
        for number, inp in enumerate(offered, 1):
            say(f"  {number:3}  {show(inp.value)}{'' if inp in view.specified else '  (not specified here)'}")


def _picked(line: str, offered: list[Symbol]) -> Symbol | None:
    if line.isascii() and line.isdecimal() and 1 <= int(line[:9]) <= len(offered):
        return offered[int(line) - 1]
    found = named(line, list(offered))
    if len(found) == 1:
        return offered[found[0]]
    said = f"{len(found)} inputs are called so" if found else f"there are 1 to {len(offered)}"
    say(f"{show(line)} is no input that can be sent: {said}; {HELP}")
    return None


def live(bench: Bench, reference: str, out: Path, ask: Callable[[], str | None]) -> int:
    """Walk through a fresh copy of the system by hand; return the exit status."""
    say(HELP)
    before: list[object] = []
    for number in range(1, LONGEST):
        asking = AskingChooser(ask, before)
        result = _path(bench, Settings(out=out, reference=reference, mode="strict"), number, asking)
        if result is None:
            return INCONCLUSIVE
        if not asking.again:
            say(f"\n{explanation(result.verdict, result.events)}\ntrace: {result.trace}")
            return {"pass": PASS, "fail": FAIL, "inconclusive": INCONCLUSIVE}[result.verdict.outcome]
        before = asking.sent[:-1]
    return INCONCLUSIVE


def _path(bench: Bench, settings: Settings, number: int, asking: AskingChooser) -> PathResult | None:
    head = header(bench, settings, number, strategy="by hand")
    settings.out.mkdir(parents=True, exist_ok=True)

    async def work() -> PathResult:
        run = PathRun(bench, bench.oracle(), head, settings.out / f"path-{number:04}.jsonl", asking.event)
        return await run.run(asking, LONGEST)

    return interruptible(work).value
