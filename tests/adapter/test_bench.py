"""A bench: how its ports are opened, to which port a value belongs, and how its runs are judged."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, cast, get_type_hints

import pytest

from otf.adapter import Barrier, Bench, Codec, Life, Line
from otf.adapter.bench_options import PortOptions, ProcessOptions
from otf.adapters.tcp import tcp
from otf.core import InputMode, Limits, Monitor, Relation, Timing
from otf.core.walk import Act
from otf.errors import CodecError, ContactError, ModelError, OtfError, UsageError
from otf.spec import Spec, Transition, goto
from otf.temporal import Formula
from otf.trace.events import Event, Seen, Sent
from otf.trace.verdict import Failure
from tests.runner.playing import Still, opened, virtually
from tests.runner.words import Words


def _step(state: int, inp: str) -> Iterator[Transition[int]]:
    if inp == "a.go":
        yield goto(state + 1, "b.gone")
    elif state:
        yield goto(state, "b.back")


SPEC = Spec(_step, 0, ["a.go", "a.back"])


@dataclass
class Story:
    """What happened with the ports."""

    lines: list[str] = field(default_factory=list[str])

    @asynccontextmanager
    async def port(self, name: str, *, broken: bool = False) -> AsyncGenerator[Line, None]:
        """Open a port that tells."""
        if broken:
            raise ContactError(f"{name} is broken")
        self.lines.append(f"open {name}")
        try:
            yield Still()
        finally:
            self.lines.append(f"close {name}")


async def _used(bench: Bench, story: Story) -> None:
    async with AsyncExitStack() as stack:
        lines = await stack.enter_async_context(bench.open())
        story.lines.append(f"use {' '.join(lines)}")


# Opening


def test_ports_are_opened_in_order_and_closed_in_reverse() -> None:
    """A port may need what those before it brought, as long as it is open."""
    story = Story()
    ports = {name: lambda name=name: story.port(name) for name in ("b", "a", "c")}
    virtually(lambda: _used(Bench(SPEC, codec=Words(), ports=ports), story))
    assert story.lines == ["open b", "open a", "open c", "use b a c", "close c", "close a", "close b"]


def test_a_port_that_cannot_be_opened_closes_the_others() -> None:
    """What was opened before the trouble is closed, and the trouble is told."""
    story = Story()
    ports = {"a": lambda: story.port("a"), "b": lambda: story.port("b", broken=True)}
    with pytest.raises(ContactError, match=r"^b is broken$"):
        virtually(lambda: _used(Bench(SPEC, codec=Words(), ports=ports), story))
    assert story.lines == ["open a", "close a"]


def test_a_function_that_opens_no_port() -> None:
    """It is named with its port, its line and what it returned."""
    ports: dict[str, Any] = {"a": lambda: tcp("127.0.0.1:7000")}
    says = r"^ports\['a'\] is a function that returned a Port.*; leave out the function.*\n  File .*test_bench.py"
    with pytest.raises(UsageError, match=says):
        virtually(lambda: _used(Bench(SPEC, codec=Words(), ports=ports), Story()))


def test_one_function_may_open_all_ports() -> None:
    """Where a bench has `connect`, that opens the ports."""
    story = Story()
    bench = Bench(SPEC, codec=Words(), ports={"a": lambda: story.port("a")}, connect=opened(b=Still()))
    virtually(lambda: _used(bench, story))
    assert story.lines == ["use b"]


# Ports of values


@dataclass(frozen=True)
class Silent(Words):
    """A codec that tells no port."""

    error: Exception | None = None

    def port(self, value: object) -> str:
        """Tell nothing, or raise."""
        del value
        if self.error is not None:
            raise self.error
        return ""


def _bench(*ports: str, error: Exception | None = None) -> Bench:
    return Bench(SPEC, codec=Silent(error=error), ports=dict.fromkeys(ports, lambda: Story().port("any")))


def test_the_codec_tells_the_port() -> None:
    """The port of a value is what the codec says."""
    assert Bench(SPEC, codec=Words()).port("b.gone") == "b"


def test_the_only_port_needs_no_telling() -> None:
    """With one port there is nothing to tell; with `connect` nobody knows the ports beforehand."""
    assert (_bench("a").port("x"), _bench().port("x")) == ("a", "")


@pytest.mark.parametrize(
    ("bench", "kind", "says"),
    [
        (_bench("a", "b"), UsageError, r"the port of 'x'; the bench has a, b\. Give .* codecs\(a=codec, b=codec\)"),
        (_bench("a", error=KeyError(1)), ModelError, "the codec raised on the port of 'x': KeyError: 1"),
        (_bench("a", error=CodecError("x is nowhere")), CodecError, "^x is nowhere$"),
    ],
)
def test_a_value_without_a_port(bench: Bench, kind: type[OtfError], says: str) -> None:
    """A value that belongs nowhere is told, with the ports that there are."""
    with pytest.raises(kind, match=says):
        bench.port("x")


# Judging


@pytest.mark.parametrize(
    ("mode", "relation", "judged"),
    [("uioco", "uioco", False), ("any", "any", False), ("all", "uioco", True), ("mixed", "uioco", True)],
)
def test_the_input_mode_says_how_runs_are_judged(*, mode: InputMode, relation: Relation, judged: bool) -> None:
    """Where unspecified inputs are offered they should be ignored; elsewhere anything goes after one."""
    oracle = Bench(SPEC, codec=Words(), ports={}, outputs=("b",), inputs=mode, limits=Limits(spontaneous=7)).oracle()
    monitor = Monitor(oracle)
    for event in (Sent("a.back", "a", 0.0), Seen("b.back", "b", 0.1)):
        monitor.tell(event)
    assert monitor.end().failed == judged
    assert (oracle.relation, oracle.limits.spontaneous) == (relation, 7)


def test_all_ports_bring_outputs_unless_told_otherwise() -> None:
    """Without `outputs` an output may come on any port."""
    ports = {name: lambda: Story().port("any") for name in ("a", "b")}
    assert Bench(SPEC, codec=Words(), ports=ports).oracle().model.routes.outputs == ("a", "b")
    assert Bench(SPEC, codec=Words(), ports=ports, outputs=("b",)).oracle().model.routes.outputs == ("b",)


def test_the_times_of_a_bench() -> None:
    """The quiescence time, L and R are those of the bench."""
    assert Bench(SPEC, codec=Words(), quiescence=3, latency=2, busy=1).timing == Timing(3, 2, 1)


def test_the_types_that_a_trace_may_hold() -> None:
    """They are the codec's, those of the first inputs (a codec may forget these), and those that the bench adds."""
    assert Bench(SPEC, codec=Words(types=(int,)), types=(float,)).known_types == (int, str, float)
    assert Bench(SPEC, system=lambda: lambda _inp: [], types=(float,)).known_types == (str, float)


