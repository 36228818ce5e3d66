"""SMTP: what a server may answer, which mail it may keep, and how replies are cut."""

import pytest

from otf.adapter import Ended
from otf.codec import PortAction
from otf.errors import CodecError
from otf.models.smtp import bench
from otf.models.smtp.inputs import BAD, CANCEL, GARBLED, LOGIN, ROUTE, Session
from otf.models.smtp.messages import (
    SPOOL,
    Accepted,
    Command,
    Commands,
    Connect,
    Handshake,
    Part,
    Reply,
    Secured,
    SmtpCodec,
    Text,
    replies,
)
from otf.models.smtp.spec import smtp
from tests.models.scripts import judged

CODEC = SmtpCodec()
OPEN = [(Connect(), Reply(220)), (Command("EHLO me.example"), Reply(250, 4))]
BEGUN = [*OPEN, (Command("MAIL FROM:<a@example.org>"), Reply(250)), (Command("rcpt to:<c@example.org>"), Reply(250))]
READING = [*BEGUN, (Command("DATA"), Reply(354))]
ENDED = Ended("end of stream")
OK = Reply(250)
OFFER = Reply(250, 4, ("AUTH", "PIPELINING", "STARTTLS"))
TLS = [(Command("STARTTLS"), Reply(220)), (Handshake(), Secured())]
MAIL = Accepted("a@example.org", ("c@example.org",), ("hello",))


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([(Connect(), Reply(554))], "fail"),
        ([*OPEN, (Command("NOOP"), Reply(250))], "pass"),
        ([*OPEN, (Command("DATA"), Reply(503))], "pass"),
        ([*OPEN, (Command("DATA"), Reply(354)), (Text(("hello",)), Reply(554))], "pass"),
        ([*OPEN, (Command("DATA"), Reply(354)), (Text(("hello",)), Reply(250))], "fail"),
        ([*BEGUN, (Command("MAIL FROM:<a@example.org>"), Reply(501))], "fail"),
        ([*BEGUN, (Command("MAIL FROM:<a@example.org>"), Reply(250)), (Command("DATA"), Reply(503))], "pass"),
        ([(Connect(), Reply(220)), (Command("RCPT TO:<b@example.org>"), Reply(250))], "fail"),
        ([*READING, (Part("a\n.\nNOOP\r\n"),), (Text(("hello",)), Reply(250), MAIL)], "pass"),
        ([*READING, (Part("a\n.\nNOOP\r\n"), Reply(552), ENDED)], "pass"),
        ([*READING, (Part("a\n.\nNOOP\r\n"), Reply(250), MAIL)], "fail"),
        ([*BEGUN, (Command("RCPT TO:<Postmaster>"), Reply(501))], "fail"),
        ([*BEGUN, (Command("EHLO me.example"), Reply(250)), (Command("DATA"), Reply(503))], "pass"),
        ([*READING, (Text(("hello",)), Reply(250), MAIL)], "pass"),
        ([*READING, (Text(("hello",)), MAIL, Reply(250))], "pass"),
        ([*READING, (Text(("hello",)), Reply(250))], "fail"),
        ([*READING, (Text((".", "..x", "", ". y")), Reply(250), MAIL)], "fail"),
        ([*READING, (Text(("hello",)), Reply(250), MAIL), (Command("DATA"), Reply(503))], "pass"),
        ([*OPEN, (Command("VRFY b"), Reply(252)), (Command("RSET"), Reply(501))], "fail"),
        ([*OPEN, (Command("FROB"), Reply(502))], "pass"),
    ],
)
def test_what_a_server_may_answer(script: list[tuple[object, ...]], outcome: str) -> None:
    """A transaction has an order, a mail is kept as it was sent, and EHLO and the end of a mail begin anew."""
    assert judged(bench(), *script) == outcome


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([(Command(LOGIN), Reply(235)), (Command(LOGIN), Reply(503))], "pass"),
        ([(Command(LOGIN), Reply(235)), (Command(LOGIN), Reply(235))], "fail"),
        ([(Command("AUTH PLAIN"), Reply(334)), (Command(CANCEL), Reply(501)), (Command(LOGIN), Reply(235))], "pass"),
        ([(Command("AUTH PLAIN"), Reply(334)), (Command(BAD), Reply(235))], "fail"),
        ([(Command("AUTH PLAIN"), Reply(334)), (Command(GARBLED), Reply(535))], "fail"),
        ([(Command("AUTH FROB"), Reply(504))], "pass"),
        ([*TLS, (Command("EHLO me.example"), OFFER)], "fail"),
        (
            [(Command("STARTTLS"), Reply(220)), (Handshake(), Secured()), (Command("RCPT TO:<b@example.org>"), OK)],
            "fail",
        ),
        ([(Command(LOGIN), Reply(235)), *TLS, (Command("EHLO me.example"), OK), (Command(LOGIN), Reply(235))], "pass"),
        ([(Commands(("STARTTLS", "NOOP")), Reply(220)), (Handshake(), Secured(), OK)], "fail"),
        ([(Commands(("STARTTLS", "NOOP")), Reply(220)), (Handshake(), ENDED)], "pass"),
        ([(Commands(("STARTTLS", "NOOP")), Reply(220), ENDED)], "pass"),
        ([(Commands(("RSET", "mail from:<>", "NOOP")), OK, OK, OK)], "pass"),
        ([(Commands(("RSET", "mail from:<>", "NOOP")), OK, OK)], "fail"),
    ],
)
def test_extensions(script: list[tuple[object, ...]], outcome: str) -> None:
    """A login counts once and in no transaction; TLS makes the server forget all; groups are answered one by one."""
    assert judged(bench(), *OPEN[:1], (Command("EHLO me.example"), OFFER), *script) == outcome


