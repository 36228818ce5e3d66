"""What RFC 6455 requires of a WebSocket server; the sentences are shortened."""

from __future__ import annotations

from enum import Enum
from typing import Final

from otf.spec import Requirements


class WsRule(Enum):
    """The normative sentences, by section, without those about clients and intermediaries alone."""

    RFC6455_4_2_1 = (
        "MUST",
        (
            "If the client did not send a handshake that matches the description, the server must return an HTTP"
            " response with an appropriate error code (such as 400 Bad Request)."
        ),
    )
    RFC6455_4_2_2_ACCEPT = "MUST", "The server must answer with 101, and a Sec-WebSocket-Accept made of the key."
    RFC6455_4_2_2_VERSION = (
        "MUST",
        (
            "If the version is not understood by the server, it must send an appropriate HTTP error code (such as 426)"
            " and a Sec-WebSocket-Version header field with the versions that it understands."
        ),
    )
    RFC6455_4_2_2_PROTOCOL = "MUST", "The subprotocol must be one of those in the client's handshake."
    RFC6455_4_2_2_EXTENSIONS = "MUST", "The extensions must be derived from the client's handshake."
    RFC6455_5_1_UNMASKED = "MUST", "The server must close the connection upon receiving a frame that is not masked."
    RFC6455_5_1_MASK = "MUST", "A server must not mask any frames that it sends to the client."
    RFC6455_5_2_RESERVED = (
        "MUST",
        "If a nonzero RSV value is received and no extension defines it, the endpoint must fail the connection.",
    )
    RFC6455_5_2_OPCODE = "MUST", "If an unknown opcode is received, the receiving endpoint must fail the connection."
    RFC6455_5_2_LENGTH = "MUST", "In all cases, the minimal number of bytes must be used to encode the length."
    RFC6455_5_4_INTERLEAVED = (
        "MUST",
        "The fragments of one message must not be interleaved between the fragments of another message.",
    )
    RFC6455_5_4_CONTROL = "MUST", "An endpoint must be capable of handling control frames in a fragmented message."
    RFC6455_5_4_BOTH = "MUST", "Servers must support receiving both fragmented and unfragmented messages."
    RFC6455_5_5_CONTROL = (
        "MUST",
        "All control frames must have a payload length of 125 bytes or less and must not be fragmented.",
    )
    RFC6455_5_5_1_BODY = "MUST", "If there is a body of a Close frame, its first two bytes must be a status code."
    RFC6455_5_5_1_ANSWER = (
        "MUST",
        "An endpoint that receives a Close frame and did not send one before must send a Close frame in response.",
    )
    RFC6455_5_5_1_TCP = (
        "MUST",
        "After both sending and receiving a Close message, the server must close the TCP connection immediately.",
    )
    RFC6455_5_5_2_PONG = "MUST", "Upon receipt of a Ping, an endpoint must send a Pong, unless it received a Close."
    RFC6455_5_5_3_SAME = "MUST", "A Pong must have the same application data as the Ping that it answers."
    RFC6455_5_5_3_LAST = "MAY", "An endpoint may send a Pong for only the most recently processed Ping."
    RFC6455_5_5_3_NONE = "MAY", "A Pong may be sent unsolicited; a response to it is not expected."
    RFC6455_5_6_TEXT = "MUST", "The whole message of text must contain valid UTF-8."
    RFC6455_6_2_MASK = "MUST", "A server must remove masking for data frames received from a client."
    RFC6455_7_1_7_FRAME = "SHOULD", "Before it fails the connection, an endpoint should send a Close frame with a code."
    RFC6455_7_1_7_STOP = (
        "MUST",
        "An endpoint must not continue to process data from the remote endpoint after failing the connection.",
    )
    RFC6455_7_4_1_RESERVED = (
        "MUST",
        "1005, 1006 and 1015 must not be set as a status code in a Close control frame by an endpoint.",
    )
    RFC6455_8_1 = "MUST", "An endpoint that finds a byte stream that is not valid UTF-8 must fail the connection."
    RFC6455_10_RANDOM = (
        "MUST",
        "Masking keys must be derived from a strong source of entropy.",
        "a server sends none",
    )


WS_RULES: Final = Requirements.from_enum(WsRule)
"""The table of the bench."""
