"""A DNS name server with one zone, over UDP and TCP: RFC 1035, with RFC 4343, 6891 (EDNS) and 7766 (TCP).

`otf run dns` tests the name server dnslib, from PyPI.
"""

from otf.models.dns.bench import bench
from otf.models.dns.spec import dns

__all__ = ["bench", "dns"]
