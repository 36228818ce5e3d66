"""The bench: a fresh server for every path, in a fresh folder with the files of the spec."""

from __future__ import annotations

import shlex
import socket
import subprocess
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from otf.adapter import Bench, Connect, Line, trace_may_set
from otf.adapter.child import words
from otf.adapters.process import open_process
from otf.errors import ContactError, UsageError
from otf.models.serving import GRACE, HOST, UNPACKED, chosen, free_port, known_issue, program, until_answered
from otf.models.tftp.messages import PORT, Read, TftpCodec
from otf.models.tftp.requirements import TFTP_REQUIREMENTS, Rfc
from otf.models.tftp.spec import ALSO, FILES, Timer, tftp
from otf.models.tftp.transfers import open_transfers

SERVERS: Final = {
    "atftpd": (
        ("atftpd", "atftpd"),
        "--daemon --no-fork --port {port} --bind-address {host} --user root.root --retry-timeout 1 {folder}",
        Timer(1.0, first=False),
    ),
    "hpa": (
        ("in.tftpd", "tftpd-hpa"),
        "-L -4 --address {host}:{port} --secure --create --permissive --user root --retransmit 200000 {folder}",
        Timer(0.2, doubles=True),
    ),
}
"""The program and the package of each server, its arguments, and its timer."""

FIRST: Final = "first"
"""A slow tester also causes it: with a faster clock a block is due again after some milliseconds. So every campaign may
show it.
"""
KNOWN: Final = {
    FIRST: known_issue(
        "atftpd 0.8.0 sends the first block again cut to three bytes", "Undecodable(raw=b'\\x00\\x03\\x00'"
    ),
    "repeat": known_issue(
        "atftpd 0.8.0 does not acknowledge a block that comes a third time",
        "Data(",
        "nothing more",
        req=Rfc.RFC1350_2_AGAIN,
    ),
    "duplicate": known_issue(
        "atftpd 0.8.0 answers a duplicate acknowledgement with data", "Ack(", "Data(", req=Rfc.RFC1123_4_2_3_1
    ),
}
"""The known issues of atftpd that each of `ALSO` shows."""


@trace_may_set(server=SERVERS, also=ALSO)
def bench(*, server: str = "atftpd", timeout: float = 0.0, also: str = "") -> Bench:
    """Return the bench of a TFTP server: atftpd, hpa, or your own (a command with {host}, {port} and {folder}).

    If `server` is a command line, `timeout` is the number of seconds after which the server repeats a block that was
    not acknowledged. `also` adds inputs that the bench leaves out by default: `duplicate`, `first` or `repeat`. Raises
    UsageError for a command line without a `timeout`, and for another word in `also`.

    >>> bench().name
    'tftp'
    """
    chosen(also, ALSO)
    if server not in SERVERS and not timeout:
        message = f"server={server}: known are {', '.join(SERVERS)}; of another one say the timeout as well"
        raise UsageError(message)
    timer = SERVERS[server][2] if server in SERVERS else Timer(timeout)
    if also == FIRST:
        timer = replace(timer, first=True)
    return Bench.on_ports(
        name="tftp",
        known_issues=tuple(KNOWN[each] for each in KNOWN if each in {FIRST, also}) if server == "atftpd" else (),
        spec=tftp(timer, also),
        codec=TftpCodec(),
        connect=_connect(server),
        outputs=(PORT,),
        inputs="uioco",
        quiescence=0.020,
        latency=0.005,
        busy=0.010,
        requirements=TFTP_REQUIREMENTS,
        # RFC 1350: a client learns the port of its transfer from the first answer, and sends the next packet there
        clients=(),
    )


def _connect(server: str) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncGenerator[Mapping[str, Line], None]:
        address = HOST, free_port(socket.SOCK_DGRAM)
        with tempfile.TemporaryDirectory(prefix="otf-tftp-") as folder:
            _fill(Path(folder))
            async with open_process(_command(server, address[1], folder), ready=None, grace=GRACE) as process:
                await until_answered(partial(open_transfers, address), TftpCodec().encode(Read("missing")), process)
                async with open_transfers(address) as line:
                    yield {PORT: line}

    return connect


def _command(server: str, port: int, folder: str) -> list[str]:
    line = server
    if server in SERVERS:
        named, arguments, *_ = SERVERS[server]
        line = f"{shlex.quote(_program(*named))} {arguments}"
    for name, value in {"host": HOST, "port": port, "folder": shlex.quote(folder)}.items():
        line = line.replace(f"{{{name}}}", str(value))
    return words(line)


def _program(name: str, package: str) -> str:
    path = program(name, package)
    if package == "tftpd-hpa":
        # atftpd brings a program of the same name
        version = subprocess.run([path, "-V"], check=False, capture_output=True, text=True).stdout  # noqa: S603 -- see above
        if not version.startswith("tftp-hpa"):
            message = f"{path} is not the one of {package}; that package goes into {UNPACKED} beside atftpd"
            raise ContactError(message)
    return path


def _fill(folder: Path) -> None:
    # servers drop their privileges, and offer only what everybody may read and write
    folder.chmod(0o777)
    for name, content in FILES.items():
        file = folder / name
        file.write_bytes(b"".join(fill.encode() * size for fill, size in content))
        file.chmod(0o666)
