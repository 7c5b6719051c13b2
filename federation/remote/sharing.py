"""Finds the accounts that pass posts on: local accounts that have shared a remote post, and relays."""

from accounts.models import Account
from federation.documents.reading import same_origin
from federation.models import Relay, RelayState
from statuses.models import Quote, Status


def sharers_of(status: Status) -> set[int]:
    """Return the ids of the local accounts that have boosted or quoted a remote post, or to whose post the remote post replies.
    Changes to the remote post affect the followers of these accounts too (contract, federation section 11 "Forwarding").

    Empty for a private post. Deleted boosts and quotes count, because the followers' servers have received them.
    """
    if not status.is_for_anybody:
        return set()
    boosters = Status.objects.filter(reblog_of=status, local=True).values_list("account_id", flat=True)
    quoters = Quote.objects.filter(quoted_status=status, status__local=True).values_list(
        "status__account_id", flat=True
    )
    answered_posts = Status.objects.filter(id=status.in_reply_to_id or 0, local=True)
    return {*boosters, *quoters, *(parent.account_id for parent in answered_posts if parent.is_for_anybody)}


def is_relay(account: Account) -> bool:
    """Tell whether the account belongs to a relay that has accepted this server's subscription. Only an inbox on the account's
    own server counts, because any account can name the relay's inbox as its own.
    """
    inboxes = [inbox for inbox in (account.inbox_url, account.shared_inbox_url) if same_origin(inbox, account.uri)]
    return Relay.objects.filter(inbox_url__one_of=inboxes, state=RelayState.ACCEPTED).exists()
