"""Where the system is: addresses on the command line and in TOML files."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from otf.adapter import Bench, Life, Opener, Port
from otf.adapters import inprocess, process, serialport, tcp
from otf.cli.benches import load, parameters
from otf.cli.sut_addresses import addressed, opener
from otf.errors import UsageError
from otf.framing import prompt
from otf.models.coffee import bench as coffee
from otf.models.coffee import codec
from tests.cli.command import failed, otf

MACHINE = """
import sys
from otf.models.coffee import Machine
machine = Machine()
for line in sys.stdin.buffer:
    if answer := machine.take(line.strip()):
        sys.stdout.buffer.write(answer + b"\\n")
        sys.stdout.flush()
"""
FRAMING = prompt(b"> ")


def bench(**ports: Opener) -> Bench:
    """A bench with these ports."""
    return Bench(coffee().spec, codec=codec, ports=ports, name="machine", quiescence=0.5, latency=0.1, busy=0.1)


def port(bench: Bench, name: str) -> Port:
    """A port of a bench."""
    found = bench.ports[name]
    assert isinstance(found, Port)
    return found


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("/dev/ttyUSB0", "serialport"),
        ("/dev/serial/by-id/usb-1", "serialport"),
        ("COM3", "serialport"),
        ("socket://127.0.0.1:7000", "serialport"),
        ("rfc2217://127.0.0.1:7000", "serialport"),
        ("loop://", "serialport"),
        ("tcp://127.0.0.1:7000", "tcp"),
        ("tcp-listen://[::1]:7000", "tcp"),
        ("udp://127.0.0.1:7000?bind=127.0.0.1:0", "udp"),
        ("unix:/run/system.sock", "unix"),
        ("exec:./sut --verbose", "process"),
        ("pty:./sut", "process"),
    ],
)
def test_every_form_of_an_address_finds_its_adapter(url: str, kind: str) -> None:
    """The start of an address chooses the adapter."""
    assert opener(url).kind == kind


@pytest.mark.parametrize("url", ["", "ttyUSB0", "http://a:1", "tcp:", "exec:", "COMA"])
def test_what_is_no_address_is_told_with_all_forms(url: str) -> None:
    """The error lists all forms."""
    with pytest.raises(
        UsageError, match=r"is not an address of a system; write one of\n  /dev/ttyUSB0, COM3"
    ) as raised:
        opener(url)
    assert "tcp-listen://HOST:PORT" in str(raised.value)


def test_framing_goes_along_with_the_port() -> None:
    """A port keeps its framing on another transport, and its options at another address of the same kind."""
    before = serialport("/dev/ttyUSB0", framing=FRAMING, baudrate=115_200)
    assert opener("tcp://127.0.0.1:1", before).framing is FRAMING
    again = opener("/dev/ttyUSB1", before)
    assert again.framing is FRAMING
    assert "115200" in repr(again.open)


def test_a_port_is_named_where_there_are_several() -> None:
    """A bare address is enough for one port; with several each is named, and an unknown one is told."""
    two = bench(one=tcp("127.0.0.1:1"), two=tcp("127.0.0.1:2"))
    moved = addressed(two, ["two=udp://127.0.0.1:3"])
    assert (port(moved, "one").kind, port(moved, "two").kind) == ("tcp", "udp")
    for text in ("udp://127.0.0.1:3", "three=udp://127.0.0.1:3"):
        with pytest.raises(UsageError, match=r"the bench machine has the ports one, two; write PORT=URL"):
            addressed(two, [text])
    single = addressed(bench(line=tcp("127.0.0.1:1")), ["udp://127.0.0.1:3?bind=127.0.0.1:0"])
    assert port(single, "line").kind == "udp"


def test_a_system_at_another_address_needs_no_server() -> None:
    """The bench's own is started as long as it has one of the ports."""
    two = bench(one=tcp("127.0.0.1:1"), two=tcp("127.0.0.1:2"))
    two = replace(two, life=Life(server="serve", ready="ready", keep=True))
    for suts, server in ((["one=udp://127.0.0.1:3"], "serve"), (["one=udp://127.0.0.1:3", "two=tcp://h:4"], None)):
        life = addressed(two, suts).life
        assert life is not None
        assert (life.server, life.keep) == (server, True)


def test_a_bench_that_finds_its_system_by_itself_says_so() -> None:
    """A bench without ports has no addresses to replace."""
    with pytest.raises(UsageError, match="the bench conference opens its ports itself"):
        addressed(load("conference"), ["tcp://127.0.0.1:1"])


def test_what_took_no_time_takes_some_on_a_wire() -> None:
    """A bench of a system in this process gets times when it is moved to a wire, and others keep theirs."""
    moved = addressed(coffee(), ["tcp://127.0.0.1:1"])
    assert (moved.quiescence, moved.latency, moved.busy) == (None, 0.002, 0.002)
    kept = addressed(bench(line=tcp("127.0.0.1:1")), ["udp://127.0.0.1:1"])
    assert (kept.quiescence, kept.latency, kept.busy) == (0.5, 0.1, 0.1)
    assert addressed(coffee(), []).latency == 0.0
    assert port(bench(line=inprocess(lambda: lambda _: None)), "line").at is None


