"""A mail server as a function; after RFC 5321, with the codes that section 4.3.2 allows for each command.

It judges only codes, since the texts after them are for people. An accepted mail must appear in the spool with the
sender, recipients and lines of this transaction. It uses the extensions that the server offers: pipelining (RFC 2920),
TLS (RFC 3207) and logins (RFC 4954).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeAlias

from otf.adapter.malformed import Anywhere, Disturbed
from otf.codec.malformed import Malformed
from otf.models.smtp.inputs import (
    BAD,
    CANCEL,
    GARBLED,
    GOOD,
    LOGINS,
    MOST_UNKNOWN,
    RECIPIENTS,
    ROUTE,
    SENDERS,
    WORDS,
    Input,
    Session,
    inputs,
)
from otf.models.smtp.messages import (
    SESSION,
    SPOOL,
    Accepted,
    Command,
    Commands,
    Connect,
    Handshake,
    Part,
    Reply,
    Secured,
    Text,
)
from otf.models.smtp.requirements import Smtp
from otf.spec import Accept, AnyOrder, Spec, Transition, Where, goto, on
from otf.trace.events import Ended

ANY_FAILURE: Final = tuple(range(400, 600))
END: Final = on(SESSION, Ended)

State: TypeAlias = Session | None
Way: TypeAlias = Transition[State]
Yields: TypeAlias = Iterator[Way]


def smtp(also: str = "") -> Spec[State, Input]:
    """Return the spec of an SMTP mail server.

    `also` adds inputs that the spec leaves out by default: `bare`, `empty`, `help`, `login`, `newline` or `route`.

    >>> smtp().name
    'smtp'
    """
    return Spec(_step, None, partial(inputs, also), name="smtp", guarded=True, malformed=_malformed)


def _malformed(state: State, inp: Malformed) -> Iterator[Transition[Any]] | None:
    """Yield what follows an unknown command; anything may follow a known one that is out of place."""
    return None if inp.raw == inp.of else _counted(state, inp)


def _counted(state: State, inp: Malformed) -> Iterator[Transition[Any]]:
    """Yield that the server counts it; if it asked for text or a password, nothing is an unknown command."""
    if isinstance(state, Session) and state.mode == "commands" and state.unknown < MOST_UNKNOWN:
        # some of several lines may be commands
        several = inp.raw.count(b"\n") > 1
        yield goto(Anywhere(inp.port) if several else Disturbed(replace(state, unknown=state.unknown + 1), inp.port))


def _step(state: State, inp: Input) -> Iterator[Way | Accept]:
    match state, inp:
        case None, Connect():
            yield goto(Session(), _code(220), req=Smtp.RFC5321_4_3_1_GREETING)
        case Session(mode="data"), Text():
            yield from _ended(state, inp)
        case Session(mode="data"), Part():
            # it does not end a mail; a server may refuse such a mail, and then hang up
            yield goto(replace(state, odd=True), req=Smtp.RFC5321_4_1_1_4_END)
            yield goto(None, _code(*ANY_FAILURE), END)
        case Session(mode="tls" | "injected"), Handshake():
            yield from _secured(state)
        case Session(mode="login"), Command(line):
            yield from _login(replace(state, mode="commands"), line)
        case Session(), _:
            yield from _line(state, inp)
        case _:
            return


def _line(state: Session, inp: Input) -> Iterator[Way | Accept]:
    match inp:
        case Part():
            yield goto(state, req=Smtp.RFC5321_2_3_8)
        case Command("EHLO me.example"):
            yield _greeted(state)
        case Command(line):
            yield from _command(state, line)
        case Commands(("STARTTLS", *more)):
            yield from _injected(state, len(more))
        case Commands(lines):
            yield from _group(state, lines)
        case _:
            return


def _greeted(state: Session) -> Accept:
    def then(seen: tuple[object, ...]) -> Iterable[State]:
        match seen[0]:
            case Reply(250, _, offers) if not (state.tls and "STARTTLS" in offers):
                return [replace(_fresh(state), hello="EHLO", offers=offers)]
            case _:
                return []

    first = [] if state.hello else [Smtp.RFC5321_4_5_1_EHLO]
    again = [Smtp.RFC5321_4_1_4_EHLO] if state.sender is not None else []
    hidden = [Smtp.RFC3207_4_2_OFFER] if state.tls else []
    says = "a reply with 250 that does not offer STARTTLS" if state.tls else "a reply with 250"
    return Accept(then, SESSION, says=says, req=(*first, *again, *hidden))


def _command(state: Session, line: str) -> Yields:
    match line:
        case "QUIT":
            yield goto(None, _code(221), END, req=Smtp.RFC5321_4_1_1_10_QUIT)
        case "STARTTLS":
            yield goto(replace(state, mode="tls"), _code(220), req=Smtp.RFC3207_4_READY)
        case _ if line in LOGINS:
            yield from _auth(state, line)
        case _ if line in SENDERS or line in RECIPIENTS or line in {"DATA", ROUTE}:
            yield from _transaction(state, line)
        case _ if line in WORDS:
            # nonsense, perhaps also out of order: the RFC does not say which error to report
            yield goto(state, _code(500, 501, 503, 553, 555), req=Smtp.RFC5321_4_1_4_SYNTAX)
        case _:
            yield _simple(state, line)


def _simple(state: Session, line: str) -> Way:  # noqa: PLR0911 -- one for each command
    early = [] if state.hello else [Smtp.RFC5321_4_1_4_ANYTIME]
    match line:
        case "HELO me.example":
            return goto(replace(_fresh(state), hello="HELO", offers=()), _code(250), req=Smtp.RFC5321_4_1_1_1_HELO)
        case "RSET":
            return goto(_fresh(state), _code(250), req=[Smtp.RFC5321_4_1_1_5_RSET, *early])
        case "NOOP":
            return goto(state, _code(250), req=[Smtp.RFC5321_4_1_1_9_NOOP, *early])
        case "VRFY b":
            codes = (250, 251, 252, 502, 504, 550, 551, 553)
            return goto(state, _code(*codes), req=[Smtp.RFC5321_4_3_2_VRFY, *early])
        case "HELP":
            return goto(state, _code(211, 214, 502, 504), req=Smtp.RFC5321_4_3_2_HELP)
        case "FROB":
            return goto(_worse(state), _code(500, 502), req=Smtp.RFC5321_4_2_4_UNKNOWN)
        case _:
            return goto(state, _code(250, 501), req=Smtp.RFC5321_4_5_3_1_4)


def _fresh(state: Session) -> Session:
    """Return the session without a transaction."""
    return replace(state, sender=None, recipients=(), mode="commands", odd=False)


def _worse(state: Session) -> Session:
    return replace(state, unknown=state.unknown + 1)


# ---- mails ---------------------------------------------------------------------------------------------------------


def _transaction(state: Session, line: str) -> Yields:
    if line in SENDERS:
        yield from _mail(state, SENDERS[line])
    elif line == "DATA":
        yield from _data(state)
    elif state.sender is None:
        yield goto(state, _code(503), req=Smtp.RFC5321_3_3_RCPT_ORDER)
    elif line == ROUTE:
        for recipient in ("d@example.org", "@relay.example:d@example.org"):
            then = replace(state, recipients=(*state.recipients, recipient))
            yield goto(then, _code(250, 251), req=Smtp.RFC5321_4_1_1_3_ROUTE)
        yield goto(state, _code(550, 551, 553), req=Smtp.RFC5321_4_1_1_3_ROUTE)
    else:
        req = [Smtp.RFC5321_4_5_1_POSTMASTER] if "Postmaster" in line else []
        then = replace(state, recipients=(*state.recipients, RECIPIENTS[line]))
        yield goto(then, _code(250, 251), req=[Smtp.RFC5321_3_3_RCPT, *req])


def _mail(state: Session, sender: str) -> Yields:
    """Yield that a server may process a MAIL out of order: section 3.3 has it reset all tables and buffers."""
    begun = replace(_fresh(state), sender=sender)
    if not state.hello:
        # a server's habit, which TLS does not change
        if state.polite is not True:
            yield goto(replace(begun, polite=False), _code(250), req=Smtp.RFC5321_3_3_MAIL)
        if state.polite is not False:
            req = [Smtp.RFC5321_4_1_4_ORDER, *([Smtp.RFC3207_4_2_DISCARD] if state.tls else [])]
            yield goto(replace(state, polite=True), _code(503), req=req)
    else:
        yield goto(begun, _code(250), req=Smtp.RFC5321_3_3_MAIL)
        if state.sender is not None:
            yield goto(state, _code(503), req=Smtp.RFC5321_4_1_4_ORDER)


def _data(state: Session) -> Yields:
    if state.recipients:
        yield goto(replace(state, mode="data"), _code(354), req=Smtp.RFC5321_3_3_DATA)
    else:
        yield goto(state, _code(503, 554), req=Smtp.RFC5321_3_3_DATA_EARLY)
        yield goto(replace(state, mode="data"), _code(354), req=Smtp.RFC2920_3_2_EMPTY)


def _ended(state: Session, mail: Text) -> Yields:
    then, sender = _fresh(state), state.sender or ""
    # a recipient named twice may get it once
    recipients = tuple(dict.fromkeys(state.recipients))
    if not state.recipients:
        yield goto(then, _code(*ANY_FAILURE), req=Smtp.RFC2920_3_2_EMPTY)
    elif state.odd:
        # such a mail has whatever lines the server makes of it, but it is one mail
        accepted = on(SPOOL, Where(partial(_is_from, sender, recipients), says="this mail"))
        yield goto(then, AnyOrder(_code(250), accepted), req=Smtp.RFC5321_4_1_1_4_END)
        yield goto(then, _code(*ANY_FAILURE), req=Smtp.RFC5321_4_1_1_4_END)
        yield goto(None, _code(*ANY_FAILURE), END, req=Smtp.RFC5321_4_1_1_4_END)
    else:
        kept = Accepted(sender, recipients, mail.lines)
        yield goto(then, AnyOrder(_code(250), kept), req=[Smtp.RFC5321_4_1_1_4_OK, *_of_text(state, mail)])


def _of_text(state: Session, mail: Text) -> Iterator[Smtp]:
    if any(line.startswith(".") for line in mail.lines):
        yield Smtp.RFC5321_4_5_2_DOT
    if any(len(line) > 900 for line in mail.lines):  # noqa: PLR2004 -- the only long line
        yield Smtp.RFC5321_4_5_3_1_6
    if len(state.recipients) >= 100:  # noqa: PLR2004 -- as in the sentence
        yield Smtp.RFC5321_4_5_3_1_8


def _is_from(sender: str, recipients: tuple[str, ...], output: object) -> bool:
    return isinstance(output, Accepted) and (output.sender, output.recipients) == (sender, recipients)


# ---- extensions ----------------------------------------------------------------------------------------------------


def _group(state: Session, lines: tuple[str, ...]) -> Yields:
    ways: list[Way] = [goto(state)]
    for line in lines:
        ways = [_then(way, after) for way in ways if way.state for after in _command(way.state, line)]
    yield from (
        replace(way, req=(*dict.fromkeys((*way.req, "RFC2920_3_2_ORDER", "RFC2920_3_2_LOSE")),)) for way in ways
    )


def _then(way: Way, after: Way) -> Way:
    return goto(after.state, *way.outputs, *after.outputs, req=[*way.req, *after.req])


def _injected(state: Session, count: int) -> Yields:
    """Yield the transitions in which a server answers plain text with plain text, or hangs up because it is not TLS."""
    ready = _code(220)
    for answers in range(count + 1):
        clear = (on(SESSION, Where(lambda output: isinstance(output, Reply), says="a reply")),) * answers
        yield goto(replace(state, mode="injected"), ready, *clear, req=Smtp.RFC3207_4_READY)
        yield goto(None, ready, *clear, END)


def _secured(state: Session) -> Yields:
    then = Session(unknown=state.unknown, tls=True, polite=state.polite)
    yield goto(then, Secured(), req=Smtp.RFC3207_4_2_DISCARD)
    if state.mode == "injected":
        yield goto(None, END, req=Smtp.RFC3207_4_2_DISCARD)


def _auth(state: Session, line: str) -> Yields:
    if state.user:
        yield goto(state, _code(503), req=Smtp.RFC4954_4_TWICE)
    elif state.sender is not None:
        yield goto(state, _code(503), req=Smtp.RFC4954_4_MAIL)
    elif line == "AUTH FROB":
        yield goto(_worse(state), _code(504), req=Smtp.RFC4954_4_MECHANISM)
    elif line == "AUTH PLAIN":
        yield goto(replace(state, mode="login"), _code(334), req=Smtp.RFC4954_4_CHALLENGE)
    else:
        yield from _login(state, line.removeprefix("AUTH PLAIN "))


def _login(state: Session, response: str) -> Yields:
    match response:
        case _ if response == GOOD:
            yield goto(replace(state, user=True), _code(235), req=Smtp.RFC4954_4_OK)
        case _ if response == BAD:
            yield goto(_worse(state), _code(535, 534, 454, 500, 501), req=Smtp.RFC4954_4_FAILED)
        case _ if response == CANCEL:
            yield goto(_worse(state), _code(501), req=Smtp.RFC4954_4_CANCEL)
        case _ if response == GARBLED:
            yield goto(_worse(state), _code(501), req=Smtp.RFC4954_4_BASE64)
        case _:
            return


def _code(*codes: int) -> object:
    named = "4xx or 5xx" if codes == ANY_FAILURE else " or ".join(map(str, codes))
    says = f"a reply with {named}"
    return on(SESSION, Where(lambda output: isinstance(output, Reply) and output.code in codes, says=says))
