"""An SSH server as a function: what it may answer before, during and after authentication.

If a message is an error, and no text says what follows, the server may ignore it, say that it is unimplemented, or hang
up; but it must not act on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from otf.adapter.malformed import Anywhere
from otf.codec.malformed import Malformed
from otf.models.ssh.messages import PORT, Dial, Send, Sent
from otf.models.ssh.requirements import Ssh
from otf.spec import Accept, Spec, Transition, goto, on
from otf.trace.events import Ended

ALSO: Final = ("claims", "early", "injected", "refusals", "unassigned")
"""Messages that only a server sends; messages for after the login; messages before the end of the key exchange; the
first two with a weaker model, which, contrary to RFC 4252, section 6, lets a server refuse a message before the login
without disconnecting; and a meaningless message.
"""

MOST: Final = 3
"""Failed attempts to log in: a server may take more for an attack."""

END: Final = on(PORT, Ended)
LOGIN: Final = Send("USERAUTH_REQUEST", ("user", "password", "secret"))
FAILING: Final = (
    Send("USERAUTH_REQUEST", ("user", "password", "wrong")),
    Send("USERAUTH_REQUEST", ("nobody", "password", "secret")),
    Send("USERAUTH_REQUEST", ("user", "none")),
    Send("USERAUTH_REQUEST", ("user", "frob")),
)
USERAUTH: Final = Send("SERVICE_REQUEST", ("ssh-userauth",))
SERVICES: Final = (Send("SERVICE_REQUEST", ("frob",)), Send("SERVICE_REQUEST", ("ssh-connection",)))
OPENS: Final = (Send("CHANNEL_OPEN", ("session",)), Send("CHANNEL_OPEN", ("frob",)))
GLOBALS: Final = tuple(Send("GLOBAL_REQUEST", ("frob@example.org", reply)) for reply in ("yes", ""))
REQUESTS: Final = tuple(Send("CHANNEL_REQUEST", ("frob@example.org", reply)) for reply in ("yes", ""))
CLOSE: Final = Send("CHANNEL_CLOSE")
EARLY: Final = (
    *OPENS,
    *GLOBALS,
    Send("CHANNEL_DATA", ("x",)),
    Send("CHANNEL_REQUEST", ("shell", "yes")),
    Send("LOCAL"),
)
CLAIMS: Final = tuple(
    map(Send, ("USERAUTH_SUCCESS", "USERAUTH_FAILURE", "USERAUTH_INFO_RESPONSE", "SERVICE_ACCEPT", "UNIMPLEMENTED"))
)
REFUSALS: Final = ((), (Sent("CHANNEL_OPEN_FAILURE"),), (Sent("REQUEST_FAILURE"),), (Sent("UNIMPLEMENTED"),))
INJECTED: Final = (USERAUTH, LOGIN, OPENS[0], Send("USERAUTH_SUCCESS"))

MEANINGLESS: Final = {
    bytes([each]) for each in (*range(9, 20), *range(22, 30), *range(54, 60), *range(83, 90), *range(101, 128))
}
"""Numbers that IANA has assigned to no message."""

Phase: TypeAlias = Literal["over", "gone", "new", "hello", "keyed", "service", "login", "open"]
Input: TypeAlias = Dial | Send


@dataclass(frozen=True, slots=True)
class State:
    """The progress of a connection; the number of failed logins and the last user; the client's channel number."""

    phase: Phase = "over"
    failed: int = 0
    user: str = ""
    channel: int | None = None


Yields: TypeAlias = Iterator[Transition[State] | Accept]


def ssh(also: str = "") -> Spec[State, Input]:
    """Return the spec of an SSH server.

    `also` adds messages that the spec leaves out by default: `claims`, `early`, `injected`, `refusals` or `unassigned`.

    >>> ssh().name
    'ssh'
    """
    step = partial(_step, lenient=also == "refusals")
    inputs = partial(_inputs, also)
    return Spec(step, State(), inputs, _emits, name="ssh", guarded=True, malformed=_malformed)


