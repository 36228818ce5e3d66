"""The packets of SSH as a framing, which handles versions, key exchange and encryption; frames are payloads.

Three frames stand for steps of the key exchange, which are inputs: HELLO sends the version and KEXINIT, EXCHANGE the
first message of Diffie-Hellman, NEWKEYS ends it. The server's identity is not checked.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from otf.errors import CodecError
from otf.framing import Frame
from otf.models.ssh.cipher import BLOCK, Counter

HELLO, NEWKEYS, EXCHANGE, ANSWER = 20, 21, 30, 31
SILENT: Final = {2, 4, 7, 53}
"""Ignore, debug, the server's extensions, and its banner: they may come at any time and mean nothing."""
VERSION: Final = b"SSH-2.0-otf"
_KEXES: Final = {b"diffie-hellman-group14-sha256": hashlib.sha256, b"diffie-hellman-group14-sha1": hashlib.sha1}
_KEYS: Final = b"rsa-sha2-256,rsa-sha2-512,ssh-rsa,ecdsa-sha2-nistp256,ssh-ed25519"
_MAC: Final = 32
_LARGEST: Final = 65_536
_GROUP: Final = int(
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD"
    "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
    "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3DC2007CB8A163BF0598DA48361C55D39A69163FA8FD24CF5F"
    "83655D23DCA3AD961C62F356208552BB9ED529077096966D670C354E4ABC9804F1746C08CA18217C32905E462E36CE3B"
    "E39E772C180E86039B2783A2EC07A28FB5C55DF06F4C52C9DE2BCBF6955817183995497CEA956AE515D2261898FA0510"
    "15728E5A8AACAA68FFFFFFFFFFFFFFFF",
    16,
)
_SECRET: Final = 0xC0FFEE << 200 | 1  # nothing sent here is secret


def string(data: bytes) -> bytes:
    """Return a string of SSH: its length, and its bytes."""
    return len(data).to_bytes(4, "big") + data


