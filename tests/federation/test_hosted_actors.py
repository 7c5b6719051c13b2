"""Tests of actors whose inbox and collections are on another host, as with hosted blogs (contract, federation section 17)."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from accounts.models import Account, Follow, User
from accounts.policies.staff import OPERATOR
from accounts.services.following import FollowChange, follow_account
from federation.models import Delivery, Relay, RelayState
from federation.reasons import Rejected
from federation.remote.actors import fetch_actor
from federation.remote.sharing import is_relay
from moderation.models import DomainRule, DomainSeverity
from moderation.policies.domain_rules import DomainRuleDraft
from moderation.services.domain_rules import create_rule
from social.kernel import clock
from social.kernel.runner import Host
from statuses.models import Status
from tests.factories.accounts import make_token
from tests.factories.statuses import follow, make_status
from tests.federation.activities import PUBLIC, deal, remote
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db
PLACES = ("inbox", "outbox", "followers", "following", "featured")


@pytest.fixture
def hoster(elsewhere: RemoteServer) -> Iterator[RemoteServer]:
    """A server that hosts the inboxes and collections of actors of another server."""
    with RemoteServer().running() as server:
        server.domain = f"127.0.0.1:{server.http.server_port}"
        server.url = f"http://{server.domain}"
        yield server


def places(hoster: RemoteServer) -> dict[str, Any]:
    return {name: hoster.uri(f"blogs/1/{name}") for name in PLACES} | {
        "endpoints": {"sharedInbox": hoster.uri("shared")}
    }


@pytest.fixture
def ann(elsewhere: RemoteServer, hoster: RemoteServer) -> RemotePerson:
    """The author of a blog whose inbox and collections are on the hosting server."""
    return elsewhere.person("ann", **places(hoster))


def collection(home: RemoteServer, path: str, *items: Any) -> None:
    home.serve({"id": home.uri(path), "type": "OrderedCollection", "totalItems": len(items), "orderedItems": items})


def test_a_hosted_blog_is_found_followed_read_and_answered(
    elsewhere: RemoteServer, hoster: RemoteServer, ann: RemotePerson, alice: Account
) -> None:
    pinned = ann.note("<p>pinned</p>", 9)
    first = {"id": hoster.uri("blogs/1/outbox/1"), "type": "OrderedCollectionPage"}
    older = ann.activity("Create", ann.note("<p>older</p>", 8))
    hoster.serve(
        {"id": hoster.uri("blogs/1/outbox"), "type": "OrderedCollection", "first": first["id"], "totalItems": 1}
    )
    collection(hoster, "blogs/1/featured", pinned)
    hoster.serve(first | {"orderedItems": [older]})
    api = Api(make_token(User.objects.get(account=alice)))
    found = api.get("/api/v2/search", {"q": f"@ann@{elsewhere.domain}", "resolve": "true"}).json()["accounts"]
    assert [one["acct"] for one in found] == [f"ann@{elsewhere.domain}"]
    assert api.post(f"/api/v1/accounts/{found[0]['id']}/follow").status_code == 200
    work()
    asked = [one for one in hoster.asked if one.method == "POST"]
    assert [(one.path, one.activity()["type"]) for one in asked] == [("/blogs/1/inbox", "Follow")]
    assert not elsewhere.delivered()
    assert deal(ann, ann.activity("Accept", asked[0].activity())) == "done"
    private = ann.note("<p>for followers</p>", 2, to=[hoster.uri("blogs/1/followers")], cc=[])
    assert deal(ann, ann.activity("Create", private)) == "done"
    assert Status.objects.get(uri=private["id"]).visibility == "private"
    assert {post["content"] for post in api.get("/api/v1/timelines/home").json()} >= {"<p>for followers</p>"}
    shown = api.get(f"/api/v1/accounts/{found[0]['id']}/statuses").json()
    assert {post["content"] for post in shown} == {"<p>for followers</p>", "<p>older</p>", "<p>pinned</p>"}
    pins = api.get(f"/api/v1/accounts/{found[0]['id']}/statuses", {"pinned": "true"}).json()
    assert [post["content"] for post in pins] == ["<p>pinned</p>"]
    answer = {"status": f"@ann@{elsewhere.domain} thanks", "in_reply_to_id": shown[0]["id"], "visibility": "direct"}
    assert api.post("/api/v1/statuses", answer).status_code == 200
    work()
    assert hoster.delivered()[-1]["type"] == "Create"


def test_deliveries_to_a_hosting_server_are_counted_and_paced_for_its_host(
    elsewhere: RemoteServer, hoster: RemoteServer, ann: RemotePerson, alice: Account
) -> None:
    hoster.inbox_status = 503
    follow_account(account=alice, target=fetch_actor(ann.uri), change=FollowChange())
    work()
    assert Delivery.objects.get().host == hoster.domain
    failing = Host.objects.filter(queue=Delivery.queue, failures__gt=0)
    assert list(failing.values_list("name", flat=True)) == [hoster.domain]


@pytest.mark.parametrize("closed", ["hoster", "elsewhere"])
def test_nothing_is_delivered_if_the_host_of_the_inbox_or_the_actor_is_suspended(
    elsewhere: RemoteServer, hoster: RemoteServer, ann: RemotePerson, alice: Account, closed: str
) -> None:
    follow(fetch_actor(ann.uri), alice, uri=f"{ann.uri}#follows/1")
    domain = {"hoster": hoster, "elsewhere": elsewhere}[closed].domain.partition(":")[0]
    if closed == "hoster":
        DomainRule.objects.create(domain=domain, severity=DomainSeverity.SUSPEND)
    else:
        create_rule(by=OPERATOR, domain=domain, draft=DomainRuleDraft(severity=DomainSeverity.SUSPEND))
    work()
    hoster.asked.clear()
    make_status(alice, "hello")
    work()
    assert not hoster.delivered()
    assert Delivery.objects.filter(dead_at__isnull=False).exists() is (closed == "hoster")


def test_no_digest_of_followers_is_sent_to_an_inbox_on_another_host(
    hoster: RemoteServer, ann: RemotePerson, alice: Account
) -> None:
    follow(fetch_actor(ann.uri), alice, uri=f"{ann.uri}#follows/1")
    make_status(alice, "for followers", visibility="private")
    work()
    assert ["collection-synchronization" in one.headers for one in hoster.asked if one.method == "POST"] == [False]


def test_naming_the_inbox_of_another_server_gives_no_rights_of_that_server(
    hoster: RemoteServer, ann: RemotePerson, alice: Account
) -> None:
    account = fetch_actor(ann.uri)
    Relay.objects.create(inbox_url=account.inbox_url, follow_uri="http://x.example/1", state=RelayState.ACCEPTED)
    assert not is_relay(account)
    later = clock.now() + timedelta(hours=1)
    Host.objects.create(queue=Delivery.queue, name=hoster.domain, failures=20, retry_at=later)
    assert deal(ann, ann.activity("Follow", alice.uri)) == "done"
    assert Host.objects.get(name=hoster.domain).retry_at == later


@pytest.mark.parametrize("name", ["inbox", "followers", "outbox"])
def test_a_remote_actor_cannot_name_an_inbox_or_collection_on_this_server_or_the_public(
    elsewhere: RemoteServer, alice: Account, name: str
) -> None:
    for place in (f"{alice.uri}/{name}", PUBLIC):
        mallory = elsewhere.person("mallory", **{name: place})
        if name == "inbox":
            with pytest.raises(Rejected):
                fetch_actor(mallory.uri)
        else:
            assert getattr(fetch_actor(mallory.uri), f"{name}_url") == ""


def test_row_12_keys_must_be_on_the_actors_own_server(
    elsewhere: RemoteServer, hoster: RemoteServer, alice: Account
) -> None:
    key = RemotePerson(elsewhere, "eve").document()["publicKey"]
    eve = elsewhere.person("eve", publicKey=key | {"id": hoster.uri("key")})
    fetch_actor(eve.uri)
    assert not hasattr(remote(eve), "key_pair")
    assert not Follow.objects.exists()
