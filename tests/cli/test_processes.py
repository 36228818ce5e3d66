"""`otf run --processes`: the same paths as in one process, whichever process is killed, each counted once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from time import sleep

import pytest

from otf.campaign.journal_reader import Past
from tests.cli.command import failed, machine, otf

pytestmark = pytest.mark.real
COFFEE = ("coffee", "--seed", "5", "--no-saved")


def counted(out: Path) -> list[int]:
    """Return the paths that count, as often as they do."""
    lines = [line for line in (out / "campaign.jsonl").read_bytes().splitlines() if b'"event":"path counted"' in line]
    return sorted(json.loads(line)["path"] for line in lines if line.endswith(b"}"))


def begun(out: Path) -> int:
    """Return how often a path was begun."""
    journal = out / "campaign.jsonl"
    return journal.read_bytes().count(b'"path started"') if journal.is_file() else 0


def sent(out: Path) -> dict[str, list[object]]:
    """Return the inputs of each path."""
    events = {file.name: map(json.loads, file.read_bytes().splitlines()) for file in out.glob("path-????.jsonl")}
    return {name: [line["value"] for line in lines if line["event"] == "sent"] for name, lines in events.items()}


def learned(out: Path) -> list[object]:
    """Return what the paths that count covered together: visits of states with each input, silences, timers."""
    past = Past(out)
    found = past.knowledge(past.counted)
    return [found.visits, found.actions, found.timers, sorted(found.quiet), sorted(found.waits)]


def workers(pid: int) -> list[int]:
    """Return the children of a process, and theirs: a command works in a child."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, task.read_text().split()):
                found += [child, *workers(child)]
    return found


