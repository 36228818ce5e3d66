"""What a bench, a file or the machine may do to a command: the cause is told, and no defect of otf."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from otf.cli import user_code
from tests.cli.command import failed, otf

WARNED: list[str] = []
OWN = """
from otf import Bench, Spec, goto, lines
from otf.adapters import inprocess


class Mute:
    def __repr__(self):
        raise ValueError("no words")


class Never:
    def __eq__(self, other):
        return False

    def __hash__(self):
        return 1


def made(spec):
    return Bench(spec, ports={"p": inprocess(lambda: lambda data: data)}, codec=lines({int: "{}"}))


def muted(*, given: object = Mute()):
    return made(Spec(lambda state, inp: [goto(state, inp)], 0, [1, 2]))


def mute(*, given: str = ""):
    return made(Spec(lambda state, inp: [goto(Mute(), inp)], Mute(), [1, 2]))


def never():
    return made(Spec(lambda state, inp: [goto(Never(), inp)], Never(), [1, 2]))
"""


def limited(folder: Path, limit: int, value: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command with a limit of the system."""

    def lower() -> None:
        resource.setrlimit(limit, (value, value))

    call = (sys.executable, "-m", "otf", *map(str, arguments))
    return subprocess.run(call, cwd=folder, preexec_fn=lower, capture_output=True, text=True, timeout=100, check=False)


@pytest.mark.real
@pytest.mark.parametrize(
    ("limit", "value"),
    [
        *((resource.RLIMIT_NOFILE, files) for files in (5, 7, 8, 16, 20)),
        *((resource.RLIMIT_AS, mega * 1_000_000) for mega in (40, 50, 60, 80, 100)),
    ],
)
def test_a_low_limit_of_the_system(folder: Path, limit: int, value: int) -> None:
    """It is named as the cause, or the campaign passes; it is not a defect of otf, and takes no time."""
    done = limited(folder, limit, value, "run", "coffee", "--seed", 1, "--traces", 1)
    assert "defect" not in done.stderr
    assert (done.returncode == 0) == done.stdout.startswith("PASS")
    if done.returncode:
        assert done.returncode in {2, 3}
        assert any(word in done.stderr for word in ("memory", "Too many open files", "thread"))


@pytest.mark.parametrize(
    ("says", "limit"),
    [
        ("resource.so: cannot open shared object file: Too many open files", "files (ulimit -n)"),
        ("resource.so: failed to map segment from shared object", "memory (ulimit -v)"),
    ],
)
def test_a_module_that_the_machine_does_not_load(monkeypatch: pytest.MonkeyPatch, says: str, limit: str) -> None:
    """An import may be what a limit of the system hits first: no defect of otf."""

    def unloaded() -> dict[str, str]:
        raise ImportError(says)

    monkeypatch.setattr("otf.cli.listing.sources", unloaded)
    done = otf("list")
    assert (done.status, f"gives the command no more {limit}: ImportError: {says}; raise" in done.err) == (3, True)


@pytest.mark.real
def test_a_crash_below_a_limit_of_memory(folder: Path) -> None:
    """Python itself may crash where it has no memory: the sentence says so, and nothing is decided."""
    (folder / "crash.py").write_text("import os\n\nos.kill(os.getpid(), 11)\n", encoding="utf-8")
    done = limited(folder, resource.RLIMIT_AS, 4_000_000 * 1024, "run", "crash.py")
    assert done.returncode == 3
    assert "was killed by SIGSEGV, or by a lack of memory (ulimit -v: 4,000,000 KiB)" in done.stderr


def test_a_number_of_5000_digits(folder: Path) -> None:
    """Python refuses to read it, and so the file is none that describes a bench."""
    (folder / "big.toml").write_text(f'bench = "coffee"\n[set]\nfault = {"9" * 5000}\n', encoding="utf-8")
    assert failed("run", "big.toml").startswith("otf: big.toml: not TOML: Exceeds the limit")


