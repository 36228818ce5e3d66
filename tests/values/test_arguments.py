"""Mistaken arguments are told with their name, their value in few words, and what is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import pytest

from otf.errors import UsageError
from otf.values.arguments import brief, checked, misfits, unfit

if TYPE_CHECKING:
    from decimal import Decimal


class Long:
    """A value whose repr is long."""

    def __repr__(self) -> str:
        """Return a long text."""
        return "x" * 999


class Unhashable(list[object]):
    """A list that can be called."""

    def __call__(self) -> object:
        """Return the list."""
        return self


def _framings() -> Callable[[], object]:
    return list


def _made(
    url: str = "",
    command: str | Sequence[str] = "",
    rows: Mapping[type[Any], int | None] | None = None,
    frames: Callable[[], object] = list,
    measure: Callable[[bytes], int] = len,
    kind: type[Any] = int,
    some: Iterable[bytes | int] = (),
    any_of: Callable[..., Any] = print,
    error: OSError | None = None,
    seconds: float = 1,
) -> None: ...


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"url": 7}, "url=7: a text is needed"),
        ({"command": ["x", 5]}, "command=['x', 5]: a text or a list of texts is needed"),
        ({"rows": [1]}, "rows=[1]: a dict (a class: a whole number or None) or None is needed"),
        ({"frames": 5}, "frames=5: a function is needed"),
        (
            {"frames": Long()},
            "frames=a Long: a function is needed; it makes a new one for each path: write lambda: Long(…)",
        ),
        ({"frames": len}, "frames=len: it takes (obj), not ()"),
        ({"frames": _framings}, "frames=_framings: write _framings(…), which returns what is needed"),
        ({"seconds": -1}, "seconds=-1: a number of 0 or more is needed"),
        ({"measure": dict}, ""),
        ({"frames": Unhashable()}, ""),
        ({"measure": breakpoint}, ""),
        ({"kind": 5}, "kind=5: a class is needed"),
        ({"some": 5}, "some=5: a list of bytes or whole numbers is needed"),
        ({"any_of": Long()}, "any_of=a Long: a function is needed"),
        ({"error": "no"}, "error='no': an OSError or None is needed"),
        ({"unknown": 5}, ""),
    ],
)
def test_an_argument_of_another_type(given: dict[str, object], says: str) -> None:
    """Each kind of annotation has its words; a function must also take the arguments that it declares."""
    assert "".join(misfits(_made, given.items())) == says


def test_annotations_that_only_a_type_checker_reads() -> None:
    """Nothing is said of them."""

    def pay(sum: Decimal) -> None: ...  # noqa: A002 -- the name does not matter

    assert list(misfits(pay, [("sum", "x")])) == []


def test_a_function_with_other_arguments_is_told_with_its_line() -> None:
    """The line is that of its definition."""
    assert unfit(_made, *"abcdefghijk").startswith("it takes (url, command, rows, ")
    assert unfit(_made, *"abcdefghijk").endswith(f'test_arguments.py", line {_made.__code__.co_firstlineno}, in _made')


def test_a_checked_function_refuses_all_mistakes_at_once() -> None:
    """The call is named; what Python itself refuses stays Python's error, and a right call gets its result."""

    @checked
    def wait(seconds: float, *more: int, why: str = "", **others: int) -> float:
        return seconds + sum(more) + len(why) + len(others)

    call: Any = wait
    assert call(1, 2, why="x", other=5) == 5
    with pytest.raises(UsageError, match=r"^wait: 2 mistakes\n  seconds='5': a number .*\n  why=7: a text is needed$"):
        call("5", why=7)
    with pytest.raises(UsageError, match=r"^wait: more='3': a whole number is needed$"):
        call(1, 2, "3")
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'seconds'"):
        call()


def test_a_long_or_anonymous_value_is_told_by_its_type() -> None:
    """The name of a function or a class is enough, and a default repr says nothing."""
    texts = [brief(each) for each in (Long(), object(), Long, brief, "x")]
    assert texts == [
        "a Long",
        "an object",
        "Long",
        "brief",
        "'x'",
    ]


def test_one_of_several_values_is_needed() -> None:
    """The values of a Literal are listed, and the near one is named."""

    @checked
    def relate(relation: Literal["uioco", "any"]) -> None: ...

    call: Any = relate
    with pytest.raises(UsageError, match=r"relation='ani': 'uioco' or 'any' is needed; did you mean any\?"):
        call("ani")


def test_a_text_is_no_list_of_other_things() -> None:
    """It is a sequence of texts, so that it is refused where numbers are needed."""

    @checked
    def add(numbers: Iterable[int]) -> None: ...

    @checked
    def join(words: Iterable[str]) -> None: ...

    call: Any = add
    with pytest.raises(UsageError, match=r"numbers='12': .* is needed"):
        call("12")
    join("ab")
