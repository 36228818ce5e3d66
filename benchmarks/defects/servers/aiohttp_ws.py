"""A WebSocket server by aiohttp that echoes."""

import asyncio

from aiohttp import WSMsgType, web
from http_apps import listener, ready


async def _echo(request: web.Request) -> web.WebSocketResponse:
    socket = web.WebSocketResponse(compress=False)
    await socket.prepare(request)
    async for message in socket:
        if message.type == WSMsgType.TEXT:
            await socket.send_str(message.data)
        elif message.type == WSMsgType.BINARY:
            await socket.send_bytes(message.data)
    return socket


async def _serve() -> None:
    app = web.Application()
    app.router.add_get("/", _echo)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    sock = listener()
    await web.SockSite(runner, sock).start()
    ready(sock.getsockname()[1])
    await asyncio.Event().wait()


asyncio.run(_serve())
