"""A bench that answers a learner: what varies is masked, and a system that needs time between paths gets it."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from threading import Thread

import anyio
import pytest

from otf.adapter import Bench
from otf.adapters import inprocess, tcp
from otf.cli.tools.plain_systems import Texts
from otf.codec import PortAction, lines
from otf.errors import ContactError
from otf.learn.answers import Parted
from otf.learn.listening import Heard, PathDriver
from otf.learn.symbols import PortOutputs, Symbols
from otf.learn.teaching import Pupil
from otf.models.coffee import Button, Coin, bench
from otf.models.mqtt import bench as mqtt
from otf.models.mqtt.messages import MqttHalt
from otf.spec import Spec
from otf.suite.machine import Word
from otf.trace.events import Ended

pytest.importorskip("aalpy")


@dataclass(frozen=True)
class Reading:
    text: str
    sure: int


def pupil(folder: Path, answer: Callable[[Pupil], str], seconds: float | None = None) -> Pupil:
    """Return a pupil of a system with one state, whose answers depend on the pause before its paths."""
    made = Pupil(bench(), [Coin(5), Button()], folder, seconds=seconds)

    async def drive(word: Word) -> list[PortOutputs | None]:
        return [(("line", answer(made)),) for _ in word]

    made.driver.drive = drive  # type: ignore[method-assign]
    return made


def test_a_system_that_seems_to_choose_gets_time_before_each_path(tmp_path: Path) -> None:
    """What was heard in haste is set aside; after a pause of a second the answers are always the same."""
    random = Random(1)
    (tmp_path / "path-000001.jsonl").write_text("of a path in haste\n")
    made = pupil(tmp_path, lambda made: "ok" if made.driver.settle == 1 else random.choice(["ok", "busy"]))
    anyio.run(made.run)
    assert (made.complete, made.driver.settle, made.choice) == (True, 1.0, None)
    assert made.learning.best is not None
    assert made.learning.best.out == [["ok", "ok"]]
    assert [file.name for file in tmp_path.iterdir()] == ["hasty-path-000001.jsonl"]


def test_what_most_paths_in_haste_answer_is_not_believed(tmp_path: Path) -> None:
    """The nickname of the last connection is in use for a second: all paths but the first say so."""
    first = iter(["ok"])
    made = pupil(tmp_path, lambda made: "ok" if made.driver.settle == 1 else next(first, "in use"))
    anyio.run(made.run)
    assert made.learning.best is not None
    assert (made.driver.settle, made.learning.best.out) == (1.0, [["ok", "ok"]])
    assert made.differed is None, "the pause is the remedy"


def test_a_pause_that_does_not_help_is_given_up(tmp_path: Path) -> None:
    """One answer in ten is lost, whatever the pause: the others decide, and no path waits."""
    random = Random(2)
    made = pupil(tmp_path, lambda _: "ok" if random.random() < 0.9 else "lost")
    anyio.run(made.run)
    assert made.learning.best is not None
    assert (made.driver.settle, made.learning.best.out) == (0.0, [["ok", "ok"]])


def test_a_system_that_remembers_earlier_paths_gets_no_pause(tmp_path: Path) -> None:
    """Its first path has another answer, and all others the same after any pause: no path waits for nothing."""
    first = iter(["stored"])
    made = pupil(tmp_path, lambda _: next(first, "in use"))
    anyio.run(made.run)
    assert made.learning.best is not None
    assert (made.driver.settle, made.learning.best.out) == (0.0, [["in use", "in use"]])
    assert made.differed is not None


def test_a_system_that_chooses_all_the_same_is_told_as_one(tmp_path: Path) -> None:
    """No pause helps, as two rounds with the longest show; learning ends with the answers and how often each came."""
    random = Random(1)
    made = pupil(tmp_path, lambda _: random.choice(["ok", "busy"]))
    anyio.run(made.run)
    assert (made.complete, made.driver.settle) == (False, 0.0)
    assert made.choice is not None
    assert set(made.choice.parted.answers) == {"ok", "busy"}


def test_pauses_are_not_tried_beyond_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each path after a pause takes a second; of ten seconds, the two rounds with the longest pause would take 16."""
    now = [0.0]
    monkeypatch.setattr("otf.learn.teaching.monotonic", lambda: now[0])
    random = Random(1)

    def answer(made: Pupil) -> str:
        now[0] += made.driver.settle
        return random.choice(["ok", "busy"])

    made = pupil(tmp_path, answer, seconds=10.0)
    anyio.run(made.run)
    assert (made.complete, made.choice) == (False, None)
    assert 10 <= now[0] < 14


