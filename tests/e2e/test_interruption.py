"""Ctrl-C, SIGTERM and kill -9 at any moment: the status is right, the traces are whole, and nothing is left behind."""

import random
import signal
from pathlib import Path

import pytest

from tests.cli.command import Result, machine, otf, recorded
from tests.e2e.entities import SECONDS, entity, gone
from tests.e2e.tester import started

pytestmark = pytest.mark.real

INT, TERM, KILL = signal.SIGINT, signal.SIGTERM, signal.SIGKILL
ROOMY = ("--set", "L=0.05", "--set", "R=0.05", "--quiescence", 0.05)
MOMENTS = [pytest.param(6, id="6"), pytest.param(20, id="20", marks=pytest.mark.slow)]
SPAN = 1.0  # seconds in which the moments lie: start, first path, second path


def at_random_moments(folder: Path, number: int, *signals: signal.Signals) -> list[Result]:
    """Interrupt so many campaigns against a correct entity, each at another moment; nothing is left of any."""
    draw = random.Random(number)
    program = entity(folder, "correct()")
    moments = [SPAN * (at + draw.random()) / number for at in range(number)]
    return [_interrupted(folder, program, draw.choice(signals), draw.choice([1, 2]), moment) for moment in moments]


def _interrupted(folder: Path, program: str, number: signal.Signals, jobs: int, moment: float) -> Result:
    short = ("--traces", 1000, "--steps", 4, "--seed", 1, "--jobs", jobs, "--out", f"out/{moment}", "--json", *ROOMY)
    with started(folder, "run", "conference", "--set", f"entity={program}", *short) as running:
        running.lives(moment)
        done = running.ends(number)
    assert gone(folder)
    return done


def replayed(folder: Path) -> list[int]:
    """The statuses of all traces that were left behind, judged offline."""
    return [otf("replay", trace, "--set", "entity=").status for trace in folder.glob("out/*/path-*.jsonl")]


@pytest.mark.parametrize("number", MOMENTS)
def test_interrupted_at_random_moments(folder: Path, number: int) -> None:
    """Whenever Ctrl-C or SIGTERM comes: 130 or 143, one document, no traceback, whole traces, and no entity is left."""
    results = at_random_moments(folder, number, INT, TERM)
    assert {result.status for result in results} <= {130, 143}
    assert all(result.data["interrupted"] for result in results)
    assert {result.err for result in results} == {""}
    # a trace without an event decides nothing
    assert set(replayed(folder)) <= {0, 3}
    assert all(recorded(trace)[-1]["event"] == "end" for trace in folder.glob("out/*/path-*.jsonl"))


@pytest.mark.parametrize("number", MOMENTS)
def test_killed_at_random_moments(folder: Path, number: int) -> None:
    """Whenever kill -9 comes: a trace that is left passes, or was cut and decides nothing; and no entity is left."""
    results = at_random_moments(folder, number, KILL)
    assert {result.status for result in results} == {-9}
    assert set(replayed(folder)) <= {0, 3}


@pytest.mark.parametrize(("number", "status"), [(INT, 130), (TERM, 143)])
def test_while_the_entity_is_starting(folder: Path, number: signal.Signals, status: int) -> None:
    """An entity that is not ready yet is stopped as well; the trace of the path ends with `interrupted`."""
    program = entity(folder, "tell('started')\nsilent()")
    with started(folder, "run", "conference", "--set", f"entity={program}", "--out", "out") as running:
        running.told()
        done = running.ends(number, status=status)
    assert done.out.startswith("INTERRUPTED: nothing wrong was seen so far (0 paths, 0 steps, ")
    assert recorded(folder / "out" / "path-0001.jsonl")[-1]["why"] == "interrupted"
    assert gone(folder)


def test_while_silence_is_waited_out(folder: Path) -> None:
    """In the middle of a step the tester does not wait for the end of the silence."""
    program = entity(folder, "start()\ntell('asked')\nsilent()")
    long = ("--quiescence", 60, "--out", "out", "--json")
    with started(folder, "run", "conference", "--set", f"entity={program}", *long) as running:
        running.told()
        done = running.ends(TERM, status=143)
    assert (done.data["verdict"], done.data["interrupted"]) == ("inconclusive", True)
    assert gone(folder)


