"""A thermostat: a target above the limit raises an alarm half a second later, if alarms are on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from otf.spec import Spec, TimerStart, Transition, goto, start, stop

FAULTS: Final = ("same", "get", "on")
TARGETS: Final = (200, 300, 301, 350)
INPUTS: Final = (*map(str, TARGETS), "get", "temperature", "on", "off")
LIMIT: Final = 300


@dataclass(frozen=True, slots=True)
class Thermostat:
    """The target, whether alarms are on, and whether one is about to be raised."""

    target: int = 200
    alarm: bool = False
    pending: bool = False


def thermostat(fault: str = "") -> Spec[Thermostat, str]:  # noqa: C901 -- a model reads best in one piece
    """Return the thermostat.

    With a fault, the alarm is lost when the target is set to its old value (`same`), is read (`get`), or when alarms
    are switched on again (`on`).
    """

    def window() -> TimerStart:
        return start("alarm", 0.5, 0.52) if fault else start("alarm", 0.45, 0.6)

    def after(state: Thermostat, inp: str) -> Transition[Thermostat]:
        if state.pending and inp == fault:
            return goto(replace(state, pending=False), str(state.target), timers=[stop("alarm")])
        return goto(state, str(state.target))

    def step(state: Thermostat, inp: str) -> Iterator[Transition[Thermostat]]:
        match inp:
            case "get":
                yield after(state, inp)
            case "temperature":
                yield goto(state, "215")
            case "on":
                yield after(replace(state, alarm=True), inp)
            case "off":
                yield goto(Thermostat(state.target), "off", timers=[stop("alarm")])
            case _ if int(inp) == state.target:
                yield after(state, "same")
            case _ if state.alarm and int(inp) > LIMIT:
                yield goto(Thermostat(int(inp), alarm=True, pending=True), inp, timers=[window()])
            case _:
                yield goto(Thermostat(int(inp), state.alarm), inp, timers=[stop("alarm")])

    def emits(state: Thermostat) -> Iterator[Transition[Thermostat]]:
        if state.pending:
            yield goto(replace(state, pending=False), "alarm", after="alarm")

    return Spec(step, Thermostat(), INPUTS, emits)
