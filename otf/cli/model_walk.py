"""A walk by hand, through a model alone or with the live system: states, moves, inputs and states by their names."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from otf.adapter import Bench
from otf.campaign import PathResult, Settings
from otf.campaign.paths import PathRun
from otf.campaign.settings import header
from otf.cli.output import columns, say
from otf.cli.signals import interruptible
from otf.core import Model, Node, Symbol, View
from otf.core.nodes import Move
from otf.errors import INCONCLUSIVE, STATUS_OF
from otf.spec import TimerStop
from otf.spec.transition import in_words
from otf.trace.events import Event, Seen
from otf.trace.explain import explanation
from otf.values import show

FAR: Final = 20_000  # states searched for a way to one
WALK_HELP: Final = (
    "a number or the name of an input goes that way, `back` undoes it, `all` shows the inputs that are not specified "
    "here, `goto STATE`, `why INPUT`, `quit` ends"
)
LIVE_HELP: Final = (
    "a number or name sends that input, `all` shows the unspecified ones; `back` starts again without the last one, "
    "`why INPUT`, `quit` ends"
)
LONGEST: Final = 100_000  # inputs
PossibleMove: TypeAlias = tuple[Symbol | None, Move]


def named(text: str, ways: Sequence[Symbol | None]) -> list[int]:
    """Return the indices of the inputs with that name; if there are none, of those whose name starts with it."""
    wanted = text.casefold()
    texts = ["(spontaneous)" if inp is None else show(inp.value).casefold() for inp in ways]
    exact = [at for at, each in enumerate(texts) if each == wanted or each.split("(")[0] == wanted]
    return exact or [at for at, each in enumerate(texts) if each.startswith(wanted)]


def ways_of(model: Model, node: Node) -> list[PossibleMove]:
    """Return what may happen in a state: inputs in the model's order, then spontaneous outputs."""
    asked: list[PossibleMove] = [(inp, move) for inp in model.enabled_inputs(node) for move in model.moves(node, inp)]
    return asked + [(None, move) for move in model.spontaneous(node)]


def route(model: Model, start: Node, text: str) -> list[Node] | None:
    """Return the states on the shortest way to the state with that name; None if there is no way."""
    previous: dict[Node, Node | None] = {start: None}
    queue = deque([start])
    while queue and len(previous) < FAR:
        node = queue.popleft()
        if show(node.value).casefold() == text.casefold() and node is not start:
            return _back(previous, node)
        for _, move in ways_of(model, node):
            if isinstance(move.target, Node) and move.target not in previous:
                previous[move.target] = node
                queue.append(move.target)
    return None


def _back(previous: dict[Node, Node | None], node: Node) -> list[Node]:
    way = [node]
    while (before := previous[way[-1]]) is not None:
        way.append(before)
    return way[-2::-1]


def why(model: Model, nodes: Sequence[Node], text: str) -> str:
    """Return why an input is enabled or not in the possible states."""
    inputs = list(dict.fromkeys(inp for node in nodes for inp in model.enabled_inputs(node)))
    found = [inputs[at] for at in named(text, inputs)]
    if not found:
        known = ", ".join(show(inp.value) for inp in inputs) or "none"
        return f"{text} is not one of the inputs that the model may take here: {known}"
    return "\n".join(_reason(model, nodes, inp) for inp in found)


def _reason(model: Model, nodes: Sequence[Node], inp: Symbol) -> str:
    silent = [node for node in nodes if not model.specified(node, inp)]
    if not silent:
        return f"{show(inp.value)} is enabled: the model specifies what happens on it"
    states = " or ".join(show(node.value) for node in silent)
    elsewhere = " (in other possible states it is)" if len(silent) < len(nodes) else ""
    return f"{show(inp.value)} is not enabled: the model does not specify it in {states}{elsewhere}"


