"""The server of the bench: wsproto, which reads and writes frames, on a socket; one connection at a time."""

from __future__ import annotations

import socket
import sys
from contextlib import suppress
from typing import TypeAlias

from wsproto import ConnectionType, WSConnection
from wsproto.events import (
    AcceptConnection,
    BytesMessage,
    CloseConnection,
    Event,
    Ping,
    RejectConnection,
    Request,
    TextMessage,
)
from wsproto.utilities import RemoteProtocolError

Part: TypeAlias = TextMessage | BytesMessage


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
    """Echo the messages of one connection."""
    connection, parts = WSConnection(ConnectionType.SERVER), list[Part]()
    while chunk := sock.recv(65_536):
        try:
            connection.receive_data(chunk)
            for event in connection.events():
                sock.sendall(_answer(connection, event, parts))
                if isinstance(event, CloseConnection):
                    return
        except RemoteProtocolError as error:
            if isinstance(error.event_hint, RejectConnection):
                sock.sendall(connection.send(error.event_hint))
            return
        except UnicodeDecodeError:  # how wsproto 1.3.2 reacts to a field whose value is not ASCII
            return


def _answer(connection: WSConnection, event: Event, parts: list[Part]) -> bytes:
    match event:
        case Request():
            return connection.send(AcceptConnection())
        case Ping() | CloseConnection():
            return connection.send(event.response())
        case TextMessage() | BytesMessage():
            parts.append(event)
            return _echo(connection, parts) if event.message_finished else b""
        case _:
            return b""


def _echo(connection: WSConnection, parts: list[Part]) -> bytes:
    """Send a message back in one frame."""
    whole = "".join(part.data for part in parts if isinstance(part, TextMessage))
    data = b"".join(bytes(part.data) for part in parts if isinstance(part, BytesMessage))
    message = TextMessage(data=whole) if isinstance(parts[0], TextMessage) else BytesMessage(data=data)
    parts.clear()
    return connection.send(message)


if __name__ == "__main__":
    serve()
