"""Tests of the rules for posts in the home timeline, one by one (contract, behaviours section 11)."""

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import Account, AccountDomainBlock, Block, Follow, Mute
from accounts.queries.relations import load_relations
from social.kernel import clock
from social.kernel.cursors import Cursor
from statuses.models import Mention, Status, Visibility
from statuses.queries.posts import load_posts
from statuses.services.deleting import delete_status
from tests.factories.accounts import make_account, make_remote
from timelines.policies.feeds import FeedReason, home_verdict, involved_ids
from timelines.queries.home import list_home_items

pytestmark = pytest.mark.django_db


def write(author: Account, *, mentions: tuple[Account, ...] = (), **values: Any) -> Status:
    status = Status.objects.create(account=author, local=True, **values)
    Mention.objects.bulk_create(Mention(status=status, account=account) for account in mentions)
    return status


def boost(account: Account, status: Status, **values: Any) -> Status:
    return write(account, reblog_of=status, **values)


def verdict(status: Status, viewer: Account) -> FeedReason:
    row = load_posts([status.id])[0]
    return home_verdict(row, load_relations(viewer.id, involved_ids(row)))


def by_sql(viewer: Account) -> set[int]:
    return {item.id for item in list_home_items(viewer.id, Cursor(1000))}


class World:
    """A reader, a followed account, and others."""

    def __init__(self) -> None:
        self.reader, self.author, self.friend, self.stranger = (make_account() for _ in range(4))
        self.follow = Follow.objects.create(account=self.reader, target=self.author)
        Follow.objects.create(account=self.reader, target=self.friend)

    def says(self, status: Status) -> FeedReason:
        found = verdict(status, self.reader)
        assert found.delivered == (status.id in by_sql(self.reader)), found
        return found


@pytest.fixture
def world() -> World:
    return World()


def test_posts_of_followed_accounts_are_delivered(world: World) -> None:
    for visibility in (Visibility.PUBLIC, Visibility.UNLISTED, Visibility.PRIVATE):
        assert world.says(write(world.author, visibility=visibility)) is FeedReason.DELIVER
    assert world.says(write(world.stranger)) is FeedReason.NOT_FOLLOWED


def test_own_posts_are_always_delivered(world: World) -> None:
    Block.objects.create(account=world.reader, target=world.stranger)
    own = world.reader
    for status in (
        write(own, visibility=Visibility.DIRECT),
        write(own, in_reply_to_account=world.stranger),
        write(own, mentions=(world.stranger,)),
    ):
        assert world.says(status) is FeedReason.DELIVER


def test_deleted_posts_and_posts_of_suspended_authors_are_left_out(world: World) -> None:
    status = write(world.author)
    assert world.says(write(world.author, deleted_at=clock.now())) is FeedReason.UNREADABLE
    Account.objects.filter(id=world.author.id).update(suspended_at=clock.now())
    assert world.says(status) is FeedReason.UNREADABLE


def test_direct_posts_reach_only_the_followers_they_mention(world: World) -> None:
    for visibility in (Visibility.DIRECT, Visibility.LIMITED):
        assert world.says(write(world.author, visibility=visibility)) is FeedReason.UNREADABLE
        assert world.says(write(world.author, visibility=visibility, mentions=(world.reader,))) is FeedReason.DELIVER
        mentioned = write(world.stranger, visibility=visibility, mentions=(world.reader,))
        assert world.says(mentioned) is FeedReason.NOT_FOLLOWED


def test_a_reply_to_an_unknown_post_is_left_out(world: World) -> None:
    lost = write(world.author, in_reply_to_uri="https://elsewhere.example/1")
    assert world.says(lost) is FeedReason.BROKEN_REPLY


@pytest.mark.parametrize("uri", [None, "https://elsewhere.example/1"])
def test_the_rules_for_a_reply_stay_the_same_after_its_parent_is_deleted(world: World, uri: str | None) -> None:
    def answer(to: Account) -> Status:
        parent = write(to)
        answer = write(world.author, in_reply_to=parent, in_reply_to_account=to, in_reply_to_uri=uri)
        delete_status(status_id=parent.id)
        return answer

    for answered in (world.friend, world.author, world.reader):
        assert world.says(answer(answered)) is FeedReason.DELIVER
    assert world.says(answer(world.stranger)) is FeedReason.REPLY_TO_STRANGER


