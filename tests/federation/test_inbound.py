"""Tests of activities from remote servers: each has the effect of the same action by a local client, once, and only if it is
permitted.
"""

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import Account, Block, Domain, Follow, FollowRequest
from accounts.services.blocking import block_account
from federation.models import InboundActivity
from notifications.models import Notification
from social.kernel import clock, links, redis
from statuses.models import Favourite, Status
from tests.factories.statuses import make_status
from tests.federation.activities import deal, introduced, remote
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.work import work

pytestmark = pytest.mark.django_db


class TestActors:
    def test_a_signer_is_stored_as_in_its_document(self, elsewhere: RemoteServer, alice: Account) -> None:
        zoe = elsewhere.person(
            "zoe",
            name="Zoë <b>",
            summary="<p onclick='x()'>Hi<script>1</script></p>",
            manuallyApprovesFollowers=True,
            icon={"type": "Image", "url": elsewhere.uri("a.png"), "summary": "me"},
            attachment=[{"type": "PropertyValue", "name": "Web", "value": "<a href='https://z.example'>z</a>"}] * 60,
        )
        zoe.send(zoe.activity("Follow", alice.uri))
        account = remote(zoe)
        assert (account.acct, account.display_name, account.note_html) == (
            f"zoe@{elsewhere.domain}",
            "Zoë <b>",
            "<p>Hi</p>",
        )
        assert (account.locked, account.avatar_remote_url, account.avatar_description) == (
            True,
            elsewhere.uri("a.png"),
            "me",
        )
        assert len(account.fields) == 50
        assert account.fields[0]["html"].startswith('<a href="https://z.example"')
        assert Domain.objects.filter(name=elsewhere.domain).exists()

    def test_an_address_must_be_confirmed_by_its_domain(self, elsewhere: RemoteServer, alice: Account) -> None:
        """Security rows 5 and 14."""
        zoe = elsewhere.person("zoe")
        elsewhere.finger("zoe", elsewhere.uri("users/somebody-else"))
        assert zoe.send(zoe.activity("Follow", alice.uri)).status_code == 401
        del elsewhere.fingers[f"acct:zoe@{elsewhere.domain}"]
        assert zoe.send(zoe.activity("Follow", alice.uri)).status_code == 401
        assert not Account.objects.filter(uri=zoe.uri).exists()

    def test_an_address_on_another_domain_counts_if_that_domain_confirms_it(
        self, elsewhere: RemoteServer, alice: Account
    ) -> None:
        with RemoteServer().running() as short:
            zoe = elsewhere.person("zoe")
            elsewhere.finger("zoe", zoe.uri, subject=f"acct:zoe@{short.domain}")
            assert zoe.send(zoe.activity("Follow", alice.uri)).status_code == 401
            redis.client(
                "cache"
            ).flushdb()  # removes the entry that prevents another fetch of a refused key for five minutes
            short.finger("zoe", zoe.uri)
            assert zoe.send(zoe.activity("Follow", alice.uri)).status_code == 202
            assert remote(zoe).domain == short.domain

    def test_no_remote_actor_can_pass_for_a_local_account(self, elsewhere: RemoteServer, alice: Account) -> None:
        zoe = elsewhere.person("zoe")
        elsewhere.finger("zoe", zoe.uri, subject="acct:alice@social.localhost")
        assert zoe.send(zoe.activity("Follow", alice.uri)).status_code == 401
        assert Account.objects.filter(uri=zoe.uri).count() == 0

    def test_a_deleted_actor_is_removed_with_all_data_until_its_server_serves_it_again(
        self, elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
    ) -> None:
        account = introduced(zoe, alice)
        deal(zoe, zoe.activity("Create", zoe.note()))
        answer = zoe.send(zoe.activity("Delete", zoe.uri))
        work()
        assert answer.status_code == 202
        assert not Account.objects.filter(id=account.id).exists()
        assert not Status.objects.filter(local=False).exists()
        assert not Follow.objects.exists()
        # `test_rebuilt_servers.py` tests that an account is restored when its document is served again (contract, federation
        # section 17).
        elsewhere.pages.pop("/users/zoe")
        assert zoe.send(zoe.activity("Follow", alice.uri)).status_code == 401

    def test_deletions_of_unknown_actors_cause_no_work(self, elsewhere: RemoteServer, alice: Account) -> None:
        """Security row 44."""
        for number in range(20):
            ghost = RemotePerson(elsewhere, f"ghost{number}")
            assert ghost.send(ghost.activity("Delete", ghost.uri)).status_code == 202
        assert (elsewhere.asked, InboundActivity.objects.count()) == ([], 0)


