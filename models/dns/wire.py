"""The bytes of DNS messages: headers, and names with and without compression."""

from __future__ import annotations

from otf.errors import CodecError

_POINTER = 0xC0
_MOST = 128  # labels of a name, and pointers in it


def header(number: int, flags: int, *counts: int) -> bytes:
    """Return a header: the id, the flags, and the counts of the four sections."""
    return b"".join(each.to_bytes(2, "big") for each in (number, flags, *counts))


def name_bytes(name: str) -> bytes:
    r"""Return the bytes of a name.

    >>> name_bytes("a.example.")
    b'\x01a\x07example\x00'
    """
    labels = [each.encode() for each in name.rstrip(".").split(".") if each]
    return b"".join(bytes([len(each)]) + each for each in labels) + b"\0"


class Reader:
    """Reads a message from its beginning; each read continues where the last one ended. Raises CodecError."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        taken = self._data[self.at : self.at + size]
        if len(taken) < size:
            message = f"the message of {len(self._data)} bytes ends within a field of {size} at {self.at}"
            raise CodecError(message)
        self.at += size
        return taken

    def number(self, size: int) -> int:
        """Return the number in the next bytes."""
        return int.from_bytes(self.take(size), "big")

    def name(self) -> str:
        """Return the name that begins here."""
        labels, back = list[str](), None
        for _ in range(_MOST):
            size = self.number(1)
            if size >= _POINTER:
                target = (size & 63) << 8 | self.number(1)
                back, self.at = self.at if back is None else back, target
            elif size:
                labels.append(self.take(size).decode("latin-1"))
            else:
                self.at = self.at if back is None else back
                return "".join(f"{label}." for label in labels)
        raise CodecError("a name has too many labels, or points to itself")