class StepWalk:
    """A walk through a spec: the states so far, the ways on from the last."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.states: list[Node] = [model.initial]
        self.ways: list[tuple[str, Node | None]] = self._ways()

    def take(self, line: str) -> None:
        """Carry out one command."""
        match line:
            case "":
                self.print_state()
            case "b" | "back":
                self._back()
            case "a" | "all":
                self._print_unspecified()
            case "h" | "help" | "?":
                say(WALK_HELP)
            case _ if line.isascii() and line.isdecimal() and 1 <= int(line[:9]) <= len(self.ways):
                self._go(self.ways[int(line) - 1][1])
            case _ if line.startswith("goto "):
                self._goto(line.removeprefix("goto ").strip())
            case _ if line.startswith("why "):
                say(why(self.model, [self.states[-1]], line.removeprefix("why ").strip()))
            case _ if len(found := named(line, self._inputs())) == 1:
                self._go(self.ways[found[0]][1])
            case _:
                say(f"{show(line)} is not a command: {self._range()}; {WALK_HELP}")

    def print_state(self) -> None:
        """Show the state and the ways on."""
        say(f"\nstate: {show(self.states[-1].value)}")
        for number, (text, _) in enumerate(self.ways, 1):
            say(f"  {number:3}  {text}")
        if not self.ways:
            say("  the model does not specify what may happen here")

    def _range(self) -> str:
        return f"the ways are 1 to {len(self.ways)}" if self.ways else "there is no way on"

    def _go(self, target: Node | None) -> None:
        if target is None:
            say("the next state depends on the outputs of the system; choose another way")
            return
        self.states.append(target)
        self.ways = self._ways()
        self.print_state()

    def _inputs(self) -> list[Symbol | None]:
        return [inp for inp, _ in ways_of(self.model, self.states[-1])]

    def _goto(self, text: str) -> None:
        way = route(self.model, self.states[-1], text)
        if way is None:
            say(f"there is no way from here to a state {show(text)}; write a state as it is shown")
            return
        self.states += way
        self.ways = self._ways()
        self.print_state()

    def _back(self) -> None:
        if len(self.states) > 1:
            self.states.pop()
            self.ways = self._ways()
        self.print_state()

    def _print_unspecified(self) -> None:
        inputs = [show(inp.value) for inp in self._unspecified_inputs()]
        say("not specified here:" if inputs else "every input is specified here")
        for text in inputs:
            say(f"       {text}")

    def _unspecified_inputs(self) -> Iterable[Symbol]:
        node = self.states[-1]
        return [inp for inp in self.model.enabled_inputs(node) if not self.model.moves(node, inp)]

    def _ways(self) -> list[tuple[str, Node | None]]:
        return [(_in_words(inp, move), move.target) for inp, move in ways_of(self.model, self.states[-1])]


def in_time(model: Model, nodes: Iterable[Node]) -> list[str]:
    """Return, each once, what may happen in some states with a window or a timer, and what is spontaneous.

    >>> from otf.models.session_device import SPEC
    >>> model = Model(SPEC)
    >>> in_time(model, [model.initial])
    ["Begin()  ->  Status(what='begun')  [starts tick (0.15 to 0.3 s), starts session (0.765 to 1.02 s)]"]
    """
    every = [
        _in_words(inp, move) for node in nodes for inp, move in ways_of(model, node) if inp is None or _times(move)
    ]
    return list(dict.fromkeys(every))


def _in_words(inp: Symbol | None, move: Move) -> str:
    text = "(spontaneous)" if inp is None else show(inp.value)
    return f"{text}  ->  {', '.join(filter(None, move.texts)) or 'no output'}{_times(move)}"


def _times(move: Move) -> str:
    words = in_words(move.within, (*move.starts, *map(TimerStop, sorted(move.stops))), move.after)
    return f"  [{words}]" if words else ""


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


def live(bench: Bench, reference: str, out: Path, ask: Callable[[], str | None]) -> int:
    """Walk through a fresh copy of the system by hand; return the exit status."""
    say(LIVE_HELP)
    before: list[object] = []
    for number in range(1, LONGEST):
        asking = AskingChooser(ask, before)
        result = _path(bench, Settings(out=out, reference=reference, mode="strict"), number, asking)
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
