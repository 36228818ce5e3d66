"""A process that floods its standard error: it is heard, and it costs next to nothing."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

import anyio
import pytest

from otf.adapter import Ending
from otf.adapters.process import open_process, process
from otf.campaign import Campaign, Settings
from tests.adapters.harness import SECONDS, Baseline, arrive, frames, over, python
from tests.e2e.counting import Counting

pytestmark = [pytest.mark.real]

NOISE: Final = "noise = (b'x' * 99 + b'\\n') * 600"
FLOODS: Final = f"import os, threading; {NOISE}\ndef flood():\n    while True: os.write(2, noise)\n"
AWAY: Final = "os.dup2(os.open(os.devnull, os.O_WRONLY), 2)\n"
BESIDE: Final = "threading.Thread(target=flood, daemon=True).start()\n"
CHILD: Final = "if os.fork() == 0: flood()\n"
ANSWERS: Final = """
os.write(1, b"ready\\n")
number = 0
while data := os.read(0, 1000):
    for _ in range(data.count(b"\\n")):
        number = (number + 1) % 4
        os.write(1, b"count %d\\n" % number)
"""


@pytest.mark.anyio
async def test_a_process_with_a_flood_of_errors_is_heard_and_stopped() -> None:
    """Its answers come, what it says is drained meanwhile, and nothing is left of it."""
    before = Baseline()
    with anyio.fail_after(SECONDS):
        async with open_process(python(FLOODS + BESIDE + ANSWERS), grace=0.02) as line:
            for number in (1, 2, 3, 0, 1):
                await line.send(b"inc")
                assert await arrive(line, 1) == frames(b"count %d" % number)
            assert line.remarks()[-1].startswith("stderr: xxxx")
    assert not before.lasting_leaks()


@pytest.mark.anyio
async def test_a_flood_is_read_now_and_then() -> None:
    """Whoever watches the line is not woken for each piece of it."""
    async with open_process(python(FLOODS + BESIDE + ANSWERS), grace=0.02) as line:
        looks, until = 0, time.monotonic() + 0.2
        while time.monotonic() < until:
            with anyio.move_on_after(0.001):
                await anyio.wait_readable(line.descriptors()[-1])
                looks += 1
            line.receive()
            assert len(line.descriptors()) in {2, 3}
        assert looks < 400


@pytest.mark.anyio
async def test_the_last_words_are_the_last() -> None:
    """However much was said before it ended: what stands at the end of it is told."""
    dies = f"import os; {NOISE}\nfor _ in range(40): os.write(2, noise)\nos.write(2, b'I am dying\\n'); os._exit(3)"
    async with open_process(python(dies), ready=None) as line:
        await arrive(line, over)
        assert line.remarks()[-1] == "stderr: I am dying"


@pytest.mark.anyio
async def test_a_flood_that_ends_as_it_is_read() -> None:
    """What fills a read to its last byte, and the end behind it, are seen in one look."""
    async with open_process(python("import os; os.write(2, b'x' * 65536)"), ready=None) as line:
        process = os.pidfd_open(line.pid)
        with anyio.fail_after(SECONDS):
            await anyio.wait_readable(process)
        os.close(process)
        assert await arrive(line, over) == [Ending("exit status 0")]


@pytest.mark.slow
@pytest.mark.parametrize("flood", [BESIDE, CHILD])
def test_a_flood_of_errors_takes_no_time(flood: str, tmp_path: Path) -> None:
    """A run takes at most half as long again as where nobody reads what is said."""
    unheard = min(took(tmp_path / f"{number}-unheard", FLOODS + AWAY + flood + ANSWERS) for number in range(5))
    heard = min(took(tmp_path / f"{number}-heard", FLOODS + flood + ANSWERS) for number in range(5))
    assert heard < 1.5 * unheard


def took(out: Path, program: str) -> float:
    """Seconds that a run of 2,000 steps takes."""
    bench = replace(Counting("pipe").bench, connect=None, ports={"p": process(python(program), grace=0.02)})
    began = time.monotonic()
    assert anyio.run(Campaign(bench, Settings(out=out, traces=1, steps=2000)).run).verdict == "pass"
    return time.monotonic() - began
