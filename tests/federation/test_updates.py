"""Tests of changed profiles: an Update signed by the actor is applied directly; after a forwarded Update the actor is
fetched.
"""

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import Account, KeyPair
from accounts.models.account import SuspensionOrigin
from federation.remote.actors import fetch_actor
from social.kernel import clock
from statuses.models import Status
from tests.factories.statuses import follow
from tests.federation.activities import deal, met, remote
from tests.federation.remote_server import RemotePerson, RemoteServer

pytestmark = pytest.mark.django_db


def update(someone: RemotePerson, **changes: Any) -> dict[str, Any]:
    return someone.activity("Update", someone.document() | changes)


def looked_at(someone: RemotePerson, ago: timedelta) -> None:
    Account.objects.filter(uri=someone.uri).update(fetched_at=clock.now() - ago)


def test_an_actors_signed_update_of_itself_is_stored_without_a_fetch(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    """A fetch could return a cached document that is up to three minutes old."""
    account = met(zoe)
    asked = len(elsewhere.gets())
    assert deal(zoe, update(zoe, name="Zoe the Great", summary="<p>new</p>", manuallyApprovesFollowers=True)) == "done"
    changed = remote(zoe)
    assert (changed.display_name, changed.note_html, changed.locked) == ("Zoe the Great", "<p>new</p>", True)
    assert changed.version > account.version
    assert len(elsewhere.gets()) == asked


def test_an_update_that_changes_nothing_leaves_the_version(zoe: RemotePerson, alice: Account) -> None:
    before = met(zoe).version
    assert deal(zoe, update(zoe)) == "done"
    assert remote(zoe).version == before


def test_an_update_with_only_the_id_of_the_actor_causes_a_fetch(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    fetch_actor(zoe.uri)
    elsewhere.serve(zoe.document() | {"name": "Renamed"})
    assert deal(zoe, zoe.activity("Update", zoe.uri)) == "done"
    assert remote(zoe).display_name == "Renamed"


def test_a_new_key_in_an_update_is_stored_and_a_missing_one_changes_nothing(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    fetch_actor(zoe.uri)
    without = {name: value for name, value in zoe.document().items() if name != "publicKey"}
    assert deal(zoe, zoe.activity("Update", without)) == "done"
    assert KeyPair.objects.get(account=remote(zoe)).public_key == zoe.public_key
    rotated = RemotePerson(elsewhere, "zoe", key=2)
    assert deal(zoe, update(rotated)) == "done"
    assert deal(rotated, rotated.activity("Follow", alice.uri)) == "done"


def test_another_address_must_be_confirmed_by_its_domain(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    """Security row 14: even the actor's own signature cannot claim an address."""
    fetch_actor(zoe.uri)
    assert deal(zoe, update(zoe, preferredUsername="admin")).startswith("rejected")
    assert remote(zoe).username == "zoe"
    elsewhere.finger("zora", zoe.uri)
    assert deal(zoe, update(zoe, preferredUsername="zora")) == "done"
    assert remote(zoe).username == "zora"


def test_an_actor_cannot_update_another_actor(elsewhere: RemoteServer, zoe: RemotePerson, alice: Account) -> None:
    """Security row 8."""
    mallory = elsewhere.person("mallory", key=2)
    fetch_actor(zoe.uri)
    for activity in (mallory.activity("Update", zoe.document() | {"name": "Pwned"}), update(zoe, name="Pwned")):
        assert deal(mallory, activity).startswith("rejected")
    assert remote(zoe).display_name == "Zoe"


def test_a_forwarded_update_only_causes_a_fetch_from_the_origin(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    relay = elsewhere.person("relay", key=2)
    fetch_actor(zoe.uri)
    fetch_actor(relay.uri)
    elsewhere.serve(zoe.document() | {"name": "True name"})
    looked_at(zoe, timedelta(minutes=2))
    assert deal(relay, update(zoe, name="A lie")) == "done"
    assert remote(zoe).display_name == "True name"
    asked = len(elsewhere.gets())
    assert deal(relay, update(zoe, name="A lie")) == "rejected: the account was fetched a moment ago"
    ghost = RemotePerson(elsewhere, "ghost")
    assert deal(relay, update(ghost)).startswith("rejected")
    assert len(elsewhere.gets()) == asked, "strangers cannot cause any number of requests"


def test_a_suspension_by_the_accounts_own_server_is_applied_and_ended_by_updates(
    zoe: RemotePerson, alice: Account
) -> None:
    account = fetch_actor(zoe.uri)
    follow(alice, account)
    assert deal(zoe, update(zoe, suspended=True, name="zoe", summary="")) == "done"
    assert (remote(zoe).suspended, remote(zoe).suspension_origin) == (True, SuspensionOrigin.REMOTE)
    assert zoe.send(zoe.activity("Create", zoe.note())).status_code == 202
    assert not Status.objects.exists()
    assert deal(zoe, update(zoe)) == "done"
    assert (remote(zoe).suspended, remote(zoe).display_name) == (False, "Zoe")
    assert deal(zoe, zoe.activity("Create", zoe.note(number=2))) == "done"


def test_an_update_by_the_accounts_server_does_not_end_a_local_suspension(zoe: RemotePerson, alice: Account) -> None:
    account = fetch_actor(zoe.uri)
    Account.objects.filter(id=account.id).update(suspended_at=clock.now(), suspension_origin=SuspensionOrigin.LOCAL)
    assert deal(zoe, update(zoe, suspended=False)) == "done"
    assert (remote(zoe).suspended, remote(zoe).suspension_origin) == (True, SuspensionOrigin.LOCAL)


def test_two_updates_with_the_same_id_are_both_processed(zoe: RemotePerson, alice: Account) -> None:
    """Duplicates are recognised by the signature's fingerprint, because the id of an Update contains only whole seconds."""
    fetch_actor(zoe.uri)
    first, second = update(zoe, name="First"), update(zoe, name="Second")
    second["id"] = first["id"]
    assert [deal(zoe, first), deal(zoe, second)] == ["done", "done"]
    assert remote(zoe).display_name == "Second"


def test_activities_without_id_or_actor_are_accepted(zoe: RemotePerson, alice: Account) -> None:
    """An activity without an actor is treated as the signer's, and only activities that can be undone need an id."""
    fetch_actor(zoe.uri)
    changed = update(zoe, name="Nameless")
    for name in ("id", "actor"):
        del changed[name]
    assert deal(zoe, changed) == "done"
    assert remote(zoe).display_name == "Nameless"
    request = zoe.activity("FeatureRequest", alice.uri, instrument=f"{zoe.uri}/collections/1")
    del request["actor"]
    # Mastodon sends this kind of activity without an actor.
    assert zoe.send(request).status_code == 202
    assert deal(zoe, zoe.activity("Follow", alice.uri, actor={"id": 7})).startswith("rejected")
