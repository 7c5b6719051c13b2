"""Creates and ends follows and follow requests."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.events import AccountFollowed, AccountUnfollowed, FollowChanged, FollowRequested
from accounts.models import Account, AccountStat, Endorsement, Follow, FollowRequest
from accounts.policies.relations import follow_limit, may_follow, needs_request
from accounts.queries.relations import load_relations
from accounts.services.changing import Counter as CounterName
from accounts.services.changing import bump
from social.kernel import links
from social.kernel.errors import Conflict, FieldError, Forbidden, Invalid, NotFound
from social.kernel.events import publish
from social.kernel.locks import lock
from social.kernel.text.languages import known_language


@dataclass(frozen=True)
class FollowChange:
    """Options of a follow; None leaves an option as it is."""

    reblogs: bool | None = None
    notify: bool | None = None
    languages: Sequence[str] | None = None


@dataclass(frozen=True)
class EarlierFollow:
    """A follow (`accepted`) or a follow request that existed before, with the id of its Follow activity."""

    accepted: bool
    uri: str | None


def _languages(codes: Sequence[str]) -> list[str]:
    known = [known_language(code) for code in codes if code]
    if None in known:
        raise Invalid.of([FieldError.invalid("languages")])
    return list(dict.fromkeys(code for code in known if code is not None))


def _apply(change: FollowChange, row: Follow | FollowRequest) -> bool:
    before = (row.show_reblogs, row.notify, row.languages)
    if change.reblogs is not None:
        row.show_reblogs = change.reblogs
    if change.notify is not None:
        row.notify = change.notify
    if change.languages is not None:
        row.languages = _languages(change.languages)
    return before != (row.show_reblogs, row.notify, row.languages)


def release_follow_id(*, uri: str, account: Account, target: Account) -> None:
    """Remove a remote Follow's id from the account's other follows (servers reuse ids after a reset). Raises Conflict."""
    for model in (Follow, FollowRequest):
        used = model._default_manager.filter(uri=uri).exclude(account=account, target=target)
        if used.exclude(account=account).exists():
            raise Conflict
        used.update(uri=None)


def follow_account(
    *, account: Account, target: Account, change: FollowChange, uri: str | None = None, limited: bool = True
) -> EarlierFollow | None:
    """Follow an account, or request to. If there is a follow or request already, change its options (SEED-149) and return it.

    `uri` is the id of the Follow that a remote account has sent; a local account's follow of a remote account gets its id here
    (contract, federation section 7). If `limited` is False, the limit on follows is not checked. Raises Forbidden (self,
    blocked, moved), NotFound (suspended) or Invalid (limit, invalid language code). Publishes AccountFollowed, FollowRequested,
    or FollowChanged for changed options of a follow (contract, parameters section 2).
    """
    if account.id == target.id:
        raise Forbidden(_("Following your own account is not allowed"))
    if target.suspended:
        raise NotFound
    with transaction.atomic():
        if target.local:
            # Without this lock, a request made while the target's account is being unlocked would stay pending for ever.
            lock(lock_name(target.id))
        # With this lock, two concurrent calls create one follow, and no block can be created in between.
        lock(pair_name(account.id, target.id))
        existing = (
            Follow.objects.filter(account=account, target=target).first()
            or FollowRequest.objects.filter(account=account, target=target).first()
        )
        if existing is not None:
            earlier = EarlierFollow(isinstance(existing, Follow), existing.uri)
            changed = _apply(change, existing)
            renamed = uri is not None and existing.uri != uri
            if renamed:
                existing.uri = uri
            if changed or renamed:
                existing.save(update_fields=["show_reblogs", "notify", "languages", "uri"])
            if changed and isinstance(existing, Follow):
                publish(FollowChanged(account_id=account.id, target_id=target.id, follow_id=existing.id))
            return earlier
        if not may_follow(account, target, load_relations(account.id, [target.id])):
            raise Forbidden
        if limited:
            _check_limit(account)
        if target.local:
            target.refresh_from_db(fields=["locked"])
        if needs_request(account, target):
            # The id is random, because a number would reveal how many follows this server has.
            own_uri = None if target.local else links.web_url(f"/{uuid4()}")
            request = FollowRequest(account=account, target=target, uri=uri or own_uri)
            _apply(change, request)
            request.save()
            publish(FollowRequested(account_id=account.id, target_id=target.id, request_id=request.id))
        else:
            follow = Follow(account=account, target=target, uri=uri)
            _apply(change, follow)
            follow.save()
            _announce_follows(follow)
    return None


def _announce_follows(*follows: Follow) -> None:
    publish(
        *(
            AccountFollowed(account_id=follow.account_id, target_id=follow.target_id, follow_id=follow.id)
            for follow in follows
        )
    )
    changes: Counter[tuple[int, CounterName]] = Counter()
    for follow in follows:
        changes[follow.account_id, "following_count"] += 1
        changes[follow.target_id, "followers_count"] += 1
    bump(changes)


def lock_name(account_id: int) -> str:
    """Return the name of the lock on follow requests to an account and on unlocking it; taken before locks of `pair_name`."""
    return f"locked:{account_id}"


def pair_name(one: int, other: int) -> str:
    """Return the name of the lock that is held while relations between two accounts change."""
    return f"pair:{min(one, other)}:{max(one, other)}"


def _check_limit(account: Account) -> None:
    stat = AccountStat.objects.filter(account=account).first()
    if stat is None:
        return
    limit = follow_limit(stat.followers_count)
    if stat.following_count >= limit:
        raise Invalid.sentence(
            ngettext(
                "You cannot follow more than %(count)d person", "You cannot follow more than %(count)d people", limit
            )
            % {"count": limit}
        )


def accept_requests(*requests: FollowRequest) -> None:
    """Turn follow requests into follows with the same options and ids. Publishes AccountFollowed for each.

    The caller must hold the locks of the pairs, in a transaction. Each counter is written once.
    """
    follows = []
    for request in requests:
        follow, created = Follow.objects.get_or_create(
            account_id=request.account_id,
            target_id=request.target_id,
            defaults={
                "uri": request.uri,
                "show_reblogs": request.show_reblogs,
                "notify": request.notify,
                "languages": request.languages,
            },
        )
        request.delete()
        if created:
            follows.append(follow)
    _announce_follows(*follows)


def unfollow_account(*, account: Account, target: Account) -> None:
    """End a follow or withdraw a follow request, if there is one. Publishes AccountUnfollowed."""
    with transaction.atomic():
        lock(pair_name(account.id, target.id))
        end_following(account.id, target.id, ended_by_id=account.id)


def end_following(account_id: int, target_id: int, *, ended_by_id: int) -> bool:
    """Remove the follow, request and endorsement of `target_id` by `account_id`, under the pair's lock.

    Return whether there was a follow or request. `ended_by_id` is the account that ends the follow. Publishes
    AccountUnfollowed.
    """
    request = FollowRequest.objects.filter(account_id=account_id, target_id=target_id).first()
    follow = Follow.objects.filter(account_id=account_id, target_id=target_id).first()
    rows = [row for row in (request, follow) if row is not None]
    end_follows(rows, ended_by={(account_id, target_id): ended_by_id})
    return bool(rows)


def end_follows(rows: Sequence[Follow | FollowRequest], *, ended_by: Mapping[tuple[int, int], int]) -> None:
    """Remove these follows and requests, and the endorsements that depend on them, under the locks of the pairs.

    `ended_by` maps each pair (account id, target id) to the account that ends the follow. Takes a fixed number of statements.
    Publishes AccountUnfollowed once for each pair.
    """
    if not rows:
        return
    follows = [row for row in rows if isinstance(row, Follow)]
    # If a pair has both a follow and a request, the event names the follow, which the other server knows.
    ended = {(row.account_id, row.target_id): row for row in [*rows, *follows]}
    publish(
        *(
            AccountUnfollowed(
                account_id=row.account_id,
                target_id=row.target_id,
                follow_id=row.id,
                uri=row.uri,
                ended_by_id=ended_by[pair],
            )
            for pair, row in ended.items()
        )
    )
    requests = [row.id for row in rows if isinstance(row, FollowRequest)]
    if requests:
        FollowRequest.objects.filter(id__one_of=requests).delete()
    if not follows:
        return
    Follow.objects.filter(id__one_of=[follow.id for follow in follows]).delete()
    others = Follow.objects.filter(account_id=OuterRef("account_id"), target_id=OuterRef("target_id"))
    Endorsement.objects.filter(
        ~Exists(others),
        account_id__one_of=[follow.account_id for follow in follows],
        target_id__one_of=[follow.target_id for follow in follows],
    ).delete()
    changes: Counter[tuple[int, CounterName]] = Counter()
    for follow in follows:
        changes[follow.account_id, "following_count"] -= 1
        changes[follow.target_id, "followers_count"] -= 1
    bump(changes)
