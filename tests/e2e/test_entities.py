"""Entities that do not start, die, stay silent, flood, or say what nobody understands."""

import socket
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Result, otf, recorded
from tests.e2e.entities import entity, gone

pytestmark = pytest.mark.real

ROOMY = ("--set", "L=0.05", "--set", "R=0.05", "--quiescence", 0.05)
"""Times for a machine that is busy with other tests: where a correct entity must not be blamed."""


def run(folder: Path, command: str, *options: object) -> Result:
    """A short campaign against an entity; afterwards nothing of it is left, and each trace is whole."""
    once = ("--traces", 1, "--steps", 3, "--seed", 1, "--no-shrink", "--mode", "strict", "--out", "out")
    done = otf("run", "conference", "--set", f"entity={command}", *once, *options)
    assert gone(folder)
    assert recorded(folder / "out" / "path-0001.jsonl")[-1]["event"] == "end"
    return done


def failure(folder: Path) -> dict[str, Any]:
    """The reason of the failure, as it stands in the trace; judged offline the trace fails in the same way."""
    trace = folder / "out" / "path-0001.jsonl"
    reason: dict[str, Any] = recorded(trace)[-1]["reason"]
    again = otf("replay", trace, "--set", "entity=", "--json").data[0]
    assert (again["verdict"], again["event"]) == ("fail", reason["event"])
    return reason


# No contact


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("nowhere --loud", "cannot start `nowhere --loud --id 1 --listen 127.0.0.1:"),
        ("./notes.txt", "permission denied; it must be a file that you may execute (`chmod +x`)"),
        ("'nowhere", 'not a command line: "\'nowhere": no closing quotation'),
    ],
)
def test_an_entity_that_cannot_be_started(folder: Path, command: str, why: str) -> None:
    """What is not a program is not a contact: why, and what to do; a command line that is none is wrong usage."""
    (folder / "notes.txt").touch()
    done = otf("run", "conference", "--set", f"entity={command}", "--out", "out")
    assert why in done.said
    assert done.status == (2 if "command line" in why else 3)


def test_no_contact_as_a_document(folder: Path) -> None:
    """With --json what kept us from contact stands in the document, and the verdict is inconclusive."""
    done = run(folder, "nowhere", "--json")
    assert (done.status, done.data["verdict"], done.data["failures"]) == (3, "inconclusive", [])
    assert "cannot start `nowhere" in done.data["trouble"]


@pytest.mark.parametrize(
    ("program", "how"),
    [("sys.exit(5)", "exit status 5"), ("os.kill(os.getpid(), signal.SIGSEGV)", "killed by SIGSEGV")],
)
def test_an_entity_that_dies_at_its_start(folder: Path, program: str, how: str) -> None:
    """One that ends before it is ready is not a contact; how it ended and what it said is shown."""
    said = "os.write(2, b'no disk\\nno hope\\x1b[31m\\n'); os.write(1, b'starting\\n'); "
    done = run(folder, entity(folder, said + program))
    assert done.status == 3
    assert f"was never ready: {how}, and no line 'ready' before\n" in done.out
    assert "  before it was ready: starting\n  stderr: no disk\n  stderr: no hope\\x1b[31m\n" in done.out
    assert "INCONCLUSIVE: no contact with the system under test (0 paths, 0 steps, " in done.out


def test_a_port_that_is_taken(folder: Path) -> None:
    """An entity that finds its address in use says so and ends; a path is tried twice before that is not a contact."""
    done = run(folder, entity(folder, "sock = listen()\ncorrect()"))
    assert done.status == 3
    assert "stderr: entity: cannot listen on 127.0.0.1:" in done.out
    assert ": Address already in use" in done.out


