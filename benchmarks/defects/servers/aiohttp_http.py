"""A web server by aiohttp."""

import asyncio

from aiohttp import web
from http_apps import LATER, SKIP, WAIT, listener, ready, says


async def _answer(request: web.Request) -> web.Response:
    body = b"" if request.path == SKIP else await request.read()
    await asyncio.sleep(WAIT if request.path == LATER else 0)
    content = says(request.method, request.path_qs, ",".join(request.headers.getall("Note", [])), body)
    return web.Response(body=content, headers={"Saw": request.method})


async def _serve() -> None:
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", _answer)
    runner = web.AppRunner(app, keepalive_timeout=600, access_log=None)
    await runner.setup()
    sock = listener()
    await web.SockSite(runner, sock).start()
    ready(sock.getsockname()[1])
    await asyncio.Event().wait()


asyncio.run(_serve())
