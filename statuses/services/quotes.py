"""Changes posts' policies on quotes and other interactions, and stores the decisions of quoted authors."""

from collections.abc import Mapping

from django.db import transaction

from accounts.models import Account
from social.kernel.errors import Forbidden, require_found
from social.kernel.events import publish
from statuses.events import QuotePolicyChanged, QuoteSettled, StatusQuoted
from statuses.models import Quote, QuoteState, Status
from statuses.policies.interactions import PENDING, merged
from statuses.policies.posts import Post
from statuses.policies.quotes import choose_policy, local_policy
from statuses.services.changing import bump, change_statuses


def change_policies(
    *, author: Account, status: Post, policy: str | None, interactions: Mapping[str, int] | None = None
) -> None:
    """Change who may quote the author's own post and, with `interactions` (rules by kind), who else may interact with it;
    existing quotes and interactions stay (contract, parameters section 3). Publishes QuotePolicyChanged.

    `author` is local, with its `user`. If the post is a boost, the boosted post is changed. Without `policy` and `interactions`
    the user's default is used. Raises Forbidden for another account's post, Invalid for a value that is not a policy, NotFound
    for a post deleted in the meantime.
    """
    target = status.proper
    if target.account_id != author.id:
        raise Forbidden
    keeps = policy is None and interactions is not None
    chosen_policy = choose_policy(policy, author.user.default_quote_policy)
    with transaction.atomic():
        locked = require_found(Status.objects.select_for_update().filter(id=target.id, deleted_at=None).first())
        quote_policy = None if keeps else local_policy(locked.visibility, chosen_policy)
        write_policies(locked, changed_policies(locked, quote_policy, merged(locked.interaction_policy, interactions)))


def changed_policies(status: Status, quote_policy: int | None, interaction_policy: int | None) -> dict[str, int]:
    """Return the policy columns that change (None means no change); a reply that awaits approval still awaits it."""
    if interaction_policy is not None:
        interaction_policy |= status.interaction_policy & PENDING
    found = {"quote_policy": quote_policy, "interaction_policy": interaction_policy}
    return {name: value for name, value in found.items() if value is not None and value != getattr(status, name)}


def write_policies(status: Status, changed: Mapping[str, int]) -> None:
    """Write changed policies of a post, in the caller's transaction, and publish QuotePolicyChanged."""
    if changed:
        change_statuses([status.id], **changed)
        publish(QuotePolicyChanged(status_id=status.id, account_id=status.account_id))


def revoke_quote(*, account_id: int, status: Post, quoting_id: int) -> int:
    """Revoke the quote of the account's own post (`status`) in the post `quoting_id`, and return the id of that post.
    Idempotent. A pending quote becomes rejected (contract, behaviours section 9 "Quotes"). Raises Forbidden for another
    account's post, NotFound if `quoting_id` does not quote the account's post.
    """
    target = status.proper
    if target.account_id != account_id:
        raise Forbidden
    quote = require_found(Quote.objects.filter(status_id=quoting_id, quoted_status_id=target.id).first())
    settle_quote(quote_id=quote.id, accepted=False)
    return quote.status_id


def settle_quote(*, quote_id: int, accepted: bool, approval_uri: str | None = None) -> bool:
    """Store the decision of the quoted author: a pending quote becomes accepted, with another server's authorization
    (`approval_uri`), or rejected; an accepted quote is revoked, or gets a different authorization (without an event). Return
    whether the state changed. Publishes QuoteSettled, and StatusQuoted for an accepted quote.
    """
    with transaction.atomic():
        quote = Quote.objects.select_for_update().select_related("status").filter(id=quote_id).first()
        if quote is None:
            return False
        before, after = quote.state, _next_state(QuoteState(quote.state), accepted)
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
    """Mark a pending quote as deleted because the quoted post was deleted. Publishes QuoteSettled."""
    with transaction.atomic():
        quote = Quote.objects.select_for_update().filter(id=quote_id, state=QuoteState.PENDING).first()
        if quote is not None:
            quote.state = QuoteState.DELETED
            quote.save(update_fields=["state"])
            publish(QuoteSettled(status_id=quote.status_id, quote_id=quote.id))


def find_quoted(*, quote_id: int, quoted: Status) -> None:
    """Link a quote to its quoted post, which this server now knows; an existing link is kept."""
    Quote.objects.filter(id=quote_id, quoted_status=None).update(quoted_status=quoted)


def store_request(*, quote_id: int, request_uri: str) -> None:
    """Store the id of another server's request for a quote, replacing an earlier id. The id is removed from any other quote."""
    Quote.objects.filter(request_uri=request_uri).exclude(id=quote_id).update(request_uri=None)
    Quote.objects.filter(id=quote_id).update(request_uri=request_uri)


def store_authorization(*, status_id: int, approval_uri: str) -> bool:
    """Store the authorization that a remote post names for its pending quote, and return whether it is new."""
    pending = Quote.objects.filter(status_id=status_id, state=QuoteState.PENDING)
    return pending.exclude(approval_uri=approval_uri).update(approval_uri=approval_uri) > 0


def _next_state(state: QuoteState, accepted: bool) -> QuoteState:
    if accepted:
        return QuoteState.ACCEPTED if state == QuoteState.PENDING else state
    return {QuoteState.ACCEPTED: QuoteState.REVOKED, QuoteState.PENDING: QuoteState.REJECTED}.get(state, state)
