"""Real systems, which nobody here wrote, do what their standards say, as far as they are asked here."""

from pathlib import Path

import pytest

from otf import run
from otf.cli.benches import load
from tests.real.needs import needs, needs_module

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
    pytest.param("irc", {}, 2, 200, marks=needs("ngircd")),
    pytest.param("modbus", {}, 1, 30, marks=[needs("socat"), needs_module("pymodbus")]),
    pytest.param("uboot", {}, 1, 30, marks=needs("qemu-system-arm", "u-boot-qemu")),
]


@pytest.mark.real
@pytest.mark.parametrize(("name", "parameters", "traces", "steps"), SYSTEMS)
def test_a_real_system_conforms(name: str, parameters: dict[str, str], traces: int, steps: int, tmp_path: Path) -> None:
    """A few paths against a fresh copy each: every answer, and every silence, is one that the standard allows."""
    summary = run(load(name, parameters), traces=traces, steps=steps, seed=3, out=tmp_path)
    assert summary.verdict == "pass"
    # a path ends at a known issue
    assert summary.steps == traces * steps or any(each.count for each in summary.known_issues)
