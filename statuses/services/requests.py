"""Stores decisions about requests to favourite, reply to and boost posts, and carries out accepted requests (docs/adr/0044)."""

from collections.abc import Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q

from accounts.events import AccountBlocked
from accounts.models import Account, Tag
from accounts.services.tags import ensure_tags
from social.kernel import clock
from social.kernel.batches import BATCH
from social.kernel.errors import NotFound, require_found
from social.kernel.events import publish
from statuses.events import InteractionSettled
from statuses.models import Favourite, Interaction, InteractionRequest, Mention, Quote, RequestState, Status
from statuses.policies.cards import find_link
from statuses.policies.interactions import PENDING
from statuses.policies.visibility import is_for_anybody
from statuses.services.changing import change_statuses, lock_status
from statuses.services.deleting import delete_status
from statuses.services.interactions import favourite_status, reblog_status, unfavourite_status, unreblog_status
from statuses.services.receiving import adopt_orphans
from statuses.services.storing import Composed, announce, count_stored


def decide_request(*, account_id: int, request_id: int, accepted: bool) -> None:
    """Accept or reject a request to interact with the account's own post; repeating a decision has no effect, and rejecting an
    accepted request undoes the interaction. Raises NotFound; Forbidden if the requesting account now blocks the author.
    """
    own = InteractionRequest.objects.filter(id=request_id, target_id=account_id)
    settle_request(request_id=require_found(own.first()).id, accepted=accepted)


def settle_request(*, request_id: int, accepted: bool, approval_uri: str | None = None) -> bool:
    """Store the decision of the post's author about a request, with another server's authorization (`approval_uri`), and return
    whether the decision changed anything. Accepting creates the favourite or boost, or publishes the reply. Rejecting undoes
    the favourite or boost, or deletes the reply; a rejection is final. Publishes InteractionSettled.
    """
    decision = RequestState.ACCEPTED if accepted else RequestState.REJECTED
    with transaction.atomic():
        request = InteractionRequest.objects.select_for_update().filter(id=request_id).first()
        if request is None or request.state in (decision, RequestState.REJECTED):
            return False
        revoked = request.state == RequestState.ACCEPTED
        request.state = decision
        request.decided_at, request.approval_uri = clock.now(), approval_uri or request.approval_uri
        request.save(update_fields=["state", "decided_at", "approval_uri"])
        publish(InteractionSettled(request_id=request.id, account_id=request.account_id, revoked=revoked))
        if accepted:
            _carry_out(request)
        else:
            _take_back(request)
    return True


def record_accepted(
    *,
    account_id: int,
    post: Status,
    kind: Interaction,
    uri: str,
    request_uri: str | None = None,
    answer: Status | None = None,
) -> None:
    """Store an accepted request for a remote account's interaction that the policy of a local post allows, so that the
    account's server gets an authorization. If the request is repeated, the authorization is sent again. Publishes
    InteractionSettled. Runs in the caller's transaction.
    """
    if not lock_status(post.id):
        return
    asked = InteractionRequest.objects.filter(status=post, account_id=account_id, kind=kind)
    if answer is not None:
        asked = asked.filter(answer=answer)
    values: dict[str, Any] = {"uri": uri, "state": RequestState.ACCEPTED, "decided_at": clock.now()}
    if request_uri is not None:
        values["request_uri"] = request_uri
    request = asked.first()
    if request is None:
        request = InteractionRequest.objects.create(
            status=post, account_id=account_id, target_id=post.account_id, kind=kind, answer=answer, **values
        )
    else:
        asked.update(**values)
    publish(InteractionSettled(request_id=request.id, account_id=account_id))


def reject_blocked(events: Sequence[AccountBlocked]) -> None:
    """Handle AccountBlocked: reject the pending requests of the blocked account to the blocking account. Delete the pending
    requests of the blocking account to the blocked account, with the replies in them, which the blocked account could not see.
    """
    pending = InteractionRequest.objects.filter(state=RequestState.PENDING)
    for event in events:
        waiting = pending.filter(target_id=event.account_id, account_id=event.target_id)
        for number in list(waiting.values_list("id", flat=True)):
            settle_request(request_id=number, accepted=False)
        own = pending.filter(target_id=event.target_id, account_id=event.account_id)
        for reply_id in list(own.filter(answer__deleted_at=None).values_list("answer_id", flat=True)):
            if reply_id is not None:
                delete_status(status_id=reply_id)
        own.delete()


