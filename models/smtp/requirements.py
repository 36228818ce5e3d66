"""The normative sentences about an SMTP server: RFC 5321, and the extensions of RFC 2920, RFC 3207 and RFC 4954."""

from __future__ import annotations

from enum import Enum
from typing import Final

from otf.spec import Requirements


class Smtp(Enum):
    """A sentence each, some shortened, with its level. What the text states without a key word is MUST."""

    RFC5321_4_3_1_GREETING = "MUST", "When the connection is made the server sends a 220 greeting."
    RFC5321_4_1_1_1_HELO = "MUST", "Servers MUST support the HELO command and reply properly to it."
    RFC5321_4_5_1_EHLO = "MUST", "The command EHLO MUST be supported; its reply is 250, with a keyword a line."
    RFC5321_4_1_4_EHLO = (
        "MUST",
        (
            "If EHLO is issued after the session begins, the server MUST clear all buffers and reset the state as if a "
            "RSET command had been issued."
        ),
    )
    RFC5321_4_1_1_5_RSET = (
        "MUST",
        "RSET: any stored sender, recipients, and mail data MUST be discarded; the receiver MUST send a 250 OK reply.",
    )
    RFC5321_4_1_1_9_NOOP = "MUST", "NOOP: the receiver sends a 250 OK reply; it does not affect any parameters."
    RFC5321_4_1_1_10_QUIT = "MUST", "QUIT: the receiver MUST send a 221 OK reply, and then close the channel."
    RFC5321_4_1_4_ANYTIME = (
        "SHOULD",
        (
            "The NOOP, HELP, EXPN, VRFY, and RSET commands can be used at any time; servers SHOULD process "
            "these normally "
            "even if no EHLO command has yet been received."
        ),
    )
    RFC5321_4_3_2_VRFY = "MUST", "VRFY: 250, 251, 252, or 550, 551, 553, 502, 504."
    RFC5321_4_3_2_HELP = "MUST", "HELP: 211, 214, or 502, 504."
    RFC5321_4_2_4_UNKNOWN = "MUST", "A command that is not recognized is answered with 500; 502 where not implemented."
    RFC5321_4_1_4_SYNTAX = (
        "MUST",
        (
            "If the transaction beginning command argument is not acceptable, a 501 failure reply MUST be "
            "returned and the "
            "server MUST stay in the same state."
        ),
    )
    RFC5321_3_3_MAIL = "MUST", "MAIL begins a transaction; if accepted, the server returns a 250 OK reply."
    RFC5321_4_1_4_ORDER = (
        "MUST",
        (
            "If the commands in a transaction are out of order to the degree that they cannot be processed, a "
            "503 failure "
            "reply MUST be returned and the server MUST stay in the same state."
        ),
    )
    RFC5321_3_3_RCPT = "MUST", "RCPT: if accepted, the server returns a 250 OK reply and stores the forward-path."
    RFC5321_3_3_RCPT_ORDER = (
        "MUST",
        (
            'If a RCPT command appears without a previous MAIL command, the server MUST return a 503 "Bad sequence of '
            'commands" response.'
        ),
    )
    RFC5321_4_5_1_POSTMASTER = "MUST", 'The special case of "RCPT TO:<Postmaster>" MUST be supported.'
    RFC5321_4_1_1_3_ROUTE = (
        "MUST",
        (
            "Receiving systems MUST recognize source route syntax but SHOULD strip off the source route; a host may "
            "reject it using a 550 code."
        ),
    )
    RFC5321_3_3_DATA = "MUST", "DATA: if accepted, the server returns a 354 Intermediate reply."
    RFC5321_3_3_DATA_EARLY = (
        "MAY",
        "If there was no MAIL, or no RCPT, command, the server MAY return 503 or 554 in response to DATA.",
    )
    RFC5321_4_1_1_4_OK = (
        "MUST",
        (
            "If the processing of the mail is successful, the receiver MUST send an OK reply, and takes full "
            "responsibility for the message."
        ),
    )
    RFC5321_4_1_1_4_CLEARED = "MUST", "On the completion of DATA the buffers are cleared."
    RFC5321_4_5_2_DOT = (
        "MUST",
        (
            "If the first character of a line is a period and there are other characters on the line, the first "
            "character "
            "is deleted. All characters are to be delivered."
        ),
    )
    RFC5321_2_3_8 = (
        "MUST",
        (
            "Conforming implementations MUST NOT recognize or generate any other character or character sequence than "
            "CRLF as a line terminator."
        ),
    )
    RFC5321_4_1_1_4_END = (
        "MUST",
        (
            'The sequence "<LF>.<LF>" (bare line feeds, without carriage returns) MUST NOT be treated as equivalent to '
            "<CRLF>.<CRLF> as the end of mail data indication."
        ),
    )
    RFC5321_4_5_3_1_4 = "MUST", "A reply that a command line shorter than 512 characters is too long is a violation."
    RFC5321_4_5_3_1_6 = "MUST", "The maximum total length of a text line including the <CRLF> is 1000 octets."
    RFC5321_4_5_3_1_8 = "MUST", "The minimum total number of recipients that MUST be buffered is 100 recipients."
    RFC2920_3_2_ORDER = "MUST", "A server with pipelining responds to commands in the order they are received."
    RFC2920_3_2_LOSE = "MUST", "It MUST NOT flush or otherwise lose the contents of the TCP input buffer."
    RFC2920_3_2_EMPTY = (
        "MUST",
        "After a positive response to a DATA command with no valid recipients it sends no message to anybody.",
    )
    RFC3207_4_READY = "MUST", "The server responds to STARTTLS with 220, 501 or 454; the negotiation follows a 220."
    RFC3207_4_2_DISCARD = (
        "MUST",
        (
            "Upon completion of the TLS handshake, the protocol is reset to the initial state; the server MUST "
            "discard any "
            "knowledge obtained from the client, such as the argument to the EHLO command."
        ),
    )
    RFC3207_4_2_OFFER = (
        "MUST",
        "A server MUST NOT return the STARTTLS extension in response to an EHLO command after a TLS handshake.",
    )
    RFC4954_4_OK = "MUST", "If the client completes the exchange, the server issues a 235 reply."
    RFC4954_4_TWICE = (
        "MUST",
        "After a successful AUTH command completes, a server MUST reject any further AUTH commands with a 503 reply.",
    )
    RFC4954_4_MAIL = "MUST", "An AUTH command issued during a mail transaction MUST be rejected with a 503 reply."
    RFC4954_4_MECHANISM = "MUST", "If the mechanism is not supported, the server rejects AUTH with a 504 reply."
    RFC4954_4_CHALLENGE = "MUST", "Without an initial response the server sends a challenge: a 334 reply."
    RFC4954_4_CANCEL = "MUST", 'A line with a single "*": the server MUST reject the AUTH command with a 501 reply.'
    RFC4954_4_BASE64 = "MUST", "If the server cannot decode a response, it MUST reject AUTH with a 501 reply."
    RFC4954_4_FAILED = (
        "SHOULD",
        (
            "If the server is unable to authenticate the client, it SHOULD reject the AUTH command with a 535 "
            "reply unless "
            "a more specific error code is appropriate."
        ),
    )
    RFC5321_4_5_3_2_TIMEOUT = (
        "SHOULD",
        "An SMTP server SHOULD have a timeout of at least 5 minutes while it is awaiting the next command.",
        "a path ends sooner",
    )
    RFC5321_4_1_1_4_TRACE = (
        "MUST",
        "When the server accepts a message for relaying or final delivery, it inserts a trace record.",
        "the spool has what the library hands to its user, who adds the record",
    )


SMTP_REQUIREMENTS: Final = Requirements.from_enum(Smtp)
"""The table of the bench."""
