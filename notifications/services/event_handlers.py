"""Creates and deletes notifications for events of other apps; every function handles one kind of event."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from django.db.models import Exists, OuterRef

from accounts import events as account_events
from accounts.models import Follow, FollowRequest, User
from accounts.models.user import Permission
from accounts.queries.relations import blocks_domain, load_block_pairs, load_relations
from accounts.queries.users import list_staff
from moderation.events import ReportFiled, StrikeIssued
from moderation.models import Report, Strike
from notifications.events import FollowersWaiting, VotersWaiting
from notifications.models import Notification, NotificationPermission, NotificationType
from notifications.services.notifying import (
    Note,
    notify,
    remove_between,
    remove_from_domain,
    remove_of_posts,
    take_back,
)
from social.kernel import clock
from social.kernel.events import publish
from social.kernel.plans import IDS, Plan
from statuses import events as status_events
from statuses.models import Favourite, Mention, Poll, PollVote, Quote, QuoteState, Status
from statuses.policies.visibility import FOLLOWER_VISIBILITIES, is_conversational
from statuses.queries.posts import load_posts
from statuses.queries.statuses import is_readable
from timelines.services.conversations import add_posts

BATCH_SIZE: Final = 200
"""Maximum number of followers notified in one transaction."""

MAX_AGE: Final = timedelta(days=1)
_FAVOURITES = Plan(
    lambda: Favourite.objects.filter(id__one_of=IDS, status__deleted_at=None).values_list(
        "id", "account_id", "status_id", "status__account_id"
    )
)


def notify_followed(events: Sequence[account_events.AccountFollowed]) -> None:
    """Notify accounts of new followers, and delete the notifications of accepted follow requests (behaviours section 13)."""
    # The two conditions also match pairs of accounts from different events. Such a match does no harm: a notification is
    # deleted only if it is outdated because the pair has no request any more.
    requests = FollowRequest.objects.filter(account_id=OuterRef("from_account_id"), target_id=OuterRef("account_id"))
    Notification.objects.filter(
        ~Exists(requests),
        account_id__one_of=[event.target_id for event in events],
        from_account_id__one_of=[event.account_id for event in events],
        type=NotificationType.FOLLOW_REQUEST,
    ).delete()
    follows = Follow.objects.filter(id__one_of=[event.follow_id for event in events])
    notify(
        Note(follow.target_id, follow.account_id, NotificationType.FOLLOW, f"follow:{follow.id}") for follow in follows
    )


def notify_follow_requested(events: Sequence[account_events.FollowRequested]) -> None:
    """Notify a locked account of a follow request."""
    requests = FollowRequest.objects.filter(id__one_of=[event.request_id for event in events])
    notify(
        Note(row.target_id, row.account_id, NotificationType.FOLLOW_REQUEST, f"follow_request:{row.id}")
        for row in requests
    )


def forget_follow(events: Sequence[account_events.AccountUnfollowed]) -> None:
    """Delete the notifications of follows and follow requests that have ended, even if they were read."""
    for event in events:
        # `follow_id` is the id of a follow or of a request; these ids are unique only together with both accounts.
        take_back(
            (f"follow:{event.follow_id}", f"follow_request:{event.follow_id}"),
            account_id=event.target_id,
            from_account_id=event.account_id,
        )


def notify_mentioned(events: Sequence[status_events.StatusPublished]) -> None:
    """Notify the local accounts that a post mentions, except accounts that block another account that the post mentions or
    replies to, and accounts that the post addresses silently. Add a direct post to the conversations of the notified accounts
    (behaviours section 11).
    """
    notify_of_mentions({event.status_id: 0 for event in events})


def notify_of_mentions(first_ids: Mapping[int, int]) -> None:
    """Notify of mentions as `notify_mentioned` does; `first_ids` maps each post to the lowest mention id to handle."""
    mentions = (
        Mention.objects.select_related("status")
        .filter(status_id__one_of=list(first_ids), status__deleted_at=None)
        .order_by("status_id", "id")
    )
    involved: dict[int, set[int]] = defaultdict(set)
    for mention in mentions:
        involved[mention.status_id].add(mention.account_id)
        if mention.status.in_reply_to_account_id is not None:
            involved[mention.status_id].add(mention.status.in_reply_to_account_id)
    notified = notify(
        Note(
            mention.account_id,
            mention.status.account_id,
            NotificationType.MENTION,
            f"mention:{mention.id}",
            mention.status_id,
            frozenset(involved[mention.status_id] - {mention.account_id, mention.status.account_id}),
            private=is_conversational(mention.status.visibility),
        )
        for mention in mentions
        if not mention.silent and mention.id >= first_ids[mention.status_id]
    )
    add_posts([(account_id, status_id) for account_id, status_id in notified if status_id is not None])


def notify_followers(events: Sequence[status_events.StatusPublished]) -> None:
    """Notify followers who want to be notified of an author's new posts (`notify`), but not of replies to others (behaviours
    section 13, `status`) or of posts that were written more than MAX_AGE ago.
    """
    young_posts = Status.objects.filter(
        id__one_of=[event.status_id for event in events],
        deleted_at=None,
        visibility__in=FOLLOWER_VISIBILITIES,
        created_at__gt=clock.now() - MAX_AGE,
    )
    posts = [
        status
        for status in young_posts.order_by("id")
        if status.in_reply_to_account_id in (None, status.account_id) and status.in_reply_to_uri is None
    ]
    follows = Follow.objects.filter(target_id__one_of=list({status.account_id for status in posts}), notify=True)
    awaited = set(follows.values_list("target_id", flat=True).distinct())
    for status in posts:
        if status.account_id in awaited:
            _notify_followers(status, after_id=0)


def notify_more_followers(events: Sequence[FollowersWaiting]) -> None:
    """Notify the next batch of `notify_followers`."""
    for event in events:
        for status in Status.objects.filter(id=event.status_id, deleted_at=None):
            _notify_followers(status, after_id=event.after_id)


def _notify_followers(status: Status, *, after_id: int) -> None:
    rows = Follow.objects.filter(target_id=status.account_id, notify=True, account__domain=None, id__gt=after_id)
    follows = list(rows.order_by("id")[:BATCH_SIZE])
    notify(
        Note(follow.account_id, status.account_id, NotificationType.STATUS, f"status:{status.id}", status.id)
        for follow in follows
        if not follow.languages or not status.language or status.language in follow.languages
    )
    if len(follows) == BATCH_SIZE:
        publish(FollowersWaiting(status_id=status.id, after_id=follows[-1].id))


def notify_reblogged(events: Sequence[status_events.StatusReblogged]) -> None:
    """Notify the author of a boosted post."""
    boosts = Status.objects.select_related("reblog_of").filter(
        id__one_of=[event.reblog_id for event in events], deleted_at=None, reblog_of__deleted_at=None
    )
    notify(
        Note(post.account_id, boost.account_id, NotificationType.REBLOG, f"reblog:{boost.id}", post.id)
        for boost in boosts
        if (post := boost.reblog_of) is not None
    )


def notify_quoted(events: Sequence[status_events.StatusQuoted]) -> None:
    """Notify the author of a quoted post if the author may read the quoting post."""
    quotes = Quote.objects.select_related("quoted_status").filter(
        id__one_of=[event.quote_id for event in events],
        state=QuoteState.ACCEPTED,
        status__deleted_at=None,
        quoted_status__deleted_at=None,
    )
    posts = {post.id: post for post in load_posts(quote.status_id for quote in quotes)}
    notify(
        Note(quoted.account_id, post.account_id, NotificationType.QUOTE, f"quote:{quote.id}", post.id)
        for quote in quotes
        if (quoted := quote.quoted_status) is not None
        if is_readable(post := posts[quote.status_id], quoted.account_id)
    )


def notify_favourited(events: Sequence[status_events.StatusFavourited]) -> None:
    """Notify the author of a favourited post."""
    favourites = _FAVOURITES.run(ids=[event.favourite_id for event in events])
    notify(
        Note(author_id, account_id, NotificationType.FAVOURITE, f"favourite:{number}", status_id)
        for number, account_id, status_id, author_id in favourites
    )


def notify_poll_ended(events: Sequence[status_events.PollEnded | VotersWaiting]) -> None:
    """Notify the author and the local voters of a poll that has ended (behaviours section 13, `poll`). If an edit has postponed
    the end, the poll is skipped, because another event was published for the new end.
    """
    for event in events:
        ended = Poll.objects.select_related("status").filter(status__deleted_at=None, expires_at__lte=clock.now())
        for poll in ended.filter(id=event.poll_id):
            after_id = event.after_id if isinstance(event, VotersWaiting) else 0
            if not after_id:
                notify([_poll_note(poll, poll.status.account_id)])
            votes = PollVote.objects.filter(poll=poll, account__domain=None, account_id__gt=after_id)
            voters = list(votes.order_by("account_id").values_list("account_id", flat=True).distinct()[:BATCH_SIZE])
            notify(_poll_note(poll, voter) for voter in voters)
            if len(voters) == BATCH_SIZE:
                publish(VotersWaiting(poll_id=poll.id, after_id=voters[-1]))


def _poll_note(poll: Poll, recipient_id: int) -> Note:
    assert poll.expires_at is not None  # the query selects only polls that have ended
    cause = f"poll:{poll.id}:{int(poll.expires_at.timestamp())}"
    return Note(recipient_id, poll.status.account_id, NotificationType.POLL, cause, poll.status_id)


def forget_favourite(events: Sequence[status_events.StatusUnfavourited]) -> None:
    """Delete the notification of a favourite that was undone."""
    take_back(f"favourite:{event.favourite_id}" for event in events)


def forget_status(events: Sequence[status_events.StatusDeleted]) -> None:
    """Delete the notifications about a deleted post or, if the post is an undone boost, the notification of the boost."""
    remove_of_posts([event.status_id for event in events])
    take_back(f"reblog:{event.status_id}" for event in events)


def forget_blocked(events: Sequence[account_events.AccountBlocked]) -> None:
    """Handle AccountBlocked: unless the block was undone, delete both accounts' notifications about each other (SEED-130) and
    the blocked account's permission.
    """
    pairs = {(event.account_id, event.target_id) for event in events}
    for account_id, target_id in pairs & load_block_pairs([event.block_id for event in events]):
        remove_between(account_id=account_id, from_account_id=target_id)
        remove_between(account_id=target_id, from_account_id=account_id)
        NotificationPermission.objects.filter(account_id=account_id, from_account_id=target_id).delete()


def forget_blocked_domains(events: Sequence[account_events.DomainBlocked]) -> None:
    """Delete an account's notifications about the accounts of a server that the account has blocked."""
    for event in events:
        if blocks_domain(event.account_id, event.domain):
            remove_from_domain(account_id=event.account_id, domain=event.domain)


