"""A Redis-protocol server from PyPI, fakeredis, as a program: `python fake.py HOST PORT`."""

from __future__ import annotations

import sys

from fakeredis import TcpFakeServer

if __name__ == "__main__":
    TcpFakeServer((sys.argv[1], int(sys.argv[2])), server_type="redis").serve_forever()
