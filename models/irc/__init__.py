"""A chat server, over TCP from three clients in one channel; ngircd by default.

Source: RFC 2812 (Internet Relay Chat: client protocol). The server passes each action of a client to all others in its
channel; each connection is in order, but there is no order between them. The model leaves out names of users, hosts and
times.
"""

from otf.models.irc.bench import bench
from otf.models.irc.spec import irc

__all__ = ["bench", "irc"]
