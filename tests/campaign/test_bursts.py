"""Which paths send several inputs at once, and which inputs these are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from otf.adapter import Bench
from otf.adapters import tcp
from otf.campaign import Settings
from otf.campaign.journal_lines import About
from otf.campaign.pace import as_before, burst, clients, lasts
from otf.campaign.settings import header
from otf.codec import lines
from otf.codec.by_port import At, codecs
from otf.core import Send, Symbol
from otf.errors import UsageError
from otf.models.coffee import Button, Coffee, Coin, bench
from otf.models.tftp import bench as tftp
from otf.models.tickets import bench as tickets
from otf.spec import Spec, goto
from otf.trace.events import Event, Quiet, Seen, Sent
from otf.values import key

LINES = lines({Coin: "coin {cents}", Button: "button", Coffee: "coffee"})
SPEC = Spec[int, Coin](lambda state, _inp: [goto(state)], 0, [Coin(5)])


def on(one: str, other: str, **options: tuple[str, ...]) -> Bench:
    """Return a bench with two ports at these addresses."""
    return Bench.on_ports(SPEC, LINES, {"a": tcp(one), "b": tcp(other)}, **options)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] -- `clients` alone


def test_clients_share_an_address_or_a_codec_or_are_declared() -> None:
    """What is declared comes first; one port alone is not a client of several."""
    assert clients(on("127.0.0.1:7", "127.0.0.1:7")) == {"a", "b"}
    assert clients(on("127.0.0.1:7", "127.0.0.1:8")) == set()
    assert clients(on("127.0.0.1:7", "127.0.0.1:8", clients=("a", "b"))) == {"a", "b"}
    assert clients(on("127.0.0.1:7", "127.0.0.1:7", clients=())) == set()
    assert clients(tickets()) == {"ann", "bob"}
    assert clients(bench()) == set()
    with pytest.raises(UsageError, match="clients names the port 'c'; there are a, b"):
        on("127.0.0.1:7", "127.0.0.1:7", clients=("a", "c"))


def test_a_quarter_of_the_paths_has_bursts(tmp_path: Path) -> None:
    """One of each four, of two or three inputs, the same for the same seed; none with one client or another clock."""
    settings = Settings(out=tmp_path, seed=1)
    sizes = [burst(tickets(), None, 1, number) for number in range(1, 2001)]
    assert all(sum(size > 1 for size in sizes[at : at + 4]) == 1 for at in range(0, 2000, 4))
    assert set(sizes) == {1, 2, 3}
    # a short campaign comes to it
    assert sizes[3] > 1
    assert sizes == [burst(tickets(), None, 1, number) for number in range(1, 2001)]
    assert sizes != [burst(tickets(), None, 2, number) for number in range(1, 2001)]
    first = next(number for number, size in enumerate(sizes, 1) if size > 1)
    assert header(tickets(), settings, first).burst == sizes[first - 1]
    for other in (bench(), tickets().at_speed(2)):
        assert {burst(other, None, 1, number) for number in range(1, 20)} == {1}
    assert {burst(tickets(), 1, 1, number) for number in range(1, 20)} == {1}
    assert {burst(bench(), 4, 1, number) for number in range(1, 20)} == {4}


def test_the_last_path_has_bursts_where_there_is_time_for_one() -> None:
    """A path that begins late lasts to the end: one without bursts in the last quarter, others in the last half."""
    for gone, alone, several in ((40, False, False), (60, False, True), (80, True, True)):
        assert lasts(tickets(), None, 1, gone, 100 - gone) == alone
        assert lasts(tickets(), None, 2, gone, 100 - gone) == several
        assert lasts(tickets(), 1, 1, gone, 100 - gone) == several
        assert lasts(bench(), None, 1, gone, 100 - gone) == several


def test_a_campaign_continues_with_its_bursts(tmp_path: Path) -> None:
    """The journal tells a campaign in which bursts come by themselves from one without."""
    settings = Settings(out=tmp_path)
    by_itself, never = About.of(tickets(), settings).parts(), About.of(tickets(), replace(settings, burst=1)).parts()
    assert {name for name in never if by_itself[name] != never[name]} == {"burst"}
    assert About.of(bench(), settings).parts() == About.of(bench(), replace(settings, burst=1)).parts()


EVENTS: Sequence[Event] = [
    *(Sent(Coin(5), "a", 0.0), Quiet(1.0)),
    *(Sent(Coin(5), "a", 1.0), Sent(Button(), "b", 1.0), Seen(Coffee(), "b", 1.1), Quiet(2.0)),
    *(Sent(Button(), "b", 2.0), Sent(At("c", Coin(5)), "c", 2.0)),
]


def send(value: object, port: str) -> Send:
    """Return an input on a port."""
    return Send(Symbol(value, key(value)), port)


def test_inputs_are_sent_at_once_that_were_sent_at_once() -> None:
    """By their numbers."""
    joins = as_before(EVENTS)
    assert [number for number in range(1, 9) if joins(number, [], send(Button(), "b"))] == [3, 5]


def test_two_codecs_alike_are_two_clients() -> None:
    """The ports of messages that name their port."""
    alike = codecs(x=LINES, y=LINES, z=lines({Coffee: "z"}))
    spec = Spec[int, At](lambda state, _inp: [goto(state)], 0, [At("x", Coin(5))])
    made = Bench.on_ports(spec, alike, {each: tcp(f"127.0.0.1:{at}") for at, each in enumerate("xyz", 7)})
    assert clients(made) == clients(made.with_malformed(0.1)) == {"x", "y", "z"}


def test_nothing_is_sent_at_once_where_a_client_has_to_read_first(tmp_path: Path) -> None:
    """A TFTP client learns from an answer where to send: a burst would blame a correct server."""
    with pytest.raises(UsageError, match="burst=3: a client of this protocol has to read an answer"):
        header(tftp(), Settings(out=tmp_path, burst=3), 1)
    assert header(tftp(), Settings(out=tmp_path, burst=1), 1).burst == 1
