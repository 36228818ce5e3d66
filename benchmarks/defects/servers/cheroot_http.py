"""A web server by cheroot."""

from cheroot.wsgi import Server
from http_apps import HOST, ready, wsgi

server = Server((HOST, 0), wsgi, numthreads=2, timeout=600)
server.prepare()
ready(server.bind_addr[1])
server.serve()
