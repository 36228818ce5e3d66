"""Servers: when they are ready, when another process has their port, and how they live on from path to path."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Collection, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import anyio
import pytest

from otf.adapter import Bench, Expect, Life, Listening, Opener
from otf.adapter.child.server import Server
from otf.adapter.kept import keeping
from otf.adapter.observed_rest import owners
from otf.adapter.observed_rest.sockets import receiving
from otf.adapters import inprocess, tcp, udp
from otf.codec import lines
from otf.core.stalls import CpuUse
from otf.errors import ContactError
from otf.models import coffee
from otf.models.serving import free_port
from otf.runner import lookout
from otf.spec import Spec
from tests.adapters.harness import SECONDS, Baseline, python
from tests.runner.playing import conduct

pytestmark = pytest.mark.anyio
HOST = "127.0.0.1"
SERVER = """
import os, socket, sys, time
kind = socket.SOCK_DGRAM if sys.argv[2] == "udp" else socket.SOCK_STREAM
server = socket.socket(socket.AF_INET, kind)
server.bind(("127.0.0.1", int(sys.argv[1])))
kind == socket.SOCK_STREAM and server.listen()
print(f"version 7, up and running as {os.getpid()}", flush=True)
time.sleep(100)
"""


def command(port: int, kind: str) -> list[str]:
    """The command of a server that only listens."""
    return [*python(SERVER), str(port), kind]


def bench(life: Life, port: Opener) -> Bench:
    """A bench with one port."""
    return Bench(Spec(lambda _state, _inp: (), 0, []), codec=lines({}), ports={"p": port}, life=life, retries=0)


async def refused(life: Life, port: Opener) -> str:
    """Why a system cannot be brought to life."""
    with pytest.raises(ContactError) as raised:
        async with bench(life, port).open():
            pass
    return str(raised.value)


def silent() -> Opener:
    """A port without a system."""
    return inprocess(lambda: lambda _: None)


@contextmanager
def taken(kind: str) -> Generator[int]:
    """Hold a port, as a server does that was started long ago."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM) as holder:
        holder.bind((HOST, 0))
        if kind == "tcp":
            holder.listen()
        yield holder.getsockname()[1]


def to(port: int, kind: str) -> Opener:
    """The adapter to a port."""
    return udp(f"{HOST}:{port}") if kind == "udp" else tcp(f"{HOST}:{port}")


@pytest.mark.real
@pytest.mark.parametrize("kind", ["tcp", "udp"])
@pytest.mark.parametrize("waits", [False, True])
async def test_a_port_that_another_process_holds(kind: str, waits: bool) -> None:
    """A server that cannot bind its port dies at once; the process that answers there is not judged in its place."""
    before = Baseline()
    with taken(kind) as port:
        life = Life(server=command(port, kind), ready=Listening(port, udp=kind == "udp") if waits else None)
        why = await refused(life, to(port, kind))
    assert f"{kind.upper()} port 127.0.0.1:{port} is held by the process" in why
    assert not before.lasting_leaks()