def test_a_system_in_this_process_has_one_port() -> None:
    """What goes in and what comes out of a Python object goes over a port of its own name."""
    bench = Bench(SPEC, system=lambda: lambda _inp: [])
    assert bench.port("a.go") == "system"
    assert bench.oracle().model.routes.outputs == ("system",)


def test_quiescence_may_be_learnt() -> None:
    """Without a time, silence is first believed after a tenth of a second; what is learnt is kept with the bench."""
    bench = Bench(SPEC, codec=Words())
    assert (bench.quiescence, bench.timing.quiescence) == (None, 0.1)
    assert bench.timing is bench.timing is bench.oracle().timing


@pytest.mark.parametrize("name", ["quiescence", "latency", "busy"])
@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf")])
def test_times_that_are_none_are_refused(name: str, seconds: float) -> None:
    """A silence of NaN seconds would never be long enough, and the run would not end."""
    with pytest.raises(UsageError, match=rf"^{name}={seconds}: a number of seconds is needed, 0 or more$"):
        partial(Bench, SPEC, codec=Words())(**{name: seconds})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ({"inputs": "mixd"}, "inputs='mixd': did you mean mixed?"),
        ({"silence": 1}, "silence=1: it has observed, timed"),
        ({"quiescence": "0.05"}, "quiescence='0.05': a number of seconds is needed, 0 or more"),
    ],
)
def test_values_that_are_none_are_refused(named: dict[str, Any], says: str) -> None:
    """A misspelt word was taken, or called a defect of otf in the middle of a run."""
    with pytest.raises(UsageError) as raised:
        Bench(SPEC, codec=Words(), **named)
    assert str(raised.value) == says


def test_all_mistakes_of_a_bench_are_told_at_once() -> None:
    """Its model, codec, ports and options, ten at most; one alone stands in the first line."""
    wrong: dict[str, Any] = {"quiesence": 1, "retries": "x", "name": 5, "mutants": ["m"], "latency": "x"}
    wrong |= {"inputs": "al", "outputs": "a", "clients": ("aa",), "ports": {"a": 5}}
    with pytest.raises(UsageError) as raised:
        partial(Bench.on_ports, _step, None)(**wrong)  # type: ignore[arg-type]
    assert str(raised.value).splitlines() == [
        f"{ON}11 mistakes",
        "  _step is not a Spec; write Spec(step, initial=…, inputs=[…])",
        "  the codec None has no types, port, encode, decode; use otf.lines(…), or write a class with them",
        "  ports['a'] is 5; an adapter is needed, such as tcp('127.0.0.1:7000')",
        "  clients names the port 'aa'; did you mean a? there are a",
        "  there is no option quiesence=; did you mean quiescence=?",
        "  retries='x': a whole number is needed",
        "  name=5: a text is needed",
        "  mutants=['m']: a dict of names and texts is needed",
        "  latency='x': a number of seconds is needed, 0 or more",
        "  inputs='al': did you mean all?",
        "  … and 1 more",
    ]
    with pytest.raises(UsageError, match=r"^Bench.on_ports\(spec, codec, ports\): ports is \['a'\]; give ports="):
        Bench.on_ports(SPEC, Words(), ["a"])  # type: ignore[arg-type]


