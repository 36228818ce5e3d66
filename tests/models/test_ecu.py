"""A control unit with cyclic frames and a session timer: its mutants, and what its model is made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from otf.campaign import InconclusiveError, run
from otf.codec.can import CanFrame
from otf.errors import FAIL, INCONCLUSIVE, UsageError
from otf.models.ecu import MUTANTS, EcuCodec, EcuState, Uds, bench, inputs
from otf.models.ecu_server import STATUS
from otf.spec import Elapse
from otf.testing import check_codec
from tests.cli.command import otf
from tests.real.needs import needs_module

BUSY = "the machine is too busy for the times of the unit"


@pytest.mark.real
@needs_module("can")
@needs_module("isotp")
def test_the_unit_conforms(tmp_path: Path) -> None:
    """Its answers and its status frames are those of the model; where the machine was too slow, it is asked again."""
    for number in range(3):
        try:
            summary = run(bench(), traces=1, steps=8, seed=3, out=tmp_path / str(number))
        except InconclusiveError:
            continue
        assert (summary.verdict, summary.steps) == ("pass", 8)
        return
    pytest.skip(BUSY)


@pytest.mark.real
@pytest.mark.slow
@needs_module("can")
@needs_module("isotp")
@pytest.mark.parametrize("fault", MUTANTS)
def test_each_mutant_is_found(fault: str, tmp_path: Path) -> None:
    """By a wrong answer, a frame that comes early, late or not at all, or a session that should have ended.

    Paths are short: one wrong key, and a unit stays locked to the end of its path. Each has a process of its own: units
    in one process delay each other, as far as its kernel can tell.
    """
    many = ("--processes", 6, "--traces", 120, "--steps", 25, "--seed", 1)
    done = otf("run", "ecu", "--set", f"fault={fault}", *many, "--stop-first", "--no-shrink", "--out", tmp_path / "out")
    if done.status == INCONCLUSIVE:
        pytest.skip(BUSY)
    assert done.status == FAIL


def test_the_codec_keeps_the_contract() -> None:
    """Messages on one port, frames on the other."""
    check_codec(EcuCodec(), [Uds(0x22, b"\xf1\x90"), Uds(0x7E, b"\0"), CanFrame(STATUS, b"\3")])
    assert [EcuCodec().port(each) for each in (Uds(1, b""), CanFrame(1))] == ["diag", "bus"]


def test_a_fault_that_there_is_not_is_refused() -> None:
    """The error names all."""
    with pytest.raises(UsageError, match="it has endless, early"):
        bench(fault="broken")


def test_its_waits_are_whole_milliseconds() -> None:
    """A shrunk run shows 0.98 s, not the rounding error of a product."""
    waits = [each.seconds for each in inputs(EcuState(cycles=0)) if isinstance(each, Elapse)]
    assert waits == [0.98, 2.1]
