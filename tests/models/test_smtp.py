"""SMTP: what a server may answer, which mail it may keep, and how replies are cut."""

import pytest

from otf.adapter import Ended
from otf.codec import PortAction
from otf.errors import CodecError
from otf.models.smtp import bench
from otf.models.smtp.messages import SPOOL, Accepted, Command, Connect, Reply, SmtpCodec, Text, replies
from tests.models.scripts import judged

CODEC = SmtpCodec()
OPEN = [(Connect(), Reply(220)), (Command("EHLO me.example"), Reply(250, 4))]
BEGUN = [*OPEN, (Command("MAIL FROM:<a@example.org>"), Reply(250)), (Command("rcpt to:<c@example.org>"), Reply(250))]
READING = [*BEGUN, (Command("DATA"), Reply(354))]
MAIL = Accepted("a@example.org", ("c@example.org",), ("hello",))


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([(Connect(), Reply(554))], "fail"),
        ([*OPEN, (Command("NOOP"), Reply(250))], "pass"),
        ([*OPEN, (Command("DATA"), Reply(503))], "pass"),
        ([*OPEN, (Command("DATA"), Reply(354))], "fail"),
        ([*BEGUN, (Command("MAIL FROM:<a@example.org>"), Reply(250))], "fail"),
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


def test_a_line_that_begins_with_a_dot_is_doubled() -> None:
    """The end of a mail is a dot, so that a line with a dot has two; a connection is opened by an input."""
    assert CODEC.encode(Text((".", "a"))) == b"..\r\na\r\n.\r\n"
    assert (CODEC.encode(Command("NOOP")), CODEC.encode(Connect())) == (b"NOOP\r\n", PortAction.CONNECT)
    with pytest.raises(CodecError, match="no input of a mail server"):
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
    with pytest.raises(CodecError, match="no mail as the server prints it"):
        CODEC.decode(SPOOL, b"hello")
