"""A washing machine: phases follow one another by their timers, and what its keys do depends on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from otf.spec import Spec, TimerStart, Transition, goto, start, stop

FAULTS: Final = ("door", "spin", "hot", "rinse")
INPUTS: Final = ("start", "stop", "door", "hotter", "colder", "quiet", "ask")
PHASES: Final = {"fill": (0.4, "wash"), "wash": (0.9, "rinse"), "rinse": (0.5, "spin"), "spin": (0.7, "done")}


@dataclass(frozen=True, slots=True)
class Washer:
    """The phase, the temperature, whether it spins quietly, whether the door is open."""

    phase: str = "off"
    heat: int = 0
    quiet: bool = False
    open: bool = False


def washer(fault: str = "") -> Spec[Washer, str]:  # noqa: C901, PLR0915 -- a model reads best in one piece
    """Return the machine.

    With a fault its door opens while it spins (`door`), the stop key is forgotten while it spins (`spin`), it takes
    another temperature while it rinses (`hot`), or forgets there that it spins quietly (`rinse`).
    """

    def window(phase: str) -> list[TimerStart]:
        seconds = PHASES[phase][0]
        return [start("phase", seconds, seconds + 0.02) if fault else start("phase", seconds - 0.02, seconds + 0.08)]

    def door(state: Washer) -> Transition[Washer]:
        if state.phase in PHASES and not (fault == "door" and state.phase == "spin"):
            return goto(state, "locked")
        return goto(replace(state, open=not state.open), "closed" if state.open else "open")

    def step(state: Washer, inp: str) -> Iterator[Transition[Washer]]:
        runs = state.phase in PHASES
        match inp:
            case "start" if not runs and not state.open:
                yield goto(replace(state, phase="fill"), "fill", timers=window("fill"))
            case "stop" if runs:
                forgets = fault == "spin" and state.phase == "spin"
                then = state if forgets else replace(state, phase="off")
                yield goto(then, "stopped", timers=[] if forgets else [stop("phase")])
            case "hotter" | "colder" if not runs or state.phase == "fill" or (fault, state.phase) == ("hot", "rinse"):
                heat = min(2, max(0, state.heat + (1 if inp == "hotter" else -1)))
                yield goto(replace(state, heat=heat), f"heat {heat}")
            case "quiet" if state.phase != "spin":
                quiet = not state.quiet and not (fault == "rinse" and state.phase == "rinse")
                yield goto(replace(state, quiet=quiet), "quiet" if not state.quiet else "loud")
            case "door":
                yield door(state)
            case "ask":
                yield goto(state, f"{state.phase} {state.heat}")
            case _:
                yield goto(state, "refused")

    def emits(state: Washer) -> Iterator[Transition[Washer]]:
        if state.phase in PHASES:
            then = PHASES[state.phase][1]
            spins = "quiet spin" if state.quiet else "spin"
            timers = window(then) if then in PHASES else []
            yield goto(replace(state, phase=then), spins if then == "spin" else then, after="phase", timers=timers)

    return Spec(step, Washer(), INPUTS, emits)
