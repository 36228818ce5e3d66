"""Departures of MQTT brokers that a campaign seldom meets, by fixed packets.

`python -m benchmarks.defects.packets quota` starts the broker on this machine, sends the packets, and prints what each
client got, and whether the broker departs. mosquitto is the Debian package; aedes is that of the current folder
(`npm install aedes@1`, or `aedes@2.0.0-beta.1`).
"""

from __future__ import annotations

import argparse
import re
import select
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Final

import otf.models.mqtt
from benchmarks.defects.scripts import SCRIPTS, Script
from otf.models.serving import HOST, free_port, program

SILENT: Final = 0.3
"""Seconds without a byte, after each client has the answer to a PINGREQ."""
PING, PONG = bytes.fromhex("c0 00"), "d0 00"
STARTING: Final = 20.0
AEDES: Final = Path(otf.models.mqtt.__file__).with_name("aedes.js")


def main() -> None:
    """Send the packets of one script to a fresh broker."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defects.packets", description=__doc__)
    parser.add_argument("script", choices=[*SCRIPTS])
    script = SCRIPTS[parser.parse_args().script]
    port = free_port(socket.SOCK_STREAM)
    command = _command(script.broker, port)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:  # noqa: S603 -- ours
        try:
            answer = _sent(script, port, process)
        finally:
            process.terminate()
    departs = re.search(script.right, answer, re.DOTALL) is None
    print(f"{script.sentence}\n{script.broker} {'departs' if departs else 'keeps to it'}")


def _command(broker: str, port: int) -> list[str]:
    if broker == "mosquitto":
        return [program("mosquitto", "mosquitto"), "-p", str(port)]
    return [program("node", "nodejs"), str(AEDES), str(port), "1" if broker == "aedes" else "2"]


def _sent(script: Script, port: int, process: subprocess.Popen[bytes]) -> str:
    """Send all packets, print each with what came after it, and return what came after the last."""
    open_clients = dict[str, socket.socket]()
    answer = ""
    _opened(port, process).close()
    for line in script.lines.strip().splitlines():
        client, _, packet = line.strip().partition(" ")
        if packet == "end":
            open_clients.pop(client).close()
        else:
            if client not in open_clients:
                open_clients[client] = _opened(port, process)
            open_clients[client].sendall(bytes.fromhex(packet))
        answer = _answers(open_clients)
        print(f"{client:2} {packet}  ->  {answer or 'nothing'}")
    for each in open_clients.values():
        each.close()
    return answer


def _opened(port: int, process: subprocess.Popen[bytes]) -> socket.socket:
    end = monotonic() + STARTING
    while process.poll() is None and monotonic() < end:
        with suppress(OSError):
            return socket.create_connection((HOST, port))
        sleep(0.05)
    sys.exit("the broker did not start")


def _answers(clients: dict[str, socket.socket]) -> str:
    """Ping all clients, and return what came to each, without the answers to the pings."""
    came = dict[str, str]()
    for name, each in [*clients.items()]:
        each.sendall(PING)
        while name in clients and not re.search(rf"{PONG}\b", came.get(name, "")):
            _read(name, clients, came)
    while ready := select.select([*clients.values()], [], [], SILENT)[0]:
        for name in [name for name, each in clients.items() if each in ready]:
            _read(name, clients, came)
    told = {name: data.replace(f" {PONG}", "", 1) for name, data in came.items()}
    return ", ".join(f"{name}:{data}" for name, data in told.items() if data)


def _read(name: str, clients: dict[str, socket.socket], came: dict[str, str]) -> None:
    """Add what comes to a client; "end" is the end of its connection."""
    try:
        data = clients[name].recv(65_536)
    except ConnectionError:
        data = b""
    came[name] = f"{came.get(name, '')} {data.hex(' ') or 'end'}"
    if not data:
        clients.pop(name).close()


if __name__ == "__main__":
    main()
