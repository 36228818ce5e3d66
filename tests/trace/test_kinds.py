"""Failures of one signature that are told apart, and those that are not."""

from __future__ import annotations

from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.trace import kinds as told
from otf.trace.alike import is_range, related
from otf.trace.kinds import MOST, Kinds, PassedStep
from otf.trace.verdict import Signature


def failure(state: str, inp: str, expected: str, seen: str) -> Signature:
    """Return a wrong output, of types that say nothing."""
    return Signature("wrong", "str", "str", "str", "str", Signature("wrong", state, inp, expected, seen))


def kinds(*failures: Signature, passed: tuple[PassedStep, ...] = ()) -> int:
    """Return how many kinds these failures are, each seen twice."""
    found = Kinds()
    for each in failures * 2:
        found.add(each, passed)
    return len({found.of(each) for each in failures})


def register(number: int, seen: str, content: int = 0) -> Signature:
    """Return a register that is read wrongly."""
    return failure(f"(0, {content})", f"Read({number})", f"Value({content})", seen)


READS = tuple(PassedStep("(0, 0)", f"Read({number})", "Value(0)") for number in (4, 5))


def test_texts_of_a_table() -> None:
    """In a table each wrong entry is a kind: for two inputs in one state, and for one input in two states."""
    right = (PassedStep("'s'", "'c'", "'x'"), PassedStep("'u'", "'b'", "'x'"))
    assert kinds(failure("'s'", "'b'", "'x'", "'y'"), failure("'s'", "'c'", "'x'", "'y'"), passed=right) == 2
    assert kinds(failure("'s'", "'b'", "'x'", "'y'"), failure("'t'", "'b'", "'x'", "'y'"), passed=right) == 2


def test_wrong_in_each_state() -> None:
    """An input that is answered wrongly in the same way in each state where it is tried is one kind."""
    assert kinds(*(failure(f"'s{state}'", "'ping'", "'pong'", "'pang'") for state in range(9))) == 1


def test_wrong_in_three_of_many_states() -> None:
    """An input that is right in other states is wrong in each of these for itself."""
    right = (PassedStep("'s8'", "'b'", "'x'"),)
    assert kinds(*(failure(f"'s{state}'", "'b'", "'x'", "'y'") for state in range(3)), passed=right) == 3


def test_a_counter_that_is_wrong() -> None:
    """A number that is always twice the right one is one kind, whatever the state."""
    right = (PassedStep("0", "'get'", "0"),)
    assert kinds(*(failure(str(n), "'get'", str(n), str(2 * n)) for n in range(1, 9)), passed=right) == 1
    assert kinds(*(failure(str(n), "'get'", str(n), str(n + 3)) for n in range(1, 9))) == 1


def test_registers_that_are_wrong() -> None:
    """Two registers that are read wrongly are two kinds, with different values and with the same one."""
    assert kinds(register(3, "Value(99)"), register(7, "Value(-1)"), passed=READS) == 2
    assert kinds(register(3, "Value(7)"), register(7, "Value(7)"), passed=READS) == 2


def test_registers_whose_contents_vary() -> None:
    """A register that is read wrongly is one kind, whatever its content should be."""
    assert kinds(*(register(3, "Value(99)", content) for content in range(5)), passed=READS) == 1


def test_all_registers() -> None:
    """If all that were read are wrong by the same number, that is one kind."""
    assert kinds(*(register(n, f"Value({n + 1})") for n in range(9))) == 1


@pytest.mark.parametrize("of", ["{}() on {}", "{}(client='{}')"])
def test_a_defect_shows_to_each_client(of: str) -> None:
    """What an input and its wrong answer say of their client does not matter; another wrong answer is another kind."""
    ann, bob = (failure("0", of.format("Get", each), of.format("Ok", each), of.format("No", each)) for each in "ab")
    other = failure("0", of.format("Get", "b"), of.format("Ok", "b"), of.format("Err", "b"))
    put = failure("0", of.format("Put", "b"), of.format("Ok", "b"), of.format("No", "b"))
    assert kinds(ann, bob) == 1
    assert (kinds(ann, other), kinds(ann, put)) == (2, 2)


