"""The conference: its model, its bytes and its bench, held against the independent reference entity."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.adapter import Bench
from otf.campaign import Campaign, Settings
from otf.errors import CodecError, UsageError
from otf.explore import explore
from otf.models.conference import Conf, Idle, Sizes, bench, conference
from otf.models.conference import entity as program
from otf.models.conference.codec import ConferenceCodec
from otf.models.conference.entity import FAULTS
from otf.models.conference.messages import (
    TYPES,
    AnswerPDUin,
    AnswerPDUout,
    Data,
    DataPDUin,
    DataPDUout,
    Datareq,
    Input,
    Join,
    JoinPDUin,
    JoinPDUout,
    Leave,
    LeavePDUin,
    LeavePDUout,
)
from otf.models.conference.spec import State, inputs
from otf.offline import judge
from otf.spec import AnyOrder, Transition
from otf.strategy import Strategy
from otf.trace.events import Sent
from otf.trace.reading import TraceReader, bounded
from tests.models.conversation import BENCH, converse, entity, found_after, takes

CODEC = ConferenceCodec(1, 3)
ALONE = Conf("c1", "n1")
BOTH = Conf("c1", "n1", ((2, "a"), (3, "b")))
ONE = Conf("c1", "n1", ((3, "b"),))

# The model


ROWS: list[tuple[State, Input, list[object], State]] = [
    (Idle(), Join("n1", "c1"), [JoinPDUout(2, "n1", "c1"), JoinPDUout(3, "n1", "c1")], ALONE),
    (ALONE, JoinPDUin(3, "b", "c1"), [AnswerPDUout(3, "n1", "c1")], ONE),
    (ONE, JoinPDUin(2, "a", "c1"), [AnswerPDUout(2, "n1", "c1")], BOTH),
    (ALONE, AnswerPDUin(3, "b", "c1"), [], ONE),
    (ALONE, Leave(), [], Idle()),
    (BOTH, Leave(), [LeavePDUout(2), LeavePDUout(3)], Idle()),
    (BOTH, LeavePDUin(2), [], ONE),
    (BOTH, DataPDUin(3, "m"), [Data("b", "m")], BOTH),
    (ONE, DataPDUin(2, "m"), [JoinPDUout(2, "n1", "c1")], ONE),
    (BOTH, Datareq("m"), [DataPDUout(2, "m"), DataPDUout(3, "m")], BOTH),
    (ONE, Datareq("m"), [DataPDUout(3, "m")], ONE),
]


@pytest.mark.parametrize(("state", "inp", "outputs", "then"), ROWS)
def test_the_table_of_behaviour(state: State, inp: Input, outputs: list[object], then: State) -> None:
    """Each row of the table of figure 8.1: the outputs, in any order, and the next state; and nothing else happens."""
    [transition] = conference(Sizes()).step(state, inp)
    assert isinstance(transition, Transition)
    expected = [part for item in transition.outputs for part in (item.items if isinstance(item, AnyOrder) else [item])]
    assert (Counter(expected), transition.state) == (Counter(outputs), then)


@pytest.mark.parametrize(
    ("state", "ignored"),
    [
        (Idle(), [Datareq("m"), Leave(), JoinPDUin(2, "a", "c1"), AnswerPDUin(2, "a", "c1"), DataPDUin(2, "m")]),
        (Idle(), [LeavePDUin(2), LeavePDUin(1)]),
        (ALONE, [Datareq("m"), Join("n2", "c2"), LeavePDUin(2)]),
        (ONE, [JoinPDUin(3, "x", "c1"), AnswerPDUin(3, "x", "c1"), JoinPDUin(2, "a", "c2"), AnswerPDUin(2, "a", "c2")]),
        (BOTH, [JoinPDUin(1, "a", "c1"), AnswerPDUin(1, "a", "c1"), DataPDUin(1, "m"), LeavePDUin(1)]),
    ],
)
def test_everything_else_is_unspecified(state: State, ignored: list[Input]) -> None:
    """What the table does not mention the model leaves open; the bench takes it that it is ignored."""
    assert [list(conference(Sizes()).step(state, inp)) for inp in ignored] == [[]] * len(ignored)


def test_no_output_for_nobody() -> None:
    """Alone in the world a join is silent: there is nobody to be told, and no PDU to come."""
    [edge] = [edge for edge in explore(conference(Sizes(1, 1, 1, 1))).transitions if edge.source.value == Idle()]
    assert not any(edge.outputs)
    assert {type(inp) for inp in inputs(Sizes(1, 1, 1, 1))} == {Join, Datareq, Leave}


def test_the_number_of_inputs() -> None:
    """Three entities with two nicknames, conferences and messages each: all seven kinds, from all ids."""
    counts = Counter(type(inp) for inp in inputs(Sizes()))
    assert counts == {Join: 4, Datareq: 2, Leave: 1, JoinPDUin: 12, AnswerPDUin: 12, DataPDUin: 6, LeavePDUin: 3}


# The bytes

TEXTS = st.text(st.characters(codec="utf-8"), max_size=255).filter(lambda text: len(text.encode()) < 256)
NAMES = TEXTS.filter(program.is_name)
CPES = st.integers(1, 255)
PDUS_IN = st.one_of(
    st.tuples(st.just("J"), st.builds(JoinPDUin, CPES, NAMES, NAMES)),
    st.tuples(st.just("A"), st.builds(AnswerPDUin, CPES, NAMES, NAMES)),
    st.tuples(st.just("D"), st.builds(DataPDUin, CPES, TEXTS.filter(program.is_text))),
    st.tuples(st.just("L"), st.builds(LeavePDUin, CPES)),
)
PDUS_OUT = st.one_of(
    st.tuples(st.just(b"J"), st.builds(JoinPDUout, st.sampled_from([2, 3]), TEXTS, TEXTS)),
    st.tuples(st.just(b"A"), st.builds(AnswerPDUout, st.sampled_from([2, 3]), TEXTS, TEXTS)),
    st.tuples(st.just(b"D"), st.builds(DataPDUout, st.sampled_from([2, 3]), TEXTS)),
    st.tuples(st.just(b"L"), st.builds(LeavePDUout, st.sampled_from([2, 3]))),
)


def _fields(value: Any) -> list[Any]:  # noqa: ANN401 -- a message
    return [getattr(value, name) for name in value.__slots__]


@given(PDUS_IN)
def test_the_entity_reads_what_the_codec_writes(pdu: tuple[str, Any]) -> None:
    """A PDU that goes in is understood by the independent decoder of the entity."""
    kind, value = pdu
    cpe, *words = _fields(value)
    assert program.decode(CODEC.encode(value)) == (kind.encode(), cpe, words)


@given(PDUS_OUT)
def test_the_codec_reads_what_the_entity_writes(pdu: tuple[bytes, Any]) -> None:
    """What the entity's own encoder makes comes out as the same message; texts may be empty."""
    kind, value = pdu
    cpe, *words = _fields(value)
    assert CODEC.decode(f"cpe{cpe}", program.encode(kind, 1, *words)) == value