@pytest.mark.real
def test_help_without_a_reader(folder: Path) -> None:
    """`otf --help | true` ends as if all had been read."""
    ours, theirs = os.pipe()
    os.close(ours)
    call = (sys.executable, "-m", "otf", "--help")
    done = subprocess.run(call, stdout=theirs, stderr=subprocess.PIPE, text=True, check=False, timeout=60, cwd=folder)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.real
@pytest.mark.parametrize("more", [(), ("--json",), ("--jobs", 2)])
def test_a_pass_that_nobody_reads(folder: Path, more: tuple[object, ...]) -> None:
    """It is none: whoever looks at the exit status alone would believe it."""
    ours, theirs = os.pipe()
    os.close(ours)
    call = (sys.executable, "-m", "otf", "run", "coffee", "--seed", "1", "--traces", "1", *map(str, more))
    done = subprocess.run(call, stdout=theirs, stderr=subprocess.PIPE, text=True, check=False, timeout=60, cwd=folder)
    os.close(theirs)
    assert (done.returncode, "standard output cannot be written: Broken pipe" in done.stderr) == (2, True)


HARM = """
import os, shutil
from pathlib import Path
def harmed(*, how: str = ""):
    done = []
    def step(state, inp):
        if state == 3 and not done:
            done.append(exec(how))
        return [goto((state + 1) % 9, inp)]
    return made(Spec(step, 0, [1, 2]))
"""


@pytest.mark.parametrize(
    "how",
    [
        "os.mkdir('x'); os.chdir('x')",
        "shutil.rmtree('out')",
        "os.rename('out', 'x')",
        "os.truncate('out/campaign.jsonl', 0)",
    ],
)
def test_a_folder_that_is_lost_on_the_way(folder: Path, how: str) -> None:
    """A campaign whose traces and log are not where it says has shown nothing."""
    (folder / "own.py").write_text(OWN + HARM, encoding="utf-8")
    done = otf("run", "own.py:harmed", "--set", f"how={how}", "--seed", 1, "--traces", 2, "--steps", 8, "--out", "out")
    assert done.status == 2
    assert re.search("the (folder was moved or removed|log was cut) while this run was writing to it", done.err)


@pytest.mark.parametrize("bench", ["muted", "mute"])
def test_a_repr_that_raises(folder: Path, bench: str) -> None:
    """A parameter or a state that cannot be shown is tested like any other, and driven again from its trace."""
    (folder / "own.py").write_text(OWN, encoding="utf-8")
    done = otf("run", f"own.py:{bench}", "--seed", 1, "--traces", 2, "--steps", 5, "--out", "out")
    assert done.status == 0
    trace = next((folder / "out").glob("path-*.jsonl"))
    for command in ("replay", "rerun", "show"):
        assert otf(command, trace, "--bench", f"own.py:{bench}").status == 0


def test_an_eq_that_is_always_false(folder: Path) -> None:
    """No state would ever be met again: the model is broken, and this is said at once."""
    (folder / "own.py").write_text(OWN, encoding="utf-8")
    for command in ("run", "explore"):
        assert "a Never that does not equal itself would never be met again" in failed(command, "own.py:never")


def test_a_bench_that_hangs_at_its_import(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After some seconds the line is told at which it is."""
    monkeypatch.setattr(user_code, "SLOW", 0.05)
    monkeypatch.setattr(user_code, "warn", WARNED.append)
    line = OWN.count("\n") + 2
    hang = f"while not any('slow.py, line {line};' in told for told in WARNED): pass"
    (folder / "slow.py").write_text(f"{OWN}from tests.cli.test_limits import WARNED\n{hang}\n", encoding="utf-8")
    assert otf("run", "slow.py:mute", "--traces", 1, "--steps", 1).status == 0
    assert re.match(r"slow.py has been loading for [\d.]+ s, now at .*/slow.py, line \d+; Ctrl-C ends it", WARNED[-1])


@pytest.mark.real
@pytest.mark.parametrize("said", ["", '{"options": '])
def test_a_worker_whose_coordinator_was_killed_at_the_start(said: str) -> None:
    """It ends without a word."""
    call = (sys.executable, "-m", "otf.cli.worker")
    done = subprocess.run(call, input=said, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
