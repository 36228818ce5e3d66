"""A chat server for two clients over WebSocket (RFC 6455); the PyPI package websocket-server by default.

`otf run chat` tests the chat server of the PyPI package websocket-server. `otf run chat --set server=127.0.0.1:9001`
tests your own server.
"""

from otf.models.chat.bench import bench
from otf.models.chat.spec import chat

__all__ = ["bench", "chat"]
