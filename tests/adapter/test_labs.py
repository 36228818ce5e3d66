"""Boards of lab managers: where their serial ports are."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from otf.adapter import Port
from otf.adapter.labs import BoardPort, board_port
from otf.cli.sut_addresses import opener
from otf.errors import ContactError, UsageError

MAP = """
- {id: "0001", serial: /dev/ttyACM0, baud: 9600, platform: nrf52840dk, connected: true}
- {id: "0002", serial: /dev/ttyACM1, platform: nrf52840dk, connected: false}
- {id: "0003", serial: null, connected: false}
- {id: "0004", serial: /dev/ttyACM3, baud: fast, connected: false}
"""


@pytest.fixture
def hardware_map(tmp_path: Path) -> Path:
    """A hardware map of twister."""
    (tmp_path / "map.yaml").write_text(MAP)
    return tmp_path / "map.yaml"


def test_an_entry_of_a_hardware_map(hardware_map: Path) -> None:
    """By its id, or the only one that is connected; as an address on the command line too."""
    assert board_port(f"twister:{hardware_map}") == BoardPort("/dev/ttyACM0", 9600)
    assert board_port(f"twister:{hardware_map}#0002") == BoardPort("/dev/ttyACM1", 115_200)
    port = opener(f"twister:{hardware_map}#0002")
    assert isinstance(port, Port)
    assert port.kind == "serialport"


@pytest.mark.parametrize(
    ("part", "why"),
    [("#9", "0 boards 9; name one of 0001"), ("#0003", "has no serial port"), ("#0004", "'fast' is not a number")],
)
def test_an_entry_that_is_not_there(hardware_map: Path, part: str, why: str) -> None:
    """The error names those that there are, and what is missing."""
    with pytest.raises((UsageError, ContactError), match=why):
        board_port(f"twister:{hardware_map}{part}")


@pytest.mark.parametrize("text", ["- [", "a: 1", "- 1", "&a [*a]", "x" * (1 << 21)])
def test_what_is_no_map_is_refused(tmp_path: Path, text: str) -> None:
    """A file from outside: whatever is in it, the error names it."""
    (tmp_path / "map.yaml").write_text(text)
    with pytest.raises(UsageError, match="no hardware map"):
        board_port(f"twister:{tmp_path}/map.yaml")


@pytest.mark.parametrize("board", ["labgrid:", "other:x", "twister:", object()])
def test_what_is_no_board_is_refused(board: object) -> None:
    """The error has the forms."""
    with pytest.raises(UsageError, match="is not a board"):
        board_port(board)


def test_a_target_lets_go_of_its_console() -> None:
    """A driver that has the port is deactivated: only one of two readers gets an answer."""
    local, remote = (
        SimpleNamespace(name="console", port="/dev/ttyUSB0", speed=9600),
        SimpleNamespace(name="other", host="lab", port=4000, speed=115_200, protocol="raw"),
    )
    freed = list[object]()
    driver = SimpleNamespace(port=local)
    target = SimpleNamespace(
        name="main",
        resources=[local, SimpleNamespace()],
        drivers=[driver, 1],
        get_resource=None,
        deactivate=freed.append,
    )
    assert (board_port(target), freed) == (BoardPort("/dev/ttyUSB0", 9600), [driver])
    target.resources.append(remote)
    assert board_port(target, "other") == BoardPort("socket://lab:4000", 115_200)
    with pytest.raises(ContactError, match=r"has 2 serial ports \(console, other\)"):
        board_port(target)
    remote.protocol = "rfc2217"
    assert board_port(remote).url == "rfc2217://lab:4000"


def test_a_dut_lets_go_of_its_port() -> None:
    """That of pytest-embedded reads in a thread, which is ended."""
    closed = list[int]()
    dut = SimpleNamespace(serial=SimpleNamespace(port="/dev/pts/7", baud=9600, close=lambda: closed.append(1)))
    assert (board_port(dut), closed) == (BoardPort("/dev/pts/7", 9600), [1])


def test_an_address_of_labgrid_needs_labgrid(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has a fork of pyserial of its own, and so an environment of its own."""
    monkeypatch.setitem(sys.modules, "labgrid", None)
    with pytest.raises(UsageError, match="in an environment of its own"):
        board_port("labgrid:place.yaml#main")


CLIENT = """#!/bin/sh
echo "$3" >>{folder}/asked
case "$3" in
env) [ -e {folder}/held ] && cat {folder}/env && exit 0; why="place $2 is not acquired" ;;
acquire) [ -e {folder}/alice ] || {{ touch {folder}/held; exit 0; }}
  why="Place $2 is already acquired by lab/alice. To work simultaneously, alice can allow it." ;;
release) rm {folder}/held && exit 0 ;;
esac
echo "labgrid-client: Error: $why" >&2
exit 1
"""
ENV = """
targets:
  board-7:
    resources:
    - NetworkSerialPort: {name: console, protocol: raw, port: 4000, speed: 9600, host: lab}
    - NetworkSerialPort: {name: other, protocol: rfc2217, port: 4001, speed: 115200, host: lab}
    - NetworkPowerPort: {model: gude, host: lab, index: 1}
"""


@pytest.fixture
def coordinator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which `labgrid-client` keeps who has a place; `asked` has what it was asked."""
    client = tmp_path / "labgrid-client"
    client.write_text(CLIENT.format(folder=tmp_path))
    client.chmod(0o755)
    (tmp_path / "env").write_text(ENV)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    return tmp_path


def asked(coordinator: Path) -> list[str]:
    """Return what the client was asked, and forget it."""
    found = (coordinator / "asked").read_text().split()
    (coordinator / "asked").unlink()
    return found


def test_a_place_is_acquired_and_released(coordinator: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that no one has, until the program ends; one that is acquired already is used and kept."""
    at_exit = list[Callable[[], None]]()
    monkeypatch.setattr(atexit, "register", at_exit.append)
    assert board_port("labgrid:board-7#console") == BoardPort("socket://lab:4000", 9600)
    assert asked(coordinator) == ["env", "acquire", "env"]
    assert board_port("labgrid:board-7#other") == BoardPort("rfc2217://lab:4001", 115_200)
    assert asked(coordinator) == ["env"]
    [release] = at_exit
    release()
    assert asked(coordinator) == ["release"]
    assert not (coordinator / "held").exists()
    release()  # by hand in the meantime: no error at the end of a program


def test_a_place_that_someone_else_has(coordinator: Path) -> None:
    """The error is labgrid's sentence, with who has it."""
    (coordinator / "alice").touch()
    with pytest.raises(ContactError, match=r"board-7: labgrid-client acquire: Place .* by lab/alice\. To work"):
        board_port("labgrid:board-7")


def test_a_place_with_two_consoles(coordinator: Path) -> None:
    """Their names are in the error."""
    (coordinator / "held").touch()
    with pytest.raises(ContactError, match=r"2 serial ports \(console, other\); name one of them after a #"):
        board_port("labgrid:board-7")


def test_a_place_needs_the_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be in an environment of its own, but on the PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(UsageError, match="needs labgrid-client on the PATH"):
        board_port("labgrid:board-7")