def withdraw_request(*, account_id: int, kind: Interaction, uri: str | None, status_id: int | None = None) -> bool:
    """Delete a remote account's request, found by its own or the interaction's `uri`, or by the post; return whether it
    existed.
    """
    named = Q(status_id=status_id) if uri is None else Q(status_id=status_id) | Q(uri=uri) | Q(request_uri=uri)
    asked = InteractionRequest.objects.filter(named, account_id=account_id, kind=kind, state=RequestState.PENDING)
    return asked.delete()[0] > 0


def _carry_out(request: InteractionRequest) -> None:
    if request.kind == Interaction.REPLY:
        _publish_reply(request)
        return
    account = Account.objects.select_related("user").get(id=request.account_id)
    status = require_found(Status.objects.filter(id=request.status_id, deleted_at=None).first())
    try:
        if request.kind == Interaction.FAVOURITE:
            favourite_status(account_id=account.id, status=status, uri=request.uri, approved=True)
            return
        boost_id = reblog_status(
            account=account, status=status, visibility=request.visibility or None, uri=request.uri, approved=True
        )
    except IntegrityError:
        # The account has since used the same id for another favourite or boost.
        raise NotFound from None
    InteractionRequest.objects.filter(id=request.id).update(answer_id=boost_id)


def _take_back(request: InteractionRequest) -> None:
    if request.kind == Interaction.FAVOURITE:
        if Favourite.objects.filter(account_id=request.account_id, status_id=request.status_id).exists():
            unfavourite_status(account_id=request.account_id, status_id=request.status_id)
    elif request.kind == Interaction.REBLOG:
        boosts = Status.objects.filter(account_id=request.account_id, reblog_of_id=request.status_id, deleted_at=None)
        if boosts.exists():
            unreblog_status(account_id=request.account_id, status_id=request.status_id)
    elif request.answer is not None and not request.answer.is_deleted:
        delete_status(status_id=request.answer.id)


def _publish_reply(request: InteractionRequest) -> None:
    # The reply is published as if it were written now.
    status = Status.objects.select_for_update(of=("self",)).select_related("account").get(id=request.answer_id or 0)
    if status.is_deleted:
        raise NotFound
    policy = status.interaction_policy & ~PENDING
    change_statuses([status.id], visibility=request.visibility, interaction_policy=policy, fetched=None)
    status.visibility, status.interaction_policy = request.visibility, policy
    people = Account.objects.filter(id__one_of=request.mentioned_ids).in_bulk()
    mentioned = [people[number] for number in request.mentioned_ids if number in people]
    Mention.objects.filter(status=status).delete()
    Mention.objects.bulk_create(
        (Mention(status=status, account=one, silent=one.id in request.silent_ids) for one in mentioned),
        batch_size=BATCH,
    )
    quoting = Quote.objects.filter(status=status).exists()
    published = Composed(
        author=status.account,
        content=status.content,
        visibility=request.visibility,
        local_only=status.local_only,
        parent=Status.objects.filter(id=request.status_id, deleted_at=None).first(),
        mentions=mentioned,
        has_link=not quoting and find_link(status.content) is not None,
        created_at=status.created_at,
    )
    announce(status, published)
    tags = list(Tag.objects.filter(id__one_of=list(status.status_tags.order_by("id").values_list("tag_id", flat=True))))
    # While the reply waited, its hashtags counted as hashtags of a private post.
    if tags:
        names = [(tag.name, tag.display_name) for tag in tags]
        ensure_tags(names, private=not is_for_anybody(request.visibility), local_only=status.local_only)
    count_stored(status, published, tags)
    if status.uri is not None:
        adopt_orphans(status)
