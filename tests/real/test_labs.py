"""Boards in QEMU that labgrid, pytest-embedded and Robot Framework have prepared, in an environment of their own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from html import unescape
from pathlib import Path
from typing import TextIO

import pytest

from otf.models.serving import free_port, program
from otf.models.uboot.bench import FIRMWARE
from tests.real.needs import needs

pytestmark = [pytest.mark.real, pytest.mark.slow, needs("qemu-system-arm", "u-boot-qemu", "socat")]
ROOT = Path(__file__).parents[2]
PACKAGES = ["labgrid>=26", "pytest-embedded-serial>=2.9", "pytest>=9", "pyyaml>=6", "robotframework>=7"]

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


def test_from_the_prompt(strategy, target, otf_run):
    strategy.transition("prompt")
    otf_run(bench(*board_port(target)), traces=1, steps=10)
"""
STRATEGY = """
import attr
from labgrid import target_factory
from labgrid.strategy import Strategy


@target_factory.reg_driver
@attr.s(eq=False)
class BoardStrategy(Strategy):
    bindings = {"power": "PowerProtocol", "console": "ConsoleProtocol"}

    def transition(self, status):
        self.target.activate(self.power)
        self.target.activate(self.console)
        self.power.cycle()
        self.console.expect("stop autoboot", timeout=60)
        self.console.sendline("")
        self.console.expect("=> ", timeout=60)
"""
KEYWORDS = """
from my_board import bench
from otf import run


def board_should_conform(url, baudrate: int = 115200, **settings: int):
    run(bench(url, baudrate), **settings)
"""
ROBOT = """
*** Settings ***
Library    board_keywords.py

*** Test Cases ***
Board Conforms
    Board Should Conform    ${PORT}    traces=2    steps=10    seed=1
"""
WRONG = (b'## Error: "%s" not defined', b'## Error: "%s" not_defined')
FAILS = ("FAIL (wrong): ", "<== here", "not_defined", "possible state: ", "allows: ")
"""What stands in a log where the firmware says `WRONG`."""
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
imports: [board_strategy.py]
targets:
  main:
    resources:
      NetworkSerialPort: {{host: 127.0.0.1, port: {port}, speed: 115200, protocol: raw}}
    drivers:
      SerialDriver: {{}}
      ExternalPowerDriver: {{cmd_on: "true", cmd_off: "true", cmd_cycle: "{folder}/cycle.sh"}}
      BoardStrategy: {{}}
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
def board(folder: Path, serial: str, *, faulty: bool = False) -> Generator[str, None, None]:
    """A board with U-Boot; yield what QEMU prints first. `cycle.sh` switches its power off and on."""
    (folder / "my_board.py").write_text(BOARD)
    right = Path(FIRMWARE).read_bytes()
    (folder / "u-boot.bin").write_bytes(right.replace(*WRONG) if faulty else right)
    (folder / "cycle.sh").write_text(
        f"#!/bin/sh\necho system_reset | socat - UNIX-CONNECT:{folder}/monitor >{folder}/cycled\n"
    )
    (folder / "cycle.sh").chmod(0o755)
    machine = ["-M", "virt", "-m", "128M", "-nographic", "-nodefaults", "-nic", "none", "-bios", f"{folder}/u-boot.bin"]
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


def printed_by(python: Path, folder: Path, *arguments: str, status: int = 0) -> str:
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
    assert child.returncode == status, said
    return said


def test_a_target_of_labgrid(python: Path, tmp_path: Path) -> None:
    """Its console is let go, its power driver resets the board before each path, and `--sut` takes its environment."""
    port = free_port(socket.SOCK_STREAM)
    (tmp_path / "test_board.py").write_text(LABGRID)
    (tmp_path / "board_strategy.py").write_text(STRATEGY)
    (tmp_path / "place.yaml").write_text(PLACE.format(port=port, folder=tmp_path))
    with board(tmp_path, f"tcp:127.0.0.1:{port},server=on,wait=off"):
        printed_by(python, tmp_path, "pytest", "-q", "--lg-env", "place.yaml", "test_board.py")
        assert (tmp_path / "cycled").exists()
        sut = ["--sut", "labgrid:place.yaml#main", "--traces", "1", "--steps", "5"]
        assert "PASS" in printed_by(python, tmp_path, "otf", "run", "my_board.py", *sut)


def test_a_faulty_firmware_in_labgrid(python: Path, tmp_path: Path) -> None:
    """A strategy brings the board up, and the failure is told as otf does."""
    port = free_port(socket.SOCK_STREAM)
    (tmp_path / "test_board.py").write_text(LABGRID)
    (tmp_path / "board_strategy.py").write_text(STRATEGY)
    (tmp_path / "place.yaml").write_text(PLACE.format(port=port, folder=tmp_path))
    with board(tmp_path, f"tcp:127.0.0.1:{port},server=on,wait=off", faulty=True):
        given = ["-q", "--lg-env", "place.yaml", "test_board.py", "--otf-seed", "1", "-k", "prompt"]
        printed = printed_by(python, tmp_path, "pytest", *given, status=1)
    assert all(each in printed for each in FAILS), printed


