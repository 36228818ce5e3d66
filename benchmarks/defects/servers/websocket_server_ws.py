"""A WebSocket server by websocket-server that echoes; it knows text only."""

from http_apps import HOST, ready
from websocket_server import WebsocketServer

server = WebsocketServer(host=HOST, port=0)
server.set_fn_message_received(lambda client, own, message: own.send_message(client, message))
ready(server.port)
server.run_forever()
