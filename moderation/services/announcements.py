"""Changes to announcements by staff with MANAGE_ANNOUNCEMENTS, recorded in the audit log, and reactions of local users."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, time
from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.emojis.queries import load_emojis
from accounts.models import Account
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.queries.accounts import by_address, split_address
from accounts.services.audit import record_about
from moderation import events
from moderation.models import Announcement, AnnouncementDismissal, AnnouncementReaction
from moderation.models.announcement import REACTIONS_LIMIT
from moderation.policies.announcements import AnnouncementDraft, announcement_errors, may_be_reaction
from social.kernel import clock, links
from social.kernel.errors import FieldError, Invalid, NotFound, require_valid
from social.kernel.events import publish
from social.kernel.ids import parse_id
from social.kernel.locks import keep_row, lock, lock_row
from social.kernel.text.names import clean_input, normalise_hashtag
from social.kernel.text.scan import Kind, Token, scan
from social.kernel.text.to_html import MentionTarget, to_html
from statuses.queries.statuses import list_statuses

# The raw text is searched for URLs, because the scanner finds no links to the host name of a test server.
_STATUS_URL: Final = r"(?<!\S){}/@[a-zA-Z0-9_]+/([0-9]{{1,19}})(?!\S)"


def create_announcement(*, by: Staff, draft: AnnouncementDraft) -> Announcement:
    """Store an announcement as a draft, and schedule it if the draft has a `scheduled_at`. Raises Forbidden, Invalid."""
    require(by, Permission.MANAGE_ANNOUNCEMENTS)
    with transaction.atomic():
        announcement = Announcement()
        _fill(announcement, draft)
        announcement.save(force_insert=True)
        _publish_due(announcement)
        record_about(by, "create", announcement)
    return announcement


def update_announcement(*, by: Staff, announcement: Announcement, draft: AnnouncementDraft) -> None:
    """Change an announcement; a published announcement is streamed again. Raises Forbidden, Invalid, NotFound."""
    with _changing(by, announcement) as locked:
        before = locked.text
        _fill(locked, draft)
        locked.updated_at = clock.now()
        if locked.published_at is not None:
            locked.scheduled_at = None
        locked.save()
        _publish_due(locked)
        if locked.published_at is not None:
            publish(events.AnnouncementPublished(announcement_id=locked.id))
        record_about(by, "update", locked, before=before, after=locked.text)


def publish_announcement(*, by: Staff, announcement: Announcement) -> None:
    """Publish an announcement; publishing it again is not an error. Raises Forbidden, NotFound."""
    with _changing(by, announcement) as locked:
        if locked.published_at is None:
            _publish(locked)
            record_about(by, "publish", locked)


def unpublish_announcement(*, by: Staff, announcement: Announcement) -> None:
    """Turn an announcement back into a draft; repeating it is not an error. Raises Forbidden, NotFound."""
    with _changing(by, announcement) as locked:
        if locked.published_at is not None or locked.scheduled_at is not None:
            Announcement.objects.filter(id=locked.id).update(published_at=None, scheduled_at=None)
            publish(events.AnnouncementWithdrawn(announcement_id=locked.id))
            record_about(by, "unpublish", locked)


def delete_announcement(*, by: Staff, announcement: Announcement) -> None:
    """Delete an announcement with its reactions. Raises Forbidden, NotFound."""
    with _changing(by, announcement) as locked:
        publish(events.AnnouncementWithdrawn(announcement_id=locked.id))
        record_about(by, "destroy", locked)
        locked.delete()


def handle_due(due: Sequence[events.AnnouncementDue]) -> None:
    """Handle AnnouncementDue: publish scheduled announcements, exactly once, and withdraw announcements that have ended."""
    now = clock.now()
    for event in due:
        with transaction.atomic():
            announcement = Announcement.objects.select_for_update().filter(id=event.announcement_id).first()
            if announcement is None:
                continue
            if (
                announcement.published_at is None
                and announcement.scheduled_at is not None
                and announcement.scheduled_at <= now
            ):
                _publish(announcement)
            elif (
                announcement.published_at is not None
                and announcement.ends_at is not None
                and announcement.ends_at <= now
            ):
                publish(events.AnnouncementWithdrawn(announcement_id=announcement.id))


def dismiss_announcement(*, account_id: int, announcement: Announcement) -> None:
    """Mark an announcement as read; repeated calls are no error (SEED-077). Raises NotFound if it is not shown."""
    with transaction.atomic():
        keep_row(announcement)
        AnnouncementDismissal.objects.bulk_create(
            [AnnouncementDismissal(announcement=announcement, account_id=account_id)],
            batch_size=1,
            ignore_conflicts=True,
        )


def add_reaction(*, account_id: int, announcement: Announcement, name: str) -> None:
    """React with a Unicode emoji, or with the shortcode of a custom emoji. Raises Invalid for an unknown emoji, for a ninth
    different emoji, and for a reaction that the account has already added.
    """
    emoji = load_emojis([(name, None)]).get((name, None))
    if not may_be_reaction(name, has_custom_emoji=emoji is not None):
        raise Invalid.of([FieldError("name", "ERR_INCLUSION", _("is not a recognized emoji"))])
    with transaction.atomic():
        # Without the lock two requests could both pass the check of the limit.
        lock(f"announcement:{announcement.id}")
        keep_row(announcement)
        reactions = AnnouncementReaction.objects.filter(announcement=announcement)
        if reactions.filter(name=name, account_id=account_id).exists():
            raise Invalid(_("Duplicate record"))
        if not reactions.filter(name=name).exists() and reactions.values("name").distinct().count() >= REACTIONS_LIMIT:
            raise Invalid.sentence(_("Limit of different reactions reached"))
        AnnouncementReaction.objects.create(
            announcement=announcement, account_id=account_id, name=name, custom_emoji=emoji
        )
        publish(events.AnnouncementReactionChanged(announcement_id=announcement.id, name=name))


def remove_reaction(*, account_id: int, announcement: Announcement, name: str) -> None:
    """Remove the account's own reaction. Raises NotFound if the account has not reacted with this emoji."""
    with transaction.atomic():
        removed, _rows = AnnouncementReaction.objects.filter(
            announcement=announcement, account_id=account_id, name=name
        ).delete()
        if not removed:
            raise NotFound
        publish(events.AnnouncementReactionChanged(announcement_id=announcement.id, name=name))