@contextmanager
def lab(python: Path, folder: Path, port: int) -> Generator[Callable[..., str], None, None]:
    """A coordinator, and an exporter of the board's serial port; yield labgrid's client, asked about the place."""
    address, tools = os.environ["LG_COORDINATOR"], python.parent
    exported = {"host": "127.0.0.1", "port": port, "speed": 115_200, "protocol": "raw"}
    (folder / "exported.yaml").write_text(json.dumps({"desk": {"NetworkSerialPort": exported}}))

    def client(*arguments: str, **environment: str) -> str:
        called: list[Path | str] = [tools / "labgrid-client", "-p", "board-7", *arguments]
        return subprocess.check_output(called, env={**os.environ, **environment}, text=True)

    with (folder / "lab.log").open("w") as log:
        serve = partial(running, folder, log)
        host: list[Path | str] = ["-c", address, "-n", "lab", "--hostname", "127.0.0.1"]
        with serve([tools / "labgrid-coordinator", "-l", address]):
            until(lambda: is_open(address))
            with serve([tools / "labgrid-exporter", *host, str(folder / "exported.yaml")]):
                until(lambda: "lab/desk/" in client("resources"))
                client("create")
                client("add-match", "lab/desk/NetworkSerialPort")
                yield client


@contextmanager
def running(folder: Path, log: TextIO, command: list[Path | str]) -> Generator[None, None, None]:
    """Run a program in the body; the coordinator keeps its places in the folder."""
    with subprocess.Popen(command, cwd=folder, stdout=log, stderr=log) as child:
        try:
            yield
        finally:
            child.terminate()


def until(there: Callable[[], bool]) -> None:
    """Wait until something is there."""
    end = time.monotonic() + 60
    while not there():
        assert time.monotonic() < end
        time.sleep(0.1)


def is_open(address: str) -> bool:
    """Return whether someone listens there."""
    host, _, port = address.partition(":")
    with socket.socket() as caller:
        return caller.connect_ex((host, int(port))) == 0


def test_a_place_of_a_coordinator(python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is acquired, used and released; one that someone else has is refused with a sentence, and stays theirs."""
    port, here = free_port(socket.SOCK_STREAM), f"127.0.0.1:{free_port(socket.SOCK_STREAM)}"
    for name, value in {"COORDINATOR": here, "USERNAME": "otf", "HOSTNAME": "tester"}.items():
        monkeypatch.setenv(f"LG_{name}", value)
    run = ["otf", "run", "my_board.py", "--sut", "labgrid:board-7", "--traces", "1", "--steps", "5"]
    with board(tmp_path, f"tcp:127.0.0.1:{port},server=on,wait=off"), lab(python, tmp_path, port) as client:
        assert "PASS" in printed_by(python, tmp_path, *run)
        assert "acquired: None" in client("show")
        client("acquire", LG_USERNAME="alice", LG_HOSTNAME="desk")
        assert "Place board-7 is already acquired by desk/alice" in printed_by(python, tmp_path, *run, status=3)
        assert "acquired: desk/alice" in client("show")


@pytest.mark.parametrize("faulty", [False, True])
def test_a_dut_of_pytest_embedded(python: Path, tmp_path: Path, *, faulty: bool) -> None:
    """It reads the board first, and then lets go of its port; a faulty firmware fails with otf's words."""
    (tmp_path / "test_board.py").write_text(EMBEDDED)
    with board(tmp_path, "pty", faulty=faulty) as said:
        given = ["-p", "no:labgrid", "--embedded-services", "serial", "--port", terminal(said), "--baud", "115200"]
        printed = printed_by(
            python, tmp_path, "pytest", "-q", *given, "--otf-seed", "1", "test_board.py", status=faulty
        )
    assert all((each in printed) == faulty for each in FAILS), printed


@pytest.mark.parametrize("faulty", [False, True])
def test_a_keyword_of_robot_framework(python: Path, tmp_path: Path, *, faulty: bool) -> None:
    """A function that runs the bench is a keyword, and the log has what otf says of a faulty firmware."""
    (tmp_path / "board_keywords.py").write_text(KEYWORDS)
    (tmp_path / "board.robot").write_text(ROBOT)
    with board(tmp_path, "pty", faulty=faulty) as said:
        printed_by(python, tmp_path, "robot", "-v", f"PORT:{terminal(said)}", "board.robot", status=faulty)
    log = unescape((tmp_path / "output.xml").read_text())
    assert all((each in log) == faulty for each in FAILS), log


def terminal(said: str) -> str:
    """Return the name of the terminal in what QEMU says."""
    return next(word for word in said.split() if word.startswith("/dev/"))
