"""A name server by Twisted with the zone of the bench `dns`, over UDP and TCP, that prints its port."""

from __future__ import annotations

import sys
from typing import Any

from twisted.internet import reactor
from twisted.internet.error import CannotListenError
from twisted.names import authority, dns, server

HOST = "127.0.0.1"
BIG = [dns.Record_TXT(letter * 200, ttl=60) for letter in (b"x", b"y", b"z")]


class Zone(authority.FileAuthority):  # type: ignore[misc]
    """One zone, in this file."""

    def loadFile(self, _name: object) -> None:  # noqa: N802 -- Twisted's name
        """Take the records from here."""
        self.soa: Any = b"example", dns.Record_SOA(mname="a.example", rname="a.example", ttl=60)
        self.records: dict[bytes, list[Any]] = {
            b"example": [self.soa[1]],
            b"a.example": [dns.Record_A("192.0.2.1", ttl=60)],
            b"b.example": [*(dns.Record_A(f"192.0.2.{at}", ttl=60) for at in (2, 3)), dns.Record_TXT(b"hello", ttl=60)],
            b"c.example": [dns.Record_CNAME("a.example", ttl=60)],
            b"big.example": BIG,
        }


def main() -> None:
    """Serve until the process is ended."""
    factory = server.DNSServerFactory(authorities=[Zone("")])
    loop: Any = reactor
    while True:
        port = loop.listenUDP(0, dns.DNSDatagramProtocol(factory), interface=HOST).getHost().port
        try:
            loop.listenTCP(port, factory, interface=HOST)
        except CannotListenError:
            continue  # another program has this port of TCP
        sys.stdout.write(f"{port}\n")
        sys.stdout.flush()
        loop.run()
        return


if __name__ == "__main__":
    main()
