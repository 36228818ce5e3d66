"""Installs the Debian packages that the tests of real systems need: `python -m tests.debian`, as root.

Whoever is not root, or not on Debian, is told what is missing; the tests that need it are skipped, and counted. No
service is started: while packages are installed, a policy forbids it, as Debian has it for such cases.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from otf.models.bootloader import FIRMWARE
from otf.models.serving import UNPACKED, found

PROGRAMS = {
    "qemu-system-arm": "qemu-system-arm",
    "qemu-img": "qemu-utils",
    "simavr": "simavr",
    "coap-server-notls": "libcoap3-bin",
    "atftpd": "atftpd",
    "ngircd": "ngircd",
    "beanstalkd": "beanstalkd",
    "memcached": "memcached",
    "mosquitto": "mosquitto",
    "redis-server": "redis-server",
    "gnugo": "gnugo",
    "stockfish": "stockfish",
    "socat": "socat",
    "tcpdump": "tcpdump",
    "faketime": "faketime",
}
FONT = "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf"
"""As wide as the fonts of phones: the widths of tables are measured with it."""
FILES = {
    "/usr/lib/u-boot/qemu_arm/u-boot.bin": "u-boot-qemu",
    "/usr/share/firmware-microbit-micropython/firmware.hex": "firmware-microbit-micropython",
    str(UNPACKED / "usr/sbin/in.tftpd"): "tftpd-hpa",
    FIRMWARE: "arduino-core-avr",
    FONT: "fonts-liberation",
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
"""Programs for the tests of pages, any of which will do; on Debian the package has the name of the first."""
BESIDE = ("tftpd-hpa", "arduino-core-avr")
"""Packages that are unpacked only: they conflict with others, or would bring a compiler along."""

SERVICES = ("atftpd", "beanstalkd", "memcached", "mosquitto", "ngircd", "redis-server")
POLICY = Path("/usr/sbin/policy-rc.d")
FETCHING = 120.0
"""Seconds for each call that asks another host: where none answers, the tests must not wait for long."""
FETCHING_BROWSER = 40.0
"""The same for the browser with all that it needs, up to 220 MB."""
INSTALLING = 300.0
QUICKLY = ("-o", "Acquire::http::Timeout=10", "-o", "Acquire::https::Timeout=10", "-o", "Acquire::Retries=1")


def browser_program() -> str | None:
    """Return the path of a browser, None if there is none."""
    return next(filter(None, map(found, BROWSERS)), None)


def missing() -> list[str]:
    """Return the packages that are not there."""
    programs = [package for program, package in PROGRAMS.items() if found(program) is None]
    if browser_program() is None:
        programs.append(BROWSERS[0])
    return sorted({*programs, *(package for file, package in FILES.items() if not Path(file).exists())})


def main() -> None:
    """Install what is missing, or say so; the tests run in any case."""
    packages = missing()
    if not packages:
        return
    if os.geteuid() == 0 and found("apt-get") is not None:
        _install([package for package in packages if package not in {*BESIDE, *BROWSERS}])
        # by itself, since it is four times as large as the rest, and not every system has a package of this name
        _install([package for package in packages if package in BROWSERS], FETCHING_BROWSER)
        for package in set(packages) & set(BESIDE):
            _unpack(package)
    if still := missing():
        _say(f"some tests are skipped, as these Debian packages are missing: {', '.join(still)}")


def _install(packages: Sequence[str], fetching: float = FETCHING) -> None:
    if not packages:
        return
    command = ("apt-get", *QUICKLY, "install", "-y", "-qq", "--no-install-recommends", *packages)
    fetch = (*command, "--download-only")
    with _no_services():
        # the lists of packages may be old, or none
        update = ("apt-get", *QUICKLY, "update", "-qq")
        there = _ran(fetch, within=fetching) or (_ran(update, within=fetching) and _ran(fetch, within=fetching))
        done = there and _ran(command, within=INSTALLING)
    if not done:
        _say(f"could not be installed: {', '.join(packages)}")
    if Path("/run/systemd/system").is_dir():
        _ran(("systemctl", "disable", "--quiet", *(service for service in SERVICES if service in packages)))


def _unpack(package: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        # apt-get gives up its rights for the download
        Path(folder).chmod(0o777)
        _ran(("apt-get", *QUICKLY, "download", "-qq", package), folder)
        for archive in Path(folder).glob("*.deb"):
            UNPACKED.mkdir(parents=True, exist_ok=True)
            _ran(("dpkg", "-x", str(archive), str(UNPACKED)))


@contextmanager
def _no_services() -> Generator[None]:
    ours = not POLICY.exists()
    if ours:
        POLICY.write_text("#!/bin/sh\nexit 101\n")
        POLICY.chmod(0o755)
    try:
        yield
    finally:
        if ours:
            POLICY.unlink(missing_ok=True)


def _ran(command: Sequence[str], folder: str | None = None, within: float = FETCHING) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        subprocess.run(
            command,
            check=True,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=within,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def _say(text: str) -> None:
    sys.stderr.write(f"note: {text}\n")


if __name__ == "__main__":
    main()
