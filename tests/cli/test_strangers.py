"""What a trace from a stranger may choose: what its bench allows, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from otf import UsageError, offline, trace_may_set
from otf.cli.benches import load
from otf.cli.traces import repeated
from otf.models import coffee
from tests.cli.command import failed, machine, otf, recorded, rewrite

FROM = ("--bench", "machine.py:make")
COMMANDS = ("replay", "show", "rerun", "shrink")


def stranger(trace: Path, header: dict[str, Any] | None = None, **parameters: object) -> Path:
    """Write a trace whose header was changed."""
    lines = recorded(trace)
    lines[0] |= header or {}
    lines[0]["parameters"] |= parameters
    return rewrite(trace.with_name("stranger.jsonl"), lines)


def modbus(folder: Path, port: str) -> Path:
    """A trace of the shipped bench `modbus` that wants its port to be this."""
    head = {
        "event": "start", "format": 1, "run": "x", "bench": "modbus", "parameters": {"port": port}, "fingerprint": "",
        "seed": 1, "strategy": "script", "mode": "strict", "inputs": "uioco", "quiescence": 0.03, "L": 0.005, "R": 0.01,
    }  # fmt: skip
    sent = {"event": "sent", "n": 1, "at": 0.0, "port": "line", "value": {"type": "ReadCoils", "start": 0, "count": 1}}
    return rewrite(folder / "modbus.jsonl", [head, sent])


@pytest.mark.parametrize("command", ["rerun", "shrink", "replay", "show"])
def test_a_trace_writes_no_file(folder: Path, command: str) -> None:
    """A port that a trace names is not opened: this one would write what is sent to a file, and empty it before."""
    profile = folder / "profile"
    profile.write_text("mine", encoding="utf-8")
    told = failed(command, modbus(folder, f"spy:///dev/ptmx?file={profile}"))
    assert "the trace was recorded with port='spy:///dev/ptmx?file=" in told
    assert told.endswith("which a trace may not choose, since it may come from a stranger: set it yourself with "
                         "--set port=…, to the value of the trace or of a repaired system; --set KEY= is the empty "
                         "text\n")  # fmt: skip
    assert profile.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("kind", ["tcp", "udp", "serial"])
def test_a_trace_contacts_no_address(folder: Path, kind: str) -> None:
    """Through the benches that `otf new` writes nothing is sent to an address that a trace names."""
    otf("new", "lamp", "--kind", kind)
    otf("run", "lamp.py", "--set", "broken=true", "--seed", 1, "--traces", 1, "--steps", 30, "--out", "out")
    trace = stranger(folder / "out" / "path-0001.jsonl", url="tcp://192.0.2.1:7")
    for command in COMMANDS:
        assert "--set url=…" in failed(command, trace, "--bench", "lamp.py")
    # what it may choose is taken from it
    assert otf("rerun", trace, "--bench", "lamp.py", "--set", "url=").status == 1


def test_what_differs_has_to_be_said_again(folder: Path, trace: Path) -> None:
    """What a bench does not let a trace choose is refused by every command, and taken from the command line."""
    trace = stranger(trace, maker="other", price=3.5)
    for command in COMMANDS:
        told = failed(command, trace, *FROM)
        assert "recorded with price=3.5, maker='other', which" in told or "maker='other', price=3.5, which" in told
        assert "--set maker=…" in failed(command, trace, *FROM, "--set", "price=2")
        assert otf(command, trace, *FROM, "--set", "price=2", "--set", "maker=mine").status == (command != "show")
    rewrite(folder / "out" / "path-0001.jsonl", recorded(trace))
    assert "--set price=…" in failed("report", folder / "out", *FROM)


@pytest.mark.parametrize("value", [0, 10, 2**70, "2", [1], {"a": 1}, None, 1.5])
def test_a_trace_chooses_within_bounds(trace: Path, value: object) -> None:
    """What a trace may choose has bounds, and what is beyond them is refused before anything is made of it."""
    assert f"recorded with cups={value!r}, which a trace may not choose" in failed(
        "rerun", stranger(trace, cups=value), *FROM
    )
    assert otf("rerun", stranger(trace, cups=9), *FROM).status == 1


def test_a_size_that_only_costs() -> None:
    """A number of conferences that would take all memory is refused, whoever says it."""
    assert "conferences=9223372036854775808: there may be 1 to 20" in failed(
        "run", "conference", "--set", f"conferences={2**63}"
    )
    assert "a time is a number of seconds, from 0 to 86400 (a day)" in failed("run", "coffee", "--set", f"R={2**31}")


@pytest.mark.parametrize(("field", "name"), [("R", "R"), ("L", "L"), ("quiescence", "quiescence")])
def test_a_trace_makes_nobody_wait(trace: Path, field: str, name: str) -> None:
    """Times of a trace that would be waited for are bounded; where nothing is driven they cost nothing."""
    slow = stranger(trace, {field: 1000.0})
    assert f"recorded with {name}=1000.0, which a trace may not choose" in failed("rerun", slow, *FROM)
    assert f"--set {name}=…" in failed("shrink", slow, *FROM)
    assert otf("show", slow, *FROM).status == 0
    assert otf("rerun", slow, *FROM, "--set", f"{name}=0").status == 1
    assert f"--set {name}=…" in failed("show", stranger(trace, {field: 2.0**31}), *FROM)


@pytest.mark.parametrize("command", ["rerun", "shrink"])
def test_a_burst_without_end(trace: Path, command: str) -> None:
    """A burst is no larger than the inputs of the trace: to look for a smaller one must come to its end."""
    assert otf(command, stranger(trace, {"burst": 2**62}), *FROM).status in {1, 3}
    assert "burst=-1: at least 1 is needed" in failed(command, stranger(trace, {"burst": -1}), *FROM)


def test_what_has_to_be_said_again_is_told(folder: Path) -> None:
    """A campaign tells what to call with all that its own traces may not choose."""
    machine(folder)
    own = ("--set", "broken=true", "--set", "maker=my own", "--set", "cups=2", "--set", "price=2.5")
    done = otf("run", "machine.py:make", *own, "--seed", 1, "--traces", 1, "--out", "out")
    call = "out/path-0001.strict.shrunk.jsonl --bench machine.py:make --set price=2.5 --set 'maker=my own'"
    assert f"look at it:      otf show {call}\n" in done.out
    assert f"drive it again:  otf rerun {call}\n" in done.out
    patient = load("machine.py:make", {"quiescence": "1.5", "R": 1})
    assert repeated(patient, "machine.py:make", drives=True) == " --set quiescence=1.5"
    assert repeated(patient, "machine.py:make", drives=False) == ""


def test_a_description_says_what_its_traces_need_not(folder: Path) -> None:
    """What a description of a bench says need not be said again for its traces."""
    machine(folder)
    described = folder / "mine.toml"
    described.write_text('bench = "machine.py:make"\n[set]\nmaker = "other"\nbroken = true\n', encoding="utf-8")
    otf("run", described, "--seed", 1, "--traces", 1, "--mode", "strict", "--out", "out")
    trace = folder / "out" / "path-0001.jsonl"
    assert otf("rerun", trace, "--bench", described).status == 1
    assert "--set maker=…" in failed("rerun", stranger(trace, maker="third"), "--bench", described)
    assert otf("rerun", stranger(trace, broken=False), "--bench", described).status == 0


@pytest.mark.parametrize("port", ["spy:///dev/ptmx?file=x", "ALT://x?class=y", "hwgrep://."])
def test_a_description_opens_nothing_but_ports(folder: Path, port: str) -> None:
    """Names of ports that do more than open one are for the command line, and for Python."""
    for table, bench in (("set", "modbus"), ("ports", "coffee")):
        (folder / "mine.toml").write_text(f'bench = "{bench}"\n[{table}]\nline = "{port}"\n', encoding="utf-8")
        assert "do more than open a port: give it on the command line" in failed("run", "mine.toml")


def test_a_parameter_that_there_is_not() -> None:
    """What a trace may set has to be a parameter."""
    with pytest.raises(UsageError, match=r"bench: there is no parameter falt=; did you mean fault\?"):
        trace_may_set(falt=("none",))(coffee.bench)
    with pytest.raises(UsageError, match="fault='none': a tuple of values is needed"):
        trace_may_set(fault="none")(coffee.bench)
    with pytest.raises(UsageError, match="it decorates the function that makes a bench, not a Bench"):
        trace_may_set(fault=("none",))(coffee.bench())  # type: ignore[type-var]


def test_a_trace_that_is_dear_to_judge(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trace with thousands of inputs in flight is given up as inconclusive; a failure before that stands."""
    monkeypatch.setattr(offline, "SECONDS", 0.0)
    otf("run", "coffee", "--seed", 2, "--traces", 1, "--steps", 5, "--out", "out")
    head, *rest = recorded(folder / "out" / "path-0001.jsonl")
    sent = next(line for line in rest if line["event"] == "sent")
    done = otf("replay", rewrite(folder / "dear.jsonl", [head, *[sent] * 3000]), "--json")
    assert (done.status, done.data[0]["verdict"]) == (3, "inconclusive")
    assert done.data[0]["steps"] < 3000
    undecodable = {"event": "seen", "at": 0.1, "port": "line", "value": "a cup"}
    done = otf("replay", rewrite(folder / "dear.jsonl", [head, undecodable, *[sent] * 3000]), "--json")
    assert (done.status, done.data[0]["verdict"]) == (1, "fail")
