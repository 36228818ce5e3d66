"""What is worth trying with a CoAP server."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from otf.models.coap.messages import Ack, Ping, Request, Reset
from otf.models.coap.state import CLIENTS, PATHS, PAYLOADS, Input, State

ALSO: Final = {
    "ping": "empty messages, one after another",
    "post": "a POST that is sent twice with one message id",
    "renew": "an observation registered again while a notification is not acknowledged",
}
"""Inputs not tried by default, since coap-server departs from the model there."""


def inputs(also: str, state: State) -> Iterator[Input]:
    """Yield the requests of both clients, and what a client may do with a notification; `also` is one of `ALSO`."""
    if also in {"ping", "renew"}:
        # few inputs, so that the departure shows soon
        yield from map(Ping, CLIENTS) if also == "ping" else _renewing(state)
        return
    for client in CLIENTS:
        yield from (Request(client, "GET", path, observe=how) for path in PATHS for how in ("", "off"))
        begun = {*state.of(client).observes, state.of(client).unacked}
        yield from (
            Request(client, "GET", path, observe="on") for path in PATHS if also == "renew" or path not in begun
        )
        yield from (Request(client, "PUT", path, payload) for path, payload in product(PATHS, PAYLOADS))
        yield from (Request(client, "DELETE", path) for path in PATHS)
        yield Request(client, "GET", PATHS[0], kind="NON")
        yield Request(client, "PUT", PATHS[-1], PAYLOADS[0], kind="NON")
        yield from _twice(client, also)
        if state.of(client).unacked:
            yield from (Ack(client), Reset(client))


def _renewing(state: State) -> Iterator[Input]:
    changing, watching = CLIENTS
    yield from (Request(changing, "PUT", PATHS[0], payload) for payload in PAYLOADS)
    yield Request(watching, "GET", PATHS[0], observe="on")
    if state.of(watching).unacked:
        yield Ack(watching)


def _twice(client: str, also: str) -> Iterator[Request]:
    yield Request(client, "GET", PATHS[0], twice=True)
    yield Request(client, "PUT", PATHS[0], PAYLOADS[0], twice=True)
    yield Request(client, "DELETE", PATHS[-1], twice=True)
    if also == "post":
        yield Request(client, "POST", PATHS[0], PAYLOADS[0], twice=True)
