"""Malformed inputs: correct systems pass, whatever they answer; parsing faults are found and shrunk to a few bytes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Literal, TypeAlias

import pytest

from otf.adapter import Bench, Ending, Line, LineLost
from otf.adapters import inprocess
from otf.campaign import InconclusiveError, NonconformanceError, run
from otf.codec import lines
from otf.codec.malformed import Malformed, MalformedCodec
from otf.errors import CodecError, UsageError
from otf.spec import Spec, Transition, goto
from otf.trace.events import Sent
from otf.trace.record import Mode

pytestmark = pytest.mark.real  # campaigns are driven, on systems in this process

Reply: TypeAlias = bytes | Ending
Refusal: TypeAlias = Callable[[bytes], Exception | None]
KEYS, VALUES = ("a", "b"), (1, 2)


@dataclass(frozen=True)
class Put:
    key: str
    value: int


@dataclass(frozen=True)
class Get:
    key: str


@dataclass(frozen=True)
class Value:
    value: int


@dataclass(frozen=True)
class Done: ...


@dataclass(frozen=True)
class Wrong:
    why: str


CODEC = lines({Put: "put {key} {value}", Get: "get {key}", Value: "= {value}", Done: "done", Wrong: "error {why}"})
State: TypeAlias = tuple[tuple[str, int], ...]
EMPTY: State = ()


def step(state: State, inp: Put | Get) -> Iterator[Transition[State]]:
    """Store numbers by key; each key has 0 at first."""
    if isinstance(inp, Put):
        yield goto(tuple(sorted({**dict(state), inp.key: inp.value}.items())), Done())
    else:
        yield goto(state, Value(dict(state).get(inp.key, 0)))


INPUTS: list[Put | Get] = [*(Put(key, value) for key in KEYS for value in VALUES), *map(Get, KEYS)]
SPEC = Spec(step, EMPTY, INPUTS, name="store")


class Store:
    """A store that answers what is not a message as `refuse` says, and has the parsing fault of that name."""

    def __init__(self, fault: str = "", refuse: str = "error") -> None:
        self.content: dict[str, int] = {}
        self.fault, self.refuse = fault, refuse
        self.times = 1
        self.deaf = False

    def __call__(self, data: bytes) -> list[Reply]:
        """Return the answers to a line."""
        text = data.decode("utf-8", "replace")
        match text.split(" "):
            case ["put", key, value] if key in KEYS and value.isdecimal() and value.isascii():
                self.content[key] = int(value)
                answers: list[Reply] = [b"done"]
            case ["get", key] if key in KEYS:
                answers = [b"= %d" % self.content.get(key, 0)]
            case words:
                return self.refused(data, text, words)
        return [] if self.deaf else answers * self.times

    def refused(self, data: bytes, text: str, words: list[str]) -> list[Reply]:
        """Return the answers to what is not a message."""
        if self.fault:
            FAULTS[self.fault][0](self, data, text, words)
        match self.refuse:
            case "close":
                return [Ending("end of stream")]
            case "silence":
                return []
            case "one error":
                return [b"error no message"]
            case "babble":
                return [b"?" * 70_000]
            case "lenient" if words[:1] == ["PUT"] or text.startswith("put"):
                return [b"what?", b"??"]
            case _:
                wordy: list[Reply] = [b"error no message", b"usage: put KEY VALUE", b"\xff\xfe"]
                return wordy[: 1 + len(data) % 3]


def changes(when: Callable[[bytes, str, list[str]], object]) -> Callable[[Store, bytes, str, list[str]], None]:
    """Return the fault that spoils what is stored for such a line."""

    def fault(store: Store, data: bytes, text: str, words: list[str]) -> None:
        if when(data, text, words):
            store.content["a"] = 7

    return fault


def deaf(store: Store, data: bytes, _text: str, _words: list[str]) -> None:
    """Answer nothing any more after an empty line."""
    store.deaf = store.deaf or not data


def stutters(store: Store, data: bytes, _text: str, _words: list[str]) -> None:
    """Answer twice from then on."""
    store.times += b"\x00" in data


def dies(_store: Store, data: bytes, _text: str, _words: list[str]) -> None:
    """Raise for a line that is too long."""
    if len(data) > 64:
        raise RuntimeError


def echo(store: Store, _data: bytes, text: str, _words: list[str]) -> None:
    """Exchange the two values for a line in capitals, or with a tab."""
    if "\t" in text:
        store.content["a"], store.content["b"] = 8, 9


# each with the bytes of the shortest line that shows it
FAULTS: dict[str, tuple[Callable[[Store, bytes, str, list[str]], None], int]] = {
    "a line without a key": (changes(lambda _d, _t, words: words == ["put"]), 3),
    "a second space": (changes(lambda _d, text, _w: "  " in text), 2),
    "no text": (changes(lambda _d, text, _w: "\ufffd" in text), 1),
    "a quote": (changes(lambda data, _t, _w: b'"' in data), 1),
    "a percent sign": (changes(lambda data, _t, _w: b"%" in data), 1),
    "a sign": (changes(lambda _d, text, _w: "-" in text), 1),
    "a tab": (echo, 1),
    "an empty line": (deaf, 0),
    "a zero byte": (stutters, 1),
    "a long line": (dies, 65),
}


def bench(fault: str = "", refuse: str = "error") -> Bench:
    """Return the bench of a store with malformed inputs."""
    ports = {"": inprocess(partial(Store, fault, refuse))}
    made = Bench.on_ports(SPEC, CODEC, ports, name="store", quiescence=0.0, latency=0.0, busy=0.0)
    return made.with_malformed(0.3)


@pytest.mark.parametrize("refuse", ["error", "close", "silence", "lenient", "babble"])
def test_a_correct_system_passes(tmp_path: Path, refuse: str) -> None:
    """Whatever a correct system does with malformed inputs, no path fails: not for an answer over the frame's bound."""
    summary = run(bench(refuse=refuse), out=tmp_path / "out", traces=12, steps=50, seed=1)
    assert (summary.verdict, summary.paths) == ("pass", 12)
    sent = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "out").glob("path-*.jsonl"))
    assert sent.count('"Malformed"') > 10


