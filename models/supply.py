"""A power supply with SCPI commands and queries, behind VISA; the bench tests a simulation by pyvisa-sim.

After SCPI-99, volume 2: `VOLT?` reads a set voltage back; a value out of range or an unknown command puts an error into
a queue, which `SYST:ERR?` reads and `*CLS` clears (volume 1, section 4.1.1, and IEEE 488.2, 10.3).
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from otf.adapter import Bench, Connect, Line, trace_may_set
from otf.adapters import visa
from otf.codec import lines
from otf.models.serving import chosen, expected, known_issue
from otf.spec import Spec, Transition, Where, goto

SIMULATION: Final = """
spec: "1.0"
devices:
  supply:
    eom:
      TCPIP INSTR: {q: "\\n", r: "\\n"}
    error:
      error_queue:
        - {q: "SYST:ERR?", default: '0,"No error"', command_error: '-113,"Undefined header"'}
    dialogues:
      - {q: "*IDN?", r: "OTF,SIMULATED SUPPLY,1,1.0"}
      - {q: "*CLS"}
      - {q: "*RST"}
    properties:
      volts:
        default: 0.0
        getter: {q: "VOLT?", r: "{:.3f}"}
        setter: {q: "VOLT {:.3f}"}
        specs: {min: 0, max: 30, type: float}
      amps:
        default: 1.0
        getter: {q: "CURR?", r: "{:.3f}"}
        setter: {q: "CURR {:.3f}"}
        specs: {min: 0, max: 3, type: float}
      output:
        default: 0
        getter: {q: "OUTP?", r: "{:d}"}
        setter: {q: "OUTP {:d}"}
        specs: {valid: [0, 1], type: int}
resources:
  TCPIP0::supply::inst0::INSTR: {device: supply}
"""
RESOURCE: Final = "TCPIP::supply::INSTR"
PORT: Final = "visa"
MOST_VOLTS: Final = 30
MOST_ERRORS: Final = 2
"""The most errors to leave in the queue; more would make more states and show nothing new."""


@dataclass(frozen=True, slots=True)
class Scpi:
    """A command, a query, or the answer to one."""

    text: str


@dataclass(frozen=True, slots=True)
class SupplyState:
    """The settings, and how many errors are in the queue."""

    volts: str = "0.000"
    output: str = "0"
    errors: int = 0


CODEC: Final = lines({Scpi: "{text}"}, port=PORT)
NO_ERROR: Final = Scpi('0,"No error"')
VOLTS: Final = ("0.000", "2.500", "30.000")
_ASKED: Final = ("VOLT?", "OUTP?", "SYST:ERR?", "*IDN?")
_INPUTS: Final = (*_ASKED, *(f"VOLT {volts}" for volts in VOLTS), "VOLT 31", "OUTP 1", "OUTP 0", "OUTP 7", "NONSENSE")
ALSO: Final[dict[str, tuple[str, ...]]] = {
    "clear": ("*CLS",),
    "reset": ("*RST",),
    "case": ("volt?",),
    "compound": ("VOLT?;OUTP?",),
}
"""Descriptions of commands that the simulation handles contrary to the standards."""
KNOWN: Final = {
    "clear": known_issue("pyvisa-sim 0.7.1: *CLS leaves the errors in their queue", "SYST:ERR?"),
    "reset": known_issue("pyvisa-sim 0.7.1: *RST changes no setting", "?"),
    "case": known_issue("pyvisa-sim 0.7.1 takes headers in one case only", "volt?"),
    "compound": known_issue("pyvisa-sim 0.7.1 answers two queries of one message with two messages", "VOLT?;OUTP?"),
}
"""The known issues that each of `ALSO` shows."""


def supply(also: str = "") -> Spec[SupplyState, Scpi]:
    """Return the spec; `also` names inputs of `ALSO` that are tried too.

    >>> supply().name
    'supply'
    """
    inputs = [Scpi(text) for text in (*_INPUTS, *ALSO.get(also, ()))]
    return Spec(_step, SupplyState(), inputs, name="supply")


def _step(state: SupplyState, inp: Scpi) -> Iterator[Transition[SupplyState]]:
    answer = _answer(state, inp.text)
    then = _then(state, inp.text)
    if then is not None:  # the maker decides how long the error queue is
        yield goto(then) if answer is None else goto(then, answer)


def _answer(state: SupplyState, text: str) -> Scpi | Where | None:
    match text.upper():
        case "VOLT?":
            return Scpi(state.volts)
        case "OUTP?":
            return Scpi(state.output)
        case "VOLT?;OUTP?":
            return Scpi(f"{state.volts};{state.output}")
        case "*IDN?":
            return Where(_is_identity, "maker, model, serial number and version", (Scpi("maker,model,0,1.0"),))
        case "SYST:ERR?":
            wrong = Where(_is_error, "an error of the queue", (Scpi('-222,"Data out of range"'),))
            return wrong if state.errors else NO_ERROR
        case _:
            return None


def _then(state: SupplyState, text: str) -> SupplyState | None:  # noqa: PLR0911 -- one for each command
    """Return the settings after a command; None if unknown."""
    match text.upper().partition(" "):
        case "VOLT", _, volts if float(volts) <= MOST_VOLTS:
            return replace(state, volts=volts)
        case "OUTP", _, ("0" | "1") as output:
            return replace(state, output=output)
        case "*CLS", *_:
            return replace(state, errors=0)
        case "*RST", *_:
            return SupplyState(errors=state.errors)
        case "SYST:ERR?", *_:
            return replace(state, errors=max(0, state.errors - 1))
        case head, *_ if head.endswith("?"):
            return state
        case _:
            return replace(state, errors=state.errors + 1) if state.errors < MOST_ERRORS else None


def _is_identity(answer: object) -> bool:
    return isinstance(answer, Scpi) and answer.text.count(",") == 3  # noqa: PLR2004 -- four fields (IEEE 488.2, 10.14.3)


def _is_error(answer: object) -> bool:
    return isinstance(answer, Scpi) and answer.text.startswith("-") and answer.text.endswith('"')


@trace_may_set(also=ALSO)
def bench(*, resource: str = "", also: str = "") -> Bench:
    """Return the bench of a supply; `resource` is the VISA name of your own (`TCPIP::10.0.0.5::INSTR`).

    `also` is one of `ALSO`: the bench tries such commands too.

    >>> bench().name
    'supply'
    """
    chosen(also, ALSO)
    return Bench.on_ports(
        name="supply",
        known_issues=expected(KNOWN, also),
        spec=supply(also),
        codec=CODEC,
        connect=_connect(resource),
        outputs=(PORT,),
        inputs="uioco",
        # threads on both sides of the library, on a busy machine
        quiescence=0.060,
        latency=0.030,
        busy=0.030,
    )


def _connect(resource: str) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        with tempfile.TemporaryDirectory(prefix="otf-supply-") as folder:
            name = resource or f"{RESOURCE}?backend={_written(folder)}@sim"
            async with visa(f"visa:{name}", timeout=0.5)() as line:
                yield {PORT: line}

    return connect


def _written(folder: str) -> Path:
    file = Path(folder, "supply.yaml")
    file.write_text(SIMULATION, encoding="utf-8")
    return file
