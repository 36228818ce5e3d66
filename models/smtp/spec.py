"""A mail server as a function; after RFC 5321, with the codes that section 4.3.2 allows for each command.

Only codes are judged, since the texts after them are for people. A mail that was accepted must appear in the spool with
the sender, the recipients and the lines of this transaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeAlias

from otf.models.smtp.messages import SESSION, Accepted, Command, Connect, Reply, Text
from otf.spec import AnyOrder, Spec, Transition, Where, goto, on
from otf.trace.events import Ended

ALSO: Final = ("bare", "empty", "help")
"""Groups of inputs that bring a departure to light."""

MOST: Final = 2
"""Recipients of a mail."""

MOST_UNKNOWN: Final = 3
"""Unknown commands in a session: a server may take more of them for an attack, and hang up."""

SENDERS: Final = {"MAIL FROM:<a@example.org>": "a@example.org", "mail from:<>": ""}
RECIPIENTS: Final = {"RCPT TO:<b@example.org>": "b@example.org", "rcpt to:<c@example.org>": "c@example.org"}
MAILS: Final = (Text(()), Text(("hello",)), Text((".", "..x", "", ". y")))
_ANYTIME: Final = (
    "NOOP",
    "VRFY b",
    "RSET",
    "QUIT",
    "EHLO me.example",
    "HELO me.example",
    "EHLO",
    "MAIL",
    "RCPT",
)
_BARE: Final = "MAIL FROM:a@example.org"
_EMPTY: Final = "RCPT TO:<>"

Input: TypeAlias = Connect | Command | Text


@dataclass(frozen=True, slots=True)
class Session:
    """A session with a server: whether the client said who it is, and the mail so far (`sender` None: there is none).

    `data`: the server waits for the text of the mail. `unknown` counts the unknown commands.
    """

    greeted: bool = False
    sender: str | None = None
    recipients: tuple[str, ...] = ()
    data: bool = False
    unknown: int = 0


State: TypeAlias = Session | None
Yields: TypeAlias = Iterator[Transition[State]]


def smtp(also: str = "") -> Spec[State, Input]:
    """Return the spec; `also` is one of `ALSO`.

    >>> smtp().name
    'smtp'
    """
    return Spec(_step, None, partial(_inputs, also), name="smtp", guarded=True)


def _inputs(also: str, state: State) -> Iterator[Input]:
    match state:
        case None:
            yield Connect()
        case Session(data=True):
            yield from MAILS
        case Session(recipients=recipients, unknown=unknown):
            yield from map(Command, (*_ANYTIME, *SENDERS, "DATA"))
            if unknown < MOST_UNKNOWN:
                yield Command("FROB")
            if len(recipients) < MOST:
                yield from map(Command, RECIPIENTS)
            if also:
                yield Command({"bare": _BARE, "empty": _EMPTY, "help": "HELP"}[also])


def _step(state: State, inp: Input) -> Yields:
    match state, inp:
        case None, Connect():
            yield goto(Session(), _code(220))
        case Session(data=True), Text(lines):
            accepted = Accepted(state.sender or "", state.recipients, lines)
            yield goto(_fresh(state, greeted=True), AnyOrder(_code(250), accepted))
        case Session(), Command("QUIT"):
            yield goto(None, _code(221), on(SESSION, Ended))
        case Session(), Command(line):
            yield from _command(state, line)
        case _:
            return


def _command(state: Session, line: str) -> Yields:
    match line:
        case "EHLO me.example" | "HELO me.example":
            yield goto(_fresh(state, greeted=True), _code(250))
        case "RSET":
            yield goto(_fresh(state, greeted=state.greeted), _code(250))
        case "NOOP":
            yield goto(state, _code(250))
        case "VRFY b":
            yield goto(state, _code(250, 251, 252, 502, 504, 550, 551, 553))
        case "HELP":
            yield goto(state, _code(211, 214, 502, 504))
        case "FROB":
            yield goto(replace(state, unknown=state.unknown + 1), _code(500, 502))
        case "EHLO" | "MAIL" | "RCPT" | "MAIL FROM:a@example.org" | "RCPT TO:<>":
            # nonsense, perhaps out of order as well: the RFC does not say which is told
            yield goto(state, _code(500, 501, 503, 553, 555))
        case _:
            yield from _transaction(state, line)


def _fresh(state: Session, *, greeted: bool) -> Session:
    """Return the session without a transaction."""
    return Session(greeted, unknown=state.unknown)


def _transaction(state: Session, line: str) -> Yields:
    if line in SENDERS and state.greeted and state.sender is None:
        yield goto(replace(state, sender=SENDERS[line]), _code(250))
    elif line in RECIPIENTS and state.sender is not None:
        yield goto(replace(state, recipients=(*state.recipients, RECIPIENTS[line])), _code(250, 251))
    elif line == "DATA" and state.recipients:
        yield goto(replace(state, data=True), _code(354))
    elif line == "DATA" and state.sender is not None:
        yield goto(state, _code(503, 554))
    else:
        yield goto(state, _code(503))


def _code(*codes: int) -> object:
    says = f"a reply with {' or '.join(map(str, codes))}"
    return on(SESSION, Where(lambda output: isinstance(output, Reply) and output.code in codes, says=says))
