"""Ends follows between local accounts and a blocked or suspended server or account, in steps, and records them."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q

from accounts.events import AccountSuspended, DomainBlocked, FollowsSevered
from accounts.models import Account, Follow, FollowRequest
from accounts.models.account import SuspensionOrigin
from accounts.models.relations import Severance, SeveranceType, SeveredFollow
from accounts.queries.relations import blocks_domain
from accounts.services.following import end_follows, pair_name
from social.kernel import clock
from social.kernel.events import Event, publish
from social.kernel.locks import lock

BATCH_SIZE: Final = 200
"""Maximum number of follows ended in one transaction. Each takes a lock, and PostgreSQL has room for a few thousand locks."""

_COUNT: Final = """
INSERT INTO accounts_severedaccount (severance_id, account_id, followers_count, following_count, created_at)
SELECT %(severance)s, n.account_id, n.followers, n.following, %(now)s
  FROM unnest(%(accounts)s::bigint[], %(followers)s::int[], %(following)s::int[])
       AS n (account_id, followers, following)
    ON CONFLICT (severance_id, account_id) DO UPDATE
   SET followers_count = accounts_severedaccount.followers_count + EXCLUDED.followers_count,
       following_count = accounts_severedaccount.following_count + EXCLUDED.following_count
"""


@dataclass(frozen=True)
class _Act:
    """Block or suspension that ends follows. It has one row of Severance, even if it ends the follows in several steps."""

    type: SeveranceType
    cause: str
    target_name: str


def sever_blocked_domains(events: Sequence[DomainBlocked]) -> None:
    """Handle DomainBlocked: end follows and requests, in both directions, between the account and the blocked server.

    Ends and records at most BATCH_SIZE follows for each event, in a transaction, and publishes the event again while there may
    be more follows to end; at the end, publishes FollowsSevered. Ends nothing once the block is removed. Publishes
    AccountUnfollowed for each follow.
    """
    for event in events:
        if not blocks_domain(event.account_id, event.domain):
            continue
        act = _Act(SeveranceType.USER_DOMAIN_BLOCK, f"{SeveranceType.USER_DOMAIN_BLOCK}:{event.block_id}", event.domain)
        between = Q(account_id=event.account_id, target__domain=event.domain) | Q(
            target_id=event.account_id, account__domain=event.domain
        )
        more = _sever(act, between, is_here=event.account_id.__eq__)
        _publish(event if more else FollowsSevered(cause=act.cause))


def sever_suspended(events: Sequence[AccountSuspended]) -> None:
    """Handle AccountSuspended: end a suspended remote account's follows of local accounts, in steps like those of
    `sever_blocked_domains`.

    Local accounts keep following the suspended account, in case it comes back (contract, behaviours section 18).
    """
    for event in events:
        # The suspension may have ended meanwhile.
        suspended = Account.objects.filter(suspension_origin=SuspensionOrigin.LOCAL, domain__isnull=False)
        account = suspended.filter(id=event.account_id).first()
        if account is None:
            continue
        act = _Act(SeveranceType.ACCOUNT_SUSPENSION, event.cause, account.acct)
        more = _sever(act, Q(account_id=account.id, target__domain=None), is_here=account.id.__ne__)
        _publish(event if more else FollowsSevered(cause=act.cause))


def sever_server(*, account_ids: Sequence[int], domain: str, cause: str) -> bool:
    """End at most BATCH_SIZE follows between local accounts and the suspended ones among `account_ids`; return whether there
    may be more follows to end.

    The follows are recorded as ended by a block of the server `domain`. Publishes AccountUnfollowed for each; the caller
    publishes FollowsSevered at the end.
    """
    suspended = Account.objects.filter(id__one_of=account_ids, domain__isnull=False, suspended_at__isnull=False)
    ids = list(suspended.values_list("id", flat=True))
    between = Q(account_id__one_of=ids, target__domain=None) | Q(target_id__one_of=ids, account__domain=None)
    act, theirs = _Act(SeveranceType.DOMAIN_BLOCK, cause, domain), frozenset(ids)
    return _sever(act, between, is_here=lambda number: number not in theirs)


def suspension_cause(account_id: int, moment: datetime) -> str:
    """Return the cause that identifies the follows ended by the suspension of an account at `moment`."""
    return f"account:{account_id}:{moment.isoformat()}"


def sever_erased(account: Account) -> bool:
    """End and record a batch of follows between local accounts and an erased account; return whether there were any.
    Publishes FollowsSevered.
    """
    if account.suspended_at is None:
        return False
    act = _Act(SeveranceType.ACCOUNT_SUSPENSION, suspension_cause(account.id, account.suspended_at), account.acct)
    between = Q(account_id=account.id, target__domain=None) | Q(target_id=account.id, account__domain=None)
    if not Follow.objects.filter(between).exists():
        return False
    _sever(act, between, is_here=account.id.__ne__)
    _publish(FollowsSevered(cause=act.cause))
    return True


def forget_severed(account_id: int) -> int:
    """Delete a batch of an account's recorded follows; return how many. A Severance without follows left is marked purged."""
    rows = SeveredFollow.objects.filter(Q(account_id=account_id) | Q(target_id=account_id))
    severance_ids = dict(rows.values_list("id", "severance_id")[:BATCH_SIZE])
    with transaction.atomic():
        SeveredFollow.objects.filter(id__one_of=list(severance_ids)).delete()
        left = SeveredFollow.objects.filter(severance_id=OuterRef("id"))
        Severance.objects.filter(~Exists(left), id__one_of=list(set(severance_ids.values()))).update(purged=True)
    return len(severance_ids)


