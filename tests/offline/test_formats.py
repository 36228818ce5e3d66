"""Logs that other tools wrote: each right one passes, and each wrong one fails at its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar

import pytest

from otf.adapter import Bench
from otf.adapters import tcp
from otf.cli.foreign import How, form_of, opinion
from otf.codec.fields import raw, u8
from otf.codec.records import RecordCodec, records
from otf.models import coffee
from otf.offline.logs import Opinion
from otf.spec import Spec, Transition, goto

LOGS = Path(__file__).parent / "logs"
BENCH = replace(
    coffee.bench(),
    quiescence=0.05,
    latency=0.002,
    busy=0.002,
    ports={"line": tcp("tcp://127.0.0.1:7000")},
)


@dataclass(frozen=True)
class Coin:
    """A coin, as a frame."""

    head: ClassVar[Annotated[bytes, raw(8)]] = bytes.fromhex("0000010001000000")
    cents: Annotated[int, u8]


@dataclass(frozen=True)
class Button:
    """The button, as a frame."""

    head: ClassVar[Annotated[bytes, raw(8)]] = bytes.fromhex("0000010100000000")


@dataclass(frozen=True)
class Coffee:
    """A coffee, as a frame."""

    head: ClassVar[Annotated[bytes, raw(8)]] = bytes.fromhex("0000020001000000")
    cups: Annotated[int, u8]


def machine(paid: int, inp: Coin | Button) -> Iterator[Transition[int]]:
    """Yield what the machine may do."""
    match inp:
        case Coin(cents) if paid + cents <= 10:
            yield goto(paid + cents)
        case Button() if paid >= 10:
            yield goto(paid - 10, Coffee(1))
        case _:
            return


CODEC: RecordCodec = records(Coin, Button, Coffee)
BUS = Bench.on_ports(
    Spec(machine, 0, [Coin(5), Coin(10), Button()]),
    CODEC,
    {"bus": tcp("tcp://127.0.0.1:7000")},
    quiescence=0.05,
    latency=0.002,
)


def judged(file: str, bench: Bench = BENCH, form: str = "", choice: str = "", **how: str) -> tuple[str, Opinion]:
    """Return the format of a log, and the opinion of it."""
    path = LOGS / file
    with path.open("rb") as log:
        own = How(form=form, choice=choice, **how)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] -- a port
        own = replace(own, form=form_of(str(path), log, own, lambda _: bench))
        return own.form, opinion(str(path), log, bench, own)


@pytest.mark.parametrize(
    ("file", "form", "choice", "place", "strange"),
    [
        ("script-{}.timing", "script", "", 11, 0),
        ("classic-{}.timing", "script", "classic-{}.typescript", 3, 0),
        ("picocom-{}.log", "raw", "", 4, 0),
        ("minicom-{}.log", "raw", "", 4, 0),
        ("ts-{}.log", "text", "", 4, 0),
        ("journal-{}.export", "journal-export", "", 4, 0),
        ("journal-{}.json", "journal-json", "", 4, 0),
        ("journal-{}.short-precise", "text", "", 4, 0),
        ("sigrok-{}.csv", "sigrok", "9600", 1858, 0),
        ("sigrok-{}.txt", "sigrok", "38400", 29, 0),
        ("saleae-{}.csv", "saleae", "", 30, 0),
        ("net-{}.pcapng", "pcapng", "", 8, 0),
        ("can-{}.log", "candump", "", 6, 2),
        ("can-{}.asc", "asc", "", 11, 2),
        ("can-{}.blf", "blf", "", 6, 2),
        ("canutils-{}.log", "candump", "", 6, 2),
    ],
)
def test_a_log_of_each_tool(file: str, form: str, choice: str, place: int, strange: int) -> None:
    """What the tool itself wrote is recognized, and judged as the same conversation live."""
    bench = BUS if file.startswith("can") else BENCH
    explicit = form if form == "raw" else ""
    found, right = judged(file.format("right"), bench, explicit, choice.format("right"))
    assert (right.verdict.outcome, right.strange) == ("pass", strange)
    assert right.steps >= 2
    assert found in {form, "saleae"}
    _, wrong = judged(file.format("wrong"), bench, explicit, choice.format("wrong"))
    assert (wrong.verdict.outcome, wrong.place) == ("fail", place)
    assert wrong.verdict.failure is not None
    assert wrong.verdict.failure.kind in {"wrong", "unasked"}