def _malformed(state: State, inp: Malformed) -> Iterator[Transition[Any] | Accept]:
    """Yield that a meaningless number changes nothing, and that any other payload may do anything."""
    if state.phase in {"service", "login", "open"} and inp.raw[:1] in MEANINGLESS:
        yield goto(state, Sent("UNIMPLEMENTED"), req=Ssh.RFC4253_11_4)
        yield from _refused(state, Ssh.RFC4253_11_4)
    else:
        yield goto(Anywhere(PORT, fresh=True))


def _inputs(also: str, state: State) -> Iterator[Input]:
    match state.phase:
        case "over":
            yield Dial()
        case "new":
            yield Send("HELLO")
        case "hello" | "keyed":
            yield Send("EXCHANGE" if state.phase == "hello" else "NEWKEYS")
            yield Send("IGNORE", ("x",))
            yield from INJECTED if also == "injected" else ()
        case "gone":
            return
        case _:
            yield from (Send("IGNORE", ("x",)), USERAUTH)
            yield from _later(state)
            yield from CLAIMS if also in {"claims", "refusals"} else ()
            yield from EARLY if also in {"early", "refusals"} and state.phase != "open" else ()
            yield from (Send("UNASSIGNED"),) if also == "unassigned" else ()


def _later(state: State) -> Iterator[Input]:
    if state.phase != "open":
        yield from SERVICES
    if state.phase == "open" or state.failed < MOST:
        yield from (LOGIN, *FAILING)
    if state.phase == "open":
        yield from (*OPENS[state.channel is not None :], *GLOBALS)
    if state.channel is not None:
        yield from (replace(each, channel=state.channel) for each in (*REQUESTS, CLOSE))


def _emits(state: State) -> Yields:
    if state.phase == "gone":
        yield goto(State())
        yield goto(State(), END)


def _step(state: State, inp: Input, *, lenient: bool = False) -> Yields:
    match state.phase, inp:
        case "over", Dial():
            yield goto(State("new"))
        case "new", Send("HELLO"):
            yield goto(State("hello"))
        case "hello", Send("EXCHANGE"):
            yield goto(State("keyed"), Sent("NEWKEYS"), req=Ssh.RFC4253_7_3_NEWKEYS)
        case "keyed", Send("NEWKEYS"):
            yield goto(State("service"))
        case _, Send("IGNORE"):
            yield goto(state, req=Ssh.RFC4253_11_2_IGNORE)
        case (("hello" | "keyed"), Send()):
            yield from _refused(state, Ssh.RFC4253_10_AFTER)
        case _, Send():
            yield from _encrypted(state, inp)
            if lenient and state.phase in {"service", "login"} and inp in EARLY:
                yield from (goto(state, *answer) for answer in REFUSALS)
        case _:
            return


def _encrypted(state: State, inp: Send) -> Yields:
    if inp.name == "UNASSIGNED":
        yield goto(state, Sent("UNIMPLEMENTED"), req=Ssh.RFC4253_11_4)
    elif inp in CLAIMS:
        yield from _refused(state, Ssh.RFC4252_6_CLIENT)
        yield goto(state, Sent("USERAUTH_FAILURE"), req=Ssh.RFC4252_6_CLIENT)
    elif state.phase == "open":
        yield from _opened(state, inp)
    else:
        yield from _before(state, inp)


def _hangs_up(req: Ssh) -> Yields:
    yield goto(State("gone"), Sent("DISCONNECT"), req=req)
    yield goto(State(), END, req=req)


def _refused(state: State, req: Ssh) -> Yields:
    """Yield what may follow an error that no text covers."""
    yield goto(state, req=req)
    yield goto(state, Sent("UNIMPLEMENTED"), req=req)
    yield from _hangs_up(req)


