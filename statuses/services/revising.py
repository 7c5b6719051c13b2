"""Edits local posts, and stores edits of local and remote posts with the posts' previous versions."""

from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Account, Tag
from accounts.services.tags import count_featured_use, count_use, ensure_tags
from social.kernel import clock
from social.kernel.batches import BATCH
from social.kernel.errors import Forbidden, NotFound, require_found
from social.kernel.events import publish
from social.kernel.locks import delete_rows
from statuses import models
from statuses.events import StatusEdited
from statuses.policies.interactions import is_pending, merged
from statuses.policies.posts import VERSION_COLUMNS, Post
from statuses.policies.publishing import check_tags
from statuses.policies.quotes import choose_policy, local_policy
from statuses.policies.visibility import is_for_anybody, is_listed
from statuses.queries.posts import load_posts
from statuses.queries.statuses import find_own_status, find_page_url
from statuses.services.changing import change_statuses
from statuses.services.composing import Draft, check_files, cleaned, compose_content
from statuses.services.holding import EditHeldForReview, hold_edit
from statuses.services.media import CHANGED_COLUMNS, MediaChange, prepared
from statuses.services.polls import revise_poll
from statuses.services.quotes import changed_policies, write_policies
from statuses.services.screening import UNSCREENED, Screening, limit_author, note_stored, screen_edit
from statuses.services.storing import Composed, lock_media, store_linked, store_unknown_mentions

VERSIONS_LIMIT: Final = 200
"""Maximum number of earlier versions stored for a post: the first version, and the newest of the others."""


def store_revision(
    status: models.Status,
    new: Composed,
    *,
    media: Sequence[models.MediaAttachment],
    described: Collection[int],
    changed: bool = False,
    screening: Screening = UNSCREENED,
) -> bool:
    """Store an edit with the previous version, and return whether anything has changed (`changed`: the caller has changed
    something). Publishes StatusEdited. If nothing visible changes, only new policies are written (QuotePolicyChanged).

    The caller has locked `status` and its files in order (`media`). CHANGED_COLUMNS are written for the files in `described`.
    The actions of the spam rules in `screening` are applied; the caller has checked that none of these rules holds the edit.
    Visibility and parent do not change. Accounts that are no longer mentioned may still read the post (behaviours section 9
    "Edit").
    """
    before, current = _version(status)
    values = new.written
    # The HTML of a local post depends on its text and on the names of mentioned accounts; therefore a change of only the HTML
    # is not an edit.
    source = "content" if status.local else "text"
    changed |= any(getattr(status, name) != value for name, value in values.items() if name != source)
    changed |= [item.id for item in media] != before.media_ids or bool(described)
    changed |= revise_poll(status, new.poll)
    policies = changed_policies(status, new.quote_policy, new.interaction_policy)
    if not changed:
        write_policies(status, policies)
        return False
    values |= policies
    _store_version(before)
    _replace_media(status, current, media, described)
    first_mention_id = _replace_mentions(status, new)
    added, removed = _replace_tags(status, new.tags)
    models.UnknownMention.objects.filter(status_id=status.id).delete()
    store_unknown_mentions(status.id, new.unknown_mentions)
    models.LinkedCollection.objects.filter(status_id=status.id).delete()
    store_linked(status.id, new.collections)
    edited_at = new.edited_at or clock.now()
    change_statuses([status.id], edited_at=edited_at, **values)
    publish(
        StatusEdited(
            status_id=status.id,
            account_id=status.account_id,
            local=status.local,
            link=new.has_link,
            first_mention_id=first_mention_id,
        )
    )
    # An older edit that is still held would replace this edit when approved.
    delete_rows(models.HeldPost.objects.filter(status_id=status.id))
    note_stored(status, screening, limit_author(new, screening))
    _count_tags(status, added, removed, edited_at)
    return True


def store_sensitivity(status: models.Status, *, sensitive: bool) -> None:
    """Store an edit by staff that changes only `sensitive`; the caller has locked `status`. Publishes StatusEdited."""
    before, _files = _version(status)
    _store_version(before)
    change_statuses([status.id], sensitive=sensitive, edited_at=clock.now())
    publish(StatusEdited(status_id=status.id, account_id=status.account_id, local=status.local))


def _version(status: models.Status) -> tuple[models.StatusEdit, list[models.MediaAttachment]]:
    # The returned version is unsaved.
    current = list(models.MediaAttachment.objects.filter(status_id=status.id).order_by("position", "id"))
    version = models.StatusEdit(
        status_id=status.id,
        **{name: getattr(status, name) for name in VERSION_COLUMNS},
        sensitive=status.sensitive,
        media_ids=[media.id for media in current],
        media_descriptions=[media.description for media in current],
        poll_options=models.Poll.objects.filter(status_id=status.id).values_list("options", flat=True).first(),
        quote_id=models.Quote.objects.filter(status_id=status.id).values_list("id", flat=True).first(),
        created_at=status.edited_at or status.created_at,
    )
    return version, current