@pytest.mark.parametrize(
    ("also", "script", "outcome"),
    [
        ("newline", [*OPEN, (Part("NOOP\n"),)], "pass"),
        ("newline", [*OPEN, (Part("NOOP\n"), OK)], "fail"),
        ("route", [*OPEN, (Command(ROUTE), Reply(503))], "pass"),
        ("route", [*BEGUN, (Command(ROUTE), Reply(550))], "pass"),
        ("route", [*BEGUN, (Command(ROUTE), Reply(501))], "fail"),
        ("login", [OPEN[0], (Command("EHLO me.example"), OFFER), *BEGUN[2:], (Command(LOGIN), Reply(235))], "fail"),
        ("help", [*OPEN, (Command("HELP"), Reply(214, 3))], "pass"),
        ("bare", [*OPEN, (Command("MAIL FROM:a@example.org"), OK)], "fail"),
    ],
)
def test_what_is_tried_when_asked_for(also: str, script: list[tuple[object, ...]], outcome: str) -> None:
    """An end of a line is CRLF, a source route is known, and a login does not come within a mail."""
    assert judged(bench(also=also), *script) == outcome


def test_a_habit_is_kept() -> None:
    """Whether a server wants a greeting before a mail is its choice, and TLS does not change it."""
    early, tls = Command("MAIL FROM:<a@example.org>"), [(Command("EHLO me.example"), OFFER), *TLS]
    for first, then, outcome in ((503, 503, "pass"), (250, 250, "pass"), (503, 250, "fail")):
        script = [(Connect(), Reply(220)), (early, Reply(first)), *tls, (early, Reply(then))]
        assert judged(bench(), *script) == outcome


def test_what_is_tried() -> None:
    """Extensions are used as the server offers them; each session starts with a connection."""
    spec = smtp("newline")
    assert list(spec.inputs(None)) == [Connect()]
    assert Command("STARTTLS") not in set(spec.inputs(Session()))
    assert Command("STARTTLS") in set(spec.inputs(Session(hello="EHLO", offers=("STARTTLS",))))
    assert Part("NOOP\n") in set(spec.inputs(Session()))
    assert set(spec.inputs(Session(mode="injected"))) == {Handshake()}


def test_a_line_that_begins_with_a_dot_is_doubled() -> None:
    """The end of a mail is a dot, so that a line with a dot has two; a connection is opened by an input."""
    assert CODEC.encode(Text((".", "a"))) == b"..\r\na\r\n.\r\n"
    assert (CODEC.encode(Command("NOOP")), CODEC.encode(Connect())) == (b"NOOP\r\n", PortAction.CONNECT)
    with pytest.raises(CodecError, match="not an input of a mail server"):
        CODEC.encode(Ended("end of stream"))


def test_a_reply_has_lines() -> None:
    """A reply ends with the line without a hyphen; all its lines have one code."""
    frames = [frame.data for frame in replies()().feed(b"250-a\r\n250-b\r\n250 c\r\n220\r\n25")]
    assert [CODEC.decode("session", data) for data in frames] == [Reply(250, 3), Reply(220)]
    for wrong in (b"250-a\r\n251 b\r\n", b"hello\r\n", b"250 a\r\n250 b\r\n", b"\xff\r\n"):
        with pytest.raises(CodecError):
            CODEC.decode("session", wrong)


def test_an_accepted_mail_is_a_line() -> None:
    """The server prints the sender, the recipients and the bytes of a mail."""
    line = b"mail a@example.org c@example.org " + b"hello\r\n".hex().encode()
    assert CODEC.decode(SPOOL, line) == MAIL
    assert CODEC.decode(SPOOL, b"mail - b@example.org ") == Accepted("", ("b@example.org",), ())
    with pytest.raises(CodecError, match="not a mail as the server prints it"):
        CODEC.decode(SPOOL, b"hello")
