"""Registers that are guessed from a recording: what held for two values, and always."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from otf.draft.dialogue import Utterance
from otf.draft.registers import RECENT, guessed_registers

Talk = Sequence[str]


def heard(talk: Talk) -> list[Utterance]:
    """The messages of a talk."""
    return [Utterance(each[0] == ">", each[2:].encode(), 0.0) for each in talk]


def test_a_token_that_comes_back_is_a_register() -> None:
    """Among other words with digits, by the place of each; messages that are the same then count once."""
    talk = ["> login", "< token a1 for 60 s", "> get 5 a1", "> login", "< token b2 for 60 s", "> get 5 b2"]
    messages, (found,) = guessed_registers(heard(talk))
    assert messages == ["login", "get 5 {token}"]
    assert found.messages == ("get 5 {token}",)
    assert (found.way, found.value, found.answer) == (("login", "get 5 {token}"), "a1", ())
    assert found.pattern == r"\Atoken\ (\w+)\ for\ \w+\ s\Z"


def test_a_label_is_the_same_register_in_all_answers() -> None:
    """A sequence number that each answer brings; and a long session id needs no second session to be one."""
    talk = ["> hello", "< id 3fa91c next=417", "> book 3fa91c 417", "< booked next=418", "> pay 3fa91c 418"]
    messages, found = guessed_registers(heard(talk))
    assert messages == ["hello", "book {id} {next}", "pay {id} {next}"]
    assert found[1].pattern == r"\bnext=(\w+)"


@pytest.mark.parametrize(
    "talk",
    [
        ["> nick ann12345", "< hi ann12345", "> kick ann12345"],
        ["> get 1", "< made 2", "> get 2"],
        ["> new", "< made 1", "> get 1", "> new", "< made 2", "> get 7", "> new", "< made 3", "> get 3"],
        ["> new", "< made 1", "> get 1", "> get 1"],
    ],
    ids=["own", "once", "not always", "one value"],
)
def test_what_may_be_chance_is_none(talk: Talk) -> None:
    """The client's own name, one equal number, a message with another value, and a value that never changed."""
    assert guessed_registers(heard(talk))[1] == []


def test_two_registers_with_the_same_first_word_have_two_names() -> None:
    """The second one is called by its number; one whose answer begins with no word as well."""
    talk = [
        text for n in "12" for text in (f"< id a{n}", f"> x a{n}", f"< id b {n}0", f"> y {n}0", f"< {n}9", f"> z {n}9")
    ]
    messages, found = guessed_registers(heard(talk))
    assert [each.name for each in found] == ["id", "r2", "r3"]
    assert messages == ["x {id}", "y {r2}", "z {r3}"]


def test_answers_without_end_are_forgotten() -> None:
    """A message is compared with the last answers of a bounded number of forms."""
    noise = [f"< {chr(97 + n % 26) * (n // 26 + 1)} {n}" for n in range(RECENT)]
    talk = [text for n in "12" for text in (f"< made {n}00", *noise, f"> drop {n}00")]
    assert guessed_registers(heard(talk))[1] == []
