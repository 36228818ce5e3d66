"""A web server by uvicorn, which reads requests with h11."""

import uvicorn
from http_apps import asgi, listener, ready

sock = listener()
ready(sock.getsockname()[1])
config = uvicorn.Config(asgi, http="h11", timeout_keep_alive=600, log_level="critical", lifespan="off", ws="none")
uvicorn.Server(config).run(sockets=[sock])
