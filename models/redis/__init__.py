"""A redis server: strings, lists, transactions, and messages to subscribers, with three clients.

`otf run redis` tests a redis server, and `otf run redis --set server=fakeredis` tests fakeredis, from PyPI. To test
keys that expire, the bench also waits between commands (`Elapse`).
"""

from otf.models.redis.bench import bench
from otf.models.redis.spec import redis

__all__ = ["bench", "redis"]
