"""A CoAP server with observed resources, over UDP from two clients; by default libcoap's example server.

Sources: RFC 7252 (the Constrained Application Protocol) and RFC 7641 (observing resources). A CoAP server chooses its
own message ids and notification numbers. The bench therefore translates them before the model sees a message, for
example into "answers the last request" or "older than the last notification".
"""

from otf.models.coap.bench import bench
from otf.models.coap.spec import coap

__all__ = ["bench", "coap"]
