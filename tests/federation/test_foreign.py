"""Tests of documents from other software, which are either accepted or refused for a reason.

Each document is modelled on the public source that it names. Documents of Mastodon itself are tested in `test_wire.py`.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Account
from federation.models import InboundActivity
from federation.remote.actors import fetch_actor
from statuses.models import Quote, Status
from tests.factories.statuses import counts, follow, make_status
from tests.federation.activities import deal
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.client import Api

pytestmark = pytest.mark.django_db
FILES = sorted((Path(__file__).parent / "foreign").glob("*.json"))
PEOPLE = sorted((Path(__file__).parent / "foreign_people").glob("*.json"))


def _seen(entity: dict[str, Any]) -> dict[str, Any]:
    """Return the members of a post for which the test files give expected values."""
    return {
        **{name: entity[name] for name in ("content", "spoiler_text", "sensitive", "language", "visibility", "url")},
        "tags": [tag["name"] for tag in entity["tags"]],
        "emojis": [emoji["shortcode"] for emoji in entity["emojis"]],
        "files": [[file["type"], file["description"]] for file in entity["media_attachments"]],
        "poll": entity["poll"] and [option["title"] for option in entity["poll"]["options"]],
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_posts_of_other_programs_are_shown_or_refused_for_a_reason(
    path: Path, elsewhere: RemoteServer, alice: Account
) -> None:
    found = json.loads(path.read_text().replace("https://foreign.example", elsewhere.url))
    assert found["source"].startswith("https://")
    zoe = RemotePerson(elsewhere, "zoe")
    zoe.uri = found["actor"]["id"]
    zoe.key_id = f"{zoe.uri}#main-key"
    elsewhere.serve(zoe.document() | found["actor"])
    elsewhere.finger("zoe", zoe.uri)
    follow(alice, fetch_actor(zoe.uri))
    outcome = deal(zoe, zoe.activity("Create", found["object"]))
    if "refused" in found:
        assert outcome == f"rejected: {found['refused']}"
        return
    assert outcome == "done"
    status = Status.objects.get(uri=found["object"]["id"])
    assert _seen(Api().get(f"/api/v1/statuses/{status.id}").json()) == found["shown"]


def _person(entity: dict[str, Any]) -> dict[str, Any]:
    """Return the members of an account for which the test files give expected values."""
    return {
        **{name: entity[name] for name in ("username", "display_name", "note", "locked", "bot", "group", "url")},
        "fields": [[field["name"], field["value"]] for field in entity["fields"]],
        "emojis": [emoji["shortcode"] for emoji in entity["emojis"]],
    }


@pytest.mark.parametrize("path", PEOPLE, ids=lambda path: path.stem)
def test_accounts_of_other_programs_are_shown_with_their_properties(
    path: Path, elsewhere: RemoteServer, alice: Account
) -> None:
    post = make_status(alice, "a post", quote_approval_policy="public")
    text = path.read_text().replace("https://foreign.example", elsewhere.url).replace("DOMAIN", elsewhere.domain)
    found = json.loads(text.replace('"POST"', json.dumps(f"{alice.uri}/statuses/{post.id}")))
    assert found["source"].startswith("https://")
    actor = found["actor"]
    zoe = RemotePerson(elsewhere, actor["preferredUsername"])
    zoe.uri, zoe.key_id = actor["id"], actor["publicKey"]["id"]
    for document in (actor, *found.get("served", ())):
        if "publicKey" in document:
            document["publicKey"]["publicKeyPem"] = zoe.public_key
            elsewhere.finger(document["preferredUsername"], document["id"])
        elsewhere.serve(document)
    account = fetch_actor(zoe.uri)
    follow(alice, account)
    assert _person(Api().get(f"/api/v1/accounts/{account.id}").json()) == found["shown"]
    for act in found["activities"]:
        assert act.get("source", found["source"]).startswith("https://")
        kept = InboundActivity.objects.count()
        if act["outcome"] == "ignored":
            assert zoe.send(act["activity"]).status_code == 202
            assert InboundActivity.objects.count() == kept, act["what"]
        else:
            assert deal(zoe, act["activity"]) == act["outcome"], act["what"]
        replies, boosts, favourites = counts(post)
        if "counts" in act:
            assert [favourites, boosts] == act["counts"], act["what"]
        assert replies == act.get("replies", replies)
        assert Status.objects.filter(account=account).exclude(reblog_of=None).count() == act.get("boosts", boosts)
        assert [quote.state for quote in Quote.objects.all()] == act.get("quotes", [])
