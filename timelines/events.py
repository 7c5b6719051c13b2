"""Events of timelines and search."""

from social.kernel.events import Event


class AuthorOutdated(Event, key="account:{account_id}"):
    """A change affects so many posts of an account in the search index that they are indexed in several steps."""

    account_id: int


class DocumentsOutdated(Event, key="search"):
    """The search documents of posts older than `before` must be written again, because the extraction of words has changed."""

    before: int


class ListChanged(Event, key="list:{list_id}"):
    """Members or settings of an account's list changed, or the list was deleted; `concerns_home`: it is or was exclusive."""

    list_id: int
    account_id: int
    concerns_home: bool = False


class ConversationChanged(Event, key="account:{account_id}"):
    """A post was added to a conversation of `account_id`."""

    conversation_id: int
    account_id: int
