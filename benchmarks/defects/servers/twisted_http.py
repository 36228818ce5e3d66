"""A web server by twisted."""

from http_apps import HOST, SKIP, ready, says
from twisted.internet import reactor
from twisted.web.resource import Resource
from twisted.web.server import Site


class _Answer(Resource):  # type: ignore[misc]
    isLeaf = True

    def render(self, request):  # type: ignore[no-untyped-def]
        uri = request.uri.decode("latin-1")
        path = "/" + uri.partition("://")[2].partition("/")[2] if "://" in uri else uri
        note = ",".join(each.decode("latin-1") for each in request.requestHeaders.getRawHeaders(b"note", []))
        body = b"" if path == SKIP else request.content.read()
        content = says(request.method.decode("latin-1"), path, note, body)
        request.setHeader(b"saw", request.method)
        request.setHeader(b"content-length", str(len(content)).encode())
        return b"" if request.method == b"HEAD" else content


port = reactor.listenTCP(0, Site(_Answer(), timeout=600), interface=HOST)
ready(port.getHost().port)
reactor.run()
