"""What a step of a broker must bring to its clients, and how to match that with the outputs.

The server chooses packet identifiers, and the properties of some packets. So a step is a set of wanted packets for each
connection. The outputs are matched with them in any order that the standard allows, and reveal the server's choices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeAlias

from otf.codec.mqtt import (
    MqttConnack,
    MqttDisconnect,
    MqttProperties,
    MqttProperty,
    MqttPuback,
    MqttPubcomp,
    MqttPublish,
    MqttPubrec,
    MqttPubrel,
    MqttSuback,
    MqttUnsuback,
)
from otf.models.mqtt.messages import MqttMessage, MqttPacket
from otf.models.mqtt.state import Broker
from otf.spec import Accept, Transition, goto
from otf.trace.events import Ended
from otf.values import show

FAILED: Final = frozenset(range(0x80, 0x100))
_ACKS: Final = (MqttPuback, MqttPubrec, MqttPubrel, MqttPubcomp)
_GRANTS: Final = (MqttSuback, MqttUnsuback)
_SECONDS: Final = 60
"""How many seconds a message may have waited on a path."""


@dataclass(frozen=True, slots=True)
class Want:
    """A packet that a client gets; None is the end of the connection.

    `codes` are the reason codes that it may have instead of its own. `mark` is the mark of the message in flight that
    it begins. Those with the same `order` come in the order of the wants; `early` ones come before all others.
    """

    packet: MqttPacket | None
    codes: frozenset[int] = frozenset()
    mark: int = 0
    order: str = ""
    early: bool = False


Wants: TypeAlias = tuple[tuple[str, Want], ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """One outcome of a step: the next state, the wanted packets by port, and the requirements behind it."""

    state: Broker
    wants: Wants = ()
    req: tuple[str, ...] = ()

    def wanting(self, port: str, *wants: Want) -> Plan:
        """Return the plan with more packets to a client."""
        return replace(self, wants=(*self.wants, *((port, want) for want in wants)))

    def citing(self, old: str, new: str | None = None) -> Plan:
        """Return the plan with more requirements, by their numbers in 3.1.1 and, where they differ, in 5.0."""
        numbers = (new if self.state.new and new is not None else old).split()
        return replace(self, req=tuple(dict.fromkeys([*self.req, *(f"MQTT-{each}" for each in numbers)])))

    def then(self, state: Broker) -> Plan:
        """Return the plan with another next state."""
        return replace(self, state=state)

    def transition(self) -> Transition[Broker] | Accept:
        """Return what the spec yields."""
        if not self.wants:
            return goto(self.state.renumbered(), req=self.req)
        sizes = Counter(port for port, _ in self.wants)
        return Accept(
            partial(_matched, self),
            tuple(sorted(sizes)),
            lambda seen: all(len(seen[port]) >= size for port, size in sizes.items()),
            says="; ".join(f"{port}: {_words(want)}" for port, want in self.wants),
            req=self.req,
            closing=True,
            examples=lambda: [_example(self)],
        )


def _words(want: Want) -> str:
    if want.packet is None:
        return "the connection ends"
    codes = f" or a code of {min(want.codes)} to {max(want.codes)}" if want.codes else ""
    return f"{show(want.packet)}{codes}"


def _example(plan: Plan) -> dict[str, tuple[object, ...]]:
    """Return outputs that fulfil a plan: the first codes, and the first free identifiers."""
    found = dict[str, tuple[object, ...]]()
    # what comes early comes first, and nothing comes after the end of a connection
    for port, want in sorted(plan.wants, key=lambda each: (each[1].packet is None, not each[1].early)):
        packet = None if want.packet is None else _chosen(plan.state, port, want, want.packet)
        output = Ended("end of stream") if packet is None else MqttMessage(port, packet)
        found[port] = (*found.get(port, ()), output)
    return found


def _chosen(state: Broker, port: str, want: Want, packet: MqttPacket) -> MqttPacket:
    session = state.session(state.link(port).client)
    match packet:
        case MqttPublish() if packet.qos and not packet.id:
            used = {each.id for each in session.flying if each.mark != want.mark} if session else set[int]()
            # those that begin in one step have marks of their own
            return replace(packet, id=next(number for number in range(want.mark or 1, 1 << 16) if number not in used))
        case MqttConnack() if state.new and not packet.code and state.link(port).client.startswith("?"):
            return replace(packet, properties=(MqttProperty("assigned_client", "made"), *packet.properties))
        case MqttDisconnect() | MqttPuback() | MqttPubrec() | MqttPubrel() | MqttPubcomp() if want.codes:
            return replace(packet, reason=packet.reason if packet.reason in want.codes else min(want.codes))
        case MqttConnack() if want.codes:
            return replace(packet, code=packet.code if packet.code in want.codes else min(want.codes))
        case _:
            return packet


def _matched(plan: Plan, seen: Mapping[str, tuple[object, ...]]) -> list[Broker]:
    states = [plan.state]
    for port, outputs in seen.items():
        wants = tuple(want for each, want in plan.wants if each == port)
        states = [after for state in states for after in _each_match(state, port, wants, outputs)]
    return list(dict.fromkeys(each.renumbered() for each in states))


def _each_match(state: Broker, port: str, wants: tuple[Want, ...], outputs: tuple[object, ...]) -> Iterator[Broker]:
    if not outputs:
        yield from [] if wants else [state]
        return
    for at, want in enumerate(wants):
        if any(_is_copy(other, want) for other in wants[:at]):
            continue  # equal copies would match in each of their orders
        first = not any(_precedes(other, want) for other in wants[:at]) and not any(
            other.early and not want.early for other in wants
        )
        last = want.packet is not None or len(wants) == 1
        if first and last and (after := _taken(state, port, want, outputs[0])) is not None:
            yield from _each_match(after, port, wants[:at] + wants[at + 1 :], outputs[1:])


def _is_copy(other: Want, want: Want) -> bool:
    return other.packet == want.packet and replace(other, mark=want.mark) == want


def _precedes(other: Want, want: Want) -> bool:
    if isinstance(other.packet, MqttPublish) and isinstance(want.packet, MqttPublish):
        # the copies of one message for several subscriptions come in any order
        return other.order == want.order and other.packet.payload != want.packet.payload
    return bool(want.order) and other.order == want.order


def _taken(state: Broker, port: str, want: Want, output: object) -> Broker | None:
    """Return the state after an output that matches this want; None if it does not."""
    if want.packet is None:
        return state if isinstance(output, Ended) else None
    got = output.packet if isinstance(output, MqttMessage) else None
    match want.packet, got:
        case MqttPublish(), MqttPublish():
            return _begun(state, port, want, got) if _same(want.packet, got) else None
        case MqttConnack(session, code), MqttConnack():
            right = got.session == session and got.code in (want.codes or {code})
            return _accepted(state, port, got) if right else None
        case _:
            problems = not state.new or state.link(port).problems
            return state if got and _answers(want, got, new=state.new, problems=problems) else None


def _answers(want: Want, got: MqttPacket, *, new: bool, problems: bool) -> bool:
    wanted = want.packet
    if isinstance(wanted, MqttDisconnect) and isinstance(got, MqttDisconnect):
        return _free(got.properties, {"reason_string", "user", "server_reference"}) and (got.reason or 0) in want.codes
    if isinstance(wanted, _GRANTS) and isinstance(got, _GRANTS):
        right = type(got) is type(wanted) and got.id == wanted.id and _granted(wanted.codes, got.codes, new=new)
        return right and _spare(got.properties, problems=problems)
    return _acknowledges(want, got, problems=problems)


def _granted(wanted: tuple[int, ...], got: tuple[int, ...], *, new: bool) -> bool:
    """Return whether the codes match; MQTT 5.0 has several for a failure."""
    least = min(FAILED)
    failed = {each for each in got if each > least} if new else set[int]()
    return wanted == tuple(least if each in failed else each for each in got)


def _acknowledges(want: Want, got: MqttPacket, *, problems: bool) -> bool:
    if isinstance(want.packet, _ACKS) and isinstance(got, _ACKS):
        right = type(got) is type(want.packet) and got.id == want.packet.id and (got.reason or 0) in (want.codes or {0})
        return right and _spare(got.properties, problems=problems)
    return got == want.packet


def _spare(properties: MqttProperties | None, *, problems: bool) -> bool:
    return _free(properties, {"reason_string", "user"} if problems else set())


def _free(properties: MqttProperties | None, names: Iterable[str]) -> bool:
    return {each.name for each in properties or ()} <= set(names)


_EXPIRY: Final = "message_expiry"


def _same(wanted: MqttPublish, got: MqttPublish) -> bool:
    plain = replace(got, id=0, properties=()) == replace(wanted, id=0, properties=())
    named = got.qos == 0 or (got.id > 0 and wanted.id in {0, got.id})
    return plain and named and _alike(wanted.properties, got.properties)


def _alike(wanted: MqttProperties, got: MqttProperties) -> bool:
    """Return whether the properties match; user properties keep their order, and time may have passed."""
    if [each for each in wanted if each.name == "user"] != [each for each in got if each.name == "user"]:
        return False
    want, have = (Counter(each for each in side if each.name != _EXPIRY) for side in (wanted, got))
    sent, left = ([each.value for each in side if each.name == _EXPIRY] for side in (wanted, got))
    return want == have and len(sent) == len(left) and all(map(_waited, sent, left))


def _waited(sent: object, left: object) -> bool:
    return isinstance(sent, int) and isinstance(left, int) and sent - _SECONDS <= left <= sent


def _begun(state: Broker, port: str, want: Want, got: MqttPublish) -> Broker | None:
    """Return the state with the identifier of a message in flight; None if another one has it."""
    session = state.session(state.link(port).client)
    if session is None or not want.mark:
        return state
    if any(each.id == got.id and each.mark != want.mark for each in session.flying):
        return None
    begun = [replace(each, id=got.id) for each in session.flying if each.mark == want.mark]
    # in the order of arrival, in which they come again
    flying = (*(each for each in session.flying if each.mark != want.mark), *begun)
    return state.holding(replace(session, flying=flying))


def _accepted(state: Broker, port: str, got: MqttConnack) -> Broker | None:
    """Return the state with what the server allows; None if it says something forbidden."""
    names = {each.name for each in got.properties}
    link = state.link(port)
    if got.code or not state.new:
        return state
    unknown = link.client.startswith("?")
    if unknown != ("assigned_client" in names) or names & {"authentication_method", "response_information"}:
        return None
    limit = property_of(got.properties, "topic_alias_maximum")
    shares = bool(property_of(got.properties, "shared_available", 1))
    return state.linking(port, replace(link, alias_limit=limit, shares=shares))


def property_of(properties: MqttProperties | None, name: str, default: int = 0) -> int:
    """Return the number in a property, or the default without it."""
    found = next((each for each in properties or () if each.name == name), MqttProperty(name, default))
    return found.value if isinstance(found.value, int) else default
