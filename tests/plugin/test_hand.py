"""Tests by hand: with the ports and values of the bench; failures are one line."""

from __future__ import annotations

import pytest

from tests.plugin.session import Session

TALK = """
def test_coffee(otf_open):
    talk = otf_open(coffee.bench)
    talk.send(Coin(10))
    talk.silence()
    talk.send(Button())
    assert talk.receive() == Coffee()
    assert otf_open(coffee.bench, fault="dry") is not talk

def test_none_comes(otf_open):
    talk = otf_open(coffee.bench, fault="dry")
    talk.send(Coin(10))
    talk.send(Button())
    talk.receive("line", within=0.01)

def test_one_comes(otf_open):
    talk = otf_open(coffee.bench)
    talk.send(Coin(10))
    talk.send(Button())
    talk.silence(1)
"""


def test_values_go_out_and_come_in(session: Session) -> None:
    """A missing output, or one instead of silence, fails the test in a line without frames of otf."""
    done = session.of(TALK)
    assert done.counts == {"failed": 2, "passed": 1}
    assert "E       AssertionError: no output on line within 0.01 s\n" in done.out
    assert "E       AssertionError: silence was expected, but Coffee() came on line\n" in done.out
    assert "talking.py" not in done.out


ASYNC = """
pytestmark = pytest.mark.anyio

@pytest.fixture
def anyio_backend():
    return "asyncio"

async def test_run(otf_run_async):
    assert (await otf_run_async(coffee.bench, traces=2)).paths == 2

async def test_wrong(otf_run_async):
    await otf_run_async(coffee.bench, fault="free")

async def test_talk(otf_open_async):
    async with otf_open_async(coffee.bench) as talk:
        await talk.send(Coin(10))
        await talk.send(Button())
        assert await talk.receive() == Coffee()
        await talk.silence()

async def test_mistaken(otf_run):
    otf_run(coffee.bench)
"""


def test_tests_that_are_coroutines(session: Session) -> None:
    """They run on the loop of anyio's plugin, and the error for the wrong fixture names the right one."""
    done = session.of(ASYNC)
    assert done.counts == {"failed": 2, "passed": 2}
    assert "FAIL (unasked)" in done.out
    assert "this test runs on an event loop: use the fixture otf_run_async and await it" in done.out


PORTS = """
from otf import Bench, Codec
from otf.adapter import Ending
from otf.codec import PortAction
from otf.adapters import inprocess

class TwoPorts:
    types = (str,)
    def port(self, value): return value[0]
    def encode(self, value): return PortAction.CONNECT if value == "pc" else value.encode()
    def decode(self, port, data):
        from otf import CodecError
        if data == b"?": raise CodecError("no")
        return data.decode()

def system():
    return lambda data: [data.upper(), b"?"] if data == b"p1" else (Ending("exit status 3") if data == b"q9" else data)

bench = Bench(coffee.coffee, codec=TwoPorts(), ports={"p": inprocess(system), "q": inprocess(system)})

def test_ports(otf_open):
    talk = otf_open(bench)
    talk.send("p1")
    talk.send("q2")
    assert talk.receive("q") == "q2"
    assert talk.receive("p") == "P1"
    assert str(talk.receive()) == "Undecodable(raw=b'?', why='no')"
    talk.send("q9")
    assert talk.receive().reason == "exit status 3"

def test_another_port(otf_open):
    talk = otf_open(bench)
    talk.send("q2")
    talk.receive("p", within=0.01)

def test_system(otf_open):
    otf_open(Bench(coffee.coffee, system=lambda: lambda inp: []))

def test_deed(otf_open):
    otf_open(bench).send("pc")

def test_no_port(otf_open):
    otf_open(bench).send("x1")

def test_parameter(otf_open):
    otf_open(coffee.bench, falt="dry")
"""


def test_each_port_by_itself(session: Session) -> None:
    """An output is kept until its port is read; ends and undecodable bytes are outputs too."""
    done = session.of(PORTS)
    assert done.counts == {"failed": 5, "passed": 1}
    assert "no output on p within 0.01 s; received instead: 'q2' on q" in done.out
    assert "this bench tests an object in this process and has no ports: call the object itself" in done.out
    assert "the port 'p' cannot take 'pc': it cannot connect; give the bench a command for it" in done.out
    assert "there is no port 'x'; the bench has p, q" in done.out
    assert "falt= is not a parameter of the bench" in done.out


PROGRAM = """
from contextlib import asynccontextmanager
from otf import Bench, ContactError
from otf.adapter import Trouble
from otf.adapters import process
from otf.codec import PortAction

class Echo:
    types = (str,)
    def port(self, value): return "p"
    def encode(self, value): return PortAction.FINISH if value == "enough" else value.encode()
    def decode(self, port, data): return data.decode()

echo = Bench(coffee.coffee, codec=Echo(), ports={"p": process("cat", ready=None)}, quiescence=0.05)

def test_program(otf_open):
    talk = otf_open(echo)
    talk.silence()
    talk.send("hello")
    assert talk.receive() == "hello"
    talk.silence(0.01)
    talk.send("enough")
    assert talk.receive().reason.startswith("exit")

class Unplugged:
    def descriptors(self): return ()
    def arm(self, wake): wake()
    async def send(self, data): pass
    def receive(self): return [Trouble("it was unplugged")]
    def remarks(self): return []

@asynccontextmanager
async def unplugged():
    yield Unplugged()

def test_unplugged(otf_open):
    otf_open(Bench(coffee.coffee, codec=Echo(), ports={"p": unplugged})).silence()
"""


@pytest.mark.real
def test_a_program(session: Session) -> None:
    """The test waits for slow outputs; port actions are performed; trouble on a line is not an output."""
    done = session.of(PROGRAM)
    assert done.counts == {"failed": 1, "passed": 1}
    assert "ContactError: trouble on the line p: it was unplugged" in done.out
