"""A CoAP server with observed resources, over UDP from two clients; by default libcoap's example server.

`otf run coap --set server='my-server {host} {port}'` tests a server of your own. Sources: RFC 7252 (the Constrained
Application Protocol) and RFC 7641 (observing resources). A CoAP server chooses its own message ids and notification
numbers. The bench therefore translates message ids and notification numbers into terms of the model, for example into
"older than the last notification".
"""

from otf.models.coap.bench import bench
from otf.models.coap.spec import coap

__all__ = ["bench", "coap"]
