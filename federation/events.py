"""Events of federation that its own workers handle."""

from social.kernel.events import Event


class ActivityReceived(Event, key="actor:{actor_id}"):
    """A signed activity was stored. Activities of one actor are processed in the order in which they arrived."""

    activity_id: int
    actor_id: int


class FollowAnswerDue(Event, key="pair:{follower_id}:{account_id}"):
    """The account `account_id` must answer a Follow that changed nothing here: with an Accept if the Follow was repeated, or
    else with a Reject.
    """

    account_id: int
    follower_id: int
    uri: str
    accepted: bool


class QuoteAnswerDue(Event, key="quote:{quote_id}"):
    """The account `account_id` must answer the QuoteRequest `uri` of `actor_id`; `quote_id` is 0 for a refused request. The
    state of the quote at the time of sending determines the answer.
    """

    account_id: int
    actor_id: int
    quote_id: int
    uri: str
    quoted_uri: str
    quoting_uri: str


class InteractionRefused(Event, key="pair:{actor_id}:{account_id}"):
    """The account `account_id` must send `actor_id` a Reject of the interaction `uri` with the post `status_id`; `request_uri`
    is the id of the request, if there was one.
    """

    account_id: int
    actor_id: int
    kind: str
    status_id: int
    uri: str
    request_uri: str | None = None


class FeatureAnswerDue(Event, key="pair:{actor_id}:{account_id}"):
    """The account `account_id` must accept the FeatureRequest `uri` of `actor_id` for `item_id`, or reject it if `item_id` is
    0.
    """

    account_id: int
    actor_id: int
    item_id: int
    uri: str


class UnknownFollowFound(Event, key="pair:{account_id}:{target_id}"):
    """The server of `target_id` lists the local account `account_id` as a follower, but no such follow is known here."""

    account_id: int
    target_id: int


class ForwardingDue(Event, key="status:{status_id}"):
    """A stored activity, in which a remote actor has changed its own post, is to be forwarded."""

    activity_id: int
    status_id: int


class DeliveriesDue(Event):
    """Wakes up the worker that sends deliveries; several such events are merged into one."""


class FetchesDue(Event):
    """Wakes up the worker that fetches documents; several such events are merged into one."""


class ThreadsDue(Event):
    """Wakes up the worker that crawls threads; several such events are merged into one."""


class LookupsDue(Event):
    """Wakes up the worker that looks up accounts; several such events are merged into one."""


class ServerPurgeDue(Event, key="server:{domain}"):
    """The next step of the removal of a server's data is due. `account_id` and `name` identify the staff member who started the
    removal; `account_id` is 0 for the operator.
    """

    domain: str
    account_id: int
    name: str
