"""Sends local changes to other servers: chooses for each event the activity and its inboxes (contract, federation sections 6, 7
and 12).

Every function is a reaction: it reads the current state in the transaction that removes its outbox rows, so that each activity
is enqueued exactly once.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from accounts import events as account_events
from accounts.emojis.queries import EmojiLookup, account_texts
from accounts.models import Account, Follow, FollowRequest
from accounts.services.key_pairs import keys_of
from accounts.transfers.models import Move
from federation.documents import activities
from federation.documents.actors import actor
from federation.documents.notes import load_notes
from federation.events import FollowAnswerDue
from federation.outbound.audience import (
    edited_inboxes,
    followers_inboxes,
    inbox_of,
    known_inboxes,
    load_pairs,
    post_inboxes,
    profile_inboxes,
    reached_inboxes,
)
from federation.outbound.queueing import drop_waiting, enqueue, last_due
from federation.outbound.quoting import send_quote_requests
from social.kernel import clock
from social.kernel.events import publish
from statuses import events as status_events
from statuses.models import Favourite, Poll, PollVote, QuoteState
from statuses.policies.posts import Post
from statuses.policies.visibility import is_for_followers_only
from statuses.queries.posts import load_posts
from statuses.services.polls import begin_announcement

SPACING: Final = timedelta(seconds=2)
BATCH_SIZE: Final = 100


def _accounts(ids: Iterable[int]) -> dict[int, Account]:
    accounts = Account.objects.select_related("moved_to").filter(id__one_of=ids)
    return {account.id: account for account in accounts}


def _sends_activities(account: Account) -> bool:
    """Tell whether an account sends activities other than its own Delete."""
    return account.local and account.deleted_at is None and account.erased_at is None


def _pair_key(one: int, other: int) -> str:
    return f"pair:{one}:{other}"


def _due_after_earlier(key: str, inboxes: Iterable[str], delay: timedelta | None = None) -> datetime | None:
    """Return the time at which to send the next of several Follows and Undos between two accounts; None means immediately. The
    time is SPACING after the last waiting activity, and at least `delay` from now.

    Other servers may process activities in any order; the spacing makes the last activity win.
    """
    before = last_due(key, inboxes)
    moments = [] if before is None else [before + SPACING]
    if delay is not None:
        moments.append(clock.now() + delay)
    return max(moments, default=None)


def send_published(events: Sequence[status_events.StatusPublished]) -> None:
    """Send a Create or Announce of each post to its audience."""
    posts = _load_sent(event.status_id for event in events)
    inboxes = {post.id: reached for post in posts if (reached := post_inboxes(post))}
    _enqueue_posts(posts, activities.of_posts([post for post in posts if post.id in inboxes]), inboxes)
    send_quote_requests(post.id for post in posts if post.quote_state == QuoteState.PENDING)


def send_edited(
    events: Sequence[status_events.StatusEdited | status_events.QuotePolicyChanged | status_events.QuoteSettled],
) -> None:
    """Send an Update of each post to every server where the post may have arrived; it replaces waiting Updates."""
    _send_updates((event.status_id for event in events), activities.update)


def send_poll_votes(events: Sequence[status_events.PollVotesDue]) -> None:
    """Send an Update of each poll with its current votes."""
    begin_announcement(event.poll_id for event in events)
    _send_updates((event.status_id for event in events), activities.update_poll)


def send_poll_ended(events: Sequence[status_events.PollEnded]) -> None:
    """Send an Update of each poll that has ended, with its final votes; nothing if an edit has moved the end."""
    ended = Poll.objects.filter(id__one_of=[event.poll_id for event in events], expires_at__lte=clock.now())
    _send_updates(ended.values_list("status_id", flat=True), activities.update_poll)


def _send_updates(status_ids: Iterable[int], activity: Callable[[dict[str, Any], datetime], dict[str, Any]]) -> None:
    posts = _load_sent(status_ids)
    inboxes = {post.id: reached for post in posts if (reached := edited_inboxes(post))}
    notes = load_notes(post for post in posts if post.id in inboxes)
    for number in notes:
        drop_waiting(f"status:{number}", inboxes[number], "Update")
    documents = {number: activity(note, clock.now()) for number, note in notes.items()}
    _enqueue_posts(posts, documents, inboxes)


def _load_sent(status_ids: Iterable[int]) -> list[Post]:
    """Return those of the posts that this server sends to other servers."""
    posts = load_posts(status_ids)
    return [post for post in posts if post.local and not post.is_deleted and not post.author.is_suspended]


def _enqueue_posts(
    posts: Sequence[Post], documents: Mapping[int, dict[str, Any]], inboxes: Mapping[int, set[str]]
) -> None:
    accounts = _accounts(post.account_id for post in posts if post.id in documents)
    for post in posts:
        if post.id in documents:
            account, synchronizes = accounts[post.account_id], is_for_followers_only(post.visibility)
            key = f"status:{post.id}"
            enqueue(account, documents[post.id], inboxes[post.id], key=key, synchronizes=synchronizes)


def send_deleted(events: Sequence[status_events.StatusDeleted]) -> None:
    """Send a Delete of each post, or the Undo of each boost, to every server where the post may have arrived, and drop waiting
    deliveries about the post. The Delete of a deleted account covers its posts.
    """
    posts = [post for post in load_posts(event.status_id for event in events) if post.local]
    accounts = _accounts(post.account_id for post in posts)
    for post in posts:
        account = accounts.get(post.account_id)
        if account is None or not _sends_activities(account):
            continue
        document = activities.undo_announce(post) if post.original is not None else activities.delete(post)
        inboxes = reached_inboxes(post)
        enqueue(account, document, inboxes, key=f"status:{post.id}", supersedes=True)


def send_favourited(events: Sequence[status_events.StatusFavourited]) -> None:
    """Send a Like to the server of each post's author."""
    rows = Favourite.objects.select_related("account", "status__account").filter(
        id__one_of=[event.favourite_id for event in events], account__domain=None, status__local=False
    )
    for row in rows.order_by("id"):
        document = activities.like(row.account, row.id, row.status.uri or "")
        enqueue(row.account, document, inbox_of(row.status.account), key=f"status:{row.status_id}")