@pytest.mark.real
@pytest.mark.parametrize("kind", ["tcp", "udp"])
@pytest.mark.parametrize("way", ["port", "pattern", "function"])
async def test_when_a_server_is_ready(kind: str, way: str) -> None:
    """It listens on a port, TCP or UDP; it printed a line with a pattern; or a function finds so."""
    port = free_port(socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
    calls: list[int] = []

    def third() -> bool:
        calls.append(1)
        return len(calls) > 2 and bool(receiving("udp" if kind == "udp" else "tcp", (HOST, port)))

    ready: dict[str, Any] = {
        "port": Listening(port, udp=kind == "udp"),
        "pattern": re.compile(r"^version \d+, up"),
        "function": third,
    }
    async with bench(Life(server=command(port, kind), ready=ready[way]), to(port, kind)).open() as opened:
        assert receiving("udp" if kind == "udp" else "tcp", (HOST, port))
        assert opened["p"].receive() == []


@pytest.mark.real
@pytest.mark.parametrize(
    ("ready", "why"),
    [
        (Listening(1), "did not listen on the TCP port 127.0.0.1:1 within 0.2 s"),
        (re.compile("nothing like it"), "printed no line with 'nothing like it' within 0.2 s"),
        (lambda: False, "was not ready by its function within 0.2 s"),
    ],
)
async def test_a_server_that_is_never_ready(ready: Any, why: str) -> None:  # noqa: ANN401 -- all there is
    """The error names what was waited for."""
    port = free_port(socket.SOCK_STREAM)
    assert why in await refused(Life(server=command(port, "tcp"), ready=ready, timeout=0.2), silent())


@pytest.mark.real
async def test_a_server_that_has_died_is_no_system(tmp_path: Path) -> None:
    """Also where nothing shows that it is ready: what it printed is named."""
    number = tmp_path / "pid"

    async def late() -> None:
        import anyio

        while not number.exists() or _runs(number.read_text()):  # noqa: ASYNC110 -- it waits for another process
            await anyio.sleep(0.01)

    code = f"import os, sys; open({str(number)!r}, 'x').write(str(os.getpid())); sys.exit('no licence')"
    life = Life(server=python(code), health=late)
    assert "has ended (exit status 1)\n  printed: no licence" in await refused(life, silent())


def _runs(pid: str) -> bool:
    try:
        return not pid or ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


@pytest.mark.real
async def test_the_last_words_of_a_server() -> None:
    """A server that has ended says how; one that runs is quoted only where a port of it has ended."""
    server = Server(["sh", "-c", "echo oops; echo ready; read gone; exit 3"], ready="ready")
    try:
        await server.until_ready(SECONDS)
        assert await server.last_words(wanted=False) == []
        printed = ["the server printed: oops", "the server printed: ready"]
        assert await server.last_words(wanted=True) == printed
        os.write(server.child.stdin, b"\n")
        with anyio.fail_after(SECONDS):
            while not server.child.ended():  # noqa: ASYNC110 -- what it waits for is in another process
                await anyio.sleep(0.001)
        assert await server.last_words(wanted=False) == ["the server ended: exit status 3", *printed]
    finally:
        await server.stop(SECONDS)
    assert await server.last_words(wanted=True) == []


@pytest.mark.real
async def test_what_a_running_server_writes_to_standard_error() -> None:
    """Since a moment, with the seconds since then, and cut; nothing of what it wrote before, or elsewhere."""
    long = r"printf 'oops %s\n' $(yes | head -900 | tr -d '\n') >&2"
    server = Server(["sh", "-c", f"echo banner >&2; echo ready; read go; {long}; read gone"], ready="ready")

    async def written(since: float) -> list[str]:
        with anyio.fail_after(SECONDS):
            while not (words := await server.last_words(wanted=False, since=since)):
                pass
        return words

    try:
        began = monotonic()
        assert await written(0.0)
        since = monotonic()
        os.write(server.child.stdin, b"\n")
        (line,) = await written(since)
        assert re.fullmatch(r"stderr at 0\.\d{4} s: oops y+", line)
        assert line.count("y") == 500 - len("oops ")
        assert 0 < float(line.split()[2]) < monotonic() - began
    finally:
        await server.stop(SECONDS)


@pytest.mark.real
async def test_a_failure_has_what_a_running_server_wrote_meanwhile() -> None:
    """An output is missing: the trace-back of a server that goes on stands in the remarks, escaped."""
    life = Life(
        server=["sh", "-c", r"echo ready; while printf '\033[31moops\f\n' >&2; do sleep 0.001; done"], ready="ready"
    )
    timed = replace(coffee.bench(), ports={"line": silent()}, life=life, quiescence=0.05, silence="timed")
    played = await conduct(timed, [coffee.Coin(10), coffee.Button()])
    assert played.verdict.failure is not None
    assert re.search(r"^stderr at \d+\.\d{4} s: \\x1b\[31moops\\x0c$", played.verdict.failure.note, re.MULTILINE)


@pytest.mark.real
async def test_a_failure_has_the_last_words_of_the_server() -> None:
    """A port ended: what its server printed is in the remarks."""

    def raises(_data: bytes) -> None:
        raise ValueError

    life = Life(server=["sh", "-c", "echo oops; echo ready; exec sleep 100"], ready="ready")
    played = await conduct(
        replace(coffee.bench(), ports={"line": inprocess(lambda: raises)}, life=life), [coffee.Button()]
    )
    assert played.verdict.failure is not None
    assert "\nthe server printed: oops\nthe server printed: ready" in played.verdict.failure.note


async def test_what_cannot_be_known_accuses_no_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where there is no /proc, no port has a holder and no process a start."""
    monkeypatch.setattr(owners, "PROC", tmp_path)
    assert owners.start_of(1) == 0
    with socket.create_server((HOST, 0)) as held:
        address = HOST, int(held.getsockname()[1])
        assert receiving("tcp", address)
        assert not owners.stranger("tcp", address, 1, 0)


@pytest.mark.real
@pytest.mark.parametrize(
    ("bound", "asked", "there"),
    [
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "127.0.0.2", False),
        ("127.0.0.1", "localhost", True),
        ("127.0.0.1", "::ffff:127.0.0.1", True),
        ("0.0.0.0", "127.0.0.1", True),  # noqa: S104 -- both ends are here
    ],
)
def test_who_receives_what_is_sent_to_a_port(bound: str, asked: str, there: bool) -> None:
    """A socket of this address, or of all; a host with a name may have any. A connection receives nothing there."""
    with socket.create_server((bound, 0)) as held, socket.create_connection(("127.0.0.1", held.getsockname()[1])):
        found = receiving("tcp", (asked, int(held.getsockname()[1])))
        assert (found == {str(os.fstat(held.fileno()).st_ino)}) is there


def board(answers: dict[bytes, list[Any]]) -> Opener:
    """A system with these answers."""
    return inprocess(lambda: lambda data: answers.get(data, []))


async def test_a_sequence_waits_for_answers() -> None:
    """Send this, wait for that: the prompt may come late, and what comes before it is dropped."""
    answers: dict[bytes, list[Any]] = {b"reset": [b"booting", (0.02, b"U-Boot 2023.01"), (0.04, b"=> ")]}
    life = Life(inband=[("p", b"reset"), Expect("p", rb"=> $"), ("p", b"x")])
    async with bench(life, board(answers)).open() as opened:
        assert opened["p"].receive() == []
    life = Life(inband=[("p", b"reset"), Expect("p", rb"login:", 0.1)])
    why = await refused(life, board(answers))
    assert why.endswith("no frame with b'login:' within 0.1 s; the last that came is b'=> '")
    assert (await refused(life, silent())).endswith("; nothing came")


async def test_power_is_the_last_resort_and_has_a_budget() -> None:
    """If the sequence fails the power is cycled, and all is tried again; after so many times that is over."""
    power: list[str] = []

    def system(data: bytes) -> list[bytes]:
        return [b"=> "] if data == b"reset" and len(power) % 2 else []

    reset: list[tuple[str, bytes] | Expect] = [("p", b"reset"), Expect("p", b"=>", 0.05)]
    life = Life(inband=reset, power=lambda: power.append("cycled"), power_cycles=2)
    async with bench(life, inprocess(lambda: system)).open():
        assert power == ["cycled"]
    power.append("lost")  # from now on no reset helps
    why = await refused(life, inprocess(lambda: lambda _: None))
    assert "; after power cycle 2: the reset over port 'p' failed" in why
    assert power == ["cycled", "lost", "cycled"]
    assert (await refused(life, silent())).endswith(
        "all 2 power cycles are used up; see to the test bed, or raise power_cycles"
    )


@pytest.mark.real
async def test_a_server_lives_for_a_campaign() -> None:
    """With `keep` it is started once, again only if it has died or cannot be reset, and ends with the campaign."""
    before = Baseline()
    port = free_port(socket.SOCK_STREAM)
    fails: list[bool] = []

    def health() -> bool:
        return not (fails and fails.pop())

    life = Life(server=lambda: command(port, "tcp"), ready=Listening(port), keep=True, health=health, grace=0.05)
    pids: list[int] = []
    async with keeping():
        for step in range(4):
            if step == 2:
                fails.append(True)
            async with bench(life, tcp(f"{HOST}:{port}")).open():
                assert life.lasting.server is not None
                pids.append(life.lasting.server.child.pid)
    assert pids[0] == pids[1] != pids[2] == pids[3]
    assert not before.lasting_leaks()
    async with bench(life, tcp(f"{HOST}:{port}")).open():
        assert life.lasting.server is None  # outside of a campaign there is nothing to keep it for
    assert not before.lasting_leaks()


@pytest.mark.parametrize(("inband", "most"), [((("p", b"clear"),), 1), ((), 2)])
async def test_paths_on_a_kept_system_that_is_reset_over_its_ports_take_turns(
    inband: tuple[tuple[str, bytes], ...], most: int
) -> None:
    """The reset of one would change the state of another; without such a reset they run at once."""
    life, there, seen = Life(keep=True, inband=inband), set[int](), list[int]()

    async def path(number: int) -> None:
        async with bench(life, inprocess(lambda: lambda _: None)).open():
            there.add(number)
            seen.append(len(there))
            await anyio.wait_all_tasks_blocked()
            there.discard(number)

    async with anyio.create_task_group() as group:
        for number in range(2):
            group.start_soon(path, number)
    assert max(seen) == most


@pytest.mark.real
async def test_what_a_kept_server_waits_for_is_known_on_each_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is otf's own after the first path, too: that the machine kept others waiting excuses nothing."""
    port, known = free_port(socket.SOCK_STREAM), list[bool]()

    def use(own: Collection[int], **_: object) -> CpuUse:
        known.append(bool(own))
        return CpuUse()

    monkeypatch.setattr(lookout, "cpu_use", use)
    life = Life(server=command(port, "tcp"), ready=Listening(port), keep=True, grace=0.05)
    async with keeping():
        for _ in range(2):
            await conduct(bench(life, tcp(f"{HOST}:{port}")), [])
    assert known
    assert all(known)