def test_what_varies_is_no_memory_of_earlier_paths(tmp_path: Path) -> None:
    """Answers that differ only in a number are told as different until the number is masked."""
    random = Random(1)
    made = pupil(tmp_path, lambda _: f"id {random.randrange(5)} ok")
    made.differed = Parted((0,), {made.symbols.text((("line", f"id {each} ok"),), 0): 1 for each in range(2)})
    anyio.run(made.run)
    assert made.learning.best is not None
    found: tuple[list[list[str]], Parted | None] = (made.learning.best.out, made.differed)
    assert found == ([["id * ok", "id * ok"]], None)


def test_a_number_that_counts_is_one_answer(tmp_path: Path) -> None:
    """Each answer has another number: it is masked, and the machine has one state."""
    numbers = count(1000)
    made = pupil(tmp_path, lambda _: f"id {next(numbers)} ok")
    anyio.run(made.run)
    assert made.complete
    assert made.learning.best is not None
    assert made.learning.best.out == [["id * ok", "id * ok"]]
    assert made.learnt is not None
    (item,) = made.learnt.items("id * ok", 0)
    assert item.test("id 7 ok")
    assert not item.test("id 7 wrong")


def test_a_number_that_counts_has_eight_values_that_no_input_has() -> None:
    """A stored value comes from an input, and j17 is no number; a mask of one's own leaves all.

    Beside one that counts, another number that varies counts from its second value on.
    """
    inputs = [f"store {number}" for number in range(20)]
    for text, counts in (("at {} kb", True), ("lap 1.{} done", True), ("j{} made", False)):
        symbols = Symbols(inputs=[])
        found = [symbols.mask_counts((("net", text.format(number)),)) for number in range(12)]
        assert found == [number == 7 and counts for number in range(12)], text
    for symbols in (Symbols(inputs=inputs), Symbols("^$")):
        assert not any(symbols.mask_counts((("net", f"at {number} kb"),)) for number in range(20))
    symbols = Symbols()
    found = [symbols.mask_counts((("net", f"250 sent {number // 7} of {number} kb"),)) for number in range(9)]
    assert found == [number in {7, 8} for number in range(9)]
    assert symbols.value("250 sent 2 of 9 kb") == "250 sent * of * kb"
    assert sum(symbols.mask_counts((("net", Coin(number)),)) for number in range(8)) == 1
    assert symbols.value(Coin(9)) == "Coin(cents=*)"


def test_outputs_of_another_form_are_not_masked() -> None:
    """Texts with other words, other messages, and other numbers of outputs stay what they are."""
    symbols = Symbols()
    assert not symbols.mask([(("net", "on 1"),), (("net", "off 1"),)])
    assert not symbols.mask([(("net", Coin(5)),), (("net", Button()),)])
    assert not symbols.mask([(), (("net", "on 1"),)])
    assert Symbols().mask([(), (("net", "on 1"),), (("net", "on 2"),)]), "of several forms each by itself"
    assert symbols.mask([(("net", Coin(5)),), (("net", Coin(10)),)])
    assert symbols.text((("net", Coin(7)), ("net", Ended("over")))) == "Coin(cents=*), Ended(reason='over')"


def test_a_mask_is_of_one_input_and_of_words_in_one_outline() -> None:
    """Words with digits and pairs of hexadecimal digits vary one by one, and a field of several outlines as a whole."""
    symbols, one = Symbols(), (("net", Reading("41 0C FA 10", 1)),)
    assert symbols.mask([one, (("net", Reading("41 0C 1B 10", 1)),)], 3)
    assert symbols.text(one, 3) == "Reading(text='41 0C * 10', sure=1)"
    assert symbols.text(one, 4) == "Reading(text='41 0C FA 10', sure=1)"
    longer = Reading("7E8 41 0C FA 10", 1)
    assert symbols.value(longer, 3) == "Reading(text='7E8 41 0C FA 10', sure=1)"
    item = symbols.item("", one[0][1], 3)
    seen = (Reading("41 0C BC 10", 1), Reading("41 0C BC 11", 1), Reading("41 0C BC 10", 2), longer, "41 0C BC 10")
    assert [item.test(each) for each in seen] == [True, False, False, False, False]
    assert symbols.mask([one, (("net", longer),)], 3)
    assert symbols.text(one, 3) == "Reading(text=*, sure=1)"
    assert symbols.item("", one[0][1], 3).test(longer)