def send_voted(events: Sequence[status_events.PollVoted]) -> None:
    """Send the votes of local accounts to the server of the poll's author."""
    votes = PollVote.objects.select_related("account", "poll__status__account").filter(
        id__one_of=[event.vote_id for event in events]
    )
    for row in votes.order_by("id"):
        status, author = row.poll.status, row.poll.status.account
        option = row.poll.options[row.choice]
        document = activities.vote(row.account, row.id, option, status.uri or "", author.uri)
        enqueue(row.account, document, inbox_of(author), key=f"status:{status.id}")


def send_unfavourited(events: Sequence[status_events.StatusUnfavourited]) -> None:
    """Send an Undo of the Like to the server of each post's author."""
    posts = {post.id: post for post in load_posts(event.status_id for event in events) if not post.local}
    accounts = _accounts([*(event.account_id for event in events), *(post.account_id for post in posts.values())])
    for event in events:
        post, account = posts.get(event.status_id), accounts.get(event.account_id)
        if post is None or account is None or not _sends_activities(account):
            continue
        document = activities.undo_like(account, event.favourite_id, post.object_uri)
        enqueue(account, document, inbox_of(accounts[post.account_id]), key=f"status:{post.id}")


def send_follow_requested(events: Sequence[account_events.FollowRequested]) -> None:
    """Send a Follow to the server of each account that a local account asks to follow."""
    requests = FollowRequest.objects.select_related("account", "target").filter(
        id__one_of=[event.request_id for event in events], account__domain=None, target__domain__isnull=False
    )
    for request in requests.order_by("id"):
        key, inboxes = _pair_key(request.account_id, request.target_id), inbox_of(request.target)
        document = activities.follow(request.account, request.target.uri, str(request.uri))
        enqueue(request.account, document, inboxes, key=key, due_at=_due_after_earlier(key, inboxes))


def send_follows_again(events: Sequence[account_events.FollowsToRenew]) -> None:
    """Send the Follows of a remote account's local followers again, BATCH_SIZE at a time. A server that has lost the follows
    restores them; any other server answers as before (contract, federation section 10 "Key change").
    """
    for event in events:
        rows: list[Follow | FollowRequest] = []
        for model in (Follow, FollowRequest):
            follows = model._default_manager.select_related("account", "target").filter(
                target_id=event.account_id, account__domain=None, uri__isnull=False, account_id__gt=event.after
            )
            rows += follows.order_by("account_id")[:BATCH_SIZE]
        rows = sorted(rows, key=lambda row: row.account_id)[:BATCH_SIZE]
        for row in rows:
            document = activities.follow(row.account, row.target.uri, str(row.uri))
            enqueue(row.account, document, inbox_of(row.target), key=_pair_key(row.account_id, row.target_id))
        if len(rows) == BATCH_SIZE:
            publish(account_events.FollowsToRenew(account_id=event.account_id, after=rows[-1].account_id))


