"""The server of the bench: h11, which reads requests and writes responses, on a socket; one connection at a time."""

from __future__ import annotations

import socket
import sys
import time
from contextlib import suppress
from email.utils import formatdate

import h11


def serve() -> None:
    """Print the number of a free port, and serve there until the process is ended."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        sys.stdout.write(f"{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        while True:
            sock, _ = listener.accept()
            with sock, suppress(OSError):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                _serve(sock)


def _serve(sock: socket.socket) -> None:
    """Answer the requests of one connection."""
    connection = h11.Connection(h11.SERVER)
    try:
        while (request := _next(connection, sock)) is not None:
            _answer(connection, sock, *request)
            if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
                return
            connection.start_next_cycle()
    except h11.RemoteProtocolError as error:
        if connection.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            _send(connection, sock, error.error_status_hint, b"")


def _next(connection: h11.Connection, sock: socket.socket) -> tuple[h11.Request, bytes] | None:
    """Return the next request and its body; None at the end of the connection."""
    request, body = None, b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            if request is not None and connection.they_are_waiting_for_100_continue:
                interim = h11.InformationalResponse(status_code=100, headers=[])
                sock.sendall(connection.send(interim) or b"")
            connection.receive_data(sock.recv(65_536))
        elif isinstance(event, h11.Request):
            request = event
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage) and request is not None:
            return request, body
        else:
            return None


def _answer(connection: h11.Connection, sock: socket.socket, request: h11.Request, body: bytes) -> None:
    path = b"/" + request.target.partition(b"://")[2].partition(b"/")[2] if b"://" in request.target else request.target
    time.sleep(0.01 if path == b"/later" else 0)
    note = b",".join(value for name, value in request.headers if name == b"note")
    says = b"%s %s note=%s body=%s" % (request.method, path, note, b"" if path == b"/skip" else body)
    _send(connection, sock, 200, says, request.method)


def _send(connection: h11.Connection, sock: socket.socket, status: int, content: bytes, method: bytes = b"") -> None:
    date = formatdate(usegmt=True)
    headers = [("date", date), ("content-length", str(len(content))), *([("saw", method.decode())] if method else [])]
    if not method:
        headers.append(("connection", "close"))
    sent = connection.send(h11.Response(status_code=status, headers=headers)) or b""
    sent += connection.send(h11.Data(data=content)) or b"" if method != b"HEAD" else b""
    sock.sendall(sent + (connection.send(h11.EndOfMessage()) or b""))


if __name__ == "__main__":
    serve()
