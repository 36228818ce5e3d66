"""A memcached server as a model: its text protocol over TCP and over UDP.

Run it with `otf run memcached`; `--set transport=udp` talks to the UDP port.
"""

from otf.models.memcached.bench import bench
from otf.models.memcached.spec import memcached

__all__ = ["bench", "memcached"]
