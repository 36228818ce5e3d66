"""`otf run --cluster`: the paths of one process on the workers of a dask cluster, whatever is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random
from time import monotonic, sleep
from typing import Any

import pytest

from tests.cli.command import failed, machine, otf
from tests.cli.test_processes import begun, command_of, counted, learned, sent, workers
from tests.e2e.entities import entity
from tests.e2e.tester import started
from tests.real.needs import needs

pytest.importorskip("distributed", reason="dask.distributed is not installed (the extra `cluster`)")
pytestmark = [pytest.mark.real, pytest.mark.slow]
COFFEE = ("coffee", "--seed", "5", "--no-saved")
QUICK = {
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1000",
    "DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE": "false",
}


class Cluster:
    """A scheduler, and programs that keep one worker each."""

    def __init__(self, folder: Path, stack: ExitStack, protocol: str = "tcp", **environment: str) -> None:
        self.folder, self._stack, self._environment = folder, stack, environment
        self.file = folder / "scheduler.json"
        self.scheduler = self.start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--protocol", protocol, "--no-show"
        )
        self.nannies: list[subprocess.Popen[bytes]] = []
        wait(lambda: self.file.is_file() and self.file.read_bytes().endswith(b"}"))
        self.address: str = json.loads(self.file.read_text(encoding="utf-8"))["address"]

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a program of dask."""
        with (self.folder / f"{arguments[0]}.log").open("ab") as log:
            command = [sys.executable, "-m", "dask", *arguments, "--scheduler-file", str(self.file), "--no-dashboard"]
            own = {**os.environ, **QUICK, **self._environment}
            program = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, env=own)
        self._stack.callback(program.wait)
        self._stack.callback(program.terminate)
        return program

    def join(self, number: int = 1) -> None:
        """Start workers, in the folder in which otf runs: benches are imported from there."""
        self.nannies += [self.start("worker", "--nthreads", "2") for _ in range(number)]

    def kill_a_worker(self, random: Random) -> bool:
        """Kill a worker, which the program that keeps it starts again; return whether there was one."""
        found = [pid for nanny in self.nannies for pid in workers(nanny.pid) if b"spawn_main" in command_of(pid)]
        with suppress(ProcessLookupError, IndexError):
            os.kill(random.choice(found), signal.SIGKILL)
        return bool(found)


