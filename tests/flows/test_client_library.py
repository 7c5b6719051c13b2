"""Tests that Mastodon.py can use the endpoints of each area on a running server.

The library checks responses: it parses dates, follows `Link` headers and refuses events it cannot parse. The library has no
method for some endpoints, and calls others only on servers of older versions; both kinds of endpoints are tested elsewhere.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import mastodon
import pytest

from tests.flows.community import PASSWORD, SCOPES, Community, eventually, ids, picture
from tests.support.streams import end_stream

pytestmark = [pytest.mark.verify, pytest.mark.filterwarnings("ignore::mastodon.errors.MastodonDeprecationWarning")]
ANNOUNCE = """
from accounts.policies.staff import OPERATOR
from moderation.policies.announcements import AnnouncementDraft
from moderation.services.announcements import create_announcement, publish_announcement
written = create_announcement(by=OPERATOR, draft=AnnouncementDraft("The server moves on Sunday"))
publish_announcement(by=OPERATOR, announcement=written)
print(written.id)
"""


def test_the_client_library_shows_and_changes_accounts_and_their_relationships(community: Community) -> None:
    alice, bob, carol, dora = (community[name] for name in ("alice", "bob", "carol", "dora"))
    a, b, c, d = (community.id(name) for name in ("alice", "bob", "carol", "dora"))
    client_id, secret = community.app
    app = mastodon.Mastodon(client_id=client_id, client_secret=secret, api_base_url=community.server.base_url)
    nobody, refusal = app.create_account(
        "alice", PASSWORD, "none", agreement=True, reason="-", scopes=SCOPES, return_detailed_error=True
    )
    assert nobody is None
    assert {"username", "email"} <= set(refusal["details"])
    assert alice.app_verify_credentials().name == "Library"
    assert "S256" in alice.oauth_authorization_server_info()["code_challenge_methods_supported"]

    changed = alice.account_update_credentials(
        display_name="Alice", note="Hello", fields=[("a", "1"), ("b", "2")], discoverable=True, default_privacy="unlisted",
        avatar=picture("green"), avatar_mime_type="image/png", header=picture("red"), header_mime_type="image/png",
    )  # fmt: skip
    assert (changed.display_name, len(changed.fields), changed.source.privacy) == ("Alice", 2, "unlisted")
    alice.account_update_credentials(default_privacy="public")
    assert alice.profile_update(display_name="Alice B", show_media=True, fields=[("x", "y")]).display_name == "Alice B"
    assert len(alice.profile().fields) == 1
    assert alice.preferences()["posting:default:visibility"] == "public"
    assert alice.account_delete_avatar().avatar != changed.avatar
    assert alice.account_delete_header().header != changed.header

    assert ids(alice.accounts([a, b, "1"])) == {a, b}
    assert str(alice.account_lookup("bob").id) == str(alice.account(b).id) == b
    assert b in ids(alice.account_search("bo", limit=5))

    followed = alice.account_follow(b, reblogs=False, notify=True)
    assert (followed.following, followed.notifying, followed.showing_reblogs) == (True, True, False)
    for client, target in ((bob, a), (carol, b), (carol, a), (alice, c), (dora, b)):
        client.account_follow(target)
    assert a in ids(alice.directory(order="new", local=True))
    assert {one.following for one in alice.account_relationships([b, c])} == {True}
    assert str(alice.account_familiar_followers([b])[0].id) == b
    first = alice.account_followers(b, limit=1)
    assert len(first) == 1
    assert ids(alice.fetch_remaining(first)) == {a, c, d}
    assert ids(alice.account_following(a)) == {b, c}
    assert alice.account_endorse(b).endorsed
    assert ids(alice.endorsements()) == {b}
    assert not alice.account_unendorse(b).endorsed
    assert alice.account_pin(b).endorsed
    assert not alice.account_unpin(b).endorsed
    assert alice.account_note_set(b, "from school").note == "from school"
    assert not bob.account_remove_from_followers(d).followed_by
    assert not alice.account_mute(c, notifications=False, duration=600).muting_notifications
    (muted,) = alice.mutes()
    assert isinstance(muted.mute_expires_at, datetime)
    assert not alice.account_unmute(c).muting
    assert alice.account_block(d).blocking
    assert ids(alice.blocks()) == {d}
    assert not alice.account_unblock(d).blocking
    assert not alice.account_unfollow(c).following
    alice.domain_block("bad.example")
    assert list(alice.domain_blocks()) == ["bad.example"]
    alice.domain_unblock("bad.example")
    assert list(alice.domain_blocks()) == []
    carol.account_update_credentials(locked=True)
    for client in (bob, dora):
        assert client.account_follow(c).requested
    assert ids(carol.follow_requests()) == {b, d}
    assert carol.follow_request_authorize(d).followed_by
    assert not carol.follow_request_reject(b).followed_by

    alice.status_post("I like #cats and #dogs")
    assert "cats" in {tag.name for tag in alice.featured_tag_suggestions()}
    featured = alice.featured_tag_create("cats")
    assert [tag.name for tag in bob.account_featured_tags(a)] == ["cats"]
    alice.featured_tag_delete(featured)
    assert alice.featured_tags() == []
    assert alice.tag_feature("dogs").featuring
    assert not alice.tag_unfeature("dogs").featuring
    alice.suggestion_delete(d)
    assert alice.suggestions_v2() is not None
    assert alice.suggestions_v1() is not None
    assert alice.custom_emojis() == []

    for client in (bob, dora):
        client.profile_update(discoverable=True)
    made = alice.collection_create("Friends", discoverable=True, account_ids=[b]).collection
    assert ids(bob.collection(made.id).accounts) == {a, b}  # the owner is the first member
    assert alice.collection_update(made.id, name="Best friends").collection.name == "Best friends"
    added = alice.collection_item_add(made.id, d).collection_item
    assert (
        ids(bob.account_collections(a).collections) == ids(bob.account_in_collections(b).collections) == {str(made.id)}
    )
    alice.collection_item_delete(made.id, added.id)
    (item,) = alice.collection(made.id).collection["items"]
    bob.collection_item_revoke(made.id, item.id)
    alice.collection_delete(made.id)
    assert bob.account_collections(a).collections == []


def test_the_client_library_uses_every_feature_of_posts(community: Community) -> None:
    alice, bob = community["alice"], community["bob"]
    post = alice.status_post("Hello @bob #tag", spoiler_text="careful", language="en", idempotency_key="one")
    assert alice.status_post("Hello @bob #tag", idempotency_key="one").id == post.id
    assert ids(alice.statuses([post.id])) == {str(post.id)}
    assert str(bob.status(post.id).account.id) == community.id("alice")
    media = alice.media_post(picture("red"), "image/png", description="red", focus=(0.5, -0.5), synchronous=True)
    assert media.url
    assert media.meta.focus.x == 0.5
    assert alice.media_update(media.id, description="deep red").description == "deep red"
    assert alice.media(media.id).description == "deep red"
    described = alice.generate_media_edit_attributes(media.id, description="very red")
    edited = alice.status_update(post.id, "Hello again @bob", media_attributes=[described])
    assert isinstance(edited.edited_at, datetime)
    assert edited.media_attachments[0].description == "very red"
    assert len(alice.status_history(post.id)) == 2
    assert alice.status_source(post.id).text == "Hello again @bob"
    answer = bob.status_reply(post, "an answer")
    assert ids(alice.status_context(post.id).descendants) == {str(answer.id)}

    assert bob.status_favourite(post.id).favourites_count == 1
    assert ids(alice.status_favourited_by(post.id)) == {community.id("bob")}
    assert str(post.id) in ids(bob.favourites())
    assert not bob.status_unfavourite(post.id).favourited
    assert str(bob.status_reblog(post.id, visibility="public").reblog.id) == str(post.id)
    assert ids(alice.status_reblogged_by(post.id)) == {community.id("bob")}
    assert not bob.status_unreblog(post.id).reblogged
    assert bob.status_bookmark(post.id).bookmarked
    assert str(post.id) in ids(bob.bookmarks())
    assert not bob.status_unbookmark(post.id).bookmarked
    assert alice.status_mute(post.id).muted
    assert not alice.status_unmute(post.id).muted
    assert alice.status_pin(post.id).pinned
    assert ids(bob.account_statuses(community.id("alice"), pinned=True)) == {str(post.id)}
    assert not alice.status_unpin(post.id).pinned
    with pytest.raises(mastodon.MastodonNotFoundError):  # no translation service is configured
        alice.status_translate(post.id, lang="de")

    quoted = alice.status_post("quote me", quote_approval_policy="public")
    quoting = bob.status_post("look", quoted_status_id=quoted.id)
    assert ids(alice.status_quotes(quoted.id)) == {str(quoting.id)}
    assert alice.status_quote_revoke(quoted.id, quoting.id).quote.state == "revoked"
    assert list(alice.status_update_quote_approval_policy(quoted.id, "nobody").quote_approval.automatic) == []

    later = alice.status_post("later", scheduled_at=datetime.now(UTC) + timedelta(hours=1))
    assert ids(alice.scheduled_statuses()) == {str(later.id)}
    assert alice.scheduled_status(later.id).params.text == "later"
    moved = alice.scheduled_status_update(later.id, datetime.now(UTC) + timedelta(hours=3))
    assert moved.scheduled_at > later.scheduled_at
    alice.scheduled_status_delete(later.id)
    assert alice.scheduled_statuses() == []

    asked = alice.status_post("which", poll=alice.make_poll(["one", "two", "three"], expires_in=600, multiple=True))
    assert bob.poll(asked.poll.id).voted is False
    assert bob.poll_vote(asked.poll.id, [0, 2]).own_votes == [0, 2]
    assert alice.status_delete(asked.id, delete_media=True).text == "which"

    words = bob.create_filter_v2("cats", ["home"], "warn", 3600, [{"keyword": "meow", "whole_word": True}])
    assert bob.update_filter_v2(words.id, title="dogs", filter_action="hide").filter_action == "hide"
    keyword = bob.add_filter_keyword_v2(words.id, "woof", whole_word=True)
    assert [one.keyword for one in bob.filter_keywords_v2(words.id)] == ["meow", "woof"]
    bob.delete_filter_keyword_v2(keyword.id)
    hidden = bob.add_filter_status_v2(words.id, post.id)
    assert ids(bob.filter_statuses_v2(words.id)) == {str(bob.filter_status_v2(hidden.id).id)}
    bob.delete_filter_status_v2(hidden.id)
    assert len(bob.filter_v2(words.id).keywords) == 1
    assert ids(bob.filters_v2()) == {str(words.id)}
    bob.delete_filter_v2(words.id)
    old = bob.filter_create("spoiler", ["home", "notifications"], expires_in=600)
    assert bob.filter_update(old.id, phrase="ending", context=["home"]).phrase == bob.filter(old.id).phrase == "ending"
    assert len(bob.filters()) == 1
    bob.filter_delete(old.id)
    assert bob.filters() == []


class Listener(mastodon.StreamListener):
    """A listener that collects the events of a stream."""

    def __init__(self) -> None:
        self.received: list[tuple[str, Any]] = []

    def on_any_event(self, name: str, data: Any = None) -> None:
        self.received.append((name, data))

    def wait(self, event: str, test: Callable[[Any], Any] = lambda _: True) -> None:
        eventually(
            lambda: list(self.received), lambda received: any(name == event and test(data) for name, data in received)
        )


def test_the_client_library_uses_timelines_lists_and_streams(community: Community) -> None:
    alice, bob, a = community["alice"], community["bob"], community.id("alice")
    bob.account_follow(a)
    friends = bob.list_create("friends", replies_policy="followed")
    assert bob.list_update(friends.id, "close friends", replies_policy="none").title == "close friends"
    bob.list_accounts_add(friends.id, [a])
    assert ids(bob.list_accounts(friends.id)) == {a}
    assert ids(bob.account_lists(a)) == {str(friends.id)} == ids(bob.lists())
    bob.stream_healthy()
    streams = {name: Listener() for name in ("user", "local", "hashtag", "list", "direct")}
    handles = [
        bob.stream_user(streams["user"], run_async=True),
        bob.stream_local(streams["local"], run_async=True),
        bob.stream_hashtag("live", streams["hashtag"], run_async=True),
        bob.stream_list(friends.id, streams["list"], run_async=True),
        bob.stream_direct(streams["direct"], run_async=True),
    ]
    try:
        eventually(lambda: [handle.is_receiving() for handle in handles], all)
        post = alice.status_post("@bob good morning #live")
        secret = alice.status_post("@bob hush", visibility="direct")
        many = ("user", "local", "hashtag", "list")
        for name in many:
            streams[name].wait("update", lambda status: str(status.id) == str(post.id))
        streams["user"].wait("notification", lambda notification: notification.type == "mention")
        streams["direct"].wait("conversation", lambda one: str(one.last_status.id) == str(secret.id))
        alice.status_update(post.id, "@bob good evening #live")
        for name in many:
            streams[name].wait("status.update", lambda status: "evening" in status.content)
        bob.delete_filter_v2(bob.create_filter_v2("x", ["home"], "warn").id)
        streams["user"].wait("filters_changed")
        announced = community.run(ANNOUNCE)
        streams["user"].wait("announcement", lambda announcement: str(announcement.id) == announced)
        assert announced in ids(bob.announcements())
        bob.announcement_reaction_create(announced, "👍")
        streams["user"].wait("announcement.reaction", lambda reaction: reaction.name == "👍")
        bob.announcement_reaction_delete(announced, "👍")
        bob.announcement_dismiss(announced)
        assert [one.read for one in bob.announcements() if str(one.id) == announced] == [True]

        assert str(post.id) in ids(bob.timeline_home()) & ids(bob.timeline_local()) & ids(bob.timeline_hashtag("live"))
        assert str(post.id) in ids(bob.timeline_list(friends.id))
        assert bob.timeline_public(remote=True) == []
        newest = bob.timeline_home(limit=1)
        assert ids(bob.fetch_previous(bob.fetch_next(newest))) == ids(newest)
        alice.status_delete(post.id)
        for name in many:
            streams[name].wait("delete", lambda number: str(number) == str(post.id))
    finally:
        for handle in handles:
            end_stream(handle)

    bob.list_accounts_delete(friends.id, [a])
    assert bob.list_accounts(friends.id) == []
    bob.list_delete(friends.id)
    assert bob.lists() == []
    (conversation,) = [one for one in bob.conversations() if str(one.last_status.id) == str(secret.id)]
    assert not bob.conversations_read(conversation.id).unread
    assert bob.tag_follow("live").following
    assert [tag.name for tag in bob.followed_tags()] == ["live"]
    assert not bob.tag_unfollow("live").following
    assert bob.tag("live").name == "live"
    found = bob.search_v2("live", resolve=False, result_type="hashtags", exclude_unreviewed=False)
    assert [tag.name for tag in found.hashtags] == ["live"]
    bob.markers_set(["home"], [secret.id])
    assert str(bob.markers_get(["home"]).home.last_read_id) == str(secret.id)