def _publish(event: Event) -> None:
    with transaction.atomic():
        publish(event)


def _sever(act: _Act, between: Q, *, is_here: Callable[[int], bool]) -> bool:
    """End a batch of these follows and requests, and record the follows; return whether there may be more to end.

    `is_here(account_id)` tells which account of a follow is local. That account gets the record, and counts as the one that
    ended the follow.
    """
    follows = list(Follow.objects.filter(between)[:BATCH_SIZE])
    requests = list(FollowRequest.objects.filter(between)[:BATCH_SIZE])
    relations: list[Follow | FollowRequest] = [*follows, *requests]
    with transaction.atomic():
        lock(*{pair_name(row.account_id, row.target_id) for row in relations})
        follows = list(Follow.objects.filter(id__one_of=[row.id for row in follows]))
        requests = list(FollowRequest.objects.filter(id__one_of=[row.id for row in requests]))
        if follows:
            _record_follows(act, follows, is_here)
        ended: list[Follow | FollowRequest] = [*requests, *follows]
        end_follows(
            ended,
            ended_by={
                (row.account_id, row.target_id): row.account_id if is_here(row.account_id) else row.target_id
                for row in ended
            },
        )
    # A request that has become a follow meanwhile ends in the next step.
    return len(relations) >= BATCH_SIZE or len(ended) < len(relations)


def _record_follows(act: _Act, follows: Sequence[Follow], is_here: Callable[[int], bool]) -> None:
    """Record the follows, and count each new record for its local account, as a lost follower or a lost follow."""
    severance, _made = Severance.objects.get_or_create(
        cause=act.cause, defaults={"type": act.type, "target_name": act.target_name}
    )
    earlier = set(
        SeveredFollow.objects.filter(
            severance=severance,
            account_id__one_of=[row.account_id for row in follows],
            target_id__one_of=[row.target_id for row in follows],
        ).values_list("account_id", "target_id")
    )
    unrecorded = [row for row in follows if (row.account_id, row.target_id) not in earlier]
    SeveredFollow.objects.bulk_create(
        (
            SeveredFollow(
                severance=severance,
                account_id=row.account_id,
                target_id=row.target_id,
                show_reblogs=row.show_reblogs,
                notify=row.notify,
                languages=row.languages,
            )
            for row in unrecorded
        ),
        batch_size=BATCH_SIZE,
    )
    following = Counter(row.account_id for row in unrecorded if is_here(row.account_id))
    followers = Counter(row.target_id for row in unrecorded if not is_here(row.account_id))
    # The rows are locked in the order of their ids, so that two steps do not deadlock.
    losers = sorted(following | followers)
    with connection.cursor() as cursor:
        cursor.execute(
            _COUNT,
            {
                "severance": severance.id,
                "accounts": losers,
                "followers": [followers[number] for number in losers],
                "following": [following[number] for number in losers],
                "now": clock.now(),
            },
        )
