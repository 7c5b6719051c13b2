"""Reads push subscriptions, and the messages of queued pushes, in a fixed number of queries."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from accounts.policies.audience import PRESENT
from notifications.models import PushSubscription
from notifications.queries.contents import Content, load_contents
from social.kernel.errors import NotFound
from social.kernel.statements import rows_of

PUSHED_SQL: Final = f"""
       notifications_notification n
  JOIN accounts_user u ON u.account_id = n.account_id
  JOIN accounts_accesstoken t ON t.user_id = u.id
  JOIN notifications_pushsubscription p ON p.token_id = t.id
 WHERE NOT n.filtered AND (p.alerts -> n.type) = 'true'
   AND CASE p.policy
       WHEN 'all' THEN TRUE
       WHEN 'followed' THEN EXISTS (SELECT FROM accounts_follow f
                                     WHERE f.account_id = n.account_id AND f.target_id = n.from_account_id)
       WHEN 'follower' THEN EXISTS (SELECT FROM accounts_follow f
                                     WHERE f.account_id = n.from_account_id AND f.target_id = n.account_id)
       ELSE FALSE END
   AND u.disabled_at IS NULL AND {PRESENT.sql("n.account_id", has_viewer=False)}
   AND {PRESENT.sql("n.from_account_id", has_viewer=False)}
"""  # noqa: S608 (constants)
"""Notifications `n` with the subscriptions `p` (of a user `u`, with a token `t`) that currently want them (contract,
behaviours section 17).
"""

_MESSAGES: Final = f"""
SELECT w.id, p.id, p.endpoint, p.p256dh, p.auth, p.standard, t.token, u.locale,
       n.id, n.type, n.account_id, n.from_account_id, n.status_id
  FROM notifications_push w, {PUSHED_SQL}
   AND w.subscription_id = p.id AND w.notification_id = n.id AND w.id = ANY(%(ids)s)
"""  # noqa: S608 (constants)


def find_push_subscription(token_id: int) -> PushSubscription:
    """Return the subscription of an access token. Raises NotFound."""
    subscription = PushSubscription.objects.filter(token_id=token_id).first()
    if subscription is None:
        raise NotFound("Not Found")
    return subscription


@dataclass(frozen=True, slots=True)
class PushMessage:
    """A notification for one subscription, with the endpoint, the keys of the device, and the access token. `locale` is the
    recipient's language, or "" if none was chosen. `own` means that the sender is the recipient.
    """

    subscription_id: int
    endpoint: str
    p256dh: str
    auth: str
    standard: bool
    token: str
    locale: str
    notification_id: int
    type: str
    own: bool
    content: Content


def load_messages(push_ids: Collection[int]) -> dict[int, PushMessage]:
    """Return the messages of these pushes by push id. Pushes are left out if the user no longer wants them or may not read the
    post. Six queries at most, and one more if a sender has moved.
    """
    rows = rows_of(_MESSAGES, {"ids": list(push_ids)})
    contents = load_contents({row[-3:] for row in rows})
    messages: dict[int, PushMessage] = {}
    for push_id, *device, locale, notification_id, kind, recipient_id, sender_id, status_id in rows:
        content = contents.get((recipient_id, sender_id, status_id))
        if content is not None:
            values = (*device, locale or "", notification_id, kind, sender_id == recipient_id, content)
            messages[push_id] = PushMessage(*values)
    return messages
