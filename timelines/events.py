"""Events of timelines and search."""

from __future__ import annotations

from social.kernel.events import Event


class AuthorOutdated(Event, key="account:{account_id}"):
    """Change of so many posts of an account in the search index that they are written in several steps."""

    account_id: int


class DocumentsOutdated(Event, key="search"):
    """Documents that search keeps of posts older than `before` are to be written again: words are taken in another way."""

    before: int


class ListChanged(Event, key="list:{list_id}"):
    """A list of `account_id` has other members or settings, or is gone; `concerns_home`: it is or was exclusive."""

    list_id: int
    account_id: int
    concerns_home: bool = False


class ConversationChanged(Event, key="account:{account_id}"):
    """A conversation of `account_id` has a new post."""

    conversation_id: int
    account_id: int
