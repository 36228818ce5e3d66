"""A memcached server, with its text protocol over TCP or UDP.

`otf run memcached` tests memcached over TCP, and `otf run memcached --set transport=udp` tests its UDP port.
"""

from otf.models.memcached.bench import bench
from otf.models.memcached.spec import memcached

__all__ = ["bench", "memcached"]
