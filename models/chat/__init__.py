"""A chat of two clients over WebSocket (RFC 6455), with the server of websocket-server, from PyPI.

`otf run chat` tests the server of websocket-server, and `otf run chat --set server=127.0.0.1:9001` a server of your
own.
"""

from otf.models.chat.bench import bench
from otf.models.chat.spec import chat

__all__ = ["bench", "chat"]
