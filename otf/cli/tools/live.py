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

from otf.campaign import Campaign, FailureGroup, Listener, PathResult, Summary
from otf.campaign.settings import UNLIMITED
from otf.campaign.summary import callback
from otf.cli.tools.report import write_page
from otf.core import Node, View
from otf.errors import OtfError, UsageError
from otf.report.live import live_page
from otf.runner.writer import writing
from otf.trace.explain import explanation
from otf.trace.result import counted
from otf.values import show

EVERY: Final = 1.0  # seconds between two samples
WRITTEN: Final = 3  # samples between two writes of the file
POINTS: Final = 400  # of the curve; at that number, every second one is dropped
KNOWN: Final = 100_000  # nodes
SHOWN: Final = 12  # possible states
KINDS: Final = 50  # failures
PATIENCE: Final = 5.0  # seconds for a request, and for a reader to fetch the report
RUNNING: Final = 4  # paths to name
CLIENTS: Final = 16  # simultaneous requests; the server refuses more


class LiveFigures(Listener):
    """Notes what a page shows of a campaign, and passes everything on to another listener."""

    def __init__(self, campaign: Campaign, inner: Listener) -> None:
        self._campaign, self._inner = campaign, inner
        self._began = monotonic()
        self._view: View | None = None
        self._met: set[Node] = set()
        # by their ids, which stay valid as long as the nodes are kept here
        self._known: dict[int, Node] = {}
        # inputs chosen on the paths under way; the summary counts the others, wherever they were driven
        self._chosen: dict[int, int] = {}
        self._now = ""
        self._growth: list[tuple[int, int]] = [(0, 0)]
        self.done: bool = False
        self._enabled = inner.enabled if callback(inner, "enabled", 0) else None
        # not noted here: a method of this class would cost time at each event, even if the other has none
        vars(self).update(event=inner.event, failed_start=inner.failed_start)

    def enabled(self, number: int, view: View) -> None:
        """Note the possible states."""
        self._view = view
        self._chosen[number] = self._chosen.get(number, 0) + 1
        nodes = view.nodes
        # hashing a node costs more than the rest, and nearly all are known: look up their ids first
        if len(nodes) == 1 and id(nodes[0]) not in self._known:
            self._meet(nodes[0])
        if self._enabled is not None:
            self._enabled(number, view)

    def _meet(self, node: Node) -> None:
        if len(self._known) >= KNOWN:  # a model forgets nodes and creates new ones
            self._known.clear()
        self._known[id(node)] = node
        self._met.add(node)

    def path(self, result: PathResult, summary: Summary) -> None:
        """Pass a path on; the summary has counted its steps."""
        self._chosen.pop(result.number, None)
        self._inner.path(result, summary)

    def shrinking(self, group: FailureGroup, length: int, transitions: int) -> None:
        """Note the progress of shrinking."""
        self._now = f"shrinking a failure, {group.first.steps} -> {length} steps, {transitions} inputs sent"
        self._inner.shrinking(group, length, transitions)

    def failure(self, group: FailureGroup) -> None:
        """Pass a failure on."""
        self._now = ""
        self._inner.failure(group)

    @property
    def steps(self) -> int:
        """Return the steps of counted paths and of those under way; the last choice may not have been sent yet."""
        return self._campaign.summary.steps + sum(max(0, each - 1) for each in [*self._chosen.values()])

    def sample(self) -> None:
        """Add a point to the curve."""
        self._growth.append((self.steps, len(self._met)))
        if len(self._growth) > POINTS:
            del self._growth[1:-1:2]

    def state(self) -> dict[str, Any]:
        """Return the figures as JSON data; another thread may call it."""
        summary, settings = self._campaign.summary, self._campaign.settings
        result = summary.result
        steps, seconds = self.steps, monotonic() - self._began + self._campaign.spent
        nodes = () if self._view is None else self._view.nodes
        groups, of = list(summary.failures.values()), f" of {counted(summary.paths, 'path')}"
        return {
            "done": self.done,
            "tone": result.tone,
            "paths": summary.paths,
            "ruling": result.ruling,
            "traces": settings.traces if settings.traces < UNLIMITED else None,
            "steps": steps,
            "rate": steps / seconds if seconds else 0.0,
            "seconds": seconds,
            "left": None if self._now else self._left(seconds),
            "met": len(self._met),
            "kinds": len(groups),
            "known": len(result.seen_issues),
            "undecided": len(summary.inconclusive),
            "now": self._now or self._running(),
            "possible": [show(node.value) for node in nodes[:SHOWN]],
            # the newest first: the story tells that one
            "failures": [
                *(f"{each.result.title or each.signature} ({each.count:,}{of})" for each in groups[: -KINDS - 1 : -1]),
                *(f"known issue: {each.says} ({each.paths:,}{of})" for each in result.seen_issues[:KINDS]),
            ],
            "story": _story(groups[-1]) if groups else [],
            "growth": [*self._growth, *({(steps, len(self._met))} - {self._growth[-1]})],
        }

    def _running(self) -> str:
        """Return which paths are under way, and at which step."""
        under_way = sorted(self._chosen.copy().items())
        shown = [f"path {number}, step {chosen:,}" for number, chosen in under_way[:RUNNING]]
        more = f"; and {len(under_way) - RUNNING} more" if len(under_way) > RUNNING else ""
        return f"running: {'; '.join(shown)}{more} (seed {self._campaign.settings.seed})" if shown else ""

    def _left(self, seconds: float) -> float | None:
        summary, settings = self._campaign.summary, self._campaign.settings
        bounds = [] if settings.time is None else [max(0.0, settings.time - seconds)]
        if summary.paths and settings.traces < UNLIMITED:
            bounds.append(seconds * (settings.traces - summary.paths) / summary.paths)
        return min(bounds, default=None)


class LivePage:
    """The page of one campaign, in a file or at an address; `watch` makes its listener."""

    def __init__(self, campaign: Campaign, title: str, file: Path | None) -> None:
        self._campaign, self._title, self._file = campaign, title, file
        self._figures = LiveFigures(campaign, Listener())
        self._stop, self._fetched = Event(), Event()
        self._asked = 0.0
        self._report = b""
        self._thread = Thread(target=self._work, daemon=True)

    def watch(self, inner: Listener) -> Listener:
        """Start the page; return the listener of the campaign, which passes everything on."""
        self._figures = LiveFigures(self._campaign, inner)
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
def live(where: str, campaign: Campaign, title: str, tell: Callable[[str], None]) -> Generator[LivePage]:
    """Yield the page of a campaign: `where` is a file, or a port of this machine (0: any free one)."""
    if not (where.isascii() and where.isdecimal()):
        page = LivePage(campaign, title, Path(where))
        with writing(
            Path(where), advice="choose another file"
        ):  # the folder may be that of the traces, which does not exist yet
            Path(where).parent.mkdir(parents=True, exist_ok=True)
        write_page(Path(where), live_page(title, LiveFigures(campaign, Listener()).state()))
        tell(f"page: {where}")
        yield page
        return
    page = LivePage(campaign, title, None)
    try:
        server = _Server(int(where), page)
    except (OSError, OverflowError) as error:
        message = f"--page {where}: port {where} of 127.0.0.1 cannot be used: {error}; 0 takes a free one"
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


def _story(group: FailureGroup) -> list[tuple[str, str]]:
    """Return the failure of a group as coloured lines, for the shortest trace known so far."""
    from otf.report.failures import SCREEN, toned

    shown = group.shrunk or group.first
    return toned(explanation(shown.verdict, shown.events, SCREEN))
