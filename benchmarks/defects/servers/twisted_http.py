"""A web server by twisted."""

from http_apps import HOST, LATER, SKIP, WAIT, ready, says
from twisted.internet import reactor
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request, Site


class _Answer(Resource):  # type: ignore[misc]
    isLeaf = True  # noqa: N815 -- a name of twisted

    def render(self, request: Request) -> bytes | int:
        uri = request.uri.decode("latin-1")
        path = "/" + uri.partition("://")[2].partition("/")[2] if "://" in uri else uri
        note = ",".join(each.decode("latin-1") for each in request.requestHeaders.getRawHeaders(b"note", []))
        body = b"" if path == SKIP else request.content.read()
        content = says(request.method.decode("latin-1"), path, note, body)
        request.setHeader(b"saw", request.method)
        request.setHeader(b"content-length", str(len(content)).encode())
        if path == LATER:
            reactor.callLater(WAIT, _finish, request, content)
            return NOT_DONE_YET
        return b"" if request.method == b"HEAD" else content


def _finish(request: Request, content: bytes) -> None:
    request.write(content)
    request.finish()


port = reactor.listenTCP(0, Site(_Answer(), timeout=600), interface=HOST)
ready(port.getHost().port)
reactor.run()
