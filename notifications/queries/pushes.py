"""Reads what is to be pushed now, with all that the messages say, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from accounts.models import Account
from accounts.policies.audience import PRESENT
from accounts.policies.relations import Relations
from accounts.queries.accounts import load_accounts
from accounts.queries.relations import load_relations_of
from social.kernel.statements import rows_of
from statuses.policies.audience import can_see
from statuses.policies.filters import Filters
from statuses.policies.posts import PostBody
from statuses.queries.filters import load_filters_of
from statuses.queries.posts import load_bodies, load_posts

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
"""Notifications `n` and the subscriptions `p` (of a user `u`, with a token `t`) that ask for them, as they are now
(contract, behaviours section 17)."""

_MESSAGES: Final = f"""
SELECT w.id, p.id, p.endpoint, p.p256dh, p.auth, p.standard, t.token, u.locale,
       n.id, n.type, n.account_id, n.from_account_id, n.status_id
  FROM notifications_push w, {PUSHED_SQL}
   AND w.subscription_id = p.id AND w.notification_id = n.id AND w.id = ANY(%(ids)s)
"""  # noqa: S608 (constants)


_NO_FILTERS: Final = Filters()


@dataclass(frozen=True, slots=True)
class PushAddress:
    """Where a subscription has messages sent, with the keys of its device, and the access token that it belongs to."""

    subscription_id: int
    endpoint: str
    p256dh: str
    auth: str
    standard: bool
    token: str


@dataclass(frozen=True, slots=True)
class PushMessage:
    """A notification for one subscription, and what it is about.

    `locale` is the recipient's language, or "". `own`: `sender` is the recipient. `post` is what the post says that it is
    about; `filters` are the recipient's own.
    """

    address: PushAddress
    locale: str
    notification_id: int
    type: str
    own: bool
    sender: Account
    post: PostBody | None
    filters: Filters


def load_messages(push_ids: Collection[int]) -> dict[int, PushMessage]:
    """The messages of these pushes, by push; those that are not asked for any more, or are about a post that the recipient
    may not read (any more), are left out. Six queries at most, and one more if a sender has moved.
    """
    rows = rows_of(_MESSAGES, {"ids": list(push_ids)})
    recipients, senders = {row[-3] for row in rows}, {row[-2] for row in rows}
    status_ids = {row[-1] for row in rows if row[-1] is not None}
    posts = {post.id: post for post in load_posts(status_ids)} if status_ids else {}
    bodies = load_bodies(posts)
    relations = load_relations_of(recipients, {post.account_id for post in posts.values()})
    filters = load_filters_of(recipients) if posts else {}
    people = load_accounts(senders)
    found: dict[int, PushMessage] = {}
    for push_id, *address, locale, notification_id, kind, recipient_id, sender_id, status_id in rows:
        if status_id is not None:
            post = posts.get(status_id)
            related = relations.get(recipient_id) or Relations(viewer_id=recipient_id)
            if post is None or not can_see(post, recipient_id, related, post.mentioned_ids):
                continue
        if sender_id in people and (status_id is None or status_id in bodies):
            found[push_id] = PushMessage(
                PushAddress(*address),
                locale=locale or "",
                notification_id=notification_id,
                type=kind,
                own=sender_id == recipient_id,
                sender=people[sender_id],
                post=bodies.get(status_id),
                filters=filters.get(recipient_id, _NO_FILTERS),
            )
    return found
