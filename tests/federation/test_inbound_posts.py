"""Tests of posts, favourites and boosts from remote servers: each is stored once, with the same effects as the action of a
local client.
"""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest

from accounts.models import Account
from federation.models import InboundActivity, Tombstone
from notifications.models import Notification
from social.kernel import clock
from social.kernel.ids import moment_of
from statuses.models import Favourite, Mention, Status, StatusTag, Visibility
from tests.factories.statuses import block, counts, make_status
from tests.federation.activities import PUBLIC, deal, introduced
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.work import work

pytestmark = pytest.mark.django_db


class TestPosts:
    def test_a_post_of_a_followed_account_is_stored_with_all_its_parts(
        self, elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
    ) -> None:
        introduced(zoe, alice)
        made = clock.now() - timedelta(hours=2)
        note = zoe.note(
            '<p onload="x">See <a href="javascript:1">this</a><script>1</script></p>',
            published=clock.iso(made),
            summary="Careful",
            contentMap={"fr": "<p>x</p>"},
            tag=[
                {"type": "Hashtag", "name": "#Café", "href": "x"},
                {"type": "Mention", "href": alice.uri, "name": "@alice"},
            ],
            attachment=[
                {
                    "type": "Document",
                    "mediaType": "image/png",
                    "url": elsewhere.uri("p.png"),
                    "name": "alt",
                    "width": 3,
                    "height": 2,
                }
            ]
            * 6,
            cc=[f"{zoe.uri}/followers", alice.uri],
        )
        assert deal(zoe, zoe.activity("Create", note)) == "done"
        status = Status.objects.get(uri=note["id"])
        assert (status.content, status.spoiler_text, status.language, status.sensitive) == (
            "<p>See this</p>",
            "Careful",
            "fr",
            True,
        )
        assert abs((moment_of(status.id) - made).total_seconds()) < 1
        assert list(StatusTag.objects.filter(status=status).values_list("tag__name", flat=True)) == ["cafe"]
        assert [(file.remote_url, file.description) for file in status.media.order_by("position")] == [
            (elsewhere.uri("p.png"), "alt")
        ] * 4
        assert Notification.objects.filter(account=alice, type="mention").count() == 1
        assert deal(zoe, zoe.activity("Create", note)) == "done"
        assert Status.objects.count() == 1

    @pytest.mark.parametrize(
        ("written", "language"),
        [("fr", "fr"), ("EN", "en"), ("pt-BR", "pt"), ("zh_tw", "zh-TW"), ("zh-Hant-TW-x-private", "zh"), ("fr-", "fr")]
        + [(strange, None) for strange in ("ää", "f", "-fr", "f r", "und", "und-\u0661", "x" * 13, "12", "a-" * 9999)],
    )
    def test_languages_are_stored_as_tags_that_clients_can_read(
        self, zoe: RemotePerson, alice: Account, written: str, language: str | None
    ) -> None:
        introduced(zoe, alice)
        note = zoe.note("<p>x</p>", contentMap={written: "<p>x</p>"})
        assert deal(zoe, zoe.activity("Create", note)) == "done"
        assert Status.objects.get(uri=note["id"]).language == language

    def test_texts_that_are_given_only_by_language_are_read(self, zoe: RemotePerson, alice: Account) -> None:
        introduced(zoe, alice)
        texts = {"contentMap": {"fr": "<p>bonjour</p>"}, "summaryMap": {"fr": "attention"}, "nameMap": {"fr": "Titre"}}
        note, article = zoe.note() | texts, zoe.note(number=2) | texts | {"type": "Article", "summaryMap": {}}
        for document in (note, article):
            del document["content"]
            assert deal(zoe, zoe.activity("Create", document)) == "done"
        kept = Status.objects.get(uri=note["id"])
        assert (kept.content, kept.spoiler_text, kept.language) == ("<p>bonjour</p>", "attention", "fr")
        assert Status.objects.get(uri=article["id"]).content.startswith("<p><strong>Titre</strong></p><p>bonjour</p>")

    def test_a_post_that_is_named_by_a_bearcap_is_found(
        self, elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
    ) -> None:
        introduced(zoe, alice)
        note = elsewhere.serve(zoe.note())
        assert deal(zoe, zoe.activity("Create", f"bear:?{urlencode({'u': note['id'], 't': 'secret'})}")) == "done"
        assert Status.objects.get().uri == note["id"]
        assert deal(zoe, zoe.activity("Create", "bear:?t=secret")).startswith("rejected")

    def test_a_date_before_1970_is_replaced_by_the_current_time(self, zoe: RemotePerson, alice: Account) -> None:
        introduced(zoe, alice)
        note = zoe.note("<p>x</p>", published="1970-01-01T00:00:00+05:00")
        assert deal(zoe, zoe.activity("Create", note)) == "done"
        assert Status.objects.get(uri=note["id"]).created_at > clock.now() - timedelta(minutes=1)

    @pytest.mark.parametrize(
        ("to", "cc", "visibility"),
        [
            ([PUBLIC], ["FOLLOWERS"], Visibility.PUBLIC),
            ("as:Public", None, Visibility.PUBLIC),
            (["FOLLOWERS"], ["Public"], Visibility.UNLISTED),
            (["FOLLOWERS"], ["ALICE"], Visibility.PRIVATE),
            (["ALICE"], [], Visibility.DIRECT),
        ],
    )
    def test_the_visibility_follows_from_the_addressing(
        self, zoe: RemotePerson, alice: Account, to: Any, cc: Any, visibility: str
    ) -> None:
        introduced(zoe, alice)

        def written(value: Any) -> Any:
            names = {"FOLLOWERS": f"{zoe.uri}/followers", "ALICE": alice.uri}
            return [names.get(item, item) for item in value] if isinstance(value, list) else value

        note = zoe.note(to=written(to), cc=written(cc), tag=[{"type": "Mention", "href": alice.uri}])
        deal(zoe, zoe.activity("Create", note))
        assert Status.objects.get().visibility == visibility

    def test_a_mention_tag_without_addressing_mentions_nobody(self, zoe: RemotePerson, alice: Account) -> None:
        """Security row 22."""
        introduced(zoe, alice)
        note = zoe.note(to=[f"{zoe.uri}/followers"], cc=[], tag=[{"type": "Mention", "href": alice.uri}])
        deal(zoe, zoe.activity("Create", note))
        assert (Mention.objects.count(), Notification.objects.count()) == (0, 0)

    def test_addressed_accounts_without_a_mention_are_mentioned_silently(
        self, zoe: RemotePerson, alice: Account
    ) -> None:
        deal(zoe, zoe.activity("Create", zoe.note(to=[alice.uri], cc=[])))
        assert (Status.objects.get().visibility, Mention.objects.get().silent) == (Visibility.LIMITED, True)

    def test_a_post_without_addressees_is_for_the_owner_of_the_inbox(self, zoe: RemotePerson, alice: Account) -> None:
        deal(zoe, zoe.activity("Create", zoe.note(to=[], cc=[])), "/users/alice/inbox")
        assert Mention.objects.get().account == alice

    def test_a_public_post_does_not_mention_the_owner_of_the_inbox(self, zoe: RemotePerson, alice: Account) -> None:
        assert deal(zoe, zoe.activity("Create", zoe.note()), "/users/alice/inbox") == "done"
        assert Status.objects.get().visibility == Visibility.PUBLIC
        assert not Mention.objects.exists()

    def test_a_post_that_concerns_no_local_account_is_dropped(self, zoe: RemotePerson, alice: Account) -> None:
        for path in ("/inbox", "/actor/inbox"):
            assert "not relevant to anybody here" in deal(zoe, zoe.activity("Create", zoe.note()), path)
        assert not Status.objects.exists()

    def test_a_post_given_only_by_its_id_is_not_fetched_if_it_concerns_nobody(
        self, elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
    ) -> None:
        note = elsewhere.serve(zoe.note())
        assert "not relevant to anybody here" in deal(zoe, zoe.activity("Create", note["id"], to=[PUBLIC]))
        assert "/users/zoe/statuses/1" not in elsewhere.gets()

    def test_a_reply_to_a_local_post_joins_the_thread(self, zoe: RemotePerson, alice: Account) -> None:
        question = make_status(alice, "What?")
        note = zoe.note(inReplyTo=f"http://social.localhost/users/alice/statuses/{question.id}")
        deal(zoe, zoe.activity("Create", note))
        answer = Status.objects.get(local=False)
        assert (answer.in_reply_to_id, answer.thread_path) == (question.id, [question.id, answer.id])
        assert counts(question)[0] == 1

    def test_the_parents_of_a_post_are_fetched(
        self, elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
    ) -> None:
        introduced(zoe, alice)
        yan = elsewhere.person("yan")
        first = elsewhere.serve(yan.note("<p>first</p>", 1))
        second = elsewhere.serve(yan.note("<p>second</p>", 2, inReplyTo=first["id"]))
        deal(zoe, zoe.activity("Create", zoe.note("<p>third</p>", 3, inReplyTo=second["id"])))
        third = Status.objects.get(content="<p>third</p>")
        texts = [Status.objects.get(id=number).content for number in third.path]
        assert texts == ["<p>first</p>", "<p>second</p>", "<p>third</p>"]

    def test_replies_that_arrived_first_join_the_thread_when_their_parent_arrives(
        self, zoe: RemotePerson, alice: Account
    ) -> None:
        introduced(zoe, alice)
        missing = zoe.note("<p>one</p>", 1)
        deal(zoe, zoe.activity("Create", zoe.note("<p>two</p>", 2, inReplyTo=missing["id"])))
        two = Status.objects.get()
        assert (two.in_reply_to_id, two.in_reply_to_uri) == (None, missing["id"])
        deal(zoe, zoe.activity("Create", zoe.note("<p>three</p>", 3, inReplyTo=two.uri)))
        deal(zoe, zoe.activity("Create", missing))
        path = Status.objects.get(content="<p>three</p>").path
        assert [Status.objects.get(id=number).content for number in path] == [
            "<p>one</p>",
            "<p>two</p>",
            "<p>three</p>",
        ]
        assert Status.objects.get(content="<p>two</p>").path == path[:2]

    def test_a_deleted_post_is_gone_and_cannot_come_back(self, zoe: RemotePerson, alice: Account) -> None:
        introduced(zoe, alice)
        note = zoe.note()
        deal(zoe, zoe.activity("Create", note))
        deal(zoe, zoe.activity("Delete", {"id": note["id"], "type": "Tombstone"}))
        assert Status.objects.get().is_deleted
        deal(zoe, zoe.activity("Create", note))
        assert Status.objects.get().is_deleted
        late = zoe.note(number=2)
        deal(zoe, zoe.activity("Delete", late["id"]))
        assert deal(zoe, zoe.activity("Create", late)) == "rejected: it was deleted"
        assert Tombstone.objects.count() == 2

    def test_a_favourite_is_counted_notified_and_undone(self, zoe: RemotePerson, alice: Account) -> None:
        status = make_status(alice)
        uri = f"http://social.localhost/users/alice/statuses/{status.id}"
        activity = zoe.activity("Like", uri)
        deal(zoe, activity)
        assert (counts(status)[2], Favourite.objects.get().uri) == (1, activity["id"])
        assert Notification.objects.filter(account=alice, type="favourite").count() == 1
        deal(zoe, zoe.activity("Undo", activity))
        assert (counts(status)[2], Favourite.objects.count()) == (0, 0)
        assert deal(zoe, activity) == "done", "only an id that was undone before its arrival is refused"

    def test_a_boost_of_a_local_post_is_counted_notified_and_undone(self, zoe: RemotePerson, alice: Account) -> None:
        status = make_status(alice)
        activity = zoe.activity("Announce", f"http://social.localhost/users/alice/statuses/{status.id}", to=[PUBLIC])
        deal(zoe, activity)
        assert counts(status)[1] == 1
        assert Notification.objects.filter(account=alice, type="reblog").count() == 1
        deal(zoe, zoe.activity("Undo", activity["id"]))
        assert counts(status)[1] == 0

    def test_a_boost_of_a_post_that_the_booster_may_not_read_is_refused(
        self, zoe: RemotePerson, alice: Account
    ) -> None:
        block(alice, introduced(zoe, alice))
        # Only the block hides the public post.
        for visibility in ("private", "direct", "public"):
            status = make_status(alice, "not for zoe", visibility=visibility)
            uri = f"http://social.localhost/users/alice/statuses/{status.id}"
            assert deal(zoe, zoe.activity("Announce", uri, to=[PUBLIC])).startswith("rejected")
            assert counts(status)[1] == 0
        assert not Status.objects.filter(reblog_of__isnull=False).exists()

    @pytest.mark.parametrize("named", [True, False])
    @pytest.mark.parametrize("kind", ["Like", "Announce"])
    def test_an_activity_that_was_undone_before_it_arrived_is_refused(
        self, zoe: RemotePerson, alice: Account, kind: str, named: bool
    ) -> None:
        status = make_status(alice)
        activity = zoe.activity(kind, f"http://social.localhost/users/alice/statuses/{status.id}", to=[PUBLIC])
        deal(zoe, zoe.activity("Undo", activity["id"] if named else activity))
        assert deal(zoe, activity) == "rejected: it was deleted"
        assert counts(status) == (0, 0, 0)

    def test_a_boost_by_a_followed_account_fetches_the_post_from_its_origin(
        self, elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
    ) -> None:
        introduced(zoe, alice)
        with RemoteServer().running() as third:
            yan = third.person("yan")
            note = third.serve(yan.note("<p>true</p>"))
            lie = {**note, "content": "<p>a lie</p>"}
            deal(zoe, zoe.activity("Announce", lie, to=[PUBLIC]))
            boost = Status.objects.select_related("reblog_of__account").get(reblog_of__isnull=False)
            assert (boost.reblog_of.content, boost.reblog_of.account.uri) == ("<p>true</p>", yan.uri)
            asked = [request for request in third.asked if request.path.startswith("/users/yan/statuses")]
            assert 'keyId="http://social.localhost/actor#main-key"' in asked[0].headers["signature"]

    def test_a_boost_of_ones_own_followers_only_post_stores_the_embedded_post(
        self, elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
    ) -> None:
        """Only a follower may fetch the boosted post, so its server would refuse a request signed by this server."""
        introduced(zoe, alice)
        note = zoe.note("<p>for followers</p>", to=[f"{zoe.uri}/followers"], cc=[])
        assert deal(zoe, zoe.activity("Announce", note, to=[f"{zoe.uri}/followers"])) == "done"
        post = Status.objects.get(reblogs__account__uri=zoe.uri)
        assert (post.content, post.visibility) == ("<p>for followers</p>", Visibility.PRIVATE)

    def test_a_post_that_cannot_be_fetched_now_is_fetched_later(
        self, elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
    ) -> None:
        introduced(zoe, alice)
        yan = elsewhere.person("yan")
        note = elsewhere.serve(yan.note(), status=500)
        outcome = deal(zoe, zoe.activity("Announce", note["id"], to=[PUBLIC]))
        assert outcome.startswith("waiting")
        from federation.inbound.processing import process

        elsewhere.serve(note)
        process(InboundActivity.objects.get().id)
        work()
        assert InboundActivity.objects.get().outcome == "done"
        assert Status.objects.filter(reblog_of__isnull=False).count() == 1
