"""Reads the senders and posts of notifications for mails and pushes, without anything that the recipient may not read."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from accounts.models import Account
from accounts.policies.relations import Relations
from accounts.queries.accounts import load_accounts
from accounts.queries.relations import load_relations_of
from social.kernel import links
from statuses.policies.audience import can_see
from statuses.policies.filters import Filters
from statuses.policies.posts import PostBody
from statuses.queries.filters import load_filters_of
from statuses.queries.posts import load_bodies, load_posts
from statuses.serializers.status import searched_text

_NO_FILTERS: Final = Filters()

Subject = tuple[int, int, int | None]
"""The ids of a recipient, of a sender, and of the post concerned (None: no post)."""


@dataclass(frozen=True, slots=True)
class Content:
    """Content of a notification: the `sender`, the `post`, if any, with its URL `link`, and the recipient's `filters`."""

    sender: Account
    post: PostBody | None
    link: str
    filters: Filters

    @property
    def is_hidden(self) -> bool:
        """Tell whether a filter of the recipient hides the post."""
        post = self.post
        return post is not None and self.filters.hides(searched_text(post), post.id, "notifications")


def load_contents(subjects: Collection[Subject]) -> dict[Subject, Content]:
    """Return the contents of notifications by subject. Notifications are left out if the recipient may not read their post.
    Five queries at most, and one more if a sender has moved.
    """
    recipients = {recipient_id for recipient_id, _sender, _status in subjects}
    status_ids = {status_id for _recipient, _sender, status_id in subjects if status_id is not None}
    posts = {post.id: post for post in load_posts(status_ids)} if status_ids else {}
    bodies = load_bodies(posts)
    relations = load_relations_of(recipients, {post.account_id for post in posts.values()})
    filters = load_filters_of(recipients) if posts else {}
    people = load_accounts({sender_id for _recipient, sender_id, _status in subjects})
    contents: dict[Subject, Content] = {}
    for subject in subjects:
        recipient_id, sender_id, status_id = subject
        link, body = people[sender_id].page_url if sender_id in people else "", None
        if status_id is not None:
            post, body = posts.get(status_id), bodies.get(status_id)
            related = relations.get(recipient_id) or Relations(viewer_id=recipient_id)
            if post is None or body is None or not can_see(post, recipient_id, related, post.mentioned_ids):
                continue
            link = links.status_url(post.username, post.id) if post.local else body.url or post.object_uri
        if sender_id in people:
            contents[subject] = Content(people[sender_id], body, link, filters.get(recipient_id, _NO_FILTERS))
    return contents
