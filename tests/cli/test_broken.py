"""Models and benches that are broken: what is wrong, where, and nothing is lost."""

import os
from pathlib import Path

import pytest

from tests.cli.command import failed, machine, otf, recorded

BROKEN = ("machine.py:make", "--set", "broken=true")


def test_a_model_that_breaks_late_hides_no_failure(folder: Path) -> None:
    """Failures found before the model raised are reported, with their traces, before the error of the model."""
    machine(folder, {"    match inp:\n": "    if paid == 5: raise KeyError('cup')\n    match inp:\n"})
    done = otf("run", *BROKEN, "--mode", "strict", "--seed", 1, "--out", "out")
    assert done.status == 2
    assert "an output that the model requires did not come" in done.out
    assert "PASS" not in done.out
    assert "the model raised KeyError: 'cup'" in done.err
    document = otf("run", *BROKEN, "--mode", "strict", "--seed", 1, "--json").data
    assert (document["verdict"], document["ruling"], len(document["failures"])) == ("error", "error", 1)
    assert "PASS" not in document["headline"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param(
            "inputs=[Coin(5), Coin(10), Button()]",
            "inputs=lambda paid: [Coin(cent=5)]",
            "inputs(0): the model raised TypeError: Coin.__init__() got an unexpected keyword argument 'cent'; "
            "did you mean cents?\n  File ",
            id="first inputs raise",
        ),
        pytest.param(
            "inputs=[Coin(5), Coin(10), Button()]",
            "inputs=lambda paid: [Coin()]",
            "inputs(0): the model raised TypeError: Coin.__init__() missing 1 required positional argument: 'cents'; "
            "it takes (cents)\n  File ",
            id="a call without an argument",
        ),
        pytest.param(
            "Coffee())",
            "'coffee')",
            "step(10, Button()): the model expects 'coffee', which the codec never decodes: its types are Coin, "
            "Button, Coffee; correct the model, or add str to the codec",
            id="output without a codec",
        ),
        pytest.param(
            "Coffee())",
            "[Coffee()])",
            "decodes: its types are Coin, Button, Coffee; give outputs one by one: goto(state, *outputs)",
            id="outputs in a list",
        ),
        pytest.param(
            "Coffee())",
            "bytes)",
            "step(10, Button()): the model expects <class 'bytes'>, which the codec never decodes",
            id="class without a codec",
        ),
        pytest.param(
            "Coffee())",
            "Coin('5'))",
            "step(10, Button()): the model expects Coin(cents='5'), which the codec never decodes: Coin.cents is "
            "always decoded as int, and is '5' here; correct the model",
            id="field of another type",
        ),
        pytest.param(
            "Coffee())",
            "Coin(5.0))",
            "step(10, Button()): the model expects Coin(cents=5.0), which the codec never decodes: Coin.cents is "
            "always decoded as int, and is 5.0 here; correct the model",
            id="another number in a field",
        ),
        pytest.param(
            "inputs=[Coin(5), Coin(10), Button()]",
            "inputs=lambda paid: [Coin(5), Button]",
            "the input Button is a class, which no codec can send: write Button(…) in `inputs`",
            id="a class as an input",
        ),
        pytest.param(
            "inputs=[Coin(5), Coin(10), Button()]",
            "inputs=lambda paid: None",
            "inputs(0): it gave None, and no inputs: return a list of them, or yield each",
            id="no inputs",
        ),
        pytest.param(
            "    match inp:\n",
            "    if paid: raise KeyError('cup')\n    match inp:\n",
            "step(10, Coin(cents=5)): the model raised KeyError: 'cup'",
            id="raises",
        ),
        pytest.param(
            "yield goto(paid - 10, Coffee())",
            "yield paid - 10",
            "step(10, Button()): it gave 0, which is not a transition",
            id="no transition",
        ),
        pytest.param(
            "yield goto(paid - 10, Coffee())",
            "yield goto([paid])",
            "step(10, Button()): the state [10] cannot be compared: a list can change and has no hash",
            id="state without a hash",
        ),
        pytest.param(
            "initial=0",
            "initial={}",
            "the state {} cannot be compared: a dict can change",
            id="initial state without a hash",
        ),
        pytest.param(
            "[Coin(5)",
            "[[5], Coin(5)",
            "the value [5] cannot be compared: a list can change and has no hash",
            id="input without a hash",
        ),
        pytest.param(
            "def step(paid, inp):\n",
            "def deep(n):\n    return deep(n)\n\n\ndef step(paid, inp):\n    deep(1)\n",
            "step(0, Coin(cents=5)): the model raised RecursionError",
            id="recursion",
        ),
    ],
)
def test_a_model_that_is_broken(folder: Path, old: str, new: str, message: str) -> None:
    """The error of a model that raises or returns something wrong names the question; the trace is whole."""
    machine(folder, {old: new})
    done = otf("run", "machine.py", "--seed", 1, "--traces", 1, "--out", "out")
    assert done.status == 2
    assert message in done.err
    for trace in (folder / "out").glob("path-*.jsonl"):
        end = recorded(trace)[-1]
        assert (end["event"], end["verdict"]) == ("end", "inconclusive")
        assert message in end["why"]