def forget_muted(events: Sequence[account_events.AccountMuted]) -> None:
    """Delete existing notifications about an account after a mute that includes notifications."""
    for event in events:
        mute = load_relations(event.account_id, [event.target_id]).muting.get(event.target_id)
        if mute is not None and mute.hide_notifications:
            remove_between(account_id=event.account_id, from_account_id=event.target_id)


def notify_reported(events: Sequence[ReportFiled]) -> None:
    """Notify everyone who manages reports of a new report (behaviours section 18); the sender is the reporter."""
    reports = Report.objects.filter(id__one_of=[event.report_id for event in events])
    staff = list(list_staff(Permission.MANAGE_REPORTS).values_list("account_id", flat=True))
    notify(
        Note(account_id, report.account_id, NotificationType.ADMIN_REPORT, f"report:{report.id}", report_id=report.id)
        for report in reports
        for account_id in staff
    )


def notify_signed_up(events: Sequence[account_events.UserActivated]) -> None:
    """Notify everyone who manages users that a new user can use their account (behaviours section 6)."""
    users = User.objects.filter(pk__one_of=[event.user_id for event in events])
    staff = list(list_staff(Permission.MANAGE_USERS).values_list("account_id", flat=True))
    notify(
        Note(account_id, user.account_id, NotificationType.ADMIN_SIGN_UP, f"sign_up:{user.pk}")
        for user in users
        for account_id in staff
    )


def notify_warned(events: Sequence[StrikeIssued]) -> None:
    """Notify users of strikes that were not undone. The user is also the sender, so that the moderator stays unnamed."""
    recipients = {event.strike_id: event.account_id for event in events}
    standing = Strike.objects.filter(id__one_of=list(recipients), overruled_at=None).values_list("id", flat=True)
    notify(
        Note(
            recipients[strike_id],
            recipients[strike_id],
            NotificationType.MODERATION_WARNING,
            f"strike:{strike_id}",
            strike_id=strike_id,
        )
        for strike_id in standing.order_by("id")
    )
