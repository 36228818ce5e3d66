"""A CoAP server with observed resources, over UDP from two clients; by default libcoap's example server.

Sources: RFC 7252 (the Constrained Application Protocol) and RFC 7641 (observing resources). The server chooses message
ids and the numbers of notifications: an endpoint between the socket and the codec turns them into terms of the model
("answers the last request", "the same message again", "older than the last").
"""

from otf.models.coap.bench import bench
from otf.models.coap.spec import coap

__all__ = ["bench", "coap"]
