"""Standard streams that are closed, full, of another encoding, or a terminal."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import machine
from tests.e2e.entities import SECONDS
from tests.e2e.tester import readable

pytestmark = pytest.mark.real

OTF = [sys.executable, "-c", "from otf.cli import main; main()"]


def shell(line: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of a shell in which `otf` is the command line; nobody sees a traceback."""
    script = f'otf() {{ "{sys.executable}" -c "from otf.cli import main; main()" "$@"; }}\n{line}'
    done = subprocess.run(
        ["/bin/bash", "-c", script], capture_output=True, timeout=SECONDS, check=False, env={**os.environ, **more}
    )
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr
    return done


def test_a_reader_who_has_seen_enough() -> None:
    """`otf list | head -1` says nothing of a broken pipe, and ends well."""
    done = shell("otf list | head -1; echo ${PIPESTATUS[0]}")
    assert (done.stdout.splitlines()[-1], done.stderr) == (b"0", b"")


def test_the_verdict_stays_where_nobody_reads(folder: Path) -> None:
    """A failure is status 1, also where the reader of the report has gone."""
    machine(folder)
    done = shell("otf run machine.py:make --set broken=true --seed 1 | true; echo ${PIPESTATUS[0]}")
    assert (done.stdout, done.stderr) == (b"1\n", b"")


def test_a_full_disk_behind_standard_output() -> None:
    """What cannot be printed is told on the other channel: status 2."""
    done = shell("otf list >/dev/full")
    assert done.returncode == 2
    assert done.stderr == b"otf: standard output cannot be written: No space left on device\n"


def test_a_full_disk_behind_a_trace(folder: Path) -> None:
    """A trace that cannot be written to its end ends the run with a message: status 2."""
    machine(folder)
    # what measures the coverage of tests writes files, too
    done = shell("unset ${!COVERAGE*}; ulimit -f 2; otf run machine.py --steps 10000 --traces 1 --out out")
    assert done.returncode == 2
    assert b"out/path-0001.jsonl: the trace cannot be written (File too large); choose another folder" in done.stderr


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("otf list >&-", 0),
        ("otf run nowhere.py 2>&-", 2),
        ("otf run coffee --traces 1 >&- 2>&-", 2),
        ("otf step coffee <&-", 0),
        ("otf replay - <&-", 2),
    ],
)
def test_closed_streams(line: str, status: int) -> None:
    """Closed streams change no status, but a pass that nobody can read is none."""
    assert shell(line).returncode == status


def test_a_document_alone_where_standard_error_is_closed() -> None:
    """What belongs on standard error does not go to standard output instead."""
    done = shell("otf run nowhere.py --json 2>&-")
    assert done.stdout.startswith(b"{")
    assert done.stdout.endswith(b"}\n")


def test_a_locale_that_knows_nothing() -> None:
    """Letters that a locale does not have are escaped, and strange bytes on standard input are no reason to fail."""
    done = shell("printf '\\xff\\n' | otf step coffee", PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONUTF8="0")
    assert done.returncode == 0
    assert b"'\\\\xff' is not a command" in done.stdout


def on_a_terminal(*arguments: str, until: bytes, send: bytes = b"") -> bytes:
    """What a command shows on a terminal, up to its end."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([*OTF, *arguments], stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = _shown(ours, until)
        os.write(ours, send)
        shown += _shown(ours, b"\0")
        process.wait(SECONDS)
    os.close(ours)
    return re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", shown)  # without colours and movements of the cursor


def _shown(terminal: int, until: bytes) -> bytes:
    shown = b""
    while until not in shown and readable(terminal):
        try:
            shown += os.read(terminal, 65536)
        except OSError:  # the other side of the terminal is closed
            break
    return shown


def test_a_terminal_is_asked() -> None:
    """On a terminal `step` has a prompt."""
    assert b"> " in on_a_terminal("step", "coffee", until=b"> ", send=b"quit\n")


@pytest.mark.parametrize("fault", ["none", "dry"])
def test_progress_on_a_terminal(folder: Path, fault: str) -> None:
    """On a terminal a board tells paths, steps, states and failures; with a failure, how far shrinking has come."""
    arguments = ("run", "coffee", "--set", f"fault={fault}", "--set", "quiescence=0.01", "--seed", "1", "--traces", "3")
    shown = on_a_terminal(*arguments, until=b"traces: ")
    assert b"paths" in shown
    assert b"/3 " in shown
    assert b" steps, " in shown
    assert b"possible states now: " in shown
    assert b"pairs of both" in shown
    assert (b"1 failure\r" in shown) == (fault == "dry")
    assert (b"shrinking" in shown) == (fault == "dry")
    assert list(folder.iterdir()) == [folder / "otf-runs"]


def test_silence_in_a_pipe() -> None:
    """In a pipe nothing moves: standard error is empty."""
    done = shell("otf run coffee --traces 3")
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("command", ["otf --help", "otf run --help", "otf --version"])
def test_help_for_a_full_disk(command: str) -> None:
    """A page of help that cannot be written is told in a sentence, like all else."""
    done = shell(f"{command} >/dev/full")
    assert done.returncode == 2
    assert done.stderr == b"otf: standard output cannot be written: No space left on device\n"


def test_a_failure_for_a_full_disk(folder: Path) -> None:
    """A failure is status 1, and its verdict is told beside the disk that is full."""
    machine(folder)
    done = shell("otf run machine.py:make --set broken=true --seed 1 >/dev/full")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == b"otf: FAIL: 1 kind of failure"
