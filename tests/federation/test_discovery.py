"""Tests of the documents by which accounts and the server are discovered (contract, federation section 14)."""

import json
from typing import Any

import pytest

from accounts.models import Account
from accounts.services.instance_actor import instance_actor
from accounts.services.remote_accounts import resolve_address
from federation.documents.actors import instance_actor as instance_actor_document
from federation.documents.received_actors import read_actor
from federation.remote.actors import fetch_actor
from social.kernel import clock
from tests.factories.accounts import make_remote, make_token, make_user
from tests.factories.statuses import block
from tests.federation.remote_server import ACTIVITY, Answer, RemotePerson, RemoteServer
from tests.support.client import Api

pytestmark = pytest.mark.django_db


def webfinger(resource: str) -> Any:
    return Api().get("/.well-known/webfinger", {"resource": resource}, headers={"Origin": "https://elk.example"})


@pytest.mark.parametrize(
    "resource",
    [
        "acct:alice@social.localhost",
        "acct:ALICE@Social.Localhost",
        "ACCT:alice@social.localhost",
        "HTTP://Social.Localhost/users/alice",
        "alice@social.localhost",
        "@alice@social.localhost",
        "http://social.localhost/users/alice",
        "http://social.localhost/@alice",
    ],
)
def test_an_account_is_found_by_every_spelling_of_its_address(alice: Account, resource: str) -> None:
    answer = webfinger(resource)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/jrd+json; charset=utf-8")
    body = answer.json()
    assert body["subject"] == "acct:alice@social.localhost"
    assert body["aliases"] == ["http://social.localhost/@alice", alice.uri]
    links = {link["rel"]: link.get("href") or link.get("template") for link in body["links"]}
    assert links["self"] == alice.uri
    assert links["http://ostatus.org/schema/1.0/subscribe"].endswith("/authorize_interaction?uri={uri}")
    assert links["https://w3id.org/fep/3b86/Create"].endswith("/share?text={content}")
    assert not any("salmon" in rel or "hub" in rel for rel in links), "SEED: there is no OStatus"
    assert (answer["Access-Control-Allow-Origin"], answer["Cache-Control"]) == ("*", "public, max-age=259200")


def test_the_server_is_found_by_its_domain(db: None) -> None:
    for resource in ("social.localhost", "acct:social.localhost@social.localhost", "http://social.localhost/actor"):
        body = webfinger(resource).json()
        assert body["subject"] == "acct:social.localhost@social.localhost"
        assert [link["href"] for link in body["links"] if link["rel"] == "self"] == ["http://social.localhost/actor"]


@pytest.mark.parametrize(
    ("resource", "status"),
    [
        ("", 400),
        ("x" * 3000, 400),
        ("acct:nobody@social.localhost", 404),
        ("acct:zoe@remote.example", 404),
        ("acct:zoe@social.localhost", 404),
        ("acct:fresh@social.localhost", 404),
        ("acct:@social.localhost", 404),
        ("acct:@alice@social.localhost", 404),
        ("http://social.localhost/users/nobody", 404),
        ("https://remote.example/users/zoe", 404),
        ("acct:alice@social.localhost@x", 404),
        ("\0", 400),
        ("alice", 400),
        ("acct:alice", 400),
        ("remote.example", 400),
        ("ftp://social.localhost/users/alice", 400),
        ("https://[/alice", 404),
        ("http://remote.example/@alice", 404),
        ("acct:a\0b@social.localhost", 404),
    ],
)
def test_webfinger_of_an_unknown_account_is_404_with_an_empty_body(alice: Account, resource: str, status: int) -> None:
    make_remote("zoe")
    make_user("fresh", confirmed=False)
    answer = webfinger(resource)
    assert (answer.status_code, answer.content) == (status, b"")


def test_host_meta_is_served_as_xml_and_json(db: None) -> None:
    answer = Api().get("/.well-known/host-meta")
    assert answer["Content-Type"] == "application/xrd+xml; charset=utf-8"
    assert b'template="http://social.localhost/.well-known/webfinger?resource={uri}"' in answer.content
    answer = Api().get("/.well-known/host-meta", headers={"Accept": "application/json"})
    assert answer["Content-Type"] == "application/json; charset=utf-8"
    assert answer.json()["links"][0]["template"].endswith("?resource={uri}")


@pytest.mark.parametrize("accept", ["application/json", "application/xrd+xml"])
def test_a_cache_keeps_both_forms_of_host_meta_apart(accept: str) -> None:
    answer = Api().get("/.well-known/host-meta", headers={"Accept": accept})
    assert "Accept" in answer["Vary"].split(", ")


