"""What RFC 9112 and RFC 9110 require of a server of HTTP/1.1: messages, their framing, and the connection.

`RFC9112_6_3_LENGTH` is of section 6.3. The sentences are shortened, without those about clients, caches and
intermediaries alone.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from otf.spec import Requirements


class HttpRule(Enum):
    """The normative sentences, by their sections."""

    RFC9112_2_2_LF = "MAY", "A recipient may recognize a single LF as a line terminator and ignore any preceding CR."
    RFC9112_2_2_CR = (
        "MUST",
        "A recipient of a bare CR must consider that element to be invalid or replace each bare CR with SP.",
    )
    RFC9112_2_2_EMPTY_LINE = (
        "SHOULD",
        "A server should ignore at least one empty line (CRLF) received prior to the request-line.",
    )
    RFC9112_2_2_SPACE = (
        "MUST",
        (
            "A recipient that receives whitespace between the start-line and the first header field must either "
            "reject the message or consume each whitespace-preceded line without further processing of it."
        ),
    )
    RFC9112_2_2_GRAMMAR = (
        "SHOULD",
        (
            "A server that receives octets that do not match the HTTP-message grammar should respond with a 400 "
            "response and close the connection."
        ),
    )
    RFC9112_3_WORDS = "MAY", "Recipients may parse the request-line on whitespace-delimited word boundaries."
    RFC9112_3_METHOD = (
        "SHOULD",
        "A server that receives a method longer than any that it implements should respond with a 501.",
    )
    RFC9112_3_TARGET = (
        "MUST",
        "A server that receives a request-target longer than any URI it wishes to parse must respond with a 414.",
    )
    RFC9112_3_8000 = "SHOULD", "Recipients support, at a minimum, request-line lengths of 8000 octets (recommended)."
    RFC9112_3_2_INVALID = (
        "SHOULD",
        "Recipients of an invalid request-line should respond with either a 400 error or a 301 redirect.",
    )
    RFC9112_3_2_HOST = (
        "MUST",
        (
            "A server must respond with a 400 to any HTTP/1.1 request that lacks a Host header field and to any "
            "request that contains more than one Host header field line or a Host header field with an invalid field "
            "value."
        ),
    )
    RFC9112_3_2_2_ABSOLUTE = "MUST", "A server must accept the absolute-form in requests."
    RFC9112_3_2_2_HOST = (
        "MUST",
        (
            "An origin server that receives an absolute-form must ignore the Host and use the host of the request- "
            "target."
        ),
        "the application of the bench does not depend on the host",
    )
    RFC9112_4_SPACE = (
        "MUST",
        (
            "A server must send the space that separates the status-code from the reason-phrase even when that is "
            "absent."
        ),
    )
    RFC9112_5_1_COLON = (
        "MUST",
        (
            "A server must reject, with a 400, any request that contains whitespace between a header field name and "
            "colon."
        ),
    )
    RFC9112_5_2_FOLD = (
        "MUST",
        (
            "A server that receives an obs-fold must either reject the message by sending a 400, or replace each "
            "received obs-fold with one or more SP octets prior to interpreting the field value."
        ),
    )
    RFC9112_6_1_CHUNKED = "MUST", "A recipient must be able to parse the chunked transfer coding."
    RFC9112_6_1_NO_CODING = (
        "MUST",
        ("A server must not send a Transfer-Encoding header field in any response with a status code of 1xx or 204."),
    )
    RFC9112_6_1_UNKNOWN = (
        "SHOULD",
        (
            "A server that receives a request message with a transfer coding it does not understand should respond "
            "with 501."
        ),
    )
    RFC9112_6_1_CODED = (
        "MUST",
        "A server must not send a response containing Transfer-Encoding unless the request indicates HTTP/1.1.",
    )
    RFC9112_6_1_BOTH = (
        "MUST",
        (
            "A server may reject a request that contains both Content-Length and Transfer-Encoding or process it by "
            "the Transfer-Encoding alone. Regardless, the server must close the connection after responding to it."
        ),
    )
    RFC9112_6_1_OLD = (
        "MUST",
        (
            "A server that receives an HTTP/1.0 message containing a Transfer-Encoding must treat it as if the "
            "framing is faulty, even if a Content-Length is present, and close the connection after processing the "
            "message."
        ),
    )
    RFC9112_6_3_FINAL = (
        "MUST",
        (
            "If a Transfer-Encoding is present in a request and the chunked transfer coding is not the final "
            "encoding, the server must respond with the 400 status code and then close the connection."
        ),
    )
    RFC9112_6_3_INVALID = (
        "MUST",
        (
            "If a message is received without Transfer-Encoding and with an invalid Content-Length, unless it is a "
            "list of values that are all valid and the same, the server must respond with a 400 and then close the "
            "connection."
        ),
    )
    RFC9112_6_3_LENGTH = (
        "MUST",
        "The decimal value of a valid Content-Length without Transfer-Encoding defines the message body length.",
    )
    RFC9112_6_3_CODED = (
        "MUST",
        (
            "If the chunked transfer coding is the final encoding, the body length is determined by decoding the "
            "chunked data."
        ),
    )
    RFC9112_6_3_NONE = "MUST", "A request with neither Transfer-Encoding nor Content-Length has no message body."
    RFC9112_6_3_INCOMPLETE = (
        "MUST",
        (
            "If the sender closes the connection before the indicated number of octets are received, the recipient "
            "must consider the message to be incomplete and close the connection."
        ),
    )
    RFC9112_6_3_411 = "MAY", "A server may reject a request that contains a body but no Content-Length with a 411."
    RFC9112_7_1_PARSE = "MUST", "A recipient must be able to parse and decode the chunked transfer coding."
    RFC9112_7_1_CHUNK = (
        "SHOULD",
        (
            "A chunk is its size in hexadecimal digits, extensions, CRLF, its data and CRLF; a server should respond"
            " to other octets with a 400 (section 2.2)."
        ),
    )
    RFC9112_7_1_2_FIELD = (
        "SHOULD",
        "Trailer fields are field lines; a server should respond to other octets with a 400 (section 2.2).",
    )
    RFC9112_7_1_LARGE = (
        "MUST",
        (
            "Recipients must anticipate potentially large hexadecimal numerals and prevent parsing errors due to "
            "overflows."
        ),
    )
    RFC9112_7_1_PARAMETERS = (
        "SHOULD",
        "The chunked coding does not define any parameters. Their presence should be treated as an error.",
    )
    RFC9112_7_1_1_IGNORE = "MUST", "A recipient must ignore unrecognized chunk extensions."
    RFC9112_7_1_2_TRAILER = (
        "MUST",
        (
            "A recipient must not merge a received trailer field into the header section unless its definition "
            "permits it."
        ),
    )
    RFC9112_9_3_PERSIST = "SHOULD", "HTTP implementations should support persistent connections."
    RFC9112_9_3_OLD = (
        "MUST",
        "After an HTTP/1.0 request without the keep-alive connection option the connection will close.",
    )
    RFC9112_9_3_READ = (
        "MUST",
        (
            "A server must read the entire request message body or close the connection after sending its response; "
            "otherwise, the remaining data would be misinterpreted as the next request."
        ),
    )
    RFC9112_9_3_2_ORDER = (
        "MUST",
        ("A server must send the responses to pipelined requests in the same order that the requests were received."),
    )
    RFC9112_9_5_ANY = "MAY", "A client or server may close the transport connection at any time."
    RFC9112_9_6_CLOSE = (
        "MUST",
        (
            "A server that receives a close connection option must initiate closure of the connection after it sends "
            "the final response to that request. It must not process any further requests received on that "
            "connection."
        ),
    )
    RFC9112_9_6_SAYS = (
        "SHOULD",
        ("A server that receives a close connection option should send one in its final response on that connection."),
    )
    RFC9112_9_6_SENT = (
        "MUST",
        (
            "A server that sends a close connection option must initiate closure of the connection after that "
            "response. It must not process any further requests received on that connection."
        ),
    )
    RFC9110_6_2_MAJOR = "MAY", "A server can send a 505 if it refuses service of the client's major protocol version."
    RFC9110_6_2_MINOR = (
        "SHOULD",
        (
            "A recipient of a message with a higher minor version should process it as if it was in the highest minor "
            "version that it implements."
        ),
    )
    RFC9110_5_4_LONG = (
        "MUST",
        "A server that receives request header fields larger than it wishes to process must respond with a 4xx.",
    )
    RFC9110_5_5_NUL = (
        "MUST",
        (
            "A recipient of CR, LF, or NUL within a field value must either reject the message or replace each of "
            "those characters with SP before further processing."
        ),
    )
    RFC9110_5_6_1_LIST = "MUST", "A recipient must parse and ignore a reasonable number of empty list elements."
    RFC9110_6_6_1_DATE = (
        "MUST",
        "An origin server with a clock must generate a Date header field in all 2xx, 3xx and 4xx responses.",
    )
    RFC9110_8_6_LARGE = (
        "MUST",
        ("A recipient must anticipate potentially large decimal numerals and prevent parsing errors due to overflows."),
    )
    RFC9110_8_6_LIST = (
        "MAY",
        ("A recipient of a Content-Length with the same value repeated may reject it or take a single instance of it."),
    )
    RFC9110_8_6_NONE = "MUST", "A server must not send a Content-Length in any response with a status of 1xx or 204."
    RFC9110_9_1_GET = "MUST", "All general-purpose servers must support the methods GET and HEAD."
    RFC9110_9_1_UNKNOWN = (
        "SHOULD",
        "An origin server that receives a request method that is not implemented should respond with the 501.",
    )
    RFC9110_9_3_1_BODY = (
        "MAY",
        "Content in a GET request might lead some implementations to reject the request and close the connection.",
    )
    RFC9110_9_3_2_HEAD = "MUST", "HEAD is identical to GET except that the server must not send content."
    RFC9110_10_1_1_OLD = (
        "MUST",
        "A server that receives a 100-continue expectation in an HTTP/1.0 request must ignore that expectation.",
    )
    RFC9110_10_1_1_OMIT = (
        "MAY",
        "A server may omit sending a 100 response if it has already received some or all of the content.",
    )
    RFC9110_10_1_1_FINAL = (
        "MUST",
        (
            "A server that sends a 100 response must ultimately send a final status code, unless the connection is "
            "closed."
        ),
    )
    RFC9110_10_1_1_SEND = (
        "MUST",
        (
            "On a 100-continue expectation an origin server must send either an immediate response with a final "
            "status code, or an immediate 100 (Continue); it must not wait for the content before sending it."
        ),
    )
    RFC9110_10_1_1_OTHER = (
        "MAY",
        "A server that receives another expectation than 100-continue may respond with a 417.",
    )
    RFC9110_6_2_VERSION = "MUST", "A server must not send a version to which it is not conformant."


HTTP_RULES: Final = Requirements.from_enum(HttpRule)
"""The table of the bench."""
