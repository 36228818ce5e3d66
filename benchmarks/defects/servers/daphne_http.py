"""A web server by daphne."""

import asyncio

from daphne.server import Server
from http_apps import HOST, asgi, ready

server = Server(asgi, endpoints=[f"tcp:0:interface={HOST}"], signal_handlers=False, request_buffer_size=65_536)


def _ready() -> None:
    ready(server.listening_addresses[0][1])


server.ready_callable = _ready
asyncio.set_event_loop(asyncio.new_event_loop())
server.run()
