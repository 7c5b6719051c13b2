"""Tests of relays: they get local public posts, and announce remote posts (contract, federation sections 7 and 12)."""

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from accounts.models import Account, AuditEntry
from accounts.policies.staff import staff_of
from federation.models import Relay, RelayState
from federation.outbound.relaying import add_relay
from federation.remote.actors import fetch_actor
from social.kernel import clock
from social.kernel.errors import Forbidden
from statuses.models import Status
from statuses.services.deleting import delete_status
from tests.factories.accounts import make_user
from tests.factories.statuses import edit, make_status
from tests.federation.activities import PUBLIC, deal
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.client import Api, signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db


@pytest.fixture
def relay(elsewhere: RemoteServer) -> Iterator[RemotePerson]:
    """A relay on its own server."""
    with RemoteServer().running() as server:
        yield server.person("relay", type="Application")


def inbox(relay: RemotePerson) -> str:
    return relay.home.uri("inbox")


def said(*arguments: str) -> str:
    out = io.StringIO()
    call_command("manage_relays", *arguments, stdout=out)
    return out.getvalue()


def subscribed(relay: RemotePerson) -> None:
    """Create a subscription that the relay has accepted."""
    said("--add", inbox(relay))
    work()
    assert deal(relay, relay.activity("Accept", relay.home.delivered()[-1])) == "done"
    relay.home.asked.clear()


def kinds(relay: RemotePerson) -> list[str]:
    """Return the types of the activities that the relay has received since the last call."""
    work()
    found = [activity["type"] for activity in relay.home.delivered()]
    relay.home.asked.clear()
    return found


def test_a_subscription_to_a_relay_begins_with_its_acceptance_and_ends_with_its_removal(
    elsewhere: RemoteServer, zoe: RemotePerson, relay: RemotePerson, alice: Account
) -> None:
    assert f"{inbox(relay)}  would be added" in said("--add", inbox(relay), "--dry-run")
    assert said() == "There are no relays.\n"
    assert "pending" in said("--add", inbox(relay))
    assert "pending" in said("--add", inbox(relay), "--dry-run"), "the relay is already listed"
    (row,) = json.loads(said("--remove", inbox(relay), "--dry-run", "--json"))
    assert (row["inbox"], row["state"]) == (inbox(relay), "would be removed")
    said("--add", inbox(relay))
    work()
    (follow,) = relay.home.delivered()
    assert follow == {
        "@context": "https://www.w3.org/ns/activitystreams",
        "id": Relay.objects.get().follow_uri,
        "type": "Follow",
        "actor": "http://social.localhost/actor",
        "object": PUBLIC,
    }
    relay.home.asked.clear()
    deal(zoe, zoe.activity("Accept", follow))
    assert Relay.objects.get().state == RelayState.PENDING, "only the relay itself can accept"
    make_status(alice, "too early")
    assert kinds(relay) == []
    deal(relay, relay.activity("Reject", follow["id"]))
    assert Relay.objects.get().state == RelayState.REJECTED
    deal(relay, relay.activity("Accept", follow))
    (shown,) = json.loads(said("--json"))
    assert (shown["inbox"], shown["state"]) == (inbox(relay), "accepted")
    assert said("--remove", inbox(relay)).strip() == "There are no relays."
    work()
    (undo,) = relay.home.delivered()
    assert (undo["type"], undo["object"]) == ("Undo", {key: follow[key] for key in follow if key != "@context"})
    relay.home.asked.clear()
    make_status(alice, "too late")
    assert kinds(relay) == []
    assert list(AuditEntry.objects.order_by("id").values_list("action", flat=True)) == ["create", "destroy"]
    for wrong in (["--remove", inbox(relay)], ["--add", "relay.example"], ["--add", "http://social.localhost/inbox"]):
        with pytest.raises(CommandError):
            said(*wrong)
    assert not Relay.objects.exists()
    with pytest.raises(Forbidden):
        add_relay(by=staff_of(make_user()), inbox_url=inbox(relay))


def test_public_posts_go_to_relays_with_their_edits_and_deletion(
    relay: RemotePerson, alice: Account, elsewhere: RemoteServer
) -> None:
    subscribed(relay)
    post = make_status(alice, "one")
    assert kinds(relay) == ["Create"]
    edit(post, "two")
    assert kinds(relay) == ["Update"]
    delete_status(status_id=post.id)
    assert kinds(relay) == ["Delete"]
    for visibility in ("unlisted", "private", "direct"):
        quiet = make_status(alice, "quiet", visibility=visibility)
        delete_status(status_id=quiet.id)
    Account.objects.filter(id=alice.id).update(limited_at=clock.now())
    make_status(alice, "of somebody limited")
    assert kinds(relay) == []


def test_a_post_announced_by_a_relay_is_fetched_from_its_origin_and_not_boosted(
    elsewhere: RemoteServer, zoe: RemotePerson, relay: RemotePerson, alice: Account
) -> None:
    fetch_actor(relay.uri)
    notes = [elsewhere.serve(zoe.note(f"<p>{number}</p>", number=number)) for number in range(4)]
    announced, forwarded, early, late = notes
    assert deal(relay, relay.activity("Announce", early["id"], to=[PUBLIC])).startswith("rejected")
    assert deal(relay, zoe.activity("Create", early)).startswith("rejected")
    subscribed(relay)
    assert deal(relay, relay.activity("Announce", announced["id"], to=[PUBLIC])) == "done"
    assert deal(relay, zoe.activity("Create", forwarded | {"content": "<p>a lie</p>"})) == "done"
    said("--remove", inbox(relay))
    assert deal(relay, relay.activity("Announce", late["id"], to=[PUBLIC])).startswith("rejected")
    shown = Api().get("/api/v1/timelines/public").json()
    assert {post["uri"]: post["content"] for post in shown} == {
        forwarded["id"]: "<p>1</p>",
        announced["id"]: "<p>0</p>",
    }
    assert Status.objects.count() == 2


def test_relays_are_listed_added_and_removed_in_the_admin(
    elsewhere: RemoteServer, relay: RemotePerson, settings: Any
) -> None:
    settings.STAFF_SECOND_FACTOR = False
    browser, pages = signed_in(make_user("boss", role="Owner")), "/admin/federation/relay/"
    refused = browser.post(f"{pages}add/", {"inbox_url": "words"})
    assert "The inbox of a relay is an address" in refused.content.decode()
    assert browser.post(f"{pages}add/", {"inbox_url": inbox(relay)}).status_code == 302
    assert kinds(relay) == ["Follow"]
    row = Relay.objects.get()
    assert "Requested: the relay" in browser.get(pages).content.decode()
    Relay.objects.update(state=RelayState.ACCEPTED)
    assert "Subscribed" in browser.get(f"{pages}{row.pk}/change/").content.decode()
    browser.post(f"{pages}{row.pk}/delete/", {"post": "yes"})
    assert kinds(relay) == ["Undo"]
    assert not Relay.objects.exists()
    assert signed_in(make_user("helper", role="Moderator")).get(pages).status_code == 403
