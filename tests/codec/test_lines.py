"""Lines of text: each dataclass has a pattern with its fields in braces."""

from __future__ import annotations

import dataclasses
import math
import time
from contextlib import suppress
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otf.codec import Codec, LineCodec, PortAction, lines
from otf.errors import CodecError, UsageError


@dataclass(frozen=True)
class Coin:
    cents: int


@dataclass(frozen=True)
class Button:
    pass


@dataclass(frozen=True)
class Says:
    who: str
    what: str


@dataclass(frozen=True)
class Weighs:
    kilograms: float
    sure: int = 1


@dataclass(frozen=True)
class Even:
    number: int

    def __post_init__(self) -> None:
        """Refuse odd numbers."""
        if self.number % 2:
            message = "it is odd"
            raise ValueError(message)


@dataclass(frozen=True)
class Cached:
    text: str
    length: int = field(init=False, default=0)


@dataclass(frozen=True)
class Flagged:
    on: bool


@dataclass(frozen=True)
class Table:
    rows: tuple[int, ...]


PATTERNS: dict[type, str] = {
    Coin: "coin {cents}",
    Button: "button",
    Weighs: '{"kg": {kilograms}, "sure": {sure}}',
    Even: "even {number}",
    Cached: "[{text}]",
    Says: "{who}: {what}",
}
CODEC = lines(PATTERNS, port="line")
WORDS = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]))
NAMES = WORDS.filter(lambda text: ": " not in text and not text.endswith(":"))
VALUES = (
    st.builds(Coin, st.integers(-(10**3999), 10**3999))
    | st.just(Button())
    | st.builds(Weighs, st.floats(allow_nan=False), st.integers())
    | st.builds(Even, st.integers().map(lambda number: 2 * number))
    | st.builds(Cached, WORDS)
)


def written(codec: LineCodec, value: object) -> bytes:
    """The line of a value."""
    line = codec.encode(value)
    assert isinstance(line, bytes)
    return line


@given(VALUES)
def test_what_was_encoded_is_decoded(value: object) -> None:
    """Numbers of all sizes, infinities, texts with braces and brackets."""
    assert CODEC.decode("line", written(CODEC, value)) == value


@given(NAMES, WORDS)
def test_the_text_between_two_fields_separates_them(who: str, what: str) -> None:
    """If the first text does not contain the separator, there is only one way to read a line."""
    codec = lines({Says: "{who}: {what}"})
    assert codec.decode("", written(codec, Says(who, what))) == Says(who, what)


@given(st.binary())
def test_bytes_become_a_value_or_a_codec_error(data: bytes) -> None:
    """Any bytes of a system are decoded, or raise a CodecError."""
    with suppress(CodecError):
        assert type(CODEC.decode("line", data)) in CODEC.types


def test_a_codec_tells_its_port_and_its_types() -> None:
    """All values have the same port: the named one, or the only one."""
    codec: Codec = CODEC
    assert codec.port(Button()) == "line"
    assert lines(PATTERNS).port(Button()) == ""
    assert codec.types == tuple(PATTERNS)


def test_nan_is_a_number_too() -> None:
    """A line may contain nan as a float."""
    weighs = CODEC.decode("", b'{"kg": nan, "sure": -1}')
    assert isinstance(weighs, Weighs)
    assert math.isnan(weighs.kilograms)
    assert weighs.sure == -1


@pytest.mark.parametrize("text", ["1", "-1.5", "+.5", "1.", "1e9", "2.5E-3", "inf", "-inf"])
def test_numbers_are_read_as_people_write_them(text: str) -> None:
    """With and without point, exponent and sign."""
    assert CODEC.decode("", f'{{"kg": {text}, "sure": 1}}'.encode()) == Weighs(float(text))


@pytest.mark.parametrize(
    "data", [b"coin", b"coin 5 ", b"coin five", b"coin 1_0", "coin \u0663".encode(), b"coin " + b"1" * 4001]
)
def test_a_line_that_fits_no_pattern_is_refused(data: bytes) -> None:
    """The whole line must match; digits are ASCII, and not too many."""
    with pytest.raises(CodecError, match="matches no pattern of Coin, Button, Weighs, Even, Cached, Says"):
        CODEC.decode("", data)


def test_bytes_that_are_no_text_are_refused() -> None:
    """The codec's encoding counts."""
    with pytest.raises(CodecError, match="'utf-8' codec can't decode byte 0xff"):
        CODEC.decode("", b"\xff")
    assert lines({Cached: "{text}"}, encoding="latin-1").decode("", b"\xff") == Cached("ÿ")


def test_a_line_that_the_type_refuses_is_refused() -> None:
    """What `__post_init__` raises becomes a codec error, so that the bytes are shown."""
    with pytest.raises(CodecError, match="the line 'even 3' is not a valid Even: it is odd"):
        CODEC.decode("", b"even 3")


def test_a_line_that_fits_nowhere_is_refused_at_once() -> None:
    """16 KiB of spaces in a pattern of two texts took over 20 s."""
    began = time.process_time()
    with pytest.raises(CodecError, match="matches no pattern of Says"):
        lines({Says: "{who} {what}"}).decode("", b" " * 16_384 + b"\n")
    assert time.process_time() - began < 1


def test_a_value_without_a_pattern_is_refused() -> None:
    """The message names the known patterns."""
    with pytest.raises(CodecError, match=r"no line pattern for Flagged\(on=True\); there are patterns for Coin"):
        CODEC.encode(Flagged(on=True))


