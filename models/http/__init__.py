"""A web server over HTTP/1.1: its messages, their framing, and the connection (RFC 9112, RFC 9110)."""

from otf.models.http.bench import bench, served_by
from otf.models.http.spec import web

__all__ = ["bench", "served_by", "web"]
