"""Exceptions of the user's code: whose they are, and what was probably meant."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from otf.errors import choose, near
from otf.spec.requirements import Requirement
from otf.values.raised import blame, is_users, meant, own_frames, traced

CODE = """
import json
from dataclasses import dataclass


@dataclass
class Level:
    number: int

    def __post_init__(self):
        if self.number < 0:
            raise ValueError


def levels(first, *others, number=0, **more):
    return Levell(5)


def attribute(level):
    return Level(5).numberz


def keyword(level):
    return Level(num=5)


def function(level):
    return levels(1, numberz=2) if level else levels(1, others=2)


def positional(level, first=None, /):
    return positional(level, firstt=2)


def method(level):
    return json.loads("1", object_hok=1)


def imported(level):
    from json import dump_s


def elsewhere(level):
    return json.loads("{")


def unknown(level):
    return zzzzzz


def negative(level):
    return Level(-1)
"""


@pytest.fixture
def users(tmp_path: Path) -> Callable[[str], BaseException]:
    """Calls a function of a user's file; returns what it raised."""
    file = tmp_path / "mine.py"
    file.write_text(CODE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("mine", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def raised(name: str) -> BaseException:
        try:
            vars(module)[name](0)
        except Exception as error:  # noqa: BLE001 -- any
            return error
        raise AssertionError(name)

    return raised


@pytest.mark.parametrize(
    ("function", "hint"),
    [
        ("levels", "; did you mean Level?"),
        ("attribute", "; did you mean number?"),
        ("keyword", "; did you mean number?"),
        ("method", "; did you mean object_hook?"),
        ("imported", "; did you mean dumps?"),
        ("elsewhere", ""),
        ("unknown", ""),
    ],
)
def test_the_name_that_was_meant(users: Callable[[str], BaseException], function: str, hint: str) -> None:
    """Of a class, an attribute, a parameter and an import; none is guessed where none is close."""
    assert meant(users(function)) == hint
    assert str(blame("it raised", users(function))).lower().count("did you mean") == hint.count("did you mean")


def test_only_a_parameter_that_can_be_named_is_suggested(users: Callable[[str], BaseException]) -> None:
    """Neither `*others` nor a positional one; all that the function takes are named instead."""
    assert meant(users("positional")) == "; it takes (level, first=…, /)"


def test_code_without_source_is_not_shown(users: Callable[[str], BaseException]) -> None:
    """Python writes the __init__ of a dataclass: the line in it says nothing."""
    lines = own_frames(users("negative"))
    assert "return Level(-1)" in lines
    assert "<string>" not in lines


def test_a_long_message_is_cut() -> None:
    """A value of a thousand characters hides what to do."""
    assert len(str(blame("it raised", ValueError("x" * 1000)))) < 350


def test_an_object_whose_names_cannot_be_listed() -> None:
    """Then none is suggested."""

    class Odd:
        def __dir__(self) -> list[str]:
            raise KeyError("dir")

    with pytest.raises(AttributeError) as raised:
        Odd().name  # type: ignore[attr-defined] # noqa: B018 # pyright: ignore -- on purpose
    assert meant(raised.value) == ""


def test_a_value_with_few_names_lists_them() -> None:
    """A short name is near to none, and a dataclass has few."""
    with pytest.raises(AttributeError) as raised:
        Requirement("R1", "MUST", "x").ident  # type: ignore[attr-defined] # noqa: B018 # pyright: ignore -- on purpose
    assert meant(raised.value) == "; it has id, level, text, undecided"


def test_whose_an_error_is(users: Callable[[str], BaseException]) -> None:
    """The user's, also if their code called a library; otf's, if otf called it."""
    assert is_users(users("levels"))
    assert is_users(users("elsewhere"))
    with pytest.raises(TypeError) as raised:
        near(5, ["a"])  # type: ignore[arg-type] # pyright: ignore -- a mistake of otf
    # without the frame of this test
    raised.value.__traceback__ = raised.tb.tb_next
    assert not is_users(raised.value)
    assert not is_users(KeyError("nowhere"))


def test_the_lines_of_a_user_begin_with_their_own(users: Callable[[str], BaseException]) -> None:
    """What called their code is left out, what it called is not."""
    lines = own_frames(users("elsewhere")).splitlines()
    assert "in raised" in lines[1]
    assert json.loads.__code__.co_filename in "".join(lines)
    assert "NameError: name 'zzzzzz' is not defined\n" in str(blame("the model raised", users("unknown")))


def test_a_traceback_is_short_whatever_was_raised() -> None:
    """No deep recursion, long message or chain without end fills a report, and nothing in it moves a cursor."""

    def dive(deep: int) -> None:
        if deep == 0:
            raise ValueError("\x1b[2J" + "long " * 1_000_000 + "\nline" * 1_000)
        try:
            dive(deep - 1)
        except ValueError as error:
            raise ValueError(f"level {deep}") from error

    with pytest.raises(ValueError, match="level") as raised:
        dive(100)
    text = traced(raised.value)
    assert f'File "{__file__}"' in text
    assert text.count("Traceback") == 3
    assert max(map(len, text.splitlines())) <= 200
    assert len(text) < 10_000
    with pytest.raises(ValueError, match="long") as raised:
        dive(0)
    assert "\x1b" not in traced(raised.value)
    assert len(traced(raised.value)) < 5_000


def test_a_choice_names_all() -> None:
    """With the one that was probably meant first."""
    assert choose("xx", ["strict", "eager"]) == "choose one of strict, eager"
