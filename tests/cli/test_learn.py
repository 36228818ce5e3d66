"""`otf learn`: from a running system to its model, its picture and a bench that the system passes."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path
from random import Random

import anyio
import pytest
from anyio.lowlevel import checkpoint

from otf.cli.tools.learn_report import known, line, tell
from otf.cli.tools.plain_systems import messages
from otf.errors import UsageError
from otf.learn import listening
from otf.learn.answers import Parted
from otf.learn.learning import LearntMachine
from otf.learn.symbols import PortOutputs
from otf.learn.teaching import Pupil
from otf.models.coffee import Button, bench
from otf.notations import read_dot
from otf.suite.machine import Word
from tests.cli.command import otf
from tests.cli.test_replay_logs import capture

pytest.importorskip("aalpy")
PROGRAM = f"exec:{sys.executable} -I -S"  # started hundreds of times: without `site` in a third of the time

SERVER = """
import signal
import subprocess
import sys
opened, count = False, 0
print("100 ready", flush=True)
for line in sys.stdin:
    match line.split():
        case ["open"] if not opened:
            opened = True
            print("200 open", flush=True)
        case ["get"] if opened:
            print(f"300 pid {__import__('os').getpid()} is alive", flush=True)
        case ["quit"]:
            sys.exit()
        case ["quiet"]:
            pass
        case _:
            print("500 no", flush=True)
"""


@pytest.fixture
def server(tmp_path: Path) -> str:
    """Return the address of a server of text that has two states and ends on `quit`."""
    file = tmp_path / "server.py"
    file.write_text(SERVER)
    (tmp_path / "messages.txt").write_text("# the alphabet\nopen\nget\nquit\nquiet\nopen\n")
    return f"{PROGRAM} {file}"


BUSY = """
from pathlib import Path
starts = Path({starts!r})
starts.write_text(starts.read_text() + "x" if starts.exists() else "x")
if {ends}(len(starts.read_text())):
    sys.exit()
"""


@pytest.mark.parametrize(
    ("ends", "longest", "said"),
    [
        ("[3, 5].__contains__", 0.1, "3 states, 4 inputs"),
        ("range(9, 12).__contains__", 2.0, "3 states, 4 inputs"),
        ("(3).__le__", 5.0, "a connection ended before its first input"),
        ("(9).__le__", 5.0, "a connection ended before its first input"),
    ],
)
def test_a_connection_that_ends_at_once(
    tmp_path: Path, server: str, ends: str, longest: float, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once proves nothing: the path is driven again, after ever longer pauses; if it stays so, that is what is said."""
    pauses = list[float]()

    async def sleep(seconds: float) -> None:
        await checkpoint()
        pauses.append(seconds)

    monkeypatch.setattr(listening, "sleep", sleep)
    file = tmp_path / "server.py"
    busy = BUSY.format(starts=str(tmp_path / "starts"), ends=ends)
    file.write_text(SERVER.replace("opened, count", f"{busy}\nopened, count"))
    done = otf("learn", "--sut", server, "--alphabet", tmp_path / "messages.txt", "--out", tmp_path / "out")
    assert said in done.out + done.err
    assert max(pauses) == longest


def test_a_bench_is_learnt_without_its_model(tmp_path: Path) -> None:
    """The machine has the states of the model, the system passes the bench that is written, and the folder goes on."""
    done = otf("learn", "coffee", "--out", tmp_path / "out", "--json")
    assert done.status == 0, done.err
    assert (done.data["states"], done.data["complete"], done.data["extra"]) == (3, True, 1)
    assert otf("run", tmp_path / "out" / "learned.py", "--traces", "3", "--out", tmp_path / "run").status == 0
    assert len([*read_dot((tmp_path / "out" / "learned.dot").read_text()).inputs("s0")]) == 3
    assert "<script" in (tmp_path / "out" / "learned.html").read_text()
    again = otf("learn", "coffee", "--out", tmp_path / "out", "--json").data
    assert again["states"] == 3
    assert again["sent"] < done.data["sent"] / 5, "what the folder has is not asked again"