def test_words_of_the_learner_are_words_of_the_system_too(tmp_path: Path) -> None:
    """A system that says `closed` and `nothing` is learnt, and these are neither an end nor silence."""
    made = pupil(tmp_path, lambda _: "closed")
    anyio.run(made.run)
    assert made.learnt is not None
    assert [out for _, _, out, _ in made.learnt.rows()] == ["closed", "closed"]
    symbols = Symbols()
    assert symbols.text((("net", "nothing"),)) == "'nothing'"
    assert symbols.text((("net", "a"), ("net", "b"))) == "a, b"
    assert symbols.text((("net", "a, b"),)) == "'a, b'"


def test_paths_at_the_same_time_have_traces_of_their_own(tmp_path: Path) -> None:
    """Four paths at once leave four traces, with the inputs of each."""
    driver = PathDriver(bench(), [Coin(5), Button()], tmp_path)
    words = [(0,), (1,), (0, 1), (1, 0)]

    async def all_at_once() -> None:
        async with anyio.create_task_group() as group:
            for word in words:
                group.start_soon(driver.drive, word)

    anyio.run(all_at_once)
    assert sorted(word for word, _ in PathDriver(bench(), driver.inputs, tmp_path).stored()) == sorted(words)


def test_a_client_that_has_finished_cannot_finish_again(tmp_path: Path) -> None:
    """Two clients, each of which ends or not: four states, and what is not sent has no answer to wait for."""
    made = Pupil(mqtt(), [MqttHalt("a"), MqttHalt("b")], tmp_path)

    async def drive(word: Word) -> list[PortOutputs | None]:
        new = [inp not in word[:at] for at, inp in enumerate(word)]
        return [(("ab"[inp], Ended("over")),) if each else None for inp, each in zip(word, new, strict=True)]

    made.driver.drive = drive  # type: ignore[method-assign]
    anyio.run(made.run)
    assert made.complete
    assert made.learnt is not None
    assert made.learnt.machine.size == 4
    assert {out for _, _, out, _ in made.learnt.rows()} == {f"Ended(reason='over') on {port}" for port in "ab"}


@pytest.mark.real
def test_the_end_of_a_stream_is_sent_once(tmp_path: Path) -> None:
    """A server that closes at the end of the stream: no second end is sent, and the path goes on."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            peer, _ = server.accept()
            with peer:
                peer.recv(1)

        Thread(target=serve).start()
        spec = Spec[int, Button](lambda _state, _inp: [], 0, [Button()])
        codec, ports = lines({Button: PortAction.FINISH}), {"line": tcp(f"127.0.0.1:{server.getsockname()[1]}")}
        driver = PathDriver(Bench(spec, codec=codec, ports=ports, quiescence=0.05), [Button()], tmp_path)
        assert anyio.run(driver.drive, (0, 0)) == [(("line", Ended("end of stream")),), None]


def test_a_connection_that_ends_at_once_often_says_why() -> None:
    """The error of a path without a first input repeats what the system said before the end."""
    ended = ("line", Ended("end of stream"))
    assert Heard(bench(), [ended]).last_words == ""
    assert Heard(bench(), [("line", "421 too busy"), ended]).last_words == "; it said '421 too busy'"


def test_a_system_whose_rest_cannot_be_observed_is_timed_from_then_on(tmp_path: Path) -> None:
    """To find that out takes seconds on each path; once three in a row could not, no path tries again."""
    driver = PathDriver(bench(), [Button()], tmp_path)
    for silence in ("timed: it computes", "timed: it computes", "observed", *["timed: it computes"] * 3):
        assert driver.bare.silence != "timed"
        driver.heed(silence)
    driver.heed("timed: the bench or the user says so")
    assert (driver.bare.silence, driver.silence) == ("timed", "timed: it computes")


def test_a_path_that_does_not_reach_the_system_is_driven_again(tmp_path: Path) -> None:
    """A server that serves one client at a time may refuse the next; one that was never reached is not there."""
    refused = iter([False, True, True, False, True, True])

    def system() -> Callable[[bytes], bytes]:
        if next(refused):
            raise OSError("connection refused")
        return lambda data: data

    spec = Spec[int, str](lambda _state, _inp: [], 0, ["a"])
    codec = Texts(types=(str,))
    made = Bench.on_ports(spec, codec, {"p": inprocess(system)}, retries=0)
    driver = PathDriver(made, ["a"], tmp_path)
    assert [anyio.run(driver.drive, (0,)) for _ in range(2)] == [[(("p", "a"),)]] * 2
    other = PathDriver(made, ["a"], tmp_path / "other")
    with pytest.raises(ContactError, match="connection refused"):
        anyio.run(other.drive, (0,))
