"""A web server by werkzeug, which is meant for development."""

import logging

from http_apps import HOST, ready, wsgi
from werkzeug.serving import WSGIRequestHandler, make_server

logging.disable()
WSGIRequestHandler.protocol_version = "HTTP/1.1"
server = make_server(HOST, 0, wsgi, threaded=True)
ready(server.port)
server.serve_forever()