def _before(state: State, inp: Send) -> Yields:
    """Yield what may happen before the client has logged in."""
    if inp in EARLY:
        yield from _hangs_up(Ssh.RFC4252_6_EARLY)
    elif inp in SERVICES:
        yield from _hangs_up(Ssh.RFC4253_10_REJECT)
    elif inp == USERAUTH:
        yield goto(replace(state, phase="login"), Sent("SERVICE_ACCEPT"), req=Ssh.RFC4253_10_ACCEPT)
        if state.phase == "login":
            # a server accepts a service if it "permits the client to use it": no text says that it must do so twice
            yield from _hangs_up(Ssh.RFC4253_10_REJECT)
    else:
        yield from _login(state, inp)


def _login(state: State, inp: Send) -> Yields:
    user = inp.texts[0]
    failed = replace(state, failed=state.failed + 1, user=user)
    if state.user not in {"", user}:
        # a server that cannot flush its state has to disconnect
        yield from _hangs_up(Ssh.RFC4252_5_USER)
    if inp == LOGIN:
        yield goto(State("open"), Sent("USERAUTH_SUCCESS"), req=Ssh.RFC4252_5_1_SUCCESS)
    else:
        req = [Ssh.RFC4252_5_NONE] if user == "nobody" else [Ssh.RFC4252_5_UNKNOWN] if inp.texts[1] == "frob" else []
        yield goto(failed, Sent("USERAUTH_FAILURE"), req=[Ssh.RFC4252_5_1_FAILURE, *req])
    if user == "nobody":
        yield from _hangs_up(Ssh.RFC4252_5_NONE)
    if state.phase == "service":
        # the client did not request its service: no text says whether the server must object
        yield from _refused(failed, Ssh.RFC4253_10_AFTER)
        yield goto(failed, Sent("USERAUTH_FAILURE"), req=Ssh.RFC4253_10_AFTER)


def _decided(state: State, seen: tuple[object, ...]) -> list[State]:
    match seen[0]:
        case Sent("CHANNEL_OPEN_CONFIRMATION", number):
            return [replace(state, channel=number)]
        case Sent("CHANNEL_OPEN_FAILURE"):
            return [state]
        case _:
            return []


def _opened(state: State, inp: Send) -> Yields:
    """Yield what may happen after the client has logged in."""
    match inp:
        case Send("CHANNEL_OPEN", ("session",)):
            says = "a channel, or its refusal"
            yield Accept(partial(_decided, state), PORT, says=says, req=Ssh.RFC4254_5_1_OPEN)
        case Send("CHANNEL_OPEN"):
            yield goto(state, Sent("CHANNEL_OPEN_FAILURE"), req=Ssh.RFC4254_5_1_KIND)
        case Send("GLOBAL_REQUEST", (_, reply)):
            answer = (Sent("REQUEST_FAILURE"),) if reply else ()
            yield goto(state, *answer, req=Ssh.RFC4254_4_GLOBAL if reply else Ssh.RFC4254_4_SILENT)
        case Send("CHANNEL_REQUEST", (_, reply)):
            answer = (Sent("CHANNEL_FAILURE"),) if reply else ()
            yield goto(state, *answer, req=Ssh.RFC4254_5_4_REQUEST if reply else Ssh.RFC4254_5_4_SILENT)
        case Send("CHANNEL_CLOSE"):
            for before in ((), (Sent("CHANNEL_EOF"),)):
                closed = replace(state, channel=None)
                yield goto(closed, *before, Sent("CHANNEL_CLOSE"), req=Ssh.RFC4254_5_3_CLOSE)
        case Send("SERVICE_REQUEST"):
            yield goto(state, Sent("SERVICE_ACCEPT"))
            yield from _refused(state, Ssh.RFC4253_10_REJECT)
        case _:
            # the server should ignore it
            yield from _refused(state, Ssh.RFC4252_5_1_ONCE)
            yield goto(state, Sent("USERAUTH_FAILURE"), req=Ssh.RFC4252_5_1_ONCE)


__all__ = ["ALSO", "ssh"]
