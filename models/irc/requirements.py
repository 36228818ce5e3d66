"""The normative sentences of RFC 2812 (Internet Relay Chat: client protocol) that the model decides.

The number is that of the section or, in section 5, of the reply. Some sentences are shortened. The RFC has few key
words; its plain statements count as MUST.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from otf.spec import Requirements


class IrcRule(Enum):
    """A sentence each, with its level."""

    RFC2812_3_2_BACK = (
        "MAY",
        "When the server grants the request, the message is typically sent back to the user.",
        "typically: where a request changes nothing, the model allows an answer and none",
    )
    RFC2812_3_2_1_JOIN = (
        "MUST",
        "The user receives a JOIN message as confirmation, then the topic and the list of users on the channel.",
    )
    RFC2812_3_2_1_INFORMED = (
        "MUST",
        "A user who has joined receives information about all commands affecting the channel, MODE among them.",
    )
    RFC2812_3_2_2_PART = (
        "MUST",
        "PART causes the user to be removed from the list of active members. This request is always granted.",
    )
    RFC2812_3_2_4_VIEW = "MUST", "The topic for channel <channel> is returned if there is no <topic> given."
    RFC2812_3_2_4_CHANGE = (
        "MUST",
        "If the <topic> parameter is present, the topic will be changed, if this action is allowed for the user.",
    )
    RFC2812_3_2_4_REMOVE = (
        "MUST",
        "If the <topic> parameter is an empty string, the topic for that channel will be removed.",
    )
    RFC2812_3_2_5_NAMES = "MUST", "By using NAMES, a user can list all nicknames that are visible to him."
    RFC2812_3_2_5_BAD = "MUST", "There is no error reply for bad channel names."
    RFC2812_3_2_7_ANY = (
        "MUST",
        "There is no requirement that the channel the user is being invited to must exist or be a valid channel.",
    )
    RFC2812_3_2_7_MEMBERS = (
        "MUST",
        "If the channel exists, only members of the channel are allowed to invite other users.",
    )
    RFC2812_3_2_7_OPERATORS = (
        "MUST",
        "When the channel has invite-only flag set, only channel operators may issue INVITE command.",
    )
    RFC2812_3_2_7_NOTIFIED = (
        "MUST",
        "Only the user inviting and the user being invited will receive notification of the invitation.",
    )
    RFC2812_3_2_8_KICK = "MUST", "KICK causes the <user> to PART from the <channel> by force."
    RFC2812_3_3_1_CHANNEL = "MUST", "PRIVMSG is used to send messages to channels."
    RFC2812_3_3_1_USER = "MUST", "PRIVMSG is used to send private messages between users."
    RFC2812_5_1_331 = "MUST", "If the topic is set, RPL_TOPIC is sent back, else RPL_NOTOPIC."
    RFC2812_5_1_341 = (
        "MUST",
        "RPL_INVITING, with channel and nick: the attempted INVITE was successful and is being passed onto the client.",
    )
    RFC2812_5_2_401 = "MUST", "ERR_NOSUCHNICK: the nickname parameter supplied to a command is currently unused."
    RFC2812_5_2_403 = "MUST", "ERR_NOSUCHCHANNEL: the given channel name is invalid."
    RFC2812_5_2_421 = "MUST", "ERR_UNKNOWNCOMMAND: the command sent is unknown by the server."
    RFC2812_5_2_431 = "MUST", "ERR_NONICKNAMEGIVEN: a nickname parameter is expected for a command and isn't found."
    RFC2812_5_2_432 = "MUST", "ERR_ERRONEUSNICKNAME: NICK contains characters which do not fall in the defined set."
    RFC2812_5_2_433 = (
        "MUST",
        "ERR_NICKNAMEINUSE: NICK results in an attempt to change to a currently existing nickname.",
    )
    RFC2812_5_2_441 = "MUST", "ERR_USERNOTINCHANNEL: the target user of the command is not on the given channel."
    RFC2812_5_2_442 = (
        "MUST",
        "ERR_NOTONCHANNEL: a client tries to perform a channel affecting command for which it isn't a member.",
    )
    RFC2812_5_2_443 = "MUST", "ERR_USERONCHANNEL: a client tries to invite a user to a channel they are already on."
    RFC2812_5_2_461 = "MUST", "ERR_NEEDMOREPARAMS: the client didn't supply enough parameters."
    RFC2812_5_2_473 = "MUST", "ERR_INVITEONLYCHAN: Cannot join channel (+i)."
    RFC2812_5_2_482 = (
        "MUST",
        "Any command requiring chanop privileges MUST return this error if the client is not a chanop on the channel.",
    )


OF_ERRORS: Final = {
    "401": IrcRule.RFC2812_5_2_401,
    "403": IrcRule.RFC2812_5_2_403,
    "404": IrcRule.RFC2812_5_2_401,
    "421": IrcRule.RFC2812_5_2_421,
    "431": IrcRule.RFC2812_5_2_431,
    "432": IrcRule.RFC2812_5_2_432,
    "433": IrcRule.RFC2812_5_2_433,
    "441": IrcRule.RFC2812_5_2_441,
    "442": IrcRule.RFC2812_5_2_442,
    "443": IrcRule.RFC2812_5_2_443,
    "461": IrcRule.RFC2812_5_2_461,
    "473": IrcRule.RFC2812_5_2_473,
    "482": IrcRule.RFC2812_5_2_482,
}
"""The sentence on each error; to many servers an unknown nickname and an unknown channel are the same."""

IRC_REQUIREMENTS: Final = Requirements.from_enum(IrcRule)
"""The table of the bench."""
