"""The attack on otf itself: `python -m benchmarks.attack`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEEDS = """
import os, socket, subprocess, sys
from pathlib import Path
from benchmarks.watched import Watch
inside = Path(sys.argv[1]) / "inside"
inside.mkdir()
watch = Watch([inside])
watch.on = True
(inside / "mine").write_text("")
open(os.devnull, "w").close()
Path(sys.argv[0] or ".").exists()
assert watch.found == []
(inside.parent / "theirs").write_text("")
(inside / "mine").rename(inside.parent / "stolen")
subprocess.run(["true"])
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
    sock.sendto(b"", ("127.0.0.1", 9))
watch.on = False
print(*(each.partition(":")[0] for each in watch.found))
"""


def python(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run Python in the folder of the project."""
    call = [sys.executable, *map(str, arguments)]
    return subprocess.run(call, cwd=ROOT, check=False, capture_output=True, text=True)


def test_the_watch_hears_what_it_has_to_hear(tmp_path: Path) -> None:
    """Files outside, processes and addresses are noted, and what is allowed is not."""
    done = python("-c", DEEDS, tmp_path)
    assert (done.stderr, done.stdout.split()) == ("", ["open", "os.rename", "subprocess.Popen", "socket.sendto"])


@pytest.mark.slow
def test_nothing_is_found() -> None:
    """A thousand damaged traces, captures, failures, descriptions and names, and some through the real command."""
    done = python("-m", "benchmarks.attack", "--cases", 1000, "--real", 10, "--seed", 7)
    assert done.returncode == 0, done.stdout[-3000:]