@pytest.mark.slow
@pytest.mark.parametrize("refuse", ["error", "close", "silence", "lenient"])
@pytest.mark.parametrize("seed", range(10))
def test_100_000_malformed_inputs_raise_no_alarm(tmp_path: Path, refuse: str, seed: int) -> None:
    """No path of a correct system fails, in either mode; the traces are not kept."""
    sent = 0

    class Counting(Store):
        def refused(self, data: bytes, text: str, words: list[str]) -> list[Reply]:
            nonlocal sent
            sent += 1
            return super().refused(data, text, words)

    made = replace(bench(), ports={"": inprocess(partial(Counting, refuse=refuse))})
    mode: Mode = "strict" if seed % 2 else "eager"
    for part in count():
        out = tmp_path / str(part)
        summary = run(made, out=out, traces=20, steps=200, seed=1_000 * seed + part, mode=mode, keep="failures")
        assert summary.verdict == "pass"
        if sent >= 2_500:
            return


QUICK = {"an empty line", "a zero byte", "no text"}


@pytest.mark.parametrize(
    "fault", [pytest.param(each, marks=[] if each in QUICK else pytest.mark.slow) for each in FAULTS]
)
def test_a_parsing_fault_is_found_and_shrunk_to_its_bytes(tmp_path: Path, fault: str) -> None:
    """Each fault is found, and its run is shrunk to at most four inputs with no byte too many."""
    with pytest.raises(NonconformanceError) as caught:
        run(bench(fault), out=tmp_path / "out", traces=400, steps=50, seed=3, stop_first=True)
    [group] = caught.value.summary.failures.values()
    assert group.shrunk is not None
    assert group.shrunk.steps <= 4
    sent = [event.input for event in group.shrunk.events if isinstance(event, Sent)]
    # an earlier one may be left, with no bytes: a failure after it has another signature
    assert FAULTS[fault][1] in {len(each.raw) for each in sent if isinstance(each, Malformed)}
    assert sum(len(each.raw) for each in sent if isinstance(each, Malformed)) == FAULTS[fault][1]


