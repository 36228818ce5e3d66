"""A name server by dnslib with one zone, over UDP and TCP; it prints its port: `python server.py`."""

from __future__ import annotations

import sys
import threading
from importlib import import_module
from typing import Any

HOST = "127.0.0.1"
LARGEST = 512
ZONE = """
a.example. 60 IN A 192.0.2.1
b.example. 60 IN A 192.0.2.2
b.example. 60 IN A 192.0.2.3
b.example. 60 IN TXT "hello"
c.example. 60 IN CNAME a.example.
""" + "".join(f'big.example. 60 IN TXT "{letter * 200}"\n' for letter in "xyz")


class Resolver:
    """Answers from the zone; dnslib's own resolver does not follow aliases."""

    def __init__(self, dnslib: Any) -> None:  # noqa: ANN401 -- dnslib has no types
        self._kinds, self._codes = dnslib.QTYPE, dnslib.RCODE
        self._records: list[Any] = dnslib.RR.fromZone(ZONE)

    def resolve(self, request: Any, _handler: object) -> Any:  # noqa: ANN401 -- the same
        """Return the reply to a query."""
        reply = request.reply()
        kind, found = self._kinds[request.q.qtype], self._of(str(request.q.qname))
        for alias in [each for each in found if each.rtype == self._kinds.CNAME and kind != "CNAME"]:
            reply.add_answer(alias)
            found = self._of(str(alias.rdata))
        reply.add_answer(*(each for each in found if self._kinds[each.rtype] == kind))
        if not found:
            reply.header.rcode = self._codes.NXDOMAIN
        return reply

    def _of(self, name: str) -> list[Any]:
        return [each for each in self._records if str(each.rname) == name.lower()]


class Quiet:
    """Logs nothing."""

    def __getattr__(self, name: str) -> object:
        """Return a function that does nothing."""
        return _nothing


def _nothing(*_: object) -> None:
    """Do nothing."""


def main() -> None:
    """Serve until the process is ended."""
    server: Any = import_module("dnslib.server")  # listing the benches needs no dnslib
    resolver = Resolver(import_module("dnslib"))
    server.DNSHandler.udplen = LARGEST
    while True:
        udp = server.DNSServer(resolver, port=0, address=HOST, logger=Quiet())
        port = udp.server.server_address[1]
        try:
            tcp = server.DNSServer(resolver, port=port, address=HOST, tcp=True, logger=Quiet())
        except OSError:
            continue  # another program has this port of TCP
        udp.start_thread()
        tcp.start_thread()
        sys.stdout.write(f"{port}\n")
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    main()