def command_of(pid: int) -> bytes:
    """Return the command line of a process; nothing of one that has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _kill_a_worker(run: subprocess.Popen[bytes], random: Random) -> None:
    """Kill a worker as soon as there is one."""
    while run.poll() is None:
        found = [pid for pid in workers(run.pid) if b"otf.cli.worker" in command_of(pid)]
        if found:
            with suppress(ProcessLookupError):
                os.kill(random.choice(found), signal.SIGKILL)
            return
        sleep(0.002)


def _kill_all(run: subprocess.Popen[bytes], _random: Random) -> None:
    run.send_signal(signal.SIGKILL)


def _run(folder: Path, arguments: list[str], random: Random, moments: list[int], kill: Callable[..., None]) -> int:
    """Run otf, and kill when the journal has begun so many paths; return the status."""
    command = [sys.executable, "-m", "otf", *arguments]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        for moment in moments:
            while run.poll() is None and begun(folder / "out") < moment:
                sleep(0.002)
            kill(run, random)
        return run.wait()


SLOW = pytest.mark.slow  # in pieces: on a busy machine a test may take two minutes


@pytest.mark.parametrize(
    ("kills", "paths", "seed"), [(2, 40, 2), *(pytest.param(25, 750, seed, marks=SLOW) for seed in range(1, 5))]
)
def test_killed_workers(folder: Path, kills: int, paths: int, seed: int) -> None:
    """Each path counts once, with the inputs and the coverage of one process, whatever was driven again."""
    size = ("--traces", str(paths), "--steps", "30")
    otf("run", *COFFEE, *size, "--jobs", "4", "--out", "one")
    random = Random(seed)
    moments = sorted(random.randrange(paths) for _ in range(kills))
    arguments = ["run", *COFFEE, *size, "--jobs", "2", "--processes", "2", "--out", "out"]
    assert _run(folder, arguments, random, moments, _kill_a_worker) == 0
    assert counted(folder / "out") == [*range(1, paths + 1)]
    assert sent(folder / "out") == sent(folder / "one")
    assert learned(folder / "out") == learned(folder / "one")


@pytest.mark.parametrize(("kills", "paths"), [(1, 40), pytest.param(20, 1200, marks=pytest.mark.slow)])
def test_a_killed_coordinator(folder: Path, kills: int, paths: int) -> None:
    """Its workers end with it, and the folder continues: each path counts once, with the same inputs and coverage."""
    size = ("--traces", str(paths), "--steps", "30")
    otf("run", *COFFEE, *size, "--jobs", "4", "--out", "one")
    random, arguments = Random(kills), ["run", *COFFEE, *size, "--jobs", "2", "--processes", "2", "--out", "out"]
    for kill in range(kills):
        moment = begun(folder / "out") + paths // (kills + 1)
        assert _run(folder, arguments, random, [moment], _kill_all) == -signal.SIGKILL or kill
        arguments = ["run", "--resume", "out"]
    assert otf("run", "--resume", "out", "--json").data["paths"] == paths
    assert counted(folder / "out") == [*range(1, paths + 1)]
    assert sent(folder / "out") == sent(folder / "one")
    assert learned(folder / "out") == learned(folder / "one")


def test_failures_of_workers(folder: Path) -> None:
    """Failures have one group for each signature, with the counts of one process, and are shrunk."""
    machine(folder)
    call = ("run", "machine.py:make", "--set", "broken=true", "--seed", 1, "--traces", 8, "--no-saved", "--json")
    one = otf(*call, "--jobs", 2, "--out", "one")
    two = otf(*call, "--processes", 2, "--out", "two")
    assert (one.status, two.status) == (1, 1)
    assert [(each["signature"], each["count"], each["shrunk"]["steps"]) for each in two.data["failures"]] == [
        (each["signature"], each["count"], each["shrunk"]["steps"]) for each in one.data["failures"]
    ]


def test_the_time_of_workers(folder: Path) -> None:
    """What takes the time is counted where it passes: a coordinator does not ask the model."""
    machine(folder, {"    match inp:\n": "    sum(range(1_000_000))\n    match inp:\n"})
    time = otf("run", "machine.py:make", "--traces", 2, "--processes", 2, "--out", "two", "--json").data["time"]
    assert time["model"] > 0


def test_coverage_of_workers(folder: Path) -> None:
    """Their traces show what is covered: the same as in one process, also of paths that fail."""
    machine(folder)
    call = ("run", "machine.py:make", "--set", "broken=true", "--seed", 3, "--traces", 6, "--steps", 6)
    more = ("--no-saved", "--no-shrink", "--until", "nothing-new=1h", "--json")
    one, two = otf(*call, *more, "--jobs", 2, "--out", "one"), otf(*call, *more, "--processes", 2, "--out", "two")
    assert (one.data["paths"], two.data["coverage"]) == (6, one.data["coverage"])


def test_a_number_of_processes(folder: Path) -> None:
    """A number that means nothing is refused."""
    assert "--processes many: write a number from 1 to 256, or auto" in failed("run", "coffee", "--processes", "many")
    assert not (folder / "otf-runs").exists() or not any((folder / "otf-runs").glob("*/path-*"))


@pytest.mark.parametrize(
    ("guard", "status", "message"),
    [
        ("raise SystemExit(3)", 2, "cannot begin: bench.py, line 3: it ended the program"),
        ("import os; os._exit(3)", 3, "4 worker processes died of path"),
    ],
)
def test_a_worker_that_cannot_begin(folder: Path, guard: str, status: int, message: str) -> None:
    """Workers that cannot load the bench say why; those that die at once end the campaign: new ones would die too."""
    machine(folder)
    text = (folder / "machine.py").read_text(encoding="utf-8").replace("from __future__ import annotations\n", "")
    guard = f"import sys\nif sys.argv[0].endswith('worker.py'):\n    {guard}\n"
    (folder / "bench.py").write_text(guard + text, encoding="utf-8")
    done = otf("run", "bench.py:make", "--seed", 1, "--processes", 2, "--no-saved", "--out", "out")
    assert done.status == status
    assert message in done.said
    assert status == 2 or ", the last with status 3: " in done.said


@pytest.mark.parametrize(
    "breaks",
    [
        "os.fork() and os._exit(0)",
        "sys.modules.clear()",
        "ctypes.pythonapi.Py_Exit(0)",
        "os.close(0)",
        "builtins.len = lambda _: 0",
    ],
)
def test_a_worker_that_its_bench_breaks(folder: Path, breaks: str) -> None:
    """Its end is seen, whatever is left of it; another worker drives the path again."""
    machine(folder)
    bench = f"""
import builtins, ctypes, os, sys
from dataclasses import replace
from pathlib import Path

import machine

BROKEN = Path("broken").absolute()


def make():
    made = machine.make()

    def step(state, inp):
        if sys.argv[0].endswith("worker.py") and not BROKEN.exists():
            BROKEN.touch()
            {breaks}
        return made.spec.step(state, inp)

    return replace(made, spec=replace(made.spec, step=step))
"""
    (folder / "bench.py").write_text(bench, encoding="utf-8")
    done = otf("run", "bench.py:make", "--seed", 1, "--processes", 2, "--traces", 2, "--no-saved", "--out", "out")
    assert done.status == 0
    assert (folder / "broken").exists()


def test_a_worker_whose_model_hangs_ends_with_the_coordinator(folder: Path) -> None:
    """A coordinator that was killed leaves no worker behind, whatever that is doing."""
    bench = """
import os, sys, time
from otf import Bench, Spec, goto


def step(state, inp):
    if sys.argv[0].endswith("worker.py"):
        os.write(2, b"hangs\\n")
        time.sleep(1000)
    return [goto(state, "x")]


def make():
    return Bench(Spec(step, 0, ["a"]), system=lambda: lambda inp: ["x"], types=(str,))
"""
    (folder / "bench.py").write_text(bench, encoding="utf-8")
    call = [sys.executable, "-m", "otf", "run", "bench.py:make", "--processes", "2", "--no-saved", "--out", "out"]
    with subprocess.Popen(call, cwd=folder, stderr=subprocess.PIPE) as run:
        assert run.stderr is not None
        assert run.stderr.readline() == b"hangs\n"
        run.kill()
        # every process that could write there has ended
        assert b"Traceback" not in run.stderr.read()


BOARDS = """
import os
import sys