BENCHES = """

from contextlib import asynccontextmanager
from otf.adapters import process


class Codec:
    types = codec.types
    port = codec.port
    decode = codec.decode

    def encode(self, value):
        raise AttributeError("cents")


@asynccontextmanager
async def five():
    yield 5


@asynccontextmanager
async def half():
    yield {"slot": 5}


@asynccontextmanager
async def raising():
    raise KeyError("till")
    yield {}


@asynccontextmanager
async def refusing():
    raise ConnectionRefusedError(111, "refused")
    yield {}


def none():
    raise OSError("no till")


codec_raises = Bench(spec, ports=bench.ports, codec=Codec())
codec_has_no_bytes = Bench(spec, ports=bench.ports, codec=lines({Button: "button", Coffee: "coffee"}))
no_ports = Bench(spec, codec=codec)
no_context = Bench(spec, connect=lambda: 5, codec=codec)
no_lines = Bench(spec, connect=five, codec=codec)
no_line = Bench(spec, connect=half, codec=codec)
no_framer = Bench(spec, ports={"slot": process(["cat"], ready=None, framing=lambda: 5)}, codec=codec)
connect_raises = Bench(spec, connect=raising, codec=codec)
nobody_there = Bench(spec, connect=refusing, codec=codec)
no_system = Bench(spec, ports={"slot": inprocess(none, port="slot")}, codec=codec)
"""


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        ("codec_raises", 2, "the codec raised for the input Coin(cents=10): AttributeError: cents"),
        ("codec_has_no_bytes", 2, "no line pattern for Coin(cents=10); there are patterns for Button, Coffee\n  File "),
        ("no_ports", 2, "the bench has none: give the bench `ports` or `connect`\n  File "),
        ("no_context", 2, "the bench raised while it opened its ports"),
        ("no_lines", 2, "the bench's connect returned 5, not a mapping from the names of its ports to lines"),
        ("no_line", 2, "the port 'slot' opened 5, no line: it has no descriptors, arm, send, receive, remarks\n  File"),
        ("no_framer", 2, "the framing made 5, which is no framer: it has no gap, unfinished, pack, feed, rest"),
        ("connect_raises", 2, "machine.py, line 84: KeyError: 'till'"),
        ("nobody_there", 3, "stopped: the bench could not open its ports: ConnectionRefusedError: [Errno 111] refused"),
        (
            "no_system",
            3,
            "stopped: the function behind port 'slot' cannot be made: OSError: no till (/",
        ),
    ],
)
def test_a_bench_that_is_broken(folder: Path, name: str, status: int, message: str) -> None:
    """Errors in the bench's own code during a path are reported; without contact the status is 3."""
    machine(folder, more=BENCHES)
    done = otf("run", f"machine.py:{name}", "--seed", 1, "--traces", 1, "--out", "out")
    assert done.status == status
    assert message in done.said
    assert recorded(folder / "out" / "path-0001.jsonl")[-1]["verdict"] == "inconclusive"


