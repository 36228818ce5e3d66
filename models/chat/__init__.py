"""A chat of two clients over WebSocket (RFC 6455), with the server of websocket-server, from PyPI."""

from otf.models.chat.bench import bench
from otf.models.chat.spec import chat

__all__ = ["bench", "chat"]
