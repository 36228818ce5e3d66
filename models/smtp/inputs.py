"""The state of a session with a mail server, and inputs worth trying in it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from otf.models.smtp.messages import Command, Commands, Connect, Handshake, Part, Text

ALSO: Final = ("bare", "empty", "help", "login", "newline", "route")
"""Groups of inputs that show a departure."""

MOST: Final = 2
"""Recipients of a mail."""

MOST_UNKNOWN: Final = 3
"""Unknown commands, and failed logins, in a session: a server may take more for an attack, and hang up."""

SENDERS: Final = {"MAIL FROM:<a@example.org>": "a@example.org", "mail from:<>": ""}
RECIPIENTS: Final = {
    "RCPT TO:<b@example.org>": "b@example.org",
    "rcpt to:<c@example.org>": "c@example.org",
    "RCPT TO:<Postmaster>": "Postmaster",
    **{f"RCPT TO:<b{number}@example.org>": f"b{number}@example.org" for number in range(100)},
}
MANY: Final = Commands(tuple(RECIPIENTS)[3:])
MAILS: Final = (Text(()), Text(("hello",)), Text((".", "..x", "", ". y")), Text(("." + "x" * 997,)))
ODD_ENDS: Final = ("\n.\n", "\n.\r\n", "\r\n.\n", "\r.\r", "\r.\r\n", "\r\n.\r")
"""Sequences that end a mail for some servers. Only CRLF.CRLF should."""
PARTS: Final = tuple(Part(f"a{end}NOOP\r\n") for end in ODD_ENDS)
LONG: Final = "NOOP " + "x" * 504  # 511 bytes with its end
ROUTE: Final = "RCPT TO:<@relay.example:d@example.org>"
WORDS: Final = ("EHLO", "MAIL", "RCPT", "MAIL FROM:a@example.org", "RCPT TO:<>")
"""Commands outside the grammar."""


def _plain(password: str) -> str:
    return b64encode(f"\0user\0{password}".encode()).decode()


GOOD, BAD, CANCEL, GARBLED = _plain("secret"), _plain("wrong"), "*", "=AAA"
LOGIN: Final = f"AUTH PLAIN {GOOD}"
LOGINS: Final = (LOGIN, f"AUTH PLAIN {BAD}", f"AUTH PLAIN {GARBLED}", "AUTH PLAIN", "AUTH FROB")
_ANYTIME: Final = ("NOOP", "VRFY b", "RSET", "QUIT", "EHLO me.example", "HELO me.example", "EHLO", "MAIL", "RCPT", LONG)
_GROUPS: Final = (
    Commands(("MAIL FROM:<a@example.org>", "RCPT TO:<b@example.org>", "DATA")),
    Commands(("RSET", "mail from:<>", "NOOP")),
    Commands(("RCPT TO:<b@example.org>", "RSET", "RCPT TO:<b@example.org>", "DATA")),
)
"""Groups of commands as in RFC 2920: those that change more than the transaction come last."""
INJECTED: Final = tuple(
    Commands(("STARTTLS", *after))
    for after in (("NOOP",), ("EHLO me.example",), ("EHLO me.example", "MAIL FROM:<a@example.org>"))
)
"""STARTTLS is the last command of a group: injected commands must not reach the encrypted session."""

Input: TypeAlias = Connect | Command | Commands | Text | Part | Handshake
Mode: TypeAlias = Literal["commands", "data", "login", "tls", "injected"]


@dataclass(frozen=True, slots=True)
class Session:
    """A session with a server: how the client greeted it, what it offers, and the mail so far (`sender` None: none).

    `mode`: what the server waits for. `odd`: the mail so far has invalid line ends. `unknown` counts wrong commands.
    `user`: the client has logged in. `polite`: whether the server refused a mail before any greeting; None while
    unknown.
    """

    hello: str = ""
    offers: tuple[str, ...] = ()
    sender: str | None = None
    recipients: tuple[str, ...] = ()
    mode: Mode = "commands"
    odd: bool = False
    unknown: int = 0
    tls: bool = False
    user: bool = False
    polite: bool | None = None


def inputs(also: str, state: Session | None) -> Iterator[Input]:
    """Yield what a client may send; `also` is one of `ALSO`."""
    if state is None:
        yield Connect()
        return
    match state.mode:
        case "commands":
            yield from _commands(also, state)
        case "data":
            yield from MAILS
            yield from PARTS
        case "login":
            yield from map(Command, (GOOD, BAD, CANCEL, GARBLED))
        case _:
            yield Handshake()


def _commands(also: str, state: Session) -> Iterator[Input]:
    yield from map(Command, (*_ANYTIME, *SENDERS, "DATA"))
    if len(state.recipients) < MOST:
        yield from map(Command, tuple(RECIPIENTS)[:3])
    if "PIPELINING" in state.offers:
        yield from _GROUPS
        if state.sender is not None and not state.recipients:
            yield MANY
    if state.unknown < MOST_UNKNOWN:
        yield Command("FROB")
        if "AUTH" in state.offers and (state.sender is None or state.user or also == "login"):
            yield from map(Command, LOGINS)
    if "STARTTLS" in state.offers:
        yield Command("STARTTLS")
        yield from INJECTED
    yield from _others(also)


def _others(also: str) -> Iterator[Input]:
    if also == "newline":
        yield Part("NOOP\n")
    elif also and also != "login":
        yield Command({"bare": WORDS[3], "empty": WORDS[4], "help": "HELP", "route": ROUTE}[also])
