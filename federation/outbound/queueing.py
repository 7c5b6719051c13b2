"""Queue of deliveries: stores activities with one delivery for each inbox; retries and drops deliveries."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

import orjson
from django.conf import settings
from django.db import transaction
from django.db.models import Max, QuerySet
from django.db.models.functions import Now

from accounts.models import Account
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.queries.servers import load_hosts
from accounts.services.audit import record, record_each
from accounts.services.key_pairs import keys_of
from federation.documents.reading import origin_of
from federation.events import DeliveriesDue
from federation.models import Delivery, OutboundActivity
from social.kernel.batches import BATCH
from social.kernel.claims import idle
from social.kernel.events import publish
from social.kernel.runner import Host


def enqueue(
    account: Account,
    document: dict[str, Any],
    inboxes: Iterable[str],
    *,
    key: str,
    supersedes: bool = False,
    synchronizes: bool = False,
    due_at: datetime | None = None,
) -> OutboundActivity | None:
    """Store `document` for delivery to these inboxes, signed by `account`, in the caller's transaction; return the activity, or
    None if there are no remote inboxes. Publishes DeliveriesDue.

    `key` names the subject of the activity (`status:12`): activities with the same key reach an inbox in the order of the
    calls. `supersedes` drops waiting deliveries of the key to the same inboxes. `synchronizes` sends each server a digest of
    the account's followers there. The activity is sent at `due_at`, or now.
    """
    inboxes = _remote_inboxes(inboxes)
    if not inboxes:
        return None
    if supersedes:
        drop_waiting(key, inboxes)
    activity = OutboundActivity.objects.create(
        account=account,
        type=str(document["type"]),
        uri=str(document.get("id", "")),
        body=orjson.dumps(document).decode(),
        synchronizes=synchronizes,
    )
    send(activity, inboxes=inboxes, key=key, due_at=due_at)
    return activity


def send(activity: OutboundActivity, *, inboxes: Iterable[str], key: str, due_at: datetime | None = None) -> bool:
    """Store deliveries of an activity, as `enqueue` does. Return False if there are no remote inboxes."""
    remote_inboxes = _remote_inboxes(inboxes)
    if not remote_inboxes:
        return False
    keys_of(account=activity.account)
    Delivery.objects.bulk_create(
        (
            Delivery(activity=activity, inbox_url=inbox, host=host, key=key, due_at=due_at or activity.created_at)
            for inbox, host in sorted(remote_inboxes.items())
        ),
        batch_size=1000,
    )
    publish(DeliveriesDue(), due_at=due_at)
    return True


def _remote_inboxes(inboxes: Iterable[str]) -> dict[str, str]:
    places = {inbox: origin_of(inbox) for inbox in inboxes}
    own = origin_of(settings.BASE_URL)
    return {inbox: host for inbox, host in places.items() if host is not None and host != own}


def last_due(key: str, inboxes: Iterable[str]) -> datetime | None:
    """Return the due time of the last waiting delivery of this key to these inboxes; None when no delivery is waiting."""
    deliveries = Delivery.objects.filter(key=key, inbox_url__one_of=inboxes, dead_at=None)
    moment: datetime | None = deliveries.aggregate(last=Max("due_at"))["last"]
    return moment


def drop_waiting(key: str, inboxes: Iterable[str], kind: str | None = None) -> int:
    """Delete the waiting deliveries with this key (and `kind` of activity) that no process has claimed; return how many."""
    deliveries = Delivery.objects.filter(idle(), key=key, inbox_url__one_of=inboxes, dead_at=None)
    if kind is not None:
        deliveries = deliveries.filter(activity__type=kind)
    locked_rows = list(deliveries.select_for_update(skip_locked=True, of=("self",)).values_list("id", "activity_id"))
    Delivery.objects.filter(id__one_of=[number for number, _activity in locked_rows]).delete()
    forget_delivered({activity_id for _number, activity_id in locked_rows})
    return len(locked_rows)


def forget_delivered(activity_ids: Iterable[int]) -> None:
    """Delete those of the activities that have no delivery left."""
    OutboundActivity.objects.filter(id__one_of=activity_ids, deliveries__isnull=True).delete()


def is_delivering(account_id: int) -> bool:
    """Tell whether any activity signed by the account is still to be delivered."""
    return Delivery.objects.filter(activity__account_id=account_id, dead_at=None).exists()


@transaction.atomic
def retry(*, by: Staff, ids: Iterable[int]) -> int:
    """Restart deliveries (waiting or dead) now, count their attempts from zero again, and end the back-off of their hosts.
    Return the number of deliveries. Writes the audit log and publishes DeliveriesDue.
    """
    rows = Delivery.objects.filter(idle(), id__one_of=ids).select_for_update(of=("self",)).order_by("id")
    retried_rows = list(rows.values_list("id", "activity__type", "host"))
    Delivery.objects.filter(id__one_of=[row_id for row_id, _type, _host in retried_rows]).update(
        attempts=0, due_at=Now(), dead_at=None, claim=None, claimed_until=None
    )
    hosts = {host for _id, _type, host in retried_rows}
    Host.objects.filter(queue=Delivery.queue, name__one_of=hosts).update(failures=0, retry_at=Now())
    targets = [(row_id, f"{kind} for {host}") for row_id, kind, host in retried_rows]
    record_each(by=by, action="retry", target_type="Delivery", targets=targets)
    if retried_rows:
        publish(DeliveriesDue())
    return len(retried_rows)


def retry_all(*, by: Staff, rows: QuerySet[Delivery]) -> int:
    """Run `retry` for any number of deliveries, in batches of one transaction each, and return their number."""
    return sum(retry(by=by, ids=ids) for ids in _batches(rows))


def retry_host(*, by: Staff, name: str) -> int:
    """End the back-off of a server, and restart all deliveries to it; return how many. Raises Forbidden."""
    require(by, Permission.MANAGE_FEDERATION)
    with transaction.atomic():
        Host.objects.filter(name__one_of=load_hosts(name)).update(failures=0, retry_at=Now())
        record(by=by, action="retry", target_type="Domain", target_id=0, target_name=name)
    return retry_all(by=by, rows=deliveries_to(name))


def deliveries_to(name: str) -> QuerySet[Delivery]:
    """Return the deliveries to a server, waiting or dead; `name` is the server's domain or its host."""
    return Delivery.objects.filter(host__one_of=load_hosts(name))


def drop(*, by: Staff, rows: QuerySet[Delivery]) -> int:
    """Delete deliveries that no process has claimed, and return how many. Raises Forbidden."""
    require(by, Permission.MANAGE_FEDERATION)
    dropped = 0
    for ids in _batches(rows):
        with transaction.atomic():
            locked = Delivery.objects.filter(idle(), id__one_of=ids).select_for_update(of=("self",)).order_by("id")
            dropped_rows = list(locked.values_list("id", "activity_id", "activity__type", "host"))
            Delivery.objects.filter(id__one_of=[row[0] for row in dropped_rows]).delete()
            forget_delivered({activity_id for _id, activity_id, _type, _host in dropped_rows})
            targets = [(row_id, f"{kind} for {host}") for row_id, _activity, kind, host in dropped_rows]
            record_each(by=by, action="discard", target_type="Delivery", targets=targets)
        dropped += len(dropped_rows)
    return dropped


def _batches(rows: QuerySet[Delivery]) -> Iterator[list[int]]:
    last = 0
    while ids := list(rows.filter(id__gt=last).order_by("id").values_list("id", flat=True)[:BATCH]):
        yield ids
        last = ids[-1]
