"""Tests of two local servers with a user on each, checked through the client API of both (issue B, 2)."""

import time

import mastodon
import pytest
import requests

from tests.flows.people import UNFOLLOWED_SECONDS, Person, arrives, wait
from tests.support.instance import Instance

pytestmark = pytest.mark.verify


def test_a_follow_is_notified_and_counted_on_both_sides(pair: tuple[Person, Person]) -> None:
    writer, reader = pair
    assert [item.account.acct for item in wait(lambda: writer.notifications("follow"))] == [reader.address]
    assert (reader.client.me().following_count, writer.client.me().followers_count) == (1, 1)


def test_a_post_arrives_in_the_home_timeline_of_a_follower_elsewhere(pair: tuple[Person, Person]) -> None:
    writer, reader = pair
    text = f"Good morning from {writer.username}"
    status = writer.client.status_post(f"{text} #coffee", language="en", spoiler_text="Breakfast")
    seen = arrives(reader, text)
    assert seen.uri == status.uri
    assert seen.account.acct == writer.address
    assert (seen.visibility, seen.language, seen.spoiler_text) == ("public", "en", "Breakfast")
    assert [tag.name for tag in seen.tags] == ["coffee"]
    assert abs((seen.created_at - status.created_at).total_seconds()) < 1


def test_a_picture_arrives_with_its_description(pair: tuple[Person, Person]) -> None:
    from tests.factories.statuses import picture

    writer, reader = pair
    media = writer.client.media_post(picture(), mime_type="image/png", description="A red square", focus=(0.5, -0.25))
    text = f"Look, {reader.username}, a picture"
    writer.client.status_post(text, media_ids=[media])
    seen = arrives(reader, text)
    (file,) = seen.media_attachments
    assert (file.type, file.description, file.remote_url) == ("image", "A red square", media.url)
    assert (file.blurhash, file.meta["original"]["size"]) == (media.blurhash, "40x30")
    assert (file.meta["focus"]["x"], file.meta["focus"]["y"]) == (0.5, -0.25)
    assert file.url.startswith(f"{reader.server.base_url}/media_proxy/")
    copy = requests.get(file.url, timeout=60)
    assert (copy.status_code, copy.headers["Content-Type"]) == (200, "image/png")


EMOJI = """
import io
from accounts.emojis.models import CustomEmoji
from social.kernel.media import storage
from tests.factories.statuses import picture
image = storage.store(io.BytesIO(picture()), folder="emojis", extension="png")
CustomEmoji.objects.create(shortcode="blob", image=image)
"""


def test_a_custom_emoji_arrives_with_its_picture(pair: tuple[Person, Person]) -> None:
    writer, reader = pair
    writer.server.manage("shell", "-v", "0", "-c", EMOJI)
    text = f"{writer.username} is :blob:"
    writer.client.account_update_credentials(display_name=f":blob: {writer.username}")
    writer.client.status_post(text)
    seen = arrives(reader, text)
    (emoji,) = seen.emojis
    assert emoji.url.startswith(f"{reader.server.base_url}/media_proxy/emojis/")
    for url in (emoji.url, emoji.static_url):
        copy = requests.get(url, timeout=60)
        assert (copy.status_code, copy.headers["Content-Type"]) == (200, "image/png")
    account = reader.find(writer)
    wait(lambda: [each.shortcode for each in reader.client.account(account.id).emojis] == ["blob"])


def test_a_mention_notifies_and_a_reply_joins_the_thread_on_both_sides(pair: tuple[Person, Person]) -> None:
    writer, reader = pair
    question = writer.client.status_post(f"@{reader.address} shall we?")
    notified = wait(
        lambda: next((item for item in reader.notifications("mention") if "shall we" in item.status.content), None)
    )
    assert notified.account.acct == writer.address
    assert [mention.acct for mention in notified.status.mentions] == [reader.username]
    reader.client.status_post(f"@{writer.address} gladly", in_reply_to_id=notified.status.id)
    answer = wait(lambda: writer.client.status_context(question.id).descendants)
    assert [("gladly" in status.content, status.account.acct) for status in answer] == [(True, reader.address)]
    assert wait(lambda: writer.client.status(question.id).replies_count) == 1