# The two constructors

PORTS = {"a": lambda: Story().port("a"), "b": lambda: Story().port("b")}


@asynccontextmanager
async def _connected() -> AsyncGenerator[dict[str, Line], None]:
    yield {"a": Still()}


def test_each_constructor_makes_the_bench_that_its_fields_make() -> None:
    """`on_ports` and `in_process` are ways to write `Bench(…)`."""
    codec = Words()

    def system() -> Callable[[str], list[str]]:
        return lambda _inp: []

    assert Bench.on_ports(SPEC, codec, PORTS, latency=1) == Bench(SPEC, codec=codec, ports=PORTS, latency=1)
    assert Bench.on_ports(SPEC, codec, connect=_connected) == Bench(SPEC, codec=codec, connect=_connected)
    assert Bench.in_process(SPEC, system, types=(str,)) == Bench(SPEC, system=system, types=(str,))


def test_the_constructors_know_each_field_of_a_bench() -> None:
    """Each option is a field of the same type, each field belongs to a constructor, and the docstring has them all."""
    named = {"spec", "ports", "connect", "system", "made_at"}
    # what a model file does not need is not imported with the bench
    names = {each.__name__: each for each in (Barrier, Codec, Failure, Formula, Life, Limits, Line)}
    more = {**names, "Act": Act, "Event": Event, "InputMode": InputMode}
    hints = get_type_hints(Bench, localns=more)
    options = get_type_hints(PortOptions, localns=more) | get_type_hints(ProcessOptions, localns=more)
    assert {name: hints[name] for name in options} == options
    assert named | options.keys() == {each.name for each in fields(Bench)}
    table = re.findall(r"^ *\| `(\w+)` \|", Bench.__doc__ or "", re.MULTILINE)
    assert sorted(table) == sorted(each.name for each in fields(Bench))


async def _unmanaged() -> AsyncGenerator[Line, None]:
    yield Still()


class Method:
    """A codec whose types are a method, and whose decode takes no port."""

    port = encode = str

    def types(self) -> tuple[type, ...]:
        """Return the types."""
        return (str,)

    def decode(self, data: bytes) -> object:
        """Return a text."""
        return data.decode()


class Dcode:
    """A codec with a misspelt method."""

    types = (str,)
    port = encode = decoed = str


ON, IN = "Bench.on_ports(spec, codec, ports): ", "Bench.in_process(spec, system): "


