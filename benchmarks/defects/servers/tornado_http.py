"""A web server by tornado."""

import asyncio
import logging

from http_apps import LATER, WAIT, listener, ready, says
from tornado.httpserver import HTTPServer
from tornado.web import Application, RequestHandler

logging.disable()


class _Answer(RequestHandler):  # type: ignore[misc]
    SUPPORTED_METHODS = (*RequestHandler.SUPPORTED_METHODS, "FROB")

    async def prepare(self) -> None:
        request = self.request
        path = request.uri.partition("://")[2].partition("/")[2] if "://" in request.uri else request.uri[1:]
        body = b"" if path == "skip" else request.body
        content = says(request.method, f"/{path}", ",".join(request.headers.get_list("Note")), body)
        await asyncio.sleep(WAIT if f"/{path}" == LATER else 0)
        self.set_header("Saw", request.method)
        self.finish(content)


async def _serve() -> None:
    sock = listener()
    sock.setblocking(False)  # noqa: FBT003 -- of the standard library
    server = HTTPServer(Application([(r".*", _Answer)]), idle_connection_timeout=600)
    server.add_sockets([sock])
    ready(sock.getsockname()[1])
    await asyncio.Event().wait()


asyncio.run(_serve())
