"""AES-128 in counter mode, enough for the few packets of a path without installing a library."""

from __future__ import annotations

from functools import cache
from typing import Final

BLOCK: Final = 16
_ROUNDS: Final = 10
_SHIFTED: Final = tuple((4 * (column + row) + row) % BLOCK for column in range(4) for row in range(4))


def _doubled(byte: int) -> int:
    return (byte << 1) ^ (0x11B if byte & 0x80 else 0)


@cache
def _substitutes() -> bytes:
    """Return the S-box (FIPS 197, section 5.1.1): the inverse of each byte, and an affine map."""
    powers = [1]
    while len(powers) < 255:  # noqa: PLR2004 -- all bytes but 0 are powers of 3
        powers.append(powers[-1] ^ _doubled(powers[-1]))
    box = bytearray(256)
    box[0] = 0x63
    for exponent, byte in enumerate(powers):
        inverse = powers[-exponent % 255]
        box[byte] = 0x63
        for turn in range(5):
            box[byte] ^= (inverse << turn | inverse >> (8 - turn)) & 0xFF
    return bytes(box)


def _schedule(key: bytes) -> list[bytes]:
    words, constant, box = [key[at : at + 4] for at in range(0, BLOCK, 4)], 1, _substitutes()
    while len(words) < 4 * (_ROUNDS + 1):
        word = words[-1]
        if len(words) % 4 == 0:
            word = bytes(box[byte] for byte in word[1:] + word[:1])
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = _doubled(constant)
        words.append(bytes(a ^ b for a, b in zip(words[-4], word, strict=True)))
    return [b"".join(words[at : at + 4]) for at in range(0, len(words), 4)]


def _mixed(column: bytes) -> bytes:
    every = column[0] ^ column[1] ^ column[2] ^ column[3]
    return bytes(byte ^ every ^ _doubled(byte ^ column[(row + 1) % 4]) & 0x1FF for row, byte in enumerate(column))


class Counter:
    """Encrypts or decrypts one direction of a connection.

    >>> Counter(bytes(range(16)), bytes.fromhex("00112233445566778899aabbccddeeff")).turned(bytes(16)).hex()
    '69c4e0d86a7b0430d8cdb78070b4c55a'
    """

    def __init__(self, key: bytes, start: bytes) -> None:
        self._keys = _schedule(key)
        self._next = int.from_bytes(start, "big")

    def turned(self, data: bytes) -> bytes:
        """Return whole blocks, encrypted or decrypted, which is the same."""
        stream = b"".join(self._block() for _ in range(0, len(data), BLOCK))
        return bytes(a ^ b for a, b in zip(data, stream, strict=True))

    def _block(self) -> bytes:
        counter = (self._next % (1 << 128)).to_bytes(BLOCK, "big")
        self._next += 1
        box, block = _substitutes(), _added(counter, self._keys[0])
        for key in self._keys[1:-1]:
            shifted = bytes(box[block[at]] for at in _SHIFTED)
            block = _added(b"".join(_mixed(shifted[at : at + 4]) for at in range(0, BLOCK, 4)), key)
        return _added(bytes(box[block[at]] for at in _SHIFTED), self._keys[-1])


def _added(one: bytes, two: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, two, strict=True))
