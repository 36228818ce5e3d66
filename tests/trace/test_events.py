"""Events and verdicts are plain data."""

from __future__ import annotations

from typing import get_args

from otf.errors import ContactError, ModelError, OtfError, UsageError
from otf.trace.events import Quiet, Seen, Sent
from otf.trace.verdict import WORDS, Failure, FailureKind, Signature, Verdict

SIGNATURE = Signature("wrong", "Idle", "Join", "JoinPDU", "LeavePDU")


def test_events_are_equal_by_what_they_say() -> None:
    """An input on one port at one time is that event and no other."""
    events = [Sent("a", "A", 0.5), Sent("a", "A", 0.5), Seen("a", "A", 0.5), Quiet(0.5), Quiet(0.5), Quiet(1.0)]
    assert len(set(events)) == 4


def test_a_signature_fits_on_one_line() -> None:
    """Kind, state, input, what was expected and what was seen."""
    assert str(SIGNATURE) == "wrong: Idle --Join--> expected JoinPDU, seen LeavePDU"


def test_a_failure_has_the_kind_of_its_signature() -> None:
    """There is one kind of each failure."""
    failure = Failure(SIGNATURE, event=3, step=1, input="Join()", seen="LeavePDU()", port="cpe2")
    assert failure.kind == "wrong"
    assert Verdict("fail", failure).failed


def test_only_nonconformance_is_failure() -> None:
    """A run that passes, was cut short or remains inconclusive has not failed."""
    assert not any(
        verdict.failed for verdict in (Verdict("pass"), Verdict("pass", truncated=True), Verdict("inconclusive"))
    )


def test_each_kind_of_failure_has_words_for_people() -> None:
    """No kind is shown as a bare word."""
    assert set(WORDS) == set(get_args(FailureKind))


def test_errors_say_how_the_command_ends() -> None:
    """2 is for callers and authors of models; 3 is for a system that could not be reached."""
    assert [kind.exit_status for kind in (OtfError, UsageError, ModelError, ContactError)] == [2, 2, 2, 3]