def test_replies_are_delivered_to_followers_of_both_accounts_and_to_the_replied_to_account(world: World) -> None:
    def answer(to: Account) -> Status:
        return write(world.author, in_reply_to=write(to), in_reply_to_account=to)

    assert world.says(answer(world.friend)) is FeedReason.DELIVER
    assert world.says(answer(world.author)) is FeedReason.DELIVER
    assert world.says(answer(world.reader)) is FeedReason.DELIVER
    assert world.says(answer(world.stranger)) is FeedReason.REPLY_TO_STRANGER


def test_a_follow_with_languages_delivers_posts_in_these_or_without_a_language(world: World) -> None:
    Follow.objects.filter(id=world.follow.id).update(languages=["de", "eo"])
    assert world.says(write(world.author, language="de")) is FeedReason.DELIVER
    assert world.says(write(world.author, language=None)) is FeedReason.DELIVER
    assert world.says(write(world.author, language="en")) is FeedReason.LANGUAGE
    Follow.objects.filter(id=world.follow.id).update(languages=[])
    assert world.says(write(world.author, language="en")) is FeedReason.DELIVER


@pytest.mark.parametrize("how", ["block", "mute"])
def test_blocked_and_muted_accounts_do_not_appear_in_the_timeline(world: World, how: str) -> None:
    if how == "block":
        Block.objects.create(account=world.reader, target=world.stranger)
    else:
        Mute.objects.create(account=world.reader, target=world.stranger)
    by_stranger = write(world.stranger)
    mentioning = write(world.friend, mentions=(world.stranger,))
    assert world.says(boost(world.author, by_stranger)) is FeedReason.HIDDEN
    assert world.says(write(world.author, mentions=(world.stranger,))) is FeedReason.HIDDEN
    assert world.says(boost(world.author, mentioning)) is FeedReason.HIDDEN
    assert world.says(mentioning) is FeedReason.HIDDEN


def test_a_muted_author_is_hidden_until_the_mute_ends(world: World) -> None:
    status = write(world.author)
    mute = Mute.objects.create(account=world.reader, target=world.author, expires_at=clock.now() + timedelta(hours=1))
    assert world.says(status) is FeedReason.HIDDEN
    Mute.objects.filter(id=mute.id).update(expires_at=clock.now() - timedelta(seconds=1))
    assert world.says(status) is FeedReason.DELIVER


def test_boosts_of_accounts_that_block_the_reader_are_left_out(world: World) -> None:
    status = write(world.stranger)
    Block.objects.create(account=world.stranger, target=world.reader)
    assert world.says(boost(world.author, status)) is FeedReason.BLOCKED_BY
    own = write(world.author)
    Block.objects.create(account=world.author, target=world.reader)
    assert world.says(own) is FeedReason.BLOCKED_BY


def test_a_boost_of_a_post_from_a_blocked_server_is_hidden(world: World) -> None:
    status = boost(world.author, write(make_remote("far", "far.example")))
    assert world.says(status) is FeedReason.DELIVER
    AccountDomainBlock.objects.create(account=world.reader, domain="far.example")
    assert world.says(status) is FeedReason.HIDDEN


def test_boosts_are_delivered_unless_the_follow_hides_them(world: World) -> None:
    status = boost(world.author, write(world.stranger))
    assert world.says(status) is FeedReason.DELIVER
    Follow.objects.filter(id=world.follow.id).update(show_reblogs=False)
    assert world.says(status) is FeedReason.REBLOGS_HIDDEN
    assert world.says(write(world.author)) is FeedReason.DELIVER


def test_a_boost_of_a_private_post_reaches_only_those_who_may_read_the_post(world: World) -> None:
    assert world.says(boost(world.author, write(world.author, visibility="private"), visibility="private")).delivered
    foreign = boost(world.author, write(world.stranger, visibility="private"), visibility="private")
    assert world.says(foreign) is FeedReason.UNREADABLE
