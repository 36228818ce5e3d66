"""A web server by hypercorn."""

import asyncio

from http_apps import asgi, listener, ready
from hypercorn.asyncio import serve
from hypercorn.config import Config

sock = listener()
sock.set_inheritable(True)
ready(sock.getsockname()[1])
config = Config()
config.bind = [f"fd://{sock.fileno()}"]
config.keep_alive_timeout = 600
config.loglevel = "CRITICAL"
asyncio.run(serve(asgi, config))
