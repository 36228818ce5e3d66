"""The application that the model of a web server knows, for WSGI and for ASGI: it answers what it was asked.

`POST /echo note=n body=hello`; at `/skip` it does not read the body, and at `/later` it takes 10 ms.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

HOST = "127.0.0.1"
SKIP, LATER, WAIT = "/skip", "/later", 0.01


def ready(port: int) -> None:
    """Print the port."""
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()


def listener() -> socket.socket:
    """Return a socket that listens at a free port."""
    return socket.create_server((HOST, 0))


def says(method: str, path: str, note: str, body: bytes) -> bytes:
    """Return the content of a response."""
    return f"{method} {path} note={note} body=".encode("latin-1") + body


def wsgi(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer a request by WSGI."""
    method, path, query = environ["REQUEST_METHOD"], environ["PATH_INFO"], environ.get("QUERY_STRING", "")
    body = b"" if path == SKIP else _body(environ)
    time.sleep(WAIT if path == LATER else 0)
    path = f"{path}?{query}" if query else path
    content = says(method, path, environ.get("HTTP_NOTE", ""), body)
    start_response("200 OK", [("Content-Length", str(len(content))), ("Saw", method)])
    return [b"" if method == "HEAD" else content]


def _body(environ: dict[str, Any]) -> bytes:
    if environ.get("wsgi.input_terminated") or "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower():
        return bytes(environ["wsgi.input"].read())
    return bytes(environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)))


async def asgi(
    scope: dict[str, Any],
    receive: Callable[[], Awaitable[dict[str, Any]]],
    send: Callable[[dict[str, Any]], Awaitable[None]],
) -> None:
    """Answer a request by ASGI."""
    if scope["type"] != "http":
        return
    body, more = b"", scope["path"] != SKIP
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body += message.get("body", b"")
        more = message.get("more_body", False)
    await asyncio.sleep(WAIT if scope["path"] == LATER else 0)
    note = b",".join(value for name, value in scope["headers"] if name == b"note").decode("latin-1")
    query = scope["query_string"].decode("latin-1")
    content = says(scope["method"], f"{scope['path']}?{query}" if query else scope["path"], note, body)
    headers = [(b"content-length", str(len(content)).encode()), (b"saw", scope["method"].encode("latin-1"))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else content})
