"""An IRC chat server with three clients in one channel, over TCP; ngircd by default.

`otf run irc --set server='my-server {host} {port}'` tests a server of your own. Source: RFC 2812 (Internet Relay Chat:
client protocol). The chat server passes each action of a client to all other clients in its channel. The messages on
one connection keep their order, but messages on different connections may arrive in any order. The model ignores times,
and the names of users and hosts.
"""

from otf.models.irc.bench import bench
from otf.models.irc.spec import irc

__all__ = ["bench", "irc"]
