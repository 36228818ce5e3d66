"""A live TLS 1.2 server, learnt: the records are made and read by tlslite-ng, which has to be installed for it.

`otf learn benchmarks/tls_server.py --out DIR` starts `openssl s_server` with a certificate of its own. The mapper
between names of messages and records is a framing: it has the keys of the connection, as the registers of `otf.framing`
have their values. The inputs are those with which de Ruiter and Poll learnt servers (USENIX Security 2015).
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from otf import Bench, Spec, lines
from otf.adapter import Life, Listening
from otf.adapters import tcp
from otf.framing import Frame

INPUTS: Final = [
    "ClientHello",
    "ClientKeyExchange",
    "ChangeCipherSpec",
    "Finished",
    "ApplicationData",
    "EmptyCertificate",
    "CloseNotify",
]
SUITE: Final = 0x002F  # TLS_RSA_WITH_AES_128_CBC_SHA
VERSION: Final = (3, 3)
HANDSHAKE: Final = 22
NAMES: Final = {2: "ServerHello", 11: "Certificate", 13: "CertificateRequest", 14: "ServerHelloDone", 20: "Finished"}


class _Memory:
    """The socket of a record layer: what was fed to it, and what is to be sent."""

    def __init__(self) -> None:
        self.fed = bytearray()
        self.sent = bytearray()

    def recv(self, size: int) -> bytes:
        if not self.fed:
            raise BlockingIOError(11, "nothing is there")
        data = bytes(self.fed[:size])
        del self.fed[:size]
        return data

    def send(self, data: bytes) -> int:
        self.sent += data
        return len(data)


class TlsFramer:
    """Makes records of names of messages and names of records, and keeps what a client has to know meanwhile."""

    gap: float = 0.0

    def __init__(self) -> None:
        self._messages: Any = import_module("tlslite.messages")
        self._mathtls: Any = import_module("tlslite.mathtls")
        self._memory = _Memory()
        self._layer: Any = import_module("tlslite.recordlayer").RecordLayer(self._memory)
        self._layer.version, self._layer.client = VERSION, True
        self._hashes: Any = import_module("tlslite.handshakehashes").HandshakeHashes()
        self._reading: Iterator[Any] = self._layer.recvRecord()
        self._random = bytearray(range(32))
        self._their_random = bytearray(32)
        self._master = bytearray(48)
        self._key: Any = None
        self._whole = bytearray()
        self.begun: bytes = b""

    @property
    def unfinished(self) -> bool:
        """Return whether a record has begun and not ended."""
        return bool(self._memory.fed)

    def rest(self) -> list[Frame]:
        """Return nothing: a stream may end within a record."""
        return []

    def pack(self, data: bytes) -> bytes:
        """Return the record of a message."""
        message = getattr(self, f"_{data.decode()}")()
        if message.contentType == HANDSHAKE:
            self._hashes.update(message.write())
        for _ in self._layer.sendRecord(message):
            pass
        if data == b"ClientKeyExchange":
            self._layer.calcPendingStates(SUITE, self._master, self._random, self._their_random, ["python"])
        if data == b"ChangeCipherSpec" and self._key is not None:
            self._layer.changeWriteState()
        sent, self._memory.sent = bytes(self._memory.sent), bytearray()
        return sent

    def _ClientHello(self) -> Any:  # noqa: N802 -- tlslite has no types; the names are those of the inputs
        return self._messages.ClientHello().create(VERSION, self._random, bytearray(), [SUITE, 0x00FF], extensions=[])

    def _ClientKeyExchange(self) -> Any:  # noqa: N802 -- as above
        secret = bytearray([*VERSION, *range(46)])
        made = self._messages.ClientKeyExchange(SUITE, VERSION)
        self._master = self._mathtls.calcMasterSecret(VERSION, SUITE, secret, self._random, self._their_random)
        return made.createRSA(bytearray(256) if self._key is None else self._key.encrypt(secret))

    def _ChangeCipherSpec(self) -> Any:  # noqa: N802 -- as above
        return self._messages.ChangeCipherSpec().create()

    def _Finished(self) -> Any:  # noqa: N802 -- as above
        label = b"client finished"
        data = self._mathtls.calc_key(
            VERSION, self._master, SUITE, label, handshake_hashes=self._hashes, output_length=12
        )
        return self._messages.Finished(VERSION).create(data)

    def _ApplicationData(self) -> Any:  # noqa: N802 -- as above
        return self._messages.ApplicationData().create(bytearray(b"hello\n"))

    def _EmptyCertificate(self) -> Any:  # noqa: N802 -- as above
        return self._messages.Certificate(0).create(None)

    def _CloseNotify(self) -> Any:  # noqa: N802 -- as above
        return self._messages.Alert().create(0, 1)

    def feed(self, chunk: bytes) -> list[Frame]:
        """Take the next bytes; return the names of the messages in the records that they complete."""
        self._memory.fed += chunk
        found = list[str]()
        try:
            while (got := next(self._reading)) not in {0, 1}:
                header, parser = got
                found += self._named(header, bytearray(parser.bytes[parser.index :]))
                self._reading = self._layer.recvRecord()
        except Exception as error:  # noqa: BLE001 -- of a library, which says so of a record that it cannot read
            self._reading = self._layer.recvRecord()
            self._memory.fed.clear()
            found.append(f"unreadable {type(error).__name__}")
        return [Frame(name.encode()) for name in found]

    def _named(self, header: Any, body: bytearray) -> Iterator[str]:
        if header.type == 20:  # noqa: PLR2004 -- ChangeCipherSpec
            self._layer.changeReadState()
            yield "ChangeCipherSpec"
        elif header.type == 21:  # noqa: PLR2004 -- Alert
            yield f"Alert {body[0]} {body[1]}"
        elif header.type == HANDSHAKE:
            yield from self._handshakes(body)
        else:
            yield "ApplicationData" if body else "Empty"

    def _handshakes(self, body: bytearray) -> Iterator[str]:
        self._whole += body
        while len(self._whole) >= 4 and len(self._whole) >= (size := 4 + int.from_bytes(self._whole[1:4])):  # noqa: PLR2004 -- a head
            message, self._whole = self._whole[:size], self._whole[size:]
            self._hashes.update(message)
            kind = message[0]
            if kind == 2:  # noqa: PLR2004 -- ServerHello
                self._their_random = message[6:38]
            if kind == 11:  # noqa: PLR2004 -- Certificate
                parser = import_module("tlslite.utils.codec").Parser(message[1:])
                self._key = self._messages.Certificate(0).parse(parser).cert_chain.x509List[0].publicKey
            names = {
                2: "ServerHello",
                11: "Certificate",
                14: "ServerHelloDone",
                20: "Finished",
                13: "CertificateRequest",
            }
            yield names.get(kind, f"Handshake {kind}")


@cache
def _certificate() -> tuple[TemporaryDirectory[str], Path, Path]:
    """Return the files of a key and its certificate, which go with this process."""
    folder = TemporaryDirectory()
    key, certificate = Path(folder.name) / "key.pem", Path(folder.name) / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=localhost"]
    subprocess.run([*made, "-keyout", key, "-out", certificate], check=True, capture_output=True)  # noqa: S603 -- fixed words
    return folder, key, certificate


def bench(port: int = 44330, options: str = "") -> Bench:
    """Return the bench of `openssl s_server` on a port of this machine, with more `options`."""
    _, key, certificate = _certificate()
    command = f"openssl s_server -quiet -rev -tls1_2 -accept 127.0.0.1:{port} -key {key} -cert {certificate}"
    life = Life(server=f"{command} -cipher AES128-SHA:@SECLEVEL=0 {options}", ready=Listening(port))
    framing: Callable[[], TlsFramer] = TlsFramer
    spec = Spec[None, str](lambda _state, _inp: [], None, INPUTS)
    ports = {"tls": tcp(f"127.0.0.1:{port}", framing=framing)}
    return Bench.on_ports(spec, lines({str: "{}"}), ports, life=life, name="tls_server")
