"""A web server by uvicorn, which reads requests with httptools."""

import uvicorn
from http_apps import asgi, listener, ready

sock = listener()
ready(sock.getsockname()[1])
config = uvicorn.Config(asgi, http="httptools", timeout_keep_alive=600, log_level="critical", lifespan="off", ws="none")
uvicorn.Server(config).run(sockets=[sock])
