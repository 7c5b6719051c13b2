"""Reads single posts, their versions and polls for a given viewer, and local posts that other sites may embed in frames."""

import re
from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from django.db.models import Q, QuerySet

from accounts.policies.relations import Relations
from accounts.queries.relations import load_relations
from social.kernel import links
from social.kernel.errors import NotFound, require_found
from social.kernel.ids import parse_id
from social.kernel.text.markup import plain
from statuses.models import MediaAttachment, Poll, Status, StatusEdit
from statuses.policies.audience import can_see, visible_to
from statuses.policies.posts import READ_COLUMNS, VERSION_COLUMNS, Post, PostBody
from statuses.policies.visibility import OPEN_VISIBILITIES
from statuses.queries.page import select
from statuses.queries.posts import load_bodies, load_posts


def list_statuses(viewer_id: int | None) -> QuerySet[Status]:
    """Select the posts that the viewer may read."""
    return Status.objects.filter(visible_to(viewer_id))


def list_conversation(root_id: int, viewer_id: int | None, after: int, limit: int) -> list[int]:
    """Return the ids of the public and unlisted posts of a thread that the viewer may read: at most `limit` ids above `after`,
    oldest first. If `after` is 0, the thread's first known post is included. Two queries at most.
    """
    open_posts = list_statuses(viewer_id).filter(visibility__in=OPEN_VISIBILITIES, reblog_of=None)
    found = open_posts.filter(thread_id=root_id, id__gt=after).order_by("id").values_list("id", flat=True)[:limit]
    first = [] if after else open_posts.filter(id=root_id).values_list("id", flat=True)
    return [*first, *found][:limit]


def find_post(status_id: Any, viewer_id: int | None) -> Post:
    """Return the post with this id if the viewer may read it; two queries, one for an anonymous viewer. Raises the same
    NotFound for a post that does not exist and for a post that the viewer may not read (security row 19).
    """
    return find_post_and_relations(status_id, viewer_id)[0]


def find_post_and_relations(status_id: Any, viewer_id: int | None) -> tuple[Post, Relations]:
    """Return the post as `find_post` does, with the viewer's relations to the accounts of the post."""
    number = parse_id(status_id)
    if number is not None:
        page = select([number], viewer_id, with_hiding=True)
        if page.rows:
            return page.rows[0], page.relations
    raise NotFound


def find_own_status(status_id: Any, account_id: int) -> Status:
    """Return the account's own post. Raises NotFound for another account's post, as if it did not exist."""
    own = Status.objects.filter(id=parse_id(status_id) or 0, account_id=account_id, deleted_at=None)
    return require_found(own.first())


def load_existing(status_id: Any) -> Post | None:
    """Return the post with this id without checking who may read it; None for a deleted post, or if its author is suspended."""
    number = parse_id(status_id)
    for post in load_posts([number]) if number is not None else []:
        if not post.is_deleted and not post.proper.is_deleted and not post.proper.author.is_suspended:
            return post
    return None


def find_existing(status_id: Any) -> Post:
    """Return the post as `load_existing` does, but raise NotFound instead of returning None."""
    return require_found(load_existing(status_id))


def find_page_url(post: Post) -> str:
    """Return the address of a post's page. Needs a query for a remote post."""
    if post.local:
        return links.status_url(post.username, post.id)
    url = Status.objects.filter(id=post.id).values_list("url", flat=True).first()
    return url or post.uri or ""


def is_readable(post: Post, account_id: int) -> bool:
    """Tell whether the account may read the post. One query."""
    relations = load_relations(account_id, [post.account_id, post.proper.account_id])
    return can_see(post, account_id, relations, post.mentioned_ids)


def require_readable(post: Post | None, account_id: int) -> Post:
    """Return the post if the account may read it, otherwise raise NotFound. The work is the same if `post` is None (security
    row 19).
    """
    people = [post.account_id, post.proper.account_id] if post is not None else [0]
    relations = load_relations(account_id, people)
    if post is None or not can_see(post, account_id, relations, post.mentioned_ids):
        raise NotFound
    return post


class Excerpt(NamedTuple):
    """Summary of a post for its author or staff: the address of its page, its content warning and text (`words`), and its
    earlier versions, each with the time from which it applied, oldest first.
    """

    id: int
    url: str
    words: str
    visibility: str
    earlier: list[tuple[datetime, str]]