def test_a_fault_is_learnt_and_the_model_of_the_other_version_finds_it(tmp_path: Path) -> None:
    """What was learnt from one version is a regression test of the next: there the coffee is free."""
    otf("learn", "coffee", "--out", tmp_path / "out")
    text = (tmp_path / "out" / "learned.py").read_text()
    (tmp_path / "next.py").write_text(text.replace("load('coffee', {})", "load('coffee', {'fault': 'free'})"))
    assert otf("run", tmp_path / "next.py", "--out", tmp_path / "run").status == 1


def test_each_question_is_a_trace_which_the_model_of_the_bench_judges(tmp_path: Path) -> None:
    """A system that is learnt is tested on the way: `otf replay` finds the fault in what was asked."""
    otf("learn", "coffee", "--set", "fault=dry", "--out", tmp_path)
    verdicts = {otf("replay", trace).status for trace in sorted(tmp_path.glob("path-*.jsonl"))[:40]}
    assert verdicts == {0, 1}


@pytest.mark.real
def test_a_server_is_learnt_from_its_address_and_messages(tmp_path: Path, server: str) -> None:
    """A greeting, an end of the connection, and a number that differs in each path; the bench passes."""
    alphabet = tmp_path / "messages.txt"
    done = otf("learn", "--sut", server, "--alphabet", alphabet, "--out", tmp_path / "out", "--json")
    assert done.status == 0, done.err
    dot = (tmp_path / "out" / "learned.dot").read_text()
    assert (done.data["states"], done.data["inputs"]) == (3, 4)
    assert "get / 300 pid * is alive" in dot
    assert "quit / Ended('exit 0')" in dot or "quit / Ended(" in dot
    ran = otf("run", tmp_path / "out" / "learned.py", "--traces", "4", "--steps", "10", "--out", tmp_path / "run")
    assert ran.status == 0, ran.out


def test_what_cannot_be_learnt_is_refused_with_advice(tmp_path: Path) -> None:
    """Neither a bench nor messages; an input that is none; no input at all."""
    assert "--alphabet messages.txt" in otf("learn").err
    (tmp_path / "messages.txt").write_text("Button()\nTea()\n")
    said = otf("learn", "coffee", "--alphabet", tmp_path / "messages.txt").err
    assert "'Tea()' is not an input of coffee" in said
    assert "give the folder of a campaign" in said
    assert "--only Tea: it leaves none of the 3 inputs" in otf("learn", "coffee", "--only", "Tea").err


def test_the_alphabet_is_what_was_sent_before(tmp_path: Path) -> None:
    """The traces of a run have the inputs of a model whose inputs are not known in advance."""
    otf("run", "coffee", "--traces", "2", "--out", tmp_path / "run")
    for where in (tmp_path / "run", tmp_path / "run" / "path-0001.jsonl"):
        done = otf("learn", "coffee", "--alphabet", where, "--json", "--out", tmp_path / "out" / where.name)
        assert (done.data["states"], done.data["inputs"]) == (3, 3), done.err


def test_the_time_is_over(tmp_path: Path) -> None:
    """Inconclusive, with what is known by then, and how to go on."""
    done = otf("learn", "conference", "--only", "Join|Leave", "--time", "0.01m", "--out", tmp_path)
    assert done.status in {2, 3}
    assert "go on with --out" in done.out or "give it more --time" in done.err
    assert "--time soon: a time above 0 is needed" in otf("learn", "conference", "--time", "soon").err