def test_a_direct_post_reaches_its_recipient_and_a_private_one_the_followers(pair: tuple[Person, Person]) -> None:
    writer, reader = pair
    stranger = Person(reader.server, f"stranger{writer.username}")
    direct = writer.client.status_post(f"@{reader.address} between us", visibility="direct")
    notified = wait(
        lambda: next((item for item in reader.notifications("mention") if "between us" in item.status.content), None)
    )
    assert notified.status.visibility == "direct"
    with pytest.raises(mastodon.MastodonNotFoundError):
        stranger.client.status(notified.status.id)
    writer.client.status_post("for those who follow me", visibility="private")
    private = arrives(reader, "for those who follow me")
    assert private.visibility == "private"
    with pytest.raises(mastodon.MastodonNotFoundError):
        stranger.client.status(private.id)
    assert direct.uri == notified.status.uri


def test_a_favourite_and_a_boost_are_notified_counted_and_undone(pair: tuple[Person, Person]) -> None:
    writer, reader = pair
    status = writer.client.status_post(f"Worth sharing, says {writer.username}")
    seen = arrives(reader, "Worth sharing, says " + writer.username)
    reader.client.status_favourite(seen.id)
    reader.client.status_reblog(seen.id)

    def counts() -> tuple[int, int]:
        fresh = writer.client.status(status.id)
        return fresh.favourites_count, fresh.reblogs_count

    wait(lambda: counts() == (1, 1))
    for kind in ("favourite", "reblog"):
        notified = wait(lambda kind=kind: [item for item in writer.notifications(kind) if item.status.id == status.id])
        assert [item.account.acct for item in notified] == [reader.address]
    # The post itself is already in the reader's home timeline, so the test looks for the boost on the author's profile.
    booster = writer.find(reader)
    shown = writer.client.account_statuses(booster.id)
    assert [item.reblog.id for item in shown if item.reblog is not None][:1] == [status.id]
    reader.client.status_unfavourite(seen.id)
    reader.client.status_unreblog(seen.id)
    wait(lambda: counts() == (0, 0))


def test_a_deleted_post_is_gone_on_the_other_server(pair: tuple[Person, Person]) -> None:
    writer, reader = pair
    status = writer.client.status_post(f"A slip of {writer.username}")
    seen = arrives(reader, f"A slip of {writer.username}")
    writer.client.status_delete(status.id)

    def gone() -> bool:
        try:
            reader.client.status(seen.id)
        except mastodon.MastodonNotFoundError:
            return True
        return False

    wait(gone)
    assert not [item for item in reader.home() if item.id == seen.id]


def test_a_changed_profile_is_seen_by_followers_elsewhere(pair: tuple[Person, Person]) -> None:
    writer, reader = pair
    name = f"{writer.username.title()} the Great"
    account = reader.find(writer)
    writer.client.account_update_credentials(display_name=name)
    wait(lambda: reader.client.account(account.id).display_name == name)


def test_a_follow_of_a_locked_account_becomes_a_request_and_an_unfollow_arrives(
    ends: tuple[Instance, Instance],
) -> None:
    shy, fan = Person(ends[0], "shy"), Person(ends[1], "fan")
    shy.client.account_update_credentials(locked=True)
    account = fan.find(shy)
    assert account.locked
    fan.client.account_follow(account.id)
    wait(lambda: shy.notifications("follow_request"))
    shy.client.status_post("not for fans yet", visibility="private")
    assert fan.client.account_relationships(account.id)[0].requested
    shy.client.account_update_credentials(locked=False)
    wait(lambda: fan.client.account_relationships(account.id)[0].following)
    shy.client.status_post("welcome", visibility="private")
    arrives(fan, "welcome")
    assert not [status for status in fan.home() if "not for fans yet" in status.content]
    fan.client.account_unfollow(account.id)
    wait(lambda: shy.client.me().followers_count == 0, UNFOLLOWED_SECONDS)


def test_the_last_of_several_quick_follows_and_unfollows_wins_on_both_servers(
    ends: tuple[Instance, Instance],
) -> None:
    idol, fan, former = (Person(ends[0], "idol"), *(Person(ends[1], name) for name in ("quick", "fickle")))
    accounts = {each: each.find(idol) for each in (fan, former)}
    for each, account in accounts.items():
        for _round in range(3):
            each.client.account_follow(account.id)
            each.client.account_unfollow(account.id)
    fan.client.account_follow(accounts[fan].id)
    time.sleep(UNFOLLOWED_SECONDS)

    def agreed() -> bool:
        relations = [each.client.account_relationships(account.id)[0] for each, account in accounts.items()]
        followers = [each.acct for each in idol.client.account_followers(idol.me())]
        return [each.following for each in relations] == [True, False] and followers == [fan.address]

    wait(agreed, UNFOLLOWED_SECONDS)
    assert idol.client.me().followers_count == 1
    for each, account in accounts.items():
        assert not each.client.account_relationships(account.id)[0].requested