@pytest.mark.parametrize("text", ["two\nlines", "two\rlines"])
def test_a_value_of_two_lines_is_refused(text: str) -> None:
    """A text with a line end would be read as two values."""
    with pytest.raises(CodecError, match="is more than one line"):
        CODEC.encode(Cached(text))


def test_a_value_that_the_encoding_lacks_is_refused() -> None:
    """Half a surrogate pair has no UTF-8."""
    with pytest.raises(CodecError, match=r"cannot be written: 'utf-8' codec can't encode"):
        CODEC.encode(Cached("\ud800"))


@pytest.mark.parametrize(
    ("kind", "pattern", "message"),
    [
        (Coin, "coin", "the pattern 'coin' must name each field of Coin once, in braces; Coin has {cents}"),
        (Coin, "{cents} {cents}", "must name each field of Coin once"),
        (Coin, "{cents} {euros}", "must name each field of Coin once"),
        (Coin, "{cents!r}", "; {cents!r} has a format, which a pattern cannot have: write {cents}; Coin has"),
        (Coin, "coin {cens}", "once, in braces; did you mean {cents}? Coin has {cents}"),
        (Coin, "coin {cents", "once, in braces; a brace is not closed, or not opened; Coin has {cents}"),
        (Flagged, "{on}", "Flagged.on: a line can carry int, float and str, not <class 'bool'>; write a codec"),
        (Table, "{rows}", "Table.rows: a line can carry int, float and str, not tuple[int, ...]"),
        (bytes, "{}", "bytes is not a dataclass"),
        (Coin, "coin {cents}\n", "has a line end, which the framing adds; leave it out"),
        (Button, "{x}", "must name each field of Button once, in braces; Button has no field"),
        (int, "number", "the pattern 'number' must have the place of the int once, as {}"),
    ],
)  # fmt: skip
def test_a_pattern_that_cannot_work_is_refused_at_once(kind: type, pattern: str, message: str) -> None:
    """A wrong pattern is refused when the codec is made."""
    with pytest.raises(UsageError) as raised:
        lines({kind: pattern})
    assert message in str(raised.value)


def test_an_unknown_encoding_is_refused_at_once() -> None:
    """Not by the first value in a run."""
    with pytest.raises(UsageError, match=r"^lines: encoding='utf-9': Python has no such encoding; try utf-8$"):
        lines({Coin: "coin {cents}"}, encoding="utf-9")


def test_two_dataclasses_with_one_pattern_are_refused() -> None:
    """No line would ever be read as the second, so a right answer would fail; two port actions do not differ."""
    message = (
        r"Price and Coin have the same pattern, 'coin \{cents\}': no line would be read as a Price; use one dataclass"
    )
    price = dataclasses.make_dataclass("Price", [("cents", int)], frozen=True)
    with pytest.raises(UsageError, match=message):
        lines({Coin: "coin {cents}", price: "coin {cents}"})
    assert lines({Coin: PortAction.CLOSE, price: PortAction.CLOSE}).types == (Coin, price)


def test_a_field_names_the_port() -> None:
    """With several ports, a field of every message is the port: no pattern has it, and decoding fills it in."""
    codec = lines({Button: PortAction.CLOSE, Says: "say {what}"}, port_field="who")
    assert (codec.port(Says("ann", "hi")), codec.encode(Says("ann", "hi"))) == ("ann", b"say hi")
    assert codec.decode("bob", b"say hi") == Says("bob", "hi")
    assert codec.port(Button()) == ""


@pytest.mark.parametrize("pattern", ["{who} {what}", "say"])
def test_a_pattern_without_its_port_field_is_refused(pattern: str) -> None:
    """The pattern has all fields but that of the port, and there is either one port or such a field."""
    with pytest.raises(UsageError, match="each field of Says but who, which it must have, once"):
        lines({Says: pattern}, port_field="who")
    with pytest.raises(UsageError, match="not both"):
        lines({Says: "{what}"}, port="line", port_field="who")


def test_a_field_of_another_type_never_comes() -> None:
    """A model that expects it would fail every system; what `__post_init__` makes of a field is not known."""
    codec = lines({Weighs: "{kilograms} {sure}", Even: "even {number}"})
    assert codec.misfit(Weighs(1)) == "Weighs.kilograms is always decoded as float, and is 1 here"
    assert codec.misfit(Weighs(1.0)) == codec.misfit(Even(2.0)) == codec.misfit("even") == ""  # type: ignore[arg-type]


def test_plain_text_and_numbers_are_values_too() -> None:
    """The first pattern that fits decides; braces in the text are text."""
    codec = lines({int: "n={}", str: "{}"})
    assert (codec.encode(-5), codec.encode("{} n=5 {cents}")) == (b"n=-5", b"{} n=5 {cents}")
    assert [codec.decode("", each) for each in (b"n=-5", b"n=five", b"")] == [-5, "n=five", ""]
    with pytest.raises(CodecError, match="more than one line"):
        codec.encode("a\nb")


@dataclass(frozen=True)
class Misnamed:
    """A field of a type that Python does not have."""

    rows: strr  # type: ignore[name-defined] # pyright: ignore[reportUndefinedVariable] # noqa: F821 -- tested


def test_an_annotation_that_cannot_be_read_is_named_with_its_field() -> None:
    """Python's own error names neither the class nor the field."""
    message = "^lines: the annotation of Misnamed.rows cannot be read: name 'strr' is not defined; did you mean str?"
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        lines({Misnamed: "{rows}"})