@pytest.mark.real
def test_ctrl_c_keeps_what_is_known(tmp_path: Path) -> None:
    """After a first hypothesis: status 130, the files, and nothing on standard error but progress."""
    command = [sys.executable, "-m", "otf", "learn", "conference", "--only", r"Join\(|Leave", "--out", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        lines = [running.stderr.readline()]
        while "2 states" not in lines[-1]:
            lines.append(running.stderr.readline())
        running.send_signal(signal.SIGINT)
        out, rest = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "go on with --out" in out
    assert (tmp_path / "learned.dot").exists()
    assert all(line.startswith("otf: ") for line in (*lines, *rest.splitlines())), rest


PICKY = """
import sys
for line in sys.stdin.buffer:
    if line.endswith(b"\\r\\n"):
        print("200 ok", flush=True)
    elif b" " in line:
        print("500 no", flush=True)
"""
REMEMBERS = """
import socket
import sys
server, opened = socket.create_server(("127.0.0.1", int(sys.argv[1]))), False
while True:
    client = server.accept()[0]
    for line in client.makefile("rb"):
        if line == b"reset\\n":
            opened = False
        elif line == b"open\\n" and not opened:
            opened = True
            client.sendall(b"opened\\n")
        else:
            client.sendall(b"busy\\n")
"""
COUNTS = """
from otf import Bench, Spec, goto
class Counter:
    count = 0
    def step(self, inp):
        self.count += inp == "add"
        return [f"count {self.count}"]
spec = Spec(lambda count, inp: [goto(count + (inp == "add"), f"count {count + (inp == 'add')}")], 0, ["add", "look"])
bench = Bench.in_process(spec, lambda: Counter().step, types=(str,))
"""


GAUGE = """
from dataclasses import dataclass
from itertools import count
from otf import Bench, Spec, goto
@dataclass(frozen=True)
class Level:
    lines: tuple[str, ...]
readings = count(100)
class Gauge:
    def __init__(self):
        self.level, self.headed = 1, False
    def step(self, inp):
        self.level = 3 - self.level if inp == "tip" else self.level
        self.headed |= inp == "head"
        number = next(readings) if inp == "read" else self.level if inp == "look" else 0
        return [Level((f"{'7E8 ' * self.headed}level {number:X}",))]
spec = Spec(lambda state, inp: [goto(state, Level)], 0, ["tip", "head", "look", "read"])
bench = Bench.in_process(spec, lambda: Gauge().step, types=(str, Level))
"""


def test_what_varies_after_one_input_is_masked_there_alone(tmp_path: Path) -> None:
    """Other answers of that form keep their numbers, and the same answer its other words: all four states are found.

    Wherever the result says that the suites passed, it says what the mask hides; the system passes the bench.
    """
    (tmp_path / "gauge.py").write_text(GAUGE)
    done = otf("learn", tmp_path / "gauge.py", "--out", tmp_path / "out")
    assert done.status == 0, done.err
    assert "4 states, 4 inputs" in done.out
    page = (tmp_path / "out" / "learned.html").read_text()
    for text in (done.out, *((tmp_path / "out" / f"learned.{end}").read_text() for end in ("dot", "py")), page):
        assert "Right, except for what `*` stands for, for every system with at most 5 states" in text
        assert "`*` stands for any value; it is in the answers to read." in text
        assert "States that differ only in what `*` stands for are not told apart." in text
    again = otf("learn", tmp_path / "gauge.py", "--out", tmp_path / "out", "--json")
    assert (again.data["states"], again.data["masked"]) == (4, ["'read'"])
    assert otf("run", tmp_path / "out" / "learned.py", "--traces", 5, "--out", tmp_path / "run").status == 0
    assert otf("compare", tmp_path / "out" / "learned.dot", tmp_path / "out" / "learned.dot").status == 0


@pytest.mark.real
def test_messages_end_as_the_system_expects_it(tmp_path: Path) -> None:
    r"""Lines that end with `\n` are answered less often than those with `\r\n`: that is found, said, and written."""
    (tmp_path / "picky.py").write_text(PICKY)
    (tmp_path / "messages.txt").write_text("get\nput 1\n")
    sut = f"{PROGRAM} {tmp_path / 'picky.py'}"
    done = otf("learn", "--sut", sut, "--alphabet", tmp_path / "messages.txt", "--out", tmp_path / "out", "--json")
    assert (done.status, done.data["states"]) == (0, 1), done.err
    assert r"messages end with \r\n" in done.err
    assert r"end='\r\n'" in (tmp_path / "out" / "learned.py").read_text()


@pytest.mark.real
@pytest.mark.parametrize("way", ["start", "reset"])
def test_a_server_that_remembers_is_reset_before_each_path(tmp_path: Path, way: str) -> None:
    """By a command that starts it afresh, or by a message; the bench that is written does the same."""
    (tmp_path / "remembers.py").write_text(REMEMBERS)
    (tmp_path / "messages.txt").write_text("open\nlook\n")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-I", "-S", str(tmp_path / "remembers.py"), str(port)]
    learn: list[object] = [
        "learn",
        "--sut",
        f"tcp://127.0.0.1:{port}",
        "--alphabet",
        tmp_path / "messages.txt",
        "--json",
    ]
    learn += ["--out", tmp_path / "out"]
    if way == "start":
        done = otf(*learn, "--start", " ".join(command))
        again = otf("run", tmp_path / "out" / "learned.py", "--traces", 2, "--steps", 5, "--out", tmp_path / "run")
    else:
        with subprocess.Popen(command) as server:
            done = otf(*learn, "--reset", "reset")
            again = otf("run", tmp_path / "out" / "learned.py", "--traces", 2, "--steps", 5, "--out", tmp_path / "run")
            server.kill()
    assert (done.status, done.data["states"]) == (0, 2), done.err
    assert again.status == 0, again.out


def test_a_number_that_counts_is_masked_and_named(tmp_path: Path) -> None:
    """Learning ends, the result and the bench say which answer counts, and the system passes that bench."""
    (tmp_path / "counts.py").write_text(COUNTS)
    done = otf("learn", tmp_path / "counts.py", "--out", tmp_path / "out")
    assert done.status == 0, done.err
    assert "1 state, 2 inputs" in done.out
    assert "A number counts in 'count *': any value there" in done.out
    assert "it is in the answers to add, look." in done.out
    again = otf("learn", tmp_path / "counts.py", "--out", tmp_path / "out")
    assert (again.status, "A number counts" in again.out) == (0, True), again.err
    assert otf("run", tmp_path / "out" / "learned.py", "--traces", 2, "--out", tmp_path / "run").status == 0


def test_what_counts_without_end_is_named_and_may_be_masked(tmp_path: Path) -> None:
    """While paths become ever longer the time is over, and the input is named; with its answers masked it is learnt."""
    (tmp_path / "counts.py").write_text(COUNTS)
    done = otf("learn", tmp_path / "counts.py", "--mask", "^$", "--time", "2", "--out", tmp_path / "endless")
    assert done.status == 3
    assert "times in a row:\nwhat counts or queues without end has no finite machine" in done.out
    masked = otf("learn", tmp_path / "counts.py", "--mask", "count", "--out", tmp_path / "masked", "--json")
    assert (masked.status, masked.data["states"]) == (0, 1), masked.err
    assert "--mask (: it is not a regular expression" in otf("learn", "coffee", "--mask", "(").err


def test_messages_are_read_from_lines_logs_and_captures(tmp_path: Path) -> None:
    r"""Escapes are characters, `\r\n` in a file or a message is the end of each; of a log, what was sent."""
    file = tmp_path / "messages"
    for content, texts, end in (
        (b"a\nb\\x00\\\\\n# c\na\n", ["a", "b\x00\\"], "\n"),
        (b"a\r\nb\r\n", ["a", "b"], "\r\n"),
        (b"put 2\\r\\nhi\n", ["put 2\r\nhi"], "\r\n"),
        (b"> get\n< ok\n> put\n> get\n", ["get", "put"], "\n"),
        (b"> one\n> two\n", ["> one", "> two"], "\n"),
    ):
        file.write_bytes(content)
        found = messages(file, "")
        assert (found.texts, found.end) == (texts, end)
    file.write_bytes(
        capture((0.0, True, 1, b"\x00\x02hi"), (0.1, False, 2, b"\x00\x01k"), (0.2, True, 5, b"\x00\x01x"))
    )
    found = messages(file, "")
    assert (found.texts, found.end, found.code) == (["hi", "x"], "", 'framing.length(2, "big")')
    assert messages(file, "slip").code == "framing.slip()"
    with pytest.raises(UsageError, match="there are lines, crlf"):
        messages(file, "morse")
    with pytest.raises(UsageError, match="cannot be read"):
        messages(tmp_path / "none", "")
    assert "a bench has its own" in otf("learn", "coffee", "--start", "coffee").err


JOBS = """
import secrets
import sys
jobs = {}
for line in sys.stdin:
    match line.split():
        case ["new"]:
            job = f"j{secrets.randbelow(1 << 30)}"
            jobs = {job: True}
            print("made", job, flush=True)
        case ["drop", job] if job in jobs:
            del jobs[job]
            print("gone", flush=True)
        case _:
            print("no such job", flush=True)
"""


@pytest.mark.real
def test_a_register_is_guessed_from_a_recording_and_sent_back(tmp_path: Path) -> None:
    """A number that the system draws anew for each job: its answers have the mark, and a message has its value."""
    (tmp_path / "jobs.py").write_text(JOBS)
    talk = "> new\n< made j17\n> drop j17\n< gone\n> new\n< made j4\n> drop j4\n< gone\n"
    (tmp_path / "talk.log").write_text(talk)
    sut = f"{PROGRAM} {tmp_path / 'jobs.py'}"
    done = otf("learn", "--sut", sut, "--alphabet", tmp_path / "talk.log", "--out", tmp_path / "out", "--json")
    assert (done.status, done.data["states"], done.data["inputs"]) == (0, 2, 2), done.err
    assert "is sent in drop {made}, as in the recording" in done.err
    assert "drop {made} is answered gone, and with the recorded j17 no such job: confirmed" in done.err
    assert "drop {made} / gone" in (tmp_path / "out" / "learned.dot").read_text()
    ran = otf("run", tmp_path / "out" / "learned.py", "--traces", 2, "--steps", 10, "--out", tmp_path / "run")
    assert ran.status == 0, ran.out
    assert (
        "write NAME=REGEX" in otf("learn", "--sut", sut, "--alphabet", tmp_path / "talk.log", "--register", "job").err
    )


ROOMS = """
import secrets
import sys
for line in sys.stdin:
    match line.split():
        case ["look"]:
            print(f"room {secrets.randbelow(1 << 30)} floor 12345", flush=True)
        case ["call", "47114"]:
            print("ringing", flush=True)
        case ["ride", "12345"]:
            print("riding", flush=True)
        case _:
            print("nobody", flush=True)
"""


@pytest.mark.real
def test_a_guessed_register_is_tried_on_the_system(tmp_path: Path) -> None:
    """Only the number of the recording is answered as there: it is sent. A number that never changes is not decided."""
    (tmp_path / "rooms.py").write_text(ROOMS)
    (tmp_path / "talk.log").write_text(
        "> look\n< room 47114 floor 12345\n> call 47114\n< ringing\n> ride 12345\n< riding\n"
    )
    sut = f"{PROGRAM} {tmp_path / 'rooms.py'}"
    done = otf("learn", "--sut", sut, "--alphabet", tmp_path / "talk.log", "--out", tmp_path / "out", "--json")
    refuted = "call {room} is answered nobody, and with the recorded 47114 as in the recording (ringing): refuted"
    assert refuted in done.err
    assert "ride {r2} is answered riding, and with the recorded 12345 as well: not confirmed" in done.err
    learnt = (tmp_path / "out" / "learned.py").read_text()
    assert ('"call 47114"' in learnt, '"ride {r2}"' in learnt, "'room'" in learnt) == (True, True, False)


JUNK = """
from dataclasses import dataclass
from otf import Bench, Spec
from otf.adapters import inprocess
from otf.codec import lines
@dataclass(frozen=True)
class Ask:
    pass
codec = lines({Ask: "ask"})
spec = Spec(lambda state, _inp: [], 0, [Ask()])
bench = Bench.on_ports(spec, codec, {"p": inprocess(lambda: lambda _: b"junk")})
"""


def test_an_answer_that_cannot_be_decoded_is_learnt(tmp_path: Path) -> None:
    """The bench that is written decodes it as learning did, so the system passes."""
    (tmp_path / "junk.py").write_text(JUNK)
    done = otf("learn", tmp_path / "junk.py", "--out", tmp_path / "out")
    assert done.status == 0, done.err
    ran = otf("run", tmp_path / "out" / "learned.py", "--traces", 2, "--steps", 5, "--out", tmp_path / "run")
    assert ran.status == 0, ran.err + ran.out


def test_properties_are_checked_on_what_was_learnt(tmp_path: Path) -> None:
    """A property that the machine violates is tried on the system, which confirms it: the exit status is 1."""
    (tmp_path / "safe.py").write_text(
        "from otf.logic import never, sometimes\nfrom otf.models.coffee import Coffee\n"
        "dry, serves = never(Coffee), sometimes(Coffee)\n"
    )
    place, out = f"{tmp_path}/safe.py", tmp_path / "out"
    done = otf("learn", "coffee", "--property", f"{place}:dry", "--property", f"{place}:serves", "--out", out, "--json")
    assert done.status == 1, done.err
    assert [(each["law"], each["verdict"], each["confirmed"]) for each in done.data["properties"]] == [
        ("property dry", "refuted", True),
        ("property serves", "proven", None),
    ]
    text = otf("learn", "coffee", "--property", f"{place}:dry", "--out", out).out
    assert "property dry: refuted: after these steps it cannot hold any more\n" in text
    assert "the system does so, too\n" in text


def test_a_system_that_answers_nothing_is_told(tmp_path: Path) -> None:
    """One that is not there would be learnt in the same way."""
    text = "from otf import Bench, Spec\nspec = Spec(lambda state, _inp: [], 0, ['a', 'b'])\n"
    (tmp_path / "deaf.py").write_text(f"{text}bench = Bench(spec, system=lambda: lambda _: [], types=(str,))\n")
    assert (
        "No input was answered: is the system there" in otf("learn", tmp_path / "deaf.py", "--out", tmp_path / "a").out
    )
    assert "No input was answered" not in otf("learn", "coffee", "--out", tmp_path / "b").out


def test_a_choice_is_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The answers that came, and how often, are in one sentence of the result, which the page has too."""
    random, pupil = Random(1), Pupil(bench(), [Button()], tmp_path)

    async def drive(word: Word) -> list[PortOutputs | None]:
        await checkpoint()
        return [(("line", random.choice(["ok", "busy"])),) for _ in word]

    pupil.driver.drive = drive  # type: ignore[method-assign]
    anyio.run(pupil.run)
    assert pupil.learnt is not None
    tell(pupil, pupil.learnt, [], (), 1, as_json=False)
    assert [said.count("busy (") for said in (capsys.readouterr().out, " ".join(known(pupil, 1)))] == [1, 1]


def test_progress_names_what_is_under_way(tmp_path: Path) -> None:
    """Before the suites no number of tests is said; then how many of them are done."""
    pupil = Pupil(bench(), [Button()], tmp_path)
    pupil.learning.best = best = LearntMachine([[0]], [["ok"]])
    pupil.learning.since = None
    assert line(pupil).endswith("; sending what seems to change nothing")
    best.progress.done, best.progress.total = 1, 2
    assert line(pupil).endswith("; suite for k = 0: 1 of 2")
    pupil.learning.since = []
    assert line(pupil).endswith("; looking for more states")
    pupil.complete = True
    assert line(pupil).endswith("; measuring timers")
    pupil.learning.since = [(0, 0, 0)]
    assert line(pupil).endswith("; looking for more states, by paths up to 3 inputs, as Button(), Button(), Button()")
    pupil.differed = Parted((0,), {"ok": 2, "busy": 1})
    assert line(pupil).endswith(
        "; after Button() came ok (2 times); busy (1 time): "
        "a system that remembers earlier paths needs --start, --reset or a Life"
    )


def test_long_answers_are_shown_from_where_they_differ(tmp_path: Path) -> None:
    """Two welcomes of a server differ after 2,000 characters: the cut texts of both show the difference."""
    pupil = Pupil(bench(), [Button()], tmp_path)
    pupil.differed = Parted((0,), {f"{'welcome ' * 250}{each}{' bye' * 100}": 1 for each in ("one", "two")})
    assert [f"welcome {each} bye" in line(pupil) for each in ("one", "two")] == [True, True]
    assert line(pupil).count("(2,403 characters) (1 time)") == 2
    pupil.differed = Parted((0,), {f"{each}{' bye' * 100}": 1 for each in ("one", "two")})
    assert "came one bye bye" in line(pupil)
