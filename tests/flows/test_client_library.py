"""What apps written in Python rely on: Mastodon.py performs the endpoints of each area against a running server.

The library checks what it reads: it makes dates of texts, follows `Link` headers and refuses events it cannot parse. It
has no method for some endpoints, and sends some only to servers of older versions; those are proved elsewhere.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import mastodon
import pytest
from PIL import Image

from tests.support.instance import Instance
from tests.support.site import serving

pytestmark = [pytest.mark.verify, pytest.mark.filterwarnings("ignore::mastodon.errors.MastodonDeprecationWarning")]
PASSWORD = "correct horse battery"
SCOPES = ["read", "write", "follow", "push"]
PATIENCE = 40.0
T = TypeVar("T")


class Community:
    """A server where staff approve who signs up, its owner, and people by name."""

    def __init__(self, server: Instance) -> None:
        self.server = server
        made = server.create_account(
            "owner", "--role", "Owner", "--token", "read write follow push admin:read admin:write"
        )
        self.owner = self.client(made["access_token"])
        self.app = mastodon.Mastodon.create_app("Library", api_base_url=server.base_url, scopes=SCOPES)
        self.people: dict[str, mastodon.Mastodon] = {}

    def client(self, token: str | None = None) -> mastodon.Mastodon:
        return mastodon.Mastodon(access_token=token, api_base_url=self.server.base_url)

    def sign_up(self, name: str) -> mastodon.Mastodon:
        """Somebody who waits for approval."""
        client_id, secret = self.app
        app = mastodon.Mastodon(client_id=client_id, client_secret=secret, api_base_url=self.server.base_url)
        email = f"{name}@example.com"
        token = app.create_account(name, PASSWORD, email, agreement=True, reason=f"I am {name}", scopes=SCOPES)
        return self.client(token)

    def __getitem__(self, name: str) -> mastodon.Mastodon:
        """The client of somebody, who signs up and is approved when first asked for."""
        if name not in self.people:
            self.people[name] = self.sign_up(name)
            (waiting,) = self.owner.admin_accounts_v2(status="pending", username=name)
            assert waiting.invite_request == f"I am {name}"
            self.owner.admin_account_approve(waiting)
        return self.people[name]

    def id(self, name: str) -> str:
        return str(self[name].me().id)

    def run(self, code: str) -> str:
        """What the operator's shell prints."""
        return self.server.manage("shell", "-v", "0", "-c", code).strip()


@pytest.fixture(scope="module")
def community() -> Iterator[Community]:
    with Instance(REGISTRATIONS="approval", FEDERATION_LOOPBACK="yes") as running:
        yield Community(running)


def ids(entities: Iterable[Any]) -> set[str]:
    return {str(entity.id) for entity in entities}


def eventually(ask: Callable[[], T], good: Callable[[T], Any]) -> T:
    deadline = time.monotonic() + PATIENCE
    while not good(answer := ask()) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert good(answer), answer
    return answer


def picture(colour: str) -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (64, 48), colour).save(data, "PNG")
    return data.getvalue()


def test_people_and_their_relationships(community: Community) -> None:
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
    assert ids(bob.collection(made.id).accounts) == {a, b}  # the owner first
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


def test_posts_with_everything_on_them(community: Community) -> None:
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
    with pytest.raises(mastodon.MastodonNotFoundError):  # nothing here translates
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
    """Keeps what it receives."""

    def __init__(self) -> None:
        self.received: list[tuple[str, Any]] = []

    def on_any_event(self, name: str, data: Any = None) -> None:
        self.received.append((name, data))

    def wait(self, event: str, test: Callable[[Any], Any] = lambda _: True) -> None:
        eventually(
            lambda: list(self.received), lambda received: any(name == event and test(data) for name, data in received)
        )


def test_timelines_lists_and_live_streams(community: Community) -> None:
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
        with ThreadPoolExecutor(len(handles)) as pool:  # each waits for the next heartbeat
            list(pool.map(lambda handle: handle.close(), handles))

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


ANNOUNCE = """
from accounts.policies.staff import OPERATOR
from moderation.policies.announcements import AnnouncementDraft
from moderation.services.announcements import create_announcement, publish_announcement
written = create_announcement(by=OPERATOR, draft=AnnouncementDraft("The server moves on Sunday"))
publish_announcement(by=OPERATOR, announcement=written)
print(written.id)
"""
TRENDS = "from timelines.services.trends import compute_trends; print(compute_trends())"