STRANGE = """

class Token: ...


class Codec:
    types = ()
    port = codec.port
    decode = codec.decode

    def encode(self, value):
        return b"x"


def endless(data):
    while True:
        yield b"coffee"


tokens = Bench(Spec(lambda state, inp: [goto(state)], 0, [Token()]), ports=bench.ports, codec=Codec())
flood = Bench(
    Spec(step, 0, [Coin(5)], lambda paid: [goto(paid, Coffee())]),
    ports={"slot": inprocess(lambda: endless)},
    codec=codec,
)
"""


def test_values_that_no_trace_can_hold(folder: Path) -> None:
    """An input of a type that cannot be written is told, with the types that can."""
    machine(folder, more=STRANGE)
    message = failed("run", "machine.py:tokens", "--out", "out")
    assert "a Token cannot be written to a trace: use dataclasses, enums, tuples, lists" in message


def test_outputs_without_end(folder: Path) -> None:
    """A system that never stops sending outputs is a failure of its own kind, within bounds of time and memory."""
    machine(folder, more=STRANGE)
    done = otf("run", "machine.py:flood", "--traces", 1, "--mode", "strict", "--no-shrink", "--out", "out")
    assert done.status == 1
    assert "outputs came without end" in done.out
    assert otf("replay", "out/path-0001.jsonl", "--bench", "machine.py:flood").status == 1
    assert sum(line["event"] == "seen" for line in recorded(folder / "out" / "path-0001.jsonl")) < 40_000


TEXT = """

class Text:
    types = codec.types
    decode = codec.decode

    def __init__(self, port, data):
        self.named, self.data = port, data

    def port(self, value):
        return self.named

    def encode(self, value):
        return self.data


text = Bench(spec, ports=bench.ports, codec=Text("slot", "coin 5"))
port = Bench(spec, ports=bench.ports, codec=Text(5, b"coin 5"))
"""


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("text", "the codec gave 'coin 5' for the input Coin(cents=10), which is not bytes; use text.encode()"),
        ("port", "the codec gave 5 as the port of Coin(cents="),
    ],
)
def test_a_codec_that_makes_no_bytes(folder: Path, name: str, message: str) -> None:
    """The result of a codec is checked before it is sent."""
    machine(folder, more=TEXT)
    assert message in failed("run", f"machine.py:{name}", "--seed", 1, "--out", "out")


FRAMING = """

from otf.adapters import process
from otf.framing import lines as cut


class Broken:
    gap = 0.0
    unfinished = False
    begun = b""

    def __init__(self, where):
        self.where = where
        if where == "made":
            raise KeyError("made")

    def pack(self, data):
        return 1 // 0 if self.where == "pack" else data

    def feed(self, chunk):
        return 1 // 0 if self.where == "feed" else []

    def rest(self):
        return 1 // 0 if self.where == "rest" else []


def framed(where: str = ""):
    port = process(["sh", "-c", "echo hello; exec cat"], ready=None, framing=lambda: Broken(where))
    return Bench(spec, ports={"slot": port}, codec=codec, quiescence=0.1)
"""


@pytest.mark.real
@pytest.mark.parametrize("where", ["made", "pack", "feed", "rest"])
def test_a_framing_that_raises(folder: Path, where: str) -> None:
    """A framing that raises is reported in a sentence, and its process is stopped nevertheless."""
    machine(folder, more=FRAMING)
    call = ("run", "machine.py:framed", "--set", f"where={where}", "--traces", 1, "--steps", 2, "--out", "out")
    done = otf(*call, "--seed", 1)
    assert done.status in {1, 2}
    if where != "rest":
        assert "ZeroDivisionError" in done.err or "KeyError: 'made'" in done.err
    assert "defect" not in done.err
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
    assert [child for child in children if "cat" in Path(f"/proc/{child}/cmdline").read_text(encoding="ascii")] == []
