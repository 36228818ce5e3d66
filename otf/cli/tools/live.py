"""`otf run --page`: a page about the campaign while it runs, served on this machine or written to a file.

A separate thread takes the figures once a second and answers the browser, so the event loop neither waits nor works for
it. At each step the campaign only stores its view, and the state if it is certain.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from secrets import compare_digest, token_hex
from socket import SHUT_RDWR, socket
from threading import BoundedSemaphore, Event, Thread, Timer
from time import monotonic
from typing import Any, Final

from otf.campaign import Campaign, Listener
from otf.cli.tools.live_figures import LiveFigures, NextCommands
from otf.cli.tools.report import write_page
from otf.errors import OtfError, UsageError
from otf.report.live import live_page
from otf.runner.writer import writing

EVERY: Final = 1.0  # seconds between two samples
WRITTEN: Final = 3  # samples between two writes of the file
PATIENCE: Final = 5.0  # seconds for a request, and for a reader to fetch the report
CLIENTS: Final = 16  # simultaneous requests; the server refuses more


class LivePage:
    """The page of one campaign, in a file or at an address; `watch` makes its listener."""

    def __init__(self, campaign: Campaign, title: str, file: Path | None, commands: NextCommands | None = None) -> None:
        self._campaign, self._title, self._file, self._commands = campaign, title, file, commands
        self._figures = LiveFigures(campaign, Listener(), commands)
        self._stop, self._fetched = Event(), Event()
        self._asked = 0.0
        self._report = b""
        self._thread = Thread(target=self._work, daemon=True)

    def watch(self, inner: Listener) -> Listener:
        """Start the page; return the listener of the campaign, which passes everything on."""
        self._figures = LiveFigures(self._campaign, inner, self._commands)
        self._figures.count_states()
        self._thread.start()
        return self._figures

    def answer(self, path: str) -> tuple[str, bytes] | None:
        """Return the content at a path of the address, with its type; None if there is none."""
        self._asked = monotonic()
        if path == "/state.json":
            return "application/json", json.dumps(self._figures.state()).encode()
        if path != "/":
            return None
        if self._report:
            self._fetched.set()
        return "text/html; charset=utf-8", self._report or live_page(self._title).encode(errors="backslashreplace")

    def end(self, report: Callable[[], str]) -> None:
        """Turn the page into the report; a browser that shows the page has a few seconds to fetch it."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        self._figures.ended = True
        if self._file is not None:  # to judge long paths again takes minutes
            write_page(self._file, live_page(self._title, self._figures.state()))
        try:
            text = report()
        except OtfError:  # no trace was kept
            text = live_page(self._title, {**self._figures.state(), "done": True})
        if self._file is not None:
            write_page(self._file, text)
            return
        self._report = text.encode(errors="backslashreplace")
        self._figures.done = True
        if monotonic() - self._asked < PATIENCE:
            self._fetched.wait(PATIENCE)

    def _work(self) -> None:
        count = 0
        while not self._stop.wait(EVERY):
            self._figures.sample()
            if self._file is not None and count % WRITTEN == 0:
                write_page(self._file, live_page(self._title, self._figures.state()))
            count += 1


class _Server(ThreadingHTTPServer):
    """Serves one page, to this machine only."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, port: int, page: LivePage) -> None:
        self.page: LivePage = page
        self.token: str = token_hex(16)
        self._free = BoundedSemaphore(CLIENTS)
        super().__init__(("127.0.0.1", port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 -- as in the base class
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 -- as in the base class
        # the handler bounds each read: without this, a client that sends a byte now and then would keep its slot
        late = Timer(PATIENCE, _shut, [request])
        late.daemon = True
        late.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            late.cancel()
            self._free.release()

    def handle_error(self, request: socket | tuple[bytes, socket], client_address: Any) -> None:  # noqa: ANN401 -- as in the base class
        """Print nothing: a closed browser is no reason for a message."""


def _shut(connection: socket) -> None:
    with suppress(OSError):  # it has ended meanwhile
        connection.shutdown(SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    """Answers GET for two paths, if the request names this machine as its host and has the token."""

    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride] -- no other server has this handler
    timeout = PATIENCE
    server_version, sys_version = "otf", ""

    def do_GET(self) -> None:
        """Answer a request."""
        path, _, query = self.path.partition("?")
        if not self._names_this_machine() or not self._has_token(query):
            self.send_error(403, explain="Open the whole address that otf printed, with its token.")
            return
        found = self.server.page.answer(path)
        if found is None:
            self.send_error(404)
            return
        kind, body = found
        self.send_response(200)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **HEADERS}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _names_this_machine(self) -> bool:
        # a page of another site whose name points here would send its own name; of two headers, either might count
        port, hosts = self.server.server_port, self.headers.get_all("Host", [])
        return len(hosts) == 1 and hosts[0] in {f"127.0.0.1:{port}", f"localhost:{port}"}

    def _has_token(self, query: str) -> bool:
        # any user of this machine can connect, but must not read what the campaign shows
        return compare_digest(query.encode(), f"token={self.server.token}".encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the name of the base class
        """Print nothing: standard error belongs to the campaign."""


HEADERS: Final = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}


@contextmanager
def live(
    where: str, campaign: Campaign, title: str, tell: Callable[[str], None], commands: NextCommands | None = None
) -> Generator[LivePage]:
    """Yield the page of a campaign: `where` is a file, or a port of this machine (0: any free one)."""
    if not (where.isascii() and where.isdecimal()):
        page = LivePage(campaign, title, Path(where), commands)
        with writing(
            Path(where), advice="choose another file"
        ):  # the folder may be that of the traces, which does not exist yet
            Path(where).parent.mkdir(parents=True, exist_ok=True)
        write_page(Path(where), live_page(title, LiveFigures(campaign, Listener(), commands).state()))
        tell(f"page: {where}")
        yield page
        return
    page = LivePage(campaign, title, None, commands)
    try:
        server = _Server(int(where), page)
    except (OSError, OverflowError) as error:
        why = "a port from 0 to 65535 is needed" if isinstance(error, OverflowError) else error
        message = f"--page {where}: port {where} of 127.0.0.1 cannot be used: {why}; 0 takes a free one"
        raise UsageError(message) from error
    with server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.2}, daemon=True)
        thread.start()
        tell(f"page: http://127.0.0.1:{server.server_port}/?token={server.token}")
        try:
            yield page
        finally:
            server.shutdown()
            thread.join()
