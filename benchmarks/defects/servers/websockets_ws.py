"""A WebSocket server by websockets that echoes."""

import asyncio
from typing import Any

import websockets
from http_apps import HOST, ready

try:
    from websockets.asyncio.server import serve
except ImportError:
    from websockets.server import serve  # before 13


async def _echo(socket: Any, *_path: str) -> None:
    try:
        async for message in socket:
            await socket.send(message)
    except websockets.ConnectionClosed:
        return


async def _serve() -> None:
    async with serve(_echo, HOST, 0, ping_interval=None, compression=None) as server:
        ready(next(iter(server.sockets)).getsockname()[1])
        await asyncio.Event().wait()


asyncio.run(_serve())
