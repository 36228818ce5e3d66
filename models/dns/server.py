"""A name server by dnslib with one zone, by UDP and TCP; it prints its port: `python server.py`."""

from __future__ import annotations

import sys
import threading

from dnslib import QTYPE, RCODE, RR, DNSRecord
from dnslib.server import DNSHandler, DNSServer

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
    """Answers from the zone; dnslib has a resolver for that, which follows no alias."""

    def __init__(self) -> None:
        self._records = RR.fromZone(ZONE)

    def resolve(self, request: DNSRecord, _handler: DNSHandler) -> DNSRecord:
        """Return the reply to a query."""
        reply = request.reply()
        kind, found = QTYPE[request.q.qtype], self._of(str(request.q.qname))
        for alias in [each for each in found if each.rtype == QTYPE.CNAME and kind != "CNAME"]:
            reply.add_answer(alias)
            found = self._of(str(alias.rdata))
        reply.add_answer(*(each for each in found if QTYPE[each.rtype] == kind))
        if not found:
            reply.header.rcode = RCODE.NXDOMAIN
        return reply

    def _of(self, name: str) -> list[RR]:
        return [each for each in self._records if str(each.rname) == name.lower()]


class Quiet:
    """Logs nothing."""

    def __getattr__(self, name: str) -> object:
        """Return a function that does nothing."""
        return lambda *_: None


def main() -> None:
    """Serve until the process is ended."""
    resolver = Resolver()
    DNSHandler.udplen = LARGEST
    while True:
        udp = DNSServer(resolver, port=0, address=HOST, logger=Quiet())
        port = udp.server.server_address[1]
        try:
            tcp = DNSServer(resolver, port=port, address=HOST, tcp=True, logger=Quiet())
        except OSError:
            continue  # another program has this port of TCP
        udp.start_thread()
        tcp.start_thread()
        sys.stdout.write(f"{port}\n")
        sys.stdout.flush()
        threading.Event().wait()


if __name__ == "__main__":
    main()
