"""A server over TCP on asyncio, as a system to be measured: it counts the lines of each connection."""

from __future__ import annotations

import asyncio
import sys


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer each line with its number, in two writes as many servers do."""
    number = 0
    while line := await reader.readline():
        if line == b"reset\n":
            number = 0
            continue
        number += 1
        writer.write(b"line ")
        writer.write(b"%d\n" % number)
        await writer.drain()
    writer.close()


async def listen() -> None:
    """Serve at a fresh port, and print it."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


asyncio.run(listen())
