"""Changes who may quote a post, and what the author of a quoted post says to a quote."""

from __future__ import annotations

from django.db import transaction

from accounts.models import Account
from social.kernel.errors import Forbidden, require_found
from social.kernel.events import publish
from statuses.events import QuotePolicyChanged, QuoteSettled, StatusQuoted
from statuses.models import Quote, QuoteState, Status
from statuses.policies.posts import Post
from statuses.policies.quotes import choose_policy, local_policy
from statuses.services.changing import bump, change_statuses


def change_quote_policy(*, author: Account, status: Post, policy: str | None) -> None:
    """Say who may quote one's own post from now on; quotes there are stay (contract, parameters section 3).

    `author` is local, with its `user` loaded, and may read the post; of a boost it is the boosted one. Without a `policy`
    the user's setting. Posts that are neither public nor unlisted stay for nobody. Raises Forbidden for somebody else's
    post, Invalid for a word that is no policy, NotFound when the post was deleted meanwhile. Publishes QuotePolicyChanged.
    """
    target = status.proper
    if target.account_id != author.id:
        raise Forbidden
    chosen = choose_policy(policy, author.user.default_quote_policy)
    with transaction.atomic():
        locked = require_found(Status.objects.select_for_update().filter(id=target.id, deleted_at=None).first())
        wanted = local_policy(locked.visibility, chosen)
        if wanted != locked.quote_policy:
            write_quote_policy(locked, wanted)


def write_quote_policy(status: Status, policy: int) -> None:
    """Write who may quote a post, in the caller's transaction, and publish QuotePolicyChanged."""
    change_statuses([status.id], quote_policy=policy)
    publish(QuotePolicyChanged(status_id=status.id, account_id=status.account_id))


def revoke_quote(*, account_id: int, status: Post, quoting_id: int) -> int:
    """Take one's own post out of a post that quotes it; the id of that post. May be repeated.

    An accepted quote becomes revoked and is counted no more, one that waits becomes rejected (contract, behaviours section 9
    "Quotes"). Raises Forbidden for somebody else's post, NotFound when that post does not quote it.
    """
    target = status.proper
    if target.account_id != account_id:
        raise Forbidden
    quote = require_found(Quote.objects.filter(status_id=quoting_id, quoted_status_id=target.id).first())
    settle_quote(quote_id=quote.id, accepted=False)
    return quote.status_id


def settle_quote(*, quote_id: int, accepted: bool, approval_uri: str | None = None) -> bool:
    """Write what the author of the quoted post says to a quote; whether that changed its state.

    A quote that waits becomes accepted, with the authorization of another server, or rejected; an accepted one can only be
    revoked, or get another authorization, which publishes nothing; what was refused stays so. QuoteSettled is published, and
    StatusQuoted for one that is accepted.
    """
    with transaction.atomic():
        quote = Quote.objects.select_for_update().select_related("status").filter(id=quote_id).first()
        if quote is None:
            return False
        before, after = quote.state, _after(QuoteState(quote.state), accepted)
        if approval_uri is not None and after == QuoteState.ACCEPTED:
            quote.approval_uri = approval_uri
        elif after == before:
            return False
        quote.state = after
        quote.save(update_fields=["state", "approval_uri"])
        if after == before:
            return False
        publish(QuoteSettled(status_id=quote.status_id, quote_id=quote.id))
        if quote.quoted_status_id is None:
            return True
        if accepted:
            publish(
                StatusQuoted(status_id=quote.quoted_status_id, quote_id=quote.id, account_id=quote.status.account_id)
            )
        change = int(after == QuoteState.ACCEPTED) - int(before == QuoteState.ACCEPTED)
        if change and not quote.status.is_deleted:
            bump({(quote.quoted_status_id, "quotes_count"): change})
    return True


def end_quote(*, quote_id: int) -> None:
    """Write that the post that a pending quote quotes was deleted. Publishes QuoteSettled."""
    with transaction.atomic():
        quote = Quote.objects.select_for_update().filter(id=quote_id, state=QuoteState.PENDING).first()
        if quote is not None:
            quote.state = QuoteState.DELETED
            quote.save(update_fields=["state"])
            publish(QuoteSettled(status_id=quote.status_id, quote_id=quote.id))


def find_quoted(*, quote_id: int, quoted: Status) -> None:
    """Write that the quoted post of a quote is known here now; one that is known already stays."""
    Quote.objects.filter(id=quote_id, quoted_status=None).update(quoted_status=quoted)


def store_request(*, quote_id: int, request_uri: str) -> None:
    """Write the id of the request that another server made for a quote, instead of an earlier one; another quote that had the
    id loses it.
    """
    Quote.objects.filter(request_uri=request_uri).exclude(id=quote_id).update(request_uri=None)
    Quote.objects.filter(id=quote_id).update(request_uri=request_uri)


def store_authorization(*, status_id: int, approval_uri: str) -> bool:
    """Write the authorization that a post of another server names for its quote, which still waits; whether it is new."""
    waiting = Quote.objects.filter(status_id=status_id, state=QuoteState.PENDING)
    return waiting.exclude(approval_uri=approval_uri).update(approval_uri=approval_uri) > 0


def _after(state: QuoteState, accepted: bool) -> QuoteState:
    if accepted:
        return QuoteState.ACCEPTED if state == QuoteState.PENDING else state
    return {QuoteState.ACCEPTED: QuoteState.REVOKED, QuoteState.PENDING: QuoteState.REJECTED}.get(state, state)
