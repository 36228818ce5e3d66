"""A WebSocket server by tornado that echoes."""

import asyncio
import logging

from http_apps import listener, ready
from tornado.httpserver import HTTPServer
from tornado.web import Application
from tornado.websocket import WebSocketHandler

logging.disable()


class _Echo(WebSocketHandler):  # type: ignore[misc]
    def on_message(self, message: str | bytes) -> None:
        self.write_message(message, binary=isinstance(message, bytes))


async def _serve() -> None:
    sock = listener()
    sock.setblocking(False)  # noqa: FBT003 -- of the standard library
    HTTPServer(Application([(r"/", _Echo)])).add_sockets([sock])
    ready(sock.getsockname()[1])
    await asyncio.Event().wait()


asyncio.run(_serve())
