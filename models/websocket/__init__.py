"""A WebSocket server that echoes: its handshake, its frames, and how a connection ends (RFC 6455).

`otf run websocket` tests the WebSocket library wsproto, from PyPI. `otf run websocket --set server=127.0.0.1:9001`
tests your own echo server.
"""

from otf.models.websocket.bench import bench, served_by
from otf.models.websocket.spec import echo

__all__ = ["bench", "echo", "served_by"]
