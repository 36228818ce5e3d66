"""Real systems, which nobody here wrote, do what their standards say, as far as they are asked here."""

import socket
from pathlib import Path

import pytest

from otf import run
from otf.adapter import Bench, Expect, Life, Listening
from otf.adapters import tcp
from otf.cli.benches import load
from otf.models.serving import free_port
from otf.models.uboot.bench import FIRMWARE
from otf.models.uboot.messages import COUNTDOWN, PORT, PROMPT, UbootCodec, prompts
from otf.models.uboot.spec import BASE, uboot
from tests.real.needs import decided, needs, needs_module

SYSTEMS = [
    pytest.param("gtp", {}, 2, 60, marks=needs("gnugo")),
    pytest.param("uci", {}, 2, 30, marks=needs("stockfish")),
    pytest.param("coap", {}, 1, 40, marks=needs("libcoap3-bin")),
    pytest.param("tftp", {}, 1, 20, marks=needs("atftpd"), id="tftp-atftpd"),
    pytest.param("tftp", {"server": "hpa"}, 1, 30, marks=needs("tftpd-hpa"), id="tftp-hpa"),
    pytest.param("jobs", {}, 2, 60, marks=needs("beanstalkd")),
    pytest.param("memcached", {}, 2, 200, marks=needs("memcached"), id="memcached-tcp"),
    pytest.param("memcached", {"transport": "udp"}, 1, 60, marks=needs("memcached"), id="memcached-udp"),
    pytest.param("memcached", {"expiry": "true"}, 1, 30, marks=needs("memcached"), id="memcached-expiry"),
    pytest.param("redis", {}, 2, 200, marks=needs("redis-server")),
    pytest.param("redis", {"server": "fakeredis"}, 1, 60, marks=needs_module("fakeredis"), id="redis-fakeredis"),
    pytest.param("smtp", {}, 1, 60, marks=needs_module("aiosmtpd")),
    pytest.param("dns", {}, 1, 60, marks=needs_module("dnslib")),
    pytest.param("mqtt", {}, 1, 40, marks=needs("mosquitto"), id="mqtt-3.1.1"),
    pytest.param("mqtt", {"version": "5"}, 1, 25, marks=[needs("mosquitto"), pytest.mark.slow], id="mqtt-5"),
    pytest.param("irc", {}, 2, 200, marks=needs("ngircd")),
    pytest.param("modbus", {}, 1, 30, marks=[needs("socat"), needs_module("pymodbus")]),
    pytest.param("chat", {}, 2, 60, marks=needs_module("websocket_server")),
    pytest.param("http", {}, 1, 40, marks=needs_module("h11")),
    pytest.param("websocket", {}, 1, 40, marks=needs_module("wsproto")),
    pytest.param("supply", {}, 1, 12, marks=needs_module("pyvisa_sim")),
    # under CC BY-NC-SA: users install it themselves
    pytest.param("elm327", {}, 1, 60, marks=[needs_module("elm"), pytest.mark.slow]),
    pytest.param("uboot", {}, 1, 30, marks=needs("qemu-system-arm", "u-boot-qemu")),
    pytest.param("bootloader", {}, 1, 60, marks=[needs("simavr", "arduino-core-avr"), pytest.mark.slow]),
    pytest.param(
        "microbit", {}, 1, 60, marks=[needs("qemu-system-arm", "firmware-microbit-micropython"), pytest.mark.slow]
    ),
]


@pytest.mark.real
@pytest.mark.parametrize(("name", "parameters", "traces", "steps"), SYSTEMS)
def test_a_real_system_conforms(name: str, parameters: dict[str, str], traces: int, steps: int, tmp_path: Path) -> None:
    """A few paths against a fresh copy each: every answer, and every silence, is one that the standard allows."""
    summary = decided(load(name, parameters), tmp_path, traces=traces, steps=steps, seed=3)
    assert summary.verdict == "pass"
    # a path ends at a known issue
    assert summary.steps == traces * steps or any(each.count for each in summary.known_issues)


@pytest.mark.real
@pytest.mark.slow
@needs("qemu-system-arm", "u-boot-qemu")
def test_a_board_lives_for_a_campaign_and_is_reset_at_its_prompt(tmp_path: Path) -> None:
    """QEMU is started once; before each path the board is reset over its serial line, and what it prints awaited."""
    port = free_port(socket.SOCK_STREAM)
    board = ["-M", "virt", "-m", "128M", "-nographic", "-nodefaults", "-nic", "none", "-monitor", "none"]
    qemu = ["qemu-system-arm", *board, "-bios", FIRMWARE, "-serial", f"tcp:127.0.0.1:{port},server=on,wait=off"]
    prompted, counting = Expect(PORT, PROMPT + b"$", 20.0), Expect(PORT, COUNTDOWN + b"$", 20.0)
    cleared = (PORT, f"mw.l {BASE:x} 0 100".encode())
    pids = set[int]()

    def well() -> None:
        assert life.lasting.server is not None
        pids.add(life.lasting.server.child.pid)

    life = Life(
        server=qemu,
        ready=Listening(port),
        keep=True,
        inband=[(PORT, b""), prompted, (PORT, b"reset"), counting, (PORT, b""), prompted, cleared, prompted],
        health=well,
        timeout=30.0,
    )
    tested = Bench.on_ports(
        name="board",
        spec=uboot(""),
        codec=UbootCodec(),
        ports={PORT: tcp(f"127.0.0.1:{port}", framing=prompts())},
        outputs=(PORT,),
        inputs="uioco",
        quiescence=0.03,
        latency=0.01,
        life=life,
    )
    summary = run(tested, traces=3, steps=20, seed=3, out=tmp_path)
    assert (summary.verdict, summary.steps) == ("pass", 60)
    assert len(pids) == 1
