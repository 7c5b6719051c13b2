"""Lets staff with MANAGE_WEBHOOKS and the permissions for the events change webhooks, and queues the calls of webhooks."""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record
from moderation.models import Webhook, WebhookCall, WebhookEvent
from moderation.policies.webhooks import WEBHOOKS_LIMIT, WebhookDraft, body_of, permissions_for, webhook_errors
from social.kernel import clock
from social.kernel.crypto import encrypt, reencrypt
from social.kernel.errors import Conflict, require_valid
from social.kernel.http.client import place_of
from social.kernel.lengths import DOCUMENT_LIMIT, HOST_LIMIT
from social.kernel.locks import keep_row, lock, lock_row
from social.kernel.runner import enqueue


def create_webhook(*, by: Staff, draft: WebhookDraft) -> Webhook:
    """Store an enabled webhook with a new secret. Raises Forbidden, Invalid, and Conflict if WEBHOOKS_LIMIT webhooks exist."""
    _check(by, draft)
    with transaction.atomic():
        lock("webhooks")
        if Webhook.objects.count() >= WEBHOOKS_LIMIT:
            raise Conflict(_("There are %(count)d webhooks already.") % {"count": WEBHOOKS_LIMIT})
        webhook = Webhook.objects.create(**_values(draft), secret=_new_secret())
        _record(by, "create", webhook, events=list(draft.events))
    return webhook


def change_webhook(*, by: Staff, webhook: Webhook, draft: WebhookDraft) -> None:
    """Change a webhook; if its address changes, its waiting calls are deleted. Raises Forbidden, Invalid, NotFound."""
    _check(by, draft)
    with _changing(by, webhook, "update", events=list(draft.events)) as locked:
        if locked.url != draft.url:
            WebhookCall.objects.filter(webhook=locked).delete()
        Webhook.objects.filter(pk=locked.pk).update(**_values(draft))


def delete_webhook(*, by: Staff, webhook: Webhook) -> None:
    """Remove a webhook with its waiting calls. Raises Forbidden, NotFound."""
    with _changing(by, webhook, "destroy") as locked:
        locked.delete()


def switch_webhook(*, by: Staff, webhook: Webhook, enabled: bool) -> None:
    """Enable or disable a webhook; the waiting calls of a disabled webhook are not sent. Raises Forbidden, NotFound."""
    with _changing(by, webhook, "enable" if enabled else "disable") as locked:
        if enabled:
            _require(by, locked.events)
        Webhook.objects.filter(pk=locked.pk).update(enabled=enabled)
        if not enabled:
            WebhookCall.objects.filter(webhook=locked).delete()


def renew_secret(*, by: Staff, webhook: Webhook) -> None:
    """Replace the secret of a webhook; the new secret signs all calls from now on. Raises Forbidden, NotFound."""
    with _changing(by, webhook, "renew_secret") as locked:
        Webhook.objects.filter(pk=locked.pk).update(secret=_new_secret())


def queue_calls(event: WebhookEvent, webhooks: Sequence[Webhook], objects: Iterable[Mapping[str, Any]]) -> None:
    """Queue a call of each webhook for each of these objects, in the caller's transaction. Calls beyond a webhook's limit on
    waiting calls, and calls with bodies longer than DOCUMENT_LIMIT, are dropped.
    """
    rows = []
    for entity in objects:
        payload = {"event": event.value, "created_at": clock.iso(clock.now()), "object": entity}
        bodies = ((webhook, body_of(payload, webhook.template)) for webhook in webhooks)
        rows += [
            WebhookCall(webhook=webhook, host=_host_of(webhook), event=event.value, body=body)
            for webhook, body in bodies
            if len(body) <= DOCUMENT_LIMIT
        ]
    for webhook in webhooks if rows else ():
        keep_row(webhook)
    enqueue(*rows)


def count_secrets() -> int:
    """Return the number of encrypted secrets; each webhook has one."""
    return Webhook.objects.count()


def reencrypt_secrets(*, by: Staff, keys: Sequence[str]) -> int:
    """Encrypt all secrets again with the first key; return how many there are. Raises Forbidden, UnreadableSecret."""
    require(by, Permission.ADMINISTRATOR)
    with transaction.atomic():
        webhooks = list(Webhook.objects.select_for_update().order_by("id"))
        for webhook in webhooks:
            Webhook.objects.filter(pk=webhook.pk).update(secret=reencrypt(webhook.secret, keys))
    return len(webhooks)


def _new_secret() -> str:
    return encrypt(secrets.token_hex(20))


def _host_of(webhook: Webhook) -> str:
    return f"{urlsplit(webhook.url).netloc}/{webhook.pk}"[-HOST_LIMIT:]


def _check(by: Staff, draft: WebhookDraft) -> None:
    """Raise Forbidden or Invalid unless `by` may store the draft."""
    _require(by, draft.events)
    require_valid(webhook_errors(draft, may_be_asked=place_of(draft.url) is not None), details=True)


def _require(by: Staff, events: Iterable[str]) -> None:
    require(by, Permission.MANAGE_WEBHOOKS)
    for permission in permissions_for(events):
        require(by, permission)


def _values(draft: WebhookDraft) -> dict[str, Any]:
    return {"url": draft.url, "events": list(dict.fromkeys(draft.events)), "template": draft.template}


@contextmanager
def _changing(by: Staff, webhook: Webhook, action: str, **details: Any) -> Iterator[Webhook]:
    """Open a transaction: check the permission, lock the row, and write the audit row."""
    require(by, Permission.MANAGE_WEBHOOKS)
    with transaction.atomic():
        locked = lock_row(webhook)
        _record(by, action, locked, **details)
        yield locked


def _record(by: Staff, action: str, webhook: Webhook, **details: Any) -> None:
    name = webhook.url[:80]
    record(by=by, action=action, target_type="Webhook", target_id=webhook.pk, target_name=name, **details)
