"""The chat over WebSocket: who gets a message, and who may miss it."""

import pytest

from otf.codec.web import WsOpen, WsOpened, WsPing, WsPong, WsText
from otf.models.chat import bench
from otf.models.chat.spec import ChatMessage, Client
from tests.models.scripts import judged


def _text(client: Client, text: str = "hello") -> ChatMessage:
    return ChatMessage(client, WsText(text))


ANN = (ChatMessage("ann", WsOpen("/")), ChatMessage("ann", WsOpened()))
BOB = (ChatMessage("bob", WsOpen("/")), ChatMessage("bob", WsOpened()))
BOB_IS_IN = (ChatMessage("bob", WsPing(b"")), ChatMessage("bob", WsPong(b"")))
MISSED = (_text("ann"), _text("ann"))
HEARD = (_text("ann"), _text("ann"), _text("bob"))


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ([ANN, MISSED], "pass"),
        ([ANN, BOB, HEARD], "pass"),
        ([ANN, BOB, MISSED], "pass"),  # the server may answer an opening before it enters the client in its list
        ([ANN, BOB, MISSED, MISSED], "pass"),
        ([ANN, BOB, HEARD, MISSED], "fail"),
        ([ANN, BOB, BOB_IS_IN, HEARD], "pass"),
        ([ANN, BOB, BOB_IS_IN, MISSED], "fail"),
        ([ANN, BOB, (_text("bob"), _text("bob"), _text("ann"))], "pass"),
        ([ANN, BOB, (_text("bob"), _text("ann"))], "fail"),
        ([BOB, ANN, BOB_IS_IN, (_text("bob"), _text("bob"))], "pass"),
        ([ANN, HEARD], "fail"),
    ],
)
def test_a_message_reaches_all_who_are_known_to_be_in_the_list(script: list[tuple[object, ...]], outcome: str) -> None:
    """A client that has just entered may miss what others say, until it has heard or said something."""
    assert judged(bench(), *script) == outcome
