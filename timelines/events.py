"""Events of timelines and search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from social.kernel.events import Event


@dataclass(frozen=True)
class AuthorOutdated(Event):
    """More posts of an account have to be found by everybody, or by nobody any more, than are written at a time."""

    key: ClassVar[str] = "account:{account_id}"
    account_id: int


@dataclass(frozen=True)
class ListChanged(Event):
    """A list of `account_id` has other members or settings, or is gone; `concerns_home`: it is or was exclusive."""

    key: ClassVar[str] = "list:{list_id}"
    list_id: int
    account_id: int
    concerns_home: bool = False


@dataclass(frozen=True)
class ConversationChanged(Event):
    """A conversation of `account_id` has a new post."""

    key: ClassVar[str] = "account:{account_id}"
    conversation_id: int
    account_id: int
