"""The normative sentences about a CoAP server that the model decides: RFC 7252, and RFC 7641 on observing.

It omits rules that hold for every answer, such as repeating the request's token: otherwise a wrong code would cite them
too. A transition cites the sentence about its answer or, if it notifies of a change, the one about notifications.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from otf.spec import Requirements


class CoapRule(Enum):
    """A sentence each, most shortened, with its level. What the text states without a key word is MUST."""

    RFC7252_4_2_REJECT = (
        "MUST",
        "A recipient rejects a Confirmable message that is Empty by sending a matching Reset message, which is Empty.",
    )
    RFC7252_4_2_AGAIN = (
        "MUST",
        "The sender retransmits the Confirmable message, until it receives an acknowledgement or runs out of attempts.",
    )
    RFC7252_4_5_ONCE = (
        "SHOULD",
        "The recipient acknowledges each duplicate copy by the same Acknowledgement, but processes the request once.",
    )
    RFC7252_4_5_RELAXED = (
        "MAY",
        "This rule may be relaxed in case the Confirmable message transports a request that is idempotent.",
    )
    RFC7252_5_2_1 = (
        "MAY",
        "The protocol leaves the decision whether to piggyback a response or not to the server.",
        "both are allowed; the model leaves out the separate response",
    )
    RFC7252_5_2_3 = (
        "SHOULD",
        "If the request message is Non-confirmable, the response is returned in a Non-confirmable message as well.",
    )
    RFC7252_5_8_1 = (
        "SHOULD",
        "GET retrieves a representation of the resource; upon success, a 2.05 (Content) Response Code is present.",
    )
    RFC7252_5_8_3_CREATED = (
        "MAY",
        "If no resource exists, the server may create a new resource, resulting in the code 2.01 (Created).",
    )
    RFC7252_5_8_3_CHANGED = (
        "SHOULD",
        "If a resource exists, the representation is a modified version of it, and a 2.04 (Changed) is returned.",
    )
    RFC7252_5_8_4 = (
        "SHOULD",
        "A 2.02 (Deleted) Response Code is used on success or in case the resource did not exist before the request.",
    )
    RFC7252_5_9_2_5 = "MUST", "The Response Code 4.04 is like HTTP 404 Not Found: there is no such resource."
    RFC7641_4_1_REGISTER = (
        "MUST",
        "A GET with Observe 0 returns a current representation and adds the client to the list of observers.",
    )
    RFC7641_4_1_DECLINE = (
        "MAY",
        "A server unwilling to add an observer may process the GET as usual, without an Observe Option.",
    )
    RFC7641_4_1_REPLACE = (
        "MUST",
        "If an entry with a matching endpoint/token pair is already present, the server must replace or update it.",
    )
    RFC7641_4_1_DEREGISTER = (
        "MUST",
        "If the Observe Option in a GET is 1, the server must remove any existing entry and process the GET as usual.",
    )
    RFC7641_4_1_UPDATED = (
        "MUST",
        "The server must keep the representation updated as long as the client is on the list of observers.",
    )
    RFC7641_4_2_GONE = (
        "SHOULD",
        "If the resource is deleted, the server notifies the client, by a 4.04 for example, and removes the entry.",
    )
    RFC7641_4_4 = (
        "MUST",
        "The sequence number of a notification must be greater than that of any preceding one for the same token.",
        "each notification is checked for it, as for its token; no transition is about the number alone",
    )
    RFC7641_4_5_RESET = (
        "MUST",
        "If a client rejects a notification with a Reset message, the server must remove the entry from the list.",
    )
    RFC7641_4_5_LATEST = (
        "MUST",
        "The server must ensure that a client in the list of observers eventually observes the latest state.",
    )
    RFC7641_4_5_1 = (
        "MAY",
        "The server limits outstanding interactions to a client; a notification may wait for one to complete.",
    )


COAP_REQUIREMENTS: Final = Requirements.from_enum(CoapRule)
"""The table of the bench."""
