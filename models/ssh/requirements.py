"""The normative sentences about an SSH server: RFC 4252, 4253 and 4254."""

from __future__ import annotations

from enum import Enum
from typing import Final

from otf.spec import Requirements


class Ssh(Enum):
    """A sentence each, some shortened, with its level. What the text states without a key word is MUST."""

    RFC4253_7_3_NEWKEYS = "MUST", "Key exchange ends by each side sending an SSH_MSG_NEWKEYS message."
    RFC4253_10_ACCEPT = "MUST", "If the server supports the service, it MUST respond with SSH_MSG_SERVICE_ACCEPT."
    RFC4253_10_REJECT = "MUST", "If the server rejects the service request, it MUST disconnect."
    RFC4253_10_AFTER = "MUST", "After the key exchange, the client requests a service."
    RFC4253_11_2_IGNORE = "MUST", "All implementations MUST understand (and ignore) SSH_MSG_IGNORE at any time."
    RFC4253_11_4 = (
        "MUST",
        "An implementation MUST respond to all unrecognized messages with UNIMPLEMENTED, and otherwise ignore them.",
    )
    RFC4252_5_USER = (
        "MUST",
        "If it is unable to flush an authentication state, it MUST disconnect if the user or service name changes.",
    )
    RFC4252_5_NONE = "MUST", "If the user name does not exist, the authentication request MUST NOT be accepted."
    RFC4252_5_UNKNOWN = "SHOULD", "The server SHOULD simply reject requests that it does not recognize."
    RFC4252_5_1_FAILURE = (
        "MUST",
        "If the server rejects the authentication request, it MUST respond with SSH_MSG_USERAUTH_FAILURE.",
    )
    RFC4252_5_1_SUCCESS = "MUST", "When the server accepts authentication, it MUST respond with USERAUTH_SUCCESS."
    RFC4252_5_1_ONCE = "MUST", "SSH_MSG_USERAUTH_SUCCESS MUST be sent only once."
    RFC4252_6_EARLY = (
        "MUST",
        "Receiving a message number of 80 and higher before authentication is an error: the server MUST disconnect.",
    )
    RFC4252_6_CLIENT = (
        "MUST",
        "Such messages are only sent by the server; the client sends only SSH_MSG_USERAUTH_REQUEST messages.",
    )
    RFC4254_4_GLOBAL = (
        "MUST",
        "If the recipient does not recognize or support the request, it simply responds with SSH_MSG_REQUEST_FAILURE.",
    )
    RFC4254_4_SILENT = "MUST", "The recipient answers a global request if 'want reply' is TRUE."
    RFC4254_5_1_OPEN = (
        "MUST",
        "The remote side decides whether it can open the channel, and responds with OPEN_CONFIRMATION or OPEN_FAILURE.",
    )
    RFC4254_5_1_KIND = (
        "MUST",
        "If the recipient does not support the channel type, it simply responds with SSH_MSG_CHANNEL_OPEN_FAILURE.",
    )
    RFC4254_5_3_CLOSE = (
        "MUST",
        "Upon receiving SSH_MSG_CHANNEL_CLOSE, a party MUST send back an SSH_MSG_CHANNEL_CLOSE unless it has already.",
    )
    RFC4254_5_4_REQUEST = (
        "MUST",
        "If the request is not recognized or is not supported for the channel, SSH_MSG_CHANNEL_FAILURE is returned.",
    )
    RFC4254_5_4_SILENT = "MUST", "If 'want reply' is FALSE, no response will be sent to the request."


SSH_REQUIREMENTS: Final = Requirements.from_enum(Ssh)
"""The table of the bench."""