def test_a_program_keeps_how_it_is_started() -> None:
    """Another program on the same port waits for the same line, on pipes or on a terminal."""
    before = process("./sut", ready="listening", grace=1.0)
    for url in ("exec:./other", "pty:./other"):
        again = opener(url, before)
        assert "listening" in repr(again.open)
        assert ("pty=True" in repr(again.open) or "'pty': True" in repr(again.open)) is url.startswith("pty")


@pytest.mark.real
@pytest.mark.parametrize("scheme", ["exec", "pty"])
def test_the_same_spec_and_codec_on_another_wire(scheme: str, tmp_path: Path) -> None:
    """The coffee machine passes behind pipes and behind a terminal as it does in process."""
    command = f"{scheme}:{shlex.join([sys.executable, '-c', MACHINE])}"
    done = otf("run", "coffee", "--sut", command, "--traces", 1, "--steps", 20, "--json", "--out", tmp_path)
    assert (done.status, done.data["verdict"]) == (0, "pass")


def test_nobody_there_is_inconclusive(tmp_path: Path) -> None:
    """If no one listens at the address, the exit status is that of an inconclusive run."""
    done = otf("run", "coffee", "--sut", "unix:/nowhere", "--traces", 1, "--out", tmp_path)
    assert done.status == 3
    assert "there is no such socket, even after 2 s; start the system" in done.out


@pytest.mark.parametrize("command", ["run", "suite", "mutants", "step"])
def test_each_command_that_drives_a_system_takes_its_address_and_its_times(command: str, tmp_path: Path) -> None:
    """`--sut`, `--quiescence` and, except for a walk by hand, `--jobs`."""
    live = ("--live",) if command == "step" else ()
    assert "'nothing' is not an address of a system" in failed(command, "coffee", "--sut", "nothing", *live)
    assert "a time is a number of seconds" in failed(command, "coffee", "--quiescence", "-1", *live)
    if command != "step":
        done = otf(command, "coffee", "--jobs", 2, "--quiescence", 0.001, "--out", tmp_path / "out")
        assert (done.status, done.err) == (0, "")


# Descriptions


def written(folder: Path, text: str) -> str:
    """A description in a file."""
    file = folder / "bench.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_a_bench_can_be_described(tmp_path: Path) -> None:
    """A file names a bench, and changes its addresses, times and parameters."""
    file = written(
        tmp_path,
        'bench = "coffee"\nquiescence = 0.1\nL = 0.01\nretries = 3\n[ports]\nline = "tcp://127.0.0.1:7000"\n'
        '[set]\nfault = "dry"\n',
    )
    found = load(file)
    assert (found.quiescence, found.latency, found.retries) == (0.1, 0.01, 3)
    assert found.parameters["fault"] == "dry"
    assert port(found, "line").kind == "tcp"
    assert load(file, {"fault": "free"}).parameters["fault"] == "free"
    assert parameters(file) == {**parameters("coffee"), "fault": "dry"}


def test_a_description_finds_the_file_beside_it(tmp_path: Path) -> None:
    """A bench in a file is looked for where the description lies."""
    (tmp_path / "mine.py").write_text("from otf.models.coffee import bench\n", encoding="utf-8")
    assert load(written(tmp_path, 'bench = "mine.py"\n')).name == "coffee"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("bench = ", "not TOML: "),
        ("quiescence = 1.0", "missing required field `bench`; the keys are bench, quiescence, L, R, retries"),
        ('bench = "coffee"\nport = "a"', "there is no key port; did you mean ports? the keys are"),
        ('bench = "coffee"\nL = "long"', "L: a number is needed; the keys are"),
        ('bench = "other.toml"', "a description must name a bench, not another description"),
        ('bench = "coffee"\n[ports]\nnone = "tcp://a:1"', "the bench coffee has the ports line"),
        ('bench = "cofee"', "did you mean coffee?"),
    ],
)
def test_what_is_wrong_in_a_description_is_told(tmp_path: Path, text: str, why: str) -> None:
    """The error names the file, and what is allowed."""
    with pytest.raises(UsageError) as raised:
        load(written(tmp_path, text))
    assert "bench.toml: " in str(raised.value)
    assert why in str(raised.value)


def test_a_description_that_is_not_there_is_told(tmp_path: Path) -> None:
    """So is a file that does not exist."""
    with pytest.raises(UsageError, match="No such file or directory; name a TOML file that describes a bench"):
        load(str(tmp_path / "none.toml"))


def test_serial_ports_are_listed() -> None:
    """`otf list --ports` shows them, and as one JSON document too."""
    assert otf("list", "--ports").out.startswith("serial ports (otf run BENCH --sut PORT=NAME)\n")
    assert list(otf("list", "--ports", "--json").data) == ["ports"]
