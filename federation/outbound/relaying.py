"""Subscribes this server to relays, and unsubscribes it (contract, federation sections 7 and 12)."""

from uuid import uuid4

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record_about
from accounts.services.instance_actor import instance_actor
from federation.documents import activities, context, reading
from federation.models import Relay
from federation.outbound.queueing import drop_waiting, enqueue
from social.kernel import links, locks
from social.kernel.errors import Invalid, NotFound


def add_relay(*, by: Staff, inbox_url: str) -> Relay:
    """Subscribe to the relay with this inbox by sending a Follow of the public collection, unless this server is subscribed
    already. Raises Forbidden, and Invalid if `inbox_url` is not an address on another server.
    """
    require(by, Permission.MANAGE_FEDERATION)
    url = reading.web_uri(inbox_url.strip())
    if url is None:
        raise Invalid(_("The inbox of a relay is an address such as https://relay.example/inbox."))
    with transaction.atomic():
        locks.lock(f"relay:{url}")
        existing = Relay.objects.filter(inbox_url=url).first()
        if existing is not None:
            return existing
        relay = Relay.objects.create(inbox_url=url, follow_uri=links.web_url(f"/{uuid4()}"))
        account = instance_actor()
        document = activities.follow(account, context.PUBLIC, relay.follow_uri)
        if enqueue(account, document, [url], key=f"relay:{relay.id}") is None:
            raise Invalid(_("The inbox of a relay is on another server."))
        record_about(by, "create", relay)
    return relay


def remove_relay(*, by: Staff, inbox_url: str) -> None:
    """Unsubscribe from the relay with this inbox by sending the Undo of the Follow. Raises Forbidden and NotFound."""
    require(by, Permission.MANAGE_FEDERATION)
    with transaction.atomic():
        relay = Relay.objects.select_for_update().filter(inbox_url=inbox_url.strip()).first()
        if relay is None:
            raise NotFound(_("There is no such relay."))
        account, key = instance_actor(), f"relay:{relay.id}"
        drop_waiting(key, [relay.inbox_url])
        document = activities.undo_follow(account, context.PUBLIC, relay.follow_uri)
        enqueue(account, document, [relay.inbox_url], key=key)
        record_about(by, "destroy", relay)
        relay.delete()