def test_an_empty_nickname_is_a_nickname() -> None:
    """Fault C6 answers with an empty nickname: that is an output, though a wrong one, and not garbage."""
    assert CODEC.decode("cpe2", b"A\x01\x00\x02c1") == AnswerPDUout(2, "", "c1")
    assert CODEC.decode("cpe3", b"D\x01\x00") == DataPDUout(3, "")


@given(NAMES, NAMES, TEXTS.filter(program.is_text))
def test_lines(nick: str, conf: str, text: str) -> None:
    """The user's words reach the entity, and what others say comes back, blanks and all."""
    cpe = entity()
    assert takes(cpe, Join(nick, conf)) == [(port, program.encode(b"J", 1, nick, conf)) for port in ("cpe2", "cpe3")]
    assert takes(cpe, AnswerPDUin(2, nick, conf)) == []
    assert takes(cpe, Datareq(text)) == [("cpe2", program.encode(b"D", 1, text))]
    [(port, line)] = takes(cpe, DataPDUin(2, text))
    assert CODEC.decode(port, line) == Data(nick, text)
    assert takes(cpe, Leave()) == [("cpe2", b"L\x01")]


@pytest.mark.parametrize(
    ("value", "port"),
    [
        (Join("n", "c"), "user"),
        (Datareq("m"), "user"),
        (Leave(), "user"),
        (Data("n", "m"), "user"),
        (LeavePDUin(2), "cpe2"),
        (LeavePDUin(3), "cpe3"),
        (LeavePDUin(1), "cpe2"),
        (LeavePDUin(77), "cpe2"),
        (LeavePDUout(3), "cpe3"),
    ],
)
def test_ports(value: object, port: str) -> None:
    """Lines belong to the user, PDUs to the entity they bear; one with the tested entity's own id to the lowest."""
    assert CODEC.port(value) == port


