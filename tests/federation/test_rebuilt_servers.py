"""Tests that WebFinger decides which actor has an address: rebuilt servers, exchanged addresses, and recreated actors.

Contract, federation section 17.
"""

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import Account, Follow, FollowRequest, KeyPair, User
from accounts.models.account import SuspensionOrigin
from accounts.services.following import FollowChange, follow_account
from accounts.services.remote_accounts import resolve_address
from federation.models import Delivery
from federation.reasons import Rejected
from federation.remote import signers
from federation.remote.actors import end_actor, fetch_actor
from social.kernel import clock
from social.kernel.errors import Unavailable
from statuses.models import Status
from tests.factories.accounts import make_token
from tests.factories.statuses import follow
from tests.federation.activities import deal, introduced, remote
from tests.federation.remote_server import Answer, RemotePerson, RemoteServer, pair
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db


def acct(account: Account) -> str:
    return Account.objects.get(id=account.id).acct


def aged(**ago: int) -> None:
    Account.objects.filter(domain__isnull=False).update(fetched_at=clock.now() - timedelta(**ago))


def test_a_rebuilt_server_gets_its_handles_back_and_the_old_account_keeps_its_posts(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    old = introduced(zoe, alice)
    assert deal(zoe, zoe.activity("Create", zoe.note("<p>old</p>"))) == "done"
    new = elsewhere.rebuild("zoe")
    assert deal(new, new.activity("Follow", alice.uri)) == "done"
    assert (remote(new).acct, remote(new).id) != (old.acct, old.id)
    assert remote(new).acct == old.acct
    assert acct(old) == f"zoe.{old.id}@{elsewhere.domain}"
    assert Status.objects.get(account=old).content == "<p>old</p>"
    assert Follow.objects.filter(account=alice, target=old).exists(), "follows of the old account stay visible"
    api = Api(make_token(User.objects.get(account=alice)))
    (found,) = api.get("/api/v2/search", {"q": f"@zoe@{elsewhere.domain}", "resolve": "true"}).json()["accounts"]
    assert found["uri"] == new.uri
    assert api.get(f"/api/v1/accounts/{old.id}").json()["acct"] == f"zoe.{old.id}@{elsewhere.domain}"
    work()
    assert acct(old) == f"zoe.{old.id}@{elsewhere.domain}", "the old account's server no longer knows it"


@pytest.mark.parametrize("last_look", ["a day", "some minutes", "now"])
def test_a_search_for_a_handle_finds_its_current_account(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, last_look: str
) -> None:
    fetch_actor(zoe.uri)
    new = elsewhere.rebuild("zoe")
    aged(**{"a day": {"days": 2}, "some minutes": {"minutes": 2}, "now": {}}[last_look])
    address = f"zoe@{elsewhere.domain}"
    first = resolve_address(address)
    assert first is not None
    assert first.uri == (new.uri if last_look == "a day" else zoe.uri)
    work()
    found = resolve_address(address)
    assert found is not None
    assert found.uri == (new.uri if last_look != "now" else zoe.uri)


def test_a_known_account_is_found_while_its_server_is_down(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    account = fetch_actor(zoe.uri)
    aged(days=2)
    elsewhere.fingers.clear()
    assert resolve_address(f"zoe@{elsewhere.domain}") == account


@pytest.mark.parametrize("announced", ["by both", "by one", "by none, a day ago", "by none, some minutes ago"])
def test_handles_that_two_accounts_have_exchanged_are_exchanged_here_too(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, announced: str
) -> None:
    yan = elsewhere.person("yan", key=2)
    accounts = [introduced(someone, alice) for someone in (zoe, yan)]
    elsewhere.swap(zoe, yan)
    if announced.startswith("by none"):
        aged(**{"days": 2} if "a day" in announced else {"minutes": 2})
        resolve_address(f"zoe@{elsewhere.domain}")
    for someone, name in ((zoe, "yan"), (yan, "zoe"))[: {"by both": 2, "by one": 1}.get(announced, 0)]:
        assert deal(someone, someone.activity("Update", someone.document() | {"preferredUsername": name})) == "done"
    work()
    assert [acct(one) for one in accounts] == [f"yan@{elsewhere.domain}", f"zoe@{elsewhere.domain}"]
    assert Account.objects.filter(domain=elsewhere.domain).count() == 2
    elsewhere.swap(RemotePerson(elsewhere, "zoe"), RemotePerson(elsewhere, "yan"))


def test_row_14_an_actor_cannot_take_a_handle_that_its_domain_gives_to_another(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    account = fetch_actor(zoe.uri)
    mallory = elsewhere.person("mallory", key=2)
    for claim in ({"preferredUsername": "zoe"}, {"webfinger": f"zoe@{elsewhere.domain}", "preferredUsername": "zoe"}):
        elsewhere.serve(mallory.document() | claim)
        with pytest.raises(Rejected):
            fetch_actor(mallory.uri)
    with RemoteServer().running() as third:
        eve = third.person("zoe", key=2, webfinger=f"zoe@{elsewhere.domain}")
        with pytest.raises(Rejected):
            fetch_actor(eve.uri)
    assert acct(account) == f"zoe@{elsewhere.domain}"


def test_a_deleted_actor_is_restored_when_its_server_serves_its_document_again(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    old = introduced(zoe, alice)
    assert zoe.send(zoe.activity("Delete", zoe.uri)).status_code == 202
    work()
    assert not Account.objects.filter(id=old.id).exists()
    served = elsewhere.pages["/users/zoe"]
    elsewhere.pages["/users/zoe"] = Answer(b"{}", status=410)
    with pytest.raises(Rejected):
        fetch_actor(zoe.uri)
    elsewhere.pages["/users/zoe"] = served
    api = Api(make_token(User.objects.get(account=alice)))
    (found,) = api.get("/api/v2/search", {"q": f"@zoe@{elsewhere.domain}", "resolve": "true"}).json()["accounts"]
    assert (found["uri"], found["id"] != str(old.id)) == (zoe.uri, True)
    follow(alice, remote(zoe))
    assert deal(zoe, zoe.activity("Create", zoe.note("<p>again</p>", 7))) == "done"


def test_an_actor_is_restored_only_after_its_old_data_is_removed(zoe: RemotePerson, alice: Account) -> None:
    old = introduced(zoe, alice)
    end_actor(old)
    with pytest.raises(Unavailable):
        fetch_actor(zoe.uri)
    work()
    assert fetch_actor(zoe.uri).id != old.id


@pytest.mark.parametrize(
    "decision", [{"suspension_origin": SuspensionOrigin.LOCAL}, {"limited": True}, {"sensitized": True}]
)
def test_row_13_a_sanctioned_account_that_deletes_itself_does_not_lose_the_sanction(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, decision: dict[str, Any]
) -> None:
    account, now = introduced(zoe, alice), clock.now()
    values = {f"{name}_at": now for name in decision if name != "suspension_origin"}
    if not values:
        values = {"suspended_at": now, **decision}
    Account.objects.filter(id=account.id).update(**values)
    assert zoe.send(zoe.activity("Delete", zoe.uri)).status_code == 202
    work()
    with pytest.raises(Rejected):
        fetch_actor(zoe.uri)


def rekeyed(zoe: RemotePerson, number: int = 2, key_id: str | None = None) -> None:
    """Replace Zoe's key on her server, which has lost the old one."""
    zoe.private_key, zoe.public_key = pair(number)
    zoe.key_id = key_id or zoe.key_id
    zoe.home.serve(zoe.document())


@pytest.mark.parametrize("key", ["the same id", "another id"])
def test_a_new_key_is_accepted_immediately_and_local_follows_are_renewed(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, key: str
) -> None:
    account = fetch_actor(zoe.uri)
    follow_account(account=alice, target=account, change=FollowChange())
    work()
    first = elsewhere.delivered()[-1]
    assert deal(zoe, zoe.activity("Accept", first)) == "done"
    rekeyed(zoe, key_id=f"{zoe.uri}#key-2" if key == "another id" else None)
    elsewhere.asked.clear()
    for number in range(3):
        assert deal(zoe, zoe.activity("Create", zoe.note("<p>new</p>", number))) == "done"
    assert elsewhere.delivered() == [first], "the follow is renewed on the server that has lost it"
    assert Follow.objects.filter(account=alice, target=account).exists()


def test_follows_are_renewed_at_most_once_in_ten_minutes_however_often_keys_change(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    account = fetch_actor(zoe.uri)
    follow_account(account=alice, target=account, change=FollowChange())
    work()
    for key, follows in ((2, 2), (3, 2)):
        rekeyed(zoe, key)
        fetch_actor(zoe.uri)
        work()
        assert len(elsewhere.delivered()) == follows
    KeyPair.objects.filter(account=account).update(rotated_at=clock.now() - timedelta(minutes=11))
    rekeyed(zoe, 1)
    fetch_actor(zoe.uri)
    work()
    assert len(elsewhere.delivered()) == 3


def test_a_follow_request_is_renewed_after_an_unannounced_key_change_only(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    account = fetch_actor(zoe.uri)
    follow_account(account=alice, target=account, change=FollowChange())
    work()
    _private, public = pair(2)
    elsewhere.asked.clear()
    key = zoe.document()["publicKey"] | {"publicKeyPem": public}
    assert deal(zoe, zoe.activity("Update", zoe.document() | {"publicKey": key})) == "done"
    assert KeyPair.objects.get(account=account).public_key == public
    assert elsewhere.delivered() == []
    rekeyed(zoe, 3)
    aged(minutes=2)
    assert deal(zoe, zoe.activity("Like", f"{alice.uri}/statuses/1")).startswith("rejected")
    assert [one["type"] for one in elsewhere.delivered()] == ["Follow"]
    assert FollowRequest.objects.filter(account=alice, target=account).exists()
    assert not Delivery.objects.exists()


def test_wrong_signatures_cause_at_most_one_request_per_actor_and_minute(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    yan = elsewhere.person("yan", key=2)
    for someone in (zoe, yan):
        fetch_actor(someone.uri)
    elsewhere.asked.clear()
    for someone, number in ((zoe, 3), (yan, 3)):
        forged = RemotePerson(elsewhere, someone.name, number)
        for _again in range(3):
            assert forged.send(forged.activity("Like", alice.uri)).status_code == 401
    assert sorted(elsewhere.gets()) == ["/users/yan", "/users/zoe"]
    rekeyed(zoe, 3)
    assert zoe.send(zoe.activity("Like", alice.uri)).status_code == 401, (
        "the actor is not fetched again within the minute"
    )
    monkeypatch.setattr(signers.pauses, "had_wrong_key", lambda _uri: False)
    assert zoe.send(zoe.activity("Like", alice.uri)).status_code == 202
