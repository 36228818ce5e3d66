"""A web server by gunicorn, with one worker that keeps connections."""

from typing import Any

from gunicorn.app.base import BaseApplication
from http_apps import HOST, ready, wsgi


class _Served(BaseApplication):  # type: ignore[misc]
    def load_config(self) -> None:
        settings = {"bind": f"{HOST}:0", "workers": 1, "worker_class": "gthread", "threads": 2, "keepalive": 600}
        for name, value in {**settings, "loglevel": "critical", "when_ready": _ready, "timeout": 600}.items():
            self.cfg.set(name, value)

    def load(self) -> object:
        return wsgi


def _ready(arbiter: Any) -> None:
    ready(arbiter.LISTENERS[0].sock.getsockname()[1])


_Served().run()
