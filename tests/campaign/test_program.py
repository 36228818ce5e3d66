"""A shrunk failure as a program: it shows the failure with nothing but the bench, and passes once that is mended."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from enum import Enum, Flag
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from otf.campaign import PathResult
from otf.campaign.program import Literals, UnwritableError, program
from otf.campaign.settings import Settings, header
from otf.models import coffee
from otf.models.coffee import Button, Coin
from otf.trace.events import Quiet, Seen, Sent
from otf.trace.verdict import Failure, Signature, Verdict

SIGNATURE = Signature("wrong", "int", "Button", 'Coffee"""', "Tea\\")
FAILURE = Failure(SIGNATURE, 3, 2, "Button()", 'Tea("""\\")', "line")


class Colour(Enum):
    """Some names."""

    RED = 1


class Marks(Flag):
    """Marks that may be set together."""

    A = 1
    B = 2


class Pair(NamedTuple):
    """A pair with names."""

    left: int
    right: str


@dataclass(frozen=True)
class Deep:
    """A value of values."""

    inner: object

    class Nested(Enum):
        """A class in a class."""

        ONE = 1


VALUES = [
    None, True, 7, 1.5, float("inf"), "it's", b"\0", Colour.RED, Deep.Nested.ONE, Pair(1, "x"), Deep((1, Deep(()))),
    (), (1,), (1, 2), [], [1], {1}, set[int](), frozenset({2}), frozenset[int](),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_come_back(value: object) -> None:
    """The source of a value, with its imports, makes an equal value of the same type."""
    literals = Literals()
    source = literals.of(value)
    space: dict[str, Any] = {}
    exec(literals.imports(), space)  # noqa: S102 -- the text was made just now
    again = eval(source, space)  # noqa: S307 -- the same
    assert (again, type(again)) == (value, type(value))


@pytest.mark.parametrize(
    "value", [object(), Marks.A | Marks.B, {1: 2}, lambda: 1], ids=["object", "flags", "dict", "function"]
)
def test_what_has_no_source(value: object) -> None:
    """Values that no plain expression makes are refused."""
    with pytest.raises(UnwritableError):
        Literals().of(value)


def test_types_that_cannot_be_imported() -> None:
    """A class in a function, or one whose module is gone, cannot be named."""

    @dataclass
    class Local:
        """It is in a function."""

    @dataclass
    class Gone:
        """Its module is gone."""

        __module__ = "no.such.module"

    for value in (Local(), Gone()):
        with pytest.raises(UnwritableError):
            Literals().of(value)
    with pytest.raises(UnwritableError):
        Literals().name(sys.modules["__main__"], "x")


def test_builtin_names_need_no_import() -> None:
    """What is there anyway is not imported."""
    literals = Literals()
    assert literals.name(sys.modules["builtins"], "int") == "int"
    assert "builtins" not in literals.imports()


def _failing(*events: Any) -> PathResult:  # noqa: ANN401 -- events
    return PathResult(1, Verdict("fail", FAILURE), 2, Path("x"), events)


EVENTS = (
    Seen("hello", "line", 0.0),
    Sent(Coin(10), "line", 0.0),
    Quiet(0.1),
    Sent(Button(), "line", 0.2),
    Seen("tea", "line", 0.3),
)


def _text(reference: str, tested: Any, *events: object, **more: Any) -> str | None:  # noqa: ANN401 -- a bench
    head = replace(header(tested, Settings(out=Path(), reference=reference), 1), **more)
    return program(tested, head, _failing(*(events or EVENTS)), (2, 3))


def test_the_program_of_a_system_at_another_address() -> None:
    """It drives the system where the run did, and knows its silence in the same way."""
    tested = replace(coffee.bench(), parameters={"fault": "none"}, silence="timed")
    head = header(tested, Settings(out=Path(), reference="coffee"), 1)
    text = program(tested, head, _failing(*EVENTS), (1, 1), ("line=exec:standin",))
    assert text is not None
    assert "from otf.cli.sut_addresses import addressed\n" in text
    assert "replace(addressed(bench(fault='none'), ['line=exec:standin']), inputs=" in text
    assert ", silence='timed'), STEPS" in text
    compile(text, "program", "exec")


def test_the_program_of_a_shipped_bench() -> None:
    """It imports the bench, lists the steps, and says how often they failed and how often it tries."""
    tested = replace(coffee.bench(), parameters={"fault": "none"})
    text = _text("coffee", tested, burst=2)
    assert text is not None
    assert "from otf.models.coffee import Button, Coin, bench\n" in text
    assert "    (Coin(cents=10), []),\n    (Button(), ['tea']),\n" in text
    assert "replace(bench(fault='none'), inputs=" in text
    assert ", STEPS, burst=2, tries=3)" in text
    assert "It depends on chance: it failed in 2 of 3 runs" in text
    assert "it tries up to 3 times" in text
    compile(text, "program", "exec")


RACE = (Sent("a", "line", 0.0), Sent("b", "line", 0.0), Seen("tea", "line", 0.3))


@pytest.mark.parametrize(("shown", "tries"), [((4, 4), 8), ((40, 40), 2), ((1, 1), 50)])
def test_the_program_of_a_race_tries_more_than_once(shown: tuple[int, int], tries: int) -> None:
    """A race that failed in 4 of 4 runs can pass under another load: one run that passes does not call it mended."""
    tested = replace(coffee.bench(), parameters={"fault": "none"})
    head = replace(header(tested, Settings(out=Path(), reference="coffee"), 1), burst=2)
    text = program(tested, head, _failing(*RACE), shown)
    assert text is not None
    assert f", STEPS, burst=2, together=(2,), tries={tries})" in text
    assert f"it failed in {shown[0]} of {shown[1]} run" in text


@pytest.mark.parametrize("reference", ["no_such_bench", "otf.models.coffee:no_such_name", ""])
def test_a_bench_that_cannot_be_named(reference: str) -> None:
    """Without a name for the bench there is no program."""
    assert _text(reference, replace(coffee.bench(), parameters={"fault": "none"}, name="")) is None


def test_a_bench_made_with_unknown_arguments() -> None:
    """Parameters that the bench was made with and that are not known cannot be written down."""
    assert _text("coffee", coffee.bench()) is None


def test_a_value_without_source() -> None:
    """Inputs that cannot be written down make no program."""
    assert _text("coffee", replace(coffee.bench(), parameters={"fault": "none"}), Sent(object(), "", 0.0)) is None


def test_a_bench_that_is_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module may hold the bench itself instead of a function that makes it."""
    module = ModuleType("some.benches")
    module.mine = coffee.bench()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "some.benches", module)
    text = _text("some.benches:mine", coffee.bench())
    assert text is not None
    assert "from some.benches import mine\n" in text
    assert "reproduce(replace(mine, inputs=" in text


def test_what_passed_has_no_program() -> None:
    """Only a failure has one."""
    tested = replace(coffee.bench(), parameters={"fault": "none"})
    head = header(tested, Settings(out=Path(), reference="coffee"), 1)
    assert program(tested, head, PathResult(1, Verdict("pass"), 0, Path("x"))) is None