def test_the_ports_of_a_bench() -> None:
    """There is a port for the user and one for each other entity."""
    assert CODEC.ports == ("user", "cpe2", "cpe3")
    assert ConferenceCodec(2, 4).ports == ("user", "cpe1", "cpe3", "cpe4")
    assert CODEC.types == TYPES


@pytest.mark.parametrize(
    "value",
    [
        JoinPDUin(2, "x" * 256, "c1"),
        DataPDUin(2, "ä" * 128),
        DataPDUin(2, "half a pair: \ud800"),
        Datareq("half a pair: \ud800"),
        LeavePDUin(256),
        LeavePDUin(-1),
        Join("two words", "c1"),
        Join("n1", ""),
        Join("n1", "line\n"),
        Data("n1", "m1"),
        JoinPDUout(2, "n1", "c1"),
        "join n1 c1",
    ],
    ids=str,
)
def test_values_without_bytes(value: object) -> None:
    """What has no bytes, or would mean something else when it is read, is refused."""
    with pytest.raises(CodecError):
        CODEC.encode(value)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"J",
        b"X\x01",
        b"J\x02\x01a\x01b",
        b"J\x01\x01a",
        b"J\x01\x01a\x05b",
        b"J\x01\x01a\x01b\x00",
        b"D\x01\x01\xff",
        b"L\x01\x00",
        b"data a b",
    ],
)
def test_datagrams_that_are_none(data: bytes) -> None:
    """Missing and surplus bytes, unknown types, another sender's id, and what is not UTF-8, do not decode."""
    with pytest.raises(CodecError):
        CODEC.decode("cpe2", data)


@pytest.mark.parametrize(
    "line", [b"", b"data", b"data n", b"Data n m", b" data n m", b"data n \xff", b"J\x01\x01a\x01b"]
)
def test_lines_that_are_none(line: bytes) -> None:
    """Only data with a nickname and a text is a line of the entity."""
    with pytest.raises(CodecError):
        CODEC.decode("user", line)


HOSTILE = st.one_of(
    st.binary(max_size=600),
    st.tuples(st.sampled_from([b"J", b"A", b"D", b"L"]), st.binary(max_size=30)).map(
        lambda two: two[0] + b"\x01" + two[1]
    ),
    PDUS_OUT.map(lambda pdu: program.encode(pdu[0], 1, *_fields(pdu[1])[1:])).flatmap(
        lambda data: st.integers(0, len(data)).map(lambda cut: data[:cut] + data[cut + 1 :])
    ),
)


