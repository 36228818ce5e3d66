"""A WebSocket server that echoes: its handshake, its frames, and how a connection ends (RFC 6455)."""

from otf.models.websocket.bench import bench, served_by
from otf.models.websocket.spec import echo

__all__ = ["bench", "echo", "served_by"]
