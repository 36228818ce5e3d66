"""The normative sentences about a TFTP server: RFC 1350, and RFC 1123, section 4.2.3.1."""

from __future__ import annotations

from enum import Enum
from typing import Final

from otf.spec import Requirements


class Rfc(Enum):
    """A sentence each, some shortened, with its level. RFC 1350 predates the key words: a plain statement is a MUST."""

    RFC1350_4_READ = (
        "MUST",
        "A transfer is established by a request and receiving a positive reply: the first data packet for read.",
    )
    RFC1350_5_WRQ = "MUST", "A WRQ is acknowledged with an ACK packet having a block number of zero."
    RFC1350_5_ERROR = (
        "MUST",
        "If a request cannot be granted, an error packet is sent; its code says why: 1 is file not found.",
    )
    RFC1350_5_EXISTS = "MAY", "A write of a file that exists may be refused: error code 6."
    RFC1350_5_NUMBERS = (
        "MUST",
        "The block numbers on data packets begin with one and increase by one for each new block of data.",
    )
    RFC1350_5_ECHO = "MUST", "The block number in an ACK echoes the block number of the DATA packet being acknowledged."
    RFC1350_5_MODE = (
        "MUST",
        "The mode is the string netascii, octet, or mail, in any combination of upper and lower case.",
    )
    RFC1350_2_LOST = (
        "MAY",
        "If a packet gets lost, the intended recipient will timeout and may retransmit his last packet.",
    )
    RFC1350_2_AGAIN = "MUST", "A packet that comes again makes its recipient send the lost packet again."
    RFC1350_6_LAST = (
        "MUST",
        "The host sending the last DATA must retransmit it until the packet is acknowledged or it times out.",
    )
    RFC1350_6_END = (
        "MUST",
        "The end of a transfer is marked by a DATA packet that contains between 0 and 511 bytes of data.",
    )
    RFC1350_7_ERROR = "MUST", "An error packet is not acknowledged; the connection is terminated."
    RFC1123_4_2_3_1 = (
        "MUST",
        "The sender must never resend the current DATA packet on receipt of a duplicate ACK.",
    )
    RFC1350_4_TID = (
        "SHOULD",
        "Each end of a connection chooses a TID for itself, the TIDs chosen should be randomly chosen.",
        "that something is random is seen in no number of runs",
    )


TFTP_REQUIREMENTS: Final = Requirements.from_enum(Rfc)
"""The table of the bench."""
