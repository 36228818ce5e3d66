"""A redis server: strings, lists, transactions, and messages to subscribers, with three clients.

`otf run redis` tests a redis server, and `otf run redis --set server=fakeredis` tests fakeredis, from PyPI. To test
expiring keys, the bench sends waits (`Elapse`) as inputs.
"""

from otf.models.redis.bench import bench
from otf.models.redis.spec import redis

__all__ = ["bench", "redis"]