@given(st.sampled_from(CODEC.ports), HOSTILE)
def test_hostile_bytes(port: str, data: bytes) -> None:
    """Whatever comes in: it is one message, written in no other way, or a CodecError."""
    try:
        value = CODEC.decode(port, data)
    except CodecError:
        return
    if isinstance(value, Data):
        assert f"data {value.nick} {value.text}".encode() == data
    else:
        assert program.encode(data[:1], 1, *_fields(value)[1:]) == data
        assert f"cpe{_fields(value)[0]}" == port


# The model against the entity


@given(st.integers(0, 10**9), st.sampled_from(["mixed", "all", "uioco"]), st.sampled_from([2, 3, 5]))
def test_no_false_alarm(seed: int, mode: Any, entities: int) -> None:  # noqa: ANN401 -- an input mode
    """The entity without fault passes whatever is sent to it, and in whatever order its answers arrive."""
    tested = replace(bench(entities=entities), inputs=mode)
    chooser = Strategy("random", mode, seed).path(1)
    verdict = converse(tested.oracle(), chooser, 60, entity(entities=entities), Random(seed), entities)
    assert verdict.outcome == "pass"


def test_no_false_alarm_in_20_000_steps() -> None:
    """Four hundred paths of the default strategy pass, and every state and transition of the model was tried."""
    oracle, strategy, chance = BENCH.oracle(), Strategy("alternating", "mixed", 1), Random(1)
    for path in range(1, 401):
        assert converse(oracle, strategy.path(path), 50, entity(), chance).outcome == "pass"
    graph = explore(BENCH.spec)
    visits = strategy.visits
    assert {place.value for place in graph.states} == {place.value for place, times in visits.states.items() if times}
    assert all(visits.inputs[edge.source][edge.input] for edge in graph.transitions if edge.input)


SEEDS = (1, 2, 3, 4, 5)


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_found(fault: str) -> None:
    """The default strategy finds each of the 27 faults within 20,000 inputs, with every seed."""
    assert all(found_after(fault, seed, limit=20_000) for seed in SEEDS)


def test_the_faults_are_found_soon() -> None:
    """All 27 together take about 1,200 inputs, as the description says of this strategy; with room for chance."""
    steps = [median(found_after(fault, seed, limit=20_000) or 20_000 for seed in SEEDS) for fault in FAULTS]
    assert sum(steps) < 2_000


# The bench


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"entities": 1}, "entities=1: there must be 2 to 9"),
        ({"entities": 10}, "entities=10: there must be 2 to 9"),
        ({"nicknames": 0}, "nicknames=0: there may be 1 to 20"),
        ({"conferences": 0}, "conferences=0: there may be 1 to 20"),
        ({"messages": -1}, "messages=-1: there may be 1 to 20"),
        ({"fault": "X1"}, "fault=X1: the reference entity has no such fault; it has O1, "),
        ({"fault": "O77"}, r"fault=O77: the reference entity has no such fault; did you mean O7\?$"),
        ({"fault": "O1", "entity": "./mine"}, "fault= is for the reference entity only"),
        ({"entity": "./mine 'an open quotation"}, "not a command line: .*no closing quotation"),
        ({"entity": "   "}, "no command"),
    ],
)
def test_parameters_that_make_no_sense(parameters: dict[str, Any], says: str) -> None:
    """A parameter that cannot be is told at once, with what could be."""
    with pytest.raises(UsageError, match=says):
        bench(**parameters)


def test_the_defaults_of_the_bench() -> None:
    """Half of the inputs are unspecified ones, and the times are those of the description."""
    tested = bench()
    assert (tested.name, tested.inputs, tested.outputs) == ("conference", "mixed", ("user", "cpe2", "cpe3"))
    assert (tested.quiescence, tested.latency, tested.busy) == (0.020, 0.002, 0.002)
    assert len(tested.mutants) == 27


def _campaign(tested: Bench, out: Path, loop: str = "asyncio", **settings: Any) -> Campaign:  # noqa: ANN401
    machines = Campaign(tested, Settings(out=out, seed=1, **settings))
    anyio.run(machines.run, backend=loop)
    return machines