@pytest.mark.parametrize(
    ("arguments", "named", "says"),
    [
        ((SPEC, Words(), PORTS), {"latencies": 1}, "there is no option latencies=; did you mean latency=?"),
        ((SPEC, Words(), PORTS), {"zzz": 1}, "there is no option zzz=; it has barrier, busy, clients, foreign, "),
        ((SPEC, Words(), PORTS), {"system": 1}, "there is no option system=; it has "),
        (
            (SPEC, Words(), PORTS),
            {"lfe": 1, "retires": 1},
            "lfe=; did you mean life=?\n  there is no option retires=; did ",
        ),
        ((_step, Words(), PORTS), {}, ": _step is not a Spec; write Spec(step, initial=…, inputs=[…])"),
        (
            (SPEC, Still(), PORTS),
            {},
            "has no types, port, encode, decode; use otf.lines(…), or write a class with them",
        ),
        ((SPEC, Words()), {}, "there are no ports; give ports={'line': tcp('127.0.0.1:7000')}, or connect= a function"),
        ((SPEC, Words(), PORTS), {"connect": _connected}, "both ports and connect= are given; give ports={"),
        ((SPEC, Words(), {"a": "tcp://h:1"}), {}, "ports['a'] is 'tcp://h:1'; an adapter is needed, such as tcp("),
        ((SPEC, Words(), PORTS), {"outputs": ("c",)}, "outputs names the port 'c'; there are a, b"),
        ((SPEC, Words(), PORTS), {"life": Life(inband=[("c", b"")])}, "life.inband names the port 'c'; there are a, b"),
        (
            (SPEC, Words(), PORTS),
            {"life": Life(actions={"bb": {}})},
            "life.actions names the port 'bb'; did you mean",
        ),
        ((SPEC, Words(), {5: PORTS["a"]}), {}, "ports has the name 5; a text is needed"),
        ((SPEC, Words(), {"a": Story}), {}, "ports['a'] is Story, a class; an adapter is needed, such as tcp("),
        ((SPEC, Words(), {"a": tcp}), {}, "ports['a'] is tcp, which takes arguments: write tcp(…); it takes (url, "),
        ((SPEC, Words(), {"a": _unmanaged}), {}, "ports['a'] is _unmanaged; write @asynccontextmanager above an"),
        ((SPEC, Words, PORTS), {}, "the codec Words is a class; write Words(…), which makes one"),
        (
            (SPEC, Words(types=cast("Any", Words)), PORTS),
            {},
            "the codec's types is Words; it must be a tuple of ",
        ),
        (
            (SPEC, Words(types=cast("Any", ("a",))), PORTS),
            {},
            "the codec's types is ('a',); it must be a tuple ",
        ),
        ((SPEC, Method(), PORTS), {}, "the codec's types is a method; write @property above it, and it must be a tu"),
        ((SPEC, Method(), PORTS), {}, "the codec's decode: it takes (data), not (port, data)\n  File "),
        ((SPEC, Dcode(), PORTS), {}, "the codec Dcode has no decode; did you mean decoed? use otf.lines(…), or"),
        ((SPEC, Words(), PORTS), {"life": {"keep": 1}}, "life={'keep': 1}: a Life is needed; write life=Life(…)"),
        ((SPEC, Words(), PORTS), {"barrier": 5}, "barrier=5: a Barrier is needed; write barrier=Barrier(…)"),
        ((SPEC, Words(), PORTS), {"limits": Limits}, "limits=Limits: a Limits is needed; write limits=Limits(…)"),
        ((SPEC, Words(), PORTS), {"retries": -1}, "retries=-1: a number of 0 or more is needed"),
        ((SPEC, Words(), PORTS), {"retries": None}, "retries=None: a whole number is needed"),
        ((SPEC, Words(), PORTS), {"latency": None}, "latency=None: a number of seconds is needed, 0 or more"),
        ((SPEC, Words(), PORTS), {"mutants": {"a": 5}}, "mutants={'a': 5}: a dict of names and texts is needed"),
        ((Spec, Words(), PORTS), {}, "the class Spec is not a Spec; write Spec(step, initial=…, inputs=[…])"),
        ((SPEC, Words(), PORTS), {"types": (5,)}, "types=(5,): a tuple of classes is needed"),
        ((SPEC, Words(), PORTS), {"pids": 5}, "pids=5: a tuple of numbers is needed"),
        ((SPEC, Words(), PORTS), {"malformed": "0.1"}, "malformed='0.1': a share from 0 to 1 is needed"),
        ((SPEC, Words(), PORTS), {"foreign": 5}, "foreign=5: a function of (line) is needed; it is 5, not a function"),
        ((SPEC, Words(), PORTS), {"silence_key": len}, "silence_key=len: a function of (state, input) is needed; it"),
    ],
)
def test_what_on_ports_refuses(arguments: tuple[Any, ...], named: dict[str, Any], says: str) -> None:
    """The error names the call, what is wrong in it, and what to write."""
    with pytest.raises(UsageError) as raised:
        Bench.on_ports(*arguments, **named)
    assert str(raised.value).startswith(ON)
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("arguments", "named", "says"),
    [
        ((SPEC, print), {"retries": 2}, "there is no option retries=; it has busy, codec, foreign, "),
        ((SPEC, print), {"ports": {}}, "there is no option ports=; it has busy, codec, "),
        ((SPEC, lambda: print), {"codec": Still()}, "has no types, port, encode, decode; use otf.lines(…), or write"),
        (("spec", print), {}, "'spec' is not a Spec; write Spec(step, initial=…, inputs=[…])"),
        ((SPEC, 7), {}, "7 cannot be called; give a function that makes the system: lambda: Machine().step"),
        (
            (SPEC, len),
            {},
            "takes arguments, so it is no function that makes the system for each path; if",
        ),
    ],
)
def test_what_in_process_refuses(arguments: tuple[Any, ...], named: dict[str, Any], says: str) -> None:
    """The error names the call, what is wrong in it, and what to write."""
    with pytest.raises(UsageError) as raised:
        Bench.in_process(*arguments, **named)
    assert str(raised.value).startswith(IN)
    assert says in str(raised.value)