def test_a_block_ends_the_follow_on_both_sides(ends: tuple[Instance, Instance]) -> None:
    host, guest = Person(ends[0], "host"), Person(ends[1], "guest")
    account = guest.follow(host)
    visitor = host.find(guest)
    host.client.account_block(visitor.id)
    wait(lambda: not guest.client.account_relationships(account.id)[0].following)
    wait(lambda: guest.client.account_relationships(account.id)[0].blocked_by)


def test_pinned_posts_and_featured_hashtags_are_shown_on_the_other_server(pair: tuple[Person, Person]) -> None:
    writer, reader = pair
    status = writer.client.status_post(f"Pinned by {writer.username}")
    arrives(reader, status.content)
    account = reader.find(writer)

    def shown() -> tuple[list[str], list[str]]:
        pinned = reader.client.account_statuses(account.id, pinned=True)
        return [post.uri for post in pinned], [tag.name for tag in reader.client.account_featured_tags(account.id)]

    writer.client.status_pin(status.id)
    tag = writer.client.featured_tag_create("birds")
    wait(lambda: shown() == ([status.uri], ["birds"]))
    # When a server fetches an account for the first time, it also fetches the posts that were pinned before.
    late = Person(writer.server, f"late{writer.username}")
    old = late.client.status_post(f"Pinned long ago by {late.username}")
    late.client.status_pin(old.id)
    known = reader.find(late)
    wait(lambda: [post.uri for post in reader.client.account_statuses(known.id, pinned=True)] == [old.uri])
    writer.client.status_unpin(status.id)
    writer.client.featured_tag_delete(tag.id)
    wait(lambda: shown() == ([], []))


def test_the_latest_posts_and_the_totals_of_a_newly_followed_account_are_shown(ends: tuple[Instance, Instance]) -> None:
    poet, fan = Person(ends[0], "poet"), Person(ends[1], "fan_of_poet")
    uris = {poet.client.status_post(f"Poem {number}").uri for number in range(3)}
    poet.client.status_post("for friends", visibility="private")
    account = fan.follow(poet)
    wait(lambda: {post.uri for post in fan.client.account_statuses(account.id)} == uris)
    wait(lambda: fan.client.account(account.id).statuses_count == 4)


_ALIAS = """
from accounts.queries.accounts import find_by_address
from accounts.transfers.services.moving import add_alias
add_alias(account=find_by_address("{new}"), alias=find_by_address("{old}"))
"""
_MOVE = """
from accounts.models import User
from accounts.queries.accounts import find_by_address
from accounts.transfers.services.moving import move_account
move_account(user=User.objects.get(account__username="{old}"), target=find_by_address("{new}"))
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [(0, 1), (1, 0), (0, 0)],
    ids=["to the second server", "to the first server", "on the own server"],
)
def test_a_move_takes_the_followers_along_on_both_servers(
    servers: tuple[Instance, Instance], before: int, after: int
) -> None:
    old, new = Person(servers[before], f"old{before}{after}"), Person(servers[after], f"new{before}{after}")
    fans = [Person(server, f"fan{before}{after}{number}") for number, server in enumerate(servers)]
    known = [fan.follow(old) for fan in fans]

    old.find(new), new.find(old)
    new.server.manage("shell", "-v", "0", "-c", _ALIAS.format(new=new.username, old=new.name_of(old)))
    old.server.manage("shell", "-v", "0", "-c", _MOVE.format(new=old.name_of(new), old=old.username))
    for fan, left in zip(fans, known, strict=True):
        wait(lambda fan=fan, left=left: fan.client.account(left.id).get("moved"), UNFOLLOWED_SECONDS)
        moved = fan.client.account(left.id).moved
        wait(lambda fan=fan, moved=moved: fan.client.account_relationships(moved.id)[0].following, UNFOLLOWED_SECONDS)
        wait(lambda fan=fan, left=left: not fan.client.account_relationships(left.id)[0].following, UNFOLLOWED_SECONDS)
    wait(lambda: new.client.me().followers_count == 2, UNFOLLOWED_SECONDS)
