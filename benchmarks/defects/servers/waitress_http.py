"""A web server by waitress."""

import waitress
from http_apps import HOST, ready, wsgi

server = waitress.create_server(wsgi, host=HOST, port=0, threads=2, channel_timeout=600)
ready(server.effective_port)
server.run()
