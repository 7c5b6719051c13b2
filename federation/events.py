"""Events of federation that its own workers handle."""

from __future__ import annotations

from social.kernel.events import Event


class ActivityReceived(Event, key="actor:{actor_id}"):
    """A signed activity is stored. What one actor sends is worked off in its order."""

    activity_id: int
    actor_id: int


class FollowAnswerDue(Event, key="pair:{follower_id}:{account_id}"):
    """`account_id` (ours) owes the follower's server an answer for which no other event is published.

    A repeated Follow is accepted again; one that may not be is rejected.
    """

    account_id: int
    follower_id: int
    uri: str
    accepted: bool


class QuoteAnswerDue(Event, key="quote:{quote_id}"):
    """`account_id` (ours) owes `actor_id` an answer to the QuoteRequest `uri`, of which each answer is another: the quote as
    it is then. `quote_id` is 0 for a request that was refused.
    """

    account_id: int
    actor_id: int
    quote_id: int
    uri: str
    quoted_uri: str
    quoting_uri: str


class FeatureAnswerDue(Event, key="pair:{actor_id}:{account_id}"):
    """`account_id` (ours) owes `actor_id` an answer to the FeatureRequest `uri`: the consent with the number `item_id`, or a
    refusal when that is 0.
    """

    account_id: int
    actor_id: int
    item_id: int
    uri: str


class UnknownFollowFound(Event, key="pair:{account_id}:{target_id}"):
    """The server of `target_id` has `account_id` (ours) for a follower, and nobody here knows of it."""

    account_id: int
    target_id: int


class ForwardingDue(Event, key="status:{status_id}"):
    """The stored activity of another server, about a post of its own, is to be passed on."""

    activity_id: int
    status_id: int


class DeliveriesDue(Event):
    """Wake-up for deliveries; several of them do no more than one."""


class FetchesDue(Event):
    """Wake-up for fetches; several of them do no more than one."""


class ThreadsDue(Event):
    """Wake-up for the steps of reading threads; several of them do no more than one."""


class LookupsDue(Event):
    """Wake-up for lookups; several of them do no more than one."""


class ServerPurgeDue(Event, key="server:{domain}"):
    """Removal in steps of everything of a server is due, as somebody of the staff wished (`account_id` 0: the operator)."""

    domain: str
    account_id: int
    name: str
