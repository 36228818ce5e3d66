"""A run as a table with the states of the model."""

from otf.campaign.table import table
from otf.trace.events import Closed, Event, Quiet, Seen, Sent
from tests.campaign.machine import Button, Coffee, Coin, Tea, bench

ORACLE = bench().oracle()


def test_a_line_for_each_step() -> None:
    """Each line has the input, its outputs, and what changed in the state: nothing where it failed."""
    paid: list[Event] = [Sent(Coin(), "m", 0.0), Quiet(1.0), Sent(Button(), "m", 1.0)]
    assert table(ORACLE, [*paid, Seen(Coffee(), "m", 1.0), Quiet(2.0)]).splitlines() == [
        "{0} Coin() -> nothing {1}",
        "Button() -> Coffee() {0}",
    ]
    assert table(ORACLE, [*paid, Seen(Tea(), "m", 1.0), Quiet(2.0)]).splitlines()[1] == "Button() -> Tea() {}"
    assert table(ORACLE, [*paid, Quiet(2.0)]).splitlines()[1] == "Button() -> nothing more {}"
    ended = table(ORACLE, [*paid, Closed("m", "exit status 3", 1.0)]).splitlines()[1]
    assert ended == "Button() -> the port m ended: exit status 3 {}"


def test_nothing_was_sent() -> None:
    """Without steps there are no lines."""
    assert table(ORACLE, [Quiet(1.0)]) == ""
