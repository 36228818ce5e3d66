"""A traffic light: cars and a pedestrian's button ask, and timers change the phase."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from otf.spec import Spec, TimerStart, Transition, goto, start, stop

FAULTS: Final = ("lost", "walk", "memory", "runs")
INPUTS: Final = ("car", "button", "emergency", "resume", "lampfail", "faults", "clear")


@dataclass(frozen=True, slots=True)
class Light:
    """The phase, who asks, the number of stored lamp failures; and what only a fault of the system changes."""

    phase: str = "green"
    car: bool = False
    button: bool = False
    faults: int = 0


def light(fault: str = "") -> Spec[Light, str]:  # noqa: C901, PLR0915 -- a model reads best in one piece
    """Return the light.

    With a fault it loses the button in the side phase (`lost`), a car in the walk phase (`walk`), the stored lamp
    failures at an emergency in the side phase (`memory`), or lets the walk phase end after an emergency (`runs`).
    """

    def window(seconds: float) -> TimerStart:
        return start("phase", seconds, seconds + 0.02) if fault else start("phase", seconds - 0.02, seconds + 0.08)

    def asked(state: Light, inp: str) -> Transition[Light]:
        if state.phase == "flash":
            return goto(state, "ignored")
        if getattr(state, inp):
            return goto(state, "already")
        if (fault, inp, state.phase) in {("lost", "button", "side"), ("walk", "car", "walk")}:
            return goto(state, "ack")
        rests = state.phase == "green" and not (state.car or state.button)
        then = replace(state, car=state.car or inp == "car", button=state.button or inp == "button")
        return goto(then, "ack", timers=[window(0.5)] if rests else [])

    def step(state: Light, inp: str) -> Iterator[Transition[Light]]:
        match inp:
            case "car" | "button":
                yield asked(state, inp)
            case "emergency":
                forgets = fault == "memory" and state.phase == "side"
                timers = [] if (fault, state.phase) == ("runs", "walk") else [stop("phase")]
                yield goto(Light("flash", faults=0 if forgets else state.faults), "flash", timers=timers)
            case "resume" if state.phase == "flash":
                yield goto(replace(state, phase="yellow"), "phase yellow", timers=[window(0.3)])
            case "resume":
                yield goto(state, "ignored")
            case "lampfail":
                yield goto(replace(state, faults=min(3, state.faults + 1)), "fault stored")
            case "faults":
                yield goto(state, f"faults {state.faults}")
            case _:
                yield goto(replace(state, faults=0), "cleared")

    def emits(state: Light) -> Iterator[Transition[Light]]:
        match state.phase:
            case "green" if state.car or state.button:
                yield goto(replace(state, phase="yellow"), "phase yellow", after="phase", timers=[window(0.3)])
            case "yellow" if state.button:
                yield goto(replace(state, phase="walk", button=False), "phase walk", after="phase", timers=[window(1)])
            case "yellow" if state.car:
                yield goto(replace(state, phase="side", car=False), "phase side", after="phase", timers=[window(1)])
            case "yellow":
                yield goto(replace(state, phase="green"), "phase green", after="phase")
            case "side" | "walk":
                more = [window(0.5)] if state.car or state.button else []
                yield goto(replace(state, phase="green"), "phase green", after="phase", timers=more)
            case "flash" if fault == "runs":
                yield goto(replace(state, phase="green"), "phase green", after="phase")
            case _:
                pass

    return Spec(step, Light(), INPUTS, emits)
