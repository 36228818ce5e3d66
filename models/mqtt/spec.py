"""An MQTT broker as a function of its state and a client's action.

After the OASIS standards "MQTT Version 3.1.1" (2014) and "MQTT Version 5.0" (2019). The model leaves the same choices
to the server: a lower QoS, several copies for overlapping subscriptions, QoS 0 messages for absent clients, refused
messages, delivery of QoS 2 before or after the release. It assumes that a server allows four messages in flight to a
client, accepts `CONNECT` without a user name, and publishes a will at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TypeAlias

from otf.codec.mqtt import (
    MqttConnack,
    MqttConnect,
    MqttDisconnect,
    MqttPingreq,
    MqttPingresp,
    MqttPuback,
    MqttPubcomp,
    MqttPublish,
    MqttPubrec,
    MqttPubrel,
    MqttSubscribe,
    MqttUnsubscribe,
    MqttVersion,
)
from otf.models.mqtt.connecting import END, connected, denied, disconnected, halted, refused
from otf.models.mqtt.inputs import inputs
from otf.models.mqtt.messages import MqttDial, MqttHalt, MqttInput, MqttMessage, MqttPacket, MqttViolation
from otf.models.mqtt.publishing import acknowledged, published, released
from otf.models.mqtt.routing import clear
from otf.models.mqtt.state import Broker, Link
from otf.models.mqtt.subscribing import subscribed, unsubscribed
from otf.models.mqtt.violations import NUMBER, rules_of
from otf.models.mqtt.wants import Plan, Want
from otf.spec import Accept, Spec, Transition

Yields: TypeAlias = Iterator[Transition[Broker] | Accept]


def mqtt(version: MqttVersion = 4, without: tuple[str, ...] = ()) -> Spec[Broker, MqttInput]:
    """Return the spec of an MQTT broker of version 3.1.1 (4 on the wire) or 5.0.

    `without` names the groups of inputs that the spec leaves out.

    >>> mqtt(5).name
    'mqtt'
    """
    enabled = partial(inputs, without)
    return Spec(_step, Broker(version), enabled, name="mqtt", partial=Spec(_tried, Broker(version), enabled))


def _tried(broker: Broker, inp: MqttInput) -> Yields:
    """Yield one of the transitions if the model tries the input in this state."""
    match inp:
        case MqttMessage(port, MqttPublish() as packet) if broker.link(port).status == "up" and not clear(
            broker, broker.link(port), packet
        ):
            return
        case _:
            yield from islice(_step(broker, inp), 1)


def _step(broker: Broker, inp: MqttInput) -> Yields:
    for plan in _plans(Plan(broker), inp):
        yield plan.transition()


def _plans(plan: Plan, inp: MqttInput) -> Iterator[Plan]:
    port, status = inp.client, plan.state.link(inp.client).status
    match inp, status:
        case MqttDial(), "shut":
            yield plan.then(plan.state.linking(port, Link("open")))
        case MqttHalt(), "open" | "up" | "leaving":
            yield from halted(plan, port)
        case MqttViolation(), "open" | "up":
            yield from _violated(plan, inp)
        case MqttMessage(_, MqttConnect() as packet), "open":
            yield from connected(plan, port, packet)
        case MqttMessage(_, packet), "up":
            yield from _answered(plan, port, packet)
        case _:
            return


def _violated(plan: Plan, inp: MqttViolation) -> Iterator[Plan]:
    port, rule = inp.client, rules_of(plan.state.version).get(inp.name)
    if rule is None or rule.raw != inp.raw or rule.first != (plan.state.link(port).status == "open"):
        return
    broken = f"{rule.old} 4.8.0-1", f"{rule.new} 4.13.1-1"
    if rule.answer:
        shut = plan.then(plan.state.linking(port, Link("shut"))).citing(rule.old)
        yield shut.wanting(port, Want(MqttConnack(0, rule.answer), early=True), END)
    elif rule.filter:
        yield from denied(plan, port, NUMBER, *broken)
    else:
        yield from refused(plan, port, *broken)


def _answered(plan: Plan, port: str, packet: MqttPacket) -> Iterator[Plan]:
    link = plan.state.link(port)
    if link.fresh:
        plan = plan.then(plan.state.linking(port, replace(link, fresh=False)))
    if not link.problems and isinstance(packet, MqttPublish | MqttPubrel | MqttSubscribe | MqttUnsubscribe):
        plan = plan.citing("", "3.1.2-29")
    match packet:
        case MqttPingreq():
            session = plan.state.session(plan.state.link(port).client)
            full = session is not None and len(session.flying) >= plan.state.link(port).window
            pinged = plan.citing("3.12.4-1", "3.12.4-1 3.3.4-10 4.9.0-3 4.9.0-1" if full else "3.12.4-1")
            yield pinged.wanting(port, Want(MqttPingresp()))
        case MqttPublish():
            yield from published(plan, port, packet)
        case MqttPubrel():
            yield from released(plan, port, packet)
        case MqttPuback() | MqttPubrec() | MqttPubcomp():
            yield from acknowledged(plan, port, packet)
        case MqttSubscribe():
            yield from subscribed(plan, port, packet)
        case MqttUnsubscribe():
            yield from unsubscribed(plan, port, packet)
        case MqttDisconnect():
            yield from disconnected(plan, port, packet)
        case _:
            return
