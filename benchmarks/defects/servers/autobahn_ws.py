"""A WebSocket server by autobahn that echoes."""

from autobahn.twisted.websocket import WebSocketServerFactory, WebSocketServerProtocol
from http_apps import HOST, ready
from twisted.internet import reactor


class _Echo(WebSocketServerProtocol):  # type: ignore[misc]
    def onMessage(self, payload: bytes, isBinary: bool) -> None:  # noqa: FBT001, N802, N803 -- names of autobahn
        self.sendMessage(payload, isBinary)


factory = WebSocketServerFactory()
factory.protocol = _Echo
port = reactor.listenTCP(0, factory, interface=HOST)
ready(port.getHost().port)
reactor.run()
