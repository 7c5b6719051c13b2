"""Stores edits of local and remote posts, and the posts' previous versions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from accounts.models import Tag
from accounts.services.tags import count_featured_use, count_use, ensure_tags
from social.kernel import clock
from social.kernel.batches import BATCH
from social.kernel.events import publish
from social.kernel.locks import delete_rows
from statuses import models
from statuses.events import StatusEdited
from statuses.policies.posts import VERSION_COLUMNS
from statuses.policies.publishing import check_tags
from statuses.policies.visibility import is_for_anybody, is_listed
from statuses.services.changing import change_statuses
from statuses.services.media import CHANGED_COLUMNS
from statuses.services.polls import revise_poll
from statuses.services.quotes import changed_policies, write_policies
from statuses.services.screening import UNSCREENED, Screening, limit_author, note_stored
from statuses.services.storing import Composed, store_linked, store_unknown_mentions

VERSIONS_LIMIT: Final = 200
"""Limit of earlier versions stored for a post: the first version, and the newest of the others."""


def store_revision(
    status: models.Status,
    new: Composed,
    *,
    media: Sequence[models.MediaAttachment],
    described: Collection[int],
    changed: bool = False,
    screening: Screening = UNSCREENED,
) -> bool:
    """Store an edit, and return whether anything has changed. `changed` is True if the caller has already changed something,
    such as the poll. The previous version is stored, and StatusEdited is published. If nothing visible changes, only new
    policies are written (QuotePolicyChanged).

    The caller's transaction has locked `status` (`select_for_update`) and `media`, its files in order; for files whose ids
    are in `described`, CHANGED_COLUMNS are written. Visibility and parent do not change. Actions of the spam rules in
    `screening` are applied; none of them holds the edit, as the caller has made sure. Accounts that are no longer mentioned
    may still read the post (contract, behaviours section 9 "Edit").
    """
    before, current = _version(status)
    values = new.written
    # The HTML of a local post depends on its text and on the names of mentioned accounts: a change of the HTML alone is no
    # edit.
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
    """Store an edit by staff that changes only whether the files are sensitive, with the previous version; the caller's
    transaction has locked `status`. Publishes StatusEdited.
    """
    before, _files = _version(status)
    _store_version(before)
    change_statuses([status.id], sensitive=sensitive, edited_at=clock.now())
    publish(StatusEdited(status_id=status.id, account_id=status.account_id, local=status.local))


def _version(status: models.Status) -> tuple[models.StatusEdit, list[models.MediaAttachment]]:
    # The version is not saved.
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
