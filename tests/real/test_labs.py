"""Boards in QEMU that labgrid and pytest-embedded have prepared, each from PyPI and in an environment of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from otf.models.serving import free_port, program
from otf.models.uboot.bench import FIRMWARE
from tests.real.needs import needs

pytestmark = [pytest.mark.real, pytest.mark.slow, needs("qemu-system-arm", "u-boot-qemu", "socat")]
ROOT = Path(__file__).parents[2]
PACKAGES = ["labgrid>=26", "pytest-embedded-serial>=2.9", "pytest>=9", "pyyaml>=6"]

BOARD = """
from otf.adapter import Bench, Expect, Life
from otf.adapters import serialport
from otf.models.uboot.messages import PORT, PROMPT, UbootCodec, prompts
from otf.models.uboot.spec import BASE, uboot

PROMPTED = Expect(PORT, PROMPT + b"$", 30.0)


def bench(url="/dev/null", baudrate=115200, reset=None):
    port = serialport(url, baudrate=baudrate, framing=prompts())
    cleared = (PORT, f"mw.l {BASE:x} 0 100".encode())
    life = Life(reset=reset, inband=[(PORT, b""), PROMPTED, cleared, PROMPTED], settle=0.05, timeout=30.0)
    times = {"quiescence": 0.05, "latency": 0.02, "busy": 0.02}
    return Bench.on_ports(uboot(""), UbootCodec(), {PORT: port}, name="board", outputs=(PORT,), life=life, **times)
"""
LABGRID = """
from my_board import bench
from otf.adapter.labs import board_port


def test_conforms(target, otf_run):
    power = target.get_driver("PowerProtocol")
    target.activate(target.get_driver("ConsoleProtocol", activate=False))
    summary = otf_run(bench(*board_port(target), reset=power.cycle), traces=2, steps=10)
    assert (summary.verdict, summary.steps) == ("pass", 20)
"""
EMBEDDED = """
from my_board import bench
from otf.adapter.labs import board_port


def test_prompts(dut):
    dut.write("\\r")
    dut.expect_exact("=>", timeout=30)


def test_conforms(dut, otf_run):
    summary = otf_run(bench(*board_port(dut)), traces=2, steps=10)
    assert (summary.verdict, summary.steps) == ("pass", 20)
"""
PLACE = """
targets:
  main:
    resources:
      NetworkSerialPort: {{host: 127.0.0.1, port: {port}, speed: 115200, protocol: raw}}
    drivers:
      SerialDriver: {{}}
      ExternalPowerDriver: {{cmd_on: "true", cmd_off: "true", cmd_cycle: "{folder}/cycle.sh"}}
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with both lab managers, and otf as it is here."""
    folder = tmp_path_factory.mktemp("lab")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    found = folder / "bin" / "python"
    called = [str(found), "-m", "pip", "install", "--quiet", "--editable", str(ROOT), *PACKAGES]
    done = subprocess.run(called, check=False, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"pip: {done.stderr.strip()[-200:]}")
    return found


@contextmanager
def board(folder: Path, serial: str) -> Generator[str, None, None]:
    """A board with U-Boot; yield what QEMU prints first. `cycle.sh` switches its power off and on."""
    (folder / "my_board.py").write_text(BOARD)
    (folder / "cycle.sh").write_text(
        f"#!/bin/sh\necho system_reset | socat - UNIX-CONNECT:{folder}/monitor >{folder}/cycled\n"
    )
    (folder / "cycle.sh").chmod(0o755)
    machine = ["-M", "virt", "-m", "128M", "-nographic", "-nodefaults", "-nic", "none", "-bios", FIRMWARE]
    monitor = ["-monitor", f"unix:{folder}/monitor,server=on,wait=off"]
    with subprocess.Popen(
        [program("qemu-system-arm", "qemu-system-arm"), *machine, *monitor, "-serial", serial],
        stdout=subprocess.PIPE,
        text=True,
    ) as qemu:
        assert qemu.stdout is not None
        try:
            until = time.monotonic() + 20
            while not (folder / "monitor").exists() and time.monotonic() < until:
                time.sleep(0.01)
            yield qemu.stdout.readline() if serial == "pty" else ""
        finally:
            qemu.kill()


def printed_by(python: Path, folder: Path, *arguments: str) -> str:
    """Run a command of that environment, and return what it printed."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    with subprocess.Popen(
        [python, "-m", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env=environment,
    ) as child:
        said, _ = child.communicate(timeout=300)
    assert child.returncode == 0, said
    return said


def test_a_target_of_labgrid(python: Path, tmp_path: Path) -> None:
    """Its console is let go, its power driver resets the board before each path, and `--sut` takes its environment."""
    port = free_port(socket.SOCK_STREAM)
    (tmp_path / "test_board.py").write_text(LABGRID)
    (tmp_path / "place.yaml").write_text(PLACE.format(port=port, folder=tmp_path))
    with board(tmp_path, f"tcp:127.0.0.1:{port},server=on,wait=off"):
        printed_by(python, tmp_path, "pytest", "-q", "--lg-env", "place.yaml", "test_board.py")
        assert (tmp_path / "cycled").exists()
        sut = ["--sut", "labgrid:place.yaml#main", "--traces", "1", "--steps", "5"]
        assert "PASS" in printed_by(python, tmp_path, "otf", "run", "my_board.py", *sut)


def test_a_dut_of_pytest_embedded(python: Path, tmp_path: Path) -> None:
    """It reads the board first, and then lets go of its port."""
    (tmp_path / "test_board.py").write_text(EMBEDDED)
    with board(tmp_path, "pty") as said:
        name = next(word for word in said.split() if word.startswith("/dev/"))
        given = ["-p", "no:labgrid", "--embedded-services", "serial", "--port", name, "--baud", "115200"]
        printed_by(python, tmp_path, "pytest", "-q", *given, "test_board.py")