def test_a_spec_says_more_of_malformed_inputs(tmp_path: Path) -> None:
    """With `malformed=`, only what the spec says is allowed: here an error, and nothing else."""

    def malformed(state: State, _inp: Malformed) -> Iterator[Transition[State]]:
        yield goto(state, Wrong)

    strict = replace(bench(), spec=Spec(step, EMPTY, SPEC.inputs, malformed=malformed))
    with pytest.raises(NonconformanceError, match=r"allows: +any Wrong"):
        run(strict, out=tmp_path / "a", traces=20, steps=30, seed=1, shrink=False)
    curt = replace(strict, ports={"": inprocess(partial(Store, refuse="one error"))})
    assert run(curt, out=tmp_path / "b", traces=20, steps=30, seed=1).verdict == "pass"


@dataclass(frozen=True)
class Outputs:
    """A codec that decodes outputs only."""

    types: tuple[type, ...] = (Put, Get, Value, Done, Wrong)

    def port(self, value: object) -> str:
        """Return the only port."""
        del value
        return ""

    def encode(self, value: object) -> bytes:
        """Return the line."""
        data = CODEC.encode(value)
        assert isinstance(data, bytes)
        return data

    def decode(self, port: str, data: bytes) -> object:
        """Return an output."""
        found = CODEC.decode(port, data)
        if isinstance(found, (Put, Get)):
            raise CodecError("an input")
        return found


def test_a_codec_must_know_its_inputs() -> None:
    """Where a codec cannot tell what is not a message, nothing is sent, and the error says what is needed."""
    given = Bench.on_ports(SPEC, Outputs(), {"": inprocess(Store)})
    with pytest.raises(UsageError, match="give it a method decode_input"):
        given.with_malformed(0.1)
    with pytest.raises(UsageError, match="from 0 to 1"):
        bench().with_malformed(2)
    with pytest.raises(UsageError, match="not bytes"):
        Bench.in_process(SPEC, lambda: lambda _: []).with_malformed(0.1)
    assert isinstance(bench().codec, MalformedCodec)


def _too_long(data: bytes) -> Exception | None:
    return CodecError("the first byte says how long the frame is") if not data or data[0] > 0x7F else None


def _ended_before(data: bytes) -> Exception | None:
    return None if MalformedCodec(CODEC).message("", data) is not None else LineLost("end of stream")


@pytest.mark.parametrize("refused", [_too_long, _ended_before])
def test_bytes_that_the_port_cannot_carry_are_left_out(refused: Refusal, tmp_path: Path) -> None:
    """Where a framing refuses them, or the connection ended before, another input is chosen."""

    @asynccontextmanager
    async def narrow() -> AsyncGenerator[Line, None]:
        async with inprocess(Store)() as line:
            send = line.send

            async def checked(data: bytes) -> None:
                if (error := refused(data)) is not None:
                    raise error
                await send(data)

            line.send = checked  # type: ignore[method-assign]
            yield line

    made = replace(bench(), ports={"": narrow})
    assert run(made, out=tmp_path / "out", traces=12, steps=50, seed=1).verdict == "pass"


@pytest.mark.parametrize("keep", ["all", "failures"])
def test_malformed_inputs_alone_test_nothing(tmp_path: Path, keep: Literal["all", "failures"]) -> None:
    """A system that answers every valid input wrongly would pass: without one it is inconclusive, also if resumed."""
    wrong = replace(bench(), ports={"": inprocess(lambda: lambda _: b"wrong")})
    with pytest.raises(NonconformanceError):
        run(wrong.with_malformed(0.5), out=tmp_path / "half", traces=2, steps=10, seed=1)
    for resume in (False, True):
        with pytest.raises(InconclusiveError, match=r"only malformed inputs were sent|nothing was driven"):
            run(wrong.with_malformed(1.0), out=tmp_path / "out", traces=2, steps=10, seed=1, keep=keep, resume=resume)


def test_malformed_inputs_of_which_the_model_speaks_test_something(tmp_path: Path) -> None:
    """Where the model says what follows them, no valid input is needed."""

    def refused(state: State, _: object) -> list[Transition[State]]:
        return [goto(state, Wrong("no message"))]

    spec = Spec(step, EMPTY, INPUTS, name="store", malformed=refused)
    only = replace(bench(refuse="one error"), spec=spec).with_malformed(1.0)
    assert run(only, out=tmp_path / "out", traces=2, steps=10, seed=1).verdict == "pass"
