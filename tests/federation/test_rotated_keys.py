"""Tests of replacing keys: other servers get the new keys, and no activity is lost meanwhile (contract, section 10)."""

from datetime import timedelta

import pytest

from accounts.models import Account, AuditEntry, KeyPair
from accounts.policies.staff import OPERATOR, staff_of
from accounts.services.key_pairs import PREVIOUS_KEY_RETENTION, forget_previous_keys, keys_of, rotate_keys
from federation.models import Delivery
from federation.remote.actors import fetch_actor
from federation.signatures import cavage
from federation.signatures.message import BadSignature, Message
from social.kernel import clock
from social.kernel.errors import Conflict, Forbidden
from tests.factories.accounts import make_account, make_remote, make_user
from tests.factories.statuses import follow, make_status
from tests.federation.remote_server import Asked, RemotePerson, RemoteServer, pair
from tests.support.work import work

pytestmark = pytest.mark.django_db


@pytest.fixture
def follower(zoe: RemotePerson, alice: Account) -> Account:
    account = fetch_actor(zoe.uri)
    follow(account, alice, uri=f"{zoe.uri}#follows/1")
    return account


@pytest.fixture
def known(elsewhere: RemoteServer, alice: Account, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Alice's public key, with which the other server verifies her requests; replacing the keys gives her a different one."""
    known = {"alice": keys_of(account=alice).public_key}
    monkeypatch.setattr("accounts.services.key_pairs.new_rsa_pair", lambda: pair(2))

    def judge(asked: Asked) -> int:
        message = Message("POST", asked.path, asked.headers, asked.body)
        try:
            cavage.verify(cavage.parse(asked.headers["signature"]), message, known["alice"], clock.now())
        except BadSignature:
            return 401
        return 202

    elsewhere.judge = judge
    return known


def arrived(elsewhere: RemoteServer) -> list[str]:
    """Return the types of the activities that the other server has accepted."""
    taken = [activity for asked, activity in zip(posts(elsewhere), elsewhere.delivered(), strict=True) if asked]
    return [activity["type"] for activity in taken]


def posts(elsewhere: RemoteServer) -> list[bool]:
    return [elsewhere.judge(asked) == 202 for asked in elsewhere.asked if asked.method == "POST"]


def test_followers_get_the_new_key_in_an_update_signed_with_the_old_key(
    elsewhere: RemoteServer, follower: Account, alice: Account, known: dict[str, str]
) -> None:
    assert rotate_keys(by=OPERATOR, account=alice) is True
    work()
    new = KeyPair.objects.get(account=alice)
    assert new.public_key == pair(2)[1] != known["alice"]
    assert arrived(elsewhere) == ["Update"]
    update = elsewhere.delivered()[-1]
    assert update["object"]["publicKey"] == {
        "id": f"{alice.uri}#main-key",
        "owner": alice.uri,
        "publicKeyPem": new.public_key,
    }
    assert not Delivery.objects.exists()


def test_after_a_rotation_servers_that_know_only_the_old_key_still_get_every_activity(
    elsewhere: RemoteServer, follower: Account, alice: Account, known: dict[str, str]
) -> None:
    rotate_keys(by=OPERATOR, account=alice)
    work()
    make_status(alice, "old key")
    work()
    assert arrived(elsewhere) == ["Update", "Create"]
    known["alice"] = KeyPair.objects.get(account=alice).public_key
    elsewhere.asked.clear()
    make_status(alice, "new key")
    work()
    assert posts(elsewhere) == [True]


def test_the_previous_key_is_deleted_after_a_week(
    elsewhere: RemoteServer, follower: Account, alice: Account, known: dict[str, str]
) -> None:
    rotate_keys(by=OPERATOR, account=alice)
    assert forget_previous_keys() == 0
    KeyPair.objects.update(rotated_at=clock.now() - PREVIOUS_KEY_RETENTION - timedelta(seconds=1))
    assert forget_previous_keys() == 1
    assert forget_previous_keys() == 0
    work()
    assert arrived(elsewhere) == []
    assert posts(elsewhere) == [False], "with one key only one attempt is made"


def test_accounts_without_keys_and_remote_accounts_get_no_new_keys(alice: Account) -> None:
    old = make_account("old")
    KeyPair.objects.filter(account=old).delete()
    assert rotate_keys(by=OPERATOR, account=old) is False
    with pytest.raises(Conflict):
        rotate_keys(by=OPERATOR, account=make_remote("far"))
    assert not AuditEntry.objects.exists()


def test_rotating_keys_requires_managing_federation_and_is_audited(alice: Account) -> None:
    keys_of(account=alice)
    with pytest.raises(Forbidden):
        rotate_keys(by=staff_of(make_user("mod", role="Moderator")), account=alice)
    rotate_keys(by=OPERATOR, account=alice)
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.target_type, entry.target_name) == ("rotate_keys", "Account", "@alice")
