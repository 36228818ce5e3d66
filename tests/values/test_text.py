"""How values are shown: short, on one line, harmless, and always; and how one became another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, Flag, StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.values import became, changes, show, showing
from otf.values.text import shortened


class Speaks:
    """A value whose `repr` is the given text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        """Return the text as it is."""
        return self.text


class Broken:
    def __repr__(self) -> str:
        """Fail."""
        message = "no words"
        raise RuntimeError(message)


class Light(StrEnum):
    """A field with names."""

    RED = "red"


class Right(Flag):
    """Names that combine."""

    READ = 1
    WRITE = 2


class Own(Enum):
    """Names with a text of their own."""

    ONE = 1

    def __repr__(self) -> str:
        """Return no name."""
        return "one of all"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (
            (Light.RED, Right.READ | Right.WRITE, Right(0), Own.ONE),
            "(Light.RED, Right.READ|WRITE, <Right: 0>, one of all)",
        ),
        ((1, "a"), "(1, 'a')"),
        ("a\x1b[2Jb", r"'a\x1b[2Jb'"),
        (Speaks("red \x1b[31m"), r"red \x1b[31m"),
        (Speaks("two\nlines\t"), r"two\nlines\t"),
        (Speaks("right \u202e left, half \ud800"), r"right \u202e left, half \ud800"),
        (Speaks("ein Grüß Gott"), "ein Grüß Gott"),
        (Broken(), "<Broken whose repr raised RuntimeError>"),
        ((Broken(),), "<tuple whose repr raised RuntimeError>"),
        ([{1: ("a",)}, set[int](), {2}, frozenset({3}), ()], "[{1: ('a',)}, set(), {2}, frozenset({3}), ()]"),
    ],
)
def test_a_value_is_shown_as_python_does_but_harmlessly(value: object, text: str) -> None:
    """Escape sequences, line ends and marks that reverse text are escaped; a broken repr is reported."""
    assert show(value) == text


@given(st.text(), st.integers(1, 40))
def test_whatever_it_is_it_fits_on_one_line(text: str, longest: int) -> None:
    """The text has at most the given length, and all of it is printable."""
    shown = show(Speaks(text), longest)
    assert len(shown) <= longest
    assert shown.isprintable()


def test_what_is_too_long_ends_in_an_ellipsis() -> None:
    """By default, a text is cut after 300 characters, and its length is given if there is room."""
    assert show("x" * 50, longest=12) == "'xxxxxxxxxx…"
    assert show("x" * 1000).endswith("xx… (1,002 characters)")
    assert len(show("x" * 1000)) == len(show(tuple(range(1000)))) == 300


@pytest.mark.parametrize("port", ["", " on ann"])
def test_a_text_that_is_cut_again_keeps_its_length(port: str) -> None:
    """A failure keeps 4,000 characters of a long message, and its title fewer: both say how long the message was."""
    cut = shortened(show("x" * 10_000) + port, 60)
    assert cut.endswith(f"x… (10,002 characters){port}")
    assert len(cut) == 60


@dataclass(frozen=True)
class Member:
    number: int
    nick: str = "guest"


@dataclass
class Hall:
    name: str
    members: tuple[Member, ...] = ()
    votes: dict[str, int] = field(default_factory=dict[str, int])
    open_to: set[str] = field(default_factory=set[str])
    made: Callable[[], str] = field(default=str, repr=False)
    own: list[int] = field(default_factory=lambda: [1])


class Written(Member):
    def __repr__(self) -> str:
        """Return a text of its own."""
        return "me"


def test_only_fields_that_differ_from_their_default_are_shown() -> None:
    """Also inside containers; a text of its own stays as it is; `showing` shows everything and cuts nothing."""
    assert show(Hall("red", (Member(1), Member(2, "n2")))) == (
        "Hall(name='red', members=(Member(number=1), Member(number=2, nick='n2')), own=[1])"
    )
    assert show([Written(1)]) == "[me]"
    with showing(whole=True):
        assert show(Member(1)) == "Member(number=1, nick='guest')"
        assert len(show("x" * 1000)) == 1002
        assert changes(Member(1), Member(2)) == "Member(number=2, nick='guest')"
    assert show(Member(1)) == "Member(number=1)"


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        pytest.param(Hall("a"), Hall("a"), "", id="nothing"),
        pytest.param(1, True, "True", id="another type"),
        pytest.param((1, 2, 3), (3, 1, 2), "(3, 1, 2)", id="another order"),
        pytest.param(Member(1), Member(2, "x"), "number = 2, nick = 'x'", id="fields"),
        pytest.param(Hall("a"), Hall("a", (Member(1),)), "members + Member(number=1)", id="one more"),
        pytest.param(
            Hall("a", (Member(1), Member(2))), Hall("a", (Member(2),)), "members - Member(number=1)", id="one less"
        ),
        pytest.param(
            Hall("a", (Member(1), Member(2))), Hall("a", (Member(1), Member(3))), "members[1].number = 3", id="inside"
        ),
        pytest.param(("a", 1, (5,)), ("a", 1, (6, 7)), "[2] = (6, 7)", id="others"),
        pytest.param(
            Hall("a" * 9, votes={"x": 1, "y": 1}),
            Hall("a" * 9, votes={"x": 2, "z": 1}),
            "votes + {'z': 1}, votes - {'y': 1}, votes['x'] = 2",
            id="a mapping",
        ),
        pytest.param(Hall("a", open_to={"x"}), Hall("a", open_to={"y"}), "open_to + 'y', open_to - 'x'", id="a set"),
        pytest.param(frozenset({1, 2}), frozenset({1, 2, 3}), "it + 3", id="a bare set"),
        pytest.param(tuple(range(20)), tuple(range(1, 21)), str(tuple(range(1, 21))), id="too many"),
        pytest.param(Member(1), Hall("a"), "Hall(name='a', own=[1])", id="another class"),
    ],
)
def test_a_change_names_the_parts_that_differ(before: object, after: object, text: str) -> None:
    """It is the other value whole where no parts can be named, or where that is shorter."""
    assert changes(before, after) == text


def test_values_that_cannot_be_compared_are_shown_whole() -> None:
    """A broken comparison in a model does not hide the state."""

    class Odd:
        def __eq__(self, other: object) -> bool:
            raise RuntimeError

        __hash__ = None  # type: ignore[assignment]

        def __repr__(self) -> str:
            return "odd"

    assert changes((Odd(), 1), (Odd(), 2)) == "(odd, 2)"


def test_several_possible_states_are_shown_whole() -> None:
    """Which of them came from which is not known."""
    assert became([Member(1)], [Member(1), Member(2)]) == ["Member(number=1)", "Member(number=2)"]
    assert became([Member(1)], [Member(2)]) == ["number = 2"]
    assert became([Member(1)], [Member(1)]) == ["unchanged"]
