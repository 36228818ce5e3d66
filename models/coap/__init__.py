"""A CoAP server with observed resources, by UDP from two clients; libcoap's example server if no other is named.

Sources: RFC 7252 (the Constrained Application Protocol) and RFC 7641 (observing resources). Message ids and the numbers
of notifications are the server's choice: an endpoint between the socket and the codec turns them into what the model
can speak of ("answers the last request", "the same message again", "older than the last").
"""

from otf.models.coap.bench import bench
from otf.models.coap.spec import coap

__all__ = ["bench", "coap"]
