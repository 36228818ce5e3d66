"""A web server over HTTP/1.1: its messages, their framing, and the connection (RFC 9112, RFC 9110).

`otf run http` tests the HTTP library h11, from PyPI. `otf run http --set server=127.0.0.1:8080` tests your own server.
"""

from otf.models.http.bench import bench, served_by
from otf.models.http.spec import web

__all__ = ["bench", "served_by", "web"]
