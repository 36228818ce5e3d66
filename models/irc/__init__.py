"""A chat server, by TCP from three clients in one channel; ngircd if no other is named.

Source: RFC 2812 (Internet Relay Chat: client protocol). The server passes each action of a client to all others in
its channel; per connection everything comes in order, and across connections in any. Names of users, hosts and times
are left out.
"""

from otf.models.irc.bench import bench
from otf.models.irc.spec import irc

__all__ = ["bench", "irc"]