here = sys.argv[1]
os.close(os.open(here, os.O_CREAT | os.O_EXCL))  # two paths on one board: the second cannot begin
print("ready", flush=True)
try:
    for _ in sys.stdin:
        print("pong", flush=True)
finally:
    os.remove(here)
"""
BENCH = """
from dataclasses import dataclass
from otf.adapter import Bench
from otf.adapters import process
from otf.codec import lines
from otf.spec import Spec, goto

@dataclass(frozen=True)
class Ping:
    pass

@dataclass(frozen=True)
class Pong:
    pass

def make():
    spec = Spec(lambda state, inp: [goto(state, Pong())], 0, [Ping()])
    codec = lines({Ping: "ping", Pong: "pong"})
    return Bench(spec, ports={"p": process("false")}, codec=codec, quiescence=0.05)
"""


@pytest.mark.parametrize("more", [(), ("--processes", "2")])
def test_a_pool_of_devices(folder: Path, more: tuple[str, ...]) -> None:
    """No two paths meet on one device, and all devices are used; more paths at a time than devices are refused."""
    (folder / "board.py").write_text(BOARDS, encoding="utf-8")
    (folder / "boards.py").write_text(BENCH, encoding="utf-8")
    urls = [f"p='exec:{sys.executable} {folder / 'board.py'} {folder / name}'" for name in ("red", "blue")]
    (folder / "pool").write_text("# two boards\n" + "\n".join(urls) + "\n", encoding="utf-8")
    jobs = () if more else ("--jobs", "2")
    call = ("run", "boards.py:make", "--seed", 1, "--steps", 3, "--traces", 8, "--no-saved", "--device", "pool")
    done = otf(*call, *jobs, *more, "--out", "out", "--json")
    assert (done.status, done.data["paths"]) == (0, 8), done.said
    assert "3 paths at the same time, and --device has 2 devices" in failed(*call, "--jobs", 3, "--out", "more")


LAMP = """
from otf import Bench, Spec, goto


def step(on, inp):
    return [goto(inp == "on")] if inp in {"on", "off"} else [goto(on, f"{inp} {on}")]


SPEC = Spec(step, False, ["on", "off", "look", "count", "ring"])
bench = Bench.in_process(SPEC, lambda: lambda inp: [] if inp in {"on", "off"} else [f"{inp} False"])
"""


def test_one_wrong_state_is_one_kind_with_workers_too(folder: Path) -> None:
    """Workers ask the system as one process does, and nothing of what was asked is left in the folder."""
    (folder / "lamp.py").write_text(LAMP, encoding="utf-8")
    found = otf("run", "lamp.py", "--seed", 3, "--processes", 2, "--no-saved", "--out", "out", "--json")
    assert len(found.data["failures"]) == 1
    assert not [*(folder / "out").glob("*asked*")]


CLUB = """
from otf import Bench, Spec, goto

MISSING = {"room", "name"}


def step(state, inp):
    what, name, room = inp.split()
    open, names = state or ("", ())
    if what == "open":
        return [goto((room, ()), f"{room} is open")] if not state else [goto(state)]
    if open == room and name not in names:
        return [goto((room, (*names, name)), f"welcome {name}")]
    return [goto(state)]


def club():
    state = None

    def act(inp):
        nonlocal state
        what, name, room = inp.split()
        open, names = state or ("", ())
        if what == "open":
            state, new = state or (room, ()), not state
            return [f"{room} is open"] * new
        if state is None or (open != room and "room" not in MISSING) or (name in names and "name" not in MISSING):
            return []
        state = open, (*names, name)
        return [f"welcome {name}"]

    return act


ROOMS, NAMES = ("red", "blue"), ("ann", "bob", "cid")
INPUTS = [*(f"open the {room}" for room in ROOMS), *(f"enter {name} {room}" for name in NAMES for room in ROOMS)]
bench = Bench.in_process(Spec(step, None, INPUTS), club)
"""


@pytest.mark.parametrize("missing", ["room", "name", "room name"])
def test_two_missing_checks_of_one_message(folder: Path, missing: str) -> None:
    """Two missing checks that show as one answer are two kinds, each with its own shortest run; one is one kind."""
    text = CLUB.replace('{"room", "name"}', repr({*missing.split()}))
    (folder / "club.py").write_text(text, encoding="utf-8")
    found = otf("run", "club.py", "--seed", 3, "--traces", 40, "--processes", 2, "--no-saved", "--out", "out", "--json")
    steps = [each["shrunk"]["steps"] for each in found.data["failures"]]
    assert sorted(steps) == [{"room": 2, "name": 3}[each] for each in sorted(missing.split(), reverse=True)]