FIRST_IN_STEP = ("--mode", "strict", "--traces", 1, "--steps", 6, "--seed", 1)


def test_in_the_middle_of_shrinking(folder: Path) -> None:
    """What was found stays found: status 1, and the failure is told with the shortest trace so far."""
    program = entity(folder, "start()\ntell('asked')\nsilent()")
    with started(folder, "run", "conference", "--set", f"entity={program}", *FIRST_IN_STEP, "--json") as running:
        running.told()  # the path
        running.told()  # the first candidate
        done = running.ends(INT, status=1)
    assert (done.data["verdict"], done.data["interrupted"], len(done.data["failures"])) == ("fail", True, 1)
    assert otf("replay", done.data["failures"][0]["trace"], "--set", "entity=").status == 1
    assert gone(folder)


def test_before_a_doubtful_failure_was_confirmed(folder: Path) -> None:
    """A failure of eager mode that nobody has seen again yet is none: 130, and the path is told as inconclusive."""
    program = entity(folder, "start()\ntell('asked')\nsilent()")
    slowly = ("--seed", 1, "--steps", 6, "--silence", "timed")
    with started(folder, "run", "conference", "--set", f"entity={program}", *slowly) as running:
        running.told()  # the path
        running.told()  # its strict run
        done = running.ends(INT, status=130)
    said = " ".join(done.out.split())  # long lines are wrapped
    assert "a failure was seen in eager mode, and an interruption came before it could be seen again" in said
    assert "INTERRUPTED: nothing was decided so far" in done.out
    assert gone(folder)


def test_impatience_does_not_leave_an_entity_behind(folder: Path) -> None:
    """Further signals while an entity is being stopped change nothing: it is stopped, in its time."""
    stubborn = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nstart()\ntell('asked')\ntime.sleep(600)"
    program = entity(folder, stubborn)
    with started(folder, "run", "conference", "--set", f"entity={program}", "--quiescence", 60) as running:
        running.told()
        running.ends(INT, INT, TERM, INT, status=130)
    assert gone(folder)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(("number", "status"), [(INT, 130), (TERM, 143)])
def test_a_model_that_hangs(folder: Path, number: signal.Signals, status: int, jobs: int) -> None:
    """A model that never answers keeps the tester from hearing; it is ended all the same, with its trace."""
    machine(folder, {"    match inp:\n": "    tell()\n    while True: pass\n    match inp:\n", "def step": TELL})
    options = ("--jobs", jobs, "--traces", jobs, "--out", "out")
    with started(folder, "run", "machine.py", *options, more="s.PATIENCE = 0.1; ") as running:
        running.told()
        running.ends(number, status=status)
    assert [recorded(trace)[-1]["why"] for trace in folder.glob("out/path-*.jsonl")] == ["interrupted"] * jobs


TELL = """def tell():
    import os

    pipe = os.open("told", os.O_WRONLY | os.O_NONBLOCK)
    os.write(pipe, b"asked\\n")
    os.close(pipe)


def step"""


FAULTY = "sys.argv += ['--fault', 'O3']\ncorrect()"
SHORTER = "if any('.shrunk.' in name for name in os.listdir(os.path.dirname(__file__) + '/out')): tell('found')\n"


SEARCHING = """
def sent(name):
    return open(os.path.dirname(__file__) + '/out/' + name).read().count('"event":"sent"')


names = os.listdir(os.path.dirname(__file__) + '/out')
whole = [sent(name) for name in names if name.startswith('path-') and name.count('.') == 1]
if any('.shrunk.' in name and sent(name) < min(whole) for name in names):
    tell('found')
    silent()
"""


