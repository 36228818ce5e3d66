"""Entities that misbehave, as small programs, and a look at which processes are left."""

import os
import select
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic

from otf.models.conference.bench import REFERENCE

SECONDS = 20.0  # a bound for what takes milliseconds
BASE = f"""
import os, runpy, select, signal, socket, sys, time

given = list(zip(sys.argv[1::2], sys.argv[2::2]))


def address(text):
    host, _, port = text.rpartition(":")
    return host, int(port)


peers = [address(value.partition("=")[2]) for name, value in given if name == "--peer"]
own = address(dict(given)["--listen"])


def tell(word):
    pipe = os.open(os.path.join(os.path.dirname(__file__), "told"), os.O_WRONLY)
    os.write(pipe, word.encode() + b"\\n")
    os.close(pipe)


def listen():
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(own)
    return sock


def ready():
    os.write(1, b"ready\\n")


def start():
    sock = listen()
    ready()
    select.select([0, sock], [], [])  # the first input
    return sock


def silent():
    while os.read(0, 65536):
        pass


def correct():
    sys.path.insert(0, {str(REFERENCE.parent)!r})
    runpy.run_path({str(REFERENCE)!r}, run_name="__main__")


"""


def entity(folder: Path, program: str) -> str:
    """Write an entity to a file; return the command line that starts it."""
    file = folder / "entity.py"
    file.write_text(BASE + program, encoding="utf-8")
    return shlex.join([sys.executable, "-I", "-S", str(file)])


def survivors(marker: Path) -> dict[int, str]:
    """The processes whose command line names something in this folder, or that were started from there."""
    found: dict[int, str] = {}
    for process in Path("/proc").iterdir():
        if process.name.isdecimal() and int(process.name) != os.getpid():
            with suppress(OSError):
                words = (process / "cmdline").read_bytes().decode(errors="replace")
                found |= {int(process.name): words} if str(marker) in words else {}
    return found


def gone(marker: Path) -> bool:
    """Wait until none of these processes is left, if that is not long.

    One that was about to become another program is seen only once it has: so they are looked for again.
    """
    over = monotonic() + SECONDS
    while (left := survivors(marker)) and monotonic() < over:
        with suppress(ProcessLookupError):
            ended = os.pidfd_open(next(iter(left)))
            select.select([ended], [], [], max(0.0, over - monotonic()))
            os.close(ended)
    return not left
