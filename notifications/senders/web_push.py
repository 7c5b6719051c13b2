"""Sends notifications to devices through their push services (behaviours section 17; clients.md, trap 47)."""

import logging
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import orjson
from django.conf import settings
from django.db import connection
from django.utils import translation

from accounts.queries.site_settings import find_site_text
from accounts.serializers.account import picture_urls
from notifications.events import NotificationMade, PushesDue
from notifications.models import NotificationType, Push, PushSubscription
from notifications.policies.push import LIFETIME, unsubscribe_url
from notifications.policies.push_encryption import Device, encode_base64, vapid_token
from notifications.policies.titles import title_of
from notifications.queries.pushes import PUSHED_SQL, PushMessage, load_messages
from social.kernel import clock
from social.kernel.events import publish
from social.kernel.http.addresses import parse_url
from social.kernel.http.client import FetchError, Refused, Request, Response, fetch_async
from social.kernel.identity import default_language
from social.kernel.runner import Failed, Job, Steps, Work
from social.kernel.text.markup import plain

logger = logging.getLogger("social.push")

#: Time-out of a request, in seconds.
DEADLINE: Final = 10.0
#: Maximum number of characters of a title or a body.
TEXT_LIMIT: Final = 140
# Seconds after which a loaded message is read again before it is sent, because the token may have been revoked. Other requests
# with a revoked token are refused after the same time.
_FRESHNESS: Final = 1.0
_TEMPORARY: Final = (408, 429)
_HOUR: Final = 3600
_VAPID_HOURS: Final = 24
_QUEUE: Final = f"""
INSERT INTO notifications_push (host, subscription_id, notification_id)
SELECT p.host, p.id, n.id FROM {PUSHED_SQL} AND n.id = ANY(%(ids)s) ORDER BY n.id, p.id
ON CONFLICT DO NOTHING
"""  # noqa: S608 (constants)


def queue_pushes(events: Sequence[NotificationMade]) -> None:
    """Queue notifications for the push subscriptions that want them, without duplicates, in one statement and the caller's
    transaction. Publishes PushesDue if any was queued.
    """
    with connection.cursor() as cursor:
        cursor.execute(_QUEUE, {"ids": [event.notification_id for event in events]})
        if cursor.rowcount:
            publish(PushesDue())


class _Messages:
    def __init__(self, push_ids: Collection[int]) -> None:
        self._read_at = time.monotonic()
        self._found = load_messages(push_ids)
        contact = find_site_text("site_contact_email")
        self.subject = settings.BASE_URL if contact is None else f"mailto:{contact[0]}"

    def get(self, push_id: int) -> PushMessage | None:
        if time.monotonic() - self._read_at > _FRESHNESS:
            return load_messages([push_id]).get(push_id)
        return self._found.get(push_id)


def _begin(jobs: Sequence[Job[Push]]) -> Iterator[Steps]:
    if not jobs:
        return
    messages = _Messages([job.row.pk for job in jobs])
    for job in jobs:
        yield _push(job, messages)


def _push(job: Job[Push], messages: _Messages) -> Steps:
    message = messages.get(job.row.pk)
    if message is None or message.content.is_hidden:
        return
    headers, body = encrypted_request(message, messages.subject)
    try:
        response: Response = yield fetch_async(
            Request(
                message.endpoint,
                method="POST",
                headers=headers,
                body=body,
                redirects=0,
                max_bytes=1 << 16,
                deadline=DEADLINE,
            )
        )
    except FetchError as error:
        failure = job.answers[job.row.host] = f"{type(error).__name__}: {error}"
        raise Failed(failure, final=isinstance(error, Refused)) from None
    status = response.status
    failure = f"{status} {response.body[:200].decode('utf-8', 'replace')}".strip()
    job.answers[job.row.host] = failure if status >= 500 else ""
    if 400 <= status < 500 and status not in _TEMPORARY:
        logger.info("subscription %d has ended: %s", message.subscription_id, failure)
        PushSubscription.objects.filter(id=message.subscription_id).delete()
    elif not 200 <= status < 300:
        raise Failed(failure)


def encrypted_request(message: PushMessage, subject: str) -> tuple[Mapping[str, str], bytes]:
    """Return the headers and the body of a request with the message, in the encoding of its subscription."""
    place = parse_url(message.endpoint)
    token = vapid_token(
        private_key=settings.VAPID_PRIVATE_KEY,
        public_key=settings.VAPID_PUBLIC_KEY,
        audience=f"{place.scheme}://{place.netloc}",
        subject=subject,
        # The expiry changes once an hour, and is never further in the future than a push service allows (RFC 8292 section 2).
        expires=(int(clock.now().timestamp()) // _HOUR + _VAPID_HOURS) * _HOUR,
    )
    headers = {
        "TTL": str(int(LIFETIME.total_seconds())),
        "Urgency": "normal",
        "Content-Type": "application/octet-stream",
        "Unsubscribe-URL": unsubscribe_url(message.subscription_id),
    }
    device = Device(message.p256dh, message.auth)
    if message.standard:
        encrypted = device.encrypt(payload(message))
        headers |= {
            "Content-Encoding": "aes128gcm",
            "Authorization": f"vapid t={token},k={settings.VAPID_PUBLIC_KEY}",
        }
    else:
        encrypted = device.encrypt_as_drafted(payload(message))
        keys = f"dh={encode_base64(encrypted.sender_key)};p256ecdsa={settings.VAPID_PUBLIC_KEY}"
        headers |= {
            "Content-Encoding": "aesgcm",
            "Encryption": f"salt={encode_base64(encrypted.salt)}",
            "Crypto-Key": keys,
            "Authorization": f"WebPush {token}",
        }
    return headers, encrypted.body


def payload(message: PushMessage) -> bytes:
    """Return the JSON message for the application, in the recipient's language."""
    sender = message.content.sender
    locale = message.locale or default_language()
    name = sender.display_name or sender.username
    if message.type == NotificationType.ADMIN_REPORT and sender.domain is not None:
        # A reporter on another server stays anonymous: the sender is that server's own account.
        name = sender.domain
    with translation.override(locale):
        title = title_of(message.type, name, own=message.own)
    return orjson.dumps(
        {
            "access_token": message.token,
            "preferred_locale": locale,
            "notification_id": str(message.notification_id),
            "notification_type": message.type,
            "icon": picture_urls(sender, "avatar")[1],
            "title": _shortened(title),
            "body": _shortened(_text_of(message)),
        }
    )


def _text_of(message: PushMessage) -> str:
    post, sender = message.content.post, message.content.sender
    if post is not None:
        return post.spoiler_text or plain(post.content)
    # Without a post, the text is the sender's biography, unless the sender is the recipient.
    return "" if message.own else plain(sender.note_html)


def _shortened(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= TEXT_LIMIT else f"{words[: TEXT_LIMIT - 1]}…"


PUSHES: Final = Work(Push, _begin)