def wait(done: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until something is so."""
    until = monotonic() + seconds
    while not done():
        assert monotonic() < until
        sleep(0.01)


@pytest.fixture
def cluster(folder: Path) -> Iterator[Cluster]:
    """Yield a cluster without workers."""
    with ExitStack() as stack:
        yield Cluster(folder, stack)


def _started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "otf", "run", *arguments]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_the_paths_of_one_process(folder: Path, cluster: Cluster) -> None:
    """The traces are in the folder, with the inputs of one process; a worker that joins late gets work."""
    size = ("--traces", "300", "--steps", "30", "--jobs", "4")
    otf("run", *COFFEE, *size, "--out", "one")
    cluster.join()
    with _started(folder, *COFFEE, *size, "--cluster", cluster.address, "--out", "out") as run:
        wait(lambda: begun(folder / "out") > 40)
        cluster.join()
        assert run.wait() == 0
    assert counted(folder / "out") == [*range(1, 301)]
    assert sent(folder / "out") == sent(folder / "one")
    assert learned(folder / "out") == learned(folder / "one")
    text = (folder / "worker.log").read_text(encoding="utf-8")
    assert text.count("end_relay") == 2, text  # both had a program of this campaign


def test_tls(folder: Path) -> None:
    """With certificates of one authority a campaign is driven; with others, or none, there is no scheduler."""
    ours, others = (certified(folder / name) for name in ("ours", "others"))
    call = ("run", "coffee", "--traces", "4", "--steps", "5", "--no-saved", "--cluster")
    with ExitStack() as stack:
        cluster = Cluster(folder, stack, "tls", **ours)
        assert cluster.address.startswith("tls://127.0.0.1:")
        cluster.join()
        ends: list[subprocess.CompletedProcess[str]] = [
            subprocess.run(
                [sys.executable, "-m", "otf", *call, address, "--out", out], cwd=folder, env=env, check=False, **TEXT
            )
            for address, out, env in (
                (cluster.address, "a", {**os.environ, **ours}),
                (cluster.address, "b", {**os.environ, **others}),
                (cluster.address, "c", {**os.environ}),
                (cluster.address.replace("tls", "tcp"), "d", {**os.environ, **ours}),
            )
        ]
    assert [each.returncode for each in ends] == [0, 3, 3, 3], ends
    assert counted(folder / "a") == [1, 2, 3, 4]
    assert all("there is no scheduler" in each.stderr and "Traceback" not in each.stderr for each in ends[1:]), ends


TEXT: dict[str, Any] = {"capture_output": True, "text": True, "timeout": 120}


def certified(folder: Path) -> dict[str, str]:
    """Make an authority and one certificate of it; return what dask takes from the environment."""
    folder.mkdir()
    for command in (
        "req -nodes -newkey rsa:2048 -subj /CN=authority -keyout ca.key -x509 -days 2 -out ca.pem",
        "req -nodes -newkey rsa:2048 -subj /CN=otf -keyout key.pem -out request.pem",
        "x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out cert.pem",
    ):
        subprocess.run(["openssl", *command.split()], cwd=folder, check=True, capture_output=True)  # noqa: S607 -- that of this machine
    files = {"CA_FILE": "ca.pem"}
    files |= {
        f"{who}__{what}": f"{what.lower()}.pem" for who in ("CLIENT", "SCHEDULER", "WORKER") for what in ("KEY", "CERT")
    }
    return {f"DASK_DISTRIBUTED__COMM__TLS__{name}": str(folder / file) for name, file in files.items()}


def test_failures(folder: Path, cluster: Cluster) -> None:
    """Failures have the groups of one process, and are confirmed and shrunk on the workers; the bench is theirs."""
    machine(folder)
    cluster.join()
    call = ("run", "machine.py:make", "--set", "broken=true", "--seed", 1, "--traces", 8, "--no-saved", "--json")
    one = otf(*call, "--jobs", 2, "--out", "one")
    two = otf(*call, "--jobs", 2, "--cluster", cluster.address, "--out", "two")
    assert (one.status, two.status) == (1, 1)
    assert [(each["signature"], each["count"], each["shrunk"]["steps"]) for each in two.data["failures"]] == [
        (each["signature"], each["count"], each["shrunk"]["steps"]) for each in one.data["failures"]
    ]
    assert otf("run", "machine.py:make", "--set", "broken=true", "--resume", "two", "--json").data["paths"] == 8


def test_coverage(folder: Path, cluster: Cluster) -> None:
    """A goal of coverage ends the campaign once the traces that arrive have reached it."""
    assert folder.exists()
    cluster.join()
    call = (*COFFEE, "--traces", 5000, "--steps", 9, "--until", "pairs", "--cluster", cluster.address, "--json")
    goal = otf("run", *call).data
    assert goal["paths"] < 5000
    assert goal["coverage"]["met"]["pairs"] == goal["coverage"]["all"]["pairs"]


def test_saved_failures(folder: Path, cluster: Cluster) -> None:
    """Failures of earlier campaigns are driven first, on a worker: what is fixed is so, what is not is reported."""
    machine(folder, {"if broken else": "if True else"})
    cluster.join()
    call = ("run", "machine.py:make", "--seed", 1, "--traces", 8, "--cluster", cluster.address, "--json")
    assert otf(*call, "--out", "one").data["saved"] == []
    two = otf(*call, "--out", "two").data
    assert {each["came"] for each in two["saved"]} == {"still there"}
    assert [Path(each["trace"]).parent.name for each in two["saved"]] == ["failures"] * len(two["failures"])
    assert (folder / "two" / "saved-0001.jsonl").is_file()
    machine(folder)
    three = otf(*call, "--out", "three").data
    assert {each["came"] for each in three["saved"]} == {"fixed"}
    assert [*(folder / "otf-runs" / "failures").iterdir()] == []


def test_what_changed_comes_first(folder: Path, cluster: Cluster) -> None:
    """The workers do not see the folder, and send the inputs of one process all the same."""
    machine(folder)
    cluster.join()
    call = ("run", "machine.py:make", "--spend", "1h", "--steps", 3, "--jobs", 4, "--no-shrink", "--no-saved", "--json")
    one, two = ("--into", "one"), ("--into", "two", "--cluster", cluster.address)
    for where in (one, two):
        otf(*call, *where, "--seed", 2, "--traces", 8)
    machine(folder, {"yield goto(paid - 10, Coffee())": "yield goto(max(paid - 10, 0), Coffee(), Coffee())"})
    tried = [otf(*call, *where, "--seed", 2, "--traces", 8).data["changed"]["tried"] for where in (one, two)]
    assert tried[0] == tried[1] > 0
    assert sent(folder / "two") == sent(folder / "one")


@needs("faketime")
def test_faster_clocks(folder: Path, cluster: Cluster) -> None:
    """Each worker looks whether the system follows; `auto` would measure another machine."""
    assert folder.exists()
    cluster.join()
    call = ("session_device", "--traces", 4, "--steps", 10, "--seed", 1, "--no-saved", "--cluster", cluster.address)
    done = otf("run", *call, "--speed", 5, "--out", "out", "--json")
    assert (done.status, done.data["paths"]) == (0, 4), done.said
    assert '"speed":5.0' in (folder / "out" / "path-0001.jsonl").read_text(encoding="utf-8").splitlines()[0]
    assert "with --cluster, write a number" in failed("run", *call, "--speed", "auto")


STARTS = """
here = os.path.dirname(__file__)
with open(here + '/starts', 'a') as starts:
    starts.write('.')
    number = starts.tell()
if number > 7:
    tell('found')
    silent()
sys.argv += ['--fault', 'O3']
correct()
"""


def test_an_interrupted_search(folder: Path, cluster: Cluster) -> None:
    """The shortest trace that a worker has found so far is what is reported; an eighth copy never begins."""
    cluster.join()
    program = entity(folder, STARTS)
    options = ("--stop-first", "--seed", 2, "--cluster", cluster.address, "--out", "out", "--json")
    with started(folder, "run", "conference", "--set", f"entity={program}", *options) as running:
        running.told()
        done = running.ends(signal.SIGINT, status=1)
    [failure] = done.data["failures"]
    assert failure["shrunk"]["ended"] == "it was interrupted"
    assert failure["shrunk"]["steps"] < failure["steps"]
    assert (folder / failure["shrunk"]["trace"]).is_file()


def test_no_bench_on_the_workers(folder: Path, cluster: Cluster) -> None:
    """A bench that workers cannot import is an error that names it."""
    cluster.join()
    (folder / "elsewhere").mkdir()
    machine(folder / "elsewhere")
    os.chdir(folder / "elsewhere")
    done = otf("run", "machine.py:make", "--traces", 2, "--cluster", cluster.address, "--no-saved")
    assert done.status == 2
    assert "cannot begin: " in done.said
    assert "machine.py" in done.said


def test_a_scheduler_that_goes(folder: Path, cluster: Cluster) -> None:
    """It ends the campaign with a sentence, and the folder continues without a cluster."""
    size = ("--traces", "400", "--steps", "30", "--jobs", "4")
    cluster.join()
    with _started(folder, *COFFEE, *size, "--cluster", cluster.address, "--out", "out") as run:
        wait(lambda: begun(folder / "out") > 40)
        cluster.scheduler.kill()
        text, _ = run.communicate(timeout=60)
    assert run.returncode == 3, text
    assert "the scheduler is gone" in text
    assert "otf run --resume out" in text
    assert otf("run", "--resume", "out", "--json").data["paths"] == 400
    assert counted(folder / "out") == [*range(1, 401)]


def test_no_scheduler(folder: Path) -> None:
    """An address without a scheduler is an error with advice."""
    assert folder.exists()
    done = otf("run", *COFFEE, "--cluster", "tcp://127.0.0.1:9")
    assert done.status == 3
    assert "there is no scheduler" in done.said


def test_killed_workers(folder: Path, cluster: Cluster) -> None:
    """Each path counts once, with inputs and coverage as if undisturbed; `benchmarks.kills` kills more."""
    kills, paths, random = 4, 300, Random(0)
    size = ("--traces", str(paths), "--steps", "30", "--jobs", "4")
    otf("run", *COFFEE, *size, "--out", "one")
    cluster.join(2)
    moments = sorted(random.randrange(paths) for _ in range(kills))
    with _started(folder, *COFFEE, *size, "--cluster", cluster.address, "--out", "out") as run:
        for moment in moments:
            while run.poll() is None and begun(folder / "out") < moment:
                sleep(0.01)
            wait(lambda: run.poll() is not None or cluster.kill_a_worker(random))
        text, _ = run.communicate(timeout=900)
    assert run.returncode == 0, text
    assert counted(folder / "out") == [*range(1, paths + 1)]
    assert sent(folder / "out") == sent(folder / "one")
    assert learned(folder / "out") == learned(folder / "one")


def test_a_killed_coordinator(folder: Path, cluster: Cluster) -> None:
    """The folder continues on the same cluster: each path counts once, with inputs and coverage as if undisturbed."""
    kills, paths, random = 2, 300, Random(0)
    size = ("--traces", str(paths), "--steps", "30", "--jobs", "4")
    otf("run", *COFFEE, *size, "--out", "one")
    cluster.join(2)
    arguments: tuple[str, ...] = (*COFFEE, *size, "--cluster", cluster.address, "--out", "out")
    for kill in range(kills):
        now = begun(folder / "out") if kill else 0
        moment = now + random.randrange(1, 2 * paths // (kills + 1))
        with _started(folder, *arguments) as run:
            while run.poll() is None and begun(folder / "out") < moment:
                sleep(0.01)
            run.kill()
        arguments = ("--resume", "out", "--cluster", cluster.address)
    assert otf("run", "--resume", "out", "--json").data["paths"] == paths
    assert counted(folder / "out") == [*range(1, paths + 1)]
    assert sent(folder / "out") == sent(folder / "one")
    assert learned(folder / "out") == learned(folder / "one")