def send_followed(events: Sequence[account_events.AccountFollowed]) -> None:
    """Send an Accept to the server of each new remote follower."""
    follows = Follow.objects.select_related("account", "target").filter(
        id__one_of=[event.follow_id for event in events], account__domain__isnull=False, target__domain=None
    )
    for follow in follows.order_by("id"):
        if follow.uri is not None:
            _answer(follow.target, follow.account, follow.uri, accepted=True, number=follow.id)


def send_answer(events: Sequence[FollowAnswerDue]) -> None:
    """Answer each Follow that changed nothing here with an Accept or a Reject. A Follow that was undone or replaced gets no
    Accept.
    """
    for event, account, follower in load_pairs(events, "account_id", "follower_id"):
        follow = Follow.objects.filter(account=follower, target=account).first()
        if account.local and not (event.accepted and (follow is None or follow.uri != event.uri)):
            number = follow.id if follow is not None else 0
            _answer(account, follower, event.uri, accepted=event.accepted, number=number)


def send_unfollowed(events: Sequence[account_events.AccountUnfollowed]) -> None:
    """Send an Undo of a local account's Follow, or a Reject of a remote account's Follow. When the remote follower has ended
    the follow, nothing is sent, and a waiting Accept is dropped.
    """
    for event, follower, target in load_pairs(events, "account_id", "target_id"):
        if event.uri is None or follower.local == target.local:
            continue
        key = _pair_key(follower.id, target.id)
        if event.ended_by_id == follower.id and not follower.local:
            drop_waiting(key, inbox_of(follower))
            continue
        if event.ended_by_id is None or not _sends_activities(follower if event.ended_by_id == follower.id else target):
            continue
        if follower.local:
            document, inboxes = activities.undo_follow(follower, target.uri, event.uri), inbox_of(target)
            enqueue(follower, document, inboxes, key=key, due_at=_due_after_earlier(key, inboxes, SPACING))
        else:
            _answer(target, follower, event.uri, accepted=False, number=event.follow_id)


def _answer(account: Account, follower: Account, uri: str, *, accepted: bool, number: int) -> None:
    document = activities.answer_follow(account, follower.uri, uri, accepted=accepted, number=number)
    enqueue(account, document, inbox_of(follower), key=_pair_key(follower.id, account.id))


def send_blocked(events: Sequence[account_events.AccountBlocked]) -> None:
    """Send a Block to the server of each blocked remote account."""
    _send_of_block(events, activities.block)


def send_unblocked(events: Sequence[account_events.AccountUnblocked]) -> None:
    """Send an Undo of the Block to the server of each remote account that is no longer blocked."""
    _send_of_block(events, activities.undo_block)


def _send_of_block(
    events: Sequence[account_events.AccountBlocked | account_events.AccountUnblocked],
    activity: Callable[[Account, str, str], dict[str, Any]],
) -> None:
    for event, account, target in load_pairs(events, "account_id", "target_id"):
        if account.local and not target.local:
            uri = event.uri or f"{account.uri}#blocks/{event.block_id}"
            document = activity(account, uri, target.uri)
            enqueue(account, document, inbox_of(target), key=_pair_key(account.id, target.id))


def send_profile(events: Sequence[account_events.ProfileUpdated]) -> None:
    """Send an Update of each actor to its followers, recently mentioned accounts and relays; it replaces waiting Updates."""
    for account in _accounts(event.account_id for event in events).values():
        inboxes = profile_inboxes(account.id) if _sends_activities(account) else ()
        if not inboxes:
            continue
        emojis = EmojiLookup.for_accounts([account]).find(None, *account_texts(account))
        document = activities.update_actor(
            account, actor(account, keys_of(account=account).public_key, emojis), int(clock.now().timestamp())
        )
        enqueue(account, document, inboxes, key=f"account:{account.id}", supersedes=True)


def send_moved(events: Sequence[account_events.AccountMoved]) -> None:
    """Send a Move of each local account to its followers; nothing for a move that was reverted in the meantime."""
    for event in events:
        move = Move.objects.select_related("account", "target").filter(account_id=event.account_id).latest("id")
        account, target = move.account, move.target
        if target is not None and account.moved_to_id == target.id == event.target_id:
            document = activities.move(account, move.id, target.uri)
            enqueue(account, document, followers_inboxes(account.id), key=f"move:{account.id}")


def send_account_deleted(events: Sequence[account_events.AccountDeleted]) -> None:
    """Send a Delete of each actor to every known server, because the actor's posts and mentions may have reached any server."""
    for account in _accounts(event.account_id for event in events).values():
        enqueue(
            account, activities.delete_actor(account), known_inboxes(), key=f"account:{account.id}", supersedes=True
        )
