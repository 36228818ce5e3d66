"""Several workers of pytest-xdist: no two use the same system at the same time."""

from __future__ import annotations

import pytest

from otf import Bench
from otf.adapter import Opener
from otf.adapters import inprocess, process, serialport, tcp, udp, unix
from otf.models import coffee
from otf.models.conference import bench as conference
from otf.pytest_plugin.planned_run import devices
from tests.plugin.session import Session

# each test leaves a mark while it uses the system, and fails where there is one already
ONE_BOARD = """
import os, time
from contextlib import asynccontextmanager
from functools import partial
from otf import Bench
from otf.adapter import Opener
from otf.adapters.inprocess import open_inprocess

@asynccontextmanager
async def board(name):
    mark = os.open("mark", os.O_CREAT | os.O_EXCL)
    time.sleep(0.2)
    try:
        async with open_inprocess(lambda: coffee.Machine().take, port="line") as line:
            yield line
    finally:
        os.close(mark)
        os.unlink("mark")

ports = {"line": partial(board, "/dev/board")}
bench = Bench(coffee.coffee, codec=coffee.codec, ports=ports, quiescence=0.0, latency=0.0, busy=0.0)

@pytest.mark.parametrize("number", range(3))
def test_board(otf_run, number):
    otf_run(bench, traces=1, steps=3)

def test_by_hand(otf_open):
    otf_open(bench, alone="/dev/board").send(Coin(5))

def test_another(otf_run):
    otf_run(coffee.bench, alone=False)
"""


@pytest.mark.real
def test_workers_wait_for_each_other(session: Session) -> None:
    """Four tests on two workers and one board: no two of them use it at a time. Others need not wait."""
    session.tests(ONE_BOARD)
    done = session.workers("--dist=load")
    assert done.counts == {"passed": 5}


def on(**ports: Opener) -> list[str]:
    """Name the devices of a bench with these ports."""
    return list(devices(Bench(coffee.coffee, codec=coffee.codec, ports=ports)))


def test_what_there_is_only_once() -> None:
    """An address is one device, whatever the other arguments; a system started for each run is none."""
    assert on(a=udp("udp://127.0.0.1:7000?bind=127.0.0.1:0")) == ["127.0.0.1:7000"]
    assert on(a=udp("127.0.0.1:7000", bind="127.0.0.1:7001")) == ["127.0.0.1:7001", "127.0.0.1:7000"]
    assert on(a=tcp("tcp://127.0.0.1:7000"), b=unix("unix:/run/it")) == ["127.0.0.1:7000", "/run/it"]
    assert on(a=serialport("/dev/ttyUSB0?baudrate=115200"), b=lambda: udp("[::1]:7")()) == ["/dev/ttyUSB0"]  # noqa: PLW0108 -- one's own
    assert on(a=process(["./machine", "--slow"], ready=None), b=inprocess(lambda: coffee.Machine().take)) == []
    assert list(devices(conference())) == ["bench conference"]