def list_excerpts(status_ids: Sequence[int], account_id: int) -> list[Excerpt]:
    """Return summaries of the account's own posts among `status_ids`, oldest first, including deleted posts. Three queries."""
    posts = [post for post in load_posts(sorted(status_ids)) if post.account_id == account_id]
    bodies, earlier = load_bodies(post.id for post in posts), load_earlier_words([post.id for post in posts])
    return [
        Excerpt(
            post.id,
            links.status_url(post.username, post.id) if post.local else bodies[post.id].url or post.object_uri,
            " ".join(part for part in (*bodies[post.id].read_texts, plain(bodies[post.id].content)) if part),
            post.visibility,
            earlier.get(post.id, []),
        )
        for post in posts
        if post.id in bodies
    ]


def find_poll(poll_id: Any, viewer_id: int | None) -> tuple[Poll, Post, Relations]:
    """Return the poll with this id, its post, and the viewer's relations to the accounts of the post. Raises the same NotFound
    for a poll that does not exist and for a poll that the viewer may not see (SEED-074 and 075, security row 19).
    """
    poll = Poll.objects.filter(id=parse_id(poll_id) or 0).first()
    post, relations = find_post_and_relations(poll.status_id if poll is not None else 0, viewer_id)
    if poll is None:
        raise NotFound
    return poll, post, relations


_PATH: Final = re.compile(r"/(?:@|users/)(?P<username>[A-Za-z0-9_.-]+)/(?:statuses/)?(?P<id>[0-9]{1,19})(?:/embed)?/?")


def find_embeddable(username: str, status_id: Any) -> Post:
    """Return a post (not a boost) of the local account with this username. Raises the same NotFound for a post that does not
    exist and for a post that is neither public nor unlisted.
    """
    post = find_post(status_id, None)
    if not post.local or post.reblog_of_id is not None or post.username.lower() != username.lower():
        raise NotFound
    return post


def find_embeddable_at(url: str) -> Post:
    """Return an embeddable post by the address of its page, its document or its frame. Raises NotFound."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise NotFound from None
    path = _PATH.fullmatch(parts.path)
    if path is None or f"{parts.scheme}://{parts.netloc}".lower() != links.web_url().lower():
        raise NotFound
    return find_embeddable(path["username"], path["id"])


def load_earlier_words(status_ids: Collection[int]) -> dict[int, list[tuple[datetime, str]]]:
    """Load the earlier versions of posts as text, with the time from which each applied, for staff. One query."""
    found: dict[int, list[tuple[datetime, str]]] = {}
    edits = StatusEdit.objects.filter(status_id__one_of=list(status_ids)).order_by("created_at", "id")
    for edit in edits if status_ids else ():
        texts = [getattr(edit, name) for name in READ_COLUMNS]
        words = [*texts, plain(edit.content), *(edit.poll_options or ()), *edit.media_descriptions]
        found.setdefault(edit.status_id, []).append((edit.created_at, " ".join(part for part in words if part)))
    return found


def load_history(post: Post) -> list[tuple[Post, PostBody]]:
    """Return each version of a post (never a boost), oldest first, with the file descriptions of that version and the time from
    which the version applied (`edited_at`, None for the first version). One query for a post that was never edited, otherwise
    three.
    """
    body = require_found(load_bodies([post.id]).get(post.id))
    if body.edited_at is None:
        return [(post, body)]
    edits = StatusEdit.objects.filter(status_id=post.id).order_by("created_at", "id")
    own = MediaAttachment.objects.filter(Q(status_id=post.id) | Q(former_status_id=post.id))
    files = {media.id: media for media in own}
    return [*(_version(post, body, edit, files) for edit in edits), (post, body)]


def _version(post: Post, body: PostBody, edit: StatusEdit, files: dict[int, MediaAttachment]) -> tuple[Post, PostBody]:
    media = []
    for number, description in zip(edit.media_ids, edit.media_descriptions, strict=True):
        if number in files:
            media.append(copy(files[number]))
            media[-1].description = description
    quote_state = post.quote_state if edit.quote_id is not None else None
    return replace(post, sensitive=edit.sensitive, quote_state=quote_state), replace(
        body,
        **{name: getattr(edit, name) for name in VERSION_COLUMNS},
        media=media,
        poll_options=edit.poll_options or [],
        edited_at=edit.created_at,
    )
