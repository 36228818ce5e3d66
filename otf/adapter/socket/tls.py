"""TLS over a socket that never blocks."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import anyio

from otf.adapter.socket.connection import CHUNK
from otf.errors import ContactError

CUT_OFF: Final = "cut off without closing tls"
"""How a stream ends whose other side did not say that this is its end: some of it may be missing."""

_ADVICE: Final = (
    "look at it with `openssl s_client -connect HOST:PORT`; a certificate of your own is trusted with "
    "`ssl.create_default_context(cafile=…)` as `tls`"
)


async def encrypted(
    sock: socket.socket, context: ssl.SSLContext, shown: str, within: float, host: str | None
) -> ssl.SSLSocket:
    """Return the socket with TLS over it, once both sides have agreed; `host` None: we are the server.

    Raises ContactError, and closes the socket, where they do not agree within that time.
    """
    try:
        wrapped = context.wrap_socket(
            sock,
            server_side=host is None,
            server_hostname=host,
            do_handshake_on_connect=False,
            suppress_ragged_eofs=False,
        )
    except (ssl.SSLError, ValueError, OSError) as error:
        sock.close()
        raise _refused(shown, error) from error
    try:
        with anyio.fail_after(within):
            await _shake_hands(wrapped)
    except (OSError, TimeoutError) as error:
        wrapped.close()
        raise _refused(shown, error) from error
    except BaseException:
        wrapped.close()
        raise
    return wrapped


def reading(sock: ssl.SSLSocket, wake: Callable[[], None]) -> Callable[[], bytes]:
    """Return what reads such a socket; `wake` is called where more is there that no descriptor tells."""

    def read() -> bytes:
        try:
            data = sock.recv(CHUNK)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError) as error:
            raise BlockingIOError from error
        except ssl.SSLEOFError as error:
            raise ConnectionAbortedError(0, CUT_OFF) from error
        if sock.pending():
            wake()
        return data

    return read


def writing(sock: ssl.SSLSocket) -> Callable[[bytes], int]:
    """Return what writes to such a socket."""

    def write(data: bytes) -> int:
        try:
            return sock.send(data)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError) as error:
            raise BlockingIOError from error

    return write


def say_the_end(sock: ssl.SSLSocket) -> None:
    """Tell the other side that nothing was cut off; its answer is not waited for."""
    with suppress(OSError, ValueError):  # it wants to hear that answer, or has gone
        sock.unwrap()


async def _shake_hands(sock: ssl.SSLSocket) -> None:
    while True:
        try:
            sock.do_handshake()
        except ssl.SSLWantReadError:
            await anyio.wait_readable(sock)
        except ssl.SSLWantWriteError:
            await anyio.wait_writable(sock)
        else:
            return


def _refused(shown: str, error: Exception) -> ContactError:
    why = "no answer in time" if isinstance(error, TimeoutError) else _plain(error)
    return ContactError(f"{shown} does not speak TLS with us: {why}; {_ADVICE}")


def _plain(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    reason: str = getattr(error, "reason", "") or str(error)
    return reason.replace("_", " ").lower()
