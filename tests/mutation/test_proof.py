"""Mutants that conform are proved to, in models that are small where an input may come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from otf.mutation import Fate, HuntBudget, Survival, bench_of, mutate, places
from otf.mutation.examples import completed_by
from otf.spec import Accept, OneOf, Spec, Transition, Where, goto
from tests.mutation.lamps import FEW, reasons

MOST = 150


@dataclass(frozen=True)
class Page:
    """A page of a book, and whether it was turned to; that shows only inside of the book."""

    number: int = 0
    turned: bool = False


def pager() -> Spec[Page, str]:
    """Return a pager: `more` shows the next page, and is enabled up to the last of them only."""

    def step(page: Page, inp: str) -> Iterator[Transition[Page]]:
        if inp == "more":
            yield goto(Page(page.number + 1, turned=True), f"page {page.number + 1}")
        elif inp == "ask":
            yield goto(page, f"turned: {page.turned}" if page.number else "the title")
        else:
            yield goto(Page(), "the title")

    return Spec(step, Page(), lambda page: ["home", "ask", "more"][: 3 - (page.number == MOST)], name="pager")


def test_inputs_that_never_come_do_not_stop_a_proof() -> None:
    """Asked for ever more pages, this model would never end; but the tester knows the page, and stops at the last."""
    report = mutate(bench_of(pager()), budget=FEW, operators=["target"])
    assert report.counts["open"] == 0
    proved = {(each.mutant.operator.says, each.mutant.when, each.why) for each in report.of(Fate.EQUIVALENT)}
    # to look at the title again and turn no page: `more` says that one was turned anyway
    assert ("Page.turned gets another value", "'home' in Page()", Survival.SAME) in proved


def test_where_outputs_do_not_show_the_state_all_inputs_may_come() -> None:
    """A lamp that may or may not have switched: the tester believes both, and presses what either enables."""

    def step(lit: int, inp: str) -> Iterator[Transition[int]]:
        if inp == "flip":
            yield goto(0, "done")
            yield goto(1, "done")
        elif inp == "off" and not lit:
            yield goto(0, OneOf("dark", "already"))
        else:
            yield goto(0, "dark")

    spec = Spec(step, 0, lambda lit: ["flip", "off"] if lit else ["flip"], name="lamp")
    report = mutate(bench_of(spec), budget=FEW, operators=["guard", "target"])
    assert report.counts["open"] == 0
    assert report.counts["equivalent"] > 0


def test_a_model_without_end_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A counter has no last state: a mutant that no place shows stays open, and says how many were compared."""
    monkeypatch.setattr(places, "ASKED", 300)

    def step(count: int, _inp: str) -> Iterator[Transition[int]]:
        yield goto(count + 1, Where(lambda said: isinstance(said, str), says="any text"))

    report = mutate(bench_of(Spec(step, 0, ["go"])), most=1, budget=HuntBudget(steps=5), operators=["field"])
    assert {each.fate for each in report.results} == {Fate.OPEN}
    assert all("places that were compared; there may be more" in says for _, says in reasons(report.results))


def test_the_inputs_that_show_a_mutant_are_listed() -> None:
    """The wrong step is taken, and shows only two inputs later: a budget of two inputs misses it and names the four."""

    def step(state: tuple[int, int], inp: str) -> Iterator[Transition[tuple[int, int]]]:
        count, hidden = state
        if inp == "hide":
            yield goto((count, 1), "ok")
        elif inp == "up":
            yield goto((min(count + 1, 2), hidden), "up")
        else:
            yield goto(state, f"{hidden if count == 2 else '-'}")

    spec = Spec(step, (0, 0), ["hide", "up", "ask"], name="hidden")
    report = mutate(bench_of(spec), budget=HuntBudget(steps=2), operators=["target"])
    listed = [each.path for each in report.results if each.why is Survival.MISSED]
    assert ("'hide'", "'up'", "'up'", "'ask'") in {path for path in listed if path[0] == "'hide'"}


def _ended(seen: tuple[str, ...]) -> bool:
    return seen[-1] == "go on"


@pytest.mark.parametrize("until", [1, _ended])
def test_an_output_after_the_last_of_an_accept_is_no_part_of_it(until: int | Callable[[Any], bool]) -> None:
    """What it looks at is right, and then the output comes once more: that is killed, and not taken for allowed."""

    def then(seen: tuple[str, ...]) -> list[int]:
        return [0] if seen[0] == "go on" else []

    def step(_state: int, _inp: str) -> Iterator[Accept]:
        yield Accept(then, until=until, examples=lambda: [("go on",)])

    report = mutate(bench_of(Spec(step, 0, ["go"])), budget=FEW, operators=["double"])
    assert [each.fate for each in report.results] == [Fate.KILLED]
    assert not completed_by(next(step(0, "go")), ("go on", "go on"))


def test_an_accept_on_two_ports_is_served_by_its_examples() -> None:
    """One of two copies is lost: that is killed; with another text, which it accepts as well, the mutant conforms."""

    def then(seen: dict[str, tuple[str, ...]]) -> list[int]:
        return [0] if all(text in {"one", "two"} for texts in seen.values() for text in texts) else []

    def step(_state: int, inp: str) -> Iterator[Accept]:
        yield Accept(then, ("a", "b"), examples=lambda: [{"a": (inp,), "b": (inp,)}])

    bench = replace(bench_of(Spec(step, 0, ["one", "two"], name="copies")), outputs=("a", "b"))
    dropped = mutate(bench, budget=FEW, operators=["drop"])
    assert dropped.results
    assert {each.fate for each in dropped.results} == {Fate.KILLED}
    changed = mutate(bench, budget=FEW, operators=["field"])
    assert {each.why for each in changed.of(Fate.EQUIVALENT)} == {Survival.ALLOWED}
