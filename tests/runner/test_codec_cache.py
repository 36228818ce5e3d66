"""The codec cache remembers recent values and frames."""

from __future__ import annotations

import re
from typing import cast

import pytest

from otf.errors import CodecError, ModelError
from otf.runner.codec_cache import KEPT, SHORT, CodecCache


class Counting:
    """A codec of texts that counts its calls."""

    types: tuple[type, ...] = ()

    def __init__(self) -> None:
        self.asked = list[object]()

    def port(self, value: object) -> str:
        """Return the only port."""
        del value
        return "p"

    def encode(self, value: object) -> bytes:
        """Return the bytes of a text."""
        self.asked.append(value)
        return str(value).encode()

    def decode(self, port: str, data: bytes) -> object:
        """Return the text of a port and its bytes; there is none of a question mark."""
        self.asked.append(data)
        if data == b"?":
            raise CodecError("no text")
        return f"{port}: {data.decode()}"


def test_what_was_asked_is_not_asked_again() -> None:
    """One object is encoded once, and the same bytes on the same port are decoded once."""
    codec, value = Counting(), "a b"
    book = CodecCache(codec)
    assert [book.encode(value), book.encode(value)] == [b"a b"] * 2
    assert [book.decode("p", b"x"), book.decode("q", b"x"), book.decode("p", b"x")] == ["p: x", "q: x", "p: x"]
    assert codec.asked == ["a b", b"x", b"x"]


def test_what_is_raised_is_not_remembered() -> None:
    """Bytes that do not decode are tried again."""
    codec = Counting()
    book = CodecCache(codec)
    for _ in range(2):
        with pytest.raises(CodecError, match="no text"):
            book.decode("p", b"?")
    assert codec.asked == [b"?", b"?"]


def test_equal_values_of_different_types_stay_apart() -> None:
    """True is not 1: values are known by identity, not by equality."""
    book = CodecCache(Counting())
    assert [book.encode(value) for value in (True, 1, 1.0)] == [b"True", b"1", b"1.0"]


def test_an_input_without_bytes_is_an_error_of_the_bench() -> None:
    """The codec raises, has no word, or gives something else: each is told with the input."""

    class Odd(Counting):
        def encode(self, value: object) -> bytes:
            if value == "refused":
                raise CodecError("there is no such word")
            return cast("bytes", {"number": 1}[str(value)])

    for value, why in (
        ("refused", "the codec has no bytes for the input 'refused': there is no such word"),
        ("number", "the codec gave 1 for the input 'number', which is not bytes; use text.encode()\n  File"),
        ("broken", "the codec raised for the input 'broken': KeyError: 'broken'"),
    ):
        with pytest.raises(ModelError, match=re.escape(why)):
            CodecCache(Odd()).encode(value)


def test_an_output_of_another_type_is_a_mistake_of_the_codec() -> None:
    """A codec that lists its types gives none but these, and their subclasses: a list, a class, or bytes are none."""

    class Listing(Counting):
        types = (int, str)

        def decode(self, port: str, data: bytes) -> object:
            del port
            return {b"yes": True, b"list": ["yes"], b"class": int, b"bytes": b"yes"}[data]

    book = CodecCache(Listing())
    assert book.decode("p", b"yes") is True
    for data, name in ((b"list", "list"), (b"class", "type"), (b"bytes", "bytes")):
        says = rf"^the codec's decode returned .*, not a value of its `types`: add {name} to them\n.*, in decode$"
        with pytest.raises(ModelError, match=says):
            book.decode("p", data)


def test_a_long_run_does_not_fill_the_memory() -> None:
    """Long frames are not kept, and with very many short ones or values the book begins anew."""
    codec = Counting()
    book, values = CodecCache(codec), [str(number) for number in range(KEPT + 1)]
    for value in values:
        assert book.encode(value) == value.encode()
        assert book.decode("p", value.encode()) == f"p: {value}"
    asked = len(codec.asked)
    book.encode(values[-1])
    book.decode("p", values[-1].encode())
    assert len(codec.asked) == asked
    book.encode(values[0])
    book.decode("p", values[0].encode())
    assert len(codec.asked) == asked + 2
    for _ in range(2):
        book.decode("p", b"x" * (SHORT + 1))
    assert len(codec.asked) == asked + 4


def test_a_decode_that_yields_is_told() -> None:
    """It gives a generator, which is not of the codec's types."""

    class Lazy(Counting):
        types = (str,)

        def decode(self, port: str, data: bytes) -> object:
            yield port, data

    with pytest.raises(ModelError, match="not a value of its `types`: write `return`, not `yield`"):
        CodecCache(Lazy()).decode("p", b"x")