def test_a_range() -> None:
    """Values above a bound are one kind if all of them are wrong in the same way, and those below are right."""
    right = tuple(PassedStep("(0, 0)", f"Add({n})", f"Sum({n})") for n in (1, 400, 500))
    assert kinds(*(failure("(0, 0)", f"Add({n})", f"Sum({n})", "Sum(0)") for n in (501, 600, 900)), passed=right) == 1


ROOMS = ("1", "2", "3", "4")
TEMPS = ("5", "10", "20", "26", "30")


@pytest.mark.parametrize("rooms", [ROOMS, ("'hall'", "'bath'", "'loft'", "'shed'")])
def test_one_field_of_several_decides(rooms: tuple[str, ...]) -> None:
    """Warm settings are cut off in each room, and one room is never named: eleven inputs, and two kinds."""
    third, failing = rooms[2], list[Signature]()
    for room, temp in product(rooms, TEMPS):
        seen = f"Done({room}, 25)" if temp in TEMPS[3:] else f"Done(0, {temp})" if room == third else ""
        if seen:
            failing.append(failure("{1}", f"Set({room}, {temp})", f"Done({room}, {temp})", seen))
    passed = tuple(
        PassedStep("{1}", f"Set({room}, {temp})", f"Done({room}, {temp})")
        for room, temp in product(rooms, TEMPS[:3])
        if room != third
    )
    assert kinds(*failing, passed=passed) == 2
    other = failure("{1}", "Set(9, 5)", "Done(9, 5)", "Alarm(9)")
    assert kinds(*failing, other, passed=passed) == 3
    assert kinds(*failing, passed=(*passed, PassedStep("{1}", f"Set({rooms[0]}, 28)", f"Done({rooms[0]}, 28)"))) == 9


def test_an_input_that_fails_now_and_then() -> None:
    """If an input passes as well, something else than its value makes it fail: the value tells nothing."""
    right = (PassedStep("(1,)", "Join('a')", ""), PassedStep("(1,)", "Join('b')", ""))
    assert (
        kinds(failure("(2,)", "Join('a')", "", "No(1)"), failure("(2,)", "Join('b')", "", "No(2)"), passed=right) == 1
    )


def test_words_of_commands() -> None:
    """Commands that begin with different words are different kinds, though their states have parts."""
    assert kinds(failure("{'a': 1}", "'get a'", "'1'", "'2'"), failure("{'a': 1}", "'put a'", "'ok'", "'no'")) == 2


def test_words_of_answers() -> None:
    """What a text says in place of what is expected tells defects apart, as types do; its numbers do not."""
    right = tuple(PassedStep(f"({n},)", f"'bid {n}'", f"'high {n}'") for n in (3, 4, 5, 6))
    outbid = [failure(f"({n},)", f"'bid {n}'", f"'high {n}'", f"'outbid {n}'") for n in (3, 4)]
    equal = [failure(f"({n},)", f"'bid {n}'", f"'low {n}'", f"'high {n}'") for n in (5, 6)]
    assert (kinds(*outbid, passed=right), kinds(*equal, passed=right), kinds(*outbid, *equal, passed=right)) == (
        1,
        1,
        2,
    )


def test_words_of_answers_that_are_expected_tell_nothing() -> None:
    """One register after another is read wrongly, and its name is in each answer."""
    right = tuple(PassedStep("(1,)", f"'get {name}'", f"'{name} = 1'") for name in "abc")
    assert kinds(*(failure("(2,)", f"'get {n}'", f"'{n} = 2'", f"'{n} = 3'") for n in "abc"), passed=right) == 1


def test_names_of_failures() -> None:
    """If the system gives each failure a name, that tells them apart, and not where they show."""
    found = [failure(f"'s{n}'", f"'{'bc'[n % 2]}'", "'x'", f"'error_{n // 2}'") for n in range(8)]
    assert kinds(*found) == 4


def test_bytes() -> None:
    """Frames of bytes that are answered wrongly are told apart as numbers are."""
    frames = [failure("{1}", rf"b'R\x0{n}'", rf"b'r\x0{n}'", rf"b'r\x{4 * n:02x}'") for n in (1, 5)]
    assert kinds(*frames, passed=(PassedStep("{1}", r"b'R\x03'", r"b'r\x03'"),)) == 2