@contextmanager
def _changing(by: Staff, announcement: Announcement) -> Iterator[Announcement]:
    """Open a transaction: check the permission, and lock the row."""
    require(by, Permission.MANAGE_ANNOUNCEMENTS)
    with transaction.atomic():
        yield lock_row(announcement)


def _fill(announcement: Announcement, draft: AnnouncementDraft) -> None:
    require_valid(announcement_errors(draft), details=True)
    _write_text(announcement, clean_input(draft.text).strip())
    announcement.starts_at, announcement.ends_at = draft.starts_at, draft.ends_at
    announcement.all_day = draft.all_day
    if draft.all_day and draft.starts_at is not None and draft.ends_at is not None:
        announcement.starts_at = datetime.combine(draft.starts_at.astimezone(UTC), time.min, UTC)
        announcement.ends_at = datetime.combine(draft.ends_at.astimezone(UTC), time.max, UTC)
    announcement.scheduled_at = draft.scheduled_at


def _write_text(announcement: Announcement, text: str) -> None:
    """Set the text and its HTML with the known accounts, hashtags and public posts in it, without requests to other servers."""
    tokens = scan(text)
    mentioned = _find_mentioned(tokens)
    targets = {
        acct: MentionTarget(account.username, account.acct, account.page_url) for acct, account in mentioned.items()
    }
    hashtags = (normalise_hashtag(token.name) for token in tokens if token.kind is Kind.HASHTAG)
    announcement.text = text
    announcement.content = to_html(tokens, mentions=targets, hashtag_url=links.tag_url)
    announcement.mentioned_ids = list(dict.fromkeys(account.id for account in mentioned.values()))
    announcement.status_ids = _find_statuses(text, [token.raw for token in tokens if token.kind is Kind.URL])
    announcement.tag_names = list(dict.fromkeys(hashtags))


def _find_mentioned(tokens: Sequence[Token]) -> dict[str, Account]:
    addresses = {token.acct: split_address(token.acct) for token in tokens if token.kind is Kind.MENTION}
    valid = {acct: address for acct, address in addresses.items() if address is not None}
    accounts = by_address(list(valid.values()))
    keys = {acct: (name.lower(), domain.lower() if domain else None) for acct, (name, domain) in valid.items()}
    return {acct: accounts[key] for acct, key in keys.items() if key in accounts}


def _find_statuses(text: str, urls: Sequence[str]) -> list[int]:
    """Return the posts whose URLs are in a text: page URLs of local posts, ActivityPub ids of remote posts."""
    numbers = [parse_id(number) for number in re.findall(_STATUS_URL.format(re.escape(links.web_url())), text)]
    readable = list_statuses(None)
    posts = (
        *readable.filter(id__one_of=[number for number in numbers if number is not None]),
        *readable.filter(uri__one_of=urls),
    )
    return list(dict.fromkeys(status.id for status in posts))


def _publish(announcement: Announcement) -> None:
    now = clock.now()
    Announcement.objects.filter(id=announcement.id).update(published_at=now, updated_at=now, scheduled_at=None)
    publish(events.AnnouncementPublished(announcement_id=announcement.id))


def _publish_due(announcement: Announcement) -> None:
    """Publish AnnouncementDue for the scheduled time of an announcement and for its end. If the scheduled time has passed,
    publish the announcement immediately.
    """
    now, due = clock.now(), events.AnnouncementDue(announcement_id=announcement.id)
    if announcement.scheduled_at is not None:
        if announcement.scheduled_at <= now:
            _publish(announcement)
        else:
            publish(due, due_at=announcement.scheduled_at)
    if announcement.ends_at is not None and announcement.ends_at > now:
        publish(due, due_at=announcement.ends_at)