class TestFollows:
    def test_a_follow_of_an_unlocked_account_is_stored_and_accepted(
        self, elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
    ) -> None:
        activity = zoe.activity("Follow", alice.uri)
        assert deal(zoe, activity) == "done"
        row = Follow.objects.get(target=alice)
        assert (row.account.uri, row.uri) == (zoe.uri, activity["id"])
        (accept,) = elsewhere.delivered()
        assert (accept["type"], accept["actor"], accept["object"]["id"]) == ("Accept", alice.uri, activity["id"])
        assert Notification.objects.filter(account=alice, type="follow").count() == 1

    def test_a_repeated_follow_is_accepted_again_under_its_new_id(
        self, elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
    ) -> None:
        deal(zoe, zoe.activity("Follow", alice.uri))
        again = zoe.activity("Follow", alice.uri)
        deal(zoe, again)
        assert Follow.objects.get(target=alice).uri == again["id"]
        assert [item["object"]["id"] for item in elsewhere.delivered()][-1] == again["id"]

    def test_a_follow_of_a_locked_account_becomes_a_request(
        self, elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
    ) -> None:
        Account.objects.filter(id=alice.id).update(locked=True)
        deal(zoe, zoe.activity("Follow", alice.uri))
        assert (FollowRequest.objects.filter(target=alice).count(), Follow.objects.count()) == (1, 0)
        assert elsewhere.delivered() == []

    def test_a_follow_by_a_blocked_account_is_rejected(
        self, elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
    ) -> None:
        deal(zoe, zoe.activity("Follow", alice.uri))
        block_account(account=alice, target=remote(zoe))
        work()
        deal(zoe, zoe.activity("Follow", alice.uri))
        sent = [item["type"] for item in elsewhere.delivered()]
        # The end of the follow and the block are delivered independently of each other.
        assert (sent[0], sorted(sent[1:3]), sent[3:]) == ("Accept", ["Block", "Reject"], ["Reject"])
        assert not Follow.objects.exists()

    def test_the_server_itself_cannot_be_followed(self, elsewhere: RemoteServer, zoe: RemotePerson, db: None) -> None:
        deal(zoe, zoe.activity("Follow", "http://social.localhost/actor"))
        assert [item["type"] for item in elsewhere.delivered()] == ["Reject"]

    @pytest.mark.parametrize("named", [True, False])
    def test_an_undone_follow_is_removed(self, zoe: RemotePerson, alice: Account, named: bool) -> None:
        activity = zoe.activity("Follow", alice.uri)
        deal(zoe, activity)
        assert deal(zoe, zoe.activity("Undo", activity["id"] if named else activity)) == "done"
        assert not Follow.objects.exists()

    def test_a_follow_that_was_undone_before_its_arrival_is_refused(self, zoe: RemotePerson, alice: Account) -> None:
        activity = zoe.activity("Follow", alice.uri)
        deal(zoe, zoe.activity("Undo", activity))
        assert deal(zoe, activity).startswith("rejected")
        assert not Follow.objects.exists()

    @pytest.mark.parametrize("kind", ["Follow", "Like", "Block"])
    @pytest.mark.parametrize("named", [True, False])
    def test_a_repeated_undo_does_not_prevent_the_same_activity_later(
        self, zoe: RemotePerson, alice: Account, kind: str, named: bool
    ) -> None:
        """Misskey derives the id of a follow from the two accounts; therefore a repeated follow has the same id."""
        introduced(zoe, alice)
        about = alice.uri if kind != "Like" else links.status_uri("alice", make_status(alice).id)
        model: Any = {"Follow": Follow, "Like": Favourite, "Block": Block}[kind]
        rows = model.objects.filter(account=remote(zoe))
        rows.delete()
        activity = zoe.activity(kind, about)
        deal(zoe, activity)
        for number in range(2):
            undo = zoe.activity("Undo", activity["id"] if named else activity)
            deal(zoe, undo | {"id": f"{undo['id']}/{number}"})
            assert not rows.exists()
        assert deal(zoe, activity) == "done"
        assert rows.exists()

    def test_activities_in_a_collection_are_processed_one_by_one(
        self, elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
    ) -> None:
        mallory = elsewhere.person("mallory", key=2)
        items = [zoe.activity("Delete", zoe.uri), mallory.activity("Follow", alice.uri)]
        pages = {"type": "OrderedCollection", "actor": mallory.uri, "orderedItems": items}
        assert deal(mallory, pages).startswith("rejected")
        assert [row.account.username for row in Follow.objects.filter(target=alice)] == ["mallory"]

    def test_only_the_followed_account_can_accept_a_follow(
        self, elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
    ) -> None:
        """Security rows 16 and 17."""
        from accounts.services.following import FollowChange, follow_account
        from federation.remote.actors import fetch_actor

        account, mallory = fetch_actor(zoe.uri), elsewhere.person("mallory", key=2)
        follow_account(account=alice, target=account, change=FollowChange())
        work()
        (sent,) = elsewhere.delivered()
        assert (sent["type"], sent["object"], sent["id"]) == ("Follow", zoe.uri, FollowRequest.objects.get().uri)
        assert deal(mallory, mallory.activity("Accept", sent)).startswith("rejected")
        assert deal(mallory, mallory.activity("Accept", sent["id"])).startswith("rejected")
        assert not Follow.objects.exists()
        assert deal(zoe, zoe.activity("Accept", sent["id"])) == "done"
        assert Follow.objects.get().target == account
        assert deal(zoe, zoe.activity("Reject", sent)) == "done"
        assert not Follow.objects.exists()

    def test_an_accept_without_a_request_creates_no_follow(self, zoe: RemotePerson, alice: Account) -> None:
        forged = {"id": f"{alice.uri}#follows/1", "type": "Follow", "actor": alice.uri, "object": zoe.uri}
        deal(zoe, zoe.activity("Accept", forged))
        assert not Follow.objects.exists()

    def test_a_block_ends_follows_both_ways_and_can_be_undone(self, zoe: RemotePerson, alice: Account) -> None:
        introduced(zoe, alice)
        deal(zoe, zoe.activity("Follow", alice.uri))
        activity = zoe.activity("Block", alice.uri)
        assert deal(zoe, activity) == "done"
        assert (Follow.objects.count(), Block.objects.get().uri) == (0, activity["id"])
        assert deal(zoe, zoe.activity("Undo", activity)) == "done"
        assert not Block.objects.exists()


def test_a_sender_that_was_not_fetched_for_a_day_is_fetched_again(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    introduced(zoe, alice)
    elsewhere.serve(zoe.document() | {"name": "Renamed"})
    Account.objects.filter(uri=zoe.uri).update(fetched_at=clock.now() - timedelta(days=2))
    deal(zoe, zoe.activity("Create", zoe.note()))
    assert remote(zoe).display_name == "Renamed"
    Account.objects.filter(uri=zoe.uri).update(fetched_at=clock.now() - timedelta(days=2))
    elsewhere.pages.clear()
    assert deal(zoe, zoe.activity("Create", zoe.note(number=2))) == "done"
    asked = len(elsewhere.asked)
    assert deal(zoe, zoe.activity("Create", zoe.note(number=3))) == "done"
    assert len(elsewhere.asked) == asked
