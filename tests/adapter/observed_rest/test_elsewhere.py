"""Whether a line leads away from this machine."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from otf.adapter.observed_rest import elsewhere
from otf.adapter.observed_rest.elsewhere import carriers, carriers_seen, is_abroad, is_device

SERIAL = os.makedev(188, 0)


def _port(folder: Path, *, subsystem: str = "tty", hardware: bool = True) -> Path:
    port = folder / "dev" / "char" / "188:0"
    port.mkdir(parents=True)
    (folder / "class" / subsystem).mkdir(parents=True)
    (port / "subsystem").symlink_to(folder / "class" / subsystem)
    if hardware:
        (port / "device").symlink_to(folder)
    return folder


def test_a_serial_port_of_the_hardware(tmp_path: Path) -> None:
    """It has a device behind it; the terminal of a program has none, and a mouse is not a serial port."""
    assert is_device(SERIAL, _port(tmp_path / "usb"))
    assert not is_device(SERIAL, _port(tmp_path / "gadget", hardware=False))
    assert not is_device(SERIAL, _port(tmp_path / "mouse", subsystem="input"))
    assert not is_device(SERIAL, tmp_path)


@pytest.mark.real
@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "fe80::1%lo", "255.255.255.255", "224.0.0.1", "board.local", ""])
def test_what_is_on_this_machine_or_may_be(host: str) -> None:
    """The loopback, what goes to all, and names are no other host."""
    assert not is_abroad(host)


@pytest.mark.real
def test_an_own_address_is_no_other_host() -> None:
    """Whatever interface has it: the kernel takes the packets back."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect(("192.0.2.77", 9))
        except OSError:
            pytest.skip("this machine has no route to other hosts")
        assert not is_abroad(sock.getsockname()[0])


def _interface(folder: Path, name: str, *below: str, hardware: bool = False) -> None:
    at = folder / "class" / "net" / name
    at.mkdir(parents=True)
    for each in below:
        (at / f"lower_{each}").mkdir()
    if hardware:
        (at / "device").mkdir()


def test_interfaces_that_lead_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A card does, and what is made of cards only; a bridge with a guest of this machine, or a tunnel, may not."""
    monkeypatch.setattr(elsewhere, "_SYS", tmp_path)
    _interface(tmp_path, "eth0", hardware=True)
    _interface(tmp_path, "tap0")
    _interface(tmp_path, "eth0.5", "eth0")
    _interface(tmp_path, "br0", "eth0", "tap0")
    assert [is_abroad(f"fe80::1%{name}") for name in ("eth0", "eth0.5", "br0", "tap0")] == [True, True, False, False]


def test_what_carries_bytes(tmp_path: Path) -> None:
    """Where the kernel's threads are hidden, as in a container, nothing is known to."""
    assert carriers(tmp_path) == []
    assert carriers_seen(tmp_path) == frozenset()
    (tmp_path / "2").mkdir()
    (tmp_path / "2" / "comm").write_text("sh\n")
    assert carriers_seen(tmp_path) == frozenset()