@pytest.mark.real
@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_the_entity_passes(tmp_path: Path, loop: str) -> None:
    """Over pipes and UDP two paths against the entity without fault pass, and say so offline."""
    summary = _campaign(bench(), tmp_path, loop, traces=2, steps=30).summary
    assert (summary.verdict, summary.paths, summary.steps, summary.trouble) == ("pass", 2, 60, "")
    for trace in sorted(tmp_path.glob("path-*")):
        with trace.open("rb") as file:
            assert judge(TraceReader(bounded(file), trace.name), bench()).verdict.outcome == "pass"


@pytest.mark.real
def test_a_fault_of_the_entity_is_found_and_shrunk(tmp_path: Path) -> None:
    """Over pipes and UDP fault O7 fails, and four inputs are left: join, two members, and words that only one gets."""
    summary = _campaign(bench(fault="O7"), tmp_path, traces=10, steps=200, stop_first=True).summary
    assert summary.verdict == "fail"
    [group] = summary.failures.values()
    assert group.signature.kind == "missing"
    assert group.shrunk is not None
    assert (group.shrunk.steps, group.shrunk.rate) == (4, 1.0)
    with group.shrunk.trace.open("rb") as file:
        judgement = judge(TraceReader(bounded(file), "shrunk"), bench(), keep=True)
    sent = [event.input for event in judgement.events if isinstance(event, Sent)]
    assert [type(inp) for inp in (sent[0], sent[-1])] == [Join, Datareq]
    assert {type(inp) for inp in sent[1:3]} <= {JoinPDUin, AnswerPDUin}
    assert judgement.verdict.failure == replace(group.shrunk.verdict.failure, note="")  # type: ignore[type-var]


BINDS = "import socket as s, sys; h, p = sys.argv[4].split(':'); u = s.socket(2, 2); u.bind((h, int(p))); "
SILENT = f"{BINDS}print('ready', flush=True); sys.stdin.read()"
GONE = "import sys; print('ready', flush=True); sys.stdin.read()"
DEAF = "import sys; sys.stdin.read()"
DEAD = "import sys; sys.exit('no such word')"


@pytest.mark.real
def test_a_program_of_ones_own(tmp_path: Path) -> None:
    """Any program can be put in the entity's place; one that never says anything fails at the first join."""
    summary = _campaign(bench(entity=f'{sys.executable} -c "{SILENT}"'), tmp_path, traces=1, shrink=False).summary
    [group] = summary.failures.values()
    assert (group.signature.kind, group.signature.input) == ("missing", "Join")


@pytest.mark.real
def test_a_program_that_does_not_listen(tmp_path: Path) -> None:
    """A program that has nobody at its address is not one that is silent."""
    summary = _campaign(bench(entity=f'{sys.executable} -c "{GONE}"'), tmp_path, traces=1, shrink=False).summary
    [group] = summary.failures.values()
    assert (group.signature.kind, group.first.verdict.failure) != ("missing", None)
    assert group.first.verdict.failure is not None
    assert group.first.verdict.failure.seen == "the port ended: port unreachable"


@pytest.mark.real
@pytest.mark.parametrize(
    ("code", "seconds", "says"),
    [
        (DEAF, 0.2, "did not print the line 'ready' within 0.2 s"),
        (DEAD, 60, "was never ready: exit status 1, and no line 'ready' before"),
    ],
)
def test_a_program_that_is_never_ready(tmp_path: Path, code: str, seconds: float, says: str) -> None:
    """A program that does not get ready is not a contact, and what is known of it is told."""
    tested = bench(entity=f'{sys.executable} -c "{code}"', ready_timeout=seconds)
    summary = _campaign(tested, tmp_path, traces=1).summary
    assert (summary.verdict, summary.exit_status) == ("inconclusive", 3)
    assert says in summary.trouble
    assert "no such word" in summary.trouble or code == DEAF