def test_workers_are_interrupted_while_they_shrink(folder: Path) -> None:
    """The shortest trace so far of each failure is what is reported, as in one process."""
    program = entity(folder, SEARCHING + FAULTY)
    options = ("--traces", 2, "--seed", 2, "--processes", 2, "--out", "out", "--json")
    with started(folder, "run", "conference", "--set", f"entity={program}", *options) as running:
        running.told()
        done = running.ends(INT, status=1)
    stopped = [each for each in done.data["failures"] if each["shrunk"] and each["shrunk"]["ended"]]
    assert {each["shrunk"]["ended"] for each in stopped} == {"it was interrupted"}
    assert any(each["shrunk"]["steps"] < each["first"]["steps"] for each in stopped)
    assert gone(folder)


@pytest.fixture
def failing(folder: Path) -> Path:
    """A trace of an entity with a fault."""
    options = ("--stop-first", "--seed", 2, "--no-shrink", "--out", "out", "--json")
    done = otf("run", "conference", "--set", f"entity={entity(folder, FAULTY)}", *options)
    return folder / str(done.data["failures"][0]["trace"])


def test_rerun_is_interrupted(folder: Path, failing: Path) -> None:
    """Interrupted, `rerun` has decided nothing; its document says so."""
    program = entity(folder, "start()\ntell('asked')\nsilent()")
    named = ("--set", f"entity={program}", "--set", "quiescence=60", "--silence", "timed", "--json")
    with started(folder, "rerun", failing, *named) as running:
        running.told()
        done = running.ends(TERM, status=143)
    assert (done.data["verdict"], done.data["interrupted"]) == ("inconclusive", True)
    assert gone(folder)


@pytest.mark.parametrize(
    ("when", "status", "keys"),
    [
        pytest.param("tell('started')\n", 130, {"verdict", "interrupted"}, id="too early"),
        pytest.param(SHORTER, 1, {"trace", "steps", "transitions", "resets", "rate"}, id="when there is a shorter one"),
    ],
)
def test_shrink_is_interrupted(folder: Path, failing: Path, when: str, status: int, keys: set[str]) -> None:
    """Interrupted, `shrink` gives the shortest trace so far, if it has seen the failure again at all."""
    program = entity(folder, when + FAULTY)
    with started(folder, "shrink", failing, "--set", f"entity={program}", "--json") as running:
        running.told()
        done = running.ends(INT, status=status)
    assert done.data.keys() >= keys
    assert gone(folder)


def test_mutants_are_interrupted(folder: Path) -> None:
    """Interrupted, `mutants` lists what it has found so far."""
    (folder / "slow.py").write_text(SLOW, encoding="utf-8")
    with started(folder, "mutants", "slow.py", "--json") as running:
        running.told()
        done = running.ends(INT, status=130)
    assert [row["fault"] for row in done.data] == ["dry"]


SLOW = """
from dataclasses import replace
from otf.models.coffee import bench as coffee
import os


def bench(fault: str = "none"):
    if fault == "free":
        pipe = os.open("told", os.O_WRONLY)
        os.write(pipe, b"free\\n")
        os.close(pipe)
    made = coffee(fault=fault)
    return replace(made, quiescence=60.0) if fault == "free" else made
"""


def test_a_walk_is_interrupted(folder: Path) -> None:
    """At the prompt of `step` a Ctrl-C ends the command."""
    with started(folder, "step", "coffee") as running:
        assert running.process.stdout is not None
        said = [running.process.stdout.readline() for _ in range(5)]
        assert "state: 0\n" in said
        # its input stays open until it has ended: at the end of that it would end, too
        running.process.send_signal(INT)
        running.process.wait(SECONDS)
        running.ends(status=130)


def test_reading_is_interrupted(folder: Path) -> None:
    """While a trace is awaited on standard input, a signal ends the command, with a document."""
    with started(folder, "replay", "-", "--json") as running:
        running.lives(0.3)
        # the end of its input, which `ends` would bring, is not a signal
        running.process.send_signal(TERM)
        running.process.wait(SECONDS)
        done = running.ends(status=143)
    assert done.data == {"verdict": "inconclusive", "interrupted": True}
