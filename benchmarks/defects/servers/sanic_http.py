"""A web server by sanic."""

import asyncio

from http_apps import LATER, SKIP, WAIT, listener, ready, says
from sanic import Request, Sanic, raw

app = Sanic("echo", configure_logging=False)
app.config.KEEP_ALIVE_TIMEOUT = 600
app.config.REQUEST_TIMEOUT = 600


@app.route("/<path:path>", methods=["GET", "POST", "HEAD"])
@app.route("/", name="root", methods=["GET", "POST", "HEAD"])
async def _answer(request: Request, path: str = "") -> object:
    del path
    whole = f"{request.path}?{request.query_string}" if request.query_string else request.path
    body = b"" if request.path == SKIP else request.body
    await asyncio.sleep(WAIT if request.path == LATER else 0)
    note = ",".join(request.headers.getall("note", []))
    return raw(says(request.method, whole, note, body or b""), headers={"saw": request.method})


async def _serve() -> None:
    sock = listener()
    server = await app.create_server(sock=sock, return_asyncio_server=True, access_log=False)
    await server.startup()
    await server.before_start()
    await server.after_start()
    ready(sock.getsockname()[1])
    await asyncio.Event().wait()


asyncio.run(_serve())