def test_texts_without_end() -> None:
    """Values that never come again do not tell failures apart, or there would be as many kinds as failures."""
    found = Kinds()
    for n in range(100):
        found.add(failure("{1}", f"'{n:b}'", f"'{n:b}'", f"'{n:x}'"))
    assert found.of(failure("{1}", "'1'", "'1'", "'2'")) == failure("", "", "", "")


def test_a_failure_that_is_added_makes_kinds() -> None:
    """The kind that a failure would have is known before it is added: it is confirmed only if that is new."""
    found, one, other = Kinds(), failure("'s'", "'b'", "'x'", "'y'"), failure("'s'", "'c'", "'x'", "'y'")
    found.add(one)
    assert (found.as_added(one), found.as_added(other).input, found.of(other)) == (one, "'c'", other)
    found.add(other)
    assert found.as_added(one).input == "'b'"


def race(meets: str, seen: str = "Done", kind: str = "wrong") -> Signature:
    """Return the signature of a failure of inputs at once."""
    return Signature(kind, "int", "Take", "Done", seen, meets=meets)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] -- a kind


def test_a_race_is_told_by_the_inputs_that_meet() -> None:
    """Whatever the outputs, and whoever else was sent along: in any order of the failures."""
    found = [race("Put & Take & Take"), race("Take & Take", "Nothing", "missing"), race("Put & Put")]
    for order in permutations(found):
        kinds = Kinds()
        for each in order:
            kinds.add(each)
        assert [kinds.of(each).input for each in found] == ["Take & Take", "Take & Take", "Put & Put"]
        assert len({*map(kinds.of, found)}) == 2
        assert kinds.of(kinds.of(found[0])) == kinds.of(found[0])
    assert len({each.fingerprint for each in found}) == len(found)


def test_a_part_of_a_race_is_that_race() -> None:
    """While a run of it is shrunk."""
    kinds = Kinds()
    kinds.add(race("Put & Take & Take"))
    scope = kinds.scope(race("Put & Take & Take"))
    assert scope.of(race("Take & Take")) == kinds.of(race("Put & Take & Take"))
    assert Kinds(parts=("seen",)).of(race("Take & Take")) == race("Take & Take")


def test_no_values() -> None:
    """A failure of several inputs at once has no values, and counts by its signature."""
    found, burst = Kinds(), Signature("wrong", "int", "A|B", "C", "D")
    found.add(burst)
    assert (found.of(burst), found.as_added(burst)) == (burst, burst)


def test_too_many() -> None:
    """No more than 1,000 different failures are told apart; the others count by their signatures, and that is said."""
    found = Kinds()
    for n in range(MOST + 1):
        found.add(failure(f"'s{n}'", "'b'", "'x'", "'y'"))
    assert (found.full, len(found.failures)) == (True, MOST)


def test_evidence_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only so many different steps that passed are remembered."""
    monkeypatch.setattr(told, "STEPS", 1)
    found = Kinds()
    for _ in range(2):
        found.add(register(3, "Value(99)"), READS)
    assert found.passed == {READS[0]: 2}


def test_numbers_that_do_not_compare() -> None:
    """Texts with different numbers of numbers are not related, and no range, whatever characters they have."""
    assert not related([("a", "x", "1"), ("b", "1", "2")])
    assert not related([("a", "1", "x"), ("b", "2", "y")])
    assert not is_range(["#", "1", "2"], [])
    assert is_range(["1", "2", "3"], ["#"])
    assert not is_range(["R(1, 1)", "R(2, 2)", "R(3, 3)"], [])


@given(st.lists(st.tuples(*(st.sampled_from(["'a'", "'b'", "3", "4", "R(1)", "R(2)"]),) * 4), min_size=1), st.randoms())
def test_the_order_does_not_matter(rows: list[tuple[str, str, str, str]], random: object) -> None:
    """Failures are the same kinds, in whatever order they come."""
    one, other = Kinds(), Kinds()
    failures = [failure(*row) for row in rows]
    for each in failures:
        one.add(each)
    for each in sorted(failures, key=lambda each: hash((str(each.exact), str(random)))):
        other.add(each)
    assert [*map(one.of, failures)] == [*map(other.of, failures)]