def test_nodeinfo_names_the_software_and_counts_its_users(alice: Account) -> None:
    """clients.md, E1 "Strategy"."""
    links = Api().get("/.well-known/nodeinfo").json()["links"]
    assert [link["rel"].rsplit("/", 1)[1] for link in links] == ["2.0", "2.1"]
    for link in links:
        path = link["href"].removeprefix("http://social.localhost")
        answer = Api().get(path, headers={"Origin": "https://elk.example"})
        body = answer.json()
        assert answer["Access-Control-Allow-Origin"] == "*"
        assert body["software"]["name"] == "social"
        assert [part.isdigit() for part in body["software"]["version"].split(".")] == [True] * 3
        assert body["metadata"]["upstream"] == {"name": "mastodon", "version": "4.6.5"}
        assert (body["protocols"], body["usage"]["users"]["total"]) == (["activitypub"], 1)
        assert ("repository" in body["software"]) == (body["version"] == "2.1")
    assert Api().get("/nodeinfo/1.0").status_code == 404


def test_endpoints_of_obsolete_protocols_do_not_exist(alice: Account) -> None:
    for path in ("/api/salmon/1", "/api/push", "/api/subscriptions/1", "/users/alice.atom"):
        assert Api().get(path).status_code == 404, path


def test_the_address_of_a_remote_account_finds_the_account(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    api = Api(make_token(alice.user))
    address = f"@zoe@{elsewhere.domain}"
    assert api.get("/api/v1/accounts/search", {"q": address}).json() == []
    (found,) = api.get("/api/v1/accounts/search", {"q": address, "resolve": "true"}).json()
    assert (found["acct"], found["uri"]) == (address[1:], zoe.uri)
    asked = len(elsewhere.asked)
    assert resolve_address(address) is not None
    assert len(elsewhere.asked) == asked, "a known account is not fetched again"


def test_a_mention_of_an_unknown_account_looks_it_up(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    api = Api(make_token(alice.user))
    status = api.post("/api/v1/statuses", {"status": f"hi @zoe@{elsewhere.domain} and @x@nowhere.example"}).json()
    assert [mention["acct"] for mention in status["mentions"]] == [f"zoe@{elsewhere.domain}"]


@pytest.mark.parametrize("named", ["the place", "another relation", "an address of the inside", "no XML", "nothing"])
def test_a_domain_says_in_its_host_meta_which_server_answers_for_it(
    elsewhere: RemoteServer, alice: Account, named: str
) -> None:
    """Contract, federation section 1: host-meta is fetched if WebFinger is not at the usual path."""
    with RemoteServer().running() as answering:
        zoe = answering.person("zoe")
        answering.finger("zoe", zoe.uri, domain=elsewhere.domain)
        address = f"zoe@{elsewhere.domain}"
        answering.serve(zoe.document() | {"webfinger": address})
        place = "http://169.254.1.1" if named == "an address of the inside" else answering.url
        relation = "lrdd" if named != "another relation" else "author"
        link = f'<Link rel="{relation}" template="{place}/.well-known/webfinger?resource={{uri}}"/>'
        xrd = f'<XRD xmlns="http://docs.oasis-open.org/ns/xri/xrd-1.0">{link}</XRD>' if named != "no XML" else "{<"
        if named != "nothing":
            elsewhere.pages["/.well-known/host-meta"] = Answer(xrd.encode(), "application/xrd+xml")
        found = resolve_address(address)
        assert (found and (found.acct, found.uri)) == ((address, zoe.uri) if named == "the place" else None)


@pytest.mark.parametrize(
    "content_type", ["application/octet-stream", "text/plain", "application/ld+json", "", "a/b, c/d"]
)
def test_an_address_is_found_whatever_content_type_its_domain_sends(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, content_type: str
) -> None:
    """Static sites serve files without a known extension with various content types (contract, federation section 17)."""
    finger = elsewhere.fingers.pop(f"acct:zoe@{elsewhere.domain}")
    finger |= {"subject": f"zoe@{elsewhere.domain}"}
    elsewhere.pages["/static/zoe"] = Answer(json.dumps(finger).encode(), content_type)
    xrd = '<XRD xmlns="http://docs.oasis-open.org/ns/xri/xrd-1.0"><Link rel="lrdd" template="{}?{{uri}}"/></XRD>'
    elsewhere.pages["/.well-known/host-meta"] = Answer(xrd.format(elsewhere.uri("static/zoe")).encode(), content_type)
    assert resolve_address(f"zoe@{elsewhere.domain}") == Account.objects.get(uri=zoe.uri)


@pytest.mark.parametrize(
    "kind", ["application/activity+json; charset=utf-8", 'Application/LD+JSON; profile="{}"', "{}"]
)
def test_the_link_to_an_actor_is_read_by_its_media_type(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, kind: str
) -> None:
    kind = kind.format("https://www.w3.org/ns/activitystreams")
    finger = elsewhere.fingers[f"acct:zoe@{elsewhere.domain}"]
    finger["links"][0]["type"] = kind
    others = [("self", "text/html"), ("self", "application/json"), ("self", None), ("alternate", ACTIVITY)]
    wrong = elsewhere.uri("users/wrong")
    finger["links"] = [{"rel": rel, "type": other, "href": wrong} for rel, other in others] + finger["links"]
    finger |= {"properties": {"http://webfinger.net/ns/name": "Zoe"}, "aliases": [wrong, zoe.uri]}
    assert (resolve_address(f"zoe@{elsewhere.domain}") is not None) is ("/" in kind.partition(":")[0])


def test_an_address_on_the_local_domain_can_lead_to_a_remote_account(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    api, address = Api(make_token(alice.user)), f"ann@127.0.0.1:{elsewhere.http.server_port}"
    proper = f"acct:zoe@{elsewhere.domain}"
    elsewhere.finger("ann", zoe.uri, domain=address.partition("@")[2], subject=proper)
    for text in (address, f"@{address}"):
        for _known in range(2):
            (found,) = api.get("/api/v1/accounts/search", {"q": text, "resolve": "true"}).json()
            assert found["uri"] == zoe.uri
            (found,) = api.get("/api/v2/search", {"q": text, "resolve": "true"}).json()["accounts"]
            assert found["acct"] == f"zoe@{elsewhere.domain}"
    posted = api.post("/api/v1/statuses", {"status": f"hello @{address}"}).json()
    assert [mention["url"] for mention in posted["mentions"]] == [elsewhere.uri("@zoe")]


def test_an_address_on_the_local_domain_can_lead_to_a_local_account(elsewhere: RemoteServer, alice: Account) -> None:
    elsewhere.finger("me", alice.uri, subject="acct:alice@social.localhost")
    bob = Api(make_token(make_user("bob")))
    (found,) = bob.get("/api/v2/search", {"q": f"@me@{elsewhere.domain}", "resolve": "true"}).json()["accounts"]
    assert found["acct"] == "alice"


def test_an_account_that_blocks_the_viewer_is_not_found_by_another_address_either(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    block(fetch_actor(zoe.uri), alice)
    elsewhere.finger("ann", zoe.uri, subject=f"acct:zoe@{elsewhere.domain}")
    found = Api(make_token(alice.user)).get("/api/v2/search", {"q": f"@ann@{elsewhere.domain}", "resolve": "true"})
    assert found.json()["accounts"] == []


@pytest.mark.parametrize("broken", ["no webfinger", "another subject", "no actor", "another name", "no answer"])
def test_an_address_that_is_not_confirmed_both_ways_finds_no_account(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, broken: str
) -> None:
    """Security rows 5 and 14."""
    if broken == "no webfinger":
        elsewhere.fingers.clear()
    elif broken == "another subject":
        elsewhere.finger("zoe", zoe.uri, subject="acct:zoe@somewhere.example")
    elif broken == "no actor":
        elsewhere.pages.clear()
    elif broken == "another name":
        elsewhere.serve(zoe.document() | {"preferredUsername": "yan"})
    else:
        elsewhere.finger("zoe", "http://localhost:9/users/zoe")
    assert resolve_address(f"zoe@{elsewhere.domain}") is None
    assert not Account.objects.filter(domain__isnull=False).exists()


def test_a_profile_fetched_a_day_ago_is_fetched_again(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    from datetime import timedelta

    from federation.remote.lookups import find_remote

    assert find_remote("zoe", elsewhere.domain) is not None
    elsewhere.serve(zoe.document() | {"name": "Renamed"})
    assert find_remote("zoe", elsewhere.domain).display_name == "Zoe"
    Account.objects.filter(uri=zoe.uri).update(fetched_at=clock.now() - timedelta(days=2))
    assert find_remote("zoe", elsewhere.domain).display_name == "Renamed"


def test_the_instance_actor_of_a_server_with_a_port_has_a_valid_name(settings: Any) -> None:
    """Without such a name, servers in secure mode on the same machine could not verify each other's signatures."""
    settings.LOCAL_DOMAIN = settings.WEB_DOMAIN = "localhost:3000"
    settings.BASE_URL = "http://localhost:3000"
    account = instance_actor()
    document = instance_actor_document(account, account.key_pair.public_key)
    settings.BASE_URL = "http://localhost:3001"
    actor = read_actor(document).profile
    settings.BASE_URL = "http://localhost:3000"
    assert actor.username == "localhost.3000"
    found = webfinger("acct:localhost.3000@localhost:3000").json()
    assert found["subject"] == "acct:localhost.3000@localhost:3000"
    assert actor.uri in found["aliases"]
