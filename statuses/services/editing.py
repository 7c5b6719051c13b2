from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Account
from social.kernel.errors import Forbidden, NotFound, require_found
from statuses.models import MediaAttachment, Status
from statuses.policies.interactions import is_pending, merged
from statuses.policies.posts import Post
from statuses.policies.quotes import choose_policy, local_policy
from statuses.queries.posts import load_posts
from statuses.queries.statuses import find_own_status, find_page_url
from statuses.services.composing import Draft, check_files, cleaned, compose_content
from statuses.services.holding import EditHeldForReview, hold_edit
from statuses.services.media import MediaChange, prepared
from statuses.services.revising import store_revision
from statuses.services.screening import UNSCREENED, screen_edit
from statuses.services.storing import Composed, lock_media


def edit_status(*, author: Account, status_id: int, draft: Draft, approve: Callable[[], None] | None = None) -> None:
    """Edit the author's own post and store the previous version. `author` is local, with its `user` loaded.

    If edits are concurrent, the last one wins, and each version is stored once; an edit without changes writes nothing.
    Publishes StatusEdited. Raises NotFound for another account's post, a boost, and a post deleted meanwhile; Forbidden for a
    reply that waits for approval; Invalid in the same cases as for a new post; EditHeldForReview if a spam rule holds the edit,
    which is then stored while the post stays unchanged. For an edit that staff have reviewed, `approve` is called in the
    transaction, and no rule is checked.
    """
    status = find_own_status(status_id, author.id)
    if status.is_reblog:
        raise NotFound
    if is_pending(status.interaction_policy):
        raise Forbidden(_("A reply that waits for approval cannot be edited."))
    (post,) = load_posts([status.id])
    new = _compose(author, draft, status, post)
    with ExitStack() as stack:
        changes = {
            media.id: stack.enter_context(prepared(media, change))
            for media, change in _changed_files(author, new.media_ids, draft)
        }
        with transaction.atomic():
            locked = require_found(Status.objects.select_for_update().filter(id=status.id, deleted_at=None).first())
            media = lock_media(author, new.media_ids, of_status_id=locked.id)
            if approve is not None:
                approve()
            words = [change.description for _number, change in draft.media_changes if change.description]
            screening = UNSCREENED if approve is not None else screen_edit(locked, new, words)
            if screening.held_by is None:
                described = [item.id for item in media if item.id in changes and changes[item.id].apply(item)]
                store_revision(locked, new, media=media, described=described, screening=screening)
                return
            previews = {
                item: changes[item.id].drawn for item in media if item.id in changes and changes[item.id].drawn.preview
            }
            hold_edit(locked, new, screening, draft=draft, media=media, previews=previews)
    raise EditHeldForReview


def _compose(author: Account, draft: Draft, status: Status, post: Post) -> Composed:
    # In a post without a quote, a content warning without a text becomes the text, and the previous warning stays.
    is_quote = post.quote_state is not None
    quoted = post.quoted if post.quoted is not None and not post.quoted.is_deleted else None
    media_ids = check_files(author.id, draft.media_ids, of_status_id=status.id)
    policy = None if draft.quote_approval_policy is None else choose_policy(draft.quote_approval_policy, "")
    draft = cleaned(draft)
    sensitive = bool(draft.spoiler_text) if draft.sensitive is None else draft.sensitive
    if not draft.text and draft.spoiler_text and not is_quote:
        draft = replace(draft, text=draft.spoiler_text, spoiler_text=status.spoiler_text)
        sensitive = bool(draft.sensitive)
    return compose_content(
        author,
        draft,
        visibility=status.visibility,
        sensitive=sensitive,
        media_ids=media_ids,
        is_quote=is_quote,
        quoted=None if quoted is None else (quoted.account_id, find_page_url(quoted)),
        before=status,
        quote_policy=None if policy is None else local_policy(status.visibility, policy),
        interaction_policy=None
        if draft.interaction_policy is None
        else merged(status.interaction_policy, draft.interaction_policy),
    )


def _changed_files(
    author: Account, media_ids: Sequence[int], draft: Draft
) -> list[tuple[MediaAttachment, MediaChange]]:
    # Whether the files may be attached is checked later.
    changes_by_id = {number: change for number, change in draft.media_changes if number in media_ids}
    if not changes_by_id:
        return []
    found = MediaAttachment.objects.filter(id__one_of=list(changes_by_id), account_id=author.id)
    return [(media, changes_by_id[media.id]) for media in found]