def test_a_port_of_the_tester_that_is_taken(folder: Path) -> None:
    """A bench whose own address is in use is told, with the way to find out by whom."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        taken = f"127.0.0.1:{other.getsockname()[1]}"
        (folder / "taken.py").write_text(
            "from otf import Bench, Spec, goto, lines\nfrom otf.adapters import udp\n"
            "spec = Spec(lambda state, inp: [goto(state)], 0, ['a'])\n"
            f"bench = Bench(spec, ports={{'far': udp('127.0.0.1:9', bind={taken!r})}}, codec=lines({{}}))\n",
            encoding="utf-8",
        )
        done = otf("run", "taken.py", "--out", "out")
    assert done.status == 3
    assert (
        f"stopped: cannot bind udp {taken}: address already in use; another socket has it; stop its program" in done.out
    )


def test_an_entity_that_is_never_ready(folder: Path) -> None:
    """One that does not say that it is ready in time is not a contact."""
    done = run(folder, entity(folder, "silent()"), "--set", "ready_timeout=0.1")
    assert done.status == 3
    assert "did not print the line 'ready' within 0.1 s" in done.out
    assert "  it printed nothing at all\n" in done.out


def test_an_entity_that_talks_without_end_before_it_is_ready(folder: Path) -> None:
    """A flood in the place of the line `ready` is not a contact; the last lines of it are shown."""
    done = run(folder, entity(folder, "while True: os.write(1, b'hello\\n' * 100)"), "--set", "ready_timeout=0.2")
    assert done.status == 3
    assert done.out.count("before it was ready: hello") == 20


# Failures


def test_an_entity_that_dies_in_mid_run(folder: Path) -> None:
    """A death in mid-run is a failure: with the exit status and the last lines on standard error."""
    program = "start()\nfor n in range(30): os.write(2, b'line %d\\n' % n)\nsys.exit(7)"
    done = run(folder, entity(folder, program))
    assert done.status == 1
    assert "the system under test ended or closed a port" in done.out
    assert "  seen:            the port ended: exit status 7  (on user)" in done.out
    assert done.out.count("user: stderr: line ") == 20
    assert failure(folder)["note"].endswith("user: stderr: line 28\nuser: stderr: line 29")


def test_an_entity_that_is_killed_in_mid_run(folder: Path) -> None:
    """A crash is told by its signal."""
    done = run(folder, entity(folder, "start()\nos.kill(os.getpid(), signal.SIGABRT)"))
    assert (done.status, "the port ended: killed by SIGABRT" in done.out) == (1, True)


def test_an_entity_that_closes_its_output(folder: Path) -> None:
    """A closed pipe of an entity that lives on is not a silence but an end."""
    done = run(folder, entity(folder, "start()\nos.close(1)\nsilent()"))
    assert done.status == 1
    assert "the port ended: closed its output  (on user)" in done.out


def test_an_entity_that_is_stopped(folder: Path) -> None:
    """Who stopped it is not known: nobody is blamed, and what to do is told."""
    done = run(folder, entity(folder, "start()\nos.kill(os.getpid(), signal.SIGSTOP)"))
    assert done.status == 3
    assert "is stopped by SIGSTOP or Ctrl-Z; let it go on with `kill -CONT " in done.out


def test_an_entity_that_never_answers(folder: Path) -> None:
    """One that is silent owes an output: a failure, as soon as the silence is believed."""
    done = run(folder, entity(folder, "start()\nsilent()"))
    assert done.status == 1
    assert "an output that the model requires did not come" in done.out
    assert failure(folder)["signature"]["seen"] == "silence"


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("while True: os.write(1, b'data n1 m1\\n' * 1000)", id="lines"),
        pytest.param("while True: os.write(1, b'x' * 65536)", id="a line without end"),
        pytest.param("while True:\n    for peer in peers: sock.sendto(b'J\\x01\\x02n1\\x02c9', peer)", id="datagrams"),
        pytest.param("while True: os.write(2, b'x' * 65536)", id="errors"),
    ],
)
def test_an_entity_that_floods(folder: Path, program: str) -> None:
    """Output without end, on whatever channel, is a failure; the trace stays small."""
    done = run(folder, entity(folder, f"sock = start()\n{program}"))
    assert done.status == 1
    assert (folder / "out" / "path-0001.jsonl").stat().st_size < 20_000_000


@pytest.mark.parametrize(
    ("program", "shown"),
    [
        (
            r"os.write(1, b'\xff\xfe\x1b[31m\n')",
            r"Undecodable(raw=b'\xff\xfe\x1b[31m', why=\"'utf-8' codec can't decode",
        ),
        (
            r"os.write(1, b'hello\n')",
            "Undecodable(raw=b'hello', why=\"the line b'hello' is not of the form: data NICK TEXT",
        ),
        (r"sock.sendto(b'Z\x01', peers[0])", r"Undecodable(raw=b'Z\x01', why='the datagram 5a 01 has bytes missing"),
        (
            r"sock.sendto(b'', peers[0])",
            "Undecodable(raw=b'', why='the datagram  does not begin with a type and the id 1",
        ),
    ],
)
def test_bytes_that_do_not_decode(folder: Path, program: str, shown: str) -> None:
    """Bytes that mean nothing are a failure that shows them, and why they mean nothing; the terminal does not obey."""
    done = run(folder, entity(folder, f"sock = start()\n{program}\nsilent()"))
    assert done.status == 1
    assert "bytes came that do not decode" in done.out
    assert shown.replace('\\"', '"') in done.out
    assert done.out.replace("\n", "").isprintable()


# Strangers


STRANGERS = """
other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for peer in peers * 3: other.sendto(b"J\\x01\\x02n1\\x02c1", peer)
"""


def test_strangers_are_ignored(folder: Path) -> None:
    """Datagrams from another address than the entity's are no outputs of it: a correct entity passes."""
    assert run(folder, entity(folder, f"{STRANGERS}\ncorrect()"), *ROOMY).status == 0


