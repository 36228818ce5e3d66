"""A failure in one line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otf.trace.explain import explanation
from otf.trace.texts import LONGEST, brief
from otf.trace.title import title
from otf.trace.verdict import Failure, FailureKind, Signature, Verdict
from tests.trace.test_near import failure

LONG = f"Page(number=1, text={'x' * 99!r})"


@pytest.mark.parametrize(
    ("failed", "told"),
    [
        (failure("wrong", "4", ("3",)), "wrong: Go() -> expected 3, seen 4"),
        (
            failure("wrong", "Out(a=1, b=9, c=3)", ("Out(a=1, b=2, c=3)",)),
            "wrong: Go() -> expected Out(b=2, …), seen Out(b=9, …)",
        ),
        (
            failure("wrong", "Ok() on c2", ("Nak() on c2",)),
            "wrong: Go() -> expected Nak(), seen Ok() on c2",
        ),
        (
            failure("undecodable", f"Undecodable(raw=b'Te', why={'no pattern, ' * 9!r})", ("Tea()",)),
            "undecodable: Go() -> expected Tea(), seen Undecodable(raw=b'Te', …)",
        ),
        (failure("wrong", "Out(n=9)", ("Out(n=2)",)), "wrong: Go() -> expected Out(n=2), seen Out(n=9)"),
        (failure("wrong", "Out(9)", ("Out(2)",)), "wrong: Go() -> expected Out(2), seen Out(9)"),
        (
            replace(
                failure("wrong", "9", ("1",), ("2",), ("3",)), note="30 states were possible; the trace has 3 of them"
            ),
            "wrong: Go() -> expected 1 or at least 2 others, seen 9",
        ),
        (
            failure("wrong", "Tea()", ("Coffee()",), ("Milk()",)),
            "wrong: Go() -> expected Coffee() or Milk(), seen Tea()",
        ),
        (
            failure("wrong", "Out(n=9)", ("Out(n=1)",), ("Out(n=2)",), ("Tea()",)),
            "wrong: Go() -> expected Out(n=1) or 2 others, seen Out(n=9)",
        ),
        (failure("unasked", "Tea()", ("",)), "unasked: Go() -> expected no output, seen Tea()"),
        (
            failure("missing", "nothing more", ("Tea()", "Milk()")),
            "missing: Go() -> expected Tea(), Milk(), seen nothing",
        ),
        (
            failure("missing", "nothing more", ("Tea()", "Milk()"), before=("Tea()",)),
            "missing: Go() -> expected Milk(), seen nothing more",
        ),
        (
            failure("wrong", "Milk()", ("Tea()",), before=("Tea()",)),
            "wrong: Go() -> expected nothing more, seen Milk()",
        ),
        (
            failure("wrong", LONG, ("Tea()",)),
            "wrong: Go() -> expected Tea(), seen Page(number=1, text='xxxxxxxxxxxxxxxxxxxx…xxxxxxxxxxxx')",
        ),
        (
            replace(failure("wrong", "Ok()", ("Nak()",)), input="Buy() on ann; Buy() on bob", together=2),
            "wrong: Buy() on ann & Buy() on bob -> expected Nak(), seen Ok()",
        ),
    ],
)
def test_the_title_has_the_values_that_differ(failed: Failure, told: str) -> None:
    """It names the input, what was expected and what came; equal fields of two alike values are left out."""
    assert title(failed) == told


@pytest.mark.parametrize("kind", ["late", "early"])
def test_an_untimely_output_has_its_window(kind: FailureKind) -> None:
    """Where the output is right and its time is not, the title says when it was due."""
    failed = failure(kind, "Tea()", ("Tea()",))
    due = "due 1 to 2 s after Go(): between 1.0 s and 2.0 s of the run"
    assert title(failed) == f"{kind}: Go() -> Tea()"
    assert title(replace(failed, times=(due,))) == f"{kind}: Go() -> Tea(): due 1 to 2 s after Go()"


def test_what_has_no_values() -> None:
    """A flood has no expected output, a property has a name, and before the first input there is none."""
    flood = Failure(Signature("flood", "int", "Go", "a pause", "outputs"), 1, 1, "", "Tea()", "")
    assert title(flood) == "flood: no input -> expected a pause, seen Tea()"
    violated = Failure(Signature("property", "int", "Go", "serves", "x"), 1, 1, "Go()", "x", "")
    assert title(violated) == "property: serves"


def test_values_are_short() -> None:
    """A long value has its longest fields shortened, then the fields that fit; what names a request is kept."""
    assert brief("Page(number=1)") == "Page(number=1)"
    assert brief(f"Page({'x' * 99!r})") == f"Page('{'x' * 25}…{'x' * 12}')"
    assert (
        brief(f"Raw(data=b'?!', why='no message, {'x' * 60}')")
        == f"Raw(data=b'?!', why='no message, {'x' * 9}…xxxxxxxxxxxx')"
    )
    request = f"Get(method='POST', target='/holds/{'7' * 32}/confirm', body={'x' * 60!r})"
    assert brief(request) == "Get(method='POST', target='/holds/…confirm', …)"
    assert brief(f"{request} on bob") == f"{brief(request)} on bob"
    assert brief(f"{'N' * 80}(a=1)") == f"{'N' * 80}(…)"
    assert len(brief(repr("x" * 99))) == LONGEST


def test_an_output_that_a_timer_owes_has_its_timer_and_its_moment() -> None:
    """The last input has nothing to do with it, and of several outputs that might come one is overdue."""
    due = ("due 2.8 to 3.2 s after the timer 'wdt' was started: between 2.800 s and 3.200 s of the run",)
    late = replace(failure("missing", "nothing more", ("Status()",), ("Banner()",)), times=due)
    assert title(late) == "missing: Status() or Banner() (timer wdt) did not come by 3.200 s"
    named = replace(late.allowed[0], timers=("'wdt' (2.8 to 3.2 s) runs",), after=("status", "wdt"))
    assert title(replace(late, allowed=(named,))) == "missing: Banner() (timer wdt) did not come by 3.200 s"
    told = explanation(Verdict("fail", replace(late, allowed=(named,))))
    assert "    timers:        'wdt' (2.8 to 3.2 s) runs\n" in told
    assert "Banner(), by the timer 'wdt'" in told


def test_what_was_seen_is_never_nothing_and_then_something() -> None:
    """Only a step with outputs that fitted has them first; a wrong output alone is what was seen."""
    alone = explanation(Verdict("fail", failure("wrong", "4", ("3",))))
    assert alone.startswith("FAIL (wrong): Go() -> expected 3, seen 4\nan output came that ")
    assert "  seen:            4  (on p)" in alone
    assert "nothing" not in alone
    second = explanation(Verdict("fail", failure("wrong", "4", ("1", "3"), before=("1",))))
    assert "  seen first:      1\n  and then:        4  (on p)" in second
    silent = explanation(Verdict("fail", failure("missing", "nothing more", ("3",))))
    assert silent.endswith("  seen:            nothing  (on p)")