def _mpint(number: int) -> bytes:
    return string(number.to_bytes(number.bit_length() // 8 + 1, "big"))


def strings(data: bytes, count: int) -> list[bytes]:
    """Return the first strings in some bytes. Raises CodecError."""
    found, at = list[bytes](), 0
    for _ in range(count):
        size = int.from_bytes(data[at : at + 4], "big")
        found.append(data[at + 4 : at + 4 + size])
        at += 4 + size
    if at > len(data):
        message = f"{count} strings are longer than the {len(data)} bytes that hold them"
        raise CodecError(message)
    return found


def _offer() -> bytes:
    both = [b"aes128-ctr"] * 2 + [b"hmac-sha2-256"] * 2 + [b"none"] * 2 + [b""] * 2
    return bytes([HELLO]) + bytes(16) + b"".join(map(string, [b",".join(_KEXES), _KEYS, *both])) + bytes(5)


@dataclass(slots=True)
class Direction:
    """One direction of a connection: its number of packets, and its keys once it has some."""

    count: int = 0
    cipher: Counter | None = None
    key: bytes = b""

    def mac(self, packet: bytes) -> bytes:
        """Return the code of the next packet; none without keys."""
        if not self.key:
            return b""
        return hmac.digest(self.key, self.count.to_bytes(4, "big") + packet, "sha256")


class Packets:
    """The framer of one connection after another."""

    gap: float = 0.0

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._buffer = bytearray()
        self._first = b""
        self._server = self._theirs = b""
        self._out, self._in = Direction(), Direction()
        self._derived: Callable[[str], bytes] | None = None

    @property
    def unfinished(self) -> bool:
        """Return whether a packet has begun but not ended."""
        return bool(self._buffer or self._first)

    @property
    def begun(self) -> bytes:
        """Return the bytes of such a packet."""
        return self._first + bytes(self._buffer)

    def rest(self) -> list[Frame]:
        """Forget the connection, which has ended, or begins."""
        self._forget()
        return []

    def pack(self, data: bytes) -> bytes:
        """Return the packet of a payload. Raises CodecError for NEWKEYS before the exchange."""
        match list(data):
            case [20]:  # HELLO
                return VERSION + b"\r\n" + self._packet(_offer())
            case [30]:  # EXCHANGE
                return self._packet(bytes([EXCHANGE]) + _mpint(pow(2, _SECRET, _GROUP)))
            case [21]:  # NEWKEYS
                packet = self._packet(data)
                self._turn(self._out, "ACE")
                return packet
            case _:
                return self._packet(data)

    def _packet(self, payload: bytes) -> bytes:
        block = BLOCK if self._out.cipher else 8
        padding = block - (5 + len(payload)) % block
        padding += block if padding < 4 else 0  # noqa: PLR2004 -- the least that RFC 4253 allows
        packet = (1 + len(payload) + padding).to_bytes(4, "big") + bytes([padding]) + payload + bytes(padding)
        mac = self._out.mac(packet)
        self._out.count += 1
        return (self._out.cipher.turned(packet) if self._out.cipher else packet) + mac

    def feed(self, chunk: bytes) -> list[Frame]:
        """Take the next bytes of the stream; return the payloads that they complete."""
        self._buffer += chunk
        frames = list[Frame]()
        while (payload := self._next()) is not None:
            if isinstance(payload, Frame):
                return [*frames, payload]
            frames += self._taken(payload)
        return frames

    def _next(self) -> bytes | Frame | None:
        if not self._server and not self._versioned():
            return None
        block = BLOCK if self._in.cipher else 8
        if not self._first:
            if len(self._buffer) < block:
                return None
            head = bytes(self._buffer[:block])
            del self._buffer[:block]
            self._first = self._in.cipher.turned(head) if self._in.cipher else head
        size = 4 + int.from_bytes(self._first[:4], "big")
        mac = _MAC if self._in.key else 0
        if not block <= size <= _LARGEST:
            return self._broken(f"a packet of {size} bytes is impossible")
        if len(self._buffer) < size - block + mac:
            return None
        return self._whole(size - block, mac)

    def _whole(self, size: int, mac: int) -> bytes | Frame:
        tail, code = bytes(self._buffer[:size]), bytes(self._buffer[size : size + mac])
        del self._buffer[: size + mac]
        packet = self._first + (self._in.cipher.turned(tail) if self._in.cipher else tail)
        self._first = b""
        if code != self._in.mac(packet):
            return self._broken("the code of a packet is wrong")
        self._in.count += 1
        return packet[5 : len(packet) - packet[4]]

    def _broken(self, trouble: str) -> Frame:
        frame = Frame(self.begun, trouble)
        self._buffer.clear()
        self._first = b""
        return frame

    def _versioned(self) -> bool:
        """Return whether the server's version has come; lines before it are for people."""
        while (end := self._buffer.find(b"\n")) >= 0:
            line = bytes(self._buffer[:end]).rstrip(b"\r")
            del self._buffer[: end + 1]
            if line.startswith(b"SSH-"):
                self._server = line
                return True
        return False

    def _taken(self, payload: bytes) -> list[Frame]:
        kind = payload[0] if payload else 0
        if kind == HELLO:
            self._theirs = payload
            return []
        if kind == ANSWER and self._derived is None:
            return self._agreed(payload)
        if kind == NEWKEYS and self._derived is None:
            return [self._broken("new keys were not exchanged")]
        if kind == NEWKEYS:
            self._turn(self._in, "BDF")
        return [] if kind in SILENT else [Frame(payload)]

    def _agreed(self, reply: bytes) -> list[Frame]:
        try:
            self._agree(reply)
        except CodecError as error:
            return [self._broken(str(error))]
        return []

    def _agree(self, reply: bytes) -> None:
        """Compute the keys (RFC 4253, sections 7.2 and 8)."""
        key, theirs = strings(reply[1:], 2)
        names = strings(self._theirs[17:], 1)[0].split(b",")
        made: Any = next((each for name, each in _KEXES.items() if name in names), hashlib.sha256)
        shared = _mpint(pow(int.from_bytes(theirs, "big"), _SECRET, _GROUP))
        told = [VERSION, self._server, _offer(), self._theirs, key]
        exchanged = b"".join(map(string, told)) + _mpint(pow(2, _SECRET, _GROUP)) + string(theirs) + shared
        digest = made(exchanged).digest()

        def derived(letter: str) -> bytes:
            found = made(shared + digest + letter.encode() + digest).digest()
            return bytes(found + made(shared + digest + found).digest())[:_MAC]

        self._derived = derived

    def _turn(self, direction: Direction, letters: str) -> None:
        if self._derived is None:
            raise CodecError("there are no new keys: none were exchanged")
        start, key, mac = map(self._derived, letters)
        direction.cipher, direction.key = Counter(key[:BLOCK], start[:BLOCK]), mac