def _store_version(version: models.StatusEdit) -> None:
    version.save(force_insert=True)
    versions = models.StatusEdit.objects.filter(status_id=version.status_id).order_by("-created_at", "-id")
    ids = list(versions.values_list("id", flat=True)[: VERSIONS_LIMIT + 1])
    if len(ids) > VERSIONS_LIMIT:
        versions.filter(id=ids[-2]).delete()


def _replace_media(
    status: models.Status,
    current: Sequence[models.MediaAttachment],
    media: Sequence[models.MediaAttachment],
    described: Collection[int],
) -> None:
    media_ids = {item.id for item in media}
    dropped = [item.id for item in current if item.id not in media_ids]
    models.MediaAttachment.objects.filter(id__one_of=dropped).update(status=None, former_status=status)
    for position, item in enumerate(media):
        item.status, item.former_status, item.position = status, None, position
    if media:
        columns = ["status", "former_status", "position"]
        models.MediaAttachment.objects.bulk_update(media, columns, batch_size=BATCH)
        rewritten = [item for item in media if item.id in described]
        models.MediaAttachment.objects.bulk_update(rewritten, CHANGED_COLUMNS, batch_size=BATCH)


def _replace_mentions(status: models.Status, new: Composed) -> int | None:
    # Accounts that are no longer mentioned keep a silent mention. Returns the lowest id of the new mentions.
    known_mentions = {mention.account_id: mention for mention in models.Mention.objects.filter(status_id=status.id)}
    mentioned_ids = {account.id for account in new.mentions if account.id not in new.silent}
    for silent in (True, False):
        changed = [
            mention.id
            for account_id, mention in known_mentions.items()
            if mention.silent != silent and (account_id not in mentioned_ids) == silent
        ]
        models.Mention.objects.filter(id__one_of=changed).update(silent=silent)
    added = models.Mention.objects.bulk_create(
        (
            models.Mention(status=status, account=account, silent=account.id in new.silent)
            for account in new.mentions
            if account.id not in known_mentions
        ),
        batch_size=BATCH,
    )
    return min((mention.id for mention in added), default=None)


def _replace_tags(status: models.Status, tags: Sequence[tuple[str, str]]) -> tuple[list[Tag], list[int]]:
    # Returns the added hashtags and the ids of the removed hashtags.
    before = list(models.StatusTag.objects.filter(status_id=status.id).order_by("id").values_list("tag_id", flat=True))
    private = not is_for_anybody(status.visibility)
    found = ensure_tags(tags, private=private, local_only=status.local_only) if tags else []
    if status.local:
        check_tags(tag for tag in found if tag.id not in before)
    after = [tag.id for tag in found]
    if after != before:
        models.StatusTag.objects.filter(status_id=status.id).delete()
        models.StatusTag.objects.bulk_create(
            (models.StatusTag(status=status, tag=tag) for tag in found), batch_size=BATCH
        )
    return [tag for tag in found if tag.id not in before], [number for number in before if number not in after]


def _count_tags(status: models.Status, added: Sequence[Tag], removed: Sequence[int], edited_at: datetime) -> None:
    if status.local and status.is_for_anybody:
        if added:
            count_featured_use(status.account_id, [tag.id for tag in added], status.created_at, 1)
        if removed:
            count_featured_use(status.account_id, removed, status.created_at, -1)
    if added and is_listed(status.visibility) and not status.local_only:
        count_use(tags=added, account_id=status.account_id, used_at=edited_at)


def edit_status(*, author: Account, status_id: int, draft: Draft, approve: Callable[[], None] | None = None) -> None:
    """Edit the author's own post and store the previous version. `author` is local, with its `user`. Publishes StatusEdited.

    Of concurrent edits the last one wins; an edit without changes writes nothing. Raises NotFound for another account's post, a
    boost, and a post deleted in the meantime; Forbidden for a reply that awaits approval; Invalid as for a new post;
    EditHeldForReview if a spam rule holds the edit. For an edit that staff have reviewed, `approve` is called in the
    transaction, and no rule is checked.
    """
    status = find_own_status(status_id, author.id)
    if status.is_reblog:
        raise NotFound
    if is_pending(status.interaction_policy):
        raise Forbidden(_("A reply that is waiting for approval cannot be edited."))
    (post,) = load_posts([status.id])
    new = _compose(author, draft, status, post)
    with ExitStack() as stack:
        changes = {
            media.id: stack.enter_context(prepared(media, change))
            for media, change in _changed_files(author, new.media_ids, draft)
        }
        with transaction.atomic():
            locked = require_found(
                models.Status.objects.select_for_update().filter(id=status.id, deleted_at=None).first()
            )
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


def _compose(author: Account, draft: Draft, status: models.Status, post: Post) -> Composed:
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
) -> list[tuple[models.MediaAttachment, MediaChange]]:
    # Whether the files may be attached is checked later.
    changes_by_id = {number: change for number, change in draft.media_changes if number in media_ids}
    if not changes_by_id:
        return []
    found = models.MediaAttachment.objects.filter(id__one_of=list(changes_by_id), account_id=author.id)
    return [(media, changes_by_id[media.id]) for media in found]