def test_staff_do_their_work(community: Community) -> None:
    owner, anybody = community.owner, community.client()
    assert anybody.instance_v2().configuration.statuses.max_characters == 500
    assert anybody.instance_v1().uri
    assert anybody.instance_activity()
    assert anybody.instance_languages()
    assert anybody.instance_translation_languages() == {}
    assert anybody.instance_peers() == []
    assert anybody.instance_rules() == []
    assert anybody.instance_health()
    assert isinstance(anybody.instance_extended_description().content, str)

    alice, villain = community["alice"], community["villain"]
    v = community.id("villain")
    spam = villain.status_post("buy now")
    report = alice.report(v, [spam.id], comment="spam", category="spam")
    assert str(report.id) in ids(owner.admin_reports())
    assert [str(one.id) for one in owner.admin_report(report.id).statuses] == [str(spam.id)]
    assert owner.admin_report_assign(report.id).assigned_account.username == "owner"
    assert owner.admin_report_unassign(report.id).assigned_account is None
    assert owner.admin_report_resolve(report.id).action_taken
    assert not owner.admin_report_reopen(report.id).action_taken
    assert [found["id"] for found in owner.admin_accounts_v1(username="villain")] == [v]
    assert ids(owner.admin_accounts_v2(username="villain")) == {v}
    assert owner.admin_account(v).email == "villain@example.com"
    for action, state, undo in (
        ("sensitive", "sensitized", owner.admin_account_unsensitive),
        ("silence", "silenced", owner.admin_account_unsilence),
        ("disable", "disabled", owner.admin_account_enable),
        ("suspend", "suspended", owner.admin_account_unsuspend),
    ):
        owner.admin_account_moderate(v, action, text="please")
        assert owner.admin_account(v)[state], action
        assert not undo(v)[state], action
    owner.admin_account_moderate(v, "suspend", report_id=report.id)
    owner.admin_account_delete(v)
    community.sign_up("stranger")
    (waiting,) = owner.admin_accounts_v2(status="pending", username="stranger")
    owner.admin_account_reject(waiting)
    eventually(lambda: owner.admin_accounts_v2(status="pending", username="stranger"), lambda found: found == [])

    rule = owner.admin_create_domain_block("evil.example", severity="silence", public_comment="loud")
    assert owner.admin_update_domain_block(rule.id, severity="suspend").severity == "suspend"
    assert owner.admin_domain_blocks(id=rule.id).domain == "evil.example"
    assert ids(owner.admin_domain_blocks()) == {str(rule.id)}
    owner.admin_delete_domain_block(rule.id)
    network = owner.admin_create_ip_block("10.9.8.0/24", "sign_up_block", expires_in=3600)
    assert owner.admin_update_ip_block(network.id, severity="no_access").severity == "no_access"
    assert isinstance(owner.admin_ip_block(network.id).expires_at, datetime)
    owner.admin_delete_ip_block(network.id)
    address = owner.admin_create_canonical_email_block(email="evil@example.com")
    assert ids(owner.admin_test_canonical_email_block("EVIL+x@example.com")) == {str(address.id)}
    kinds = (
        (owner.admin_domain_allows, owner.admin_domain_allow, owner.admin_delete_domain_allow,
         owner.admin_create_domain_allow("good.example")),
        (owner.admin_email_domain_blocks, owner.admin_email_domain_block, owner.admin_delete_email_domain_block,
         owner.admin_create_email_domain_block("mail.example")),
        (owner.admin_canonical_email_blocks, owner.admin_canonical_email_block,
         owner.admin_delete_canonical_email_block, address),
    )  # fmt: skip
    for many, one, delete, made in kinds:
        assert str(one(made.id).id) in ids(many())  # suspending somebody has blocked their address, too
        delete(made.id)
        assert str(made.id) not in ids(many())
    assert owner.admin_ip_blocks() == []

    since, until = datetime.now(UTC) - timedelta(days=6), datetime.now(UTC)
    measured = owner.admin_measures(since, until, active_users=True, new_users=True, instance_accounts="evil.example")
    assert [len(measure.data) for measure in measured] == [7, 7, 7]
    assert len(owner.admin_dimensions(since, until, languages=True, sources=True, software_versions=True)) == 3
    assert owner.admin_retention(since, until, "day")[0].data


def test_what_trends_is_reviewed_and_shown(community: Community) -> None:
    owner, alice = community.owner, community["alice"]
    fans = [community[f"fan{number}"] for number in range(6)]
    with serving() as site:
        link = site.show("/news", "<title>News</title>")
        for person in (alice, *fans):
            person.profile_update(discoverable=True)
        liked = alice.status_post("everybody likes this")
        posts = []
        for fan in fans:
            posts.append(fan.status_post(f"[news]({link}) #sunrise", content_type="text/markdown"))
            fan.status_favourite(liked.id)
        eventually(lambda: alice.status(posts[-1].id).card, bool)
        community.run(TRENDS)
    (tag,) = [one for one in owner.admin_trending_tags() if one.name == "sunrise"]
    (page,) = [one for one in owner.admin_trending_links() if one.url == link]
    assert str(liked.id) in ids(owner.admin_trending_statuses())
    owner.admin_approve_trending_tag(tag.id)
    owner.admin_approve_trending_status(liked.id)
    owner.admin_approve_trending_link(page.id)
    assert "sunrise" in {one.name for one in alice.trending_tags()}
    assert str(liked.id) in ids(alice.trending_statuses())
    assert link in {one.url for one in alice.trending_links()}
    assert ids(alice.timeline_link(link)) == ids(posts)
    owner.admin_reject_trending_tag(tag.id)
    owner.admin_reject_trending_status(liked.id)
    owner.admin_reject_trending_link(page.id)
    assert "sunrise" not in {one.name for one in alice.trending_tags()}
    assert alice.trending_links() == []
