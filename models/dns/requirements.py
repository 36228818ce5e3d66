"""The normative sentences about a name server: RFC 1034 and 1035, RFC 2181, 4343, 6891 and 7766."""

from __future__ import annotations

from enum import Enum
from typing import Final

from otf.spec import Requirements


class Dns(Enum):
    """A sentence each, some shortened, with its level. Older texts have no key words: a plain statement is a MUST."""

    RFC1035_4_1_1_ID = "MUST", "The identifier of a query is copied into the corresponding reply."
    RFC1035_4_1_1_OPCODE = "MUST", "OPCODE is set by the originator of a query and copied into the response."
    RFC1035_4_1_1_RD = "MUST", "Recursion Desired may be set in a query and is copied into the response."
    RFC1035_4_1_1_QR = "MUST", "QR specifies whether this message is a query (0), or a response (1)."
    RFC1035_4_1_1_AA = (
        "MUST",
        "AA specifies that the responding name server is an authority for the domain name in the question section.",
    )
    RFC1035_4_1_1_FORMAT = "MUST", "Code 1, format error: the name server was unable to interpret the query."
    RFC1035_4_1_1_NAME = "MUST", "Code 3, name error: the domain name referenced in the query does not exist."
    RFC1035_4_1_1_KIND = "MUST", "Code 4: the name server does not support the requested kind of query."
    RFC1035_6_4_INVERSE = (
        "MUST",
        "If a name server receives an inverse query that it does not support, it returns Not Implemented.",
    )
    RFC1034_3_7_QUESTION = "MUST", "The question section carries the query name and other query parameters."
    RFC1034_3_7_ANSWER = "MUST", "The answer section carries RRs which directly answer the query."
    RFC1034_4_3_2_ALIAS = (
        "MUST",
        "If the data is a CNAME, copy it into the answer section, change QNAME to the canonical name, and start again.",
    )
    RFC1034_4_3_2_EMPTY = "MUST", "Of the records of a name only those that match QTYPE are copied into the answer."
    RFC1035_2_3_3 = "MUST", "All comparisons between domain names are done in a case-insensitive manner."
    RFC4343_4 = "MUST", "Case MUST be preserved on output and preserved when convenient on input."
    RFC1035_4_2_1 = (
        "MUST",
        "Messages carried by UDP are restricted to 512 bytes. Longer messages are truncated and the TC bit is set.",
    )
    RFC1035_6_2 = (
        "SHOULD",
        "The truncation should start at the end of the response and work forward in the datagram.",
    )
    RFC2181_9 = "SHOULD", "The TC bit should be set only when an RRSet could not be included in its entirety."
    RFC1035_4_2_2 = "MUST", "A message over TCP is prefixed with a two byte length field."
    RFC7766_5_TCP = "MUST", "Authoritative server implementations MUST support TCP."
    RFC7766_6_2_1 = "SHOULD", "Servers SHOULD support sending multiple queries over a single persistent connection."
    RFC7766_6_2_1_1 = "SHOULD", "The server SHOULD answer all pipelined queries, even in quick succession."
    RFC7766_8 = (
        "MUST",
        'DNS servers MUST NOT close a connection simply because the first "read" does not contain the entire message.',
    )
    RFC6891_6_1_1 = "MUST", "If an OPT record is present in a request, responders MUST include an OPT record."
    RFC6891_6_1_1_TWO = "MUST", "If a query with more than one OPT RR is received, a FORMERR MUST be returned."
    RFC6891_6_1_2 = "MUST", "Any OPTION-CODE values not understood by a responder MUST be ignored."
    RFC6891_6_1_3 = (
        "MUST",
        "If a responder does not implement the VERSION level of the request, it MUST respond with RCODE=BADVERS.",
    )
    RFC6891_6_2_3 = "MUST", "A payload size lower than 512 MUST be treated as equal to 512."
    RFC6891_7_NONE = "MUST", "Without an OPT record in a request the responder MUST NOT include one in its response."
    RFC6891_7_FORMERR = (
        "MUST",
        (
            "Responders that choose not to implement the extension MUST respond with FORMERR to an OPT record, and "
            "MUST NOT include one in the response."
        ),
    )
    RFC1035_4_1_1_RA = (
        "MUST",
        "RA denotes whether recursive query support is available in the name server.",
        "a server with one zone may offer recursion or not",
    )
    RFC2308_3 = (
        "MUST",
        "Name servers authoritative for a zone MUST include the SOA record in the authority section of a name error.",
        "the zone may be of a program that has no such record",
    )


DNS_REQUIREMENTS: Final = Requirements.from_enum(Dns)
"""The table of the bench."""
