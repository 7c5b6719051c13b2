"""Reads announcements with all data of their entities, in a fixed number of queries."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Case, Count, Exists, Max, Min, OuterRef, QuerySet, Value, When
from django.db.models.functions import Coalesce, Now

from accounts.emojis.models import CustomEmoji
from accounts.emojis.queries import EmojiLookup
from accounts.models import Account
from accounts.queries.accounts import load_accounts
from accounts.queries.users import CountOf
from moderation.models import Announcement, AnnouncementDismissal, AnnouncementReaction
from moderation.policies.announcements import is_shown
from social.kernel import clock
from social.kernel.errors import require_found
from statuses.queries.page import PostPage, hydrate


@dataclass(frozen=True, slots=True)
class Reaction:
    """Count of the reactions with an emoji; `me` tells whether the viewer has reacted with the emoji (None: no viewer)."""

    name: str
    count: int
    me: bool | None = None
    emoji: CustomEmoji | None = None


@dataclass(frozen=True)
class ShownAnnouncements:
    """Announcements with the data of their entities. `dismissed` is None without a viewer."""

    rows: Sequence[Announcement]
    dismissed: frozenset[int] | None
    reactions: Mapping[int, Sequence[Reaction]]
    accounts: Mapping[int, Account]
    statuses: PostPage
    emojis: EmojiLookup = field(default_factory=lambda: EmojiLookup(()))


def list_shown() -> QuerySet[Announcement]:
    """Return the announcements that are shown now, oldest first."""
    return (
        Announcement.objects.filter(is_shown(clock.now()))
        .alias(moment=Coalesce("starts_at", "published_at"))
        .order_by("moment", "id")
    )


def unread_announcements() -> CountOf:
    """Return an expression for queries of users: the number of announcements that the user has not dismissed. The database's
    clock decides which announcements are shown, because the query is compiled once and reused.
    """
    reader = OuterRef(OuterRef("account_id"))
    dismissed = AnnouncementDismissal.objects.filter(announcement_id=OuterRef("id"), account_id=reader)
    return CountOf(Announcement.objects.filter(~Exists(dismissed), is_shown(Now())).values("id"))


def find_shown(announcement_id: int) -> Announcement:
    """Return an announcement that is shown. Raises NotFound."""
    return require_found(list_shown().filter(id=announcement_id).first())


def show(rows: Sequence[Announcement], viewer_id: int | None) -> ShownAnnouncements:
    """Return the data of these announcements' entities in seven queries, plus the queries for linked posts, if any."""
    ids = [row.id for row in rows]
    dismissed = None
    if viewer_id is not None:
        dismissals = AnnouncementDismissal.objects.filter(account_id=viewer_id, announcement_id__one_of=ids)
        dismissed = frozenset(dismissals.values_list("announcement_id", flat=True))
    return ShownAnnouncements(
        rows=rows,
        dismissed=dismissed,
        reactions=load_reactions(ids, viewer_id),
        accounts=load_accounts(number for row in rows for number in row.mentioned_ids),
        statuses=hydrate(dict.fromkeys(number for row in rows for number in row.status_ids), viewer_id),
        emojis=EmojiLookup((None, [row.text]) for row in rows),
    )


def load_reactions(
    announcement_ids: Sequence[int], viewer_id: int | None, *, name: str | None = None
) -> Mapping[int, list[Reaction]]:
    """Return the reactions by announcement, the earliest emoji first; with `name`, only the reactions with this emoji."""
    reactions: dict[int, list[Reaction]] = defaultdict(list)
    mine = Case(When(account_id=viewer_id, then=Value(1)), default=Value(0)) if viewer_id is not None else Value(0)
    rows = AnnouncementReaction.objects.filter(announcement_id__one_of=announcement_ids)
    if name is not None:
        rows = rows.filter(name=name)
    groups = (
        rows.values("announcement_id", "name", "custom_emoji_id")
        .annotate(count=Count("id"), first=Min("id"), mine=Max(mine))
        .order_by("first")
    )
    emoji_ids = {group["custom_emoji_id"] for group in groups} - {None}
    emojis = CustomEmoji.objects.filter(id__one_of=emoji_ids).in_bulk()
    for group in groups:
        reactions[group["announcement_id"]].append(
            Reaction(
                name=group["name"],
                count=group["count"],
                me=None if viewer_id is None else bool(group["mine"]),
                emoji=emojis.get(group["custom_emoji_id"]),
            )
        )
    return reactions