def test_strangers_are_counted(folder: Path) -> None:
    """Where something failed, it is said how many datagrams were ignored: they may be the reason."""
    done = run(folder, entity(folder, f"start()\n{STRANGERS}\nsilent()"))
    assert done.status == 1
    assert "    cpe2: 3 datagrams from strangers were ignored (the last from 127.0.0.1:" in done.out
    assert "    cpe3: 3 datagrams from strangers were ignored (the last from 127.0.0.1:" in done.out


# Stopping


def test_an_entity_that_does_not_want_to_end(folder: Path) -> None:
    """One that ignores the end of its input and SIGTERM, and has started another, is killed with that one."""
    program = (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nif os.fork() == 0:\n    time.sleep(600)\n"
        "try: correct()\nfinally: time.sleep(600)"
    )
    done = run(folder, entity(folder, program), *ROOMY)
    assert done.status == 0


def test_a_failure_stays_one_where_contact_is_lost_later(folder: Path) -> None:
    """An entity that starts only once: what its first run showed is told, although nothing can be shrunk."""
    once = (
        "if os.path.exists(__file__ + '.ran'): sys.exit('not again')\nopen(__file__ + '.ran', 'w')\nstart()\nsilent()"
    )
    command = entity(folder, once)
    strict = ("--traces", 1, "--steps", 3, "--seed", 1, "--mode", "strict")
    done = otf("run", "conference", "--set", f"entity={command}", *strict)
    assert done.status == 1
    assert "FAIL (missing)" in done.out
    assert "stopped: " in done.out
    assert "stderr: not again" in done.out


def test_a_doubtful_failure_needs_contact(folder: Path) -> None:
    """A failure of eager mode that cannot be seen again, since the entity starts only once, is inconclusive."""
    once = (
        "if os.path.exists(__file__ + '.ran'): sys.exit('not again')\nopen(__file__ + '.ran', 'w')\nstart()\nsilent()"
    )
    command = entity(folder, once)
    done = otf("run", "conference", "--set", f"entity={command}", "--traces", 1, "--steps", 3, "--seed", 1)
    assert done.status == 3
    assert "a failure was seen in eager mode, and there was no contact to see it again" in done.out
    assert "  look at it:      otf show otf-runs/" in done.out
